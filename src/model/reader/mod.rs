//! The reader: a deterministic agent that plays every thread of a simulated run by reading what stands before it.
//!
//! It holds the scenario's tables, but it acts on the rendered request alone: system text, items, tools, and what the
//! protocol can say. A row of a table is used only after a text that points to it was visible to that thread. So whatever
//! a strategy lets through decides what the reader does, and nothing else does.
//!
//! One reply is one walk down a list (`act`): a correction to pass on, background work to hand out, a step of the own
//! plan, the next delegations, a wait, a follow-up, and last the answer.

mod answer;
mod assignment;
mod attention;
mod brief;
mod delegate;
mod limit;
mod notice;
mod padding;
mod plan;
mod profile;
mod sight;
mod task;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use crate::scenario::marker::{Known, MarkerIndex, Task, UNKNOWN_TASK};
use crate::scenario::{Briefing, Conduct, Ends, Fallback, Scenario, Work};
use crate::strategy::Intent;
use crate::transcript::{Digest, Part, normalised_arguments};

pub use attention::{Curve, curves};
pub use profile::{READER, ReaderProfile, Stale, Unknown};

use super::{Agent, Model, ModelError, Pending, Reply, Request, ready};
use delegate::Delegations;
use notice::Seen;
use sight::Sight;
use task::Bound;

/// What a child says that stops before it has reported.
const PREAMBLE: &str = "I have what I need. Let me put the report together.";

/// What a provider says that gives no reply.
const OVERLOADED: &str = "529 overloaded: the model cannot take requests at the moment";

/// A scenario as the reader uses it: its tables, its markers, its plans with normalised arguments.
struct Tables {
    scenario: Arc<Scenario>,
    index: MarkerIndex,
    /// The arguments of each step, by user turn.
    turns: Vec<Vec<ArgumentsId>>,
    /// The same by intent.
    intents: Vec<Vec<ArgumentsId>>,
    /// The same by the text that a step gives.
    steps: FxHashMap<Digest, ArgumentsId>,
    /// Each intent as it is handed out without anything added: told in full, and tersely.
    briefs: Vec<[Intent; 2]>,
}

impl Tables {
    fn new(scenario: Arc<Scenario>) -> Tables {
        let arguments = |work: &Work| work.plan.iter().map(|step| arguments_id(&step.args)).collect();
        let works = scenario.turns.iter().map(|turn| &turn.work).chain(scenario.intents.iter().map(|intent| &intent.work));
        let steps = works.flat_map(|work| &work.plan).map(|step| (Digest::of(&step.args), arguments_id(&step.args)));
        let briefs = scenario.intents.iter().map(|spec| [&spec.task, &spec.terse].map(|task| brief::plain(spec, task)));
        Tables {
            steps: steps.collect(),
            briefs: briefs.collect(),
            index: MarkerIndex::new(&scenario),
            turns: scenario.turns.iter().map(|turn| arguments(&turn.work)).collect(),
            intents: scenario.intents.iter().map(|intent| arguments(&intent.work)).collect(),
            scenario,
        }
    }
}

/// The reader agent of a scenario, with the settings of a cell. A clone shares the tables.
#[derive(Clone)]
pub struct Reader {
    tables: Arc<Tables>,
    /// What a delegating thread writes into a task (rule 8). The usual one gives way to the scenario's own.
    pub briefing: Briefing,
    /// What it does about a delegation that failed (rule 10); `None`: as the scenario says.
    pub fallback: Option<Fallback>,
    /// Whether the strategy lets a child open with history of its parent: decides the brief `auto`.
    pub hands_history_down: bool,
    /// How it falls short of the ideal reader (rule 17); the default: in nothing.
    pub profile: ReaderProfile,
}

impl Reader {
    /// The reader of a scenario, with the default brief and the scenario's own fallback. Reads the scenario's texts once:
    /// for many cells of one scenario make one and clone it.
    pub fn new(scenario: Arc<Scenario>) -> Reader {
        Reader {
            tables: Arc::new(Tables::new(scenario)),
            briefing: Briefing::default(),
            fallback: None,
            hands_history_down: false,
            profile: ReaderProfile::default(),
        }
    }

    /// The scenario that it reads.
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.tables.scenario
    }

    /// The markers of its scenario.
    pub fn index(&self) -> &MarkerIndex {
        &self.tables.index
    }
}

impl Model for Reader {
    fn name(&self) -> String {
        self.profile.to_string()
    }

    fn start(&self, seed: u64) -> Box<dyn Agent> {
        let mut conduct = self.tables.scenario.conduct.clone();
        conduct.fallback = self.fallback.unwrap_or(conduct.fallback);
        let asked = match self.briefing {
            Briefing::Same => conduct.brief,
            other => other,
        };
        let briefing = match asked {
            Briefing::Auto if self.hands_history_down => Briefing::Terse,
            Briefing::Auto => Briefing::Known,
            other => other,
        };
        Box::new(Reading {
            index: self.tables.index.for_run(),
            tables: self.tables.clone(),
            manner: Manner { briefing, conduct, seed, profile: self.profile },
            arguments: Arguments::default(),
        })
    }
}

