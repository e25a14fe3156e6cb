//! The next steps of a plan (rule 4).

use smallvec::{SmallVec, smallvec};

use crate::model::CallDraft;
use crate::scenario::marker::Task;
use crate::scenario::{IntentIndex, Step, TopicIndex};

use super::ArgumentsId;
use super::sight::Sight;

/// Steps of a plan, in order: most plans are short.
pub(super) type Steps<'a> = SmallVec<[Planned<'a>; 4]>;

/// A step with what its arguments say.
#[derive(Clone, Copy)]
pub(super) struct Planned<'a> {
    pub step: &'a Step,
    arguments: ArgumentsId,
}

impl Planned<'_> {
    /// Whether its call stands in the visible text with a result that is no error.
    pub fn is_completed(&self, sight: &Sight<'_>) -> bool {
        sight.stands(&self.step.tool, self.arguments).completed
    }

    /// Whether it could be taken: its tool is shown, it does not stand completed, and it has not failed twice.
    fn is_open(&self, sight: &Sight<'_>) -> bool {
        let stands = sight.stands(&self.step.tool, self.arguments);
        !stands.completed && stands.failures < 2 && sight.shows(&self.step.tool)
    }

    /// Whether something that it is taken for is unknown. What seeks nothing is wanted for itself, once: not while somebody
    /// else's call of it is under way.
    fn is_wanted(&self, sight: &Sight<'_>) -> bool {
        match self.step.seeks.as_slice() {
            [] => !sight.stands(&self.step.tool, self.arguments).under_way,
            seeks => seeks.iter().any(|&topic| !sight.known.has(topic)),
        }
    }

    /// The call.
    pub fn call(&self) -> CallDraft {
        CallDraft::tool(self.step.tool.as_str(), self.step.args.as_str())
    }
}

/// The plan of a user turn or of an intent.
pub(super) fn plan<'a>(sight: &Sight<'a>, task: Task) -> Steps<'a> {
    let tables = sight.tables;
    let (work, arguments) = match task {
        Task::Turn(turn) => (&tables.scenario.turns[turn].work, &tables.turns[turn]),
        Task::Intent(intent) | Task::FollowUp(intent, _) => (&tables.scenario.intents[intent].work, &tables.intents[intent]),
    };
    work.plan.iter().zip(arguments).map(|(step, &arguments)| Planned { step, arguments }).collect()
}

/// The plan of an intent; where only some topics are asked for, the steps that seek one of them.
pub(super) fn plan_of_intent<'a>(sight: &Sight<'a>, intent: IntentIndex, asked: Option<&[TopicIndex]>) -> Steps<'a> {
    let mut steps = plan(sight, Task::Intent(intent));
    if let Some(asked) = asked {
        steps.retain(|planned: &mut Planned<'_>| planned.step.seeks.iter().any(|topic| asked.contains(topic)));
    }
    steps
}

/// What to call now: the first step that is open and wanted, with its whole parallel group. Empty: the plan is through.
pub(super) fn next<'a>(sight: &Sight<'_>, plan: &[Planned<'a>]) -> Steps<'a> {
    let Some(first) = plan.iter().position(|planned| planned.is_open(sight) && planned.is_wanted(sight)) else { return Steps::new() };
    let Some(group) = &plan[first].step.parallel else { return smallvec![plan[first]] };
    let in_group = |planned: &&Planned<'a>| planned.step.parallel.as_ref() == Some(group);
    let before = plan[..first].iter().rev().take_while(in_group).count();
    plan[first - before..].iter().take_while(in_group).filter(|planned| planned.is_open(sight)).copied().collect()
}
