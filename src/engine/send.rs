//! Requests: view, splices, weights, the row opened at send, and the one `await`.

use std::collections::VecDeque;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::ledger::{ByOrigin, CacheUse, FailureKind, Fate, InCommon, Row, Sent, Stop as ReplyStop, splice, spliced_from};
use crate::model::{FailedAttempt, ModelError, Pending, Reply, Request, Took};
use crate::strategy::{Act, End, ReturnContract, Splice, ThreadId, ToolSpec, View};
use crate::tokens::{CountError, REPLY_FRAME, Weight, prefix};
use crate::transcript::{Body, CallKey, Content, Item, Origin, Part, dangling};

use super::caching::Sending;
use super::log::WeighedLog;
use super::mutation::{self, Mutation};
use super::state::{Arrival, Stage, TurnIndex};
use super::{Engine, Step, Stop};

/// A request on its way to the model.
struct OnItsWay {
    turn: TurnIndex,
    row: usize,
    reply: Pending,
}

impl Engine {
    /// Sends the request of every turn that is ready, in order of threads, then awaits the replies.
    pub(super) async fn send_ready(&mut self) -> Step {
        let mut ready: SmallVec<[TurnIndex; 4]> = SmallVec::new();
        for thread in &self.threads {
            ready.extend(thread.live.iter().copied().filter(|&turn| self.turns[turn].stage == Stage::Ready));
        }
        let mut sent: SmallVec<[OnItsWay; 2]> = SmallVec::new();
        for turn in ready {
            if self.turns[turn].stage == Stage::Ready
                && let Some(one) = self.send(turn)?
            {
                sent.push(one);
            }
        }
        for OnItsWay { turn, row, reply } in sent {
            let mut reply = reply.await;
            let attempts = match &mut reply {
                Ok(reply) => std::mem::take(&mut reply.attempts),
                Err(why) => std::mem::take(&mut why.attempts),
            };
            if attempts.is_empty() {
                self.replied(turn, row, reply)?;
            } else {
                self.failed_attempt(turn, row, attempts.into(), Box::new(reply));
            }
        }
        Ok(())
    }

    /// Registers when the reply to a request arrives that is sent now.
    fn replied(&mut self, turn: TurnIndex, row: usize, reply: Result<Reply, ModelError>) -> Step {
        let chain = self.turns[turn].chain;
        match reply {
            Ok(mut reply) => {
                self.hold_to_contract(turn, row, &mut reply).map_err(|why| self.uncountable(why))?;
                let output = self.weigh_reply(&reply).map_err(|why| self.uncountable(why))?;
                // Where the rules leave a range, time is that of the worst case.
                let read = self.rows[row].cache.as_ref().map_or(0, |cache| cache.low.read);
                let uncached = self.rows[row].input.total() - read;
                self.rows[row].synthetic = reply.synthetic;
                let latency = self.latency_of(self.rows[row].thread);
                let ms = match reply.took {
                    Took::Profile => latency.exchange_ms(uncached, read, output),
                    Took::Ms(ms) => ms.max(1),
                };
                if let Some(caching) = &mut self.caching {
                    let first_token = latency.exchange_ms(uncached, read, 0).min(ms);
                    caching.begins(row as u32, self.now.saturating_add(first_token));
                }
                let arrival = Arrival::Reply { turn, row, reply: Box::new(reply), output, chain: chain.saturating_add(ms) };
                self.queue.at(self.now.saturating_add(ms), arrival);
            }
            Err(why) => {
                self.rows[row].fate = Fate::Failed;
                if why.ends_run {
                    return Err(self.fail(why.kind, why.message));
                }
                let ms = why.ms.max(1);
                let broken = Arrival::Broken { turn, row, kind: why.kind, message: why.message, chain: chain.saturating_add(ms) };
                self.queue.at(self.now.saturating_add(ms), broken);
            }
        }
        Ok(())
    }

