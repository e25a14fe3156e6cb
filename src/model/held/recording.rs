//! What is played: threads of steps and the intents that link them.

use std::collections::HashMap;

use crate::import::{Call, Delegation, Imported, Response, Session, Status, Step as Recorded};
use crate::strategy::Intent;
use crate::transcript::{Item, Origin, Recorded as RecordedResult};

use super::super::{CallDraft, Took, Usage};
use super::{CHILD_AGENT, HeldError};

/// A session as the player needs it.
#[derive(Debug)]
pub struct Recording {
    /// The session's id.
    pub id: String,
    /// The root's model.
    pub model: Option<String>,
    /// What stands before the root's first turn.
    pub history: Vec<Item>,
    /// Messages that open the root's turns.
    pub user: Vec<Vec<Item>>,
    /// The root's steps.
    pub root: Vec<Step>,
    /// Every delegation of the tree that opened a child.
    pub intents: Vec<Delegated>,
    /// Intents by their id.
    pub by_id: HashMap<String, usize>,
}

/// A delegation with what its child does.
#[derive(Debug)]
pub struct Delegated {
    /// What is delegated; its id is the recorded call's, made unique.
    pub intent: Intent,
    /// The child's steps; `None`: they were not imported.
    pub steps: Option<Vec<Step>>,
    /// An earlier intent with the same child: this one gives it more to do.
    pub continues: Option<usize>,
    /// What came back, as the parent's record has it.
    pub returned: String,
    /// How long it took, as the parent's record has it.
    pub ms: Option<u64>,
}

impl Delegated {
    /// Whether the child's steps were not imported.
    pub fn is_missing(&self) -> bool {
        self.steps.is_none()
    }
}

/// One step of a thread.
#[derive(Clone, Debug)]
pub enum Step {
    /// Input that opens a turn came in here. The root's is the engine's to bring; a child's stands here until it is known
    /// whether a call of its parent brought it.
    Opening(Vec<Item>),
    /// The recording shows the answer of a background child arriving here.
    Answer(usize),
    /// A reply.
    Reply(Said),
}

/// A recorded reply.
#[derive(Clone, Debug)]
pub struct Said {
    /// What the wire hands back, text and calls.
    pub draft: Draft,
    /// The calls, in order.
    pub calls: Vec<SaidCall>,
}

/// What of a reply does not depend on the strategy.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Reasoning.
    pub reasoning: Vec<crate::transcript::Part>,
    /// The text.
    pub text: String,
    /// Ordinary calls.
    pub calls: Vec<CallDraft>,
    /// What came in behind it, inside the turn.
    pub then_user: Vec<Item>,
    /// Its duration.
    pub took: Took,
    /// What was reported for it.
    pub reported: Option<Usage>,
}

/// A recorded call.
#[derive(Clone, Debug)]
pub enum SaidCall {
    /// An ordinary one, with its result.
    Tool(CallDraft),
    /// A delegation.
    Delegate(usize),
    /// A product's own question for the answer of a background child: a strategy has its own way to bring it.
    Collect(usize),
}

impl Recording {
    /// The session at a place, with its children.
    pub fn of(imported: &Imported, at: usize) -> Result<Recording, HeldError> {
        let sessions = &imported.sessions;
        let session = sessions.get(at).ok_or(HeldError::NoSession { at, sessions: sessions.len() })?;
        if let (Some(_), Some(parent)) = (session.parent_at, &session.parent) {
            return Err(HeldError::Child { id: session.id.clone(), parent: parent.clone() });
        }
        let responses = session.steps.iter().filter_map(as_response);
        let model = responses.clone().find_map(|response| response.model.clone());
        if responses.count() == 0 {
            return Err(HeldError::Empty { id: session.id.clone() });
        }
        let mut reading = Reading { sessions, id: &session.id, recording: Recording::empty(session, model), calls: HashMap::new() };
        let root = reading.root(session)?;
        let mut recording = reading.recording;
        recording.root = root;
        recording.intents.iter_mut().filter_map(|one| one.steps.as_mut()).for_each(fold_openings);
        Ok(recording)
    }

    fn empty(session: &Session, model: Option<String>) -> Recording {
        Recording {
            id: session.id.clone(),
            model,
            history: session.inherited.iter().filter(|item| item.is_sent()).cloned().collect(),
            user: vec![],
            root: vec![],
            intents: vec![],
            by_id: HashMap::new(),
        }
    }
}

fn as_response(step: &Recorded) -> Option<&Response> {
    match step {
        Recorded::Response(response) => Some(response),
        _ => None,
    }
}

