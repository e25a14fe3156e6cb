//! Delegations: which call opened which child, and how that is known.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::import::{Confidence, Link, Status};
use crate::transcript::Digest;

use super::block::{Block, said};
use super::outcome::{Notice, Outcome};
use super::row::{Kind, Row};
use super::thread::{Site, Worked};
use super::threads::Identity;

/// A delegating call of a thread's own part.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The thread that called.
    pub thread: usize,
    /// Which of its calls.
    pub call: usize,
    /// The child, where it was imported.
    pub child: Option<usize>,
    /// How.
    pub link: Link,
    /// How sure.
    pub confidence: Confidence,
    /// What became of it.
    pub status: Status,
    /// What it returned, as the parent has it.
    pub returned: Option<String>,
}

/// Finds all delegations, in order of threads and calls, and links them to the threads that they opened.
pub fn link(worked: &[Worked], rows: &[Row], notices: &[(Option<Arc<str>>, Notice)]) -> Vec<Linked> {
    let mut linker = Linker { worked, rows, all: vec![], parents: HashMap::default() };
    linker.collect(notices);
    linker.by_tool_use_id();
    linker.by_agent_id();
    linker.by_prompt();
    linker.by_order();
    linker.all
}

struct Linker<'a> {
    worked: &'a [Worked],
    rows: &'a [Row],
    all: Vec<Linked>,
    /// The calling thread of each child that is linked.
    parents: HashMap<usize, usize>,
}

impl<'a> Linker<'a> {
    fn collect(&mut self, notices: &[(Option<Arc<str>>, Notice)]) {
        let ends = Ends::find(self.worked, self.rows, notices);
        for (thread, worked) in self.worked.iter().enumerate() {
            for (call, site) in worked.calls.iter().enumerate() {
                let is_task = site.own && site.block(self.rows).is_some_and(|call| call.task.is_some());
                if is_task {
                    let (status, returned) = self.end(&worked.thread.family, site, &ends);
                    self.all.push(Linked {
                        thread,
                        call,
                        child: None,
                        link: Link::Unresolved,
                        confidence: Confidence::None,
                        status,
                        returned,
                    });
                }
            }
        }
    }

    fn end(&self, family: &Arc<str>, site: &Site, ends: &Ends) -> (Status, Option<String>) {
        let Some((row, result)) = site.answer(self.rows) else { return (Status::Running, None) };
        if result.failed || row.outcome_is_text {
            return (Status::Failed, None);
        }
        let outcome = row.outcome.as_deref();
        if let Some(outcome) = outcome.filter(|outcome| outcome.background) {
            let by_call = site.block(self.rows).and_then(|call| ends.calls.get(&(family.clone(), call.id.to_string())));
            let by_agent = || outcome.agent.as_ref().and_then(|agent| ends.agents.get(&(family.clone(), agent.to_string())));
            return by_call.or_else(by_agent).cloned().unwrap_or((Status::Launched, None));
        }
        let told = outcome.and_then(|outcome| outcome.text.as_ref()).map(|part| part.as_text().to_owned());
        let read = || result.parts.iter().map(crate::transcript::Part::as_text).collect::<String>();
        (Status::Completed, told.or_else(|| Some(read()).filter(|text| !text.is_empty())))
    }