    /// An attempt that brings nothing: its row ends as failed, and the next is sent when it was waited long enough.
    fn failed_attempt(
        &mut self,
        turn: TurnIndex,
        row: usize,
        mut attempts: VecDeque<FailedAttempt>,
        reply: Box<Result<Reply, ModelError>>,
    ) {
        let Some(attempt) = attempts.pop_front() else { return };
        self.rows[row].fate = Fate::Failed;
        self.rows[row].done_ms = Some(self.now.saturating_add(attempt.ms));
        self.rows[row].reported = attempt.reported;
        let ms = attempt.ms.saturating_add(attempt.then_ms).max(1);
        let chain = self.turns[turn].chain.saturating_add(ms);
        self.queue.at(self.now.saturating_add(ms), Arrival::Again { turn, row, attempts, reply, chain });
    }

    /// The next attempt is sent: the same request, in a row of its own.
    pub(super) fn send_again(
        &mut self,
        turn: TurnIndex,
        row: usize,
        attempts: VecDeque<FailedAttempt>,
        reply: Box<Result<Reply, ModelError>>,
        chain: u64,
    ) -> Step {
        if self.is_over(turn) {
            return Ok(());
        }
        self.turns[turn].chain = chain;
        let before = self.rows[row].clone();
        let (thread, input, sent) = (before.thread, before.input.total(), before.sent.clone());
        let next = self.rows.len();
        let cache = self.ask_cache(turn, next as u32, &sent, input).map_err(|why| self.uncountable(why))?;
        self.rows.push(Row {
            seq: next as u32,
            sent_ms: self.now,
            done_ms: None,
            moved: 0,
            cache,
            reported: None,
            fate: Fate::Open,
            attempt: before.attempt + 1,
            ..before
        });
        self.spent += input;
        self.threads[thread.0 as usize].last_row = Some(next);
        self.turns[turn].stage = Stage::Sent(next);
        if attempts.is_empty() {
            self.replied(turn, next, *reply)
        } else {
            self.failed_attempt(turn, next, attempts, reply);
            Ok(())
        }
    }

    /// Limits and forms a child's last message, if the strategy's contract says so: of a turn of its own, what calls nothing.
    fn hold_to_contract(&mut self, turn: TurnIndex, row: usize, reply: &mut crate::model::Reply) -> Result<(), CountError> {
        let ReturnContract { max_tokens, format } = self.return_contract;
        let is_last = reply.calls.is_empty() && !reply.more && !self.rows[row].aside;
        if self.turns[turn].thread == ThreadId::ROOT || !is_last || reply.text.is_empty() {
            return Ok(());
        }
        if let Some(most) = max_tokens {
            let kept = prefix(&self.meter, &reply.text, most)?.len();
            self.rows[row].capped = kept < reply.text.len();
            reply.text.truncate(kept);
        }
        if !reply.text.is_empty() {
            reply.text = format.form(std::mem::take(&mut reply.text));
        }
        Ok(())
    }

    /// Tokens of a reply as the next request will hold it.
    fn weigh_reply(&self, reply: &crate::model::Reply) -> Result<u64, CountError> {
        let mut tokens = 0;
        if !reply.reasoning.is_empty() {
            let item = Item::new(Body::Reasoning { parts: reply.reasoning.clone() }, Origin::Own);
            tokens += u64::from(self.meter.item(&item)?.tokens);
        }
        if !reply.text.is_empty() {
            tokens += u64::from(self.meter.assistant(&reply.text)?);
        }
        for draft in &reply.calls {
            tokens += u64::from(self.meter.call(&draft.name, &draft.args)?);
        }
        Ok(tokens)
    }