/// How the reader behaves in a run.
struct Manner {
    briefing: Briefing,
    conduct: Conduct,
    seed: u64,
    profile: ReaderProfile,
}

/// What two calls have in common whose arguments say the same: the digest of their normalised text.
type ArgumentsId = Digest;

fn arguments_id(args: &str) -> ArgumentsId {
    Digest::of(&normalised_arguments(args))
}

/// The arguments of calls by content.
#[derive(Default)]
struct Arguments(Mutex<FxHashMap<Digest, ArgumentsId>>);

impl Arguments {
    fn of(&self, part: &Part, tables: &Tables) -> ArgumentsId {
        if let Some(known) = tables.steps.get(&part.digest()) {
            return *known;
        }
        let mut memo = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *memo.entry(part.digest()).or_insert_with(|| arguments_id(part.as_text()))
    }
}

/// The reader in a run. What it keeps from one request to the next is a memo by content; it knows no thread.
struct Reading {
    tables: Arc<Tables>,
    index: MarkerIndex,
    manner: Manner,
    arguments: Arguments,
}

impl Reading {
    fn arguments(&self, part: &Part) -> ArgumentsId {
        self.arguments.of(part, &self.tables)
    }

    fn known(&self, seen: &Seen<'_>) -> Known {
        notice::known(&self.index, &self.manner.profile, self.manner.seed, seen)
    }
}

impl Agent for Reading {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        let sight =
            Sight::new(self, Seen { system: request.system, items: request.items, tokens: request.tokens }, request.tools, request.speak);
        let bound = task::bind(&sight);
        let reply = match &bound {
            _ if request.aside => Ok(Reply::say(answer::summary(&sight, bound.as_ref()))),
            Some(bound) => act(&sight, bound),
            None => Ok(Reply::say(UNKNOWN_TASK)),
        };
        let mut reply = match reply {
            Ok(reply) => reply,
            Err(broken) => return ready(Err(broken)),
        };
        // For the ledger alone, after everything is decided: was the right intent followed? The text cannot tell.
        reply.drift = drift(&self.tables.scenario, &sight, bound.as_ref(), request.intent);
        ready(Ok(reply))
    }
}

/// What the reader does next about the work that it is bound to.
fn act(sight: &Sight<'_>, bound: &Bound<'_>) -> Result<Reply, ModelError> {
    let delegations = Delegations::new(sight, bound);
    let mut reply = delegations
        .pass_corrections_on()
        .or_else(|| delegations.hand_background_out())
        .or_else(|| delegations.take_own_steps())
        .or_else(|| delegations.delegate())
        .or_else(|| delegations.wait_for_all())
        .or_else(|| delegations.follow_up())
        .map_or_else(|| last_words(sight, bound, &delegations), Ok)?;
    reply.rescues = delegations.new_rescues();
    Ok(reply)
}

/// What stands where the answer is due: the answer, or what the scenario lets this intent end with.
fn last_words(sight: &Sight<'_>, bound: &Bound<'_>, delegations: &Delegations<'_, '_>) -> Result<Reply, ModelError> {
    // Whoever takes the work over answers for a turn of its own.
    let ends = match bound.task {
        Task::Intent(intent) => sight.scenario().intents[intent].report.ends,
        Task::FollowUp(..) | Task::Turn(_) => Ends::Answer,
    };
    match ends {
        Ends::Answer => {
            // What is kept elsewhere is whole, whatever limit the answer has.
            let stored = delegations.store(|| answer::answer(sight, bound, delegations, None));
            let limit = limit::words(&sight.items[bound.from]);
            Ok(stored.unwrap_or_else(|| Reply::say(answer::answer(sight, bound, delegations, limit))))
        }
        Ends::Empty => Ok(Reply::say("")),
        Ends::Preamble => Ok(Reply::say(PREAMBLE)),
        Ends::Error => Err(ModelError::of_turn(OVERLOADED)),
        Ends::Never => Ok(delegations.again().unwrap_or_else(|| Reply::say(PREAMBLE))),
    }
}

/// 1 in the first reply of a child's turn that follows a marker of an intent other than the one it was opened for
/// (rule 7), else 0.
fn drift(scenario: &Scenario, sight: &Sight<'_>, bound: Option<&Bound<'_>>, dispatched: Option<&str>) -> u32 {
    let (Some(bound), Some(dispatched)) = (bound, dispatched) else { return 0 };
    let is = |intent: usize| scenario.intents[intent].id == dispatched;
    let on_course = match bound.task {
        Task::Intent(intent) | Task::FollowUp(intent, _) => is(intent),
        Task::Turn(turn) => scenario.turns[turn].work.delegates.iter().any(|&intent| is(intent)),
    };
    u32::from(!on_course && sight.has_not_spoken_since(bound.from))
}
