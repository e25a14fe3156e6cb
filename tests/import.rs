//! Import, from files to `ctxbench-import/1`.
//!
//! Figures of the fixtures are computed by hand from the files, those of the reference folder come with it. `expect` lines:
//! `key=value` pairs, one space between; `sessions=ID:RESPONSES:TOTAL,...` lists every thread (ids are compared from their
//! ends), `delegations=CALL>CHILD:LINK/CONFIDENCE/STATUS,...`, `bad_lines` lists line numbers, `-` is none, `*` anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ctxbench::import::{Detail, Imported, Options, Response, Session, Step, import, json};
use ctxbench::transcript::{Body, Content, Item, Origin};
use proptest::prelude::*;
use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings/claude-code").join(name)
}

fn shared(what: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CTXBENCH_SHARED");
    if folder.is_none() {
        eprintln!("SKIPPED: the environment variable CTXBENCH_SHARED is not set, so `{what}` is not checked");
    }
    folder.map(|folder| Path::new(&folder).join(what))
}

fn imported(path: &Path) -> Imported {
    let imported = import(&[path.to_owned()], &Options::default()).expect("the path exists");
    check_account(&imported);
    let options = Options { detail: Detail::Summary, ..Options::default() };
    assert_eq!(json(&import(&[path.to_owned()], &options).expect("the path exists")), json(&imported), "a summary has the same figures");
    imported
}

/// Every line and every record has one fate.
fn check_account(imported: &Imported) {
    let (report, account) = (&imported.report, imported.report.account);
    assert_eq!(report.lines, account.blank_lines + account.record_lines + account.lost_lines);
    assert_eq!(account.records, account.conversation + account.beside + account.unknown);
    assert_eq!(account.unknown, report.unknown_types.values().sum::<u64>());
    assert!(report.bad_lines.len() as u64 >= account.lost_lines);
}

fn value_of(document: &Value, key: &str) -> Value {
    let sessions = document["sessions"].as_array().cloned().unwrap_or_default();
    let report = &document["report"];
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let join = |parts: Vec<String>| Value::from(if parts.is_empty() { "-".to_owned() } else { parts.join(",") });
    let sum = |path: &[&str]| {
        let values: Vec<&Value> = sessions.iter().map(|session| path.iter().fold(session, |value, key| &value[*key])).collect();
        let known: Vec<u64> = values.iter().filter_map(|value| value.as_u64()).collect();
        if known.len() < values.len() { Value::Null } else { known.iter().sum::<u64>().into() }
    };
    match key {
        "sessions" => join(sessions.iter().map(|s| format!("{}:{}:{}", text(&s["id"]), s["responses"], s["spend"]["total"])).collect()),
        "delegations" => join(
            sessions
                .iter()
                .flat_map(|session| session["delegations"].as_array().cloned().unwrap_or_default())
                .map(|d| {
                    let [call, child, link, sure, status] = ["call_id", "child", "link", "confidence", "status"].map(|key| text(&d[key]));
                    format!("{call}>{child}:{link}/{sure}/{status}")
                })
                .collect(),
        ),
        "bad_lines" => join(
            report["bad_lines"].as_array().map(|lines| lines.iter().map(|line| line["line"].to_string()).collect()).unwrap_or_default(),
        ),
        "unknown_types" => report[key].as_object().map(|types| types.values().filter_map(Value::as_u64).sum::<u64>()).into(),
        "skipped_files" => (report[key].as_array().map_or(0, Vec::len) as u64).into(),
        "responses" => sum(&["responses"]),
        "inherited_items" => sum(&["inherited_items"]),
        _ if report.get(key).is_some() => report[key].clone(),
        _ if key.starts_with("spend.") && key != "spend.estimated" => sum(&key.split('.').collect::<Vec<_>>()),
        _ => {
            let (whose, key) = match key.find(".spend").map(|at| (&key[..at], &key[at + 1..])) {
                Some((id, key)) => (sessions.iter().find(|session| text(&session["id"]).ends_with(id)), key),
                None => (sessions.first(), key),
            };
            let session = whose.unwrap_or(&Value::Null);
            key.split('.').fold(session.clone(), |value, key| value[key].clone())
        }
    }
}

