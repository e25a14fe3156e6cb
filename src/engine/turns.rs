//! How turns start and end, and how a thread's history is committed.

use std::collections::VecDeque;

use crate::ledger::{FailureKind, Fate};
use crate::strategy::{End, Event, Report, ThreadId, When};
use crate::transcript::{Body, CallKey, Item, Origin};

use super::log::Prefix;
use super::mutation::{self, Mutation};
use super::state::{Letter, LiveTurn, Stage, TurnIndex};
use super::{Engine, Scope, Step};

impl Engine {
    /// Puts an item into a thread's committed history.
    pub(super) fn record(&mut self, thread: ThreadId, item: Item) -> Step {
        let log = self.logs.extend_behind(self.threads[thread.0 as usize].base);
        let delegating = self.is_delegating(&item);
        let pushed = self.logs.push(&self.meter, log, item);
        pushed.map_err(|why| self.uncountable(why))?;
        let length = self.logs.0[log].len();
        // What an overlapping turn brings was routed already: its calls stay the delegation's.
        if delegating {
            self.logs.0[log].mark_delegating(length - 1);
        }
        let one = &mut self.threads[thread.0 as usize];
        one.base = Prefix { log, length };
        one.commits += 1;
        Ok(())
    }

    /// Starts a turn on what is committed.
    pub(super) fn start_turn(&mut self, thread: ThreadId, items: Vec<Item>, by: Option<CallKey>) -> Step {
        let base = self.threads[thread.0 as usize].base;
        let log = self.logs.extend_behind(base);
        self.logs.0[log].writers += 1;
        let intent = by.and_then(|key| self.call(key)).and_then(|call| call.call.intent.clone());
        let opened_with_items = !items.is_empty();
        let one = &mut self.threads[thread.0 as usize];
        one.turns += 1;
        one.last_used_ms = self.now;
        let turn = LiveTurn {
            thread,
            number: one.turns,
            by,
            intent,
            log,
            own: base.length,
            commits_before: one.commits,
            exchanges: 0,
            opened_with_items,
            shut: false,
            stage: Stage::Ready,
            started_ms: self.now,
            batch: Vec::new(),
            routed: 0,
            serial: false,
            routing: false,
            then_user: Vec::new(),
            chain: self.chain,
            broken: FailureKind::Strategy,
            tools: self.no_tools.clone(),
            phases: false,
        };
        one.live.push(self.turns.len());
        self.turns.push(turn);
        let opener = by.and_then(|key| self.call(key)).map(|open| self.turns[open.turn].log);
        self.logs.begin(&self.meter, log, items, opener).map_err(|why| self.uncountable(why))?;
        self.check_dangling(thread, log)?;
        self.sync(thread);
        Ok(())
    }

    /// No history may hold calls that lack a result when it is sent, unless the strategy's system is known to send such.
    fn check_dangling(&mut self, thread: ThreadId, log: usize) -> Step {
        if self.may_dangle {
            return Ok(());
        }
        let loose = self.logs.0[log].loose();
        if loose.is_empty() {
            return Ok(());
        }
        let loose: Vec<Option<CallKey>> = loose.keys().into_iter().filter(|key| !self.tolerated.contains(key)).collect();
        if loose.is_empty() {
            return Ok(());
        }
        Err(self.fault(thread, format_args!("it would be sent calls that have no result, or results without a call: {loose:?}")))
    }

    /// Whether this turn may read something that lies in its thread's inbox.
    fn may_read(&self, turn: TurnIndex, letter: &Letter) -> bool {
        match letter.when {
            When::Notice => !mutation::is(Mutation::NoticeDoesNotExtend),
            _ => !self.turns[turn].shut,
        }
    }

    /// Ends the turn, unless its inbox holds something that it may read.
    pub(super) fn end_or_go_on(&mut self, turn: TurnIndex) -> Step {
        let thread = self.turns[turn].thread;
        let more = self.threads[thread.0 as usize].inbox.iter().any(|letter| self.may_read(turn, letter));
        if more {
            self.turns[turn].stage = Stage::Ready;
            self.changed = true;
            return Ok(());
        }
        self.end_turn(turn, End::Done)
    }

    /// Moves what the turn may read from the inbox into its history: before the view of every request.
    pub(super) fn drain_inbox(&mut self, turn: TurnIndex) -> Step {
        let live = &self.turns[turn];
        let (thread, log) = (live.thread, live.log);
        let first = live.exchanges == 0 && live.opened_with_items && !mutation::is(Mutation::OpeningNotSampledFirst);
        let shut = live.shut && !mutation::is(Mutation::ShutNotSticky);
        let inbox = &mut self.threads[thread.0 as usize].inbox;
        if inbox.is_empty() {
            return Ok(());
        }
        let (read, kept): (VecDeque<Letter>, VecDeque<Letter>) =
            inbox.drain(..).partition(|letter| letter.when == When::Notice || (!first && !shut));
        *inbox = kept;
        let paired = read.iter().any(|letter| matches!(letter.item.body(), Body::Call(_) | Body::Result { .. }));
        for letter in read {
            self.turns[turn].chain = self.turns[turn].chain.max(letter.chain);
            let pushed = self.logs.push(&self.meter, log, letter.item);
            pushed.map_err(|why| self.uncountable(why))?;
        }
        if paired {
            self.check_dangling(thread, log)?;
        }
        self.sync(thread);
        Ok(())
    }

