//! How problems are told.

use super::*;

/// Ten mistakes of different kinds, none of which hides another.
fn much_broken() -> String {
    broken(&[
        ("why:", "whi: x\nwhy:"),
        ("system: You look", "system: It is 9187. You look"),
        ("about: Asks about a day.", "about: Asks about a day.\n    ms: fast"),
        ("statement: The service listens on 9187.", "statement: The service listens somewhere."),
        ("agent: scout", "agent: scot"),
        ("needs: [port]", "needs: [port, prt]"),
        ("args: {path: b.txt}", "args: {path: c.txt}"),
        ("marker: JOB-1", "marker: JOB-2"),
        ("delegate: [find-port]", "delegate: [find-port, find-prt]"),
        ("{id: states-port, recall: port}", "{id: states-port, recall: port, equals: x}"),
    ])
}

#[test]
fn everything_is_reported_at_once() {
    let marked = much_broken()
        .replace("whi: x", "‹whi: x")
        .replace("system: It is", "system: ‹It is")
        .replace("ms: fast", "ms: ‹fast")
        .replace("statement: The", "statement: ‹The")
        .replace("agent: scot", "agent: ‹scot")
        .replace("[port, prt]", "[port, ‹prt]")
        .replace("{path: c.txt}", "‹{path: c.txt}")
        .replace("marker: JOB-2", "marker: ‹JOB-2")
        .replace("find-prt", "‹find-prt")
        .replace("{id: states-port", "‹{id: states-port");
    check(
        &marked,
        &[
            "unknown key `whi`",
            "a marker of the fact `port-now` stands here, and the fact does not say so",
            "this must be a whole number, not a text",
            "the statement of `port-now` does not hold its marker `9187`",
            "there is no agent `scot`",
            "there is no topic `prt`",
            "there is no file `c.txt` when this step is taken",
            "the marker `JOB-2` does not stand in this turn's message",
            "there is no intent `find-prt`",
            "the check `states-port` asks several things",
        ],
    );
}

#[test]
fn problems_are_shown_with_line_and_caret() {
    insta::with_settings!({snapshot_path => "../snapshots"}, {
        insta::assert_snapshot!("scenario_problems", errors(&much_broken()));
        insta::assert_snapshot!("scenario_syntax_problem", errors("id: [a\ntitle: b\n"));
    });
    let one = &errors(&broken(&[("agent: scout", "agent: scot")])).errors[0];
    assert_eq!(one.to_string(), "base.yaml:28:12: there is no agent `scot`; did you mean `scout`?");
    assert_eq!((one.file.as_str(), one.line, one.column), ("base.yaml", 28, 12));
}

#[test]
fn several_problems_of_one_place() {
    check_base(
        &[("title: A scenario to break\nwhy: Each test breaks it in one place.\n", ""), ("id: base", "‹‹id: base")],
        &["the key `title` is missing here", "the key `why` is missing here"],
    );
    // A repeat makes many alike: some are shown, the rest is counted.
    let files = "      - {repeat: 40, each: {tool: read, args: ‹‹‹‹‹{path: \"${i}.txt\"}}}\n";
    let text = broken(&[("    plan:\n", &format!("    plan:\n{files}"))]);
    let missing = |name: u32| format!("there is no file `{name}.txt` when this step is taken");
    let last = missing(5) + " (and 35 more like it)";
    check(&text, &[&missing(1), &missing(2), &missing(3), &missing(4), &last]);
}

#[test]
fn columns_count_characters() {
    check_base(
        &[
            ("system: You look things up.\n    tools: [read]", "{system: Prüfe 中文 🙂, ‹sytem: x, tools: [read]}"),
            ("  scout:\n    {", "  scout: {"),
        ],
        &["unknown key `sytem`"],
    );
}

#[test]
fn syntax_errors_come_alone_and_nothing_panics() {
    for text in [
        "",
        "\n",
        "#",
        "id: [",
        "id: a\n b: c\n",
        "a: &x\nb: *y\n",
        "\t",
        "id: 'a",
        "%YAML 9\n---\n",
        "a: !!binary x",
        "- ? a\n",
        "{}",
        "[]",
        "id: \u{0}",
        "a: *a",
    ] {
        let errors = errors(text);
        assert!(!errors.errors.is_empty() && errors.errors.iter().all(|error| error.line >= 1 && error.column >= 1), "{text:?}");
        assert!(!errors.to_string().is_empty());
    }
    assert!(errors("id: [a\n").errors.len() == 1);
    for depth in [31, 100, 1500, 100_000] {
        let deep = broken(&[("text: Not here.", &format!("text: {}x{}", "[".repeat(depth), "]".repeat(depth)))]);
        assert!(!errors(&deep).errors.is_empty());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]
    /// Whatever is cut out of a file or written into it: an answer, problems at places of the file, no panic.
    #[test]
    fn any_damage_is_answered(at in 0_usize..1500, length in 0_usize..40, put in "[ a-z0-9:{}\\[\\]$\\n\"&*|>-]{0,12}") {
        let text: String = BASE.chars().take(at).chain(put.chars()).chain(BASE.chars().skip(at + length)).collect();
        if let Err(errors) = compile(&text, "base.yaml", Size::Small, &BTreeMap::new()) {
            let lines = text.lines().count() as u64 + 1;
            for error in &errors.errors {
                proptest::prop_assert!((1..=lines).contains(&error.line), "{}", error);
                proptest::prop_assert!(!error.help.is_empty() && !error.message.is_empty());
            }
            proptest::prop_assert!(errors.render(true).contains(&errors.errors[0].message));
        }
    }
}
