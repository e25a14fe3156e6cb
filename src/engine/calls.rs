//! What becomes of a reply: calls minted, routed, answered.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::ledger::{FailureKind, Fate};
use crate::model::Reply;
use crate::strategy::{AssistantTurn, End, Event, ParentView, Route};
use crate::transcript::{Body, CallKey, Item, Origin, Part, Phase, Role, ToolCall};

use super::mutation::{self, Mutation};
use super::state::{Arrival, OpenCall, Stage, TurnIndex};
use super::{Engine, Step};

impl Engine {
    /// A reply arrives.
    pub(super) fn reply_arrives(&mut self, turn: TurnIndex, row: usize, reply: Reply, output: u64, chain: u64) -> Step {
        if self.is_over(turn) {
            return Ok(());
        }
        self.chain = chain;
        self.turns[turn].chain = chain;
        let (thread, log) = (self.turns[turn].thread, self.turns[turn].log);
        self.threads[thread.0 as usize].last_used_ms = self.now;
        let closed = &mut self.rows[row];
        closed.done_ms = Some(self.now);
        closed.fate = Fate::Replied;
        closed.output = output;
        closed.reported = reply.reported;
        closed.drift = reply.drift;
        closed.rescues = reply.rescues;
        closed.stop = reply.stop;
        closed.broken_calls = reply.broken_calls;
        let aside = closed.aside;
        self.spent += output;
        let mut calls = Vec::with_capacity(reply.calls.len());
        for draft in reply.calls {
            let key = CallKey(self.first_key + self.calls.len() as u32);
            let id = if draft.id.is_empty() { format!("call_{}", key.0) } else { draft.id };
            let call = ToolCall { key, id, name: draft.name, args: Part::text(draft.args), intent: draft.intent, recorded: draft.recorded };
            self.calls.push(OpenCall { call: Arc::new(call.clone()), turn, thread, own: false, replied: false, answer: None, chain });
            calls.push(call);
        }
        let more = reply.more;
        let minted: SmallVec<[CallKey; 4]> = calls.iter().map(|call| call.key).collect();
        let said = AssistantTurn {
            reasoning: reply.reasoning.clone(),
            text: reply.text,
            calls,
            more: reply.more,
            synthetic: reply.synthetic,
            total: self.rows[row].input.total().saturating_add(output),
            window: self.window_of(thread),
        };
        if aside && mutation::is(Mutation::AsideKept) {
            let pushed = self.logs.push(&self.meter, log, Item::assistant(None, said.text.as_str()));
            pushed.map_err(|why| self.uncountable(why))?;
        }
        if aside {
            self.rows[row].cut = said.calls.len() as u32;
            self.turns[turn].stage = Stage::Ready;
            let scope = Engine::scope_of(&self.states, &*self.world, &self.turns[turn], self.now);
            let orders = self.session.deliver(Event::Aside(said), &scope);
            self.changed = true;
            return self.execute(orders, thread);
        }
        let scope = Engine::scope_of(&self.states, &*self.world, &self.turns[turn], self.now);
        let decided = self.session.turn(said, &self.logs.0[log].log.items, &scope);
        let mut accounted: SmallVec<[CallKey; 4]> = decided.calls.iter().chain(&decided.cut).map(|call| call.key).collect();
        accounted.sort();
        if accounted != minted {
            return Err(self.fault(
                thread,
                format_args!(
                    "`turn` must make or cut each call of the reply exactly once: the reply has {minted:?}, it gave {accounted:?}"
                ),
            ));
        }
        if decided.finish && !decided.calls.is_empty() {
            return Err(self.fault(thread, "`turn` finished the turn and made calls: a finished turn's calls are cut"));
        }
        self.rows[row].calls = decided.calls.len() as u32;
        self.rows[row].cut = decided.cut.len() as u32;
        if mutation::is(Mutation::CutRepliesFree) && !decided.cut.is_empty() {
            self.rows[row].output = 0;
        }
        let phase = if decided.calls.is_empty() { Phase::FinalAnswer } else { Phase::Commentary };
        let phase = self.turns[turn].phases.then_some(phase);
        let mut items = Vec::with_capacity(decided.calls.len() + 2);
        if !reply.reasoning.is_empty() {
            items.push(Item::new(Body::Reasoning { parts: reply.reasoning }, Origin::Own));
        }
        if !decided.text.is_empty() {
            items.push(Item::new(Body::Message { role: Role::Assistant, phase, parts: vec![Part::text(decided.text)] }, Origin::Own));
        }
        let batch: Vec<CallKey> = decided.calls.iter().map(|call| call.key).collect();
        for call in decided.calls {
            // An edited call is routed as edited.
            if let Some(open) = self.call_mut(call.key)
                && *open.call != call
            {
                open.call = Arc::new(call.clone());
            }
            items.push(Item::call(call));
        }
        if let Some(caching) = &mut self.caching {
            caching.replied(row as u32, &items, self.now).map_err(|why| self.uncountable(why))?;
        }
        let mut name = decided.name;
        for item in items {
            let bears_it = matches!(item.body(), Body::Message { .. } | Body::Call(_));
            let item = match name.take_if(|_| bears_it) {
                Some(name) => item.named(name),
                None => item,
            };
            let pushed = self.logs.push(&self.meter, log, item);
            pushed.map_err(|why| self.uncountable(why))?;
        }
        let live = &mut self.turns[turn];
        live.batch = batch;
        live.routed = 0;
        live.serial = decided.serial && !mutation::is(Mutation::SerialIgnored);
        live.then_user = reply.then_user;
        live.shut |= decided.shut;
        live.stage = Stage::Calls;
        if decided.finish {
            return self.end_turn(turn, End::Done);
        }
        if self.turns[turn].batch.is_empty() {
            if more || decided.more || !self.turns[turn].then_user.is_empty() {
                return self.all_answered(turn);
            }
            return self.end_or_go_on(turn);
        }
        self.route_calls(turn)
    }