/// Two lists are equal if their entries are, in any order and with `*` for anything; ids may have more in front.
fn agrees(found: &str, expect: &str) -> bool {
    let sorted = |text: &str| {
        let mut entries: Vec<Vec<String>> = text.split(',').map(|entry| entry.split(['>', ':']).map(str::to_owned).collect()).collect();
        entries.sort_by_key(|entry| entry.iter().map(|part| part.chars().rev().collect::<String>()).collect::<Vec<_>>());
        entries
    };
    let part = |(found, expect): (&String, &String)| expect == "*" || found.ends_with(expect.as_str());
    let (found, expect) = (sorted(found), sorted(expect));
    found.len() == expect.len()
        && found.iter().zip(&expect).all(|(found, expect)| found.len() == expect.len() && found.iter().zip(expect).all(part))
}

fn name(value: impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn check_expect(path: &Path, expect: &str) {
    let imported = imported(path);
    let document: Value = serde_json::from_str(&json(&imported)).expect("the report is JSON");
    for pair in expect.split(' ').filter(|pair| !pair.is_empty()) {
        let (key, wanted) = pair.split_once('=').expect("key=value");
        let found = value_of(&document, key);
        let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        let same = if found.parse::<u64>().is_ok() { found == wanted || wanted == "*" } else { agrees(&found, wanted) };
        assert!(same, "{}: {key} is {found}, expected {wanted}", path.display());
    }
}

const CLEAN: &str = "bad_lines=- salvaged=0 duplicates=0 orphans=0 unanswered_calls=0 estimated_usage=0 unknown_types=0 skipped_files=0";

#[test]
fn layouts_of_children() {
    let check = |name: &str, expect: &str| check_expect(&fixture(name), &format!("{CLEAN} {expect}"));
    check(
        "inline-two-children.jsonl",
        "sessions=lighthouse:3:3775,lamp-1:2:678,lens-1:1:333 lighthouse.spend_inclusive.total=4786 final_context=1394 \
         spend.uncached_input=39 spend.cache_read=2500 spend.cache_write=1990 spend.output=257 \
         delegations=c0>null:unresolved/none/failed,c1>lamp-1:prompt/high/completed,c2>lens-1:prompt/high/completed",
    );
    check(
        "folder",
        "sessions=f01d:2:1136,boats-7:2:267 f01d.spend_inclusive.total=1403 files=3 lines=12 \
         delegations=k1>boats-7:tool_use_id/exact/completed",
    );
    check(
        "progress-copies.jsonl",
        "sessions=lighthouse:2:1136,log-1:2:874 lighthouse.spend_inclusive.total=2010 delegations=k1>log-1:tool_use_id/exact/completed",
    );
    check(
        "fork",
        "sessions=f0f0:4:667,fork-1:2:370 f0f0.spend_inclusive.total=1037 inherited_items=4 delegations=k1>fork-1:tool_use_id/exact/completed",
    );
    check(
        "equal-prompts.jsonl",
        "sessions=lighthouse:2:270,c0-1:1:12,c1-1:1:13,c2-1:1:14,c3-1:1:15 lighthouse.spend_inclusive.total=324 \
         delegations=k1>c1-1:prompt/high/completed,k2>c0-1:prompt/high/completed,k3>c2-1:order/low/completed,k4>c3-1:order/low/completed",
    );
}

#[test]
fn a_child_in_two_layouts_counts_once() {
    check_expect(
        &fixture("copies-and-file"),
        "sessions=c0b1:2:1136,log-1:2:917 c0b1.spend_inclusive.total=2053 duplicates=5 orphans=0 bad_lines=- \
         delegations=k1>log-1:tool_use_id/exact/completed",
    );
}

#[test]
fn absent_children_are_unresolved_and_counted() {
    check_expect(
        &fixture("split-absent.jsonl"),
        "sessions=lighthouse:2:1162 spend_inclusive.total=1162 spend_inclusive.unknown_children=3 unanswered_calls=1 \
         delegations=k1>north:unresolved/none/completed,k2>south:unresolved/none/launched,k3>null:unresolved/none/running",
    );
}

#[test]
fn a_session_asked_for_by_name_brings_its_children() {
    let session = fixture("folder/5a5a0000-0000-4000-8000-00000000f01d.jsonl");
    check_expect(&session, "sessions=f01d:2:1136,boats-7:2:267 files=3");
    let child = fixture("folder/5a5a0000-0000-4000-8000-00000000f01d/subagents/agent-boats-7.jsonl");
    // Without its parent the placeholder stands: 121 + 126.
    check_expect(&child, "sessions=boats-7:2:247 files=2 parent=5a5a0000-0000-4000-8000-00000000f01d");
}

#[test]
fn trees_and_usage() {
    let check = |name: &str, expect: &str| check_expect(&fixture(name), expect);
    check("copied-session.jsonl", "sessions=new:1:148 inherited_items=2 orphans=0 duplicates=0");
    check("compaction.jsonl", "sessions=lighthouse:2:9661 final_context=646 orphans=0");
    check("rewind.jsonl", "sessions=lighthouse:4:592 final_context=178 orphans=0 unanswered_calls=0");
    // Estimated: 124 bytes of content before it and 38 of its own, at four bytes a token: 31 + 10.
    check(
        "usage-odds.jsonl",
        "sessions=lighthouse:3:282 spend.estimated=true estimated_usage=1 opaque_items=4 unknown_types=3 bad_lines=- duplicates=0",
    );
}

#[test]
fn damage_is_counted_and_costs_only_what_is_lost() {
    let check = |name: &str, expect: &str| {
        let whole = if expect.contains("sessions=") { "" } else { "sessions=lighthouse:2:256 " };
        let mut counts =
            BTreeMap::from([("bad_lines", "-"), ("salvaged", "0"), ("duplicates", "0"), ("orphans", "0"), ("unanswered_calls", "0")]);
        counts.extend(expect.split(' ').filter_map(|pair| pair.split_once('=')));
        let expect: Vec<String> = counts.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        check_expect(&fixture("damage").join(name), &format!("{whole}{}", expect.join(" ")));
    };
    check("cut-tail.jsonl", "sessions=lighthouse:1:117 bad_lines=4");
    check("cut-head.jsonl", "bad_lines=1 orphans=1");
    check("glued-whole.jsonl", "salvaged=2");
    check("glued-stub.jsonl", "bad_lines=2 salvaged=1");
    check("nul.jsonl", "bad_lines=3 salvaged=3");
    check("bom-crlf.jsonl", "");
    check("utf8.jsonl", "bad_lines=1 salvaged=1");
    check("surrogate.jsonl", "salvaged=1");
    check("twice.jsonl", "duplicates=2");
    check("cycle.jsonl", "");
    check("orphan.jsonl", "orphans=1");
    check("no-record.jsonl", "bad_lines=3,4,5,6");
    check("keys-twice.jsonl", "");
    check("odd-types.jsonl", "");
    check("results.jsonl", "orphans=1 unanswered_calls=1");
    check("times.jsonl", "");
    for none in ["empty.jsonl", "notes.txt", "other-tool.jsonl"] {
        check(none, "sessions=- skipped_files=1");
    }
}

#[test]
fn bad_lines_say_where() {
    let imported = imported(&fixture("damage/glued-stub.jsonl"));
    let bad = &imported.report.bad_lines[0];
    // `head -1 FILE | wc -c`: 194.
    assert_eq!((bad.line, bad.offset), (2, 194));
    assert!(bad.file.ends_with("damage/glued-stub.jsonl") && !bad.why.is_empty(), "{bad:?}");
}

#[test]
fn a_line_above_the_cap_costs_only_itself() {
    let options = Options { line_cap: 250, ..Options::default() };
    let imported = import(&[fixture("damage/bom-crlf.jsonl")], &options).expect("the path exists");
    check_account(&imported);
    // The two assistant rows are longer than 250 bytes.
    let lines: Vec<u64> = imported.report.bad_lines.iter().map(|line| line.line).collect();
    assert_eq!((lines, imported.sessions[0].responses, imported.report.orphans), (vec![2, 4], 0, 1));
}

#[test]
fn missing_paths_are_errors() {
    let error = import(&[fixture("no-such-file.jsonl")], &Options::default()).expect_err("it is not there");
    assert!(error.to_string().contains("no-such-file.jsonl"), "{error}");
}

#[test]
fn a_folder_without_sessions_imports_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    check_expect(folder.path(), "sessions=- files=0 lines=0 skipped_files=0");
    std::fs::write(folder.path().join("picture.png"), b"\x89PNG\r\n\x1a\n\0\0\0").expect("a file");
    std::fs::write(folder.path().join("agent-x.meta.json"), b"{}").expect("a file");
    check_expect(folder.path(), "sessions=- files=0 skipped_files=2");
}