    /// Ends a turn: commit, notices recorded, `Ended` delivered, then what is queued, then an unread wake.
    pub(super) fn end_turn(&mut self, turn: TurnIndex, end: End) -> Step {
        let live = &mut self.turns[turn];
        live.stage = Stage::Over;
        let (thread, log, own, by) = (live.thread, live.log, live.own, live.by);
        let (commits_before, started_ms, chain, broken, number) =
            (live.commits_before, live.started_ms, live.chain, live.broken, live.number);
        self.chain = chain;
        self.logs.0[log].writers -= 1;
        let length = self.logs.0[log].len();
        let one = &mut self.threads[thread.0 as usize];
        one.live.retain(|&other| other != turn);
        one.last = Some(end.clone());
        one.last_used_ms = self.now;
        let dropped = matches!(end, End::Failed(_)) && !one.keep_failed && !mutation::is(Mutation::FailedTurnKept);
        if !dropped {
            if one.commits == commits_before || mutation::is(Mutation::OverlapOverwrites) {
                one.base = Prefix { log, length };
                one.commits += 1;
            } else {
                for at in own..length {
                    let item = self.logs.0[log].log.items[at].clone();
                    self.record(thread, item)?;
                }
            }
        }
        if self.threads[thread.0 as usize].live.is_empty() {
            let inbox = std::mem::take(&mut self.threads[thread.0 as usize].inbox);
            let (notices, kept): (VecDeque<Letter>, VecDeque<Letter>) = inbox.into_iter().partition(|letter| letter.when == When::Notice);
            self.threads[thread.0 as usize].inbox = kept;
            for letter in notices {
                self.record(thread, letter.item)?;
            }
        }
        self.sync(thread);
        if thread == ThreadId::ROOT {
            self.root_done = (self.now, chain);
            match end {
                End::Failed(why) => return Err(self.fail(broken, why)),
                End::Ceiling(why) => return Err(self.fail(FailureKind::Limit, why)),
                End::Done | End::Stopped(_) | End::Aborted => {}
            }
        } else {
            let by = by.and_then(|key| self.call(key)).map(|call| call.call.clone());
            let last = self.threads[thread.0 as usize].last_row.map(|row| &self.rows[row]);
            let tokens = last.map_or(0, |row| row.input.total() + row.output);
            let report = Report {
                by: by.as_deref(),
                end: &end,
                items: &self.logs.0[log].log.items[..length],
                own,
                elapsed_ms: self.now - started_ms,
                tokens,
            };
            let exchange = self.turns[turn].exchanges;
            let files = self.world.files();
            let scope = Scope { thread, turn: number, exchange, own, now_ms: self.now, threads: &self.states, files };
            let orders = self.session.deliver(Event::Ended(report), &scope);
            self.execute(orders, thread)?;
        }
        self.wake(thread)
    }

    /// Starts what is queued, then what an unread wake asks for.
    fn wake(&mut self, thread: ThreadId) -> Step {
        let one = &mut self.threads[thread.0 as usize];
        if !one.live.is_empty() {
            return Ok(());
        }
        if let Some(queued) = one.queue.pop_front() {
            self.chain = self.chain.max(queued.chain);
            return self.start_turn(thread, queued.items, queued.by);
        }
        if let Some(wake) = one.inbox.iter().find(|letter| letter.when == When::Wake)
            && !mutation::is(Mutation::UnreadWakeLost)
        {
            let by = wake.by.filter(|_| !mutation::is(Mutation::WakeCallLost));
            return self.start_turn(thread, vec![], by);
        }
        Ok(())
    }

    /// Aborts a thread's running turns and drops what is queued; the inbox stays.
    pub(super) fn stop_thread(&mut self, thread: ThreadId) -> Step {
        self.threads[thread.0 as usize].queue.clear();
        if mutation::is(Mutation::StopEmptiesInbox) {
            self.threads[thread.0 as usize].inbox.clear();
        }
        for turn in self.threads[thread.0 as usize].live.clone() {
            // What the strategy said to the end of the one before may have stopped this one already.
            if self.is_over(turn) {
                continue;
            }
            if let Stage::Sent(row) = self.turns[turn].stage {
                self.rows[row].fate = Fate::Aborted;
            }
            if !mutation::is(Mutation::AbortedCallsDangle) {
                let batch = std::mem::take(&mut self.turns[turn].batch);
                for &key in &batch {
                    self.waiting.remove(&key);
                    let Some(call) = self.call_mut(key) else { continue };
                    if call.answer.is_none() {
                        let origin = if call.own { Origin::Delegated } else { Origin::ToolResult };
                        call.answer = Some(Item::result(key, origin, "aborted", true));
                    }
                }
                self.turns[turn].batch = batch;
                self.append_results(turn)?;
            }
            self.end_turn(turn, End::Aborted)?;
        }
        self.sync(thread);
        Ok(())
    }
}
