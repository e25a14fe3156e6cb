//! The player: recorded steps in, replies out, in the words of whatever protocol the request shows.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::strategy::{Act, ThreadId};
use crate::transcript::{Handle, Origin, Outcome, heard};

use super::super::{Agent, CallDraft, Pending, Reply, Request, Took, ready};
use super::recording::{Draft, Recording, Said, SaidCall, Step};

/// How long an exchange lasts that the recording lacks: the time of an empty reply.
const SYNTHETIC_MS: u64 = 50;

/// What stands for a summary that the recording lacks.
const SUMMARY: &str = "What was done so far is left out here: the recording holds no summary of it.";

/// Plays every thread of a run.
pub struct Player {
    recording: Arc<Recording>,
    threads: HashMap<ThreadId, Playing>,
}

/// One thread of the run.
#[derive(Default)]
struct Playing {
    /// Recorded steps still to come.
    steps: VecDeque<Step>,
    /// Replies that come first: steps of children that this thread does itself.
    planned: VecDeque<Draft>,
    /// Answers to wait for before the next step.
    pending: Vec<usize>,
    /// Intents that this thread was opened or continued for.
    taken: Vec<usize>,
    /// A hand-off is to be ended.
    back: bool,
}

impl Player {
    /// A player at the beginning of a recording.
    pub fn new(recording: Arc<Recording>) -> Player {
        Player { recording, threads: HashMap::new() }
    }
}

impl Agent for Player {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        // A summary that a strategy asks for is none of the recorded steps.
        if request.aside {
            return ready(Ok(Reply { text: SUMMARY.into(), ..synthetic() }));
        }
        let recording = self.recording.clone();
        let playing = self.threads.entry(request.thread).or_insert_with(|| Playing {
            steps: if request.thread == ThreadId::ROOT { recording.root.iter().cloned().collect() } else { VecDeque::new() },
            ..Playing::default()
        });
        let mut speaking = Speaking { recording: &recording, request, playing };
        speaking.take_up();
        ready(Ok(speaking.next()))
    }
}

/// One request to one thread.
struct Speaking<'a> {
    recording: &'a Recording,
    request: &'a Request<'a>,
    playing: &'a mut Playing,
}