#[test]
fn large_trees_take_linear_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let mut text = String::new();
    // Pairs of records that point at each other, inline children among them, and one prompt for all calls.
    for at in 0..20_000 {
        let side = at % 4 == 3;
        let call = format!(r#"[{{"type":"tool_use","id":"t","name":"Task","input":{{"prompt":"p{}"}}}}]"#, at % 3);
        let content = if at % 2 == 0 { call } else { "\"p1\"".to_owned() };
        let kind = if at % 2 == 0 { "assistant" } else { "user" };
        text.push_str(&format!(
            r#"{{"parentUuid":"{}","uuid":"{at}","isSidechain":{side},"sessionId":"s","type":"{kind}","message":{{"id":"{at}","content":{content},"usage":{{"output_tokens":1}}}}}}"#,
            at ^ 1
        ));
        text.push('\n');
    }
    std::fs::write(&path, text).expect("a file");
    let imported = import(&[path], &Options::default()).expect("the path exists");
    check_account(&imported);
    assert_eq!(imported.sessions.iter().map(|session| session.responses).sum::<u64>(), 10_000);
}

// ---- steps ------------------------------------------------------------------------------------------------------------

fn describe(session: &Session) -> Vec<String> {
    let item = |item: &Item| {
        let body = match item.body() {
            Body::Message { .. } => "message",
            Body::Compaction { .. } => "compaction",
            Body::Context { .. } => "context",
            _ => "other",
        };
        format!("{body}/{}{}:{}", item.origin, if item.hidden { "/hidden" } else { "" }, item.text())
    };
    let response = |response: &Response| {
        let call = |call: &ctxbench::import::Call| {
            let result = call.result.as_ref().map_or("none".to_owned(), |result| {
                let text: String = result.parts.iter().map(|part| part.as_text()).collect();
                format!("{text}{}@{:?}", if result.failed { "!" } else { "" }, result.ms)
            });
            let task = call.delegation.map(|at| format!("#{at}")).unwrap_or_default();
            format!(" {}{task}={result}", call.name)
        };
        let calls: String = response.calls.iter().map(call).collect();
        format!("[{:?}] {}{calls}", response.duration_ms, response.text)
    };
    session
        .steps
        .iter()
        .map(|step| match step {
            Step::Input(items) => items.iter().map(item).collect::<Vec<_>>().join(" + "),
            Step::Notice { delegation, .. } => format!("notice#{delegation}"),
            Step::Response(one) => response(one),
        })
        .collect()
}

