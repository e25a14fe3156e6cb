//! Reports of a small run written by hand.

use super::*;
use crate::results::{CheckScore, Evidence, FailureNote, Number, Status, Summing, ThreadNote, tests::cell};

/// Two scenarios, four strategies; one cell fails, one has no child, one was a recording.
fn results() -> Results {
    let figures: [(&str, &str, [Option<i64>; 8], f64); 7] = [
        ("auth-lookup", "inline@1", [Some(12_345), Some(123_456), None, Some(123_456), Some(2_345), Some(14), Some(41_500), Some(0)], 1.0),
        (
            "auth-lookup",
            "codex-v2@0.160:fork_turns=none",
            [Some(4_321), Some(23_456), Some(98_765), Some(122_221), Some(3_210), Some(19), Some(52_250), Some(1)],
            0.5,
        ),
        (
            "auth-lookup",
            "deerflow@v2:context_mode=snapshot",
            [Some(4_321), Some(23_556), Some(12_098_765), Some(12_122_321), Some(3_210), Some(21), Some(1_252_250), Some(0)],
            2.0 / 3.0,
        ),
        ("auth-lookup", "opencode@1.18.33", [Some(321), Some(1_200), Some(0), Some(1_200), Some(10), Some(3), Some(900), Some(0)], 0.0),
        ("tiny-task", "inline@1", [Some(345), Some(456), None, Some(456), Some(45), Some(2), Some(1_500), Some(0)], 1.0),
        (
            "tiny-task",
            "codex-v2@0.160:fork_turns=none",
            [Some(545), Some(1_056), Some(600), Some(1_656), Some(95), Some(5), Some(3_100), Some(0)],
            1.0,
        ),
        ("tiny-task", "opencode@1.18.33", [Some(500), Some(900), Some(500), Some(1_400), Some(80), Some(4), Some(2_800), Some(0)], 1.0),
    ];
    let names = [
        "parent.final_context",
        "parent.input_total",
        "child.input_total",
        "total.input",
        "total.output",
        "requests",
        "latency.end_to_end",
        "rescues",
    ];
    let mut cells = Vec::new();
    for (scenario, strategy, values, quality) in figures {
        let mut one = cell(scenario, strategy, 0);
        for (name, value) in names.iter().zip(values) {
            one.metrics.insert((*name).into(), value.map(Number::Whole));
            if value.is_none() {
                one.unmeasured.insert((*name).into(), "no child opened".into());
            }
        }
        one.metrics.insert("quality".into(), Number::real(quality));
        one.checks.push(CheckScore { id: "names-jwt".into(), score: Number::real(quality).unwrap() });
        one.threads.push(ThreadNote { path: "/".into(), requests: 3 });
        if scenario == "auth-lookup" && strategy.starts_with("opencode") {
            one.status = Status::Failed;
            one.metrics.insert("failures".into(), Some(Number::Whole(1)));
            one.failure = Some(FailureNote { kind: "stuck".into(), message: "thread / at 900 ms: call 3 was never answered".into() });
        }
        cells.push(one);
    }
    let mut summing = Summing::default();
    cells.iter().for_each(|cell| summing.add(cell));
    let head = crate::plan::tests::head(1);
    Results {
        format: crate::results::RESULTS_FORMAT.into(),
        ctxbench: env!("CARGO_PKG_VERSION").into(),
        tokenizer: head.tokenizer,
        prices: None,
        settings: head.settings,
        cells,
        summary: summing.rows(),
        break_even: vec![],
    }
}

/// A whole report in a format that runs have.
fn whole(format: Format, colour: bool, results: &Results) -> String {
    render(format, colour, results).expect("runs have this format")
}

#[test]
fn the_terminal_tables() {
    insta::assert_snapshot!(whole(Format::Human, false, &results()));
}

#[test]
fn the_markdown_page() {
    insta::assert_snapshot!(whole(Format::Markdown, false, &results()));
}

#[test]
fn tables_fit_a_terminal_of_80_columns_and_colour_adds_nothing() {
    let plain = whole(Format::Human, false, &results());
    for line in plain.lines() {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "{line}");
    }
    let coloured = whole(Format::Human, true, &results());
    let bare = regex::Regex::new("\x1b\\[[0-9]m").unwrap().replace_all(&coloured, "").into_owned();
    assert_eq!(bare, plain);
    let bold = |text: &str| assert!(coloured.contains(&format!(" \x1b[1m{text}\x1b[0m")), "{text} in {coloured}");
    ["4,321*", "23,456*", "125.4k*"].into_iter().for_each(bold);
}

#[test]
fn the_json_reads_back_as_it_was() {
    let results = results();
    let text = whole(Format::Json, false, &results);
    assert_eq!(serde_json::from_str::<Results>(&text).unwrap(), results);
    assert!(text.starts_with(r#"{"format":"ctxbench-results/1","ctxbench":""#) && text.ends_with("]}\n"));
    let empty = Results { cells: vec![], summary: vec![], ..results };
    assert_eq!(serde_json::from_str::<Results>(&whole(Format::Json, false, &empty)).unwrap(), empty);
}

#[test]
fn the_csv_has_a_row_a_cell_and_a_column_a_metric() {
    let results = results();
    let text = whole(Format::Csv, false, &results);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let metrics: Vec<&str> = heads.iter().skip(11).collect();
    assert_eq!(metrics, crate::metrics::METRICS.iter().map(|metric| metric.name).collect::<Vec<_>>());
    let rows: Vec<::csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), results.cells.len());
    let field = |row: usize, name: &str| rows[row].get(heads.iter().position(|head| head == name).unwrap()).unwrap().to_owned();
    assert_eq!(field(0, "cell"), "auth-lookup/inline@1/reader/0");
    assert_eq!(field(0, "child.input_total"), "");
    assert_eq!(field(1, "child.input_total"), "98765");
    assert_eq!(field(2, "quality"), "0.666667");
    assert_eq!(field(3, "failure"), "stuck");
    assert!(!text.contains('\r'));
}

#[test]
fn levels_of_evidence_are_told_apart_in_the_overview() {
    let mut results = results();
    for (at, cell) in results.cells.iter_mut().enumerate() {
        if at % 2 == 0 {
            (cell.evidence, cell.model) = (Evidence::Held, "held".into());
        }
    }
    let mut more = results.cells.clone();
    for cell in &mut more {
        cell.scenario += "-again";
    }
    results.cells.extend(more);
    let mut summing = Summing::default();
    results.cells.iter().for_each(|cell| summing.add(cell));
    results.summary = summing.rows();
    let text = whole(Format::Markdown, false, &results);
    assert!(text.contains("inline@1 [held, held]") && text.contains("[reader, simulated]"), "{text}");
}

#[test]
fn what_stands_in_a_page_is_no_markup() {
    let mut results = results();
    results.cells[3].failure = Some(FailureNote { kind: "model".into(), message: "a|b <b>c</b>\n# d".into() });
    let text = whole(Format::Markdown, false, &results);
    assert!(text.contains(r"a\|b \<b\>c\</b\> \# d"), "{text}");
}