    /// An exchange that broke: the turn fails.
    pub(super) fn break_turn(&mut self, turn: TurnIndex, row: usize, kind: FailureKind, message: String, chain: u64) -> Step {
        if self.is_over(turn) {
            return Ok(());
        }
        self.rows[row].done_ms = Some(self.now);
        self.turns[turn].chain = chain;
        self.turns[turn].broken = kind;
        self.end_turn(turn, End::Failed(message))
    }

    /// Routes the calls of the last reply: all at once, or one after the other.
    fn route_calls(&mut self, turn: TurnIndex) -> Step {
        self.turns[turn].routing = true;
        while self.turns[turn].routed < self.turns[turn].batch.len() {
            if self.is_over(turn) {
                return Ok(());
            }
            let at = self.turns[turn].routed;
            let key = self.turns[turn].batch[at];
            if self.turns[turn].serial && at > 0 {
                let before = self.turns[turn].batch[at - 1];
                if self.call(before).is_some_and(|call| call.answer.is_none()) {
                    self.turns[turn].routing = false;
                    return Ok(());
                }
            }
            self.turns[turn].routed += 1;
            self.route_call(turn, key)?;
        }
        self.turns[turn].routing = false;
        self.check_answered(turn)
    }

    fn route_call(&mut self, turn: TurnIndex, key: CallKey) -> Step {
        let (thread, log) = (self.turns[turn].thread, self.turns[turn].log);
        let Some(call) = self.call(key).map(|open| open.call.clone()) else { return Ok(()) };
        // A recorded call stays as recorded under every strategy, whatever its tool is called.
        if call.recorded.is_some() {
            return self.call_tool(turn, &call);
        }
        let batch = &self.turns[turn].batch;
        let in_flight: Vec<CallKey> =
            batch.iter().copied().filter(|&key| self.call(key).is_some_and(|open| open.answer.is_none())).collect();
        let answered: Vec<Item> = batch.iter().filter_map(|&key| self.call(key).and_then(|open| open.answer.clone())).collect();
        let with_answers: Vec<Item>;
        let items: &[Item] = if answered.is_empty() {
            &self.logs.0[log].log.items
        } else {
            with_answers = self.logs.0[log].log.items.iter().cloned().chain(answered).collect();
            &with_answers
        };
        let scope = Engine::scope_of(&self.states, &*self.world, &self.turns[turn], self.now);
        match self.session.route(&call, ParentView { items, in_flight: &in_flight }, &scope) {
            Route::Tool => self.call_tool(turn, &call),
            Route::Do(orders) => {
                if let Some(open) = self.call_mut(key) {
                    open.own = true;
                }
                if let Some(at) = self.logs.0[log].find_call(key) {
                    self.logs.0[log].mark_delegating(at);
                }
                self.execute(orders, thread)
            }
        }
    }