#[test]
fn steps_are_what_the_model_saw() {
    let check = |name: &str, at: usize, expect: &[&str]| {
        let imported = imported(&fixture(name));
        assert_eq!(describe(&imported.sessions[at]), expect, "{name}");
    };
    check(
        "inline-two-children.jsonl",
        0,
        &[
            "message/user:Check lamp and lens.",
            // The reply is complete at 5.0 s, the refusal there 0.1 s later.
            "[Some(5000)] I will send two scouts. Task#0=<tool_use_error>no agent of that kind</tool_use_error>!@Some(100)",
            "[Some(4900)]  Task#1=The lamp is lit.@Some(4200) Task#2=The lens is clean.@Some(4300)",
            "[Some(2700)] Lamp and lens are fine.",
        ],
    );
    check(
        "inline-two-children.jsonl",
        1,
        &["message/task:Check the lamp.", "[Some(1900)]  Read=lit@Some(500)", "[Some(1500)] The lamp is lit."],
    );
    check(
        "folder",
        0,
        &[
            "message/user/hidden:<system-reminder>Be brief.</system-reminder> + message/user:Count the boats.",
            "[Some(2000)]  Agent#0=Seven boats.agentId: boats-7@Some(6000)",
            "[Some(2000)] There are seven boats.",
        ],
    );
    // The last response of the child was not written: its text is the parent's copy.
    check(
        "progress-copies.jsonl",
        1,
        &["message/task:Read the log.", "[Some(2400)]  Read=calm@Some(500) Read=storm@Some(700)", "[None] Storm at ten."],
    );
    check(
        "fork",
        0,
        &[
            "message/user:When is high tide?",
            "[Some(2000)]  Read=see the table@Some(500)",
            "[Some(2000)] I fork. Agent#0=started@Some(100)",
            "[Some(1400)] Waiting.",
            "notice#0",
            "[Some(900)] High tide is at nine.",
        ],
    );
    check("fork", 1, &["message/task:Your directive: Find the tide.", "[Some(2450)]  Bash=09:00@Some(500)", "[Some(1000)] Tide at nine."]);
    check(
        "compaction.jsonl",
        0,
        &[
            "message/user:Long story.",
            "[Some(2000)] Yes.",
            "compaction/compaction:Summary: a long story. + message/user:Go on.",
            "[Some(2000)] On we go.",
        ],
    );
    // The blue branch was rewound; the two results hang from two blocks of one response, under one id.
    check(
        "rewind.jsonl",
        0,
        &[
            "message/user:Paint it.",
            "[Some(2000)] Red?",
            "message/user:No, green.",
            "[Some(2500)]  Paint=north is green@Some(500) Paint=south is green@Some(1500)",
            "[Some(2000)] Green.",
        ],
    );
    // Time goes back and then is no time: unknown, not 0.
    check("damage/times.jsonl", 0, &["message/user:Hello.", "[None] Hi.", "message/user:More.", "[None] Yes."]);
}