    /// Asks for the view, opens the row and hands the request to the model. `None`: nothing was sent.
    fn send(&mut self, turn: TurnIndex) -> Result<Option<OnItsWay>, Stop> {
        let thread = self.turns[turn].thread;
        self.drain_inbox(turn)?;
        if self.turns[turn].exchanges >= self.ceilings.rounds && !mutation::is(Mutation::RoundsUnlimited) {
            let message = format!(
                "thread {}: turn {} reached the harness's ceiling of {} exchanges",
                self.threads[thread.0 as usize].path, self.turns[turn].number, self.ceilings.rounds
            );
            self.end_turn(turn, End::Ceiling(message))?;
            return Ok(None);
        }
        let log = self.turns[turn].log;
        let scope = Engine::scope_of(&self.states, &*self.world, &self.turns[turn], self.now);
        let mut view = self.session.view(&self.logs.0[log].log.items, &scope);
        if let Some(end) = view.stop.take() {
            self.end_turn(turn, end)?;
            return Ok(None);
        }
        let splices = self.apply_splices(turn, std::mem::take(&mut view.splices))?;
        let row = self.open_row(turn, &view, splices)?;
        let over_window = self.rows[row].overflow;
        self.turns[turn].stage = Stage::Sent(row);
        self.turns[turn].exchanges += 1;
        if over_window {
            let message = format!(
                "thread {}: a request of {} tokens is over the model's window of {}",
                self.rows[row].path,
                self.rows[row].input.total(),
                self.window_of(thread).unwrap_or_default()
            );
            self.rows[row].fate = Fate::Failed;
            let chain = self.turns[turn].chain.saturating_add(1);
            self.queue.at(self.now.saturating_add(1), Arrival::Broken { turn, row, kind: FailureKind::Overflow, message, chain });
            return Ok(None);
        }
        self.render(thread, row);
        let opened = &self.rows[row];
        let items: &[Item] = match opened.sent.splices.is_empty() {
            true => &self.logs.0[opened.sent.log].log.items,
            false => &self.threads[thread.0 as usize].rendered,
        };
        let session = &self.session;
        let tools = &opened.sent.tools;
        let speak = |act: &Act<'_>| session.phrase(act).filter(|call| tools.iter().any(|tool| tool.name == call.name));
        let request = Request {
            thread,
            path: &opened.path,
            turn: opened.turn,
            exchange: opened.exchange,
            agent: &opened.agent,
            intent: self.turns[turn].intent.as_deref(),
            system: opened.sent.system.as_ref(),
            tools,
            items,
            tokens: opened.input.total(),
            aside: opened.aside,
            now_ms: self.now,
            speak: &speak,
        };
        let reply = self.agent.reply(&request);
        Ok(Some(OnItsWay { turn, row, reply }))
    }

    /// Renders a request with splices, going on from what the thread's last such one has in common with it. A request without is the
    /// log itself.
    fn render(&mut self, thread: ThreadId, row: usize) {
        let now = &self.rows[row].sent;
        if now.splices.is_empty() {
            return;
        }
        let one = &mut self.threads[thread.0 as usize];
        let last = one.rendered_row.replace(row).map(|row| &self.rows[row].sent);
        let common = last.map_or(InCommon::default(), |last| self.logs.in_common(last, now));
        one.rendered.truncate(common.items);
        let items = &self.logs.0[now.log].log.items[..now.length];
        one.rendered.extend(spliced_from(items, &now.splices[common.splices..], common.at).cloned());
    }

