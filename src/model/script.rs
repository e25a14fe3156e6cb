//! The script: exact steps by thread and turn (evidence `scripted`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::scenario::Scenario;
use crate::scenario::script::{ScriptedCall, ScriptedReply, ScriptedTurn};
use crate::strategy::{Act, Intent};
use crate::transcript::{Handle, Outcome, heard};

use super::{Agent, CallDraft, Model, ModelError, Pending, Reply, Request, Took, ready};

/// A model that does what is written, and nothing else: a request for which no step is written is an error.
#[derive(Clone, Debug)]
pub struct Script(Arc<Steps>);

#[derive(Debug)]
struct Steps {
    turns: BTreeMap<(String, u32), Vec<ScriptedReply>>,
    intents: BTreeMap<String, Intent>,
}

impl Script {
    /// A script over these intents.
    ///
    /// # Errors
    /// A turn that is written twice, and an intent that is not among the given ones.
    pub fn new(turns: Vec<ScriptedTurn>, intents: impl IntoIterator<Item = Intent>) -> Result<Script, ModelError> {
        let intents: BTreeMap<String, Intent> = intents.into_iter().map(|intent| (intent.id.clone(), intent)).collect();
        let mut steps = Steps { turns: BTreeMap::new(), intents };
        for ScriptedTurn { thread, turn, replies } in turns {
            for (exchange, call) in replies.iter().enumerate().flat_map(|(at, reply)| reply.calls.iter().map(move |call| (at, call))) {
                for intent in intents_of(call) {
                    steps.intent(intent).map_err(|why| at(&thread, turn, exchange as u32, &why))?;
                }
            }
            if steps.turns.contains_key(&(thread.clone(), turn)) {
                return Err(ModelError::of_run(format!("the script has turn {turn} of thread {thread} twice: join the two")));
            }
            steps.turns.insert((thread, turn), replies);
        }
        Ok(Script(Arc::new(steps)))
    }

    /// A scenario's own script over its intents, each with its self-contained task.
    ///
    /// # Errors
    /// As [`Script::new`].
    pub fn of(scenario: &Scenario) -> Result<Script, ModelError> {
        let intents = scenario.intents.iter().map(|spec| Intent {
            id: spec.id.clone(),
            agent: spec.agent.clone(),
            title: spec.title.clone(),
            task: spec.task.clone(),
            background: spec.background,
        });
        Script::new(scenario.script.clone(), intents)
    }

    /// Whether it hands anything to a child.
    pub fn delegates(&self) -> bool {
        let calls = self.0.turns.values().flatten().flat_map(|reply| &reply.calls);
        calls.into_iter().any(|call| matches!(call, ScriptedCall::Delegate { .. }))
    }
}

impl Model for Script {
    fn name(&self) -> String {
        "script".into()
    }

    fn start(&self, _seed: u64) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

impl Agent for Script {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        let reply = self.0.reply(request);
        ready(reply.map_err(|why| at(request.path, request.turn, request.exchange, &why)))
    }
}

/// An error, with the place in the script that it is about.
fn at(thread: &str, turn: u32, exchange: u32, why: &str) -> ModelError {
    ModelError::of_run(format!("script, thread {thread}, turn {turn}, reply {}: {why}", exchange + 1))
}

/// The intents that a call names.
fn intents_of(call: &ScriptedCall) -> Vec<&String> {
    match call {
        ScriptedCall::Delegate { intent, .. } | ScriptedCall::Continue { intent, .. } | ScriptedCall::Close { intent } => vec![intent],
        ScriptedCall::Wait { intents } => intents.iter().collect(),
        ScriptedCall::Tool { .. } | ScriptedCall::Back {} => vec![],
    }
}

impl Steps {
    fn reply(&self, request: &Request<'_>) -> Result<Reply, String> {
        let Some(replies) = self.turns.get(&(request.path.to_owned(), request.turn)) else {
            let known = self.turns.keys().map(|(thread, turn)| format!("{thread} turn {turn}")).collect::<Vec<_>>().join(", ");
            return Err(format!("nothing is written for this turn. Written: {known}"));
        };
        let Some(step) = replies.get(request.exchange as usize) else {
            return Err(format!("only {} replies are written for this turn: add one", replies.len()));
        };
        let calls = step.calls.iter().map(|call| self.call(call, request)).collect::<Result<_, _>>()?;
        Ok(Reply { text: step.text.clone(), calls, took: step.ms.map_or(Took::Profile, Took::Ms), ..Reply::default() })
    }

    fn intent(&self, id: &str) -> Result<&Intent, String> {
        self.intents.get(id).ok_or_else(|| {
            let known = self.intents.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("there is no intent `{id}`. Known: {known}")
        })
    }

