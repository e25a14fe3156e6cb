//! What a thread does about the work that it can hand out (rules 5 and 9 to 13).

use std::collections::BTreeSet;

use crate::model::{CallDraft, Reply};
use crate::scenario::marker::Task;
use crate::scenario::{Fallback, IntentIndex, OnRefusal, TopicIndex};
use crate::strategy::{Act, Call, Intent};
use crate::transcript::{Handle, Origin, Outcome};

use super::answer::{beside_calls, looking};
use super::brief;
use super::plan::{Planned, next, plan, plan_of_intent};
use super::sight::{Sight, Told};
use super::task::Bound;

/// How an intent stands, as far as this thread was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    /// To be handed out now, for the first time or again.
    Open,
    /// Started, and nothing has come back.
    Running,
    /// Refused while others run: to be handed out again when one of them has returned.
    Blocked,
    /// Nothing more is done about it.
    Settled,
    /// This thread carries it out: it cannot be handed out, or a hand-off moved it here.
    Own,
    /// This thread carries it out because its delegation failed.
    Rescue,
}

/// One act of handing out: what is asked for and the calls that were made about it.
struct Errand<'s> {
    intent: IntentIndex,
    asked: Vec<TopicIndex>,
    /// Which follow-ups it asks for; empty: the intent itself.
    follow_ups: Vec<usize>,
    /// Whether it asks for more than the work's own delegations do (rule 12).
    is_follow_up: bool,
    acts: Vec<&'s Told>,
}

/// The delegations of a thread's work.
pub(super) struct Desk<'s, 'a> {
    sight: &'s Sight<'a>,
    bound: &'s Bound<'a>,
}

impl<'s, 'a> Desk<'s, 'a> {
    pub fn new(sight: &'s Sight<'a>, bound: &'s Bound<'a>) -> Desk<'s, 'a> {
        Desk { sight, bound }
    }

    // ---- what is done next, in the order of `act` --------------------------------------------------------------------

    /// Rule 11: a message of the user that came while a child runs, and that sets no work, is sent on to it once.
    pub fn pass_corrections_on(&self) -> Option<Reply> {
        let mut calls = Vec::new();
        for told in self.running() {
            let Some(child) = &told.heard.handle else { continue };
            for at in told.at..self.sight.items.len() {
                let item = &self.sight.items[at];
                if item.origin != Origin::User || self.sight.index.tasks(item).iter().any(|task| !matches!(task, Task::FollowUp(..))) {
                    continue;
                }
                let text = item.text();
                let call = self.speak_on(child, told.intent, &text, false);
                if let Some(call) = call.filter(|call| !self.sight.has_called(call, at)) {
                    // Not tagged with the intent: whether it was heard says nothing about the work.
                    calls.push(CallDraft::phrased(call, None));
                }
            }
        }
        (!calls.is_empty()).then(|| self.calls(vec![], calls))
    }

    /// Work that the thread would rather not wait for is handed out before it goes on.
    pub fn hand_background_out(&self) -> Option<Reply> {
        let is_background = |intent: &IntentIndex| self.sight.scenario().intents[*intent].background;
        self.batches(&self.bound.work.delegates).into_iter().find_map(|batch| {
            let batch: Vec<IntentIndex> = batch.into_iter().filter(is_background).collect();
            self.hand_out(&batch)
        })
    }

    /// The next step of the thread's own plan. Intents of the step's group go in the same message.
    pub fn take_own_steps(&self) -> Option<Reply> {
        let mut plan = plan(self.sight, self.bound.task);
        if let Some(asked) = &self.bound.asked {
            plan.retain(|planned| planned.step.seeks.iter().any(|topic| asked.contains(topic)));
        }
        let steps = next(self.sight, &plan);
        let group = steps.first()?.step.parallel.as_ref();
        let with_them = |intent: &&IntentIndex| group.is_some() && self.sight.scenario().intents[**intent].group.as_ref() == group;
        let intents: Vec<IntentIndex> = self.bound.work.delegates.iter().filter(with_them).copied().collect();
        let mut sentences = vec![self.looking_at(&steps)];
        let mut calls: Vec<CallDraft> = steps.iter().map(Planned::call).collect();
        for errand in self.open(&intents) {
            if let Some(call) = self.phrase(&errand) {
                sentences.push(self.sentence(&errand));
                calls.push(call);
            }
        }
        Some(self.calls(sentences, calls))
    }

