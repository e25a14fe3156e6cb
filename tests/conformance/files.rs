//! The files of vectors.

use std::fs;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::value::RawValue;

/// This project's own vectors, by file name.
pub fn fixtures() -> Vec<(String, String)> {
    own().into_iter().filter(|(name, _)| !is_wire(name)).collect()
}

/// This project's own recorded runs, by file name.
pub fn wire_fixtures() -> Vec<(String, String)> {
    own().into_iter().filter(|(name, _)| is_wire(name)).collect()
}

fn own() -> Vec<(String, String)> {
    let files = folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance"));
    assert!(!files.is_empty(), "there are files of our own");
    files
}

fn is_wire(name: &str) -> bool {
    name.starts_with("wire-")
}

/// The reference runs that are built here; none, said aloud, where the folder is not at hand.
pub fn wire_reference(test: &str) -> Vec<(String, String)> {
    let Ok(shared) = std::env::var("CTXBENCH_SHARED") else {
        eprintln!("{test}: the reference runs are skipped, CTXBENCH_SHARED is not set");
        return vec![];
    };
    let built = |(name, _): &(String, String)| RUNS.iter().any(|run| name == &format!("{run}.json"));
    let files: Vec<_> = folder(&Path::new(&shared).join("wire")).into_iter().filter(built).collect();
    assert_eq!(files.len(), RUNS.len(), "the folder holds every run that is built here");
    files
}

/// The runs whose strategies are built here.
const RUNS: &[&str] = &[
    "claude_code__basic",
    "claude_code__fork",
    "codex_0.145.0__v2_all",
    "codex_0.160.0__v2_1",
    "codex_0.160.0__v2_all",
    "codex__v1_false",
    "codex__v2_all",
    "codex__v2_none",
    "deerflow__basic",
    "maf__chat",
    "maf__responses",
    "opencode__anthropic",
    "opencode__basic",
];

/// The reference vectors of the systems that are built here; none, said aloud, where the folder is not at hand.
pub fn reference(test: &str) -> Vec<(String, String)> {
    let Ok(shared) = std::env::var("CTXBENCH_SHARED") else {
        eprintln!("{test}: the reference vectors are skipped, CTXBENCH_SHARED is not set");
        return vec![];
    };
    let built = |(name, _): &(String, String)| SYSTEMS.iter().any(|system| name == &format!("{system}.json"));
    let files: Vec<_> = folder(&Path::new(&shared).join("conformance")).into_iter().filter(built).collect();
    assert_eq!(files.len(), SYSTEMS.len(), "the folder holds a file for every system that is built here");
    files
}

/// The systems that are built here.
const SYSTEMS: &[&str] = &["codex", "deerflow", "learn_claude_code", "maf", "opencode"];

fn folder(path: &Path) -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> = fs::read_dir(path)
        .unwrap_or_else(|why| panic!("{}: {why}", path.display()))
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display())))
    };
    files.into_iter().map(read).collect()
}

type Fields = IndexMap<String, Box<RawValue>>;

fn fields(text: &str) -> Fields {
    serde_json::from_str(text).expect("it is a JSON object")
}

fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).expect("it is JSON")
}

/// What a file says of its placeholders, by name.
pub fn notes(text: &str) -> IndexMap<String, serde_json::Value> {
    serde_json::from_str(fields(text)["notes"].get()).expect("notes are an object")
}

/// The system that a file is of.
pub fn system(text: &str) -> String {
    serde_json::from_str(fields(text)["system"].get()).expect("the system is a text")
}

/// The file with every vector's fields edited. The order of keys stays: it is part of some texts.
pub fn edited(text: &str, edit: impl Fn(usize, Fields) -> Fields) -> String {
    let mut file = fields(text);
    let vectors: Vec<Fields> = serde_json::from_str(file["vectors"].get()).expect("vectors are a list of objects");
    let vectors: Vec<Fields> = vectors.into_iter().enumerate().map(|(at, fields)| edit(at, fields)).collect();
    file.insert("vectors".into(), raw(serde_json::to_string(&vectors).expect("it was JSON")));
    serde_json::to_string(&file).expect("it was JSON")
}

/// The same file without names, reasons, notes and expectations.
pub fn stripped(text: &str) -> String {
    let label = |key: &str| matches!(key, "name" | "why" | "note") || key.starts_with("expected_");
    edited(text, |_, fields| fields.into_iter().filter(|(key, _)| !label(key)).collect())
}

/// The file's own vectors with the expectations that a file of the same vectors emits.
pub fn with_expectations_of(text: &str, emitted: &str) -> String {
    let emitted: Vec<Fields> = serde_json::from_str(fields(emitted)["vectors"].get()).expect("vectors are a list of objects");
    edited(text, |at, mut fields| {
        fields.retain(|key, _| !key.starts_with("expected_"));
        fields.extend(emitted[at].iter().filter(|(key, _)| key.starts_with("expected_")).map(|(key, value)| (key.clone(), value.clone())));
        fields
    })
}
