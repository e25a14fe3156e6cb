//! The figures of the fixtures, computed by hand from the files.

use std::collections::BTreeMap;

use ctxbench::import::{Options, import};

use crate::expect::{check_account, check_expect, fixture, imported};

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
        "nested",
        "sessions=57ed:2:270,upper:2:124,lower:2:75 57ed.spend_inclusive.total=469 upper.spend_inclusive.total=199 \
         delegations=k1>upper:tool_use_id/exact/completed,k2>lower:tool_use_id/exact/completed",
    );
    // The first call's usage is that of the child's last response at that time: it corrects it, and is none more.
    check(
        "called-again",
        "sessions=a6a1:3:453,scribe:2:110 a6a1.spend_inclusive.total=563 \
         delegations=k1>scribe:agent_id/exact/completed,k2>scribe:agent_id/exact/completed",
    );
    check(
        "equal-prompts.jsonl",
        "sessions=lighthouse:2:270,c0-1:1:12,c1-1:1:13,c2-1:1:14,c3-1:1:15 lighthouse.spend_inclusive.total=324 \
         delegations=k1>c1-1:prompt/high/completed,k2>c0-1:prompt/high/completed,k3>c2-1:order/low/completed,k4>c3-1:order/low/completed",
    );
    // The same without `toolUseResult`: the results' own texts tell them apart, a string and a list of blocks alike.
    check(
        "equal-prompts-told-by-results.jsonl",
        "sessions=lighthouse:2:270,c0-1:1:12,c1-1:1:13,c2-1:1:14,c3-1:1:15 lighthouse.spend_inclusive.total=324 \
         delegations=k1>c1-1:prompt/high/completed,k2>c0-1:prompt/high/completed,k3>c2-1:order/low/completed,k4>c3-1:order/low/completed",
    );
}

/// Whatever an import keeps: the same sessions, links and counts, on every fixture.
#[test]
fn a_summary_says_what_steps_say() {
    let mut folders = vec![fixture("")];
    let mut checked = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry.clone());
            }
            imported(&entry);
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
    imported(&fixture(""));
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
    // 2.0 wrote a child's file beside the session's.
    let session = fixture("called-again/5a5a0000-0000-4000-8000-00000000a6a1.jsonl");
    check_expect(&session, "sessions=a6a1:3:453,scribe:2:110 files=2");
    let child = fixture("folder/5a5a0000-0000-4000-8000-00000000f01d/subagents/agent-boats-7.jsonl");
    // Without its parent the placeholder stands: 121 + 126.
    check_expect(&child, "sessions=boats-7:2:247 files=2 parent=5a5a0000-0000-4000-8000-00000000f01d");
}

#[test]
fn copies_of_sessions_count_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    let text = std::fs::read_to_string(fixture("copied-session.jsonl")).expect("the fixture");
    let original: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    write("new.jsonl", &text);
    write("old.jsonl", &original);
    check_expect(folder.path(), "sessions=new:1:148,old:1:115 inherited_items=2 duplicates=0 orphans=0");
    // The same file once more: four records, all known.
    write("new-backup.jsonl", &text);
    check_expect(folder.path(), "sessions=new:1:148,old:1:115 inherited_items=2 duplicates=4 orphans=0");
    // Copied rows that took the new session's name: their response is the first file's.
    write("new-backup.jsonl", "");
    write("third.jsonl", &text.replace("\"old\"", "\"third\"").replace("\"new\"", "\"third\""));
    check_expect(folder.path(), "sessions=new:1:148,old:1:115,third:0:0 inherited_items=6 duplicates=0");
}

#[test]
fn a_record_written_twice_has_the_larger_usage() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(fixture("damage/bom-crlf.jsonl")).expect("the fixture");
    let last = text.lines().last().expect("four lines").replace("\"output_tokens\":8", "\"output_tokens\":80");
    std::fs::write(folder.path().join("s.jsonl"), format!("{text}{last}")).expect("a file");
    // 117 + 139 + 72.
    check_expect(folder.path(), "sessions=lighthouse:2:328 duplicates=1");
}

