//! What there is to hand out, and how it stands (rules 9, 10 and 12).

use std::borrow::Cow;

use crate::model::CallDraft;
use crate::scenario::marker::Task;
use crate::scenario::{Fallback, IntentIndex, OnRefusal, TopicIndex};
use crate::strategy::{Act, Call, Intent};
use crate::transcript::{Handle, Outcome};

use super::brief;
use super::delegate::Delegations;
use super::sight::Told;

/// How an intent stands, as far as this thread was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// To be handed out now, for the first time or again.
    Open,
    /// Started, and nothing has come back.
    Running,
    /// Refused while others run: to be handed out again when one of them has returned.
    Blocked,
    /// Something needed is unknown, and a child has kept a text that nobody here has read.
    Unread,
    /// Nothing more is done about it.
    Settled,
    /// This thread carries it out: it cannot be handed out, or a hand-off moved it here.
    Own,
    /// This thread carries it out because its delegation failed.
    Rescue,
}

impl Stand {
    /// Whether something is to be waited for.
    pub fn waits(self) -> bool {
        matches!(self, Stand::Running | Stand::Blocked)
    }

    /// Whether this thread does the work.
    pub fn is_done_here(self) -> bool {
        matches!(self, Stand::Own | Stand::Rescue)
    }
}

/// Something to hand out: an intent of this work, or follow-ups of one.
pub(super) struct Assignment<'s> {
    pub intent: IntentIndex,
    /// What is to come back.
    pub asked: Cow<'s, [TopicIndex]>,
    /// Which follow-ups it asks for; empty: the intent itself.
    pub follow_ups: Vec<usize>,
    /// Whether it asks for more than the work's own delegations do (rule 12).
    pub is_follow_up: bool,
    /// The calls that were made about it, in order.
    pub acts: Vec<&'s Told>,
}