    fn site(&self, linked: &Linked) -> &'a Site {
        &self.worked[linked.thread].calls[linked.call]
    }

    fn outcome(&self, linked: &Linked) -> Option<&'a Outcome> {
        self.site(linked).answer(self.rows)?.0.outcome.as_deref()
    }

    /// The child's own records say which call opened it. Ids may repeat: then each call takes the next child.
    fn by_tool_use_id(&mut self) {
        let mut calls: HashMap<(Arc<str>, &str), VecDeque<usize>> = HashMap::default();
        for (at, linked) in self.all.iter().enumerate() {
            if let Some(call) = self.site(linked).block(self.rows) {
                calls.entry((self.worked[linked.thread].thread.family.clone(), &call.id)).or_default().push_back(at);
            }
        }
        for child in 0..self.worked.len() {
            let thread = &self.worked[child].thread;
            let Some(call) = &thread.opened_by else { continue };
            let Some(waiting) = calls.get_mut(&(thread.family.clone(), call)) else { continue };
            if let Some(at) = waiting.pop_front() {
                self.set(at, child, Link::ToolUseId, Confidence::Exact);
            }
        }
    }

    /// The call's result names the child. A child may be called again, so it may have several calls.
    fn by_agent_id(&mut self) {
        let mut agents: HashMap<(&str, &str), usize> = HashMap::default();
        for (at, worked) in self.worked.iter().enumerate() {
            if let Identity::Agent(family, agent) = &worked.thread.identity {
                agents.insert((family, agent), at);
            }
        }
        for at in 0..self.all.len() {
            let linked = &self.all[at];
            if linked.child.is_some() {
                continue;
            }
            let family: &str = &self.worked[linked.thread].thread.family;
            let agent = self.outcome(linked).and_then(|outcome| outcome.agent.as_deref());
            if let Some(&child) = agent.and_then(|agent| agents.get(&(family, agent))) {
                self.set(at, child, Link::AgentId, Confidence::Exact);
            }
        }
    }

    /// A child opens with its task: equal text links it, if only one open call has that text; several with the same text
    /// are told apart by what came back, else by order.
    fn by_prompt(&mut self) {
        let mut calls: HashMap<(Arc<str>, Digest), Vec<usize>> = HashMap::default();
        for (at, linked) in self.all.iter().enumerate() {
            if let (true, Some(prompt)) = (self.is_free(linked), self.prompt(linked)) {
                calls.entry((self.worked[linked.thread].thread.family.clone(), prompt)).or_default().push(at);
            }
        }
        let mut by_order: HashSet<Digest> = HashSet::default();
        for child in self.unlinked_children() {
            let Some((opening, text)) = self.opening(child) else { continue };
            let Some(same) = calls.get_mut(&(self.worked[child].thread.family.clone(), text)) else { continue };
            let candidates: Vec<usize> = same.iter().copied().filter(|&at| self.all[at].thread != child).collect();
            let Some((chosen, sure)) = self.choose(&candidates, child, opening) else { continue };
            same.retain(|&at| at != chosen);
            if sure && !by_order.contains(&text) {
                self.set(chosen, child, Link::Prompt, Confidence::High);
            } else {
                by_order.insert(text);
                self.set(chosen, child, Link::Order, Confidence::Low);
            }
        }
    }

    /// What is left: an inline child that began while a call was open, told by what came back or by position alone.
    fn by_order(&mut self) {
        let mut openings: BTreeMap<usize, usize> = BTreeMap::new();
        for child in self.unlinked_children() {
            if matches!(self.worked[child].thread.identity, Identity::Inline(..))
                && let Some(&opening) = self.worked[child].thread.rows.first()
            {
                openings.insert(opening, child);
            }
        }
        let mut begins: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, linked) in self.all.iter().enumerate() {
            if self.is_free(linked) && linked.status != Status::Failed {
                begins.entry(self.site(linked).call.0).or_default().push(at);
            }
        }
        let mut begins = begins.into_iter().peekable();
        let mut open: Vec<usize> = Vec::new();
        for (opening, child) in openings {
            while let Some((_, calls)) = begins.next_if(|(row, _)| *row < opening) {
                open.extend(calls);
            }
            open.retain(|&at| self.is_open(&self.all[at], opening));
            let other = |at: &usize| self.all[*at].thread != child;
            let returned = open.iter().copied().filter(other).find(|&at| self.returned(&self.all[at], child));
            if let Some(at) = returned.or(open.iter().copied().find(other)) {
                open.retain(|&one| one != at);
                self.set(at, child, Link::Order, Confidence::Low);
            }
        }
    }

    /// The call to take, and whether it is the only one that it can be.
    fn choose(&self, candidates: &[usize], child: usize, opening: usize) -> Option<(usize, bool)> {
        let inline = matches!(self.worked[child].thread.identity, Identity::Inline(..));
        let good = |at: &usize| self.all[*at].status != Status::Failed;
        let open = |at: &usize| !inline || self.is_open(&self.all[*at], opening);
        // A failed call opened no child as a rule; one that was interrupted did.
        let tiers: [&dyn Fn(&usize) -> bool; 3] = [&|at| good(at) && open(at), &good, &|_| true];
        for tier in tiers {
            let here: Vec<usize> = candidates.iter().copied().filter(|at| tier(at)).collect();
            match here[..] {
                [] => {}
                [only] => return Some((only, true)),
                [first, ..] => {
                    let returned: Vec<usize> = here.into_iter().filter(|&at| self.returned(&self.all[at], child)).collect();
                    return Some(match returned[..] {
                        [only] => (only, true),
                        [early, ..] => (early, false),
                        [] => (first, false),
                    });
                }
            }
        }
        None
    }

    fn unlinked_children(&self) -> Vec<usize> {
        let free = |&at: &usize| self.worked[at].thread.is_child() && !self.parents.contains_key(&at);
        (0..self.worked.len()).filter(free).collect()
    }

    /// A call without a child that names none either: a call that names its child has no other.
    fn is_free(&self, linked: &Linked) -> bool {
        linked.child.is_none() && self.outcome(linked).is_none_or(|outcome| outcome.agent.is_none())
    }

    fn prompt(&self, linked: &Linked) -> Option<Digest> {
        self.site(linked).block(self.rows)?.task.as_ref()?.prompt.as_deref().map(Digest::of)
    }

    /// The first prompt of a child: its record and its text.
    fn opening(&self, child: usize) -> Option<(usize, Digest)> {
        let (at, row) = self.worked[child].own_rows(self.rows).find(|(_, row)| row.kind == Kind::User && !row.meta)?;
        row.blocks.iter().find_map(|block| match block {
            Block::Text(part) => Some((at, part.digest())),
            _ => None,
        })
    }

    /// Whether a call had been made and not been answered when a record of the same file was written.
    fn is_open(&self, linked: &Linked, at: usize) -> bool {
        let site = self.site(linked);
        self.rows[site.call.0].file == self.rows[at].file && site.call.0 < at && site.result.is_none_or(|(result, _)| result > at)
    }

    /// Whether the call's result is the child's last text.
    fn returned(&self, linked: &Linked, child: usize) -> bool {
        let Some((row, result)) = self.site(linked).answer(self.rows) else { return false };
        let last = self.worked[child].own_rows(self.rows).rev().find_map(|(_, row)| {
            let text = row.blocks.iter().rev().find_map(|block| match block {
                Block::Text(part) => Some(part.as_text().trim()),
                _ => None,
            });
            text.filter(|text| row.kind == Kind::Assistant && !text.is_empty())
        });
        let told = row.outcome.as_ref().and_then(|outcome| outcome.text.as_ref()).map(|part| said(part.as_text())).or(result.said);
        last.is_some() && told == last.map(said)
    }

    /// Links, unless that would make a thread its own ancestor.
    fn set(&mut self, at: usize, child: usize, link: Link, confidence: Confidence) {
        let mut above = Some(self.all[at].thread);
        while let Some(thread) = above {
            if thread == child {
                return;
            }
            above = self.parents.get(&thread).copied();
        }
        let linked = &mut self.all[at];
        (linked.child, linked.link, linked.confidence) = (Some(child), link, confidence);
        self.parents.entry(child).or_insert(linked.thread);
    }
}

