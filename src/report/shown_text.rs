//! `show` for people.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use unicode_width::UnicodeWidthStr;

use crate::results::{CacheLine, ItemKind};
use crate::transcript::Origin;

use super::billed::billed_text;
use super::folded::folded;
use super::numerals::count;
use super::partings::partings;
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
    if let Some(billed) = &shown.billed {
        let _ = write!(out, "\n{}", billed_text(billed));
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
    let arrivals = if thread.later.is_empty() { &thread.received } else { &thread.later };
    out += match (arrivals.is_empty(), thread.later.is_empty()) {
        (true, _) => "\nnothing was delegated back into it\n",
        (false, true) => "\nwhat delegation put into it\n",
        (false, false) => "\nwhat was new in its later requests\n",
    };
    for arrival in arrivals {
        let tokens = arrival.tokens.map_or("unknown".to_owned(), |tokens| count(tokens as f64));
        let _ = writeln!(out, "  before request {}: {tokens} tokens", arrival.seq);
        for item in &arrival.items {
            out += &item_text(item, texts);
        }
    }
    if !thread.after.is_empty() {
        out += "\nits last words, which no request holds\n";
        thread.after.iter().for_each(|item| out += &item_text(item, texts));
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
    // Columns that would be empty are left out.
    let (differs, ends) = (requests.iter().any(|one| one.first_divergence.is_some()), requests.iter().any(|one| one.end != "replied"));
    let mut columns: Vec<(&str, Vec<String>)> = Vec::new();
    let mut column = |head, cell: &dyn Fn(&ShownExchange) -> String| columns.push((head, requests.iter().map(cell).collect()));
    column("turn", &|one| one.turn.to_string());
    column("sent ms", &|one| count(one.sent_ms as f64));
    column("done ms", &|one| one.done_ms.map_or("–".to_owned(), |ms| count(ms as f64)));
    for &origin in &used {
        column(origin.name(), &|one| count(of(one, origin) as f64));
    }
    column("input", &|one| count(one.input_total as f64));
    column("output", &|one| count(one.output as f64));
    if requests.iter().any(|one| one.cache.is_some()) {
        let class =
            |one: &ShownExchange, of: fn(&CacheLine) -> u64| one.cache.as_ref().map_or("–".to_owned(), |cache| count(of(cache) as f64));
        column("cache read", &|one| class(one, |cache| cache.read));
        column("written", &|one| class(one, |cache| cache.write));
    }
    if differs {
        column("differs at", &|one| {
            one.first_divergence.as_ref().map_or(String::new(), |place| match place.item {
                Some(item) => format!("item {item}"),
                None => "system or tools".to_owned(),
            })
        });
    }
    if ends {
        column("end", &|one| one.end.clone());
    }
    // As many columns beside each other as a page holds; the others stand below, with the request's number again.
    let numbers: Vec<String> = requests.iter().map(|one| one.seq.to_string()).collect();
    let width = |head: &str, cells: &[String]| 1 + cells.iter().map(|cell| cell.width()).chain([head.width()]).max().unwrap_or(0);
    let first = 1 + width("request", &numbers);
    let (mut out, mut from) = (String::new(), 0);
    while from < columns.len() {
        let mut used = first;
        let fit = columns[from..].iter().take_while(|(head, cells)| {
            used += width(head, cells);
            used <= PAGE
        });
        let to = from + fit.count().max(1);
        out += &columns_text(&numbers, &columns[from..to]);
        from = to;
    }
    out + &partings(requests.iter().filter_map(|one| Some((one.seq, one.cache.as_ref()?.parts.as_ref()?))))
}

/// Characters of a line.
pub(super) const PAGE: usize = 80;

fn columns_text(numbers: &[String], columns: &[(&str, Vec<String>)]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(std::iter::once("request").chain(columns.iter().map(|(head, _)| *head)));
    for (at, number) in numbers.iter().enumerate() {
        // Every column has a cell for each request.
        table.add_row(std::iter::once(number.as_str()).chain(columns.iter().map(|(_, cells)| cells[at].as_str())));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((1, 0));
    }
    table.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
}
