//! What a cell's threads were sent, read from its outcome: ledger lines, requests and the parts that they name.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::ledger::{Outcome, Row};
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

/// What a thread was last sent.
struct Last {
    system: Option<Digest>,
    tools: Vec<Digest>,
    items: Vec<Item>,
}

/// Reads an outcome's requests.
pub fn threads_of(cell: &str, outcome: &Outcome, meter: &Meter) -> Threads {
    let mut threads = Threads::default();
    let mut seen: BTreeSet<Digest> = BTreeSet::new();
    let mut last: IndexMap<u32, Last> = IndexMap::new();
    // The place of each thread's last request.
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    for row in &outcome.rows {
        let sent = Last {
            system: row.sent.system.as_ref().map(Part::digest),
            tools: row.sent.tools.iter().map(|tool| tool.schema.digest()).collect(),
            items: outcome.items_of(row),
        };
        let before = last.get(&row.thread.0);
        let same = before.map_or(0, |before| common(&before.items, &sent.items));
        let new = sent.items.get(same..).unwrap_or_default();
        let tool_parts = row.sent.tools.iter().map(|tool| &tool.schema);
        for part in row.sent.system.iter().chain(tool_parts).chain(new.iter().flat_map(Item::parts)) {
            if seen.insert(part.digest()) {
                threads.parts.push(part.clone());
            }
        }
        threads.ledger.push(LedgerLine::of(cell, row, before.and_then(|before| divergence(row, before, &sent, same))));
        threads.requests.push(RequestLine {
            cell: cell.to_owned(),
            seq: row.seq,
            thread: row.path.to_string(),
            agent: row.agent.to_string(),
            system: sent.system.map(|digest| digest.to_string()),
            system_tokens: row.sent.system.as_ref().and_then(|system| meter.system(system).ok()),
            tools: sent.tools.iter().map(Digest::to_string).collect(),
            tool_tokens: row.sent.tools.iter().map(|tool| meter.tool(tool).ok()).collect(),
            same,
            items: new.iter().map(|item| ItemLine::of(item, tokens(item, meter))).collect(),
            after: vec![],
        });
        last.insert(row.thread.0, sent);
        places.insert(row.thread.0, threads.requests.len() - 1);
    }
    for (thread, place) in places {
        let (Some(record), Some(row), Some(request)) =
            (outcome.threads.get(thread as usize), outcome.rows.get(place), threads.requests.get_mut(place))
        else {
            continue;
        };
        let history = outcome.history_of(record.id);
        // A request's own splices stand in no history: what is new lies behind the part of the log that it was made of.
        let sent =
            if record.log == row.sent.log { row.sent.length } else { last.get(&thread).map_or(0, |last| common(&last.items, history)) };
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

fn common(before: &[Item], now: &[Item]) -> usize {
    before.iter().zip(now).take_while(|(a, b)| same_item(a, b)).count()
}

/// Equal as sent and equally labelled; most items share their body with the request before.
fn same_item(a: &Item, b: &Item) -> bool {
    a.origin == b.origin && a.hidden == b.hidden && a.reads_as(b)
}

fn divergence(row: &Row, before: &Last, now: &Last, same: usize) -> Option<Divergence> {
    let item = if before.system != now.system || before.tools != now.tools {
        None
    } else if same < before.items.len() {
        Some(same)
    } else {
        return None;
    };
    Some(Divergence { thread: row.path.to_string(), item })
}

fn tokens(item: &Item, meter: &Meter) -> Option<u32> {
    meter.item(item).ok().filter(|weight| weight.unknown_parts == 0).map(|weight| weight.tokens)
}