impl Speaking<'_> {
    /// A child takes up what it was opened or continued for.
    fn take_up(&mut self) {
        let which = self.request.intent.and_then(|id| self.recording.by_id.get(id).copied());
        let Some(which) = which.filter(|_| self.request.thread != ThreadId::ROOT) else { return };
        if self.playing.taken.contains(&which) {
            return;
        }
        self.playing.taken.push(which);
        let one = &self.recording.intents[which];
        match &one.steps {
            Some(steps) => self.playing.steps.extend(steps.iter().cloned()),
            None => self.playing.planned.push_back(Draft {
                reasoning: vec![],
                text: one.returned.clone(),
                calls: vec![],
                then_user: vec![],
                took: one.ms.map_or(Took::Profile, Took::Ms),
                reported: None,
            }),
        }
    }

    fn next(&mut self) -> Reply {
        loop {
            if let Some(reply) = self.wait() {
                return reply;
            }
            if let Some(draft) = self.playing.planned.pop_front() {
                return self.finished(draft, false);
            }
            if std::mem::take(&mut self.playing.back)
                && let Some(call) = (self.request.speak)(&Act::Back)
            {
                return Reply { calls: vec![CallDraft::phrased(call, None)], ..synthetic() };
            }
            match self.playing.steps.pop_front() {
                // A notice has opened this turn and the user has not spoken yet: it ends, and the user is heard next.
                Some(opening @ Step::Opening(_)) if self.is_opened_by_notice() => {
                    self.playing.steps.push_front(opening);
                    return synthetic();
                }
                Some(Step::Opening(_)) => {}
                Some(Step::Answer(which)) => self.playing.pending.push(which),
                Some(Step::Reply(said)) => {
                    if let Some(reply) = self.say(said) {
                        return reply;
                    }
                }
                None => return self.nothing_left(),
            }
        }
    }

    /// Whether what came last is news of a child, not of the user.
    fn is_opened_by_notice(&self) -> bool {
        self.request.exchange == 0 && self.request.items.last().is_some_and(|item| item.origin == Origin::Delegated)
    }

    /// How an intent stands, as this thread has been told.
    fn outcome(&self, which: usize) -> Option<(Outcome, Option<Handle>)> {
        let id = &self.recording.intents[which].intent.id;
        heard(self.request.items).into_iter().rev().find(|one| one.intent == *id).map(|one| (one.outcome, one.handle))
    }

    /// The child of an intent is at work, and this thread will hear of it.
    fn is_awaited(&self, which: usize) -> bool {
        matches!(self.outcome(which), Some((Outcome::Started, _)))
    }

    /// An exchange that waits, if there is something to wait for: a call where the protocol has one, else the turn's end.
    fn wait(&mut self) -> Option<Reply> {
        let pending = std::mem::take(&mut self.playing.pending);
        let mut handles = Vec::new();
        let mut left = Vec::new();
        for which in pending {
            match self.outcome(which) {
                Some((Outcome::Started, handle)) => {
                    handles.extend(handle);
                    left.push(which);
                }
                // A hand-off: the work is this thread's now, and control returns when it is done.
                Some((Outcome::Moved, _)) => {
                    let drafts = self.spliced(which, true);
                    self.playing.planned.extend(drafts);
                    self.playing.back = true;
                }
                _ => {}
            }
        }
        self.playing.pending = left;
        if self.playing.pending.is_empty() {
            return None;
        }
        match (self.request.speak)(&Act::Wait(&handles)) {
            Some(call) => Some(Reply { calls: vec![CallDraft::phrased(call, None)], ..synthetic() }),
            None => Some(synthetic()),
        }
    }

    /// Plays a recorded reply; `None`: nothing of it is left, and its exchange is dropped.
    fn say(&mut self, said: Said) -> Option<Reply> {
        let mut draft = said.draft;
        let mut children = Vec::new();
        for call in said.calls {
            match call {
                SaidCall::Tool(call) => draft.calls.push(call),
                SaidCall::Collect(which) => self.playing.pending.push(which),
                SaidCall::Delegate(which) => match self.phrase(which) {
                    Some(call) => {
                        if !self.recording.intents[which].intent.background {
                            self.playing.pending.push(which);
                        }
                        draft.calls.push(call);
                    }
                    None => children.push(which),
                },
            }
        }
        let spliced: Vec<Draft> = children.into_iter().flat_map(|which| self.spliced(which, false)).collect();
        self.playing.planned.extend(spliced);
        if !is_empty(&draft) {
            return Some(self.finished(draft, true));
        }
        // What came in behind a reply that is left out still came in: behind the steps that stand for it.
        let left = draft.then_user;
        match self.playing.planned.back_mut() {
            Some(last) => last.then_user.extend(left),
            None => self.carry(left),
        }
        None
    }

    /// Hands what came in to the next reply, when none before it is left to take it.
    fn carry(&mut self, items: Vec<crate::transcript::Item>) {
        if let Some(Step::Reply(next)) = self.playing.steps.iter_mut().find(|step| matches!(step, Step::Reply(_))) {
            next.draft.then_user.splice(0..0, items);
        }
    }

    /// The delegating call in this protocol's words; `None`: it has none here.
    fn phrase(&self, which: usize) -> Option<CallDraft> {
        let one = &self.recording.intents[which];
        let id = Some(one.intent.id.as_str());
        let known = one.continues.and_then(|first| self.outcome(first)).and_then(|(_, handle)| handle);
        let more = known.and_then(|child| {
            (self.request.speak)(&Act::Continue { child: &child, intent: &one.intent, text: &one.intent.task, wake: true })
        });
        more.or_else(|| self.request.delegate(&one.intent)).map(|call| CallDraft::phrased(call, id))
    }

    /// A child's replies as this thread makes them, one a recorded reply. Its last text is left out unless the thread
    /// speaks in its place; what is then empty is left out whole.
    fn spliced(&self, which: usize, keep_answer: bool) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = Vec::new();
        let steps = self.recording.intents[which].steps.as_deref().unwrap_or_default();
        let last = steps.iter().rposition(|step| matches!(step, Step::Reply(_)));
        for (at, step) in steps.iter().enumerate() {
            let Step::Reply(said) = step else { continue };
            let mut draft = Draft { reported: None, ..said.draft.clone() };
            let mut below = Vec::new();
            for call in &said.calls {
                match call {
                    SaidCall::Tool(call) => draft.calls.push(call.clone()),
                    SaidCall::Delegate(which) => below.extend(self.spliced(*which, false)),
                    SaidCall::Collect(_) => {}
                }
            }
            if last == Some(at) && said.calls.is_empty() && !keep_answer {
                draft.text.clear();
            }
            let left = if is_empty(&draft) {
                draft.then_user
            } else {
                drafts.push(draft);
                vec![]
            };
            drafts.extend(below);
            if let Some(before) = drafts.last_mut() {
                before.then_user.extend(left);
            }
        }
        drafts
    }

    /// The reply of a draft: it does not end the turn if the recording goes on without the user.
    fn finished(&self, draft: Draft, own: bool) -> Reply {
        let more = draft.calls.is_empty() && self.goes_on();
        let is_missing = !own && self.playing.taken.iter().any(|&which| self.recording.intents[which].is_missing());
        Reply {
            reasoning: draft.reasoning,
            text: draft.text,
            calls: draft.calls,
            more,
            synthetic: is_missing,
            then_user: draft.then_user,
            took: draft.took,
            reported: draft.reported,
            ..Reply::default()
        }
    }

    /// Whether the next recorded step follows inside this turn.
    fn goes_on(&self) -> bool {
        if !self.playing.planned.is_empty() || self.playing.back {
            return true;
        }
        let mut handles = Vec::new();
        for step in &self.playing.steps {
            match step {
                // Where the protocol brings a child's answer by itself, the turn ends here and the answer opens the next.
                Step::Reply(_) => return handles.is_empty() || (self.request.speak)(&Act::Wait(&handles)).is_some(),
                Step::Opening(_) => return false,
                Step::Answer(which) if self.is_awaited(*which) => {
                    handles.extend(self.outcome(*which).and_then(|(_, handle)| handle));
                }
                Step::Answer(_) => {}
            }
        }
        false
    }

    /// The recording ends before the run does: a child that was cut off says what its parent's record has.
    fn nothing_left(&self) -> Reply {
        let text = self.playing.taken.last().map(|&which| self.recording.intents[which].returned.clone()).unwrap_or_default();
        Reply { text, ..synthetic() }
    }
}

/// An empty reply that the recording lacks.
fn synthetic() -> Reply {
    Reply { synthetic: true, took: Took::Ms(SYNTHETIC_MS), ..Reply::default() }
}

/// Nothing, or nothing but reasoning.
fn is_empty(draft: &Draft) -> bool {
    draft.text.is_empty() && draft.calls.is_empty()
}
