//! What holds of every run: each promise is a check of the ledger against what the agent and the tools saw.

use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::{ByOrigin, FailureKind, Fate, Outcome, Row};
use crate::strategy::{End, ThreadId};
use crate::tokens::REPLY_FRAME;
use crate::transcript::{Body, CallKey, Content, Item, Means, Origin, Part, dangling};

use super::listing::items as listed;
use super::story::bytes;
use super::worlds::{Notes, RandomWorld};

/// What a strategy is known to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nature {
    /// Its kept splices rewrite histories.
    pub rewrites: bool,
    /// It hands history down.
    pub hands_down: bool,
    /// It may send calls without results.
    pub dangles: bool,
    /// It ends the root's turn with an error of its own.
    pub fails: bool,
}

/// A run with all that is known of it.
pub struct Record {
    /// The world.
    pub world: RandomWorld,
    /// What the strategy does.
    pub nature: Nature,
    /// The ledger.
    pub outcome: Outcome,
    /// What was seen from outside.
    pub notes: Notes,
}

/// A promise.
pub type Promise = fn(&Record) -> Result<(), String>;

/// Every promise by its name.
pub const ALL: &[(&str, Promise)] = &[
    ("rows are opened at send", rows_are_opened_at_send),
    ("the ledger renders every request", the_ledger_renders_every_request),
    ("results stand in call order", results_stand_in_call_order),
    ("nothing dangles", nothing_dangles),
    ("every call has one result", every_call_has_one_result),
    ("threads are isolated", threads_are_isolated),
    ("origins sum to the input", origins_sum_to_the_input),
    ("a request grows by what came", a_request_grows_by_what_came),
    ("histories are append-only", histories_are_append_only),
    ("ceilings hold", ceilings_hold),
    ("delegations are recorded", delegations_are_recorded),
    ("times add up", times_add_up),
    ("what an item means stands in it", what_an_item_means_stands_in_it),
    ("a strategy is shown what is so", a_strategy_is_shown_what_is_so),
    ("no rule is broken", no_rule_is_broken),
];

