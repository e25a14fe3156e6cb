//! `show --vs` for people: two columns in a terminal of 80.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::transcript::Origin;

use super::folded::folded;
use super::numerals::{count, few, seconds, share};
use super::shown::{ShownItem, ShownRequest};
use super::shown_text::{Texts, item_label, names};
use super::shown_versus::{Versus, VersusOpening, VersusReturn, VersusSide};

/// Columns of a page and of one of its halves: two halves and a mark between them.
const WIDTH: usize = 80;
const HALF: usize = 38;
/// Lines of a text that a glance shows.
const LINES: usize = 3;
/// The same of a return, which begins with its system's frame.
const RETURN_LINES: usize = 5;
/// Items that a glance shows before and behind the first difference; the last, which is the task, always stands.
const ITEMS: usize = 3;

/// One thing in a column: a label and its text.
struct Block {
    label: String,
    text: String,
}

/// The whole page.
pub fn versus_text(versus: &Versus, texts: Texts) -> String {
    let mut out = head(versus) + "\n--- what it comes down to\n" + &figures_table(versus);
    if versus.openings.is_empty() {
        out += "\nneither opened a child\n";
    }
    for opening in &versus.openings {
        out += &opening_text(opening, texts);
    }
    out += &returns_text(versus, texts);
    if versus.sides.iter().any(|side| !side.answer.is_empty()) {
        out += "\n--- the final answer\n";
        let [a, b] = versus.sides.each_ref().map(|side| Block { label: String::new(), text: side.answer.clone() });
        out += &pair(Some(&a), if a.text == b.text { "=" } else { "≠" }, Some(&b), RETURN_LINES, texts);
    }
    out += "\n--- tokens of all requests, by origin\n";
    out + &spend_table(versus)
}

fn head(versus: &Versus) -> String {
    let mut out = String::new();
    for (name, side) in ["A", "B"].into_iter().zip(&versus.sides) {
        let _ = writeln!(out, "{name}  {}", side.cell);
        for line in folded(&side.about, WIDTH - 3) {
            let _ = writeln!(out, "   {line}");
        }
        if let Some(why) = &side.failure {
            for line in folded(&format!("{} ({}): {}", side.status, why.kind, why.message), WIDTH - 3) {
                let _ = writeln!(out, "   {line}");
            }
        }
    }
    let [a, b] = &versus.sides;
    let evidence = if a.evidence == b.evidence { a.evidence.to_owned() } else { format!("{} and {}", a.evidence, b.evidence) };
    let _ = writeln!(out, "evidence {evidence} · tokens {} · = the same, ≠ different", versus.tokenizer);
    if versus.spend.iter().any(|spend| spend.children.of(Origin::Inherited) > 0) {
        out += "inherited: what of the parent's own history was handed down to the child\n";
    }
    out
}

fn opening_text(opening: &VersusOpening, texts: Texts) -> String {
    let mut out = format!("\n--- thread {} opened with\n", opening.path);
    let totals = opening.requests.each_ref().map(|request| match request {
        Some(request) => format!("{} tokens", count(request.input_total as f64)),
        None => "(it was not opened)".to_owned(),
    });
    out += &rows(&[format!("A {}", totals[0])], " ", &[format!("B {}", totals[1])]);
    let [a, b] = opening.requests.each_ref().map(|request| request.as_ref().map(heads).unwrap_or_default());
    let marks = opening.differs.map(|differs| [differs.system, differs.tools]);
    for at in 0..a.len().max(b.len()) {
        out += &match marks.and_then(|marks| marks.get(at).copied()) {
            Some(false) => alike(&a[at..=at], texts),
            Some(true) => pair(a.get(at), "≠", b.get(at), LINES, texts),
            None => pair(a.get(at), " ", b.get(at), LINES, texts),
        };
    }
    let [a, b] = opening.requests.each_ref().map(|request| request.as_ref().map(items).unwrap_or_default());
    let many = match opening.differs {
        Some(differs) => differs.first_item.unwrap_or(a.len()).min(a.len()),
        None => 0,
    };
    out += &alike(&glance(&a[..many], texts), texts);
    // From the first difference on, each side stands for itself: what it has of its parent first, then task beside task.
    let tasks = opening.requests.each_ref().map(|request| request.as_ref().map_or(0, tasks));
    let [left, right] = [(&a, tasks[0]), (&b, tasks[1])].map(|(side, tasks)| {
        let rest = side.get(many..).unwrap_or_default();
        rest.split_at(rest.len().saturating_sub(tasks))
    });
    let mut mark = if opening.differs.is_some() { "≠" } else { " " };
    for (left, right) in [(left.0, right.0), (left.1, right.1)] {
        let [left, right] = [left, right].map(|side| glance(side, texts));
        for at in 0..left.len().max(right.len()) {
            out += &pair(left.get(at), mark, right.get(at), LINES, texts);
            mark = " ";
        }
    }
    let [left, right] = opening.later.each_ref().map(|items| items.iter().map(later).collect::<Vec<Block>>());
    for at in 0..left.len().max(right.len()) {
        out += &pair(left.get(at), " ", right.get(at), LINES, texts);
    }
    out
}

