//! The tables of the README are what the program says.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use ctxbench::ledger::Row;
use ctxbench::model::reader::Reader;
use ctxbench::scenario::{Size, builtin_names, compile_builtin};
use ctxbench::strategy::{Registry, ThreadId};
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Content, Item, Part};

#[path = "worlds/play.rs"]
#[allow(dead_code)] // It serves several tests.
mod play;

use play::{Played, play_sent};

const README: &str = include_str!("../README.md");

/// What stands in the README behind a mark, up to the next blank line.
fn block(mark: &str) -> String {
    let (_, rest) = README.split_once(&format!("<!-- {mark} -->\n")).unwrap_or_else(|| panic!("the README has no mark {mark}"));
    let (block, _) = rest.split_once("\n\n").expect("a blank line follows");
    format!("{block}\n")
}

#[test]
fn the_table_of_strategies() {
    let listed = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).args(["list", "strategies", "--format", "markdown"]).output();
    let listed = String::from_utf8(listed.expect("the binary runs").stdout).expect("it is text");
    assert_eq!(block("ctxbench list strategies --format markdown"), listed);
}

#[test]
fn the_tables_of_the_suite() {
    let ran = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench")).args(["run", "auth-lookup", "tiny-task"]).output();
    let ran = String::from_utf8(ran.expect("the binary runs").stdout).expect("it is text");
    let (_, shown) = README.split_once("```text\nauth-lookup").expect("the README shows the suite");
    let (shown, _) = shown.split_once("\n```").expect("a fence closes it");
    for table in format!("auth-lookup{shown}").split("\n\n") {
        assert!(ran.contains(table), "{table}\n\nis not in\n\n{ran}");
    }
}

/// Each scenario has its place in the table of what they separate: by name, or by what its name adds to the first of the line.
#[test]
fn the_table_of_scenarios_names_all_of_them() {
    let lines =
        README.lines().skip_while(|line| *line != "| scenario | what it separates |").skip(2).take_while(|line| line.starts_with('|'));
    let mut named = Vec::new();
    for line in lines {
        let names: Vec<&str> = line.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2).collect();
        // What begins with `-` belongs to the scenario's file.
        let file = names.first().map_or("", |first| if first.starts_with("stale-decision") { "stale-decision" } else { first });
        named.extend(names.iter().map(|name| if name.starts_with('-') { format!("{file}{name}") } else { (*name).to_owned() }));
    }
    let mut all: Vec<String> = builtin_names().into_iter().map(str::to_owned).collect();
    named.sort();
    all.sort();
    assert_eq!(named, all);
}

/// The parent's request whose reply delegated, and the child's first one.
fn fork(played: &Played) -> (&Row, &Row) {
    let rows = &played.outcome.rows;
    let child = rows.iter().find(|row| row.thread != ThreadId::ROOT).expect("a child was opened");
    let parent = rows.iter().rfind(|row| row.thread == ThreadId::ROOT && row.done_ms.is_some_and(|done| done <= child.sent_ms));
    (parent.expect("the parent delegated"), child)
}

