//! `explain`: what a cell's figures are held to, its requests, and its difference to what was accepted.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::check::{Checked, Figure, MeasuredCell, Pair, Row, Trail, Verdict, pairs};

use super::super::folded::folded;
use super::super::partings::partings;
use super::document::place_value;
use super::words::{bound, change, exact, growth, last_line, movement, place, signed, source, unit, value, verdicts};

/// The version of `explain --format json`.
pub const EXPLAIN_FORMAT: &str = "ctxbench-explain/1";

const WIDTH: usize = 80;

/// A cell with all that is to be explained of it.
#[derive(Clone, Debug)]
pub struct Explained<'a> {
    /// The check of this cell alone.
    pub checked: &'a Checked,
    /// The cell.
    pub cell: &'a MeasuredCell,
    /// Its accepted requests; `None`: it is not in the lock.
    pub accepted: Option<&'a Trail>,
    /// Its accepted figures that no budget names any more.
    pub unnamed: Vec<(&'a str, &'a Figure)>,
    /// Whether every request is shown beside the accepted one.
    pub diff_lock: bool,
}

fn tokens(count: u64) -> String {
    exact(i128::from(count) * 1_000_000)
}

/// For people.
pub fn explained_text(explained: &Explained<'_>) -> String {
    let checked = explained.checked;
    let mut out = format!(
        "{}\ntokens are {} · evidence {}\n",
        explained.cell.result.cell,
        checked.about.tokenizer,
        explained.cell.result.evidence.name()
    );
    out += "\nlimits\n";
    let rows: Vec<&Row> = checked.rows.iter().filter(|row| row.cell == explained.cell.result.cell).collect();
    for row in &rows {
        out += &limits_text(checked, row);
    }
    if rows.is_empty() {
        let _ = writeln!(out, "  no budget of {} names this cell", checked.about.budgets_file);
    }
    for trouble in &checked.troubles {
        folded(&trouble.message, WIDTH - 2).iter().for_each(|line| out += &format!("  {line}\n"));
    }
    for (metric, figure) in &explained.unnamed {
        let _ = writeln!(out, "  {metric}  accepted {} and named by no budget any more", value(Some(figure.value)));
    }
    out += "\nrequests: what each sent anew, of how much in all\n";
    out += &waterfall(&explained.cell.trail);
    if !explained.cell.losses.is_empty() {
        out += "\nprompt cache: where it lost most, dearest first\n";
        out += &partings(explained.cell.losses.iter().map(|(seq, parting)| (*seq, parting)));
    }
    match explained.accepted {
        None => out += &format!("\nthe cell is not in {}: nothing to compare with\n", checked.about.lock_file),
        Some(accepted) => out += &differences(accepted, &explained.cell.trail, explained.diff_lock),
    }
    match rows.is_empty() {
        true => out += "\ncheck does not look at this cell\n",
        false => {
            let _ = write!(out, "\nof this cell alone, check would end with {}\n", last_line(checked));
        }
    }
    out
}

fn limits_text(checked: &Checked, row: &Row) -> String {
    let unit = unit(row);
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let name = if row.name.is_empty() { "the cell" } else { &row.name };
    let mut out = format!("  {} {name}  {}{unit}, accepted {}", verdicts(row), value(row.value), value(row.accepted));
    if let Some(moved) = movement(row) {
        let _ = write!(out, ", {moved}");
    }
    out.push('\n');
    for held in &row.held {
        let level = held.limit.level.name();
        let state = if held.verdict == Verdict::Ok { "holds".to_owned() } else { format!("exceeded by {}", exact(held.beyond)) };
        let _ = writeln!(out, "    {:<14} {level:<6} {state}  ({})", bound(held.limit.bound), source(checked, held));
        if let Some(why) = &held.limit.why {
            folded(why, WIDTH - 8).iter().for_each(|line| out += &format!("      {line}\n"));
        }
    }
    if let Some(growth) = growth(row) {
        folded(&format!("where: {growth}"), WIDTH - 4).iter().for_each(|line| out += &format!("    {line}\n"));
    }
    if let Some(remark) = &row.remark {
        folded(remark, WIDTH - 4).iter().for_each(|line| out += &format!("    {line}\n"));
    }
    out
}

