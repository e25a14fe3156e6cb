//! Carrying out what a strategy ordered: in sequence, depth first.

use crate::ledger::Delegation;
use crate::strategy::{Event, Order, ThreadId, To, When};
use crate::transcript::{Body, CallKey, Item, Means, Origin};

use super::mutation::{self, Mutation};
use super::state::{Arrival, Letter, Queued};
use super::{Engine, NESTED, Step};

impl Engine {
    /// Carries out the orders of one decision, taken about a thread.
    pub(super) fn execute(&mut self, orders: Vec<Order>, about: ThreadId) -> Step {
        if self.nested >= NESTED {
            return Err(self.goes_round(format_args!("orders follow from orders, {NESTED} deep")));
        }
        self.nested += 1;
        for order in orders {
            match order {
                Order::Reply { call, text, more, failed, means, after_ms } => {
                    let parts = std::iter::once(text).chain(more).collect();
                    let mut item = Item::new(Body::Result { key: Some(call), parts, failed }, Origin::Delegated);
                    item.means = means.into();
                    self.reply(call, item, after_ms, about)?;
                }
                Order::Put { to, items, when, by } => self.put(to, items, when, by, about)?,
                Order::Wait { call, timeout_ms } => {
                    let Some(open) = self.call(call).filter(|open| open.own && !open.replied) else {
                        return Err(self.fault(about, format_args!("a wait on call {}, which is not open", call.0)));
                    };
                    // An earlier order may have stopped the caller: then nobody waits.
                    if self.is_over(open.turn) {
                        continue;
                    }
                    let (ms, chain) = (self.now.saturating_add(timeout_ms.max(1)), self.chain.saturating_add(timeout_ms.max(1)));
                    self.waiting.insert(call, false);
                    self.queue.at(ms, Arrival::Timeout { key: call, chain });
                    self.changed = true;
                }
                Order::Stop { thread } => {
                    self.known(thread, about)?;
                    self.stop_thread(thread)?;
                }
                Order::Write { path, text } => self.world.write(&path, &text),
            }
        }
        self.nested -= 1;
        Ok(())
    }

    fn known(&mut self, thread: ThreadId, about: ThreadId) -> Step {
        if (thread.0 as usize) < self.threads.len() {
            return Ok(());
        }
        Err(self.fault(about, format_args!("an order for thread {}, which does not exist", thread.0)))
    }

    /// Answers an open call, now or later.
    fn reply(&mut self, key: CallKey, item: Item, after_ms: u64, about: ThreadId) -> Step {
        let Some(open) = self.call(key) else {
            return Err(self.fault(about, format_args!("a reply to call {}, which nobody made", key.0)));
        };
        if self.is_over(open.turn) {
            self.late_replies += 1;
            return Ok(());
        }
        let (own, replied, name) = (open.own, open.replied, open.call.name.clone());
        if !own {
            return Err(self.fault(about, format_args!("a reply to call {} ({name}), which the world answers", key.0)));
        }
        if replied {
            return Err(self.fault(about, format_args!("call {} ({name}) was answered twice", key.0)));
        }
        if item.means.contains(&Means::Refused) {
            self.refusals += 1;
        }
        let chain = self.chain.saturating_add(after_ms);
        self.waiting.remove(&key);
        if let Some(open) = self.call_mut(key) {
            open.replied = true;
        }
        if after_ms > 0 {
            self.queue.at(self.now.saturating_add(after_ms), Arrival::Result { key, item, chain });
            return Ok(());
        }
        // What the reply leads to has a chain of its own; what follows in this decision keeps the decision's.
        let decision = self.chain;
        self.result_arrives(key, item, chain)?;
        self.chain = decision;
        Ok(())
    }

