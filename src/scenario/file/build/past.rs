//! History: what the root has behind it before the first turn.

use crate::scenario::ScenarioWorld;
use crate::setting::World;
use crate::transcript::{Body, CallKey, Item, Origin, Part, Phase, Role, ToolCall};

use super::super::form::{CallForm, Entry, messages};
use super::super::node::Located;
use super::super::text::Text;
use super::world::{arguments, check_arguments};
use super::{Builder, Seat, Shown};

impl Builder<'_> {
    /// The history's items. Calls are numbered from 0 in order.
    pub(super) fn history(&mut self, world: &ScenarioWorld) -> Vec<Item> {
        let file = self.file;
        let mut world = world.clone();
        let mut calls = 0;
        let mut items = vec![];
        for (at, entry) in file.history.iter().enumerate() {
            let owner = format!("history {at}");
            let seat = Seat::History(entry.value.id.as_ref().map_or_else(String::new, |id| id.value.clone()));
            self.entry(entry, &seat, &owner, &mut Some((&mut world, &mut calls)), &mut items);
        }
        items
    }

    /// One entry's items. Without a world (in a user turn) calls cannot stand.
    pub(super) fn entry(
        &mut self,
        entry: &Located<Entry>,
        seat: &Seat,
        owner: &str,
        past: &mut Option<(&mut ScenarioWorld, &mut u32)>,
        items: &mut Vec<Item>,
    ) {
        let form = &entry.value;
        let before = items.len();
        let mut kinds = 0;
        for (role, text) in messages(form) {
            let Some(text) = text else { continue };
            kinds += 1;
            let origin = match role {
                Role::User => Origin::User,
                Role::Assistant => Origin::Own,
                Role::Tool => Origin::ToolResult,
                Role::System | Role::Developer => Origin::System,
            };
            let parts = self.parts(text, seat, owner);
            items.push(Item::new(Body::Message { role, phase: form.phase, parts }, origin));
        }
        if let Some(text) = &form.reasoning {
            kinds += 1;
            let parts = self.parts(text, seat, owner);
            items.push(Item::new(Body::Reasoning { parts }, Origin::Own));
        }
        if let Some(text) = &form.compaction {
            kinds += 1;
            let parts = self.parts(text, seat, owner);
            items.push(Item::new(Body::Compaction { parts }, Origin::Compaction));
        }
        if let Some(mail) = &form.mail {
            kinds += 1;
            let parts = self.parts(&mail.text, seat, owner);
            items.push(Item::new(Body::Mail { from: mail.from.clone(), to: mail.to.clone(), parts }, Origin::Delegated));
        }
        if let Some(context) = &form.context {
            kinds += 1;
            // No model reads it, so nothing can be seen in it.
            let parts = context.text.parts(owner, &self.sources, self.problems).parts;
            items.push(Item::new(Body::Context { kind: context.kind.clone(), parts }, Origin::System));
        }
        if let Some(call) = &form.call {
            kinds += 1;
            match past {
                Some((world, calls)) => self.call(call, seat, owner, world, calls, items),
                None => self.problems.add(
                    entry.at,
                    "a call cannot stand in a user turn",
                    "calls of the past stand in `history`, those to come in plans",
                ),
            }
        }
        if kinds > 1 || (kinds == 0 && !self.problems.incomplete) {
            let message = if kinds == 0 { "this entry says nothing" } else { "this entry says several things" };
            let help = "write exactly one of `user`, `assistant`, `developer`, `system`, `tool`, `call`, `reasoning`, `compaction`, `mail` and `context`";
            self.problems.add(entry.at, message, help);
        }
        if form.phase.is_some() && form.assistant.is_none() && kinds == 1 {
            self.problems.add(entry.at, "only a message of the `assistant` has a phase", "remove `phase`");
        }
        if form.hidden {
            for item in items.iter_mut().skip(before) {
                item.hidden = true;
            }
        }
    }

    fn parts(&mut self, text: &Text, seat: &Seat, owner: &str) -> Vec<Part> {
        let made = text.parts(owner, &self.sources, self.problems);
        let parts = made.parts.clone();
        self.show(made, seat.clone(), text.at);
        parts
    }

    fn call(&mut self, form: &CallForm, seat: &Seat, owner: &str, world: &mut ScenarioWorld, calls: &mut u32, items: &mut Vec<Item>) {
        check_arguments(form.args.as_ref(), self.problems);
        let key = CallKey(*calls);
        *calls += 1;
        let id = format!("call_past_{calls}");
        let args = Part::text(arguments(form.args.as_ref()));
        let call = ToolCall { key, id, name: form.tool.value.clone(), args, intent: None, recorded: None };
        items.push(Item::call(call.clone()));
        let (parts, failed) = match &form.result {
            _ if !form.answered => return,
            Some(text) => (self.parts(text, seat, owner), form.failed),
            None => {
                if !self.declared.tools.check(&form.tool, self.problems) {
                    return;
                }
                let answer = world.call(&call);
                if answer.failed && !form.failed {
                    let message = format!("this call answers an error: {}", answer.parts.iter().map(Part::as_text).collect::<String>());
                    self.problems.add(form.tool.at, message, "mend the arguments, write its `result`, or say `failed: true`");
                }
                let text = answer.parts.iter().map(Part::as_text).collect();
                self.shown.push(Shown { seat: seat.clone(), at: form.tool.at, text, quotes: vec![], is_answer: true });
                (answer.parts, answer.failed)
            }
        };
        items.push(Item::new(Body::Result { key: Some(key), parts, failed }, Origin::ToolResult));
    }

    /// The items of a user turn.
    pub(super) fn turn_items(&mut self, at: usize) -> Vec<Item> {
        let file = self.file;
        let Some(turn) = file.turns.get(at) else { return vec![] };
        let owner = format!("turn {at}");
        let seat = Seat::Turn(turn.value.id.as_ref().map_or_else(String::new, |id| id.value.clone()));
        let mut items = vec![];
        if let Some(text) = &turn.value.user {
            let parts = self.parts(text, &seat, &owner);
            items.push(Item::new(Body::Message { role: Role::User, phase: None::<Phase>, parts }, Origin::User));
        }
        for entry in &turn.value.items {
            self.entry(entry, &seat, &owner, &mut None, &mut items);
        }
        if turn.value.user.is_none() && turn.value.items.is_empty() && !self.problems.incomplete {
            self.problems.add(turn.at, "the user says nothing in this turn", "write `user:` with a text, or `items:`");
        }
        items
    }
}
