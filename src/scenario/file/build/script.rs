//! The script: its references, and that each turn is written once.

use std::collections::BTreeMap;

use crate::scenario::Scenario;
use crate::scenario::script::{ScriptedCall, ScriptedReply, ScriptedTurn};

use super::super::node::{Located, Place};
use super::super::scripted::{ScriptCall, ScriptReply, ScriptTurn};
use super::super::text::Text;
use super::Builder;

/// The agents that a script opens, by the thread that opens them, in order; `None`: of an intent that there is not.
type Cast = BTreeMap<String, Vec<Option<String>>>;

impl Builder<'_> {
    /// The script's turns, in the file's order.
    pub(super) fn script(&mut self, scenario: &Scenario) -> Vec<ScriptedTurn> {
        let file = self.file;
        let cast = self.cast();
        let mut places: BTreeMap<(&str, u32), Place> = BTreeMap::new();
        let mut turns = vec![];
        for form in &file.script {
            let ScriptTurn { thread, turn, replies } = &form.value;
            self.thread_and_turn(thread, turn.as_ref());
            let turn = turn.as_ref().map_or(1, |turn| turn.value);
            if let Some(first) = places.get(&(thread.value.as_str(), turn)) {
                let message = format!("turn {turn} of the thread `{}` is written twice", thread.value);
                self.problems.add(form.at, message, format!("it stands first in line {}: join the two", first.line));
            } else {
                places.insert((thread.value.as_str(), turn), form.at);
            }
            if replies.is_empty() && !self.problems.incomplete {
                self.problems.add(form.at, "this turn has no replies", "write at least one under `replies`: the last one without calls");
            }
            let agent = agent_of(&thread.value, &scenario.root, &cast);
            let owner = format!("script {} {turn}", thread.value);
            let replies =
                replies.iter().enumerate().map(|(at, reply)| self.reply(reply, agent.as_deref(), scenario, &format!("{owner} {at}")));
            turns.push(ScriptedTurn { thread: thread.value.clone(), turn, replies: replies.collect() });
        }
        turns
    }

    fn thread_and_turn(&mut self, thread: &Located<String>, turn: Option<&Located<u32>>) {
        let is_number = |text: &str| !text.starts_with('0') && !text.starts_with('+') && text.parse::<u32>().is_ok();
        let is_path = |path: &str| path == "/" || path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_number));
        if !is_path(&thread.value) {
            let message = format!("`{}` is no place of a thread", thread.value);
            self.problems.add(thread.at, message, "`/` is the root, `/1` its first child, `/1/2` that child's second");
        }
        if let Some(turn) = turn.filter(|turn| turn.value == 0) {
            self.problems.add(turn.at, "turns are counted from 1", "leave it out for the first");
        }
    }

    fn reply(&mut self, form: &ScriptReply, agent: Option<&str>, scenario: &Scenario, owner: &str) -> ScriptedReply {
        let ScriptReply { text, calls, ms } = form;
        let text = text.as_ref().map(|text| self.said(text, owner)).unwrap_or_default();
        let calls = calls.iter().enumerate().map(|(at, call)| self.script_call(call, agent, scenario, &format!("{owner} {at}")));
        ScriptedReply { text, calls: calls.collect(), ms: *ms }
    }

    fn script_call(&mut self, form: &ScriptCall, agent: Option<&str>, scenario: &Scenario, owner: &str) -> ScriptedCall {
        match form {
            ScriptCall::Tool(form) => {
                self.may_call(scenario, agent, &form.name);
                let args = form.args.as_ref().map_or_else(|| serde_json::json!({}), |args| args.to_json());
                ScriptedCall::Tool { name: form.name.value.clone(), args }
            }
            ScriptCall::Delegate(form) => {
                let task = form.task.as_ref().map(|task| self.said(task, owner));
                ScriptedCall::Delegate { intent: self.intent_id(&form.intent), task }
            }
            ScriptCall::Wait(form) => ScriptedCall::Wait { intents: form.intents.iter().map(|id| self.intent_id(id)).collect() },
            ScriptCall::Continue(form) => {
                let text = self.said(&form.text, owner);
                ScriptedCall::Continue { intent: self.intent_id(&form.intent), text, wake: form.wake }
            }
            ScriptCall::Close(form) => ScriptedCall::Close { intent: self.intent_id(&form.intent) },
            ScriptCall::Back => ScriptedCall::Back {},
        }
    }

    /// What a thread says is not shown to it by the world: any fact may stand in it.
    fn said(&mut self, text: &Text, owner: &str) -> String {
        text.plain(owner, &self.sources, self.problems).text().trim_end().to_owned()
    }

    fn intent_id(&mut self, id: &Located<String>) -> String {
        self.declared.intents.check(id, self.problems);
        id.value.clone()
    }

    /// Who is opened where, as far as the script goes as written: children are numbered in order of their delegation.
    fn cast(&self) -> Cast {
        let mut turns: Vec<&ScriptTurn> = self.file.script.iter().map(|form| &form.value).collect();
        turns.sort_by_key(|form| form.turn.as_ref().map_or(1, |turn| turn.value));
        let mut cast = Cast::new();
        for form in turns {
            for call in form.replies.iter().flat_map(|reply| &reply.calls) {
                if let ScriptCall::Delegate(call) = call {
                    let intent = self.file.intents.iter().find(|intent| intent.value.id.value == call.intent.value);
                    let agent = intent.map(|intent| intent.value.agent.value.clone());
                    cast.entry(form.thread.value.clone()).or_default().push(agent);
                }
            }
        }
        cast
    }
}

/// The agent of a thread; `None`: the script opens no such thread.
fn agent_of(path: &str, root: &str, cast: &Cast) -> Option<String> {
    if path == "/" {
        return Some(root.to_owned());
    }
    let (parent, place) = path.rsplit_once('/')?;
    let opened = cast.get(if parent.is_empty() { "/" } else { parent })?;
    opened.get(place.parse::<usize>().ok()?.checked_sub(1)?)?.clone()
}
