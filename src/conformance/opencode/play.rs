//! A vector played: the session driven from the call to its end, and everything that was seen on the way.

use std::cell::RefCell;
use std::rc::Rc;

use crate::conformance::json::Json;
use crate::conformance::stage::{Put, Said, Stage};
use crate::strategy::opencode::{Configuration, Model, OpenCode, OpenCodeSession, Profile, SessionRecord, UserPart, handle};
use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, Order, ParentView, Route, RunContext, Scope, Session, Spec, ThreadId, Turn, View, When,
};
use crate::transcript::{Item, Means, Origin, Part as TextPart, ToolCall};

use super::child::{Played, play_child};
use super::given::{ChildResult, ChildSession, Given, KnownSession, Message, PARENT, PerCall, SessionRule};

/// The worktree of every vector: a path that no other text holds.
pub const WORKTREE: &str = "/home/user/worktree-of-this-vector";

/// Calls of one message that a vector may ask for.
const CALLS: usize = 1_000;
/// Parent links above a caller that a vector may ask for.
const DEPTH: u32 = 1_000;

/// One call, and what came of it.
pub struct Outcome {
    /// What the call read; `None`: it is open.
    pub said: Option<Said>,
    /// Its child; `None`: it was refused.
    pub child: Option<Child>,
    /// Files that were written for it.
    pub written: Vec<String>,
    /// Whether the parent was aborted, and the child.
    pub aborted: (bool, bool),
    /// The name of the error on the child's last message.
    pub child_error: Option<String>,
    /// Whether it was asked to return at once, or added to a running job.
    pub background: bool,
}

/// A call's child as it was prompted.
pub struct Child {
    pub thread: ThreadId,
    pub is_new: bool,
    /// The user message that the call put into it.
    pub prompt: Vec<UserPart>,
    /// What was sent of it.
    pub sent: Vec<TextPart>,
    /// The session's record at the end.
    pub record: Option<SessionRecord>,
    /// The session that it belongs to, as the vector names it.
    pub parent: Json,
    pub played: Played,
}

/// A vector played to its end.
pub struct Scene {
    pub outcomes: Vec<Outcome>,
    /// What was put into the parent later, by no call.
    pub injected: Vec<Item>,
    /// Children of the parent at the end.
    pub children: usize,
    /// The parent's model.
    pub model: Option<Model>,
    /// Ids as the product mints them, with the vector's names for them.
    pub names: Vec<(String, String)>,
}

/// A session that its owner can look into while a stage drives it.
struct Shared(Rc<RefCell<OpenCodeSession>>);

impl Session for Shared {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        self.0.borrow().phrase(act)
    }
    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        self.0.borrow_mut().view(history, at)
    }
    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        self.0.borrow_mut().turn(reply, history, at)
    }
    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        self.0.borrow_mut().route(call, parent, at)
    }
    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        self.0.borrow_mut().deliver(event, at)
    }
}

/// The sessions that are there before the call.
struct Known {
    session: ChildSession,
    thread: ThreadId,
    /// The thread of the session that it belongs to.
    parent: ThreadId,
}

/// A vector on the stage.
pub struct Play {
    pub stage: Stage,
    session: Rc<RefCell<OpenCodeSession>>,
    caller: ThreadId,
    known: Vec<Known>,
}

impl Play {
    /// Plays a vector.
    ///
    /// # Errors
    /// What of it cannot be played.
    pub fn run(given: Given) -> Result<Scene, String> {
        let count = given.config.calls_in_message.unwrap_or(1);
        if count == 0 || count > CALLS || given.config.caller_depth > DEPTH {
            return Err(format!("`calls_in_message` is 1 to {CALLS}, `caller_depth` at most {DEPTH}"));
        }
        let mut play = Play::set(&given)?;
        let history = play.parent_history(&given);
        let results = each(&given, count)?;
        let running = if given.config.child_running { Some(play.start_running(&given, &history, &results, count)?) } else { None };
        let calls: Vec<ToolCall> = (0..count).map(|_| play.draft(&given)).collect();
        for call in &calls {
            play.stage.call(play.caller, call, &history, 0).ok_or_else(|| format!("`{}` is no call of this system", call.name))?;
        }
        let mut outcomes = Vec::with_capacity(count);
        for (call, result) in calls.iter().zip(&results) {
            outcomes.push(play.outcome(call, &given, result)?);
        }
        match running {
            Some(child) => play.run_on(child, &results)?,
            None => {
                for (outcome, result) in outcomes.iter_mut().zip(&results) {
                    play.finish(outcome, result)?;
                }
            }
        }
        for (call, outcome) in calls.iter().zip(&mut outcomes) {
            outcome.said = play.stage.said(call.key).cloned();
            if let Some(child) = &mut outcome.child {
                child.record = play.session.borrow().stored(child.thread).cloned();
            }
        }
        Ok(play.scene(outcomes, given.config.parent_model))
    }