    /// The world, or the recording, answers an ordinary tool call. A tool that was not shown is refused.
    fn call_tool(&mut self, turn: TurnIndex, call: &ToolCall) -> Step {
        let shown = self.turns[turn].tools.iter().any(|tool| tool.name == call.name);
        let result = match &call.recorded {
            Some(recorded) => recorded.clone(),
            None if shown => self.world.call(call),
            None => {
                let shown = self.turns[turn].tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ");
                let text = format!("Error: the tool `{}` is not available here. Available: {shown}.", call.name);
                crate::transcript::Recorded::text(text, true, 1)
            }
        };
        let ms = result.ms.max(1);
        self.tools_ms = self.tools_ms.saturating_add(ms);
        let chain = self.turns[turn].chain.saturating_add(ms);
        let item = Item::new(Body::Result { key: Some(call.key), parts: result.parts, failed: result.failed }, Origin::ToolResult);
        self.queue.at(self.now.saturating_add(ms), Arrival::Result { key: call.key, item, chain });
        Ok(())
    }

    /// A result arrives: a tool's, or a strategy's reply.
    pub(super) fn result_arrives(&mut self, key: CallKey, item: Item, chain: u64) -> Step {
        self.waiting.remove(&key);
        let Some(call) = self.call_mut(key) else { return Ok(()) };
        let turn = call.turn;
        call.replied = true;
        if call.answer.is_none() {
            call.answer = Some(item);
            call.chain = call.chain.max(chain);
        }
        if self.is_over(turn) {
            self.late_replies += 1;
            return Ok(());
        }
        self.changed = true;
        self.chain = chain;
        self.turns[turn].chain = self.turns[turn].chain.max(chain);
        let live = &self.turns[turn];
        if live.routing {
            return Ok(());
        }
        if live.serial && live.routed < live.batch.len() {
            return self.route_calls(turn);
        }
        self.check_answered(turn)
    }

    fn check_answered(&mut self, turn: TurnIndex) -> Step {
        let live = &self.turns[turn];
        if live.stage != Stage::Calls || live.routed < live.batch.len() || live.batch.is_empty() {
            return Ok(());
        }
        if live.batch.iter().any(|&key| self.call(key).is_some_and(|call| call.answer.is_none())) {
            return Ok(());
        }
        self.all_answered(turn)
    }

    /// Every call has its result: they enter the history in call order, and the turn is sampled again.
    fn all_answered(&mut self, turn: TurnIndex) -> Step {
        self.append_results(turn)?;
        let log = self.turns[turn].log;
        for item in std::mem::take(&mut self.turns[turn].then_user) {
            let pushed = self.logs.push(&self.meter, log, item);
            pushed.map_err(|why| self.uncountable(why))?;
        }
        self.turns[turn].stage = Stage::Ready;
        self.changed = true;
        Ok(())
    }

    pub(super) fn append_results(&mut self, turn: TurnIndex) -> Step {
        let log = self.turns[turn].log;
        let mut batch = std::mem::take(&mut self.turns[turn].batch);
        if mutation::is(Mutation::ResultsReversed) {
            batch.reverse();
        }
        for key in batch {
            let Some(item) = self.call(key).and_then(|call| call.answer.clone()) else { continue };
            let pushed = self.logs.push(&self.meter, log, item);
            pushed.map_err(|why| self.uncountable(why))?;
        }
        Ok(())
    }
}