#[test]
fn pictures_documents_and_hidden_reasoning_keep_their_size() {
    let imported = imported(&fixture("usage-odds.jsonl"));
    let session = &imported.sessions[0];
    let mut found = Vec::new();
    for step in &session.steps {
        let parts: Vec<_> = match step {
            Step::Input(items) | Step::Notice { items, .. } => items.iter().flat_map(Item::parts).cloned().collect(),
            Step::Response(response) => response.reasoning.clone(),
        };
        found.extend(parts.into_iter().filter_map(|part| match part.content() {
            Content::Image { media, bytes, tokens } | Content::File { media, bytes, tokens } => Some((media.clone(), *bytes, *tokens)),
            Content::Opaque { kind, bytes, tokens } => Some((kind.clone(), *bytes, *tokens)),
            Content::Text(_) => None,
        }));
    }
    // 12 base64 digits, two of them padding: 7 bytes. 4 without padding: 3.
    let expect = [("image/png", 7), ("application/pdf", 3), ("redacted_thinking", 5), ("hologram", 28)];
    assert_eq!(found, expect.map(|(what, bytes)| (what.to_owned(), bytes, None)));
}

#[test]
fn a_fork_has_its_parents_history() {
    let imported = imported(&fixture("fork"));
    let items: Vec<String> = imported.sessions[1].inherited.iter().map(Item::text).collect();
    let task = r#"{"description":"look","prompt":"Find the tide.","subagent_type":"fork"}"#;
    assert_eq!(items, ["When is high tide?", r#"{"file_path":"/notes"}"#, "see the table", task, "fork started"]);
    assert!(imported.sessions[1].inherited.iter().all(|item| item.origin == Origin::Inherited));
    assert!(ctxbench::transcript::dangling(&imported.sessions[1].inherited).is_empty());
}

// ---- the reference folder ---------------------------------------------------------------------------------------------

#[test]
fn reference_odd_inputs() {
    let Some(folder) = shared("odd-inputs") else { return };
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).expect("the index");
    let mut checked = 0;
    for line in index.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (file, expect) = (fields[0], fields[fields.len() - 1]);
        let claude = ["01", "02", "03", "05", "06", "07", "09", "10", "11", "12", "14", "15", "17", "19", "21", "22", "25", "26"];
        if claude.contains(&&file[..2]) {
            check_expect(&folder.join(file), expect);
            checked += 1;
        } else {
            // Another product's: named, and no panic.
            check_expect(&folder.join(file), "sessions=- skipped_files=1");
        }
    }
    assert_eq!(checked, 18);
}

