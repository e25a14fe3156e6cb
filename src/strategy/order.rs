//! What a strategy can make the engine do, and what the engine tells it.

use crate::transcript::{Body, CallKey, Item, Means, Origin, Part, Role, ToolCall};

use super::{AssistantTurn, Scope, ThreadId};

/// What becomes of a call.
#[derive(Clone, Debug)]
pub enum Route {
    /// An ordinary tool: the world answers.
    Tool,
    /// The strategy's own; answered by exactly one [`Order::Reply`], now or later.
    Do(Vec<Order>),
}

/// All that a strategy can make the engine do.
#[derive(Clone, Debug)]
pub enum Order {
    /// Answers an open call.
    Reply {
        /// The call.
        call: CallKey,
        /// What the model reads.
        text: Part,
        /// Further parts behind it: some systems answer in several.
        more: Vec<Part>,
        /// Whether it reads as an error.
        failed: bool,
        /// What it tells about a delegation; each must stand in the text.
        means: Vec<Means>,
        /// How much later than now it arrives, in milliseconds (polling).
        after_ms: u64,
    },
    /// Items into a thread, by a call.
    Put {
        /// Which thread.
        to: To,
        /// The items.
        items: Vec<Item>,
        /// When they enter it.
        when: When,
        /// The call that does it: names the opener of the turn that it starts.
        by: Option<CallKey>,
    },
    /// Leaves the call open; asks [`Event::Waiting`] at the end of this instant and of each one that changes something.
    Wait {
        /// The waiting call.
        call: CallKey,
        /// When the wait is over anyway, in milliseconds from now.
        timeout_ms: u64,
    },
    /// Aborts a thread's running turns and drops what is queued; the thread stays.
    Stop {
        /// The thread.
        thread: ThreadId,
    },
    /// Writes a file of the shared world.
    Write {
        /// Its path.
        path: String,
        /// Its text.
        text: String,
    },
}

/// Which thread.
#[derive(Clone, Debug)]
pub enum To {
    /// One that exists.
    Thread(ThreadId),
    /// A new one.
    New(New),
}

/// A thread that does not exist yet; its parent is the caller's thread.
#[derive(Clone, Debug)]
pub struct New {
    /// The agent that it is opened with.
    pub agent: String,
    /// The run waits for it after the root's last turn; else it is abandoned.
    pub drain: bool,
    /// A failed turn's items stay in the thread (in MAF they do not).
    pub keep_failed: bool,
}

impl New {
    /// A child that the run waits for and that keeps what a failed turn left.
    pub fn agent(agent: impl Into<String>) -> New {
        New { agent: agent.into(), drain: true, keep_failed: true }
    }
}

/// When items enter a thread: while a turn of it runs | while it is idle. One rule holds for all: a turn does not end
/// while its inbox holds something it may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the next request, reopening a shut inbox | recorded at once.
    Notice,
    /// Before the next request, if not shut, else kept | kept; read from the second request of a turn that has opening
    /// items.
    Mail,
    /// As `Mail`; unread at the turn's end, it starts one | starts a turn with all that is in the inbox.
    Wake,
    /// A turn of its own after the running one | starts a turn, ahead of the inbox.
    Turn,
    /// A turn of its own beside the running one | starts a turn, ahead of the inbox.
    Overlap,
}

/// How a turn ends. A thread does not end: it is idle until the run is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// A reply without calls, or `finish`.
    Done,
    /// The strategy's own limit.
    Stopped(String),
    /// An error that leaves the turn (for the root: the run).
    Failed(String),
    /// [`Order::Stop`].
    Aborted,
    /// The harness's own limit.
    Ceiling(String),
}