/// A line a request: what its thread had not sent before, by origin, and the whole.
fn waterfall(trail: &Trail) -> String {
    let mut out = String::new();
    let mut last: std::collections::BTreeMap<&str, &crate::check::Exchange> = std::collections::BTreeMap::new();
    let width = trail.exchanges.iter().map(|exchange| exchange.thread.len()).max().unwrap_or(1);
    for exchange in &trail.exchanges {
        let before = last.insert(&exchange.thread, exchange);
        let of = |origin| before.and_then(|before| before.input.iter().find(|(one, _)| *one == origin)).map_or(0, |(_, tokens)| *tokens);
        let origins: Vec<_> = crate::transcript::Origin::ALL.into_iter().collect();
        let mut parts = Vec::new();
        for origin in origins {
            let now = exchange.input.iter().find(|(one, _)| *one == origin).map_or(0, |(_, tokens)| *tokens);
            let difference = i128::from(now) - i128::from(of(origin));
            if difference != 0 {
                parts.push(format!("{} {}", origin.name(), signed(difference * 1_000_000)));
            }
        }
        let parts = if parts.is_empty() { "nothing new".to_owned() } else { parts.join(", ") };
        let head = format!(
            "  {:>3} {:<width$} {:>8} in {:>6} out  ",
            exchange.seq,
            exchange.thread,
            tokens(exchange.input_total()),
            tokens(exchange.output)
        );
        let indent = head.chars().count();
        for (at, line) in folded(&parts, WIDTH.saturating_sub(indent).max(24)).iter().enumerate() {
            out += &if at == 0 { format!("{head}{line}\n") } else { format!("{:indent$}{line}\n", "") };
        }
    }
    if trail.more > 0 {
        let _ = writeln!(out, "  and {} requests more", tokens(trail.more as u64));
    }
    out
}

fn differences(accepted: &Trail, now: &Trail, whole: bool) -> String {
    if accepted == now {
        return "\nthe requests are those that were accepted\n".to_owned();
    }
    let pairs = pairs(accepted, now);
    let mut out = String::new();
    if let Some(at) = pairs.iter().find_map(|pair| pair.place.as_ref()) {
        out += "\nthe first difference to what was accepted\n";
        folded(&format!("{}: {}", place(at), change(&at.change)), WIDTH - 2).iter().for_each(|line| out += &format!("  {line}\n"));
    }
    if !whole {
        return out + "  (--diff-lock shows every request)\n";
    }
    out += "\nevery request beside the accepted one\n";
    for pair in &pairs {
        out += &pair_text(pair);
    }
    out
}

fn pair_text(pair: &Pair) -> String {
    let side = |side: Option<(u32, u64, u64)>| {
        side.map_or("–".to_owned(), |(_, input, output)| format!("{} in {} out", tokens(input), tokens(output)))
    };
    let number = pair.now.or(pair.before).map_or(0, |(seq, _, _)| seq);
    let same = pair.before.map(|(_, input, output)| (input, output)) == pair.now.map(|(_, input, output)| (input, output));
    let figures = if same && pair.place.is_none() {
        format!("{}  the same", side(pair.now))
    } else {
        format!("{} → {}", side(pair.before), side(pair.now))
    };
    let mut out = format!("  {number:>3} {}  {figures}\n", pair.thread);
    let mut detail = |text: &str| folded(text, WIDTH - 8).iter().for_each(|line| out += &format!("        {line}\n"));
    if !pair.growth.is_empty() {
        let parts: Vec<String> =
            pair.growth.iter().map(|(name, tokens)| format!("{name} {}", signed(i128::from(*tokens) * 1_000_000))).collect();
        detail(&parts.join(", "));
    }
    if let Some(at) = &pair.place {
        let item = at.item.map_or(String::new(), |item| format!("item {item}: "));
        detail(&format!("{item}{}", change(&at.change)));
    }
    out
}

/// For programs.
pub fn explained_json(explained: &Explained<'_>) -> String {
    let checked: Value = serde_json::from_str(&super::document::document(explained.checked)).unwrap_or_default();
    let requests: Vec<Value> = explained
        .cell
        .trail
        .exchanges
        .iter()
        .map(|one| {
            let input: serde_json::Map<String, Value> =
                one.input.iter().map(|(origin, tokens)| (origin.name().to_owned(), json!(tokens))).collect();
            json!({"seq": one.seq, "thread": one.thread, "input": input, "input_total": one.input_total(), "output": one.output})
        })
        .collect();
    let side = |side: Option<(u32, u64, u64)>| side.map(|(seq, input, output)| json!({"seq": seq, "input_total": input, "output": output}));
    let pair = |one: &Pair| json!({"thread": one.thread, "accepted": side(one.before), "now": side(one.now), "growth": one.growth, "first": one.place.as_ref().map(place_value)});
    let difference = explained.accepted.map(|accepted| pairs(accepted, &explained.cell.trail).iter().map(pair).collect::<Vec<_>>());
    let losses: Vec<Value> = explained.cell.losses.iter().map(|(seq, parting)| json!({"seq": seq, "parts": parting})).collect();
    let document = json!({
        "format": EXPLAIN_FORMAT, "cell": explained.cell.result.cell, "check": checked, "requests": requests, "cache_losses": losses, "difference": difference,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