    fn put(&mut self, to: To, items: Vec<Item>, when: When, by: Option<CallKey>, about: ThreadId) -> Step {
        if let Some(key) = by
            && self.call(key).is_none()
        {
            return Err(self.fault(about, format_args!("items put by call {}, which nobody made", key.0)));
        }
        let caller = by.and_then(|key| self.call(key)).map_or(about, |call| call.thread);
        let thread = match to {
            To::Thread(thread) => {
                self.known(thread, about)?;
                if let Some(key) = by
                    && thread != caller
                {
                    self.delegated(key, caller, thread, false);
                }
                thread
            }
            To::New(new) => {
                let depth = self.threads[caller.0 as usize].depth + 1;
                let refusal = if depth > self.ceilings.depth {
                    Some(format!("the harness allows children down to depth {}", self.ceilings.depth))
                } else if self.threads.len() as u64 >= u64::from(self.ceilings.threads) {
                    Some(format!("the harness allows {} threads in a run", self.ceilings.threads))
                } else {
                    None
                };
                if let Some(why) = refusal {
                    return self.refuse(by, caller, &why);
                }
                let intent = by.and_then(|key| self.call(key)).and_then(|call| call.call.intent.clone());
                let thread = self.open_thread(Some(caller), new.agent, new.drain, new.keep_failed, intent);
                if let Some(key) = by {
                    self.delegated(key, caller, thread, true);
                }
                self.start_turn(thread, items, by)?;
                return self.opened(by, caller, Ok(thread));
            }
        };
        self.put_into(thread, items, when, by)
    }

    fn put_into(&mut self, thread: ThreadId, items: Vec<Item>, when: When, by: Option<CallKey>) -> Step {
        let one = &mut self.threads[thread.0 as usize];
        let idle = one.live.is_empty();
        let chain = self.chain;
        match when {
            When::Notice if idle => {
                for item in items {
                    self.record(thread, item)?;
                }
            }
            When::Notice | When::Mail | When::Wake => {
                one.inbox.extend(items.into_iter().map(|item| Letter { item, when, by, chain }));
                if when == When::Notice {
                    for turn in one.live.clone() {
                        self.turns[turn].shut = false;
                    }
                }
                if when == When::Wake && idle {
                    self.sync(thread);
                    return self.start_turn(thread, vec![], by);
                }
            }
            When::Turn if !idle || !one.queue.is_empty() => {
                let queued = Queued { items, by, chain };
                if mutation::is(Mutation::QueueJumped) {
                    one.queue.push_front(queued);
                } else {
                    one.queue.push_back(queued);
                }
            }
            When::Turn | When::Overlap => return self.start_turn(thread, items, by),
        }
        self.sync(thread);
        Ok(())
    }

    fn delegated(&mut self, call: CallKey, parent: ThreadId, child: ThreadId, opened: bool) {
        let Some(open) = self.call(call) else { return };
        let log = self.turns[open.turn].log;
        let delegation = Delegation {
            call,
            intent: open.call.intent.clone(),
            parent,
            child,
            opened,
            at_ms: self.now,
            parent_history: (log, self.logs.0[log].len()),
        };
        self.delegations.push(delegation);
    }

    /// The harness's own ceiling: told to the strategy, and if that says nothing, to the caller in the harness's words.
    fn refuse(&mut self, by: Option<CallKey>, caller: ThreadId, why: &str) -> Step {
        self.opened(by, caller, Err(why))?;
        let Some(key) = by else { return Ok(()) };
        let open = self.call(key).is_some_and(|call| call.own && !call.replied) && !self.waiting.contains_key(&key);
        if open {
            let mut item = Item::result(key, Origin::Delegated, format!("Refused: {why}."), true);
            item.means.push(Means::Refused);
            return self.reply(key, item, 0, caller);
        }
        Ok(())
    }

    fn opened(&mut self, by: Option<CallKey>, caller: ThreadId, child: Result<ThreadId, &str>) -> Step {
        let call = by.and_then(|key| self.call(key)).map(|open| open.call.clone());
        let scope = self.scope_between(caller);
        let scope = crate::strategy::Scope { threads: &self.states, files: self.world.files(), ..scope };
        let orders = self.session.deliver(Event::Opened { by: call.as_deref(), child }, &scope);
        self.execute(orders, caller)
    }
}
