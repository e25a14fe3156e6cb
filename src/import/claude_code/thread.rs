//! What of a thread is its own: its responses and calls, apart from what it was handed.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::import::Report;
use crate::ledger::Usage;
use crate::transcript::{Digest, Part};

use super::block::{Block, CallBlock, ResultBlock};
use super::order::{Ordered, order};
use super::row::{Kind, Row};
use super::threads::{Identity, Thread};

/// A thread, worked out.
#[derive(Clone, Debug)]
pub struct Worked {
    /// Its identity and records.
    pub thread: Thread,
    /// Its records in order.
    pub ordered: Ordered,
    /// For each place: whether the record was handed down or copied.
    pub inherited: Vec<bool>,
    /// Its own responses, in order of their first rows.
    pub responses: Vec<Work>,
    /// For each place that holds a row of an own response: which.
    pub response_of: HashMap<usize, usize>,
    /// All calls, in order, inherited ones too.
    pub calls: Vec<Site>,
    /// For each result, by record and block: the call that it answers.
    pub answers: HashMap<(usize, usize), usize>,
}

/// One own response.
#[derive(Clone, Debug)]
pub struct Work {
    /// Its usage; the field-wise maximum of its rows.
    pub usage: Option<Usage>,
    /// Whether that was estimated.
    pub estimated: bool,
    /// The model.
    pub model: Option<Arc<str>>,
    /// Stamp of its last row.
    pub last_ms: Option<i64>,
    /// Size of its content as JSON.
    pub bytes: u64,
    /// Whether it has content.
    pub has_content: bool,
    /// Size of all content before it.
    pub before: u64,
    /// Whether it stands on a branch that was rewound.
    pub rewound: bool,
    /// Known by its usage alone; its text as the parent's record has it.
    pub unwritten: Option<Option<Part>>,
}

/// One call, where it stands and where its result stands.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Record and block of the call.
    pub call: (usize, usize),
    /// Record and block of its result.
    pub result: Option<(usize, usize)>,
    /// Whether it is the thread's own.
    pub own: bool,
}

impl Site {
    /// The call itself.
    pub fn block<'a>(&self, rows: &'a [Row]) -> Option<&'a CallBlock> {
        match rows[self.call.0].blocks.get(self.call.1)? {
            Block::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Its result and the record that carries it.
    pub fn answer<'a>(&self, rows: &'a [Row]) -> Option<(&'a Row, &'a ResultBlock)> {
        let (at, block) = self.result?;
        match rows[at].blocks.get(block)? {
            Block::Result(result) => Some((&rows[at], result)),
            _ => None,
        }
    }
}

/// Works the threads out: a response counts in the first thread that has it, parents before children.
pub fn work(threads: Vec<Thread>, rows: &[Row], report: &mut Report) -> Vec<Worked> {
    let everywhere: HashSet<Digest> = rows.iter().filter_map(|row| row.uuid).collect();
    let mut owners: HashMap<Digest, usize> = HashMap::default();
    let mut first: HashMap<Digest, usize> = HashMap::default();
    let mut turn: Vec<usize> = (0..threads.len()).collect();
    turn.sort_by_key(|&at| (threads[at].is_child(), threads[at].depth, at));
    let mut worked: Vec<Option<Worked>> = vec![None; threads.len()];
    let mut threads: Vec<Option<Thread>> = threads.into_iter().map(Some).collect();
    for at in turn {
        let Some(thread) = threads[at].take() else { continue };
        let ordered = order(&thread.rows, rows, &everywhere);
        report.orphans += ordered.orphans;
        let inherited = inherited(&thread, &ordered, at, rows, &mut owners, &mut first);
        let mut one = Worked {
            thread,
            ordered,
            inherited,
            responses: vec![],
            response_of: HashMap::default(),
            calls: vec![],
            answers: HashMap::default(),
        };
        one.group(rows);
        one.pair(rows, report);
        worked[at] = Some(one);
    }
    worked.into_iter().flatten().collect()
}