/// What happened. [`Scope::thread`] is the thread it happened to.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// User input for the root: one or more items (a turn may open with several).
    Input(&'a [Item]),
    /// A [`To::New`] got its id, or met the harness's ceiling. `Scope::thread` is the caller's.
    Opened {
        /// The call that opened it.
        by: Option<&'a ToolCall>,
        /// The new thread, or why there is none.
        child: Result<ThreadId, &'a str>,
    },
    /// A turn ended, of any thread but the root.
    Ended(Report<'a>),
    /// Is this wait over? A `Reply` to the call says yes.
    Waiting {
        /// The waiting call.
        call: &'a ToolCall,
        /// Its time is up: it must be answered now.
        timed_out: bool,
    },
    /// The reply to an aside.
    Aside(AssistantTurn),
}

/// One finished turn.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The call that opened this turn.
    pub by: Option<&'a ToolCall>,
    /// How it ended.
    pub end: &'a End,
    /// The thread's history with this turn.
    pub items: &'a [Item],
    /// This turn's items begin here.
    pub own: usize,
    /// How long the turn lasted, in milliseconds.
    pub elapsed_ms: u64,
    /// Tokens of the thread's last exchange, request and reply, as they are counted here: what a provider would report.
    pub tokens: u64,
}

impl Report<'_> {
    /// The last text that the thread's own model wrote in the turn and that is not blank: what a fork inherited is not
    /// the child's answer.
    pub fn last_text(&self) -> Option<String> {
        self.items[self.own..].iter().rev().find_map(|item| match item.body() {
            Body::Message { role: Role::Assistant, .. } if item.origin == Origin::Own => {
                Some(item.text()).filter(|text| !text.trim().is_empty())
            }
            _ => None,
        })
    }
}

impl Report<'_> {
    /// The child's last text; where there is none, what happened instead, in a sentence: nothing is passed off as an answer.
    pub fn answer(&self) -> Result<String, String> {
        Err(match self.end {
            End::Done => match self.last_text() {
                Some(text) => return Ok(text),
                None => "the sub-agent ended without any text.".to_owned(),
            },
            End::Failed(why) => format!("the sub-agent failed: {why}"),
            End::Stopped(why) => format!("the sub-agent was stopped: {why}"),
            End::Ceiling(why) => format!("the sub-agent reached a limit of the harness: {why}"),
            End::Aborted => "the sub-agent was aborted.".to_owned(),
        })
    }
}

impl Order {
    /// An answer to an open call.
    pub fn reply(call: &ToolCall, text: impl Into<Part>) -> Order {
        Order::Reply { call: call.key, text: text.into(), more: vec![], failed: false, means: vec![], after_ms: 0 }
    }

    /// No child was opened; the result says why, in the system's words.
    pub fn refuse(call: &ToolCall, text: impl Into<Part>) -> Order {
        Order::reply(call, text).failed().meaning(Means::Refused)
    }

    /// The same reply, read as an error.
    pub fn failed(mut self) -> Order {
        if let Order::Reply { failed, .. } = &mut self {
            *failed = true;
        }
        self
    }

    /// The same reply with one part more.
    pub fn and(mut self, part: impl Into<Part>) -> Order {
        if let Order::Reply { more, .. } = &mut self {
            more.push(part.into());
        }
        self
    }

    /// The same reply, saying one thing more about a delegation.
    pub fn meaning(mut self, one: Means) -> Order {
        if let Order::Reply { means, .. } = &mut self {
            means.push(one);
        }
        self
    }

    /// The same reply, later.
    pub fn after(mut self, ms: u64) -> Order {
        if let Order::Reply { after_ms, .. } = &mut self {
            *after_ms = ms;
        }
        self
    }

    /// One item into a thread, by no call.
    pub fn put(to: ThreadId, when: When, item: Item) -> Order {
        Order::Put { to: To::Thread(to), items: vec![item], when, by: None }
    }

    /// A new thread with its opening items.
    pub fn open(by: CallKey, new: New, items: Vec<Item>) -> Order {
        Order::Put { to: To::New(new), items, when: When::Turn, by: Some(by) }
    }

    /// User input for the root; `busy` says what a running turn makes of it (`Notice` steers, `Turn` queues).
    pub fn input(items: &[Item], busy: When, at: &Scope<'_>) -> Order {
        let when = if at.busy(ThreadId::ROOT) { busy } else { When::Turn };
        Order::Put { to: To::Thread(ThreadId::ROOT), items: items.to_vec(), when, by: None }
    }
}
