//! The house keeps its shape: one-way arrows between rooms, and no clock, randomness or I/O where there must be none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which rooms a room may use. A room that is not named here fails the test: name it.
const ARROWS: &[(&str, &[&str])] = &[
    ("transcript", &[]),
    ("tokens", &["transcript"]),
    ("strategy", &["transcript"]),
    ("ledger", &["transcript", "strategy", "cache"]),
    ("setting", &["transcript", "cache"]),
    ("scenario", &["transcript", "strategy", "setting", "error"]),
    ("import", &["transcript", "ledger"]),
    ("model", &["transcript", "strategy", "ledger", "setting", "scenario", "import", "tokens", "prices", "error"]),
    ("engine", &["transcript", "strategy", "ledger", "setting", "tokens", "model", "cache"]),
    ("metrics", &["transcript", "strategy", "ledger", "tokens", "scenario", "score", "cache", "prices", "reason"]),
    ("score", &["transcript", "strategy", "ledger", "tokens", "scenario", "reason"]),
    ("plan", &["transcript", "strategy", "setting", "scenario", "score", "model", "import", "tokens", "results", "cache", "prices"]),
    (
        "runner",
        &[
            "transcript",
            "strategy",
            "ledger",
            "setting",
            "scenario",
            "import",
            "tokens",
            "model",
            "engine",
            "metrics",
            "score",
            "plan",
            "results",
            "error",
            "reason",
        ],
    ),
    ("results", &["transcript", "ledger", "metrics", "score", "scenario", "stats", "cache", "reason"]),
    ("check", &["transcript", "strategy", "tokens", "metrics", "results", "plan", "error"]),
    ("compare", &["metrics", "results", "stats"]),
    ("sweep", &["metrics"]),
    (
        "report",
        &["transcript", "strategy", "ledger", "tokens", "metrics", "results", "plan", "check", "compare", "sweep", "stats", "error"],
    ),
    ("conformance", &["transcript", "strategy", "ledger", "setting", "tokens", "model", "engine"]),
    ("cache", &[]),
    ("prices", &["error"]),
    ("error", &[]),
    ("reason", &[]),
    ("stats", &[]),
];

/// The command line and the binary may use everything.
const FREE: &[&str] = &["cli", "lib", "main"];

fn sources() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("src is readable") {
            let path = entry.expect("src is readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let inside = path.strip_prefix(&root).expect("found under src");
                let first = inside.components().next().expect("a file has a name").as_os_str().to_string_lossy().into_owned();
                files.push((first.trim_end_matches(".rs").to_owned(), path));
            }
        }
    }
    files.sort();
    files
}

/// The code of a file without its test modules and comments.
fn product_code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source file is readable");
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn is_test_file(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "proof" || part.as_os_str() == "tests")
        || path.file_name().is_some_and(|name| name == "tests.rs")
}

/// The rooms that `crate::` paths in a code name.
fn rooms_used(code: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut rooms = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut start = true;
            for (place, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    c if start && c.is_alphabetic() => {
                        rooms.insert(word(&list[place..]));
                        start = false;
                    }
                    _ => {}
                }
            }
        } else {
            rooms.insert(word(rest));
        }
    }
    rooms
}

#[test]
fn arrows_point_one_way() {
    let arrows: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (room, path) in sources() {
        if FREE.contains(&room.as_str()) || is_test_file(&path) {
            continue;
        }
        let Some(allowed) = arrows.get(room.as_str()) else {
            wrong.push(format!("{}: the room `{room}` has no arrows declared", path.display()));
            continue;
        };
        for used in rooms_used(&product_code(&path)) {
            if used != room && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{}: `{room}` may not use `{used}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_declared_arrows_have_no_circle() {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    loop {
        let next: Vec<&str> = ARROWS
            .iter()
            .filter(|(room, uses)| !done.contains(room) && uses.iter().all(|u| done.contains(u)))
            .map(|(room, _)| *room)
            .collect();
        if next.is_empty() {
            break;
        }
        done.extend(next);
    }
    let left: Vec<&str> = ARROWS.iter().map(|(room, _)| *room).filter(|room| !done.contains(room)).collect();
    assert!(left.is_empty(), "these rooms use each other in a circle: {left:?}");
}

#[test]
fn pure_rooms_have_no_clock_randomness_or_io() {
    const FORBIDDEN: &[&str] = &[
        "tokio",
        "std::time",
        "Instant::now",
        "SystemTime",
        "rand::",
        "std::fs",
        "std::net",
        "std::env",
        "std::thread",
        "async fn",
        "println!",
        "eprintln!",
    ];
    let mut wrong = Vec::new();
    for (room, path) in sources() {
        if !["transcript", "strategy", "stats"].contains(&room.as_str()) || is_test_file(&path) {
            continue;
        }
        let code = product_code(&path);
        for word in FORBIDDEN {
            if code.contains(word) {
                wrong.push(format!("{}: `{word}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// One file opens connections; a replay cannot, since nothing that it uses can.
#[test]
fn one_file_opens_connections() {
    const CONNECTS: [&str; 3] = ["reqwest::", "std::net", "tokio::net"];
    let connects = |path: &Path| CONNECTS.iter().any(|word| product_code(path).contains(word));
    let found: Vec<PathBuf> = sources().into_iter().map(|(_, path)| path).filter(|path| connects(path)).collect();
    assert!(found.len() == 1 && found[0].ends_with("model/live/client.rs"), "{found:?}");
}

#[test]
fn names_say_what_a_file_is_about() {
    const VAGUE: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc", "manager"];
    for (_, path) in sources() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(!VAGUE.contains(&stem.as_str()), "{} has a name that says nothing", path.display());
    }
}

#[test]
fn the_arrow_reader_reads() {
    fn check(code: &str, expect: &[&str]) {
        assert_eq!(rooms_used(code).iter().map(String::as_str).collect::<Vec<_>>(), expect, "{code}");
    }
    check("use crate::engine::Run;", &["engine"]);
    check("use crate::{engine::{a, b}, tokens, model::x};", &["engine", "model", "tokens"]);
    check("let x = crate::ledger::Row; $crate::a", &["ledger"]);
    check("use my_crate::engine;", &[]);
}