/// Marks records of another session, copies, and rows of a response (or record) that an earlier thread has.
fn inherited(
    thread: &Thread,
    ordered: &Ordered,
    at: usize,
    rows: &[Row],
    owners: &mut HashMap<Digest, usize>,
    first: &mut HashMap<Digest, usize>,
) -> Vec<bool> {
    let main = match &thread.identity {
        Identity::Main(id) => Some(id),
        _ => None,
    };
    let marks = ordered.rows.iter().map(|&place| {
        let row = &rows[place];
        let foreign = row.forked || main.is_some_and(|id| row.session.as_ref().is_some_and(|session| session != id));
        if foreign {
            return true;
        }
        let taken = row.uuid.is_some_and(|uuid| *first.entry(uuid).or_insert(at) != at);
        taken || row.key.is_some_and(|key| *owners.entry(key).or_insert(at) != at)
    });
    marks.collect()
}

impl Worked {
    /// Own records with their places.
    pub fn own_rows<'a>(&'a self, rows: &'a [Row]) -> impl DoubleEndedIterator<Item = (usize, &'a Row)> + 'a {
        self.ordered.rows.iter().enumerate().filter(|(place, _)| !self.inherited[*place]).map(|(_, &at)| (at, &rows[at]))
    }

    fn group(&mut self, rows: &[Row]) {
        let mut by_key: HashMap<Digest, usize> = HashMap::default();
        let mut before = 0u64;
        for (place, &at) in self.ordered.rows.iter().enumerate() {
            let row = &rows[at];
            if let (Kind::Assistant, false, Some(key)) = (row.kind, self.inherited[place], row.key) {
                let which = *by_key.entry(key).or_insert_with(|| {
                    self.responses.push(Work {
                        usage: None,
                        estimated: false,
                        model: row.model.clone(),
                        last_ms: None,
                        bytes: 0,
                        has_content: false,
                        before,
                        rewound: self.ordered.rewound[place],
                        unwritten: None,
                    });
                    self.responses.len() - 1
                });
                let response = &mut self.responses[which];
                response.usage = maximum(response.usage, row.usage);
                response.last_ms = response.last_ms.max(row.at_ms);
                response.bytes = response.bytes.saturating_add(row.bytes);
                response.has_content |= !row.blocks.is_empty();
                self.response_of.insert(at, which);
            }
            before = before.saturating_add(row.bytes);
        }
        for row in self.thread.repeats.iter().map(|&at| &rows[at]) {
            if let Some(&which) = row.key.and_then(|key| by_key.get(&key)) {
                self.responses[which].usage = maximum(self.responses[which].usage, row.usage);
            }
        }
    }

    /// Pairs results with calls, by id and position: ids repeat.
    fn pair(&mut self, rows: &[Row], report: &mut Report) {
        let mut open: HashMap<&str, VecDeque<usize>> = HashMap::default();
        let mut answered: HashMap<&str, usize> = HashMap::default();
        for (place, &at) in self.ordered.rows.iter().enumerate() {
            let own = !self.inherited[place];
            for (block_at, block) in rows[at].blocks.iter().enumerate() {
                match block {
                    Block::Call(call) => {
                        self.calls.push(Site { call: (at, block_at), result: None, own });
                        open.entry(&call.id).or_default().push_back(self.calls.len() - 1);
                    }
                    Block::Result(result) => {
                        let id: &str = &result.id;
                        match open.get_mut(id).and_then(VecDeque::pop_front) {
                            Some(call) => {
                                self.calls[call].result = Some((at, block_at));
                                self.answers.insert((at, block_at), call);
                                answered.insert(id, call);
                            }
                            None if !own => {}
                            None => {
                                let again = answered.get(id).and_then(|&call| self.calls[call].answer(rows));
                                match again {
                                    Some((_, first)) if first.content == result.content => report.duplicates += 1,
                                    _ => report.orphans += 1,
                                }
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        report.unanswered_calls += self.calls.iter().filter(|call| call.own && call.result.is_none()).count() as u64;
    }
}

/// The larger of two figures, field by field.
pub fn maximum(one: Option<Usage>, other: Option<Usage>) -> Option<Usage> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Usage {
            uncached_input: one.uncached_input.max(other.uncached_input),
            cache_read: one.cache_read.max(other.cache_read),
            cache_write: one.cache_write.max(other.cache_write),
            output: one.output.max(other.output),
            reasoning: one.reasoning.max(other.reasoning),
        }),
        (one, other) => one.or(other),
    }
}