    /// The next delegation, or the next step of an intent that this thread carries out itself, or a wait between them.
    pub fn delegate(&self) -> Option<Reply> {
        self.delegate_all(&self.bound.work.delegates, &mut self.carried_out())
    }

    /// Waits for what was handed out and has not reported (rule 9).
    pub fn wait_for_all(&self) -> Option<Reply> {
        let waits =
            self.all_intents().into_iter().any(|intent| matches!(self.stand(&self.errand(intent)), Stand::Running | Stand::Blocked));
        waits.then(|| self.wait())
    }

    /// Rule 12: what this turn asks for and nothing of the work so far has brought.
    pub fn follow_up(&self) -> Option<Reply> {
        self.follow_ups().into_iter().find_map(|errand| match self.stand(&errand) {
            Stand::Open => self.phrase(&errand).map(|call| self.calls(vec![self.sentence(&errand)], vec![call])),
            Stand::Running | Stand::Blocked => Some(self.wait()),
            Stand::Own | Stand::Rescue => self.steps(errand.intent, Some(&errand.asked)),
            Stand::Settled => None,
        })
    }

    // ---- what others ask -----------------------------------------------------------------------------------------------

    /// Whether this thread makes a deliverable of an intent: because it carries the intent out, or because it took it over
    /// and no deliverable came back.
    pub fn makes(&self, topic: TopicIndex, intent: IntentIndex) -> bool {
        if self.bound.carries_out() == Some(intent) {
            return true;
        }
        let errands = self.all_intents().into_iter().map(|intent| self.errand(intent)).chain(self.follow_ups());
        errands.filter(|errand| errand.intent == intent).any(|errand| match self.stand(&errand) {
            Stand::Own => true,
            Stand::Rescue => {
                let news: Vec<usize> = errand.acts.iter().flat_map(|told| told.heard.news.iter().copied()).collect();
                self.sight.known_of(&news).made[topic].is_none()
            }
            Stand::Open | Stand::Running | Stand::Blocked | Stand::Settled => false,
        })
    }

    /// How many intents this thread takes over that it had not taken over at its last request (rule 10).
    pub fn new_rescues(&self) -> u32 {
        let now = self.rescued();
        if now.is_empty() {
            return 0;
        }
        let before = match self.sight.last_reply(self.bound.from) {
            Some(reply) => Desk::new(&self.sight.earlier(reply.start), self.bound).rescued(),
            None => BTreeSet::new(),
        };
        now.difference(&before).count() as u32
    }

    fn rescued(&self) -> BTreeSet<(IntentIndex, bool)> {
        let errands = self.all_intents().into_iter().map(|intent| self.errand(intent)).chain(self.follow_ups());
        let rescued = errands.filter(|errand| self.stand(errand) == Stand::Rescue);
        rescued.map(|errand| (errand.intent, errand.follow_ups.is_empty())).collect()
    }

    // ---- intents, in order ---------------------------------------------------------------------------------------------

    fn carried_out(&self) -> BTreeSet<IntentIndex> {
        self.bound.carries_out().into_iter().collect()
    }

    /// Neighbours with an equal group belong together.
    fn batches(&self, intents: &[IntentIndex]) -> Vec<Vec<IntentIndex>> {
        let group = |intent: IntentIndex| self.sight.scenario().intents[intent].group.as_ref();
        let together = |one: &IntentIndex, other: &IntentIndex| group(*one).is_some() && group(*one) == group(*other);
        intents.chunk_by(together).map(<[IntentIndex]>::to_vec).collect()
    }

    /// Every intent of this work, with those that an intent carried out here would hand out in turn.
    fn all_intents(&self) -> Vec<IntentIndex> {
        let mut all: Vec<IntentIndex> = Vec::new();
        let mut open: Vec<IntentIndex> = self.bound.work.delegates.iter().rev().copied().collect();
        while let Some(intent) = open.pop() {
            if all.contains(&intent) {
                continue;
            }
            all.push(intent);
            if matches!(self.stand(&self.errand(intent)), Stand::Own | Stand::Rescue) {
                open.extend(self.sight.scenario().intents[intent].work.delegates.iter().rev());
            }
        }
        all
    }

