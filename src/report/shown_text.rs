//! `show` for people.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use crate::results::ItemKind;
use crate::transcript::Origin;

use super::folded::folded;
use super::numerals::count;
use super::shown::{Shown, ShownExchange, ShownItem, ShownRequest, ShownThread};

/// Characters of a text that an overview shows.
const GLANCE: usize = 240;

/// How much of each text is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// The beginning.
    Glance,
    /// All of it.
    Whole,
}

/// All threads of a cell.
pub fn cell_text(shown: &Shown, texts: Texts) -> String {
    let mut out = format!("{}\nstatus {} · evidence {} · tokens {}\n", shown.cell, shown.status, shown.evidence, shown.tokenizer);
    if let Some(why) = &shown.failure {
        let _ = writeln!(out, "failed ({}): {}", why.kind, why.message);
    }
    for thread in &shown.threads {
        out += &thread_text(thread, texts);
    }
    out
}

fn thread_text(thread: &ShownThread, texts: Texts) -> String {
    let sum = |of: fn(&ShownExchange) -> u64| count(thread.requests.iter().map(of).sum::<u64>() as f64);
    let (input, output) = (sum(|one| one.input_total), sum(|one| one.output));
    let mut out = format!("\n=== thread {}  {}\n", thread.path, thread.agent);
    let _ = writeln!(out, "{} requests: {input} tokens in, {output} out", thread.requests.len());
    let _ = writeln!(out, "\nopened with {} tokens (request {})", count(thread.opening.input_total as f64), thread.opening.seq);
    out += &request_body(&thread.opening, texts);
    if thread.received.is_empty() {
        out += "\nnothing was delegated back into it\n";
    } else {
        out += "\nwhat delegation put into it\n";
    }
    for arrival in &thread.received {
        let tokens = arrival.tokens.map_or("unknown".to_owned(), |tokens| count(tokens as f64));
        let _ = writeln!(out, "  before request {}: {tokens} tokens", arrival.seq);
        for item in &arrival.items {
            out += &item_text(item, texts);
        }
    }
    out += "\ntokens by origin\n";
    out += &exchanges(&thread.requests);
    out
}

/// One request, whole.
pub fn request_text(cell: &str, request: &ShownRequest) -> String {
    let mut out = format!("{cell}\nrequest {} of thread {}  {}\n", request.seq, request.thread, request.agent);
    let _ = writeln!(out, "{} tokens", count(request.input_total as f64));
    out + &request_body(request, Texts::Whole)
}

fn request_body(request: &ShownRequest, texts: Texts) -> String {
    let mut out = String::new();
    let mut line = |tokens: u64, what: &str, text: &str| out += &labelled(&count(tokens as f64), what, text, texts);
    match &request.system {
        Some(system) => line(request.system_tokens, "system", system),
        None => line(request.system_tokens, "system", "(none was sent; these tokens are the request's frame)"),
    }
    match texts {
        Texts::Glance => line(request.tools_tokens, "tools", &names(&request.tools)),
        Texts::Whole => line(request.tools_tokens, "tools", &request.tools.join("\n")),
    }
    for item in &request.items {
        out += &item_text(item, texts);
    }
    out
}

/// The names in tool schemas; a schema without one is named by its text.
pub(super) fn names(schemas: &[String]) -> String {
    let name = |schema: &String| {
        let value: Option<serde_json::Value> = serde_json::from_str(schema).ok();
        value.and_then(|value| Some(value.get("name")?.as_str()?.to_owned())).unwrap_or_else(|| schema.clone())
    };
    if schemas.is_empty() { "(none)".to_owned() } else { schemas.iter().map(name).collect::<Vec<_>>().join(", ") }
}

/// Where an item comes from and what it is.
pub(super) fn item_label(item: &ShownItem) -> String {
    let kind = match item.kind {
        ItemKind::Message => item.role.map_or("message", |role| role.name()).to_owned(),
        ItemKind::Reasoning => "reasoning".to_owned(),
        ItemKind::Call => format!("call {}", item.name.as_deref().unwrap_or("?")),
        ItemKind::Result if item.failed => "failed result".to_owned(),
        ItemKind::Result => "result".to_owned(),
        ItemKind::Mail => format!("mail {}", item.name.as_deref().unwrap_or("?")),
        ItemKind::Compaction => "summary".to_owned(),
        ItemKind::Context => format!("record {}", item.name.as_deref().unwrap_or("?")),
    };
    format!("{} · {kind}", item.origin.name())
}

fn item_text(item: &ShownItem, texts: Texts) -> String {
    let tokens = item.tokens.map_or("?".to_owned(), |tokens| count(f64::from(tokens)));
    labelled(&tokens, &item_label(item), &item.text, texts)
}

fn labelled(tokens: &str, what: &str, text: &str, texts: Texts) -> String {
    let mut out = format!("  {tokens:>7}  {what}\n");
    let characters = text.chars().count();
    let cut = texts == Texts::Glance && characters > GLANCE;
    let shown: String = text.chars().take(if cut { GLANCE } else { characters }).map(seen).collect();
    for line in shown.lines().map(|line| line.trim_end_matches('\r')) {
        // A glance is folded for reading; a whole text stands as it was sent.
        let pieces = if texts == Texts::Glance { folded(line, 68) } else { vec![line.to_owned()] };
        for piece in pieces {
            let _ = writeln!(out, "         | {piece}");
        }
    }
    if cut {
        let _ = writeln!(out, "         | … {} characters more", count((characters - GLANCE) as f64));
    }
    out
}

/// A character as a terminal may be given it: what would move its cursor or change its colours is shown as `�`.
pub(super) fn seen(c: char) -> char {
    if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { char::REPLACEMENT_CHARACTER } else { c }
}

/// Requests as rows, the origins that occur as columns.
fn exchanges(requests: &[ShownExchange]) -> String {
    let of =
        |one: &ShownExchange, wanted: Origin| one.input.each().into_iter().find(|(origin, _)| *origin == wanted).map_or(0, |found| found.1);
    let used: Vec<Origin> = Origin::ALL.into_iter().filter(|&origin| requests.iter().any(|one| of(one, origin) > 0)).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    // Columns that would be empty are left out.
    let (differs, ends) = (requests.iter().any(|one| one.first_divergence.is_some()), requests.iter().any(|one| one.end != "replied"));
    let heads = ["request", "turn", "sent ms", "done ms"].into_iter();
    let origins = used.iter().map(|origin| origin.name());
    let last = [differs.then_some("differs at"), ends.then_some("end")].into_iter().flatten();
    table.set_header(heads.chain(origins).chain(["input", "output"]).chain(last));
    for one in requests {
        let done = one.done_ms.map_or("–".to_owned(), |ms| count(ms as f64));
        let place = one.first_divergence.as_ref().map_or(String::new(), |place| match place.item {
            Some(item) => format!("item {item}"),
            None => "system or tools".to_owned(),
        });
        let labels = [one.seq.to_string(), one.turn.to_string(), count(one.sent_ms as f64), done];
        let origins = used.iter().map(|&origin| count(of(one, origin) as f64));
        let totals = [count(one.input_total as f64), count(one.output as f64)];
        let last = [differs.then_some(place), ends.then(|| one.end.clone())].into_iter().flatten();
        table.add_row(labels.into_iter().chain(origins).chain(totals).chain(last));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((1, 0));
    }
    table.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
}