    /// The stage with the caller, what is above it, and the sessions that are known.
    fn set(given: &Given) -> Result<Play, String> {
        let config = &given.config;
        let spec = Spec::parse(&given.strategy);
        let profile = spec.profile.as_deref().and_then(Profile::named).filter(|_| spec.id == "opencode" && spec.options.is_empty());
        let profile = profile.ok_or_else(|| format!("`strategy` is `{}`, which is not built here", given.strategy))?;
        let root = config.caller_agent.as_deref().unwrap_or("build");
        let rules = |rules: &[SessionRule]| rules.iter().map(|SessionRule(rule)| rule.clone()).collect();
        let caller = ThreadId(config.caller_depth);
        let record = |title: &str, agent: &str, permission| SessionRecord {
            title: title.to_owned(),
            agent: agent.to_owned(),
            permission,
            model: config.parent_model.clone(),
            variant: config.parent_variant.clone(),
        };
        let mut configuration = Configuration {
            agents: config.agents.iter().map(|(name, agent)| (name.clone(), agent.clone().into())).collect(),
            subagent_depth: config.subagent_depth,
            primary_tools: config.primary_tools.clone(),
            model: config.parent_model.clone(),
            variant: config.parent_variant.clone(),
            worktree: WORKTREE.to_owned(),
            ..Configuration::default()
        };
        configuration.sessions.insert(caller, record("", root, rules(&config.parent_session_permission)));
        let mut known = Vec::new();
        let mut next = caller.0;
        let mut fresh = || {
            next += 1;
            ThreadId(next)
        };
        for session in sessions(given) {
            let parent = if session.parent.as_text() == Some(PARENT) { caller } else { fresh() };
            let thread = fresh();
            let agent = session.agent.as_deref().unwrap_or("general");
            let title = session.title.as_deref().unwrap_or_default();
            configuration.sessions.insert(thread, record(title, agent, rules(&session.permission)));
            known.push(Known { session, thread, parent });
        }
        let strategy = OpenCode { profile, background: config.background_flag, configuration };
        let run = RunContext { root: root.to_owned(), ..RunContext::default() };
        let session = Rc::new(RefCell::new(strategy.session(&run)));
        let mut stage = Stage::of(Box::new(Shared(session.clone())), root);
        stage.files = config.worktree_files.clone();
        (0..config.caller_depth).fold(ThreadId::ROOT, |thread, _| stage.open(thread, root));
        for one in &known {
            if one.parent != caller {
                stage.open(ThreadId::ROOT, root);
            }
            let thread = stage.open(one.parent, one.session.agent.as_deref().unwrap_or("general"));
            stage.state(thread).running = 0;
        }
        Ok(Play { stage, session, caller, known })
    }

    fn parent_history(&mut self, given: &Given) -> Vec<Item> {
        let mut items = Vec::new();
        for item in &given.parent_items {
            let text = item.text.as_str();
            items.push(if item.role == "assistant" { Item::assistant(None, text) } else { Item::user(Origin::User, text) });
            items.extend(item.tool_calls.iter().map(|tool| Item::call(self.stage.draft("", tool, "{}"))));
        }
        items
    }