struct Reading<'a> {
    sessions: &'a [Session],
    id: &'a str,
    recording: Recording,
    /// For each child: the intents of the calls that set it to work, in order.
    calls: HashMap<usize, Vec<usize>>,
}

impl Reading<'_> {
    fn root(&mut self, session: &Session) -> Result<Vec<Step>, HeldError> {
        let mut steps = Vec::new();
        let intents = self.intents(session)?;
        for step in &session.steps {
            match step {
                Recorded::Input(items) => {
                    let mut items: Vec<Item> = items.iter().filter(|item| item.is_sent()).cloned().collect();
                    // A child that was imported without its parent is a root here, and its task the user's.
                    items.iter_mut().filter(|item| item.origin == Origin::Task).for_each(|item| item.origin = Origin::User);
                    if items.is_empty() {
                        continue;
                    }
                    match in_turn(&mut steps) {
                        Some(said) => said.draft.then_user.extend(items),
                        None => {
                            // Two messages with nothing between them open one turn.
                            match (steps.last(), self.recording.user.last_mut()) {
                                (Some(Step::Opening(_)), Some(last)) => last.extend(items),
                                _ => {
                                    steps.push(Step::Opening(vec![]));
                                    self.recording.user.push(items);
                                }
                            }
                        }
                    }
                }
                Recorded::Notice { delegation, .. } => steps.extend(intents.get(*delegation).copied().flatten().map(Step::Answer)),
                Recorded::Response(response) => steps.push(Step::Reply(said(response, &intents, &session.delegations))),
            }
        }
        // The message before the first reply is lost: the turn opens with nothing.
        if matches!(steps.first(), Some(Step::Reply(_) | Step::Answer(_))) {
            steps.insert(0, Step::Opening(vec![]));
            self.recording.user.insert(0, vec![]);
        }
        Ok(steps)
    }

    /// A child's steps. Its first input is left out: how a child opens is the strategy's.
    fn child(&mut self, session: &Session) -> Result<Vec<Step>, HeldError> {
        let intents = self.intents(session)?;
        let mut steps: Vec<Step> = Vec::new();
        for step in &session.steps {
            match step {
                Recorded::Input(items) => {
                    let items: Vec<Item> = items.iter().filter(|item| item.is_sent()).cloned().collect();
                    match in_turn(&mut steps) {
                        Some(said) => said.draft.then_user.extend(items),
                        None => steps.push(Step::Opening(items)),
                    }
                }
                Recorded::Notice { delegation, .. } => steps.extend(intents.get(*delegation).copied().flatten().map(Step::Answer)),
                Recorded::Response(response) => steps.push(Step::Reply(said(response, &intents, &session.delegations))),
            }
        }
        let opening = steps.iter().take_while(|step| matches!(step, Step::Opening(_))).count();
        steps.drain(..opening);
        Ok(steps)
    }

    /// For each delegation of a session: its intent; `None`: it opened no child.
    fn intents(&mut self, session: &Session) -> Result<Vec<Option<usize>>, HeldError> {
        let mut all = Vec::new();
        for (at, delegation) in session.delegations.iter().enumerate() {
            let call =
                session.steps.iter().filter_map(as_response).flat_map(|response| &response.calls).find(|call| call.delegation == Some(at));
            all.push(match call {
                // On a branch that was rewound.
                None => None,
                Some(call) => self.intent(delegation, call)?,
            });
        }
        Ok(all)
    }

    fn intent(&mut self, delegation: &Delegation, call: &Call) -> Result<Option<usize>, HeldError> {
        let opened = delegation.child_at.is_some() || matches!(delegation.status, Status::Completed | Status::Launched);
        if !opened {
            return Ok(None);
        }
        if delegation.child_at.is_none() && delegation.returned.is_none() {
            return Err(HeldError::NoReturn { id: self.id.to_owned(), call: delegation.call_id.clone() });
        }
        let mut id = delegation.call_id.clone();
        let mut times = 1;
        while self.recording.by_id.contains_key(&id) {
            times += 1;
            id = format!("{}#{times}", delegation.call_id);
        }
        let which = self.recording.intents.len();
        self.recording.by_id.insert(id.clone(), which);
        self.recording.intents.push(Delegated {
            intent: Intent {
                id,
                agent: delegation.subagent_type.clone().unwrap_or_else(|| CHILD_AGENT.into()),
                title: delegation.title.clone(),
                task: delegation.prompt.clone(),
                background: delegation.background,
            },
            steps: None,
            continues: None,
            returned: delegation.returned.clone().unwrap_or_default(),
            ms: call.result.as_ref().and_then(|result| result.ms),
        });
        if let Some(child) = delegation.child_at {
            self.hand_out(which, child)?;
        }
        Ok(Some(which))
    }

    /// The first call of a child takes its steps up to the input that sets it to work again, the next call the next ones,
    /// the last call all that is left.
    fn hand_out(&mut self, which: usize, child: usize) -> Result<(), HeldError> {
        let calls = self.calls.entry(child).or_default();
        calls.push(which);
        if let [first, .., last, _] | [first @ last, _] = calls[..] {
            let mut all = self.recording.intents[last].steps.take().unwrap_or_default();
            let cut = all.iter().position(|step| matches!(step, Step::Opening(_))).unwrap_or(all.len());
            let rest = all.split_off(cut);
            self.recording.intents[last].steps = Some(all);
            self.recording.intents[which].steps = Some(rest.into_iter().skip(1).collect());
            self.recording.intents[which].continues = Some(first);
            return Ok(());
        }
        let Some(session) = self.sessions.get(child) else { return Ok(()) };
        self.recording.intents[which].steps = Some(self.child(session)?);
        Ok(())
    }
}

