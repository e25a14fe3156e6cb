//! What passes: each child's first request, what the root's later requests gained, lost or changed, the numbers of tools.

use std::collections::BTreeSet;

use crate::transcript::Part;

use super::super::difference::Difference;
use super::super::json::Json;
use super::align::{Step, align};
use super::entry::{Entry, Placed};
use super::family::Family;
use super::file::Request;
use super::judge::{Fault, Judge, Pair};
use super::plan::Plan;
use super::play::{Played, Sent, part_json};
use super::text::Text;
use super::threads::Threads;

/// Where a run differs from the recorded one. `scaffold`: the strategy shows as many tools as its client.
pub(super) fn differences(threads: &Threads, plan: &Plan, played: &Played, scaffold: bool) -> Vec<Difference> {
    let mut found = Found { judge: Judge::default(), scaffold, uncalled: None, told: BTreeSet::new(), differences: Vec::new() };
    // The first request from which on the root is compared: what came before opened nobody.
    let first = plan.openings.iter().map(|opening| opening.request).min().unwrap_or(threads.root.len());
    let mut children = 0;
    for (at, recorded) in threads.root.iter().enumerate() {
        match played.root.get(at) {
            Some(sent) if at < first => found.learn(recorded, sent),
            Some(sent) => found.request(recorded, "root", sent),
            None => found.differences.push(whole(&place(recorded, "root"), Some(recorded), None)),
        }
        // A child is judged by what its parent held when it was opened.
        while let Some(child) = plan.openings.get(children).filter(|opening| opening.request <= at).and(threads.children.get(children)) {
            match (child.first(), played.children.get(children)) {
                (Some(recorded), Some(sent)) => found.request(recorded, "child", sent),
                (Some(recorded), None) => found.differences.push(whole(&place(recorded, "child"), Some(recorded), None)),
                (None, _) => {}
            }
            children += 1;
        }
    }
    let family = threads.root.first().map_or(Family::Chat, |request| request.family);
    // A recording may end before the run does; but whoever was opened in it is in it.
    for sent in played.children.iter().skip(threads.children.len()) {
        found.differences.push(Difference::new("a further child", None, Some(&Json::List(items(family, &sent.entries)))));
    }
    if let Some(failure) = &played.failure {
        found.differences.push(Difference::new("the run", Some(&"comes to its end".into()), Some(&failure.as_str().into())));
    }
    found.differences
}

/// The items of a run's request as the file writes them.
pub(super) fn items(family: Family, entries: &[Entry<Part>]) -> Vec<Json> {
    let entries: Vec<Entry<Json>> = entries.iter().map(|entry| entry.map(part_json)).collect();
    family.write(&entries)
}

fn recorded_items(family: Family, entries: &[Placed<Text>]) -> Vec<Json> {
    let entries: Vec<Entry<Json>> = entries.iter().map(|placed| placed.entry.map(Text::json)).collect();
    family.write(&entries)
}

fn place(request: &Request, whose: &str) -> String {
    format!("request {} ({whose})", request.n)
}

fn whole(path: &str, recorded: Option<&Request>, sent: Option<&Json>) -> Difference {
    let recorded = recorded.map(|request| Json::List(recorded_items(request.family, &request.entries)));
    Difference::new(path, recorded.as_ref(), sent)
}

struct Found {
    judge: Judge,
    scaffold: bool,
    /// The application's tools that nobody called.
    uncalled: Option<u64>,
    /// Differences that a request of the root had already: it has them in every later one.
    told: BTreeSet<(String, String, String)>,
    differences: Vec<Difference>,
}

impl Found {
    fn aligned(&self, recorded: &Request, sent: &Sent) -> Vec<Step> {
        align(
            (recorded.entries.len(), sent.entries.len()),
            |i, j| self.judge.alike(pair(recorded, i, sent, j)),
            |i, j| self.judge.faults(pair(recorded, i, sent, j)).is_some(),
        )
    }

    /// Remembers which parts of a request stand for which prose.
    fn learn(&mut self, recorded: &Request, sent: &Sent) {
        self.uncalled(recorded, "root", sent);
        self.learn_along(&self.aligned(recorded, sent), recorded, sent);
    }

    fn learn_along(&mut self, steps: &[Step], recorded: &Request, sent: &Sent) {
        for step in steps {
            if let Step::Same(i, j) = *step {
                self.judge.learn(&recorded.entries[i].entry, &sent.entries[j]);
            }
        }
        if let (Some(system), Some(part)) = (&recorded.system, &sent.system) {
            self.judge.learn_part(&key(system), part);
        }
    }

