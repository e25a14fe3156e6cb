//! Sessions driven by hand: the threads, calls and events that an engine would bring.

use std::collections::BTreeMap;

use ctxbench::strategy::{
    AgentSpec, End, Event, Order, ParentView, Report, Route, RunContext, Scope, Session, ThreadId, ThreadState, ToolSpec,
};
use ctxbench::transcript::{CallKey, Item, Means, Origin, ToolCall};

/// The threads of a run.
pub struct Tree {
    pub threads: Vec<ThreadState>,
    /// The world's files by path.
    pub files: BTreeMap<String, String>,
}

impl Tree {
    /// A run with its root busy.
    pub fn new(root: &str) -> Tree {
        let mut tree = Tree { threads: vec![], files: BTreeMap::new() };
        tree.push(None, 0, root);
        tree
    }

    fn push(&mut self, parent: Option<ThreadId>, depth: u32, agent: &str) -> ThreadId {
        let id = ThreadId(self.threads.len() as u32);
        let state =
            ThreadState { id, parent, depth, agent: agent.into(), running: 1, waiting: 0, mail: 0, input: 0, last: None, last_used_ms: 0 };
        self.threads.push(state);
        id
    }

    /// A child, running.
    pub fn open(&mut self, parent: ThreadId, agent: &str) -> ThreadId {
        self.push(Some(parent), self.threads[parent.0 as usize].depth + 1, agent)
    }

    /// A decision about a thread whose turn in progress begins at `own`.
    pub fn scope(&self, thread: ThreadId, own: usize) -> Scope<'_> {
        Scope { thread, turn: 1, exchange: 1, own, now_ms: 0, threads: &self.threads, files: &self.files }
    }

    /// Routes a call of a thread that has no history; its orders.
    pub fn route(&self, session: &mut dyn Session, thread: ThreadId, call: &ToolCall) -> Vec<Order> {
        match session.route(call, ParentView { items: &[], in_flight: &[call.key] }, &self.scope(thread, 0)) {
            Route::Do(orders) => orders,
            Route::Tool => panic!("{} is routed to the world", call.name),
        }
    }

    /// Opens the child that a call's orders ask for, tells the session, and gives the orders that follow.
    pub fn opened(&mut self, session: &mut dyn Session, caller: ThreadId, call: &ToolCall, agent: &str) -> (ThreadId, Vec<Order>) {
        let child = self.open(caller, agent);
        let orders = session.deliver(Event::Opened { by: Some(call), child: Ok(child) }, &self.scope(caller, 0));
        (child, orders)
    }

    /// Ends a thread's turn.
    pub fn ended(&mut self, session: &mut dyn Session, thread: ThreadId, call: &ToolCall, end: &End, items: &[Item]) -> Vec<Order> {
        self.threads[thread.0 as usize].running = 0;
        let report = Report { by: Some(call), end, items, own: 0, elapsed_ms: 1, tokens: 0 };
        session.deliver(Event::Ended(report), &self.scope(thread, 0))
    }
}

/// A call.
pub fn call(key: u32, name: &str, args: &str) -> ToolCall {
    ToolCall { key: CallKey(key), id: format!("call_{key}"), name: name.into(), args: args.into(), intent: None, recorded: None }
}

/// A lead with `read`, an explorer with `read` and `list`, a writer without tools.
pub fn run() -> RunContext {
    let tool = |name: &str| ToolSpec::of_strings(name, "", &[]);
    let agent = |system: &str, tools: &[&str]| AgentSpec {
        system: Some(system.into()),
        tools: tools.iter().map(|name| tool(name)).collect(),
        ..AgentSpec::default()
    };
    let agents = [
        ("lead".to_owned(), agent("You lead.", &["read"])),
        ("writer".to_owned(), agent("You write.", &[])),
        ("explorer".to_owned(), agent("You explore.", &["read", "list"])),
    ];
    RunContext { root: "lead".into(), agents: agents.into(), ..RunContext::default() }
}

/// The one reply among orders: text, failed, meaning. Whatever it means stands in its text.
pub fn reply(orders: &[Order]) -> (String, bool, Vec<Means>) {
    let replies: Vec<_> = orders
        .iter()
        .filter_map(|order| match order {
            Order::Reply { text, failed, means, .. } => Some((text.as_text().to_owned(), *failed, means.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(replies.len(), 1, "{orders:?}");
    let one = replies.into_iter().next().expect("one was counted");
    stands_in_text(&one.2, &one.0);
    one
}

/// The items that orders put into threads.
pub fn put(orders: &[Order]) -> Vec<Item> {
    let items = orders.iter().filter_map(|order| match order {
        Order::Put { items, .. } => Some(items.clone()),
        _ => None,
    });
    items.flatten().collect()
}

/// Whoever is told of a child by name can read the name.
pub fn stands_in_text(means: &[Means], text: &str) {
    for one in means {
        if let Means::Started(handle) | Means::Stored(handle) | Means::Returned(Some(handle)) | Means::Failed(Some(handle)) = one {
            assert!(text.contains(&handle.0), "{one:?} does not stand in {text}");
        }
    }
}

/// A child's text.
pub fn said(text: &str) -> Item {
    let item = Item::assistant(None, text);
    assert_eq!(item.origin, Origin::Own);
    item
}