    /// The vector's call, with an id of this run for the vector's name of it. A placeholder that names no session here is
    /// an id that nobody has.
    fn draft(&mut self, given: &Given) -> ToolCall {
        let mut arguments = given.call.arguments.clone();
        if let Json::Object(fields) = &mut arguments
            && let Some(id) = fields.get("task_id").and_then(|id| id.as_text()).map(str::to_owned)
        {
            let known = self.known.iter().find(|known| known.session.id == id).map(|known| known.thread);
            let named = known.or_else(|| (id == PARENT).then_some(self.caller)).or_else(|| id.starts_with('$').then_some(NOBODY));
            if let Some(thread) = named {
                fields.insert("task_id".into(), handle(thread).0.into());
            }
        }
        self.stage.draft("", &given.call.tool, &arguments.to_string())
    }

    /// The first job of a child that is running when the call comes, and what was queued on it before: outputs are in order
    /// of the turns, and the last ones are of the calls.
    fn start_running(&mut self, given: &Given, history: &[Item], results: &[ChildResult], calls: usize) -> Result<ThreadId, String> {
        let known = self.known.first().ok_or("`child_running` needs a `child_session`")?;
        let (child, owner) = (known.thread, known.parent);
        let outputs = results.first().and_then(|result| result.outputs.as_ref()).map_or(0, Vec::len);
        let before = outputs.saturating_sub(calls).max(1);
        let arguments = serde_json::json!({
            "description": given.config.first_description.as_deref().unwrap_or_default(),
            "prompt": "",
            "subagent_type": known.session.agent.as_deref().unwrap_or("general"),
            "task_id": handle(child).0,
            "background": given.config.background_flag,
        });
        for _ in 0..before {
            let call = self.stage.draft("", &given.call.tool, &arguments.to_string());
            self.stage.call(owner, &call, history, 0);
            if let Some(said) = self.stage.said(call.key).filter(|said| said.failed) {
                return Err(format!("`child_running`: the job cannot be started: {}", said.text));
            }
        }
        Ok(child)
    }

    /// What a call came to at once, and its child as it was prompted.
    fn outcome(&mut self, call: &ToolCall, given: &Given, result: &ChildResult) -> Result<Outcome, String> {
        let said = self.stage.said(call.key).cloned();
        let mut outcome = Outcome { said, child: None, written: vec![], aborted: (false, false), child_error: None, background: false };
        if outcome.said.as_ref().is_some_and(|said| said.means.contains(&Means::Refused)) {
            return Ok(outcome);
        }
        let put = self.stage.put_by(call.key).cloned().ok_or("the call has neither an answer nor a child")?;
        let session = self.session.borrow();
        let sent: Vec<TextPart> = put.items.iter().flat_map(|item| item.parts().iter().cloned()).collect();
        let whole = session.prompt_of(call.key).map(<[UserPart]>::to_vec);
        let plain = || sent.iter().map(|text| UserPart::Text { text: text.clone(), synthetic: false }).collect();
        let known = self.known.iter().find(|known| known.thread == put.thread);
        let history = if put.opened { vec![] } else { child_history(given) };
        outcome.background = outcome.said.is_some();
        outcome.child = Some(Child {
            thread: put.thread,
            is_new: put.opened,
            prompt: whole.unwrap_or_else(plain),
            sent,
            record: None,
            parent: known.map_or_else(|| PARENT.into(), |known| known.session.parent.clone()),
            played: Played::opened(history, put.items),
        });
        outcome.aborted = (result.by.as_deref() == Some("parent") && result.cancelled, result.cancelled);
        Ok(outcome)
    }

    /// Plays a child to its end.
    fn finish(&mut self, outcome: &mut Outcome, result: &ChildResult) -> Result<(), String> {
        let Some(child) = &mut outcome.child else { return Ok(()) };
        let before = self.stage.written().len();
        let end = play_child(&mut self.stage, child.thread, &mut child.played, result)?;
        if let Some((end, error)) = end {
            outcome.child_error = error;
            self.stage.end(child.thread, &end, &child.played.history, child.played.own, 1);
        }
        outcome.written = self.stage.written().iter().skip(before).map(|(path, _)| path.clone()).collect();
        Ok(())
    }