/// How background children ended, by session and call and by session and agent.
#[derive(Default)]
struct Ends {
    calls: HashMap<(Arc<str>, String), (Status, Option<String>)>,
    agents: HashMap<(Arc<str>, String), (Status, Option<String>)>,
}

impl Ends {
    fn find(worked: &[Worked], rows: &[Row], notices: &[(Option<Arc<str>>, Notice)]) -> Ends {
        let mut ends = Ends::default();
        for (session, notice) in notices {
            ends.notice(session.as_ref(), notice);
        }
        for one in worked {
            let family = &one.thread.family;
            for (_, row) in one.own_rows(rows) {
                if let Some(notice) = &row.notice {
                    ends.notice(Some(family), notice);
                }
            }
            for site in &one.calls {
                let Some(agent) = site.block(rows).and_then(|call| call.collects.clone()) else { continue };
                let said = site.answer(rows).and_then(|(row, _)| row.outcome.as_ref()?.task_status.clone());
                if let Some(status) = said.and_then(|status| ended(Some(&status))) {
                    let answer = site.answer(rows).map(|(_, result)| result.parts.iter().map(crate::transcript::Part::as_text).collect());
                    ends.agents.entry((family.clone(), agent.into())).or_insert((status, answer));
                }
            }
        }
        ends
    }

    fn notice(&mut self, session: Option<&Arc<str>>, notice: &Notice) {
        let (Some(session), Some(status)) = (session, ended(notice.status.as_deref())) else { return };
        let end = (status, notice.result.clone().filter(|_| status == Status::Completed));
        if let Some(call) = &notice.call {
            self.calls.insert((session.clone(), call.clone()), end.clone());
        }
        if let Some(task) = &notice.task {
            self.agents.insert((session.clone(), task.clone()), end);
        }
    }
}

/// What a background task's state means; `None`: it goes on.
fn ended(status: Option<&str>) -> Option<Status> {
    match status {
        Some("running" | "pending" | "started" | "async_launched" | "not_ready" | "timeout") => None,
        Some("failed" | "error" | "killed" | "stopped" | "cancelled" | "canceled") => Some(Status::Failed),
        _ => Some(Status::Completed),
    }
}