    fn call(&self, call: &ScriptedCall, request: &Request<'_>) -> Result<CallDraft, String> {
        let speak = |act: Act<'_>, what: &str, intent: Option<&str>| match (request.speak)(&act) {
            Some(call) => Ok(CallDraft::phrased(call, intent)),
            None => Err(format!("this strategy has no way to {what} here, or does not show the tool for it")),
        };
        match call {
            ScriptedCall::Tool { name, args } => {
                let args = args.as_str().map_or_else(|| args.to_string(), str::to_owned);
                Ok(CallDraft::tool(name.as_str(), args))
            }
            ScriptedCall::Delegate { intent: id, task } => {
                let mut intent = self.intent(id)?.clone();
                intent.task = task.clone().unwrap_or(intent.task);
                speak(Act::Delegate(&intent), &format!("delegate `{id}`"), Some(id))
            }
            ScriptedCall::Wait { intents } => {
                let children = match intents.is_empty() {
                    true => at_work(request),
                    false => intents.iter().map(|id| child(request, id)).collect::<Result<_, _>>()?,
                };
                speak(Act::Wait(&children), "wait", None)
            }
            ScriptedCall::Continue { intent: id, text, wake } => {
                let intent = Intent { task: text.clone(), ..self.intent(id)?.clone() };
                let act = Act::Continue { child: &child(request, id)?, intent: &intent, text, wake: *wake };
                speak(act, &format!("continue the child of `{id}`"), Some(id))
            }
            ScriptedCall::Close { intent: id } => speak(Act::Close(&child(request, id)?), &format!("close the child of `{id}`"), None),
            ScriptedCall::Back {} => speak(Act::Back, "hand back", None),
        }
    }
}

/// The name of an intent's child, as this thread was told last.
fn child(request: &Request<'_>, intent: &str) -> Result<Handle, String> {
    let told = heard(request.items).into_iter().rev().find_map(|heard| heard.handle.filter(|_| heard.intent == intent));
    told.ok_or_else(|| format!("this thread was told no name of a child for `{intent}`"))
}

