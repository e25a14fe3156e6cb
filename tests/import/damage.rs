//! Any bytes and any damage: every line is accounted for.

use ctxbench::import::{Detail, Imported, Options, import, json};
use proptest::prelude::*;

use crate::expect::{check_account, fixture};

fn import_bytes(bytes: &[u8]) -> Imported {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, bytes).expect("a file");
    let options = Options { line_cap: 20_000, ..Options::default() };
    let imported = import(std::slice::from_ref(&path), &options).expect("the path exists");
    check_account(&imported);
    // What is kept changes neither links nor counts.
    let summary = import(&[path], &Options { detail: Detail::Summary, ..options }).expect("the path exists");
    assert_eq!(json(&summary), json(&imported));
    if imported.report.skipped_files.is_empty() {
        let lines = bytes.split(|byte| *byte == b'\n').count() as u64 - u64::from(bytes.ends_with(b"\n"));
        assert_eq!(imported.report.lines, lines);
    }
    imported
}

#[derive(Clone, Debug)]
enum Damage {
    Cut(usize, usize),
    Glue(usize),
    Nul(usize, usize),
    Flip(usize, u8),
    Double(usize, usize),
    Insert(usize, &'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0..100_000usize;
    prop_oneof![
        (at.clone(), 0..300usize).prop_map(|(from, length)| Damage::Cut(from, length)),
        at.clone().prop_map(Damage::Glue),
        (at.clone(), 1..20usize).prop_map(|(from, length)| Damage::Nul(from, length)),
        (at.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        (at.clone(), 0..900usize).prop_map(|(from, length)| Damage::Double(from, length)),
        (at, prop::sample::select(vec!["\\ud83d", "{\"", "\"", "[[[[", "\\", "\n", "\u{2028}", "null", "1e999"]))
            .prop_map(|(at, text)| Damage::Insert(at, text)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let clamp = |at: usize, length: usize| {
        let from = at % bytes.len();
        (from, (from + length).min(bytes.len()))
    };
    match *damage {
        Damage::Cut(at, length) => {
            let (from, to) = clamp(at, length);
            bytes.drain(from..to);
        }
        Damage::Glue(at) => {
            let from = at % bytes.len();
            if let Some(step) = bytes[from..].iter().position(|byte| *byte == b'\n') {
                bytes.remove(from + step);
            }
        }
        Damage::Nul(at, length) => {
            let (from, to) = clamp(at, length);
            bytes[from..to].fill(0);
        }
        Damage::Flip(at, byte) => {
            let at = at % bytes.len();
            bytes[at] ^= byte;
        }
        Damage::Double(at, length) => {
            let (from, to) = clamp(at, length);
            let copy = bytes[from..to].to_vec();
            bytes.splice(from..from, copy);
        }
        Damage::Insert(at, text) => {
            let at = at % bytes.len();
            bytes.splice(at..at, text.bytes());
        }
    }
}

const NAMES: [&str; 9] = [
    "inline-two-children.jsonl",
    "progress-copies.jsonl",
    "equal-prompts.jsonl",
    "equal-prompts-told-by-results.jsonl",
    "rewind.jsonl",
    "usage-odds.jsonl",
    "compaction.jsonl",
    "split-absent.jsonl",
    "damage/results.jsonl",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_accounted_for(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        import_bytes(&bytes);
    }

    #[test]
    fn any_damage_is_accounted_for(which in 0..NAMES.len(), all in prop::collection::vec(damage(), 1..8)) {
        let mut bytes = std::fs::read(fixture(NAMES[which])).expect("the fixture");
        for one in &all {
            apply(&mut bytes, one);
        }
        import_bytes(&bytes);
    }

    /// One lost byte costs one line at most: all other lines' responses are still there.
    #[test]
    fn a_cut_costs_its_own_lines(at in 0..3_000usize) {
        let mut bytes = std::fs::read(fixture("equal-prompts.jsonl")).expect("the fixture");
        let at = at % bytes.len();
        let newline = bytes.remove(at) == b'\n';
        let imported = import_bytes(&bytes);
        let bad = imported.report.bad_lines.len();
        prop_assert!(bad <= 1 && !(newline && bad > 0), "{:?}", imported.report.bad_lines);
    }
}

/// Deep nesting in any field costs neither the stack nor the line's other fields.
#[test]
fn nesting_bombs_are_read_like_any_other_value() {
    let bomb = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for bomb in [&bomb, &objects] {
        let line = |field: &str, content: &str, usage: &str| {
            format!(
                r#"{{"type":"assistant","uuid":"{field}","sessionId":"s"{field_value},"message":{{"id":"{field}","content":{content},"usage":{usage}}}}}"#,
                field_value = if field.is_empty() { String::new() } else { format!(r#","{field}":{bomb}"#) },
            )
        };
        let usage = r#"{"input_tokens":1,"output_tokens":1}"#;
        let mut text = String::new();
        for field in ["toolUseResult", "data", "version", "parentUuid", "unheardOf", "isMeta", "timestamp"] {
            text.push_str(&line(field, "[]", usage));
            text.push('\n');
        }
        text.push_str(&line("", bomb, usage));
        text.push('\n');
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, text).expect("a file");
        let imported = import(&[path], &Options::default()).expect("the path exists");
        check_account(&imported);
        assert_eq!((imported.sessions[0].responses, imported.sessions[0].spend.total), (8, Some(16)));
    }
}
