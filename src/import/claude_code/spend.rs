//! What the threads used.

use crate::import::{Inclusive, Spend, Status};
use crate::ledger::Usage;

use super::link::Linked;
use super::row::Row;
use super::thread::{Work, Worked, maximum};

/// Bytes of JSON that stand for one token where a response has no usage: an estimate, and marked as one.
const BYTES_PER_TOKEN: u64 = 4;

/// Parents hold one more copy of a child's last response. It corrects the child's own rows, which may hold placeholders
/// from the stream; if it is another response, that one was not written into the child's file and is spend all the same.
pub fn correct(worked: &mut [Worked], linked: &[Linked], rows: &[Row]) {
    for one in linked {
        let Some(child) = one.child else { continue };
        let Some((row, _)) = worked[one.thread].calls[one.call].answer(rows) else { continue };
        let Some(outcome) = &row.outcome else { continue };
        let Some(usage) = outcome.usage.filter(|usage| !is_zero(usage)) else { continue };
        let told_ms = row.at_ms;
        let responses = &mut worked[child].responses;
        // A child that was called again went on after this result: its last response then is meant.
        let before = |response: &&mut Work| match (response.last_ms, told_ms) {
            (Some(last), Some(told)) => last <= told,
            _ => true,
        };
        let same = |mine: &Usage| {
            (mine.uncached_input, mine.cache_read, mine.cache_write) == (usage.uncached_input, usage.cache_read, usage.cache_write)
        };
        match responses.iter_mut().rev().find(before) {
            Some(last) if last.usage.as_ref().is_none_or(|mine| is_zero(mine) || same(mine)) => {
                last.usage = maximum(last.usage, Some(usage));
            }
            _ => {
                let model = responses.last().and_then(|last| last.model.clone());
                responses.push(Work {
                    usage: Some(usage),
                    estimated: false,
                    model,
                    last_ms: told_ms,
                    bytes: 0,
                    has_content: true,
                    before: 0,
                    rewound: false,
                    unwritten: Some(outcome.text.clone()),
                });
            }
        }
    }
}

/// Gives each response without usage an estimate from sizes; returns how many.
pub fn estimate(worked: &mut [Worked]) -> u64 {
    let mut count = 0;
    for response in worked.iter_mut().flat_map(|one| &mut one.responses) {
        if response.usage.as_ref().is_none_or(is_zero) && response.has_content {
            response.usage = Some(Usage {
                uncached_input: Some(response.before.div_ceil(BYTES_PER_TOKEN)),
                cache_read: Some(0),
                cache_write: Some(0),
                output: Some(response.bytes.div_ceil(BYTES_PER_TOKEN)),
                reasoning: None,
            });
            response.estimated = true;
            count += 1;
        }
    }
    count
}

/// A thread's own spend, each response once.
pub fn own(worked: &Worked) -> Spend {
    let mut spend = Spend::zero();
    for response in &worked.responses {
        spend.add(&response.usage.unwrap_or_default());
        spend.estimated |= response.estimated;
    }
    spend
}

/// Own spend and that of linked children, for every thread; `children` is acyclic.
pub fn inclusive(own: &[Spend], children: &[Vec<usize>], unknown: &[u64]) -> Vec<Inclusive> {
    let mut sums: Vec<Option<Inclusive>> = vec![None; own.len()];
    for start in 0..own.len() {
        let mut todo = vec![start];
        while let Some(&at) = todo.last() {
            if sums[at].is_some() {
                todo.pop();
                continue;
            }
            let missing: Vec<usize> = children[at].iter().copied().filter(|&child| sums[child].is_none()).collect();
            if missing.is_empty() {
                let mut sum = Inclusive { total: own[at].total, unknown_children: unknown[at] };
                for child in children[at].iter().filter_map(|&child| sums[child]) {
                    sum.total = sum.total.map(|total| total.saturating_add(child.total.unwrap_or(0)));
                    sum.unknown_children += child.unknown_children;
                }
                sums[at] = Some(sum);
                todo.pop();
            } else {
                todo.extend(missing);
            }
        }
    }
    sums.into_iter().map(Option::unwrap_or_default).collect()
}

/// Whether a delegation stands for a child that was opened and is not here.
pub fn is_unknown_child(linked: &Linked) -> bool {
    linked.child.is_none() && linked.status != Status::Failed
}

fn is_zero(usage: &Usage) -> bool {
    [usage.uncached_input, usage.cache_read, usage.cache_write, usage.output].iter().all(|class| class.unwrap_or(0) == 0)
}