/// What came into a child by no call of its parent belongs to the reply before it.
fn fold_openings(steps: &mut Vec<Step>) {
    let mut folded: Vec<Step> = Vec::with_capacity(steps.len());
    for step in steps.drain(..) {
        match (step, folded.last_mut()) {
            (Step::Opening(items), Some(Step::Reply(before))) => before.draft.then_user.extend(items),
            (Step::Opening(_), _) => {}
            (step, _) => folded.push(step),
        }
    }
    *steps = folded;
}

/// The reply before, if the turn was still open behind it: it had calls.
fn in_turn(steps: &mut [Step]) -> Option<&mut Said> {
    steps
        .iter_mut()
        .rev()
        .find_map(|step| match step {
            Step::Reply(said) => Some(Some(said)),
            Step::Opening(_) => Some(None),
            Step::Answer(_) => None,
        })
        .flatten()
        .filter(|said| !said.calls.is_empty())
}

fn said(response: &Response, intents: &[Option<usize>], delegations: &[Delegation]) -> Said {
    let intent = |at: Option<usize>| at.and_then(|at| intents.get(at).copied().flatten());
    let back_ms = first_back(response, intents, delegations);
    let calls = response.calls.iter().map(|call| {
        if let Some(which) = intent(call.delegation) {
            return SaidCall::Delegate(which);
        }
        match intent(call.collects) {
            Some(which) => SaidCall::Collect(which),
            None => SaidCall::Tool(draft(call, back_ms)),
        }
    });
    Said {
        calls: calls.collect(),
        draft: Draft {
            reasoning: response.reasoning.clone(),
            text: response.text.clone(),
            calls: vec![],
            then_user: vec![],
            took: response.duration_ms.map_or(Took::Profile, Took::Ms),
            reported: response.usage.filter(|_| !response.estimated),
        },
    }
}

/// When the first delegation of a reply that it waited for was back, in milliseconds from the reply. A background one is
/// none: its result is there before its child has worked.
fn first_back(response: &Response, intents: &[Option<usize>], delegations: &[Delegation]) -> Option<u64> {
    let waited = response.calls.iter().filter(|call| {
        let at = call.delegation.filter(|&at| intents.get(at).copied().flatten().is_some());
        at.and_then(|at| delegations.get(at)).is_some_and(|one| !one.background)
    });
    waited.filter_map(|call| call.result.as_ref()?.ms).min()
}

/// A call with its recorded result. One that was never answered has an empty, failed one; an unknown duration is the
/// shortest that the engine knows.
///
/// Claude Code stamps the results of one reply as it writes them, which for an ordinary call beside a delegation may be
/// after the child's end (2.0.76): a duration that reaches to `back_ms` or past it may hold all of the child's work, so
/// it is unknown. Else a strategy that does the child's steps itself would be charged for them twice.
fn draft(call: &Call, back_ms: Option<u64>) -> CallDraft {
    let own_ms = |ms: &u64| back_ms.is_none_or(|back| *ms < back);
    let result = match &call.result {
        Some(result) => {
            let ms = result.ms.filter(own_ms).unwrap_or(1);
            RecordedResult { parts: result.parts.clone(), failed: result.failed, ms }
        }
        None => RecordedResult { parts: vec![], failed: true, ms: 1 },
    };
    CallDraft { id: call.id.clone(), name: call.name.clone(), args: call.args.as_text().to_owned(), intent: None, recorded: Some(result) }
}
