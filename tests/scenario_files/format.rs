//! The page and the schema of the format.

use super::*;

#[test]
fn the_committed_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/schema.json");
    let current = format!("{:#}\n", ctxbench::scenario::file::schema());
    if std::env::var_os("CTXBENCH_UPDATE").is_some() {
        std::fs::write(path, &current).expect("the schema can be written");
    }
    let committed = std::fs::read_to_string(path).expect("the schema is committed");
    assert!(committed == current, "scenarios/schema.json is not current: run this test once with CTXBENCH_UPDATE=1");
}

#[test]
fn the_schema_accepts_what_ships_and_refuses_mistakes() {
    let schema = ctxbench::scenario::file::schema();
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let valid = |text: &str| {
        let value: serde_json::Value = serde_saphyr::from_str(text).expect("YAML");
        validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect::<Vec<_>>()
    };
    for name in builtin_names() {
        assert_eq!(valid(builtin(name).expect("a built-in name")), Vec::<String>::new(), "{name}");
    }
    assert_eq!(valid(BASE), Vec::<String>::new());
    for (from, to) in [
        ("why:", "whi: x\nwhy:"),
        ("title: A scenario to break\n", ""),
        ("about: Reads a file.}", "about: Reads a file., ms: fast}"),
        ("does: read,", "does: reed,"),
        ("text: Not here.", "text: {source: 4, sed: 3}"),
        ("delegate: [find-port]", "delegate: find-port"),
        ("recall: port}", "recall: port, wait: 3}"),
        ("topics:", "script: [{thread: /, replies: [{says: x}]}]\ntopics:"),
        ("topics:", "script: [{thread: /, replies: [{calls: [{tool: {name: read}, back: {}}]}]}]\ntopics:"),
        ("topics:", "script: [{thread: /, replies: [{calls: [{}]}]}]\ntopics:"),
        ("  - {path: b.txt, text: Not here.}", "  - {repeat: 3, each: {paht: b.txt, text: Not here.}}"),
        ("  - {path: b.txt, text: Not here.}", "  - {repeat: 3, as: 4, each: {path: b.txt, text: Not here.}}"),
    ] {
        assert_ne!(valid(&broken(&[(from, to)])), Vec::<String>::new(), "{to}");
    }
}

#[test]
fn the_page_on_the_format_names_every_key() {
    let page = include_str!("../../scenarios/README.md");
    let schema = ctxbench::scenario::file::schema();
    // Every odd piece between backticks is code, the example included.
    let code: String = page.split('`').skip(1).step_by(2).collect::<Vec<_>>().join(" ");
    let words: std::collections::BTreeSet<&str> = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let mut missing = vec![];
    let records = schema["$defs"].as_object().expect("records").values().chain([&schema]);
    for record in records {
        let properties = record["properties"].as_object().into_iter().flatten();
        missing.extend(properties.map(|(key, _)| key).filter(|key| !words.contains(key.as_str())));
    }
    assert!(missing.is_empty(), "scenarios/README.md does not name {missing:?}");
}

#[test]
fn the_example_of_the_page_is_sound() {
    let page = include_str!("../../scenarios/README.md");
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let script = page.split("```yaml\n").nth(2).and_then(|rest| rest.split("```").next()).expect("an example of a script");
    for text in [example.to_owned(), format!("{example}{script}")] {
        let file = ScenarioFile::parse(&text, "README.md").unwrap_or_else(|errors| panic!("{errors}"));
        file.check().unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(file.sizes(), Size::ALL);
    }
}
