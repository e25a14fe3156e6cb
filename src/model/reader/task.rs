//! Which work a thread is bound to (rules 6 and 7).

use crate::scenario::marker::Task;
use crate::scenario::{IntentIndex, TopicIndex, Work};
use crate::transcript::{Body, Item, Origin, Role};

use super::sight::Sight;

/// The work that a thread is bound to.
pub(super) struct Bound<'a> {
    /// What the marker names.
    pub task: Task,
    /// Where the item stands that set it: calls before it belong to other work.
    pub from: usize,
    /// Needs, plan and delegations behind the marker.
    pub work: &'a Work,
    /// What the answer must state.
    pub needs: Vec<TopicIndex>,
    /// Follow-ups only: the topics asked for; of the plan, only steps that seek one of them are taken.
    pub asked: Option<Vec<TopicIndex>>,
}

impl Bound<'_> {
    /// The intent that this thread carries out.
    pub fn carries_out(&self) -> Option<IntentIndex> {
        match self.task {
            Task::Intent(intent) | Task::FollowUp(intent, _) => Some(intent),
            Task::Turn(_) => None,
        }
    }
}

/// The work that binds; `None`: the thread finds no task.
pub(super) fn bind<'a>(sight: &Sight<'a>) -> Option<Bound<'a>> {
    let items = sight.items;
    match own_task(items) {
        Some(own) => {
            let newest = items[own].parts().iter().rev().find(|part| !part.as_text().trim().is_empty());
            let tasks = newest.map(|part| sight.index.of_part(part).tasks.clone()).unwrap_or_default();
            if let Some(task) = best(&tasks, true) {
                return Some(bound(sight, task, &tasks, own));
            }
            // The opening ends where the thread itself begins to speak.
            let opening = items[own..].iter().position(|item| item.origin == Origin::Own).map_or(items.len(), |own_at| own + own_at);
            let (task, _) = last_marker(sight, opening, true)?;
            Some(bound(sight, task, &[task], own))
        }
        None => {
            // The root. The newest message of the user that carries a marker sets its work; one without adds knowledge.
            for at in (0..items.len()).rev().filter(|&at| items[at].origin == Origin::User) {
                let tasks = sight.binding(&items[at]);
                if let Some(task) = best(&tasks, false) {
                    return Some(bound(sight, task, &tasks, at));
                }
            }
            let (task, at) = last_marker(sight, items.len(), false)?;
            Some(bound(sight, task, &[task], at))
        }
    }
}

/// The newest item of origin `task` that stands in an opening: before the thread has spoken, or after it had ended a turn.
/// One that arrives between a call and the turn's end (a message to a running child) sets no task.
fn own_task(items: &[Item]) -> Option<usize> {
    (0..items.len()).rev().filter(|&at| items[at].origin == Origin::Task).find(|&at| {
        let before = items[..at].iter().rev().find(|item| item.origin == Origin::Own);
        before.is_none_or(|item| matches!(item.body(), Body::Message { .. }))
    })
}

/// The last marker before a position that stands in a user item; none there: the last anywhere. Markers in tool results
/// never bind. Whoever sets a task speaks as a user, in whatever form the protocol sends it.
fn last_marker(sight: &Sight<'_>, until: usize, in_child: bool) -> Option<(Task, usize)> {
    let is_user = |item: &Item| item.role() == Some(Role::User) || item.origin == Origin::Task;
    let binds = |item: &Item| !matches!(item.body(), Body::Result { .. }) && item.role() != Some(Role::Tool) && item.is_sent();
    let last = |among: &dyn Fn(&Item) -> bool| {
        (0..until).rev().filter(|&at| among(&sight.items[at])).find_map(|at| {
            let tasks = sight.binding(&sight.items[at]);
            Some((nearest(sight, &tasks, in_child)?, at))
        })
    };
    last(&is_user).or_else(|| last(&binds)).or_else(|| {
        let tasks = sight.system.map(|part| sight.index.of_part(part).tasks.clone()).unwrap_or_default();
        Some((nearest(sight, &tasks, in_child)?, 0))
    })
}

/// The last of these markers. Where one text is the marker of a user turn and of an intent, a child takes the intent and
/// the root the turn.
fn nearest(sight: &Sight<'_>, tasks: &[Task], in_child: bool) -> Option<Task> {
    let scenario = sight.scenario();
    let last = tasks.iter().rev().find(|task| !matches!(task, Task::FollowUp(..)))?;
    let marker = |task: &Task| match *task {
        Task::Turn(turn) => &scenario.turns[turn].work.marker,
        Task::Intent(intent) | Task::FollowUp(intent, _) => &scenario.intents[intent].work.marker,
    };
    let preferred = |task: &&Task| matches!(task, Task::Intent(_)) == in_child && marker(task) == marker(last);
    Some(*tasks.iter().rev().filter(|task| !matches!(task, Task::FollowUp(..))).find(preferred).unwrap_or(last))
}

/// The marker that binds among those of one message: a child is bound by a follow-up, else by an intent, else by a user
/// turn; the root by a user turn, else by an intent.
fn best(tasks: &[Task], in_child: bool) -> Option<Task> {
    let last = |kind: fn(&Task) -> bool| tasks.iter().rev().copied().find(kind);
    let turn = || last(|task| matches!(task, Task::Turn(_)));
    let intent = || last(|task| matches!(task, Task::Intent(_)));
    match in_child {
        true => last(|task| matches!(task, Task::FollowUp(..))).or_else(intent).or_else(turn),
        false => turn().or_else(intent),
    }
}

fn bound<'a>(sight: &Sight<'a>, task: Task, tasks: &[Task], from: usize) -> Bound<'a> {
    let scenario = sight.scenario();
    let mut needs: Vec<TopicIndex> = Vec::with_capacity(8);
    let mut add = |topics: &[TopicIndex]| {
        for &topic in topics {
            if !needs.contains(&topic) {
                needs.push(topic);
            }
        }
    };
    match task {
        Task::Turn(turn) => {
            let work = &scenario.turns[turn].work;
            add(&work.needs);
            work.delegates.iter().for_each(|&intent| add(&scenario.intents[intent].work.needs));
            Bound { task, from, work, needs, asked: None }
        }
        Task::Intent(intent) => {
            let work = &scenario.intents[intent].work;
            add(&work.needs);
            Bound { task, from, work, needs, asked: None }
        }
        Task::FollowUp(intent, _) => {
            let spec = &scenario.intents[intent];
            for one in tasks {
                if let Task::FollowUp(of, nth) = one
                    && *of == intent
                {
                    add(&[spec.follow_ups[*nth].topic]);
                }
            }
            Bound { task, from, work: &spec.work, asked: Some(needs.clone()), needs }
        }
    }
}