    /// A running job goes on to its end: one output a turn.
    fn run_on(&mut self, child: ThreadId, results: &[ChildResult]) -> Result<(), String> {
        let result = results.first().cloned().unwrap_or_default();
        if result.pending {
            return Ok(());
        }
        if result.cancelled {
            self.stage.end(child, &End::Aborted, &[], 0, 1);
            return Ok(());
        }
        // What a turn says whose output nobody gives is not told either: the last one's counts.
        let outputs = result.outputs.clone().unwrap_or_else(|| vec![String::new(); usize::from(result.messages.is_some())]);
        for output in outputs {
            self.stage.reply(child, AssistantTurn { text: output, ..AssistantTurn::default() }, &[], 0);
            self.stage.end(child, &End::Done, &[], 0, 1);
        }
        if result.messages.is_some() {
            let mut played = Played::opened(vec![], vec![]);
            if let Some((end, _)) = play_child(&mut self.stage, child, &mut played, &result)? {
                self.stage.end(child, &end, &played.history, played.own, 1);
            }
        }
        Ok(())
    }

    fn scene(self, outcomes: Vec<Outcome>, model: Option<Model>) -> Scene {
        let later = |put: &&Put| put.thread == self.caller && put.by.is_none() && put.when == When::Wake;
        let injected = self.stage.puts().iter().filter(later).flat_map(|put| put.items.clone()).collect();
        let fresh: Vec<ThreadId> =
            outcomes.iter().filter_map(|one| one.child.as_ref()).filter(|child| child.is_new).map(|child| child.thread).collect();
        let is_taken = self.known.iter().any(|known| known.session.id == CHILD);
        let mut names: Vec<(String, String)> = Vec::new();
        for (at, thread) in fresh.iter().enumerate() {
            let name = if fresh.len() == 1 && !is_taken { CHILD.to_owned() } else { format!("{CHILD}{}", at + 1) };
            names.push((handle(*thread).0, name));
        }
        names.extend(self.known.iter().map(|known| (handle(known.thread).0, known.session.id.clone())));
        names.push((handle(self.caller).0, PARENT.to_owned()));
        let own = self.known.iter().filter(|known| known.parent == self.caller).count();
        Scene { outcomes, injected, children: own + fresh.len(), model, names }
    }
}

/// A child in vectors.
pub const CHILD: &str = "$CHILD";
/// A thread that no vector has.
const NOBODY: ThreadId = ThreadId(u32::MAX);

/// The sessions that a vector says are there. One that is known by a placeholder or by its history alone is the parent's.
fn sessions(given: &Given) -> Vec<ChildSession> {
    let mut all: Vec<ChildSession> = given.config.child_session.iter().cloned().collect();
    for session in &given.config.known_sessions {
        let session = match session {
            KnownSession::Id(id) => ChildSession::plain(id),
            KnownSession::Whole(session) => session.clone(),
        };
        if session.id != PARENT && !all.iter().any(|known| known.id == session.id) {
            all.push(session);
        }
    }
    let id = given.call.arguments.get("task_id").as_text();
    if let Some(id) = id
        && all.is_empty()
        && !given.config.child_history.is_empty()
    {
        all.push(ChildSession::plain(id));
    }
    all
}

fn child_history(given: &Given) -> Vec<Item> {
    let item = |message: &Message| match message.role.as_str() {
        "assistant" => Item::assistant(None, message.text.as_str()),
        _ => Item::user(Origin::Task, message.text.as_str()),
    };
    given.config.child_history.iter().map(item).collect()
}

/// What becomes of each call's child.
fn each(given: &Given, count: usize) -> Result<Vec<ChildResult>, String> {
    let whole = given.child_result.clone().unwrap_or_else(|| ChildResult { pending: true, ..ChildResult::default() });
    let Some(several) = &whole.per_call else { return Ok(vec![whole; count]) };
    if several.len() != count {
        return Err(format!("`per_call` has {} results for {count} calls", several.len()));
    }
    let one = |result: &PerCall| match result {
        PerCall::Text(text) => ChildResult::said(text),
        PerCall::Whole(result) => (**result).clone(),
    };
    Ok(several.iter().map(one).collect())
}