#[test]
fn other_delegating_tools_are_named_by_the_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(fixture("inline-two-children.jsonl")).expect("the fixture");
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, text.replace("\"Task\"", "\"Errand\"")).expect("a file");
    let delegations = |tools: &[&str]| {
        let options = Options { delegation_tools: tools.iter().map(|tool| (*tool).to_owned()).collect(), ..Options::default() };
        let imported = import(std::slice::from_ref(&path), &options).expect("the path exists");
        imported.sessions[0].delegations.iter().map(|one| (one.kind.clone(), one.child.clone())).collect::<Vec<_>>()
    };
    assert_eq!(delegations(&[]), []);
    let errand = |child: Option<&str>| ("Errand".to_owned(), child.map(str::to_owned));
    assert_eq!(delegations(&["Errand"]), [errand(None), errand(Some("lamp-1")), errand(Some("lens-1"))]);
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
    // Numbers that count nothing (negative, a fraction, above any request, a text): those four responses are estimated, at
    // 2 + 8, 10 + 8, 18 + 9 and 26 + 8 tokens. A response of two rows has one whole usage, 117; the last one uses 123.
    check("usage-no-counts.jsonl", "sessions=lighthouse:6:329 spend.estimated=true estimated_usage=4 bad_lines=2,3,4,5,6,8");
    // What hangs from such a record still hangs from it.
    check("progress-no-record.jsonl", "bad_lines=3,4,5");
    for none in ["empty.jsonl", "notes.txt", "other-tool.jsonl"] {
        check(none, "sessions=- skipped_files=1");
    }
}

#[test]
fn damage_of_a_file_beside_a_recording_is_counted() {
    let check = |meta: &[u8], bad: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        let child = fixture("folder/5a5a0000-0000-4000-8000-00000000f01d/subagents/agent-boats-7.jsonl");
        std::fs::copy(child, folder.path().join("agent-boats-7.jsonl")).expect("a file");
        std::fs::write(folder.path().join("agent-boats-7.meta.json"), meta).expect("a file");
        let imported = imported(folder.path());
        let found: Vec<&str> = imported.report.bad_lines.iter().map(|line| line.why.as_str()).collect();
        assert_eq!(found, bad, "{}", String::from_utf8_lossy(meta));
        assert!(imported.report.bad_lines.iter().all(|line| line.file.ends_with(".meta.json")));
    };
    check(br#"{"agentType":"scout","toolUseId":"k1","spawnDepth":1}"#, &[]);
    check(br#"{"agentType":null,"toolUseId":"","isFork":true}"#, &[]);
    check(b"{\"toolUseId\":\"\xff\"}", &["invalid UTF-8 at byte 14 of the file"]);
    check(br#"{"toolUseId":7}"#, &["`toolUseId` is no text: left out"]);
    check(br#"{"agentType":["scout"]}"#, &["`agentType` is no text: left out"]);
    check(br#"{"spawnDepth":1.5}"#, &["`spawnDepth` is no whole number: left out"]);
    check(br#"{"toolUseId":7,"toolUseId":"k1"}"#, &[]);
    check(b"[]", &["not a JSON object"]);
}

#[test]
fn a_fork_whose_history_has_no_length_has_none() {
    let check = |length: &str, expect: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let text = std::fs::read_to_string(fixture("fork/5a5a0000-0000-4000-8000-00000000f0f0/subagents/agent-fork-1.jsonl"));
        let text = text.expect("the fixture").replace("\"contextLength\":3", &format!("\"contextLength\":{length}"));
        std::fs::write(folder.path().join("agent-fork-1.jsonl"), text).expect("a file");
        check_expect(folder.path(), expect);
    };
    check("3", "inherited_items=3 bad_lines=-");
    for odd in ["18446744073709551615", "-1", "1e30", "\"3\""] {
        check(odd, "inherited_items=0 bad_lines=1");
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