#[test]
fn reference_recordings() {
    let Some(folder) = shared("recordings") else { return };
    let text = std::fs::read_to_string(folder.join("SOURCES.md")).expect("the figures");
    let imported = imported(&folder.join("claude-code"));
    let mut checked = (0, 0);
    for line in text.lines().filter(|line| line.starts_with("| claude-code/")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let number = |at: usize| cells[at].replace(',', "").parse::<u64>().ok();
        let end = |text: &str| text.trim_start_matches('…').to_owned();
        if cells.len() == 10 {
            let (file, thread) = cells[0].split_once(", ").expect("file and thread");
            let stem = file.trim_end_matches(".jsonl");
            let session = imported
                .sessions
                .iter()
                .filter(|session| session.file.contains(stem))
                .find(|session| if thread == "(main)" { session.parent.is_none() } else { session.id.ends_with(&end(thread)) })
                .unwrap_or_else(|| panic!("no session for {line}"));
            let spend = session.spend;
            let found = [Some(session.responses), spend.uncached_input, spend.cache_read, spend.cache_write, spend.output, spend.total];
            assert_eq!(found, [1, 2, 3, 4, 5, 6].map(number), "{line}");
            let (total, unknown) = cells[7].split_once(" + ").unwrap_or((cells[7], "0 unknown"));
            assert_eq!(session.inclusive.total, total.replace(',', "").parse().ok(), "{line}");
            assert_eq!(Some(session.inclusive.unknown_children), unknown.trim_end_matches(" unknown").parse().ok(), "{line}");
            assert_eq!(session.final_context, number(8), "{line}");
            match (cells[9], &session.parent) {
                ("-", parent) => assert_eq!(*parent, None, "{line}"),
                ("main", parent) => assert!(parent.is_some(), "{line}"),
                (name, parent) => assert!(parent.as_ref().is_some_and(|id| id.ends_with(&end(name))), "{line}"),
            }
            checked.0 += 1;
        } else if cells.len() == 7 {
            let stem = cells[0].trim_end_matches(".jsonl");
            let found = imported.sessions.iter().filter(|session| session.file.contains(stem)).flat_map(|session| &session.delegations);
            let found: Vec<_> = found.filter(|delegation| delegation.call_id.ends_with(&end(cells[1]))).collect();
            assert_eq!(found.len(), 1, "{line}");
            let one = found[0];
            assert_eq!(one.kind, cells[2], "{line}");
            assert!(one.child.as_deref().unwrap_or("null").ends_with(&end(cells[3])), "{line}");
            let (link, sure) = cells[4].split_once(" / ").expect("link and confidence");
            assert_eq!((name(one.link).as_deref(), name(one.confidence).as_deref()), (Some(link), Some(sure)), "{line}");
            assert_eq!(name(one.status).as_deref(), Some(cells[5]), "{line}");
            assert_eq!(one.final_context, number(6), "{line}");
            checked.1 += 1;
        }
    }
    assert_eq!((checked, imported.sessions.len()), ((17, 18), 17));
    let report = &imported.report;
    assert!(report.bad_lines.is_empty());
    assert_eq!([report.orphans, report.salvaged, report.duplicates, report.estimated_usage, report.unanswered_calls], [0; 5]);
}

// ---- arbitrary damage -------------------------------------------------------------------------------------------------

fn import_bytes(bytes: &[u8]) -> Imported {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, bytes).expect("a file");
    let imported = import(&[path], &Options { line_cap: 20_000, ..Options::default() }).expect("the path exists");
    check_account(&imported);
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_accounted_for(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        import_bytes(&bytes);
    }

    #[test]
    fn any_damage_is_accounted_for(which in 0..6usize, all in prop::collection::vec(damage(), 1..8)) {
        let names = ["inline-two-children.jsonl", "progress-copies.jsonl", "equal-prompts.jsonl", "rewind.jsonl", "usage-odds.jsonl", "compaction.jsonl"];
        let mut bytes = std::fs::read(fixture(names[which])).expect("the fixture");
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
