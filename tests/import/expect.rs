//! Figures beside what was expected of them.
//!
//! `expect` lines are `key=value` pairs, one space between; `sessions=ID:RESPONSES:TOTAL,...` lists every thread (ids are
//! compared from their ends), `delegations=CALL>CHILD:LINK/CONFIDENCE/STATUS,...`, `bad_lines` lists line numbers, `-` is
//! none, `*` anything.

use std::path::{Path, PathBuf};

use ctxbench::import::{Detail, Imported, Options, import, json};
use serde_json::Value;

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings/claude-code").join(name)
}

pub fn shared(what: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CTXBENCH_SHARED");
    if folder.is_none() {
        eprintln!("SKIPPED: the environment variable CTXBENCH_SHARED is not set, so `{what}` is not checked");
    }
    folder.map(|folder| Path::new(&folder).join(what))
}

pub fn imported(path: &Path) -> Imported {
    let imported = import(&[path.to_owned()], &Options::default()).expect("the path exists");
    check_account(&imported);
    let options = Options { detail: Detail::Summary, ..Options::default() };
    assert_eq!(json(&import(&[path.to_owned()], &options).expect("the path exists")), json(&imported), "a summary has the same figures");
    imported
}

/// Every line and every record has one fate.
pub fn check_account(imported: &Imported) {
    let (report, account) = (&imported.report, imported.report.account);
    assert_eq!(report.lines, account.blank_lines + account.record_lines + account.lost_lines);
    assert_eq!(account.records, account.conversation + account.beside + account.unknown);
    assert_eq!(account.unknown, report.unknown_types.values().sum::<u64>());
    assert!(report.bad_lines.len() as u64 >= account.lost_lines);
}

pub fn value_of(document: &Value, key: &str) -> Value {
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
pub fn agrees(found: &str, expect: &str) -> bool {
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

pub fn name(value: impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

pub fn check_expect(path: &Path, expect: &str) {
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