    /// Applies kept splices to the turn's history and returns this request's own, at their new positions.
    fn apply_splices(&mut self, turn: TurnIndex, splices: Vec<Splice>) -> Result<Arc<[Splice]>, Stop> {
        if splices.is_empty() {
            return Ok(self.no_splices.clone());
        }
        let (thread, log, own) = (self.turns[turn].thread, self.turns[turn].log, self.turns[turn].own);
        let length = self.logs.0[log].len();
        // Another turn's commit would be lost, or would lose what the splice rewrites: two bases cannot both win.
        let one = &self.threads[thread.0 as usize];
        let alone = one.live.len() == 1 && one.commits == self.turns[turn].commits_before;
        let mut from = 0;
        for splice in &splices {
            if splice.at < from || splice.at.saturating_add(splice.remove) > length {
                return Err(self.fault(
                    thread,
                    format_args!(
                        "a splice at {} that removes {}: splices are ascending, disjoint and inside the {length} items of the history",
                        splice.at, splice.remove
                    ),
                ));
            }
            from = splice.at + splice.remove;
            if splice.keep && splice.at < own && !alone {
                return Err(self.fault(
                    thread,
                    format_args!(
                        "a kept splice at {} touches what stands before this turn, beside which another turn of the thread runs or has ended",
                        splice.at
                    ),
                ));
            }
        }
        if !self.may_dangle
            && let Some(key) = self.loose_behind(log, &splices).into_iter().find(|key| !self.tolerated.contains(key))
        {
            return Err(self.fault(thread, format_args!("splices leave a call without its result, or a result without its call: {key:?}")));
        }
        let persists = !mutation::is(Mutation::KeptSpliceNotPersisted);
        if !splices.iter().any(|splice| splice.keep && persists) {
            return Ok(splices.into());
        }
        // The history from now on is a log of its own; what was sent before still refers to the old one.
        let old = &self.logs.0[log];
        let mut new = WeighedLog::default();
        let mut requests_own = Vec::new();
        let mut at = 0;
        let mut new_own = own;
        for splice in splices {
            for kept in at..splice.at {
                new.push(old.log.items[kept].clone(), old.weight(kept), old.delegating(kept));
            }
            at = splice.at;
            if !splice.keep {
                requests_own.push(Splice { at: new.len(), ..splice });
                continue;
            }
            let gone_before_own = own.saturating_sub(splice.at).min(splice.remove);
            new_own -= gone_before_own;
            if splice.at < own {
                new_own += splice.items.len();
            }
            for item in splice.items {
                let weight = self.meter.item(&item);
                let weight = match weight {
                    Ok(weight) => weight,
                    Err(why) => return Err(self.fail(FailureKind::Limit, why.to_string())),
                };
                let delegating = self.is_delegating(&item);
                new.push(item, weight, delegating);
            }
            at += splice.remove;
        }
        for kept in at..length {
            new.push(old.log.items[kept].clone(), old.weight(kept), old.delegating(kept));
        }
        new.writers = 1;
        self.logs.0[log].writers -= 1;
        self.logs.0.push(new);
        let live = &mut self.turns[turn];
        live.log = self.logs.0.len() - 1;
        live.own = if mutation::is(Mutation::OwnNotMoved) { own } else { new_own };
        Ok(requests_own.into())
    }

    /// What dangles in a history with its splices. Splices that put calls and results in the place of their like change nothing of that.
    fn loose_behind(&self, log: usize, splices: &[Splice]) -> Vec<Option<CallKey>> {
        let log = &self.logs.0[log];
        let paired = |item: &&Item| matches!(item.body(), Body::Call(_) | Body::Result { .. });
        let ends = |item: &Item| (item.as_call().map(|call| call.key), item.answers());
        let touches = |one: &Splice| {
            let new = one.items.iter().filter(paired).map(ends);
            !new.eq(log.log.items[one.at..one.at + one.remove].iter().filter(paired).map(ends))
        };
        if splices.iter().any(touches) {
            return dangling(&splice(&log.log.items, splices));
        }
        log.loose().keys()
    }

    /// Whether an item is a call of this run that the strategy answers.
    pub(super) fn is_delegating(&self, item: &Item) -> bool {
        item.origin == Origin::Own && item.as_call().and_then(|call| self.call(call.key)).is_some_and(|open| open.own)
    }