/// The first promise that a run breaks.
pub fn hold(record: &Record) -> Result<(), String> {
    ALL.iter().try_for_each(|(name, promise)| promise(record).map_err(|why| format!("{name}: {why}")))
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

fn place(row: &Row) -> String {
    format!("row {} ({} {}.{} at {} ms)", row.seq, row.path, row.turn, row.exchange, row.sent_ms)
}

/// One row a request, in order of sending, whatever became of it: an abandoned child is never free.
fn rows_are_opened_at_send(record: &Record) -> Result<(), String> {
    let Record { outcome, notes, .. } = record;
    let sent: Vec<&Row> = outcome.rows.iter().filter(|row| !row.overflow).collect();
    ensure(sent.len() == notes.seen.len(), || format!("{} rows for {} requests", sent.len(), notes.seen.len()))?;
    let mut last = 0;
    for (at, row) in outcome.rows.iter().enumerate() {
        ensure(row.seq as usize == at && row.sent_ms >= last, || format!("{} is out of order", place(row)))?;
        last = row.sent_ms;
        let closed = match row.fate {
            Fate::Replied => row.done_ms.is_some_and(|done| done > row.sent_ms),
            Fate::Failed => row.output == 0,
            Fate::Aborted | Fate::Abandoned => row.done_ms.is_none() && row.output == 0,
            Fate::Open => false,
        };
        ensure(closed, || format!("{} is {:?}, done {:?}, output {}", place(row), row.fate, row.done_ms, row.output))?;
        let abandoned = outcome.failure.is_some() || outcome.threads[row.thread.0 as usize].abandoned;
        ensure(row.fate != Fate::Abandoned || abandoned, || format!("{} is abandoned, its thread is not", place(row)))?;
    }
    Ok(())
}

fn the_ledger_renders_every_request(record: &Record) -> Result<(), String> {
    let sent = record.outcome.rows.iter().filter(|row| !row.overflow);
    for (row, seen) in sent.zip(&record.notes.seen) {
        let same = (row.thread, &*row.agent, row.sent_ms, &*row.sent.tools) == (seen.thread, &*seen.agent, seen.now_ms, &*seen.tools);
        ensure(same, || format!("{} is not the request that was sent then", place(row)))?;
        let rendered = record.outcome.items_of(row);
        ensure(rendered == seen.items, || format!("{}\n  ledger: {}\n  sent: {}", place(row), listed(&rendered), listed(&seen.items)))?;
    }
    Ok(())
}

/// Keys are minted in call order, so a run of results has ascending keys.
fn results_stand_in_call_order(record: &Record) -> Result<(), String> {
    let given: BTreeSet<CallKey> = record.world.history.iter().filter_map(Item::answers).collect();
    for seen in &record.notes.seen {
        let mut last = None;
        for item in &seen.items {
            let key = item.answers().filter(|key| item.origin != Origin::Inherited && !given.contains(key));
            ensure(key.is_none() || key > last, || format!("{:?} in {}", seen.thread, listed(&seen.items)))?;
            last = key;
        }
    }
    Ok(())
}

fn nothing_dangles(record: &Record) -> Result<(), String> {
    if record.nature.dangles {
        return Ok(());
    }
    let tolerated = dangling(&record.world.history);
    for seen in &record.notes.seen {
        let loose: Vec<Option<CallKey>> = dangling(&seen.items).into_iter().filter(|key| !tolerated.contains(key)).collect();
        ensure(loose.is_empty(), || format!("{loose:?} of {:?} in {}", seen.thread, listed(&seen.items)))?;
    }
    Ok(())
}

/// In every thread that is at rest: each call that stands there has one result, and no more.
fn every_call_has_one_result(record: &Record) -> Result<(), String> {
    let given: BTreeSet<CallKey> =
        record.world.history.iter().filter_map(|item| item.as_call().map(|call| call.key).or(item.answers())).collect();
    let cut_short = record.outcome.failure.is_some();
    for thread in &record.outcome.threads {
        let mut calls: BTreeMap<CallKey, u32> = BTreeMap::new();
        for item in record.outcome.history_of(thread.id) {
            if item.origin == Origin::Inherited {
                continue;
            }
            match item.body() {
                Body::Call(call) if !given.contains(&call.key) => {
                    ensure(calls.insert(call.key, 0).is_none(), || format!("call {:?} stands twice in {}", call.key, thread.path))?;
                }
                Body::Result { key: Some(key), .. } if !given.contains(key) => match calls.get_mut(key) {
                    Some(count) => *count += 1,
                    None => return Err(format!("a result of {key:?}, which is not called in {}", thread.path)),
                },
                _ => {}
            }
        }
        let wrong: Vec<_> = calls.iter().filter(|(_, count)| **count > 1 || (**count == 0 && !thread.abandoned && !cut_short)).collect();
        ensure(wrong.is_empty(), || format!("{}: results of calls: {wrong:?}", thread.path))?;
    }
    Ok(())
}

/// Authors and kinds that a text names: `own@/1#3`, `user@0.0`, `old@2`.
fn authors(text: &str) -> impl Iterator<Item = &str> {
    let start = |c: char| !(c.is_alphanumeric() || "@/#.".contains(c));
    text.split(start).filter(|word| word.contains('@'))
}

/// A child reads what its own thread, and those below it, wrote; of the user and of what stands above it nothing, unless
/// the strategy hands history down, and then as inherited.
fn threads_are_isolated(record: &Record) -> Result<(), String> {
    for seen in &record.notes.seen {
        let path = &record.outcome.threads[seen.thread.0 as usize].path;
        let below = |author: &str| match author.strip_prefix("own@") {
            Some(rest) => {
                let author = rest.split('#').next().unwrap_or_default();
                author == &**path || **path == *"/" || author.starts_with(&format!("{path}/"))
            }
            None => seen.thread == ThreadId::ROOT,
        };
        for item in &seen.items {
            let inherited = item.origin == Origin::Inherited;
            ensure(!inherited || record.nature.hands_down, || format!("{path} inherits `{}`", listed(std::slice::from_ref(item))))?;
            let stranger = item.parts().iter().flat_map(|part| authors(part.as_text())).find(|author| !below(author));
            if let Some(author) = stranger
                && !inherited
            {
                return Err(format!("{path} reads {author} in {}", listed(std::slice::from_ref(item))));
            }
            let own = [Origin::User, Origin::Compaction].contains(&item.origin);
            ensure(!own || seen.thread == ThreadId::ROOT, || format!("{path} holds an item of the user"))?;
        }
    }
    Ok(())
}

/// What nobody can read of a system text or a schema is a real client's.
fn origin_of(part: &Part, plain: Origin) -> Origin {
    if matches!(part.content(), Content::Opaque { .. }) { Origin::Scaffold } else { plain }
}

/// Recomputed from the rendered items: by origin, the frame as `system`; and the delegation's share.
fn origins_sum_to_the_input(record: &Record) -> Result<(), String> {
    let meter = bytes();
    let weigh = |item: &Item| meter.item(item).map(|weight| u64::from(weight.tokens)).map_err(|why| why.to_string());
    let mut last: BTreeMap<ThreadId, &Row> = BTreeMap::new();
    for row in &record.outcome.rows {
        let items = record.outcome.items_of(row);
        let mut input = ByOrigin::default();
        input.add(Origin::System, u64::from(REPLY_FRAME));
        if let Some(system) = &row.sent.system {
            input.add(origin_of(system, Origin::System), u64::from(meter.system(system).map_err(|why| why.to_string())?));
        }
        for tool in &*row.sent.tools {
            input.add(origin_of(&tool.schema, Origin::Tools), u64::from(meter.tool(tool).map_err(|why| why.to_string())?));
        }
        let fixed = input.total();
        // A call is the delegation's if the strategy answered it.
        let delegated: BTreeSet<CallKey> = items.iter().filter(|item| item.origin == Origin::Delegated).filter_map(Item::answers).collect();
        let mut delegation = 0;
        for item in &items {
            let tokens = weigh(item)?;
            input.add(item.origin, tokens);
            let calls = item.origin == Origin::Own && item.as_call().is_some_and(|call| delegated.contains(&call.key));
            if calls || item.origin == Origin::Delegated {
                delegation += tokens;
            }
        }
        ensure(input == row.input, || format!("{}: {:?}, recomputed {input:?}", place(row), row.input))?;
        ensure(input.total() == Origin::ALL.iter().map(|&origin| input.get(origin)).sum::<u64>(), || format!("{}: total", place(row)))?;
        ensure(delegation == row.delegation, || format!("{}: delegation {}, recomputed {delegation}", place(row), row.delegation))?;
        // What moved: all behind the first item that differs from the thread's last request.
        let before = last.insert(row.thread, row).map(|before| (&before.sent, record.outcome.items_of(before)));
        let moved = match before {
            Some((sent, before)) if sent.tools == row.sent.tools && sent.system == row.sent.system => {
                let same =
                    items.iter().zip(&before).take_while(|(one, other)| one.body() == other.body() && one.name() == other.name()).count();
                let kept = items[..same].iter().map(weigh).sum::<Result<u64, String>>()?;
                if same == items.len() && same == before.len() { 0 } else { input.total() - (fixed - u64::from(REPLY_FRAME)) - kept }
            }
            _ => input.total(),
        };
        ensure(moved == row.moved, || format!("{}: moved {}, recomputed {moved}", place(row), row.moved))?;
    }
    Ok(())
}

/// `input(e + 1) = input(e) + output(e) + new items`, where nothing was spliced, cut or shown anew.
fn a_request_grows_by_what_came(record: &Record) -> Result<(), String> {
    let meter = bytes();
    let rows = &record.outcome.rows;
    for (at, row) in rows.iter().enumerate() {
        let Some(next) = rows[at + 1..].iter().find(|next| (next.thread, next.turn) == (row.thread, row.turn)) else { continue };
        let plain = |row: &Row| row.sent.splices.is_empty() && !row.aside && row.cut == 0;
        if !plain(row) || !plain(next) || row.sent.tools != next.sent.tools || row.sent.log != next.sent.log {
            continue;
        }
        let came = &record.outcome.logs[next.sent.log].items[row.sent.length..next.sent.length];
        let (mut written, mut new) = (0, 0);
        for item in came {
            let tokens = u64::from(meter.item(item).map_err(|why| why.to_string())?.tokens);
            *(if item.origin == Origin::Own { &mut written } else { &mut new }) += tokens;
        }
        ensure(written == row.output, || format!("{}: output {}, {written} stand in the next request", place(row), row.output))?;
        let grown = row.input.total() + row.output + new;
        ensure(grown == next.input.total(), || format!("{}: the next request has {}, not {grown}", place(row), next.input.total()))?;
    }
    Ok(())
}

/// Within a turn each request goes on behind the last one; a turn goes on behind what was committed; a finished thread
/// still holds its last request. Kept splices alone may rewrite.
fn histories_are_append_only(record: &Record) -> Result<(), String> {
    if record.nature.rewrites {
        return Ok(());
    }
    let outcome = &record.outcome;
    let sent = |row: &Row| outcome.logs[row.sent.log].items[..row.sent.length].to_vec();
    let mut last: BTreeMap<(ThreadId, u32), Vec<Item>> = BTreeMap::new();
    for row in &outcome.rows {
        let now = sent(row);
        if let Some(before) = last.insert((row.thread, row.turn), now.clone()) {
            ensure(now.starts_with(&before), || format!("{}\n  before: {}\n  now: {}", place(row), listed(&before), listed(&now)))?;
        }
        let own = &now[row.sent.own.min(now.len())..];
        ensure(row.sent.own <= now.len(), || format!("{}: own items begin behind its end", place(row)))?;
        let inherited = own.iter().any(|item| item.origin == Origin::Inherited);
        ensure(!inherited || record.nature.hands_down, || format!("{}: inherited among its own", place(row)))?;
    }
    let root = outcome.history_of(ThreadId::ROOT);
    // What the real client sends beside history stands before all that the world brought, and only where it was asked for.
    let dressed = root.iter().take_while(|item| record.world.scaffold && item.origin == Origin::Scaffold).count();
    ensure(root[dressed..].starts_with(&record.world.history), || format!("the root's history is now {}", listed(root)))?;
    if let Some(row) = outcome.rows_of(ThreadId::ROOT).next_back() {
        ensure(root.starts_with(&sent(row)), || format!("the root's last request is not in its history {}", listed(root)))?;
    }
    Ok(())
}

fn ceilings_hold(record: &Record) -> Result<(), String> {
    let (outcome, most) = (&record.outcome, record.world.ceilings);
    let deepest = outcome.threads.iter().map(|thread| thread.depth).max().unwrap_or_default();
    ensure(deepest <= most.depth, || format!("a thread at depth {deepest} under a ceiling of {}", most.depth))?;
    ensure(outcome.threads.len() as u64 <= u64::from(most.threads.max(1)), || format!("{} threads", outcome.threads.len()))?;
    let sent: u64 = outcome.rows.iter().map(|row| row.input.total()).sum();
    ensure(sent <= most.tokens, || format!("{sent} tokens sent under a ceiling of {}", most.tokens))?;
    for row in &outcome.rows {
        ensure(row.exchange < most.rounds, || format!("{} under a ceiling of {} exchanges", place(row), most.rounds))?;
        ensure(!row.overflow || record.world.window.is_some_and(|window| row.input.total() > window), || format!("{} fits", place(row)))?;
    }
    let turns: BTreeSet<(ThreadId, u32, u32)> = outcome.rows.iter().map(|row| (row.thread, row.turn, row.exchange)).collect();
    ensure(turns.len() == outcome.rows.len(), || "two rows of one turn have one number".into())
}

/// Each child was opened by exactly one delegation, from a history that holds the call; ids, paths, depths agree.
fn delegations_are_recorded(record: &Record) -> Result<(), String> {
    let outcome = &record.outcome;
    for (at, thread) in outcome.threads.iter().enumerate() {
        let by: Vec<_> = outcome.delegations.iter().filter(|one| one.opened && one.child == thread.id).collect();
        ensure(thread.id.0 as usize == at && by.len() == usize::from(at > 0), || format!("{} was opened {} times", thread.path, by.len()))?;
        let Some(parent) = thread.parent else { continue };
        let above = &outcome.threads[parent.0 as usize];
        let fits = thread.depth == above.depth + 1 && thread.path.starts_with(above.path.trim_end_matches('/'));
        ensure(fits && by[0].parent == parent, || format!("{} is no child of {}", thread.path, above.path))?;
        ensure(thread.intent == by[0].intent, || format!("{} has another intent than its delegation", thread.path))?;
    }
    for one in &outcome.delegations {
        let history = &outcome.logs[one.parent_history.0].items[..one.parent_history.1];
        let called = history.iter().rev().find_map(|item| item.as_call().filter(|call| call.key == one.call));
        ensure(called.is_some_and(|call| call.intent == one.intent), || format!("{:?} stands not in its parent's history", one.call))?;
        let open = !history.iter().any(|item| item.answers() == Some(one.call));
        ensure(open, || format!("{:?} is answered in the history it delegated from", one.call))?;
    }
    Ok(())
}

fn times_add_up(record: &Record) -> Result<(), String> {
    let outcome = &record.outcome;
    let (start, end) = outcome.span_ms;
    ensure(start <= end, || format!("it ends at {end}, before {start}"))?;
    let last = outcome.rows.iter().map(|row| row.sent_ms).max().unwrap_or(0);
    ensure(outcome.failure.is_none() || end >= last, || format!("it ends at {end}, after a request at {last}"))?;
    ensure(outcome.critical_path_ms <= end - start, || format!("a chain of {} ms in {} ms", outcome.critical_path_ms, end - start))?;
    // A tool that was not shown answers after 1 ms without the world.
    let known = record.notes.tools_ms;
    ensure(outcome.tools_ms >= known, || format!("tools took {known} ms, {} are recorded", outcome.tools_ms))?;
    // Alone, and without a pause of the user, everything follows everything.
    let pauses = record.world.user.iter().any(|input| input.when != crate::engine::UserTime::Settled);
    let alone = outcome.threads.len() == 1 && outcome.failure.is_none() && !pauses && outcome.rows.iter().all(|row| row.calls <= 1);
    let whole = outcome.critical_path_ms == end - start;
    ensure(!alone || whole, || format!("one thread of {} ms has a chain of {} ms", end - start, outcome.critical_path_ms))
}

/// A handle that an item tells stands in its text, or in the call that it answers.
fn what_an_item_means_stands_in_it(record: &Record) -> Result<(), String> {
    for thread in &record.outcome.threads {
        let history = record.outcome.history_of(thread.id);
        for item in history {
            let call = item.answers().and_then(|key| history.iter().filter_map(Item::as_call).find(|call| call.key == key));
            for means in &item.means {
                let (Means::Started(handle) | Means::Stored(handle) | Means::Returned(Some(handle)) | Means::Failed(Some(handle))) = means
                else {
                    continue;
                };
                let in_call = call.is_some_and(|call| call.args.as_text().contains(&handle.0) || call.name == handle.0);
                let told = in_call || item.text().contains(&handle.0);
                ensure(told, || format!("{}: {means:?} stands not in `{}`", thread.path, item.text()))?;
            }
        }
    }
    Ok(())
}

/// The history up to the call and nothing later, each call answered or in flight; thread states of this very moment.
fn a_strategy_is_shown_what_is_so(record: &Record) -> Result<(), String> {
    record.notes.lies.first().map_or(Ok(()), |lie| Err(lie.clone()))
}

/// A strategy that keeps the rules never gets stuck and is never told that it broke one.
fn no_rule_is_broken(record: &Record) -> Result<(), String> {
    let Some(failure) = &record.outcome.failure else { return Ok(()) };
    // An error of the system's own ends the root's turn; a broken rule leaves it where it was.
    let root = record.outcome.threads.first().and_then(|root| root.last.as_ref());
    let own_error = record.nature.fails && root == Some(&End::Failed(failure.message.clone()));
    let allowed = match failure.kind {
        FailureKind::Limit | FailureKind::Model => true,
        FailureKind::Overflow => record.world.window.is_some(),
        FailureKind::Strategy => own_error,
        FailureKind::Stuck | FailureKind::Cap | FailureKind::Panic => false,
    };
    ensure(allowed, || format!("{:?}: {}", failure.kind, failure.message))
}