/// A task that came later.
fn later(item: &ShownItem) -> Block {
    Block { label: format!("{}, later", label(item)), text: item.text.clone() }
}

/// How many items at the end of a request are the task.
fn tasks(request: &ShownRequest) -> usize {
    request.items.iter().rev().take_while(|item| item.origin == Origin::Task).count()
}

fn alike(blocks: &[Block], texts: Texts) -> String {
    let same = |block: &Block| rows(&block.lines(texts, 1), "=", &["(the same)".to_owned()]);
    blocks.iter().map(same).collect()
}

fn returns_text(versus: &Versus, texts: Texts) -> String {
    let gain = versus.parent_gain.map(|gain| gain.map_or("unknown".to_owned(), |tokens| count(tokens as f64)));
    let mut out = "\n--- what came back; the parent gained\n".to_owned();
    out += &rows(&[format!("A {} tokens", gain[0])], " ", &[format!("B {} tokens", gain[1])]);
    let [a, b] = versus.returns.each_ref().map(|returns| glance(&returns.iter().flat_map(return_blocks).collect::<Vec<_>>(), texts));
    for at in 0..a.len().max(b.len()) {
        out += &pair(a.get(at), " ", b.get(at), RETURN_LINES, texts);
    }
    out
}

fn return_blocks(one: &VersusReturn) -> impl Iterator<Item = Block> + '_ {
    let into = if one.thread == "/" { String::new() } else { format!(" → {}", one.thread) };
    one.arrival.items.iter().map(move |item| Block { label: format!("{}{into}", label(item)), text: item.text.clone() })
}

/// What stands before the items.
fn heads(request: &ShownRequest) -> Vec<Block> {
    let numbered = |tokens: u64, what: &str| format!("{:>6}  {what}", count(tokens as f64));
    let system = request.system.clone().unwrap_or_else(|| "(none was sent)".to_owned());
    vec![
        Block { label: numbered(request.system_tokens, "system"), text: system },
        Block { label: numbered(request.tools_tokens, "tools"), text: names(&request.tools) },
    ]
}

fn items(request: &ShownRequest) -> Vec<Block> {
    request.items.iter().map(|item| Block { label: label(item), text: item.text.clone() }).collect()
}

fn label(item: &ShownItem) -> String {
    let tokens = item.tokens.map_or("?".to_owned(), |tokens| count(f64::from(tokens)));
    format!("{tokens:>6}  {}", item_label(item))
}

/// The first of many and the last, with a line about those between.
fn glance(all: &[Block], texts: Texts) -> Vec<Block> {
    let copy = |block: &Block| Block { label: block.label.clone(), text: block.text.clone() };
    let Some((last, before)) = all.split_last().filter(|(_, before)| texts == Texts::Glance && before.len() > ITEMS + 1) else {
        return all.iter().map(copy).collect();
    };
    let left_out = before.len() - ITEMS;
    let gap = Block { label: format!("{:>6}  {left_out} items more", "…"), text: String::new() };
    before.iter().take(ITEMS).map(copy).chain([gap, copy(last)]).collect()
}

impl Block {
    fn lines(&self, texts: Texts, most: usize) -> Vec<String> {
        // What does not fit into the first line stands under its text.
        let mut lines = cut_to_width(&self.label, HALF - 4);
        lines.iter_mut().skip(1).for_each(|line| line.insert_str(0, "    "));
        lines.retain(|line| !line.is_empty());
        let mut text: Vec<String> = Vec::new();
        match texts {
            // A glance does not keep the text's own lines.
            Texts::Glance => text = cut_to_width(&self.text.split_whitespace().collect::<Vec<_>>().join(" "), HALF - 4),
            Texts::Whole => self.text.lines().for_each(|line| text.extend(cut_to_width(line, HALF - 4))),
        }
        let more = texts == Texts::Glance && text.len() > most;
        if more {
            text.truncate(most);
            // Room for the mark was kept.
            text.iter_mut().skip(most - 1).for_each(|line| line.push_str(" …"));
        }
        lines.extend(text.into_iter().filter(|line| !line.is_empty()).map(|line| format!("  {line}")));
        lines
    }
}

