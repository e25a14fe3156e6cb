//! The loop over instants: arrivals, waits, sends, settle.

use crate::ledger::FailureKind;
use crate::strategy::{Event, ThreadId};
use crate::transcript::CallKey;

use super::mutation::{self, Mutation};
use super::state::{Arrival, Stage};
use super::{Engine, ROUNDS, Step, Stop};

impl Engine {
    pub(super) async fn play(&mut self) {
        // An `Err` has left its reason in `failure`.
        let _ = self.instants().await;
    }

    async fn instants(&mut self) -> Step {
        if self.failure.is_some() {
            return Err(Stop);
        }
        loop {
            while let Some(arrival) = self.queue.due(self.now) {
                self.changed = true;
                self.arrive(arrival)?;
                if mutation::is(Mutation::WaitsAskedAtOnce) {
                    self.ask_waits()?;
                }
                if mutation::is(Mutation::SentAtOnce) {
                    self.send_ready().await?;
                }
            }
            loop {
                while self.changed {
                    self.changed = false;
                    self.rounds += 1;
                    if self.rounds > ROUNDS {
                        return Err(self.goes_round(format_args!("{ROUNDS} rounds of waits and requests")));
                    }
                    self.ask_waits()?;
                    self.send_ready().await?;
                }
                if !self.settle()? {
                    break;
                }
                self.rounds = 0;
            }
            self.rounds = 0;
            if self.is_finished() {
                return Ok(());
            }
            match self.queue.next_ms() {
                Some(ms) => self.now = ms,
                None => return Err(self.stuck()),
            }
        }
    }

    fn arrive(&mut self, arrival: Arrival) -> Step {
        match arrival {
            Arrival::Reply { turn, row, reply, output, chain } => self.reply_arrives(turn, row, *reply, output, chain),
            Arrival::Broken { turn, row, kind, message, chain } => self.break_turn(turn, row, kind, message, chain),
            Arrival::Result { key, item, chain } => self.result_arrives(key, item, chain),
            Arrival::Timeout { key, chain } => {
                if let Some(timed_out) = self.waiting.get_mut(&key) {
                    *timed_out = true;
                    if let Some(call) = self.call_mut(key) {
                        call.chain = call.chain.max(chain);
                    }
                }
                Ok(())
            }
            Arrival::User { items } => self.input(items),
            Arrival::Again { turn, row, attempts, reply, chain } => self.send_again(turn, row, attempts, reply, chain),
        }
    }

    /// User input for the root.
    fn input(&mut self, items: Vec<crate::transcript::Item>) -> Step {
        self.first_input_ms.get_or_insert(self.now);
        self.chain = self.root_done.1.max(self.chain_of_root());
        let scope = super::Scope {
            thread: ThreadId::ROOT,
            turn: self.threads[0].turns,
            exchange: 0,
            own: 0,
            now_ms: self.now,
            threads: &self.states,
            files: self.world.files(),
        };
        let orders = self.session.deliver(Event::Input(&items), &scope);
        self.execute(orders, ThreadId::ROOT)
    }

    fn chain_of_root(&self) -> u64 {
        self.threads[0].live.iter().map(|&turn| self.turns[turn].chain).max().unwrap_or(0)
    }

    /// Asks every open wait, by call key, whether it is over.
    fn ask_waits(&mut self) -> Step {
        let waiting: Vec<(CallKey, bool)> = self.waiting.iter().map(|(&key, &timed_out)| (key, timed_out)).collect();
        for (key, timed_out) in waiting {
            // An answer to an earlier one may have ended this one's turn.
            if !self.waiting.contains_key(&key) {
                continue;
            }
            let Some(open) = self.call(key) else { continue };
            let (call, thread, turn) = (open.call.clone(), open.thread, open.turn);
            // What a wait brings is there because of what happened in this instant.
            self.chain = self.chain.max(open.chain);
            let scope = Engine::scope_of(&self.states, &*self.world, &self.turns[turn], self.now);
            let orders = self.session.deliver(Event::Waiting { call: &call, timed_out }, &scope);
            self.execute(orders, thread)?;
            if timed_out && self.waiting.contains_key(&key) {
                return Err(self.fault(thread, format_args!("the wait of call {} ({}) timed out and was not answered", key.0, call.name)));
            }
        }
        Ok(())
    }

    /// The next user turn when all is quiet. True: there was one.
    fn settle(&mut self) -> Result<bool, Stop> {
        if self.is_busy() && !(mutation::is(Mutation::SettledEarly) && self.threads[0].live.is_empty()) {
            return Ok(false);
        }
        match self.user.pop_front() {
            Some(items) => {
                self.input(items)?;
                if self.threads[0].live.is_empty() {
                    return Err(self.fault(ThreadId::ROOT, "user input came while the root was idle, and no turn was started"));
                }
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// The root, or a child that the run waits for, has something to do.
    fn is_busy(&self) -> bool {
        let busy = |thread: &super::Thread| !thread.live.is_empty() || !thread.queue.is_empty();
        let drains = |thread: &&super::Thread| thread.drain || mutation::is(Mutation::AbandonedDrained);
        busy(&self.threads[0]) || self.threads[1..].iter().filter(drains).any(busy)
    }

    fn is_finished(&self) -> bool {
        !self.is_busy() && self.user.is_empty() && !self.queue_holds_input()
    }

    fn queue_holds_input(&self) -> bool {
        self.queue.any(|arrival| matches!(arrival, Arrival::User { .. }))
    }

    /// The strategy answers what happens by something that happens at once, for ever.
    pub(super) fn goes_round(&mut self, what: std::fmt::Arguments<'_>) -> Stop {
        let message = format!("at {} ms: the strategy goes round within one instant: {what}, and no time has passed", self.now);
        self.fail(FailureKind::Strategy, message)
    }

    /// Nothing will arrive any more, and somebody still waits.
    fn stuck(&mut self) -> Stop {
        let open: Vec<String> = self
            .calls
            .iter()
            .filter(|call| call.own && !call.replied && !self.is_over(call.turn))
            .map(|call| format!("{} {} of thread {}", call.call.name, call.call.key.0, self.threads[call.thread.0 as usize].path))
            .collect();
        let waiting: Vec<&str> =
            self.turns.iter().filter(|turn| turn.stage != Stage::Over).map(|turn| &*self.threads[turn.thread.0 as usize].path).collect();
        let message = format!(
            "stuck at {} ms: nothing will happen any more; calls without a reply: {}; threads that still run: {}",
            self.now,
            if open.is_empty() { "none".to_owned() } else { open.join(", ") },
            if waiting.is_empty() { "none".to_owned() } else { waiting.join(", ") },
        );
        self.fail(FailureKind::Stuck, message)
    }
}
