//! What a thread does about the work that it can hand out (rules 5 and 9 to 13).

use std::cell::OnceCell;
use std::collections::BTreeSet;

use smallvec::SmallVec;

use crate::model::{CallDraft, Reply};
use crate::scenario::marker::Task;
use crate::scenario::{IntentIndex, TopicIndex};
use crate::strategy::Act;
use crate::transcript::{Handle, Origin};

use super::answer::{beside_calls, looking};
use super::assignment::{Assignment, Stand};
use super::plan::{Planned, next, plan, plan_of_intent};
use super::sight::Sight;
use super::task::Bound;

/// Assignments, and how each stands.
type Assignments<'s> = SmallVec<[(Assignment<'s>, Stand); 2]>;

/// Intents that were carried out here.
type Done = SmallVec<[IntentIndex; 8]>;

/// The delegations of a thread's work.
pub(super) struct Delegations<'s, 'a> {
    pub(super) sight: &'s Sight<'a>,
    pub(super) bound: &'s Bound<'a>,
    /// Every intent of this work, with those that an intent carried out here would hand out in turn.
    intents: OnceCell<Assignments<'s>>,
    follow_ups: OnceCell<Assignments<'s>>,
}

impl<'s, 'a> Delegations<'s, 'a> {
    pub fn new(sight: &'s Sight<'a>, bound: &'s Bound<'a>) -> Delegations<'s, 'a> {
        Delegations { sight, bound, intents: OnceCell::new(), follow_ups: OnceCell::new() }
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
                if text.trim().is_empty() {
                    continue;
                }
                let call = self.speak_on(child, told.intent, &text, false);
                if let Some(call) = call.filter(|call| !self.sight.has_called(call, at)) {
                    // Not tagged with the intent: whether it was heard says nothing about the work.
                    calls.push(CallDraft::phrased(call, None));
                }
            }
        }
        (!calls.is_empty()).then(|| self.calls([], calls))
    }

    /// Work that the thread would rather not wait for is handed out before it goes on.
    pub fn hand_background_out(&self) -> Option<Reply> {
        let is_background = |intent: &IntentIndex| self.sight.scenario().intents[*intent].background;
        self.batches(&self.bound.work.delegates).find_map(|batch| self.hand_out(batch, is_background))
    }

    /// The next step of the thread's own plan. Intents of the step's group go in the same message.
    pub fn take_own_steps(&self) -> Option<Reply> {
        let mut plan = plan(self.sight, self.bound.task);
        if let Some(asked) = &self.bound.asked {
            plan.retain(|planned: &mut Planned<'_>| planned.step.seeks.iter().any(|topic| asked.contains(topic)));
        }
        let steps = next(self.sight, &plan);
        let group = steps.first()?.step.parallel.as_ref();
        let with_them = |intent: &&IntentIndex| group.is_some() && self.sight.scenario().intents[**intent].group.as_ref() == group;
        let intents: Vec<IntentIndex> = self.bound.work.delegates.iter().filter(with_them).copied().collect();
        let mut sentences = vec![self.looking_at(&steps)];
        let mut calls: Vec<CallDraft> = steps.iter().map(Planned::call).collect();
        for assignment in self.open(&intents) {
            if let Some(call) = self.phrase(assignment) {
                sentences.push(self.sentence(assignment));
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
        self.intents().iter().any(|(_, stand)| stand.waits()).then(|| self.wait())
    }

    /// Rule 12: what this turn asks for and nothing of the work so far has brought.
    pub fn follow_up(&self) -> Option<Reply> {
        self.follow_ups().iter().find_map(|(assignment, stand)| match stand {
            Stand::Open => self.phrase(assignment).map(|call| self.calls([self.sentence(assignment)], vec![call])),
            Stand::Running | Stand::Blocked => Some(self.wait()),
            Stand::Unread => self.read(assignment),
            Stand::Own | Stand::Rescue => self.steps(assignment.intent, Some(&assignment.asked)),
            Stand::Settled => None,
        })
    }

    /// The last step of the thread's own plan once more, whatever came of it; `None`: it has no plan, or its tool is not shown.
    pub fn again(&self) -> Option<Reply> {
        let last = *plan(self.sight, self.bound.task).last().filter(|planned| self.sight.shows(&planned.step.tool))?;
        Some(self.calls([looking(self.sight, &last.step.target, &[])], vec![last.call()]))
    }

    /// Keeps the whole answer outside the answer, where the protocol asks for that, once a turn.
    pub fn store(&self, answer: impl FnOnce() -> String) -> Option<Reply> {
        // Whether a protocol has a call for it depends on no text.
        (self.sight.speak)(&Act::Store(""))?;
        let call = (self.sight.speak)(&Act::Store(&answer()))?;
        let is_kept = self.sight.items[self.bound.from..]
            .iter()
            .any(|item| item.origin == Origin::Own && item.as_call().is_some_and(|made| made.name == call.name));
        (!is_kept).then(|| self.calls([], vec![CallDraft::phrased(call, None)]))
    }

    // ---- what others ask -----------------------------------------------------------------------------------------------

    /// Whether this thread makes a deliverable of an intent: because it carries the intent out, or because it took it over
    /// and no deliverable came back, or one with a guess in it. One without stands, a stale value in it too.
    pub fn makes(&self, topic: TopicIndex, intent: IntentIndex) -> bool {
        if self.bound.carries_out() == Some(intent) {
            return true;
        }
        self.assignments().filter(|(assignment, _)| assignment.intent == intent).any(|(assignment, stand)| match stand {
            Stand::Own => true,
            Stand::Rescue => {
                let news: Vec<usize> = assignment.acts.iter().flat_map(|told| told.heard.news.iter().copied()).collect();
                self.sight.known_of(&news).made(topic).is_none_or(|values| values.contains(&None))
            }
            Stand::Open | Stand::Running | Stand::Blocked | Stand::Unread | Stand::Settled => false,
        })
    }

    /// How many intents this thread takes over that it had not taken over at its last request (rule 10).
    pub fn new_rescues(&self) -> u32 {
        let now = self.rescued();
        if now.is_empty() {
            return 0;
        }
        let before = match self.sight.last_reply(self.bound.from) {
            Some(reply) => Delegations::new(&self.sight.earlier(reply.start), self.bound).rescued(),
            None => BTreeSet::new(),
        };
        now.difference(&before).count() as u32
    }

    fn rescued(&self) -> BTreeSet<(IntentIndex, bool)> {
        let rescued = self.assignments().filter(|(_, stand)| *stand == Stand::Rescue);
        rescued.map(|(assignment, _)| (assignment.intent, assignment.is_follow_up)).collect()
    }

    // ---- intents, in order ---------------------------------------------------------------------------------------------

    fn carried_out(&self) -> Done {
        self.bound.carries_out().into_iter().collect()
    }

    /// Neighbours with an equal group belong together.
    fn batches<'i>(&self, intents: &'i [IntentIndex]) -> impl Iterator<Item = &'i [IntentIndex]> + use<'i, 'a> {
        let scenario = self.sight.scenario();
        let group = |intent: IntentIndex| scenario.intents[intent].group.as_ref();
        intents.chunk_by(move |&one, &other| group(one).is_some() && group(one) == group(other))
    }

    fn intents(&self) -> &[(Assignment<'s>, Stand)] {
        self.intents.get_or_init(|| {
            let mut all = Assignments::new();
            let mut open: SmallVec<[IntentIndex; 8]> = self.bound.work.delegates.iter().rev().copied().collect();
            while let Some(intent) = open.pop() {
                if all.iter().any(|(assignment, _)| assignment.intent == intent) {
                    continue;
                }
                let assignment = self.assignment(intent);
                let stand = self.stand(&assignment);
                all.push((assignment, stand));
                if stand.is_done_here() {
                    open.extend(self.sight.scenario().intents[intent].work.delegates.iter().rev().copied());
                }
            }
            all
        })
    }

    fn follow_ups(&self) -> &[(Assignment<'s>, Stand)] {
        let with_stand = |assignment: Assignment<'s>| {
            let stand = self.stand(&assignment);
            (assignment, stand)
        };
        self.follow_ups.get_or_init(|| self.asked_for().into_iter().map(with_stand).collect())
    }

    fn assignments(&self) -> impl Iterator<Item = &(Assignment<'s>, Stand)> {
        self.intents().iter().chain(self.follow_ups())
    }

    fn stand_of(&self, intent: IntentIndex) -> Stand {
        // Whatever is asked for is an intent of this work.
        self.intents().iter().find(|(assignment, _)| assignment.intent == intent).map_or(Stand::Settled, |(_, stand)| *stand)
    }

    fn delegate_all(&self, intents: &[IntentIndex], done: &mut Done) -> Option<Reply> {
        for batch in self.batches(intents) {
            if let Some(reply) = self.hand_out(batch, |_| true) {
                return Some(reply);
            }
            let mut waits = false;
            for &intent in batch {
                match self.stand_of(intent) {
                    Stand::Own | Stand::Rescue if !done.contains(&intent) => {
                        done.push(intent);
                        let nested = &self.sight.scenario().intents[intent].work.delegates;
                        if let Some(reply) = self.steps(intent, None).or_else(|| self.delegate_all(nested, done)) {
                            return Some(reply);
                        }
                    }
                    Stand::Unread => {
                        let (assignment, _) = self.intents().iter().find(|(assignment, _)| assignment.intent == intent)?;
                        return self.read(assignment);
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

    /// Hands out in one message those of these intents that are open and wanted.
    fn hand_out(&self, intents: &[IntentIndex], wanted: impl Fn(&IntentIndex) -> bool) -> Option<Reply> {
        if !intents.iter().any(&wanted) {
            return None;
        }
        let assignments = || self.open(intents).filter(|assignment| wanted(&assignment.intent));
        let calls: Vec<CallDraft> = assignments().filter_map(|assignment| self.phrase(assignment)).collect();
        (!calls.is_empty()).then(|| self.calls(assignments().map(|assignment| self.sentence(assignment)), calls))
    }

    fn open(&self, intents: &[IntentIndex]) -> impl Iterator<Item = &Assignment<'s>> {
        let is_open = move |(assignment, stand): &&(Assignment<'s>, Stand)| *stand == Stand::Open && intents.contains(&assignment.intent);
        self.intents().iter().filter(is_open).map(|(assignment, _)| assignment)
    }

    /// Reads what a child has kept.
    fn read(&self, assignment: &Assignment<'_>) -> Option<Reply> {
        let (artifact, call) = self.unread(assignment)?;
        let unknown: Vec<TopicIndex> = assignment.asked.iter().copied().filter(|&topic| !self.sight.known.has(topic)).collect();
        Some(self.calls([looking(self.sight, &artifact.0, &unknown)], vec![CallDraft::phrased(call, None)]))
    }

    fn steps(&self, intent: IntentIndex, asked: Option<&[TopicIndex]>) -> Option<Reply> {
        let steps = next(self.sight, &plan_of_intent(self.sight, intent, asked));
        (!steps.is_empty()).then(|| self.calls([self.looking_at(&steps)], steps.iter().map(Planned::call).collect()))
    }

    // ---- replies -------------------------------------------------------------------------------------------------------

    fn calls(&self, sentences: impl IntoIterator<Item = String>, calls: Vec<CallDraft>) -> Reply {
        Reply { text: beside_calls(self.sight, self.bound, sentences), calls, ..Reply::default() }
    }

    /// Waits for every child at work; where the protocol has no wait, the turn ends and a notice starts the next.
    fn wait(&self) -> Reply {
        let running = self.running();
        let handles: Vec<Handle> = running.iter().filter_map(|told| told.heard.handle.clone()).collect();
        if let Some(call) = (self.sight.speak)(&Act::Wait(&handles)) {
            return self.calls([], vec![CallDraft::phrased(call, None)]);
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

    /// What the text beside the call says of an assignment.
    pub(super) fn sentence(&self, assignment: &Assignment<'_>) -> String {
        looking(self.sight, &self.sight.scenario().intents[assignment.intent].title, &assignment.asked)
    }

    fn looking_at(&self, steps: &[Planned<'_>]) -> String {
        let unknown = |topic: &TopicIndex| !self.sight.known.has(*topic);
        let topics: SmallVec<[TopicIndex; 8]> =
            steps.iter().flat_map(|planned| planned.step.seeks.iter().copied()).filter(unknown).collect();
        match steps {
            [one] => looking(self.sight, &one.step.target, &topics),
            _ => looking(self.sight, &steps.iter().map(|planned| planned.step.target.as_str()).collect::<Vec<_>>().join(", "), &topics),
        }
    }
}