    fn request(&mut self, recorded: &Request, whose: &str, sent: &Sent) {
        let request = place(recorded, whose);
        let steps = self.aligned(recorded, sent);
        let mut found = self.system(recorded, sent);
        for &step in &steps {
            found.extend(self.step(step, recorded, sent));
        }
        if !self.counts_agree(recorded, whose, sent) {
            let json = |count: u64| Json::from(usize::try_from(count).unwrap_or(usize::MAX));
            found.push(Fault::new("tools.count", Some(json(recorded.tools)), Some(json(sent.tools))));
        }
        for difference in found.into_iter().map(|fault| fault.difference(&request)) {
            let at = difference.path.get(request.len()..).unwrap_or_default().to_owned();
            if whose != "root" || self.told.insert((at, difference.expected.clone(), difference.got.clone())) {
                self.differences.push(difference);
            }
        }
        self.learn_along(&steps, recorded, sent);
    }

    /// Whether a request shows as many tools as the recorded one. Without a scaffold the tools are the application's, of
    /// which those are known that were called: there may be others in every request of the root, and then in a child's too.
    fn counts_agree(&mut self, recorded: &Request, whose: &str, sent: &Sent) -> bool {
        let uncalled = self.uncalled(recorded, whose, sent);
        match whose {
            _ if self.scaffold => sent.tools == recorded.tools,
            "child" if uncalled > 0 => sent.tools <= recorded.tools,
            "child" => sent.tools == recorded.tools,
            _ => sent.tools.saturating_add(uncalled) == recorded.tools,
        }
    }

    /// The application's tools that nobody called, as the root's first request shows them.
    fn uncalled(&mut self, recorded: &Request, whose: &str, sent: &Sent) -> u64 {
        let more = recorded.tools.saturating_sub(sent.tools);
        if whose == "root" { *self.uncalled.get_or_insert(more) } else { self.uncalled.unwrap_or_default() }
    }

    /// What one step through the entries shows.
    fn step(&self, step: Step, recorded: &Request, sent: &Sent) -> Vec<Fault> {
        match step {
            Step::Same(..) => vec![],
            Step::Missing(i, _) => {
                let placed = &recorded.entries[i];
                let item = recorded_items(recorded.family, std::slice::from_ref(placed)).into_iter().next();
                vec![Fault::new(&placed.at, item, None)]
            }
            Step::Extra(j, before) => {
                let at = recorded.entries.get(before).map_or("at the end".to_owned(), |placed| format!("before {}", placed.at));
                vec![Fault::new(&at, None, items(recorded.family, std::slice::from_ref(&sent.entries[j])).into_iter().next())]
            }
            Step::Changed(i, j) => self.judge.faults(pair(recorded, i, sent, j)).unwrap_or_default(),
        }
    }

    /// The system text outside the items: one block is compared as a text, several as one whole.
    fn system(&self, recorded: &Request, sent: &Sent) -> Vec<Fault> {
        let name = if recorded.family == Family::Responses { "instructions" } else { "system" };
        let fault = match (&recorded.system, &sent.system) {
            (None, None) => None,
            (Some(blocks), Some(part)) => {
                if let [one] = blocks.as_slice() {
                    self.judge.text_fault(one, part, name)
                } else if let Some(text) = blocks.iter().map(Text::plain).collect::<Option<Vec<&str>>>() {
                    self.judge.text_fault(&Text::Plain(text.concat()), part, name)
                } else {
                    self.judge.blocks_fault(blocks, &key(blocks), part).map(|wanted| Fault::new(name, Some(wanted), Some(part_json(part))))
                }
            }
            (blocks, part) => {
                let blocks = blocks.as_ref().map(|blocks| Json::List(blocks.iter().map(Text::json).collect()));
                Some(Fault::new(name, blocks, part.as_ref().map(part_json)))
            }
        };
        fault.into_iter().collect()
    }
}

fn pair<'a>(recorded: &'a Request, i: usize, sent: &'a Sent, j: usize) -> Pair<'a> {
    Pair { recorded: &recorded.entries[i], all_recorded: &recorded.entries, given: &sent.entries[j], sent }
}

/// What stands for a system text of several blocks: the digests of all.
fn key(blocks: &[Text]) -> String {
    let sha = |text: &Text| match text {
        Text::Plain(text) => text.clone(),
        Text::Long(long) => long.sha.clone(),
        Text::Scaffold(scaffold) => scaffold.sha.clone(),
    };
    blocks.iter().map(sha).collect::<Vec<_>>().join(" ")
}
