//! Two cells of one scenario, model and seed beside each other: what each strategy sent to the same child.

use indexmap::IndexMap;
use serde::Serialize;

use crate::results::{CellResult, FailureNote, Number, TokensByOrigin};
use crate::transcript::{Origin, Role};

use super::shown::{Shown, ShownArrival, ShownExchange, ShownItem, ShownRequest, ShownThread};

/// The version of `show --vs --format json`.
pub const VERSUS_FORMAT: &str = "ctxbench-show-vs/1";

/// Two cells beside each other; of every pair, the first is the cell that was named and the second is the other.
#[derive(Clone, Debug, Serialize)]
pub struct Versus {
    /// `ctxbench-show-vs/1`.
    pub format: &'static str,
    /// The encoding of all token figures.
    pub tokenizer: String,
    /// What is compared.
    pub sides: [VersusSide; 2],
    /// Openings by the threads' places in the tree: of every child, or of the one thread that was asked for.
    pub openings: Vec<VersusOpening>,
    /// What delegation put into other threads, in the order in which they were sent it.
    pub returns: [Vec<VersusReturn>; 2],
    /// Tokens of all that delegation put into the root; null: some are unknown.
    pub parent_gain: [Option<u64>; 2],
    /// What all requests cost.
    pub spend: [VersusSpend; 2],
}

/// One cell.
#[derive(Clone, Debug, Serialize)]
pub struct VersusSide {
    /// The cell.
    pub cell: String,
    /// Its strategy with profile and options.
    pub strategy: String,
    /// What that strategy is, in a line.
    pub about: String,
    /// What produced the behaviour.
    pub evidence: &'static str,
    /// How it ended.
    pub status: &'static str,
    /// Why it failed; null: it did not.
    pub failure: Option<FailureNote>,
    /// What it comes down to, by metric; null: not measured.
    pub figures: IndexMap<&'static str, Option<Number>>,
    /// The final answer: the root's last words.
    pub answer: String,
}

impl VersusSide {
    /// A figure's value; `None`: not measured.
    pub fn figure(&self, metric: &str) -> Option<f64> {
        self.figures.get(metric).copied().flatten().map(Number::value)
    }
}

/// The metrics that say what a comparison comes down to: whether the children could see what they needed, what they and
/// the parent made of it, and what it cost.
const FIGURES: [&str; 9] = [
    "child.coverage",
    "child.quality",
    "quality",
    "rescues",
    "parent.final_context",
    "total.input",
    "total.output",
    "requests",
    "latency.end_to_end",
];

/// One side of a comparison.
pub struct VersusCell<'a> {
    /// The cell's results.
    pub result: &'a CellResult,
    /// What its threads were sent.
    pub shown: Shown,
    /// Its strategy with profile and options.
    pub strategy: String,
    /// What that strategy is, in a line.
    pub about: String,
}

/// A thread's first request under each strategy.
#[derive(Clone, Debug, Serialize)]
pub struct VersusOpening {
    /// The thread's place in the tree.
    pub path: String,
    /// The requests; null: there is no such thread.
    pub requests: [Option<ShownRequest>; 2],
    /// Where the two differ as a model reads them; null: one is missing.
    pub differs: Option<OpeningDifference>,
    /// Tasks that the thread was given later.
    pub later: [Vec<ShownItem>; 2],
}

/// Where two requests differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OpeningDifference {
    /// The system texts do.
    pub system: bool,
    /// The tools do.
    pub tools: bool,
    /// The first item that does, from 0; one request may end before it. Null: all items are alike.
    pub first_item: Option<usize>,
}

/// Items that arrived in a thread together.
#[derive(Clone, Debug, Serialize)]
pub struct VersusReturn {
    /// The thread's place in the tree.
    pub thread: String,
    /// What arrived.
    #[serde(flatten)]
    pub arrival: ShownArrival,
}

/// Tokens of all requests.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct VersusSpend {
    /// Of the root.
    pub parent: ThreadSpend,
    /// Of all other threads.
    pub children: ThreadSpend,
}

/// Requests added up.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ThreadSpend {
    /// How many.
    pub requests: u64,
    /// Their tokens by origin.
    pub input: TokensByOrigin,
    /// Tokens of them all.
    pub input_total: u64,
    /// Tokens of the replies.
    pub output: u64,
}

