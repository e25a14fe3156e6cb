//! Threads, links and spend become sessions in one fixed order.

use std::sync::Arc;

use rustc_hash::FxHashMap as HashMap;

use crate::import::{Delegation, Report, Session, Source, context_size};

use super::block::Block;
use super::link::{Linked, link};
use super::outcome::Notice;
use super::row::{ForkRef, Kind, Row};
use super::spend;
use super::steps;
use super::thread::{Worked, work};
use super::threads::{FileInfo, Identity, split};

/// All records of an import.
pub struct Recording<'a> {
    /// The records.
    pub rows: &'a [Row],
    /// Their files.
    pub files: &'a [FileInfo],
    /// Notices on background tasks, with their sessions.
    pub notices: &'a [(Option<Arc<str>>, Notice)],
    /// Histories by reference.
    pub forks: &'a [ForkRef],
    /// Whether steps are wanted.
    pub steps: bool,
}

impl Recording<'_> {
    /// The sessions: parents before children, roots in order of files, children in order of their calls.
    pub fn sessions(&self, report: &mut Report) -> Vec<Session> {
        let mut worked = work(split(self.rows, self.files, report), self.rows, report);
        let linked = link(&worked, self.rows, self.notices);
        spend::correct(&mut worked, &linked, self.rows);
        report.estimated_usage += spend::estimate(&mut worked);
        report.opaque_items += worked.iter().flat_map(|one| &one.ordered.rows).map(|&at| opaque_items(&self.rows[at])).sum::<u64>();

        let parents = self.parents(&worked, &linked);
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); worked.len()];
        let mut placed = vec![false; worked.len()];
        for child in linked.iter().filter_map(|one| one.child) {
            // A child that was called again stands where it was called first.
            if let (Some(above), false) = (parents[child], std::mem::replace(&mut placed[child], true)) {
                children[above].push(child);
            }
        }
        let mut unknown = vec![0; worked.len()];
        for one in linked.iter().filter(|one| spend::is_unknown_child(one)) {
            unknown[one.thread] += 1;
        }
        let own: Vec<_> = worked.iter().map(spend::own).collect();
        let inclusive = spend::inclusive(&own, &children, &unknown);

        // Children without a call come after those with one.
        let mut is_linked = vec![false; worked.len()];
        let mut mine: Vec<Vec<&Linked>> = vec![Vec::new(); worked.len()];
        for one in &linked {
            mine[one.thread].push(one);
            if let Some(child) = one.child {
                is_linked[child] = true;
            }
        }
        for at in 0..worked.len() {
            if let (false, Some(above)) = (is_linked[at], parents[at]) {
                children[above].push(at);
            }
        }
        let sequence = sequence(&parents, &children);
        let mut places = vec![0; worked.len()];
        for (place, &at) in sequence.iter().enumerate() {
            places[at] = place;
        }
        sequence
            .iter()
            .map(|&at| {
                let one = &worked[at];
                let mine = &mine[at];
                let (reference, by_reference) = self.reference(one);
                let last = one.responses.iter().rev().find(|response| !response.rewound).or(one.responses.last());
                let info = &self.files[one.thread.file];
                Session {
                    id: one.thread.id.clone(),
                    source: Source::ClaudeCode,
                    version: info.version.as_deref().map(str::to_owned),
                    file: info.shown.clone(),
                    folder: info.folder.as_deref().map(str::to_owned),
                    parent: self.parent_id(one, parents[at].map(|above| &worked[above])),
                    parent_at: parents[at].map(|above| places[above]),
                    agent: self.agent(one),
                    responses: one.responses.len() as u64,
                    spend: own[at],
                    inclusive: inclusive[at],
                    final_context: last.and_then(|response| context_size(&response.usage?)),
                    inherited_items: by_reference + copied(one, self.rows),
                    inherited: if self.steps { steps::inherited(one, &reference, self.rows) } else { vec![] },
                    delegations: mine.iter().map(|linked| self.delegation(linked, &worked, &places)).collect(),
                    steps: if self.steps { steps::steps(one, mine, self.rows) } else { vec![] },
                    rewound: one.responses.iter().filter(|response| response.rewound).count() as u64,
                }
            })
            .collect()
    }

    /// The imported parent of each thread: the calling one, else the session that it belongs to.
    fn parents(&self, worked: &[Worked], linked: &[Linked]) -> Vec<Option<usize>> {
        let mut mains: HashMap<&str, usize> = HashMap::default();
        for (at, one) in worked.iter().enumerate() {
            if let Identity::Main(id) = &one.thread.identity {
                mains.insert(id, at);
            }
        }
        let mut parents: Vec<Option<usize>> = vec![None; worked.len()];
        for one in linked {
            if let Some(child) = one.child {
                parents[child] = parents[child].or(Some(one.thread));
            }
        }
        for (at, one) in worked.iter().enumerate().filter(|(_, one)| one.thread.is_child()) {
            parents[at] = parents[at].or_else(|| mains.get(&*one.thread.family).copied());
        }
        parents
    }

    fn parent_id(&self, one: &Worked, parent: Option<&Worked>) -> Option<String> {
        match parent {
            Some(parent) => Some(parent.thread.id.clone()),
            None => one.thread.is_child().then(|| one.thread.family.to_string()),
        }
    }

    fn agent(&self, one: &Worked) -> Option<String> {
        let info = &self.files[one.thread.file];
        let meta = info.meta.as_ref().and_then(|meta| meta.agent_type.clone());
        meta.or_else(|| info.agent_kind.as_deref().map(str::to_owned)).filter(|_| one.thread.is_child())
    }

    /// The history that a fork has by reference: as many records up from the last one as it says.
    fn reference(&self, one: &Worked) -> (Vec<usize>, u64) {
        let Identity::Agent(family, agent) = &one.thread.identity else { return (vec![], 0) };
        let is_mine = |fork: &&ForkRef| fork.agent.as_ref() == Some(agent) && fork.session.as_ref().is_none_or(|id| id == family);
        let Some(fork) = self.forks.iter().find(is_mine) else { return (vec![], 0) };
        let mut found = Vec::new();
        if self.steps {
            let places: HashMap<_, _> = self
                .rows
                .iter()
                .enumerate()
                .rev()
                .filter(|(_, row)| row.copy_of.is_none())
                .filter_map(|(at, row)| Some((row.uuid?, at)))
                .collect();
            let mut here = fork.last.and_then(|uuid| places.get(&uuid).copied());
            while let Some(at) = here.filter(|_| (found.len() as u64) < fork.length) {
                found.push(at);
                here = match self.rows[at].parent {
                    super::row::Parent::To(uuid) => places.get(&uuid).copied().filter(|above| !found.contains(above)),
                    _ => None,
                };
            }
            found.reverse();
        }
        (found, fork.length)
    }

    fn delegation(&self, one: &Linked, worked: &[Worked], places: &[usize]) -> Delegation {
        let site = &worked[one.thread].calls[one.call];
        let call = site.block(self.rows);
        let task = call.and_then(|call| call.task.as_deref()).cloned().unwrap_or_default();
        let outcome = site.answer(self.rows).and_then(|(row, _)| row.outcome.as_deref());
        let named = outcome.and_then(|outcome| outcome.agent.as_deref().map(str::to_owned));
        Delegation {
            call_id: call.map(|call| call.id.to_string()).unwrap_or_default(),
            kind: call.map(|call| call.name.to_string()).unwrap_or_default(),
            child: one.child.map(|child| worked[child].thread.id.clone()).or(named),
            child_at: one.child.map(|child| places[child]),
            link: one.link,
            confidence: one.confidence,
            status: one.status,
            title: task.title,
            prompt: task.prompt.unwrap_or_default(),
            subagent_type: task.subagent_type,
            background: task.background || outcome.is_some_and(|outcome| outcome.background),
            final_context: outcome.and_then(|outcome| outcome.final_context),
            returned: one.returned.clone(),
        }
    }
}

/// Each thread after its parent: depth first, children in the given order.
fn sequence(parents: &[Option<usize>], children: &[Vec<usize>]) -> Vec<usize> {
    let mut sequence = Vec::with_capacity(parents.len());
    let mut todo: Vec<usize> = (0..parents.len()).rev().filter(|&at| parents[at].is_none()).collect();
    while let Some(at) = todo.pop() {
        sequence.push(at);
        todo.extend(children[at].iter().rev());
    }
    sequence
}

/// Conversation records that were copied into a thread.
fn copied(one: &Worked, rows: &[Row]) -> u64 {
    let is_copy = |place: &usize| one.inherited[*place] && matches!(rows[one.ordered.rows[*place]].kind, Kind::User | Kind::Assistant);
    (0..one.ordered.rows.len()).filter(is_copy).count() as u64
}

fn opaque_items(row: &Row) -> u64 {
    row.blocks
        .iter()
        .map(|block| match block {
            Block::Opaque(_) => 1,
            Block::Result(result) => result.opaque,
            _ => 0,
        })
        .sum()
}