/// The children that were started and have not reported, in order, each once.
fn at_work(request: &Request<'_>) -> Vec<Handle> {
    let mut children: Vec<Handle> = Vec::new();
    for told in heard(request.items) {
        let Some(handle) = told.handle else { continue };
        children.retain(|known| *known != handle);
        if told.outcome == Outcome::Started {
            children.push(handle);
        }
    }
    children
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::strategy::{Call, ThreadId};
    use crate::transcript::{CallKey, Item, Means, Origin, ToolCall};

    const WRITTEN: &str = r#"
- thread: /
  replies:
    - text: I begin.
      calls:
        - tool: { name: read, args: { path: b, all: true } }
        - tool: { name: shell, args: "not json" }
        - tool: { name: list }
        - delegate: { intent: find }
        - delegate: { intent: sum, task: Sum it up. }
      ms: 40
    - calls: [ { wait: {} } ]
    - calls:
        - wait: { intents: [ find ] }
        - continue: { intent: find, text: And then? }
        - continue: { intent: find, text: Note this., wake: false }
        - close: { intent: find }
        - back: {}
- thread: /1
  turn: 2
  replies: [ { text: Done. } ]
"#;

    fn intents() -> Vec<Intent> {
        let intent =
            |id: &str| Intent { id: id.into(), agent: "worker".into(), title: id.into(), task: format!("Please {id}."), background: false };
        vec![intent("find"), intent("sum")]
    }

    fn script() -> Script {
        let turns: Vec<ScriptedTurn> = serde_saphyr::from_str(WRITTEN).expect("it is written well");
        Script::new(turns, intents()).expect("it is in order")
    }

    fn phrase(act: &Act<'_>) -> Option<Call> {
        let call = |name: &str, args: String| Some(Call { name: name.into(), args });
        match act {
            Act::Delegate(intent) => call("task", format!("{}: {}", intent.agent, intent.task)),
            Act::Wait(children) => call("wait", children.iter().map(|child| child.0.as_str()).collect::<Vec<_>>().join(" ")),
            Act::Continue { child, text, wake, .. } => call("send", format!("{} {text} {wake}", child.0)),
            Act::Close(child) => call("close", child.0.clone()),
            Act::Back => call("back", String::new()),
            Act::Store(text) => call("store", format!("{text:?}")),
            Act::Read(artifact) => call("read", format!("{:?}", artifact.0)),
        }
    }

    /// Delegations of `find` and `sum`: started as `f` and `s`, and `s` has returned.
    fn items() -> Vec<Item> {
        let call = |key: u32, intent: &str| {
            let call = ToolCall {
                key: CallKey(key),
                id: String::new(),
                name: "task".into(),
                args: "".into(),
                intent: Some(intent.into()),
                recorded: None,
            };
            Item::call(call)
        };
        let told = |key: u32, means: Means| Item::result(CallKey(key), Origin::Delegated, "told", false).meaning(means);
        let started = |key: u32, name: &str| told(key, Means::Started(Handle(name.into())));
        let back = Item::user(Origin::Delegated, "s is done").meaning(Means::Returned(Some(Handle("s".into()))));
        vec![call(0, "find"), call(1, "sum"), started(0, "f"), started(1, "s"), back]
    }

    #[track_caller]
    fn check(path: &str, turn: u32, exchange: u32, items: &[Item], can_speak: bool, expect: Result<&str, &str>) {
        let speak = |act: &Act<'_>| phrase(act).filter(|_| can_speak);
        let request = Request {
            thread: ThreadId(0),
            path,
            turn,
            exchange,
            agent: "root",
            intent: None,
            system: None,
            tools: &[],
            items,
            aside: false,
            tokens: 0,
            now_ms: 0,
            speak: &speak,
        };
        let reply = script().start(0).reply(&request).now_or_never().expect("a script's reply is ready at once");
        let shown = reply.map(|reply| {
            let mut lines = vec![format!("{} {:?}", reply.text, reply.took)];
            lines.extend(reply.calls.iter().map(|call| format!("{} {} {:?}", call.name, call.args, call.intent)));
            lines.join("\n")
        });
        assert_eq!(shown.as_deref().map_err(|why| why.message.as_str()), expect);
    }

    #[test]
    fn it_says_what_is_written() {
        let begin = "I begin. Ms(40)\nread {\"all\":true,\"path\":\"b\"} None\nshell not json None\nlist {} None
task worker: Please find. Some(\"find\")\ntask worker: Sum it up. Some(\"sum\")";
        check("/", 1, 0, &[], true, Ok(begin));
        check("/", 1, 1, &items(), true, Ok(" Profile\nwait f None"));
        let acts =
            " Profile\nwait f None\nsend f And then? true Some(\"find\")\nsend f Note this. false Some(\"find\")\nclose f None\nback  None";
        check("/", 1, 2, &items(), true, Ok(acts));
        check("/1", 2, 0, &[], true, Ok("Done. Profile"));
    }

    #[test]
    fn what_is_not_written_is_an_error_with_its_place() {
        let unwritten = "nothing is written for this turn. Written: / turn 1, /1 turn 2";
        check("/", 2, 0, &[], true, Err(&format!("script, thread /, turn 2, reply 1: {unwritten}")));
        check("/1/1", 1, 3, &[], true, Err(&format!("script, thread /1/1, turn 1, reply 4: {unwritten}")));
        check("/", 1, 3, &[], true, Err("script, thread /, turn 1, reply 4: only 3 replies are written for this turn: add one"));
        let dumb = "script, thread /, turn 1, reply 1: this strategy has no way to delegate `find` here, or does not show the tool for it";
        check("/", 1, 0, &[], false, Err(dumb));
        check("/", 1, 2, &[], true, Err("script, thread /, turn 1, reply 3: this thread was told no name of a child for `find`"));
    }

    #[test]
    fn faults_of_the_script_itself() {
        let refused = |turns: &str| {
            let turns: Vec<ScriptedTurn> = serde_saphyr::from_str(turns).expect("it is written well");
            Script::new(turns, intents()).map(|_| ()).map_err(|why| why.message)
        };
        let twice = "[{thread: /, replies: []}, {thread: /, turn: 1, replies: []}]";
        assert_eq!(refused(twice), Err("the script has turn 1 of thread / twice: join the two".into()));
        let unknown = "[{thread: /, replies: [{text: a}, {calls: [{wait: {intents: [fnd]}}]}]}]";
        assert_eq!(refused(unknown), Err("script, thread /, turn 1, reply 2: there is no intent `fnd`. Known: find, sum".into()));
        for wrong in [
            "[{thread: /, replies: [], x: 1}]",
            "[{thread: /, replies: [{says: a}]}]",
            "[{thread: /, replies: [{calls: [{wait: {x: 1}}]}]}]",
        ] {
            assert!(serde_saphyr::from_str::<Vec<ScriptedTurn>>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_written_form_survives_a_round_trip() {
        let turns: Vec<ScriptedTurn> = serde_saphyr::from_str(WRITTEN).expect("it is written well");
        let json = serde_json::to_string(&turns).expect("it is plain data");
        assert_eq!(serde_json::from_str::<Vec<ScriptedTurn>>(&json).expect("as written"), turns);
    }

    #[test]
    fn a_scenario_lends_its_intents() {
        use crate::scenario::sample::{intent, scenario, turn};
        let mut world = scenario(vec![], vec![intent("find", "find it", &[], vec![])], vec![turn("go on then", &[], &[0])]);
        let script = Script::of(&world).expect("an empty script is in order");
        assert!(!script.delegates());
        world.script = serde_saphyr::from_str("[{thread: /, replies: [{calls: [{delegate: {intent: find}}]}]}]").expect("as written");
        let script = Script::of(&world).expect("it is in order");
        assert!(script.delegates());
        assert_eq!(script.0.intents["find"].task, "Please find it.");
    }
}