impl<'s> Delegations<'s, '_> {
    /// An intent of this work.
    pub(super) fn assignment(&self, intent: IntentIndex) -> Assignment<'s> {
        let acts = self.sight.told.iter().filter(|told| told.intent == intent && told.at >= self.bound.from && told.follow_ups.is_empty());
        let asked = Cow::Borrowed(self.sight.scenario().intents[intent].work.needs.as_slice());
        Assignment { intent, asked, follow_ups: vec![], is_follow_up: false, acts: acts.collect() }
    }

    /// The follow-ups of this turn: topics that the turn itself asks for, that no intent of the turn is to bring, and that
    /// are unknown; those of one intent together.
    pub(super) fn asked_for(&self) -> Vec<Assignment<'s>> {
        let scenario = self.sight.scenario();
        let work = self.bound.work;
        let mut assignments: Vec<Assignment<'s>> = Vec::new();
        if !matches!(self.bound.task, Task::Turn(_)) {
            return assignments;
        }
        let brought = |topic: &TopicIndex| work.delegates.iter().any(|&intent| scenario.intents[intent].work.needs.contains(topic));
        for &topic in work.needs.iter().filter(|topic| !self.sight.known.has(**topic) && !brought(topic)) {
            let Some((intent, wording)) = self.source(topic) else { continue };
            match assignments.iter_mut().find(|assignment| assignment.intent == intent) {
                Some(assignment) => {
                    assignment.asked.to_mut().push(topic);
                    assignment.follow_ups.extend(wording);
                }
                None => {
                    let asks = |told: &&Told| told.intent == intent && (!told.follow_ups.is_empty() || !work.delegates.contains(&intent));
                    let acts = self.sight.told.iter().filter(|told| told.at >= self.bound.from).filter(asks).collect();
                    let follow_ups = wording.into_iter().collect();
                    assignments.push(Assignment { intent, asked: Cow::Owned(vec![topic]), follow_ups, is_follow_up: true, acts });
                }
            }
        }
        assignments
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

    /// The call that does an assignment: a child that worked on the intent is continued, else the intent is handed out.
    pub(super) fn phrase(&self, assignment: &Assignment<'_>) -> Option<CallDraft> {
        let id = self.sight.scenario().intents[assignment.intent].id.as_str();
        let continued = || {
            let of_intent = |told: &&Told| told.intent == assignment.intent && told.heard.handle.is_some();
            let child = self.sight.told.iter().rev().find(of_intent).filter(|child| assignment.is_follow_up && child.has_ended())?;
            let text = match assignment.follow_ups.is_empty() {
                true => brief::intent(self.sight, assignment.intent, &[]).task.clone(),
                false => brief::follow_up_text(self.sight, assignment.intent, &assignment.follow_ups),
            };
            self.speak_on(child.heard.handle.as_ref()?, assignment.intent, &text, true)
        };
        let call = continued()
            .or_else(|| (self.sight.speak)(&Act::Delegate(&brief::intent(self.sight, assignment.intent, &assignment.follow_ups))))?;
        Some(CallDraft::phrased(call, Some(id)))
    }

    /// The call that reads what a child which worked on an intent has kept, the newest first; each text is read once.
    pub(super) fn unread(&self, assignment: &Assignment<'_>) -> Option<(Handle, Call)> {
        let ended = |told: &&&Told| told.intent == assignment.intent && told.has_ended();
        self.sight.told.iter().rev().filter(|told| ended(&told)).find_map(|told| {
            let artifact = told.heard.handle.as_ref()?;
            let call = (self.sight.speak)(&Act::Read(artifact))?;
            (!self.sight.has_called(&call, 0)).then(|| (artifact.clone(), call))
        })
    }

    /// Something to say to a child that exists.
    pub(super) fn speak_on(&self, child: &Handle, intent: IntentIndex, text: &str, wake: bool) -> Option<Call> {
        let intent = Intent { task: text.to_owned(), ..brief::intent(self.sight, intent, &[]).into_owned() };
        (self.sight.speak)(&Act::Continue { child, intent: &intent, text, wake })
    }

    // ---- how an assignment stands ------------------------------------------------------------------------------------------

    /// How an assignment stands, from its calls and from what came back.
    pub(super) fn stand(&self, assignment: &Assignment<'_>) -> Stand {
        let conduct = &self.sight.manner.conduct;
        let known = || assignment.asked.iter().all(|&topic| self.sight.known.has(topic));
        if assignment.acts.is_empty() && conduct.skip_known && known() {
            return Stand::Settled;
        }
        if assignment.is_follow_up && assignment.acts.is_empty() && self.unread(assignment).is_some() {
            return Stand::Unread;
        }
        if assignment.acts.is_empty() && self.running().iter().any(|told| told.intent == assignment.intent) && assignment.is_follow_up {
            return Stand::Running;
        }
        let act = assignment.acts.iter().rev().find(|told| told.says_something());
        // A call that a strategy cut stands nowhere; the sentence beside it does.
        let spoke = !self.sight.has_not_spoken_since(self.bound.from);
        let said = || self.sight.last_said(&self.sentence(assignment), self.bound.from);
        let cut = spoke.then(said).flatten().filter(|&at| {
            let reply = self.sight.reply_around(at);
            assignment.acts.iter().all(|told| told.at < reply.start)
        });
        match (act, cut) {
            (None, _) if assignment.acts.iter().any(|told| told.result.is_some_and(|(_, failed)| failed)) => self.failed(),
            (None, _) if !assignment.acts.is_empty() => Stand::Settled,
            (None, Some(at)) => self.refused(assignment, at),
            (None, None) if self.phrase(assignment).is_some() => Stand::Open,
            (None, None) => Stand::Own,
            (Some(act), cut) => match act.heard.outcome {
                Outcome::Called | Outcome::Started if self.sight.is_given_up_waiting(act.at) => Stand::Settled,
                Outcome::Called | Outcome::Started => Stand::Running,
                Outcome::Returned if !known() && self.unread(assignment).is_some() => Stand::Unread,
                Outcome::Returned if self.is_lacking(assignment, act) => self.failed(),
                Outcome::Returned => Stand::Settled,
                Outcome::Failed => self.failed(),
                Outcome::Refused => self.refused(assignment, cut.unwrap_or(act.at)),
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
    fn refused(&self, assignment: &Assignment<'_>, at: usize) -> Stand {
        match self.sight.manner.conduct.on_refusal {
            OnRefusal::Itself => return Stand::Rescue,
            OnRefusal::GiveUp => return Stand::Settled,
            OnRefusal::RetryAfterReturn => {}
        }
        // Only what ran when it was refused counts: what was handed out later says nothing about this refusal.
        let end = self.sight.reply_around(at).end;
        let others = || self.sight.told.iter().filter(|told| told.at < end && !assignment.acts.iter().any(|act| act.at == told.at));
        let running = self.running();
        if others().any(|told| told.has_ended() && told.heard.news.iter().any(|&news| news > at)) {
            if self.phrase(assignment).is_some() { Stand::Open } else { self.failed() }
        } else if others().any(|told| running.iter().any(|one| one.heard.handle == told.heard.handle)) {
            Stand::Blocked
        } else {
            self.failed()
        }
    }

    /// Rule 10, on the text as it was received: a needed topic of which it says `unknown:` and nothing else, or nothing at
    /// all about what was asked for. A stale or a partial value is a value.
    fn is_lacking(&self, assignment: &Assignment<'_>, act: &Told) -> bool {
        if assignment.asked.is_empty() {
            return act.heard.news.iter().all(|&at| self.sight.items[at].text().trim().is_empty());
        }
        let told = self.sight.known_of(&act.heard.news);
        let unknown = |&topic: &TopicIndex| told.is_said_unknown(topic) && !told.has(topic);
        assignment.asked.iter().any(unknown) || !assignment.asked.iter().any(|&topic| told.has(topic))
    }

    /// The children at work, by their last call, that it has not given up waiting for.
    pub(super) fn running(&self) -> Vec<&'s Told> {
        let told = &self.sight.told;
        let is_last = |at: usize| !told[at + 1..].iter().any(|later| later.heard.handle == told[at].heard.handle);
        let running = |at: &usize| told[*at].is_running() && is_last(*at) && !self.sight.is_given_up_waiting(told[*at].at);
        (0..told.len()).filter(running).map(|at| &told[at]).collect()
    }
}