/// A number below a million for people.
fn apart(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

/// What each release makes of a full fork: the size of the child's first request, and how much of the parent's request it
/// begins with.
fn releases(meter: &Meter) -> String {
    let scenario = compile_builtin("recent-decision", Size::Medium, &BTreeMap::new()).expect("a built-in name").expect("it is in order");
    let reader = Reader::new(Arc::new(scenario));
    let mut table = String::from(
        "| release | child's first request | of the parent's items it has | the same from the front |\n| --- | --- | --- | --- |\n",
    );
    let mut choices = Registry::builtin().parse("codex-v2@*:fork_turns=all").expect("a spec");
    choices.retain(|choice| choice.profile().starts_with('0'));
    choices.sort_by_key(|choice| choice.profile());
    for choice in choices {
        let played = play_sent(&reader, &*choice.build(), meter, true);
        let (parent, child) = fork(&played);
        let sent = |row| played.outcome.items_of(row).into_iter().filter(Item::is_sent).collect::<Vec<Item>>();
        let [mother, daughter] = [sent(parent), sent(child)];
        let kept = mother.iter().filter(|item| daughter.iter().any(|other| item.shares_body(other))).count();
        let same = mother.iter().zip(&daughter).take_while(|(a, b)| a.reads_as(b)).count();
        // The base prompt of older releases stands before all items.
        let system = parent.sent.system.as_ref().filter(|system| child.sent.system.as_ref() == Some(system));
        let of_items: u64 = mother[..same].iter().map(|item| u64::from(meter.item(item).expect("it is small").tokens)).sum();
        let of_system = match system.map(Part::content) {
            Some(Content::Opaque { tokens: Some(tokens), .. }) => u64::from(*tokens),
            _ => 0,
        };
        table += &format!(
            "| `{}` | {} tokens | {kept} of {} | {same}, {} tokens |\n",
            choice.profile(),
            apart(child.input.total()),
            mother.len(),
            apart(of_items + of_system)
        );
    }
    table
}

#[test]
fn the_table_of_releases() {
    let meter = Meter::new(counter(Encoding::O200kBase));
    assert_eq!(block("codex-v2@*:fork_turns=all"), releases(&meter));
}

/// The sweeps of the README are what the program prints.
#[test]
fn the_break_evens() {
    let mut shown = 0;
    for piece in README.split("<!-- ctxbench sweep ").skip(1) {
        let (arguments, rest) = piece.split_once(" -->\n```text\n").expect("a block follows");
        let (block, _) = rest.split_once("```").expect("a fence closes it");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench"));
        let ran = command.arg("sweep").args(arguments.split(' ')).output().expect("the binary runs");
        assert_eq!(String::from_utf8(ran.stdout).expect("it is text"), block, "{arguments}");
        shown += 1;
    }
    assert_eq!(shown, 3);
}

/// Total tokens of a blank child and of a full copy, for one token of the parent that works alone, in each size of the first
/// scenario of each family.
fn sizes(meter: &Meter) -> String {
    let mut table = String::from("| scenario | `opencode` | `full-copy` |\n| --- | --- | --- |\n");
    let mut files: Vec<&str> = Vec::new();
    for name in builtin_names() {
        let text = ctxbench::scenario::builtin(name).expect("it is listed");
        // Variants are of the same file.
        if files.contains(&text) {
            continue;
        }
        files.push(text);
        let mut ratios = [vec![], vec![]];
        for size in Size::ALL {
            let scenario = compile_builtin(name, size, &BTreeMap::new()).expect("a built-in name").expect("it is in order");
            let reader = Reader::new(Arc::new(scenario));
            let total = |spec: &str| {
                let played = play::play(&reader, &*play::strategy(spec), meter);
                let figure = |name: &str| played.measurement.get(name).expect("it was counted").as_f64();
                figure("total.input") + figure("total.output")
            };
            let alone = total("inline");
            for (ratios, spec) in ratios.iter_mut().zip(["opencode", "full-copy"]) {
                ratios.push(format!("{:.2}", total(spec) / alone));
            }
        }
        table += &format!("| `{name}` | {} | {} |\n", ratios[0].join(", "), ratios[1].join(", "));
    }
    table
}

#[test]
fn the_table_of_sizes() {
    let meter = Meter::new(counter(Encoding::O200kBase));
    assert_eq!(block("total tokens by size"), sizes(&meter));
}

/// What a fork costs for each token and each dollar of a blank child of the same product, by size, provider and start.
fn forks() -> String {
    let mut table = String::from(
        "| scenario | tokens | cost, `gpt-6-sol`, cold | warm | cost, `claude-opus-5-5`, cold | warm |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for scenario in ["cache-break", "cache-break-slow", "long-session", "continue-debugging"] {
        let mut columns = vec![Vec::new(); 5];
        for size in Size::ALL {
            for (at, (model, start)) in
                [("gpt-6-sol", "cold"), ("gpt-6-sol", "warm"), ("claude-opus-5-5", "cold"), ("claude-opus-5-5", "warm")]
                    .into_iter()
                    .enumerate()
            {
                let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench"));
                command.args(["run", scenario, "--size", size.name(), "--as", model, "--cache-start", start, "--format", "json"]);
                let ran = command.args(["-s", "claude-code", "-s", "claude-code:mode=fork"]).output().expect("the binary runs");
                let results: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("it is JSON");
                let of = |cell: usize, metric: &str| results["cells"][cell]["metrics"][metric].as_f64().expect("it was measured");
                let ratio = |metrics: &[&str]| {
                    let [blank, fork] = [0, 1].map(|cell| metrics.iter().map(|metric| of(cell, metric)).sum::<f64>());
                    format!("{:.2}", fork / blank)
                };
                if at == 0 {
                    columns[0].push(ratio(&["total.input", "total.output"]));
                }
                columns[at + 1].push(ratio(&["cost.usd"]));
            }
        }
        let columns: Vec<String> = columns.iter().map(|column| column.join(", ")).collect();
        table += &format!("| `{scenario}` | {} |\n", columns.join(" | "));
    }
    table
}

#[test]
fn the_table_of_forks() {
    assert_eq!(block("a fork for a blank child"), forks());
}