    /// Opens the row: everything of it that is known at send.
    fn open_row(&mut self, turn: TurnIndex, view: &View, splices: Arc<[Splice]>) -> Result<usize, Stop> {
        let weighed = self.weigh_request(turn, view, &splices).map_err(|why| self.uncountable(why))?;
        if self.spent + weighed.input.total() > self.ceilings.tokens {
            // It is not sent, so it has no row.
            let (most, rows) = (self.ceilings.tokens, self.rows.len());
            let message = format!("the next request would pass the harness's ceiling of {most} tokens, after {rows} exchanges");
            return Err(self.fail(FailureKind::Limit, message));
        }
        let live = &self.turns[turn];
        let thread = live.thread;
        let one = &self.threads[thread.0 as usize];
        let last = one.last_row.map(|row| &self.rows[row]);
        let tools: Arc<[ToolSpec]> = match last {
            Some(last) if *last.sent.tools == *view.tools => last.sent.tools.clone(),
            _ => Arc::from(view.tools.as_slice()),
        };
        let agent: Arc<str> = match last {
            Some(last) if *last.agent == *view.agent => last.agent.clone(),
            _ => Arc::from(view.agent.as_str()),
        };
        let log = &self.logs.0[live.log];
        let sent = Sent { system: view.system.clone(), tools: tools.clone(), log: live.log, length: log.len(), splices, own: live.own };
        let total = weighed.input.total();
        let moved = total - self.unmoved(thread, &sent, &weighed).map_err(|why| self.fail(FailureKind::Limit, why.to_string()))?;
        let row = self.rows.len();
        let cache = self.ask_cache(turn, row as u32, &sent, total).map_err(|why| self.uncountable(why))?;
        let live = &mut self.turns[turn];
        live.tools = tools;
        live.phases = view.phases;
        self.rows.push(Row {
            seq: row as u32,
            thread,
            path: self.threads[thread.0 as usize].path.clone(),
            agent,
            intent: live.intent.as_deref().map(Into::into),
            turn: live.number,
            exchange: live.exchanges,
            sent_ms: self.now,
            done_ms: None,
            input: weighed.input,
            output: 0,
            delegation: weighed.delegation,
            moved,
            unknown_parts: weighed.unknown_parts,
            cache,
            reported: None,
            fate: Fate::Open,
            synthetic: false,
            aside: view.aside,
            overflow: self.window_of(thread).is_some_and(|window| total > window),
            capped: false,
            attempt: 1,
            stop: ReplyStop::End,
            broken_calls: 0,
            calls: 0,
            cut: 0,
            drift: 0,
            rescues: 0,
            sent,
        });
        self.spent += total;
        let one = &mut self.threads[thread.0 as usize];
        one.last_row = Some(row);
        one.last_used_ms = self.now;
        self.sync(thread);
        Ok(row)
    }

    /// What the prompt cache makes of a request that is about to be sent. One over the window is sent to nobody.
    fn ask_cache(&mut self, turn: TurnIndex, row: u32, sent: &Sent, input: u64) -> Result<Option<CacheUse>, CountError> {
        let thread = self.turns[turn].thread;
        let window = self.window_of(thread);
        let Some(caching) = &mut self.caching else { return Ok(None) };
        if window.is_some_and(|window| input > window) {
            return Ok(Some(CacheUse::none(input)));
        }
        let one = &self.threads[thread.0 as usize];
        if let Some(warm) = self.warm.take() {
            let items = &self.logs.0[sent.log].log.items[..sent.length];
            caching.warm_up(sent.system.as_ref(), &sent.tools, &items[..warm.min(items.len())])?;
        }
        let last = one.last_row.map(|row| &self.rows[row].sent);
        let same_start = last.is_some_and(|last| last.system == sent.system && Arc::ptr_eq(&last.tools, &sent.tools));
        let sending =
            Sending { thread, opener: one.parent, path: &one.path, sent, same_start, logs: &self.logs, now_ms: self.now, input, row };
        caching.sent(&sending).map(Some)
    }