    fn delegate_all(&self, intents: &[IntentIndex], done: &mut BTreeSet<IntentIndex>) -> Option<Reply> {
        for batch in self.batches(intents) {
            if let Some(reply) = self.hand_out(&batch) {
                return Some(reply);
            }
            let mut waits = false;
            for intent in batch {
                match self.stand(&self.errand(intent)) {
                    Stand::Own | Stand::Rescue if done.insert(intent) => {
                        let nested = &self.sight.scenario().intents[intent].work.delegates;
                        if let Some(reply) = self.steps(intent, None).or_else(|| self.delegate_all(nested, done)) {
                            return Some(reply);
                        }
                    }
                    Stand::Running | Stand::Blocked => waits |= !self.sight.scenario().intents[intent].background,
                    Stand::Open | Stand::Settled | Stand::Own | Stand::Rescue => {}
                }
            }
            if waits {
                return Some(self.wait());
            }
        }
        None
    }

    /// Hands out the open ones of these intents in one message.
    fn hand_out(&self, intents: &[IntentIndex]) -> Option<Reply> {
        let errands = self.open(intents);
        let calls: Vec<CallDraft> = errands.iter().filter_map(|errand| self.phrase(errand)).collect();
        (!calls.is_empty()).then(|| self.calls(errands.iter().map(|errand| self.sentence(errand)).collect(), calls))
    }

