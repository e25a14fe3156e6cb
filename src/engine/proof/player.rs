//! A scripted agent with a stopwatch, and the shelf of tools that it works with.

use std::collections::BTreeMap;

use crate::engine::World;
use crate::model::{Agent, CallDraft, ModelError, Pending, Reply, Request, Took, ready};
use crate::strategy::{Act, Intent, ThreadId};
use crate::transcript::{Handle, Item, Part, Recorded, ToolCall, heard};

/// One thing that a step does. Intents are named by their id.
#[derive(Clone, Debug)]
pub enum Do {
    /// Hands an intent to a child.
    Delegate(&'static str),
    /// The same, by a caller who would rather go on meanwhile.
    Background(&'static str),
    /// Waits for the children of these intents.
    Wait(&'static [&'static str]),
    /// Tells the child of an intent something that it only reads.
    Tell(&'static str, &'static str),
    /// Gives the child of an intent more to do.
    Ask(&'static str, &'static str),
    /// Closes the child of an intent.
    Close(&'static str),
    /// Ends a hand-off.
    Back,
    /// Calls a tool by its name with these arguments.
    Tool(&'static str, &'static str),
}

/// One reply of a script.
#[derive(Clone, Debug)]
pub struct Step {
    text: &'static str,
    acts: Vec<Do>,
    ms: u64,
    failed: bool,
}

/// A reply of text alone.
pub fn say(ms: u64, text: &'static str) -> Step {
    Step { text, acts: vec![], ms, failed: false }
}

/// A reply of calls alone.
pub fn act<const N: usize>(ms: u64, acts: [Do; N]) -> Step {
    Step { text: "", acts: acts.into(), ms, failed: false }
}

/// A reply of text and calls.
pub fn say_and_act<const N: usize>(ms: u64, text: &'static str, acts: [Do; N]) -> Step {
    Step { text, acts: acts.into(), ms, failed: false }
}

/// No reply at all: the model fails with this message.
pub fn fail(text: &'static str) -> Step {
    Step { text, acts: vec![], ms: 1, failed: true }
}

/// The intent of a name: the worker's, with a task that repeats the name.
pub fn intent(id: &str, background: bool) -> Intent {
    Intent { id: id.into(), agent: "worker".into(), title: format!("title {id}"), task: format!("do {id}"), background }
}

/// Plays scripts: a turn that an intent opened follows that intent's script, any other one the script of its thread's
/// path. A script goes on over turns; each thread has a place of its own in it.
pub struct Player {
    scripts: BTreeMap<&'static str, Vec<Step>>,
    places: BTreeMap<(ThreadId, String), usize>,
}

impl Player {
    /// A player of these scripts, by intent or path.
    pub fn new(scripts: BTreeMap<&'static str, Vec<Step>>) -> Player {
        Player { scripts, places: BTreeMap::new() }
    }

    fn next(&mut self, request: &Request<'_>) -> Result<Reply, ModelError> {
        let by_intent = request.intent.filter(|id| self.scripts.contains_key(id));
        let key = by_intent.unwrap_or(request.path).to_owned();
        let place = self.places.entry((request.thread, key.clone())).or_default();
        let step = self.scripts.get(key.as_str()).and_then(|steps| steps.get(*place)).cloned();
        *place += 1;
        let step = step.ok_or_else(|| ModelError::of_turn(format!("the script `{key}` has no step {place}")))?;
        if step.failed {
            return Err(ModelError::of_turn(step.text));
        }
        let calls = step.acts.iter().map(|one| draft(one, request)).collect::<Result<Vec<_>, _>>()?;
        Ok(Reply { text: step.text.into(), calls, took: Took::Ms(step.ms), ..Reply::default() })
    }
}

impl Agent for Player {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        ready(self.next(request))
    }
}

/// The last handle that a thread was told for an intent.
fn handle(items: &[Item], id: &str) -> Result<Handle, ModelError> {
    let told = heard(items).into_iter().rev().find(|one| one.intent == id).and_then(|one| one.handle);
    told.ok_or_else(|| ModelError::of_turn(format!("nothing visible names the child of `{id}`")))
}

fn draft(one: &Do, request: &Request<'_>) -> Result<CallDraft, ModelError> {
    let speak = |act: &Act<'_>, id: Option<&str>| {
        let call = (request.speak)(act).ok_or_else(|| ModelError::of_turn(format!("no tool for {one:?}")))?;
        Ok(CallDraft::phrased(call, id))
    };
    match one {
        Do::Tool(name, args) => Ok(CallDraft::tool(*name, *args)),
        Do::Delegate(id) => speak(&Act::Delegate(&intent(id, false)), Some(id)),
        Do::Background(id) => speak(&Act::Delegate(&intent(id, true)), Some(id)),
        Do::Wait(ids) => {
            let handles = ids.iter().map(|id| handle(request.items, id)).collect::<Result<Vec<_>, _>>()?;
            speak(&Act::Wait(&handles), None)
        }
        Do::Tell(id, text) | Do::Ask(id, text) => {
            let (child, wake) = (handle(request.items, id)?, matches!(one, Do::Ask(..)));
            speak(&Act::Continue { child: &child, intent: &intent(id, false), text, wake }, Some(id))
        }
        Do::Close(id) => speak(&Act::Close(&handle(request.items, id)?), None),
        Do::Back => speak(&Act::Back, None),
    }
}

/// Ordinary tools: `look` answers `looked` after 10 ms, `dig` answers `dug` after 100 ms, all others fail after 10 ms.
/// A file that the strategy writes becomes a tool that answers its text.
#[derive(Default)]
pub struct Shelf(BTreeMap<String, String>);

impl World for Shelf {
    fn call(&mut self, call: &ToolCall) -> Recorded {
        match (call.name.as_str(), self.0.get(&call.name)) {
            ("look", _) => Recorded::text("looked", false, 10),
            ("dig", _) => Recorded::text("dug", false, 100),
            (_, Some(text)) => Recorded { parts: vec![Part::text(text.as_str())], failed: false, ms: 10 },
            (name, None) => Recorded::text(format!("no {name}"), true, 10),
        }
    }
    fn write(&mut self, path: &str, text: &str) {
        self.0.insert(path.to_owned(), text.to_owned());
    }
}
