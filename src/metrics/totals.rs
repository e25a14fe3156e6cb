//! Input, counted in the ways in which it may be told: billed, new to its thread, distinct in the whole run, inherited.

use rustc_hash::FxHashSet;

use crate::ledger::{Outcome, Row};
use crate::strategy::ThreadId;
use crate::tokens::{CountError, Meter};
use crate::transcript::{Digest, Item, Origin, Part};

/// Tokens of input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// Of what its thread had not sent before: each distinct text of a thread once, and the frame of each reply that was asked
    /// for.
    pub new: u64,
    /// Of what nobody had sent before: each distinct text of the run once, and one frame of a reply.
    pub unique: u64,
    /// Of the children's first requests, what is their parents' history.
    pub inherited: u64,
}

/// Counts them. A text is what is counted as one: system text, a tool's schema, an item with its header.
pub(super) fn totals(outcome: &Outcome, meter: &Meter) -> Result<Totals, CountError> {
    let mut totals = Totals::default();
    let mut of_run: FxHashSet<Digest> = FxHashSet::default();
    let mut of_thread: Vec<FxHashSet<Digest>> = vec![FxHashSet::default(); outcome.threads.len()];
    let mut last: Vec<Option<&Row>> = vec![None; outcome.threads.len()];
    for row in &outcome.rows {
        let thread = row.thread.0 as usize;
        let (Some(seen), Some(before)) = (of_thread.get_mut(thread), last.get_mut(thread)) else { continue };
        if row.thread != ThreadId::ROOT && before.is_none() {
            totals.inherited += row.input.get(Origin::Inherited);
        }
        let mut meets = |id: Digest, tokens: u64| {
            if seen.insert(id) {
                totals.new += tokens;
                if of_run.insert(id) {
                    totals.unique += tokens;
                }
            }
        };
        let start_is_known = before
            .is_some_and(|before| before.sent.system == row.sent.system && std::sync::Arc::ptr_eq(&before.sent.tools, &row.sent.tools));
        if !start_is_known {
            if let Some(system) = &row.sent.system {
                meets(Digest::chain([Digest::of("system"), system.digest()]), meter.system(system)?.into());
            }
            for tool in row.sent.tools.iter() {
                meets(Digest::chain([Digest::of("tool"), tool.schema.digest()]), meter.tool(tool)?.into());
            }
        }
        let plain = row.sent.splices.is_empty();
        let goes_on = before.filter(|before| plain && before.sent.log == row.sent.log && before.sent.splices.is_empty());
        let from = goes_on.map_or(0, |before| before.sent.length);
        let log = &outcome.logs[row.sent.log];
        let mut meets_log = |range: std::ops::Range<usize>| {
            for (item, tokens) in log.items[range.clone()].iter().zip(&log.tokens[range]).filter(|(item, _)| item.is_sent()) {
                meets(identity(item), (*tokens).into());
            }
        };
        let mut at = from;
        for splice in row.sent.splices.iter() {
            meets_log(at..splice.at);
            at = splice.at + splice.remove;
        }
        meets_log(at..row.sent.length);
        for item in row.sent.splices.iter().flat_map(|splice| &splice.items).filter(|item| item.is_sent()) {
            meets(identity(item), meter.item(item)?.tokens.into());
        }
        // The frame of the reply that is asked for: what the parts do not sum to.
        totals.new += REPLY;
        *before = Some(row);
    }
    if !outcome.rows.is_empty() {
        totals.unique += REPLY;
    }
    Ok(totals)
}

const REPLY: u64 = crate::tokens::REPLY_FRAME as u64;

/// What makes two items the same text to whoever reads them.
fn identity(item: &Item) -> Digest {
    let header = Digest::of(&crate::tokens::header(item));
    let name = item.name().map(Digest::of);
    Digest::chain([header].into_iter().chain(name).chain(item.parts().iter().map(Part::digest)))
}