    fn open(&self, intents: &[IntentIndex]) -> Vec<Errand<'s>> {
        let errands = intents.iter().map(|&intent| self.errand(intent));
        errands.filter(|errand| self.stand(errand) == Stand::Open).collect()
    }

    fn steps(&self, intent: IntentIndex, asked: Option<&[TopicIndex]>) -> Option<Reply> {
        let steps = next(self.sight, &plan_of_intent(self.sight, intent, asked));
        (!steps.is_empty()).then(|| self.calls(vec![self.looking_at(&steps)], steps.iter().map(Planned::call).collect()))
    }

    // ---- errands -------------------------------------------------------------------------------------------------------

    fn errand(&self, intent: IntentIndex) -> Errand<'s> {
        let acts = self.sight.told.iter().filter(|told| told.intent == intent && told.at >= self.bound.from && told.follow_ups.is_empty());
        let asked = self.sight.scenario().intents[intent].work.needs.clone();
        Errand { intent, asked, follow_ups: vec![], is_follow_up: false, acts: acts.collect() }
    }

    /// The follow-ups of this turn: topics that the turn itself asks for, that no intent of the turn is to bring, and that
    /// are unknown; those of one intent together.
    fn follow_ups(&self) -> Vec<Errand<'s>> {
        let scenario = self.sight.scenario();
        let work = self.bound.work;
        let mut errands: Vec<Errand<'s>> = Vec::new();
        if !matches!(self.bound.task, Task::Turn(_)) {
            return errands;
        }
        let brought = |topic: &TopicIndex| work.delegates.iter().any(|&intent| scenario.intents[intent].work.needs.contains(topic));
        for &topic in work.needs.iter().filter(|topic| !self.sight.known.has(**topic) && !brought(topic)) {
            let Some((intent, wording)) = self.source(topic) else { continue };
            match errands.iter_mut().find(|errand| errand.intent == intent) {
                Some(errand) => {
                    errand.asked.push(topic);
                    errand.follow_ups.extend(wording);
                }
                None => {
                    let asks = |told: &&Told| told.intent == intent && (!told.follow_ups.is_empty() || !work.delegates.contains(&intent));
                    let acts = self.sight.told.iter().filter(|told| told.at >= self.bound.from).filter(asks).collect();
                    let follow_ups = wording.into_iter().collect();
                    errands.push(Errand { intent, asked: vec![topic], follow_ups, is_follow_up: true, acts });
                }
            }
        }
        errands
    }

    /// The intent whose thread can tell of a topic, and the follow-up that asks for it.
    fn source(&self, topic: TopicIndex) -> Option<(IntentIndex, Option<usize>)> {
        let scenario = self.sight.scenario();
        let mut worded = scenario.intents.iter().enumerate();
        let worded = worded.find_map(|(at, spec)| Some((at, Some(spec.follow_ups.iter().position(|follow_up| follow_up.topic == topic)?))));
        let seeks = |at: &IntentIndex| scenario.intents[*at].work.plan.iter().any(|step| step.seeks.contains(&topic));
        let makes = |at: &IntentIndex| scenario.topics[topic].made.as_ref().is_some_and(|made| made.intent == *at);
        let is_new = |at: &IntentIndex| !self.bound.work.delegates.contains(at);
        worded.or_else(|| Some(((0..scenario.intents.len()).filter(is_new).find(|at| makes(at) || seeks(at))?, None)))
    }

    /// The call that does an errand: a child that worked on the intent is continued, else the intent is handed out.
    fn phrase(&self, errand: &Errand<'_>) -> Option<CallDraft> {
        let id = self.sight.scenario().intents[errand.intent].id.as_str();
        let continued = || {
            let of_intent = |told: &&Told| told.intent == errand.intent && told.heard.handle.is_some();
            let child = self.sight.told.iter().rev().find(of_intent).filter(|child| errand.is_follow_up && child.has_ended())?;
            let text = match errand.follow_ups.is_empty() {
                true => brief::intent(self.sight, errand.intent, &[]).task,
                false => brief::follow_up_text(self.sight, errand.intent, &errand.follow_ups),
            };
            self.speak_on(child.heard.handle.as_ref()?, errand.intent, &text, true)
        };
        let call =
            continued().or_else(|| (self.sight.speak)(&Act::Delegate(&brief::intent(self.sight, errand.intent, &errand.follow_ups))))?;
        Some(CallDraft::phrased(call, Some(id)))
    }

    fn speak_on(&self, child: &Handle, intent: IntentIndex, text: &str, wake: bool) -> Option<Call> {
        let intent = Intent { task: text.to_owned(), ..brief::intent(self.sight, intent, &[]) };
        (self.sight.speak)(&Act::Continue { child, intent: &intent, text, wake })
    }

    // ---- how an errand stands ------------------------------------------------------------------------------------------

    fn stand(&self, errand: &Errand<'_>) -> Stand {
        let conduct = &self.sight.manner.conduct;
        let known = || errand.asked.iter().all(|&topic| self.sight.known.has(topic));
        if errand.acts.is_empty() && conduct.skip_known && known() {
            return Stand::Settled;
        }
        if errand.acts.is_empty() && self.running().iter().any(|told| told.intent == errand.intent) && errand.is_follow_up {
            return Stand::Running;
        }
        let act = errand.acts.iter().rev().find(|told| told.says_something());
        // A call that a strategy cut stands nowhere; the sentence beside it does.
        let cut = self.sight.last_said(&self.sentence(errand), self.bound.from).filter(|&at| {
            let reply = self.sight.reply_around(at);
            errand.acts.iter().all(|told| told.at < reply.start)
        });
        match (act, cut) {
            (None, _) if errand.acts.iter().any(|told| told.result.is_some_and(|(_, failed)| failed)) => self.failed(),
            (None, _) if !errand.acts.is_empty() => Stand::Settled,
            (None, Some(at)) => self.refused(errand, at),
            (None, None) if self.phrase(errand).is_some() => Stand::Open,
            (None, None) => Stand::Own,
            (Some(act), cut) => match act.heard.outcome {
                Outcome::Called | Outcome::Started if self.sight.is_given_up_waiting(act.at) => Stand::Settled,
                Outcome::Called | Outcome::Started => Stand::Running,
                Outcome::Returned if self.is_lacking(errand, act) => self.failed(),
                Outcome::Returned => Stand::Settled,
                Outcome::Failed => self.failed(),
                Outcome::Refused => self.refused(errand, cut.unwrap_or(act.at)),
                Outcome::Moved => Stand::Own,
            },
        }
    }

    /// Rule 10: what becomes of an intent whose delegation failed for good.
    fn failed(&self) -> Stand {
        match self.sight.manner.conduct.fallback {
            Fallback::Itself => Stand::Rescue,
            Fallback::GiveUp => Stand::Settled,
        }
    }

    /// Rule 10: what becomes of an intent that was refused in the reply around this position.
    fn refused(&self, errand: &Errand<'_>, at: usize) -> Stand {
        match self.sight.manner.conduct.on_refusal {
            OnRefusal::Itself => return Stand::Rescue,
            OnRefusal::GiveUp => return Stand::Settled,
            OnRefusal::RetryAfterReturn => {}
        }
        // Only what ran when it was refused counts: what was handed out later says nothing about this refusal.
        let end = self.sight.reply_around(at).end;
        let others = || self.sight.told.iter().filter(|told| told.at < end && !errand.acts.iter().any(|act| act.at == told.at));
        let running = self.running();
        if others().any(|told| told.has_ended() && told.heard.news.iter().any(|&news| news > at)) {
            if self.phrase(errand).is_some() { Stand::Open } else { self.failed() }
        } else if others().any(|told| running.iter().any(|one| one.heard.handle == told.heard.handle)) {
            Stand::Blocked
        } else {
            self.failed()
        }
    }

    /// Rule 10, on the text as it was received: a needed topic of which it says `unknown:` and nothing else, or nothing at
    /// all about what was asked for. A stale or a partial value is a value.
    fn is_lacking(&self, errand: &Errand<'_>, act: &Told) -> bool {
        if errand.asked.is_empty() {
            return act.heard.news.iter().all(|&at| self.sight.items[at].text().trim().is_empty());
        }
        let told = self.sight.known_of(&act.heard.news);
        let unknown = |&topic: &TopicIndex| told.unknown[topic] && !told.has(topic);
        errand.asked.iter().any(unknown) || !errand.asked.iter().any(|&topic| told.has(topic))
    }

    /// The children at work, by their last call, that it has not given up waiting for.
    fn running(&self) -> Vec<&'s Told> {
        let told = &self.sight.told;
        let is_last = |at: usize| !told[at + 1..].iter().any(|later| later.heard.handle == told[at].heard.handle);
        let running = |at: &usize| told[*at].is_running() && is_last(*at) && !self.sight.is_given_up_waiting(told[*at].at);
        (0..told.len()).filter(running).map(|at| &told[at]).collect()
    }

    // ---- replies -------------------------------------------------------------------------------------------------------

    fn calls(&self, sentences: Vec<String>, calls: Vec<CallDraft>) -> Reply {
        Reply { text: beside_calls(self.sight, self.bound, sentences), calls, ..Reply::default() }
    }

    /// Waits for every child at work; where the protocol has no wait, the turn ends and a notice starts the next.
    fn wait(&self) -> Reply {
        let running = self.running();
        let handles: Vec<Handle> = running.iter().filter_map(|told| told.heard.handle.clone()).collect();
        if let Some(call) = (self.sight.speak)(&Act::Wait(&handles)) {
            return self.calls(vec![], vec![CallDraft::phrased(call, None)]);
        }
        let mut titles: Vec<&str> = Vec::new();
        for told in running {
            let title = self.sight.scenario().intents[told.intent].title.as_str();
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        Reply::say(if titles.is_empty() { "Waiting.".into() } else { format!("Waiting for {}.", titles.join(", ")) })
    }

    fn sentence(&self, errand: &Errand<'_>) -> String {
        looking(self.sight, &self.sight.scenario().intents[errand.intent].title, &errand.asked)
    }

    fn looking_at(&self, steps: &[Planned<'_>]) -> String {
        let targets: Vec<&str> = steps.iter().map(|planned| planned.step.target.as_str()).collect();
        let unknown = |topic: &TopicIndex| !self.sight.known.has(*topic);
        let topics: Vec<TopicIndex> = steps.iter().flat_map(|planned| planned.step.seeks.iter().copied()).filter(unknown).collect();
        looking(self.sight, &targets.join(", "), &topics)
    }
}