/// As [`folded`], and words that are longer than a line are cut into lines.
fn cut_to_width(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in folded(text, width) {
        let mut piece = String::new();
        let mut used = 0;
        for c in line.chars().map(|c| if c.is_control() { ' ' } else { c }) {
            let wide = c.width().unwrap_or(0);
            if used + wide > width {
                lines.push(std::mem::take(&mut piece));
                used = 0;
            }
            piece.push(c);
            used += wide;
        }
        lines.push(piece);
    }
    lines
}

fn pair(left: Option<&Block>, mark: &str, right: Option<&Block>, most: usize, texts: Texts) -> String {
    let lines = |block: Option<&Block>| block.map(|block| block.lines(texts, most)).unwrap_or_default();
    rows(&lines(left), mark, &lines(right))
}

/// Two columns; the mark stands in the first line.
fn rows(left: &[String], mark: &str, right: &[String]) -> String {
    let mut out = String::new();
    for at in 0..left.len().max(right.len()) {
        let (a, b) = (left.get(at).map_or("", String::as_str), right.get(at).map_or("", String::as_str));
        let mark = if at == 0 { mark } else { " " };
        let line = format!("{a}{} {mark} {b}", " ".repeat(HALF.saturating_sub(a.width())));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// What each side comes down to; a figure that neither side has is left out.
fn figures_table(versus: &Versus) -> String {
    type Figure = fn(&VersusSide) -> Option<String>;
    let rows: [(&str, Figure); 7] = [
        ("what the children needed stood before them", |side| side.figure("child.coverage").map(share)),
        ("what the children made of it", |side| side.figure("child.quality").map(share)),
        ("quality of the final answer", |side| {
            let rescues = side.figure("rescues").filter(|rescues| *rescues > 0.0);
            let beside = rescues.map_or(String::new(), |rescues| format!(" ({} by the parent itself)", few(rescues)));
            side.figure("quality").map(|quality| share(quality) + &beside)
        }),
        ("the parent's context in the end, tokens", |side| side.figure("parent.final_context").map(count)),
        ("all tokens of all threads", |side| Some(count(side.figure("total.input")? + side.figure("total.output")?))),
        ("requests", |side| side.figure("requests").map(few)),
        ("time, seconds", |side| side.figure("latency.end_to_end").map(seconds)),
    ];
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "A", "B"]);
    for (name, figure) in rows {
        let [a, b] = versus.sides.each_ref().map(figure);
        if a.is_some() || b.is_some() {
            table.add_row([name.to_owned(), a.unwrap_or_else(|| "–".into()), b.unwrap_or_else(|| "–".into())]);
        }
    }
    table.column_iter_mut().for_each(|column| {
        column.set_padding((1, 1));
    });
    table.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
}

fn spend_table(versus: &Versus) -> String {
    let columns = versus.spend.iter().flat_map(|spend| [spend.parent, spend.children]).collect::<Vec<_>>();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", "A parent", "A children", "B parent", "B children"]);
    let used = Origin::ALL.into_iter().filter(|&origin| columns.iter().any(|one| one.of(origin) > 0));
    let origins = used.map(|origin| (origin.name(), columns.iter().map(|one| one.of(origin)).collect::<Vec<u64>>()));
    let totals = [
        ("input", columns.iter().map(|one| one.input_total).collect()),
        ("output", columns.iter().map(|one| one.output).collect()),
        ("requests", columns.iter().map(|one| one.requests).collect()),
    ];
    for (name, figures) in origins.chain(totals) {
        table.add_row(std::iter::once(name.to_owned()).chain(figures.into_iter().map(|figure| count(figure as f64))));
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((1, 1));
        column.set_cell_alignment(if at == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_keep_their_width() {
        let check = |text: &str, width: usize, expect: &[&str]| assert_eq!(cut_to_width(text, width), expect, "{text}");
        check("", 4, &[""]);
        check("one two", 4, &["one", "two"]);
        check("incomprehensible", 6, &["incomp", "rehens", "ible"]);
        check("上下文委托", 5, &["上下", "文委", "托"]);
        check("a\tb", 4, &["a b"]);
    }

    #[test]
    fn many_are_the_first_and_the_last() {
        let check = |many: usize, texts, expect: &[&str]| {
            let all: Vec<Block> = (0..many).map(|at| Block { label: at.to_string(), text: String::new() }).collect();
            assert_eq!(glance(&all, texts).iter().map(|block| block.label.trim()).collect::<Vec<_>>(), expect);
        };
        check(0, Texts::Glance, &[]);
        check(5, Texts::Glance, &["0", "1", "2", "3", "4"]);
        check(6, Texts::Glance, &["0", "1", "2", "…  2 items more", "5"]);
        check(6, Texts::Whole, &["0", "1", "2", "3", "4", "5"]);
    }
}