    /// Sums of a request: the log's, corrected by the splices, with frame, system and tools. Only splices bring text
    /// that was not counted when it entered the log.
    fn weigh_request(&self, turn: TurnIndex, view: &View, splices: &[Splice]) -> Result<Weighed, CountError> {
        let log = &self.logs.0[self.turns[turn].log];
        let mut weighed = Weighed { input: log.input, delegation: log.delegation, unknown_parts: log.unknown_parts, fixed: 0 };
        for splice in splices {
            for at in splice.at..splice.at + splice.remove {
                let Weight { tokens, unknown_parts } = log.weight(at);
                weighed.input.take(log.log.items[at].origin, tokens.into());
                weighed.unknown_parts -= unknown_parts;
                if log.delegating(at) || log.log.items[at].origin == Origin::Delegated {
                    weighed.delegation -= u64::from(tokens);
                }
            }
            for item in &splice.items {
                let Weight { tokens, unknown_parts } = self.meter.item(item)?;
                weighed.input.add(item.origin, tokens.into());
                weighed.unknown_parts += unknown_parts;
                if item.origin == Origin::Delegated || self.is_delegating(item) {
                    weighed.delegation += u64::from(tokens);
                }
            }
        }
        let before = weighed.input.total();
        weighed.input.add(Origin::System, REPLY_FRAME.into());
        if let Some(system) = &view.system {
            weighed.input.add(origin_of(system, Origin::System), self.meter.system(system)?.into());
        }
        for tool in &view.tools {
            weighed.input.add(origin_of(&tool.schema, Origin::Tools), self.meter.tool(tool)?.into());
        }
        weighed.fixed = weighed.input.total() - before;
        Ok(weighed)
    }

    /// Tokens of the request up to the first position that differs from the thread's last request. What stands at the
    /// end of every request (the reply's frame) counts as moved only if anything before it moved.
    fn unmoved(&self, thread: ThreadId, sent: &Sent, weighed: &Weighed) -> Result<u64, CountError> {
        let Some(last) = self.threads[thread.0 as usize].last_row.map(|row| &self.rows[row].sent) else { return Ok(0) };
        if last.system != sent.system || *last.tools != *sent.tools {
            return Ok(0);
        }
        let head = weighed.fixed - u64::from(REPLY_FRAME);
        let log = &self.logs.0[sent.log];
        if last.log == sent.log && last.splices.is_empty() && sent.splices.is_empty() {
            if last.length == sent.length {
                return Ok(weighed.input.total());
            }
            let behind: u64 = log.log.tokens[last.length..sent.length].iter().map(|&tokens| u64::from(tokens)).sum();
            return Ok(weighed.input.total() - behind - u64::from(REPLY_FRAME));
        }
        let common = self.logs.in_common(last, sent);
        let earlier = &self.logs.0[last.log].log.items[..last.length];
        let mut before = spliced_from(earlier, &last.splices[common.splices..], common.at);
        let mut now = spliced_from(&log.log.items[..sent.length], &sent.splices[common.splices..], common.at);
        let mut same = weighed.input.total() - weighed.fixed;
        for item in now.clone() {
            same -= u64::from(self.meter.item(item)?.tokens);
        }
        loop {
            match (before.next(), now.next()) {
                (None, None) => return Ok(weighed.input.total()),
                (Some(one), Some(other)) if one.reads_as(other) => same += u64::from(self.meter.item(other)?.tokens),
                _ => return Ok(head + same),
            }
        }
    }
}

/// Where the tokens of a system text or of a tool's schema come from: one that is a size alone is a real client's.
fn origin_of(part: &Part, plain: Origin) -> Origin {
    match part.content() {
        Content::Opaque { .. } => Origin::Scaffold,
        _ => plain,
    }
}

/// The sums of a request.
struct Weighed {
    input: ByOrigin,
    delegation: u64,
    unknown_parts: u32,
    /// Tokens of system, tools and frame.
    fixed: u64,
}
