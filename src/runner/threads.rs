//! What a cell's threads were sent, read from its outcome: ledger lines, requests and the parts that they name.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ledger::{InCommon, Outcome, Row, spliced_from};
use crate::results::{Divergence, ItemLine, LedgerLine, RequestLine};
use crate::tokens::Meter;
use crate::transcript::{Digest, Item, Part};

/// A cell's exchanges with all that was sent in them.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// One line an exchange, in order of sending.
    pub ledger: Vec<LedgerLine>,
    /// One line an exchange, in the same order.
    pub requests: Vec<RequestLine>,
    /// The distinct parts that the requests name, in order of first use.
    pub parts: Vec<Part>,
}

/// Reads an outcome's requests. A request costs what is new in it.
pub fn threads_of(cell: &str, outcome: &Outcome, meter: &Meter) -> Threads {
    let cell: Arc<str> = cell.into();
    let rows = outcome.rows.len();
    let mut threads = Threads { ledger: Vec::with_capacity(rows), requests: Vec::with_capacity(rows), parts: vec![] };
    let mut seen: FxHashSet<Digest> = FxHashSet::default();
    // The place of each thread's last request.
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    for (place, row) in outcome.rows.iter().enumerate() {
        let before = places.insert(row.thread.0, place).and_then(|place| outcome.rows.get(place));
        let (same, new) = new_items(outcome, before, row);
        let tool_parts = row.sent.tools.iter().map(|tool| &tool.schema);
        for part in row.sent.system.iter().chain(tool_parts).chain(new.iter().flat_map(|item| item.parts())) {
            if seen.insert(part.digest()) {
                threads.parts.push(part.clone());
            }
        }
        threads.ledger.push(LedgerLine::of(cell.clone(), row, before.and_then(|before| divergence(before, row, same))));
        threads.requests.push(RequestLine {
            cell: cell.clone(),
            seq: row.seq,
            thread: row.path.clone(),
            agent: row.agent.clone(),
            system: row.sent.system.as_ref().map(|system| system.digest().into()),
            system_tokens: row.sent.system.as_ref().and_then(|system| meter.system(system).ok()),
            tools: row.sent.tools.iter().map(|tool| tool.schema.digest().into()).collect(),
            tool_tokens: row.sent.tools.iter().map(|tool| meter.tool(tool).ok()).collect(),
            same,
            items: new.iter().map(|item| ItemLine::of(item, tokens(item, meter))).collect(),
            after: vec![],
        });
    }
    for (thread, place) in places {
        let (Some(record), Some(row), Some(request)) =
            (outcome.threads.get(thread as usize), outcome.rows.get(place), threads.requests.get_mut(place))
        else {
            continue;
        };
        let history = outcome.history_of(record.id);
        // A request's own splices stand in no history: what is new lies behind the part of the log that it was made of.
        let sent = match record.log == row.sent.log {
            true => row.sent.length,
            false => outcome.items_of(row).iter().zip(history).take_while(|(a, b)| same_item(a, b)).count(),
        };
        let after = history.get(sent..).unwrap_or_default();
        for part in after.iter().flat_map(Item::parts) {
            if seen.insert(part.digest()) {
                threads.parts.push(part.clone());
            }
        }
        request.after = after.iter().map(|item| ItemLine::of(item, tokens(item, meter))).collect();
    }
    threads
}

/// How many of a request's first items are those of the one before it, and the others.
fn new_items<'a>(outcome: &'a Outcome, before: Option<&'a Row>, row: &'a Row) -> (usize, Vec<&'a Item>) {
    let items = |log: usize| outcome.logs.get(log).map_or(&[][..], |log| &log.items);
    let common = before.map_or(InCommon::default(), |before| InCommon::of(&before.sent, &row.sent, items, same_item));
    let rest = |row: &'a Row| spliced_from(&items(row.sent.log)[..row.sent.length], &row.sent.splices[common.splices..], common.at);
    let mut new = rest(row);
    let mut same = common.items;
    // What stands behind may be alike all the same.
    for old in before.into_iter().flat_map(rest) {
        let mut next = new.clone();
        if !next.next().is_some_and(|item| same_item(old, item)) {
            break;
        }
        same += 1;
        new = next;
    }
    (same, new.collect())
}

/// Equal as sent and equally labelled; most items share their body with the request before.
fn same_item(a: &Item, b: &Item) -> bool {
    a.origin == b.origin && a.hidden == b.hidden && a.reads_as(b)
}

fn divergence(before: &Row, row: &Row, same: usize) -> Option<Divergence> {
    let parts = |row: &Row| row.sent.system.as_ref().map(Part::digest);
    let tools = |row: &Row| row.sent.tools.iter().map(|tool| tool.schema.digest()).collect::<Vec<_>>();
    let alike = parts(before) == parts(row) && (Arc::ptr_eq(&before.sent.tools, &row.sent.tools) || tools(before) == tools(row));
    let splices = &before.sent.splices;
    let length = before.sent.length + splices.iter().map(|splice| splice.items.len()).sum::<usize>()
        - splices.iter().map(|splice| splice.remove).sum::<usize>();
    let item = match alike {
        false => None,
        true if same < length => Some(same),
        true => return None,
    };
    Some(Divergence { thread: row.path.clone(), item })
}

fn tokens(item: &Item, meter: &Meter) -> Option<u32> {
    meter.item(item).ok().filter(|weight| weight.unknown_parts == 0).map(|weight| weight.tokens)
}