impl Versus {
    /// Two cells. `thread`: only this thread's openings.
    pub fn of(cells: [VersusCell<'_>; 2], thread: Option<&str>) -> Versus {
        let [a, b] = cells.each_ref().map(|cell| &cell.shown);
        let threads = a.threads.iter().chain(&b.threads).map(|one| one.path.as_str());
        let mut paths: Vec<&str> = Vec::new();
        for path in threads.filter(|path| thread.map_or(*path != "/", |wanted| *path == wanted)) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let opening = |shown: &Shown, path: &str| Some(shown.threads.iter().find(|one| one.path == path)?.opening.clone());
        let openings = paths.into_iter().map(|path| {
            let requests = [opening(a, path), opening(b, path)];
            let differs = match &requests {
                [Some(a), Some(b)] => Some(difference(a, b)),
                _ => None,
            };
            let later = [a, b].map(|shown| later_tasks(shown, path));
            VersusOpening { path: path.to_owned(), requests, differs, later }
        });
        Versus {
            format: VERSUS_FORMAT,
            tokenizer: a.tokenizer.clone(),
            openings: openings.collect(),
            returns: [returns(a), returns(b)],
            parent_gain: [gain(a), gain(b)],
            spend: [spend(a), spend(b)],
            sides: cells.map(|VersusCell { result, shown, strategy, about }| VersusSide {
                answer: answer(&shown),
                cell: shown.cell,
                strategy,
                about,
                evidence: shown.evidence,
                status: shown.status,
                failure: shown.failure,
                figures: FIGURES.into_iter().map(|metric| (metric, result.metrics.get(metric).copied().flatten())).collect(),
            }),
        }
    }
}

fn difference(a: &ShownRequest, b: &ShownRequest) -> OpeningDifference {
    let alike = a.items.iter().zip(&b.items).take_while(|(a, b)| reads_alike(a, b)).count();
    OpeningDifference {
        system: a.system != b.system,
        tools: a.tools != b.tools,
        first_item: (alike < a.items.len().max(b.items.len())).then_some(alike),
    }
}

/// Whether a model reads the same: where an item comes from and how this run numbers its call is nothing that it sees.
fn reads_alike(a: &ShownItem, b: &ShownItem) -> bool {
    (a.kind, a.role, &a.name, a.failed, &a.text) == (b.kind, b.role, &b.name, b.failed, &b.text)
}

/// The text that the root ended with.
fn answer(shown: &Shown) -> String {
    let root = shown.threads.iter().filter(|thread| thread.path == "/").flat_map(|thread| &thread.after);
    let said = root.filter(|item| item.origin == Origin::Own && item.role == Some(Role::Assistant));
    said.map(|item| item.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// What a thread was told to do after it was opened.
fn later_tasks(shown: &Shown, path: &str) -> Vec<ShownItem> {
    let of_thread = shown.threads.iter().filter(|thread| thread.path == path).flat_map(|thread| &thread.received);
    of_thread.flat_map(|arrival| &arrival.items).filter(|item| item.origin == Origin::Task).cloned().collect()
}

fn returns(shown: &Shown) -> Vec<VersusReturn> {
    let of = |thread: &ShownThread| {
        let path = thread.path.clone();
        let arrivals = thread.received.clone().into_iter().filter_map(came_back);
        arrivals.map(move |arrival| VersusReturn { thread: path.clone(), arrival })
    };
    let mut all: Vec<VersusReturn> = shown.threads.iter().flat_map(of).collect();
    all.sort_by_key(|one| one.arrival.seq);
    all
}

/// What of an arrival came back from a child.
fn came_back(mut arrival: ShownArrival) -> Option<ShownArrival> {
    arrival.items.retain(|item| item.origin == Origin::Delegated);
    arrival.tokens = arrival.items.iter().map(|item| item.tokens.map(u64::from)).sum();
    (!arrival.items.is_empty()).then_some(arrival)
}

fn gain(shown: &Shown) -> Option<u64> {
    let root = shown.threads.iter().filter(|thread| thread.path == "/");
    root.flat_map(|thread| thread.received.clone()).filter_map(came_back).map(|arrival| arrival.tokens).sum()
}

fn spend(shown: &Shown) -> VersusSpend {
    let mut spend = VersusSpend::default();
    for thread in &shown.threads {
        let side = if thread.path == "/" { &mut spend.parent } else { &mut spend.children };
        thread.requests.iter().for_each(|one| side.add(one));
    }
    spend
}

impl ThreadSpend {
    fn add(&mut self, one: &ShownExchange) {
        self.requests += 1;
        self.input_total += one.input_total;
        self.output += one.output;
        let TokensByOrigin { system, tools, scaffold, user, task, own, tool_result, inherited, delegated, compaction } = &mut self.input;
        for (sum, more) in [
            (system, one.input.system),
            (tools, one.input.tools),
            (scaffold, one.input.scaffold),
            (user, one.input.user),
            (task, one.input.task),
            (own, one.input.own),
            (tool_result, one.input.tool_result),
            (inherited, one.input.inherited),
            (delegated, one.input.delegated),
            (compaction, one.input.compaction),
        ] {
            *sum += more;
        }
    }

    /// Tokens of one origin.
    pub fn of(&self, wanted: Origin) -> u64 {
        self.input.each().into_iter().find(|(origin, _)| *origin == wanted).map_or(0, |(_, tokens)| tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ItemKind;

    fn item(origin: Origin, text: &str) -> ShownItem {
        let text = text.to_owned();
        ShownItem { kind: ItemKind::Message, origin, role: Some(Role::User), name: None, call: None, failed: false, tokens: None, text }
    }

    fn request(system: &str, tools: &[&str], items: &[&str]) -> ShownRequest {
        ShownRequest {
            seq: 0,
            thread: "/1".into(),
            agent: "a".into(),
            system_tokens: 0,
            system: Some(system.into()),
            tools_tokens: 0,
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            items: items.iter().map(|text| item(Origin::Task, text)).collect(),
            input_total: 0,
        }
    }

    #[test]
    fn differences_are_found_in_each_part() {
        let check = |other: ShownRequest, system, tools, first_item| {
            let found = difference(&request("s", &["t"], &["a", "b"]), &other);
            assert_eq!(found, OpeningDifference { system, tools, first_item }, "{other:?}");
        };
        check(request("s", &["t"], &["a", "b"]), false, false, None);
        check(request("x", &["t"], &["a", "b"]), true, false, None);
        check(request("s", &["t", "u"], &["a", "c"]), false, true, Some(1));
        check(request("s", &["t"], &[]), false, false, Some(0));
        check(request("s", &["t"], &["a", "b", "c"]), false, false, Some(2));
    }

    #[test]
    fn what_a_model_does_not_see_makes_no_difference() {
        let task = item(Origin::Task, "go");
        assert!(reads_alike(&task, &item(Origin::Inherited, "go")));
        assert!(reads_alike(&task, &ShownItem { call: Some(7), ..task.clone() }));
        assert!(!reads_alike(&task, &ShownItem { role: Some(Role::Assistant), ..task.clone() }));
        assert!(!reads_alike(&task, &ShownItem { failed: true, ..task.clone() }));
    }
}
