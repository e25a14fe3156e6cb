//! The scenario files that ship, and what the format's reader says about files with mistakes.

use std::collections::BTreeMap;

use ctxbench::scenario::file::{ScenarioErrors, ScenarioFile, compile};
use ctxbench::scenario::{Scenario, Size, builtin, builtin_names, compile_builtin};

/// A sound scenario that the tests break, in one place each.
const BASE: &str = "\
id: base
title: A scenario to break
why: Each test breaks it in one place.
agents:
  lead: {tools: [read, ask]}
  scout:
    system: You look things up.
    tools: [read]
tools:
  read: {does: read, about: Reads a file.}
  ask:
    about: Asks about a day.
    parameters: {day: The day.}
    outputs:
      - {args: {day: monday}, text: Nothing new.}
files:
  - {path: a.txt, text: The port is 9187 today.}
  - {path: b.txt, text: Not here.}
topics:
  - id: port
    facts:
      - id: port-now
        statement: The service listens on 9187.
        value: \"9187\"
        seen_in: [{file: a.txt}]
intents:
  - id: find-port
    agent: scout
    title: Find the port
    marker: TASK-1
    task: \"TASK-1: find the port.\"
    needs: [port]
    plan:
      - {tool: read, args: {path: b.txt}, seeks: [port]}
      - {tool: read, args: {path: a.txt}, seeks: [port]}
turns:
  - marker: JOB-1
    user: \"JOB-1: which port is it?\"
    delegate: [find-port]
checks:
  - {id: states-port, recall: port}
";

/// The base with texts replaced; each must stand in it.
fn broken(changes: &[(&str, &str)]) -> String {
    let mut text = BASE.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "the base does not hold {from:?}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// Compiles a text in which `‹` stands where a problem is expected, and compares the problems with the expected messages
/// in the order of these places.
fn check(marked: &str, expect: &[&str]) {
    let mut places = vec![];
    for (line, text) in marked.lines().enumerate() {
        let columns = text.chars().enumerate().filter(|(_, c)| *c == '‹').map(|(column, _)| column);
        places.extend(columns.enumerate().map(|(before, column)| (line as u64 + 1, (column - before) as u64 + 1)));
    }
    assert_eq!(places.len(), expect.len(), "one mark for each message:\n{marked}");
    let expect: Vec<String> = places.iter().zip(expect).map(|((line, column), message)| format!("{line}:{column} {message}")).collect();
    let text = marked.replace('‹', "");
    let found: Vec<String> = match compile(&text, "base.yaml", Size::Small, &BTreeMap::new()) {
        Ok(_) => vec![],
        Err(errors) => errors.errors.iter().map(|error| format!("{}:{} {}", error.line, error.column, error.message)).collect(),
    };
    assert_eq!(found, expect, "\n{text}");
}

/// The same for the base with changes.
fn check_base(changes: &[(&str, &str)], expect: &[&str]) {
    check(&broken(changes), expect);
}

fn scenario(text: &str) -> Scenario {
    compile(text, "base.yaml", Size::Small, &BTreeMap::new()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn errors(text: &str) -> ScenarioErrors {
    compile(text, "base.yaml", Size::Small, &BTreeMap::new()).err().expect("the text is broken")
}

#[test]
fn every_shipped_scenario_compiles_in_every_size() {
    for name in builtin_names() {
        for size in Size::ALL {
            let scenario =
                compile_builtin(name, size, &BTreeMap::new()).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(scenario.id, name);
            assert_eq!(scenario.size, size);
        }
    }
}

#[test]
fn the_base_is_sound() {
    check(BASE, &[]);
}

#[test]
fn unknown_keys() {
    check_base(&[("why:", "‹whi: x\nwhy:")], &["unknown key `whi`"]);
    check_base(&[("    system:", "    ‹sytem: x\n    system:")], &["unknown key `sytem`"]);
    check_base(&[("about: Reads a file.}", "about: Reads a file., ‹mss: 4}")], &["unknown key `mss`"]);
    check_base(&[("args: {day: monday}, text", "args: {day: monday}, ‹onces: true, text")], &["unknown key `onces`"]);
    check_base(&[("text: Not here.", "text: {source: 40, ‹sed: 4}")], &["unknown key `sed`"]);
    let help = &errors(&broken(&[("why:", "whi: x\nwhy:")])).errors[0].help;
    assert_eq!(help, "did you mean `why`?");
}

#[test]
fn wrong_types() {
    check_base(&[("about: Reads a file.}", "about: Reads a file., ms: ‹fast}")], &["this must be a whole number, not a text"]);
    check_base(
        &[("about: Reads a file.}", "about: Reads a file., ms: ‹1.5}")],
        &["this must be a whole number, not a number with a fraction"],
    );
    check_base(&[("about: Reads a file.}", "about: Reads a file., ms: ‹-1}")], &["-1 is out of range here"]);
    check_base(&[("delegate: [find-port]", "delegate: ‹find-port")], &["this must be a list, not a text"]);
    check_base(&[("title: A scenario to break", "title: ‹[a, b]")], &["this must be a text, not a list"]);
    check_base(&[("title: A scenario to break", "title: ‹true")], &["this must be a text, not true or false"]);
    check_base(&[("title: A scenario to break", "title: ‹\"\"")], &["this text is empty"]);
    check_base(&[("does: read,", "does: ‹reed,")], &["`reed` is not known here"]);
    check_base(&[("does: read,", "does: ‹[read],")], &["this must be a word, not a list"]);
    check_base(&[("lead: {tools: [read, ask]}", "lead: ‹[read, ask]")], &["this must be a mapping, not a list"]);
    check_base(&[("text: Nothing new.}", "text: Nothing new., once: ‹maybe}")], &["this must be true or false, not a text"]);
    check_base(&[("recall: port}", "recall: port, weight: ‹heavy}")], &["this must be a number, not a text"]);
}

#[test]
fn missing_keys() {
    check_base(&[("title: A scenario to break\n", ""), ("id: base", "‹id: base")], &["the key `title` is missing here"]);
    check_base(&[("    agent: scout\n", ""), ("- id: find-port", "- ‹id: find-port")], &["the key `agent` is missing here"]);
    check_base(&[("{path: b.txt, text: Not here.}", "‹{path: b.txt}")], &["the key `text` is missing here"]);
}

#[test]
fn references_to_nothing() {
    check_base(&[("delegate: [find-port]", "delegate: [find-port, ‹find-prt]")], &["there is no intent `find-prt`"]);
    check_base(&[("needs: [port]", "needs: [port, ‹prt]")], &["there is no topic `prt`"]);
    check_base(&[("args: {path: a.txt}, seeks: [port]", "args: {path: a.txt}, seeks: [port, ‹door]")], &["there is no topic `door`"]);
    check_base(&[("agent: scout", "agent: ‹scot")], &["there is no agent `scot`"]);
    check_base(&[("tools: [read]", "tools: [read, ‹write]")], &["there is no tool `write`"]);
    check_base(&[("recall: port", "recall: [port, ‹ports]")], &["there is no topic `ports`"]);
    check_base(&[("recall: port", "recall: port, intent: ‹find")], &["there is no intent `find`"]);
    check_base(&[("id: base", "id: base\nroot: ‹leed")], &["there is no agent `leed`"]);
    check_base(&[("text: Not here.", "text: {fact: ‹port-new}")], &["there is no fact `port-new`"]);
    check_base(&[("seen_in: [{file: a.txt}]", "seen_in: [{file: a.txt}, ‹{file: c.txt}]")], &["there is no file `c.txt`"]);
    check_base(&[("seen_in: [{file: a.txt}]", "seen_in: [{file: a.txt}, ‹{turn: first}]")], &["there is no turn `first`"]);
    check_base(&[("    needs: [port]", "    known: [‹prot]\n    needs: [port]")], &["there is no topic `prot`"]);
    check_base(
        &[("    needs: [port]", "    follow_ups: [{topic: ‹x, task: And the rest?}]\n    report: {also: [‹y]}\n    needs: [port]")],
        &["there is no topic `x`", "there is no topic `y`"],
    );
    let help = |changes| errors(&broken(changes)).errors[0].help.clone();
    assert_eq!(help(&[("agent: scout", "agent: scot")]), "did you mean `scout`?");
    assert_eq!(help(&[("agent: scout", "agent: nobody")]), "known: `lead`, `scout`");
}

#[test]
fn names_that_stand_twice() {
    check_base(&[("topics:", "  - {path: ‹a.txt, text: Again.}\ntopics:")], &["the file `a.txt` is declared twice"]);
    check_base(
        &[
            ("checks:\n", "checks:\n  - {id: states-port, contains: x}\n"),
            ("  - {id: states-port, recall", "  - {id: ‹states-port, recall"),
        ],
        &["the check `states-port` is declared twice"],
    );
    check_base(&[("turns:\n", "turns:\n  - {id: t, user: a}\n  - {id: ‹t, user: b}\n")], &["the turn `t` is declared twice"]);
    check_base(&[("tools: [read]", "tools: [read, ‹read]")], &["the agent `scout` has the tool `read` twice"]);
    check_base(
        &[(
            "      - {args: {day: monday}, text: Nothing new.}",
            "      - {args: {day: monday}, text: a}\n      - ‹{args: {day: monday}, text: b}",
        )],
        &["the tool `ask` answers `{\"day\":\"monday\"}` twice"],
    );
    check_base(&[("title: A", "title: first\n‹title: A")], &["the key `title` stands twice in this mapping"]);
    check_base(
        &[("topics:\n", "topics:\n  - {id: port, made: {intent: find-port, from: []}}\n"), ("  - id: port\n", "  - id: ‹port\n")],
        &["the topic `port` is declared twice"],
    );
}

#[test]
fn steps_that_cannot_be_taken() {
    check_base(&[("{tool: read, args: {path: b.txt}", "{tool: ‹reed, args: {path: b.txt}")], &["there is no tool `reed`"]);
    check_base(
        &[("{tool: read, args: {path: b.txt}", "{tool: ‹ask, args: {day: monday}")],
        &["the agent `scout` does not have the tool `ask`"],
    );
    check_base(&[("args: {path: b.txt}", "args: ‹{path: c.txt}")], &["there is no file `c.txt` when this step is taken"]);
    check_base(&[("args: {path: b.txt}", "args: ‹{pth: b.txt}")], &["the tool `read` has no parameter `pth`"]);
    check_base(&[("args: {path: b.txt}", "args: ‹{}")], &["the tool `read` needs the argument `path`"]);
    check_base(&[("{tool: read, args: {path: b.txt}", "‹{tool: read")], &["the tool `read` needs the argument `path`"]);
    check_base(&[("args: {path: b.txt}", "args: ‹b.txt")], &["arguments must be a mapping, not a text"]);
    check_base(
        &[("    delegate: [find-port]", "    plan:\n      - {tool: ask, args: ‹{day: friday}}\n    delegate: [find-port]")],
        &["the tool `ask` has no output for `{\"day\":\"friday\"}`"],
    );
    // A root that does not have the tool, though a child has.
    check_base(
        &[
            ("lead: {tools: [read, ask]}", "lead: {tools: [ask]}"),
            ("    delegate: [find-port]", "    plan: [{tool: ‹read, args: {path: a.txt}}]\n    delegate: [find-port]"),
        ],
        &["the agent `lead` does not have the tool `read`"],
    );
}

#[test]
fn a_file_that_a_step_wrote_can_be_read() {
    let text = broken(&[
        ("  ask:\n", "  write: {does: write, about: Writes a file.}\n  ask:\n"),
        ("tools: [read]", "tools: [read, write]"),
        (
            "      - {tool: read, args: {path: b.txt}",
            "      - {tool: write, args: {path: c.txt, text: mine}}\n      - {tool: read, args: {path: c.txt}",
        ),
    ]);
    scenario(&text);
}

#[test]
fn what_nothing_reveals() {
    // The step that would show it is gone.
    check_base(
        &[("      - {tool: read, args: {path: a.txt}, seeks: [port]}\n", ""), ("needs: [port]", "needs: [‹port]")],
        &["nothing ever reveals the topic `port`"],
    );
    // A message of the past tells it as well.
    let text = broken(&[
        ("      - {tool: read, args: {path: a.txt}, seeks: [port]}\n", ""),
        ("topics:", "history:\n  - user: {fact: port-now}\ntopics:"),
    ]);
    scenario(&text);
    check_base(
        &[("delegate: [find-port]", "needs: [port]"), ("- id: find-port", "- id: ‹find-port")],
        &["nobody delegates the intent `find-port`"],
    );
}

#[test]
fn markers_that_are_none() {
    check_base(
        &[("value: \"9187\"", "value: ‹\"918\""), ("a.txt, text: The port is 9187", "a.txt, text: The port is 918")],
        &["`918` cannot be a marker: a marker needs at least 4 characters"],
    );
    let with = |marker: &str| broken(&[("value: \"9187\"", &format!("value: \"9187\"\n        markers: [\"9187\", ‹{marker}]"))]);
    check(&with("'the \"port\"'"), &["`the \"port\"` cannot be a marker: a marker may hold no quotes"]);
    check(&with("a <tag> b"), &["`a <tag> b` cannot be a marker: a marker may hold no `<`"]);
    check(&with("\"one\\ntwo\""), &["`one\ntwo` cannot be a marker: a marker may hold no line break"]);
    check_base(
        &[("marker: TASK-1", "marker: ‹T-1"), ("TASK-1: find", "T-1: find")],
        &["`T-1` cannot be a marker: a marker needs at least 4 characters"],
    );
}

#[test]
fn markers_and_statements() {
    check_base(
        &[("statement: The service listens on 9187.", "statement: ‹The service listens somewhere.")],
        &["the statement of `port-now` does not hold its marker `9187`"],
    );
    // Not at a word boundary.
    check_base(
        &[("statement: The service listens on 9187.", "statement: ‹The service listens on 91870.")],
        &["the statement of `port-now` does not hold its marker `9187`"],
    );
}

/// The base with a second topic, whose fact stands in b.txt.
fn with_host(marker: &str, statement: &str, file: &str) -> String {
    let topic = format!(
        "  - id: host\n    facts:\n      - {{id: host-now, statement: {statement}, value: alpha, markers: [{marker}], seen_in: [{{file: b.txt}}]}}\nintents:"
    );
    broken(&[("intents:", &topic), ("text: Not here.", &format!("text: {file}"))])
}

#[test]
fn markers_of_several_topics() {
    scenario(&with_host("host alpha", "It runs on host alpha.", "It runs on host alpha."));
    check(
        &with_host("host alpha", "‹It runs on host alpha under 9187.", "It runs on host alpha."),
        &["the statement of `host-now` holds a marker of the fact `port-now`"],
    );
    check(
        &with_host("host alpha", "It runs on host alpha.", "‹It runs on host alpha with 9187 open."),
        &["a marker of the fact `port-now` stands here, and the fact does not say so"],
    );
    // One inside the other: whoever sees the longer one sees both.
    let inside = with_host("port 9187 of alpha", "‹It is port 9187 of alpha.", "‹It is port 9187 of alpha.")
        .replace("value: \"9187\"", "value: ‹\"9187\"");
    check(
        &inside,
        &[
            "a marker of the fact `port-now` stands here, and the fact does not say so",
            "the marker `9187` stands inside the marker `port 9187 of alpha` of the topic `host`",
            "the statement of `host-now` holds a marker of the fact `port-now`",
        ],
    );
    check_base(
        &[("  - id: port\n    facts", "  - id: port\n    label: number 9187\n    facts"), ("value: \"9187\"", "value: ‹\"9187\"")],
        &["the marker `9187` stands in the label of the topic `port`"],
    );
    let twins = with_host("host alpha", "It runs on host alpha.", "It runs on host alpha.")
        .replace("- id: host\n", "- id: ‹host\n    label: port\n");
    check(&twins, &["the topics `port` and `host` have the same label"]);
}

#[test]
fn places_where_a_fact_stands() {
    let undeclared = "a marker of the fact `port-now` stands here, and the fact does not say so";
    check_base(&[("text: Not here.", "text: ‹It is 9187 here too.")], &[undeclared]);
    check_base(&[("system: You look", "system: ‹It is 9187. You look")], &[undeclared]);
    check_base(&[("text: Nothing new.", "text: ‹It is 9187.")], &[undeclared]);
    check_base(&[("user: \"JOB-1: which port is it?\"", "user: ‹\"JOB-1: is it 9187?\"")], &[undeclared]);
    check_base(&[("task: \"TASK-1: find the port.\"", "task: ‹\"TASK-1: is it 9187?\"")], &[undeclared]);
    check_base(&[("topics:", "history:\n  - user: ‹It was 9187 once.\ntopics:")], &[undeclared]);
    check_base(&[("topics:", "history:\n  - call: {tool: read, args: {path: a.txt}, result: ‹It was 9187.}\ntopics:")], &[undeclared]);
    // What a tool answered in the past stands where the tool took it from.
    scenario(&broken(&[("topics:", "history:\n  - call: {tool: read, args: {path: a.txt}}\ntopics:")]));
    check_base(
        &[("title: Find the port", "title: Find 9187"), ("- id: find-port", "- id: ‹find-port")],
        &["the name `Find 9187` holds a marker of the fact `port-now`"],
    );
    check_base(
        &[("seen_in: [{file: a.txt}]", "seen_in: [{file: a.txt}, ‹{file: b.txt}]")],
        &["no marker of the fact `port-now` stands in the file `b.txt`"],
    );
    check_base(
        &[("seen_in: [{file: a.txt}]", "seen_in: [‹{file: a.txt, tool: ask}]"), ("text: The port is 9187", "text: ‹The port is 9187")],
        &[undeclared, "a place has exactly one key"],
    );
    check_base(
        &[
            ("The port is 9187 today.", "The port is open."),
            ("        seen_in: [{file: a.txt}]\n", ""),
            ("- id: port-now", "- id: ‹port-now"),
            ("needs: [port]", "needs: [‹port]"),
        ],
        &["the fact `port-now` stands nowhere in this scenario", "nothing ever reveals the topic `port`"],
    );
    let help = |changes| errors(&broken(changes)).errors[0].help.clone();
    assert_eq!(
        help(&[("text: Not here.", "text: It is 9187 here too.")]),
        "add `{file: b.txt}` to `seen_in` of `port-now`, or reword this text"
    );
    assert_eq!(
        help(&[("which port is it?", "is it 9187?")]),
        "give this turn an `id` and add `{turn: ID}` to `seen_in` of `port-now`, or reword it"
    );
}

#[test]
fn task_markers() {
    check_base(
        &[("user: \"JOB-1: which", "user: \"JOB-2: which"), ("marker: JOB-1", "marker: ‹JOB-1")],
        &["the marker `JOB-1` does not stand in this turn's message"],
    );
    check_base(
        &[("task: \"TASK-1: find", "task: \"TASK-2: find"), ("marker: TASK-1", "marker: ‹TASK-1")],
        &["the marker `TASK-1` does not stand in the task of `find-port`"],
    );
    check_base(&[("  - marker: JOB-1\n    user", "  - ‹user")], &["this turn sets work and has no `marker`"]);
    check_base(
        &[("task: \"TASK-1: find", "task: ‹\"TASK-1 of JOB-1: find")],
        &["the task of `find-port` also holds `JOB-1`, the marker of another work"],
    );
    check_base(
        &[("marker: TASK-1", "marker: ‹JOB-1"), ("task: \"TASK-1: find", "task: \"JOB-1: find")],
        &["the task marker `JOB-1` stands inside the task marker `JOB-1` of line 37"],
    );
    check_base(
        &[("checks:", "  - {marker: JOB-2, user: \"JOB-2: as in JOB-1?\", needs: [port]}\nchecks:"), ("{marker: JOB-2", "{marker: ‹JOB-2")],
        &["this turn's message also holds `JOB-1`, the marker of another turn"],
    );
}

/// The base with four facts of one topic in a history, each with `supersedes` as given.
fn with_facts(supersedes: [&str; 4]) -> String {
    let mut topic = "  - id: store\n    facts:\n".to_owned();
    let mut history = "history:\n".to_owned();
    for (name, supersedes) in ["one", "two", "three", "four"].iter().zip(supersedes) {
        let older = if supersedes.is_empty() { String::new() } else { format!(", supersedes: {supersedes}") };
        topic += &format!("      - {{id: {name}, statement: We keep rows in store {name}., value: store {name}{older}}}\n");
        history += &format!("  - user: {{fact: {name}}}\n");
    }
    broken(&[("topics:\n", &(history + "topics:\n" + &topic))])
}

#[test]
fn facts_stand_in_one_line() {
    let order = |supersedes| {
        let scenario = scenario(&with_facts(supersedes));
        scenario.topics[0].facts.iter().map(|fact| fact.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(order(["", "", "", ""]), ["one", "two", "three", "four"]);
    assert_eq!(order(["", "one", "two", "three"]), ["one", "two", "three", "four"]);
    assert_eq!(order(["four", "one", "", "three"]), ["three", "four", "one", "two"]);
    check(&with_facts(["", "‹five", "one", "three"]), &["there is no fact `five` in this topic"]);
    check(&with_facts(["", "one", "‹one", "three"]), &["both `two` and `three` supersede `one`: which is newer?"]);
    check(
        &with_facts(["", "one", "", "three"]).replace("{id: three", "{id: ‹three"),
        &["neither of `one` and `three` supersedes the other: which is newer?"],
    );
    check(&with_facts(["", "‹four", "two", "three"]), &["the facts `two`, `three`, `four` supersede each other in a circle"]);
    check(&with_facts(["‹four", "one", "two", "three"]), &["the facts `one`, `two`, `three`, `four` supersede each other in a circle"]);
    check(&with_facts(["‹one", "", "two", "three"]), &["the facts `one` supersede each other in a circle"]);
}

#[test]
fn an_older_statement_does_not_tell_the_newer_fact() {
    let text = with_facts(["", "", "", ""]);
    check(
        &text.replace("statement: We keep rows in store one.", "statement: ‹We leave store one for store two."),
        &["the statement of `one` holds a marker of the fact `two`"],
    );
    scenario(&text.replace("statement: We keep rows in store two.", "statement: We left store one for store two."));
}

#[test]
fn parameters_and_repeats() {
    let with =
        |head: &str, steps: &str| broken(&[("agents:", &format!("{head}\nagents:")), ("    plan:\n", &format!("    plan:\n{steps}\n"))]);
    let head = "parameters:\n  files: {small: 2, medium: 3, large: 4}";
    let text = with(head, "      - {repeat: $files, each: {tool: read, args: {path: b.txt}, target: \"${i} of ${files}\"}}");
    let targets = |size, overrides: &[(&str, i64)]| {
        let overrides = overrides.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        let scenario = compile(&text, "base.yaml", size, &overrides).unwrap_or_else(|errors| panic!("{errors}"));
        scenario.intents[0].work.plan.iter().map(|step| step.target.clone()).collect::<Vec<_>>()
    };
    assert_eq!(targets(Size::Small, &[]), ["1 of 2", "2 of 2", "b.txt", "a.txt"]);
    assert_eq!(targets(Size::Large, &[]).len(), 6);
    assert_eq!(targets(Size::Small, &[("files", 0)]), ["b.txt", "a.txt"]);
    assert_eq!(targets(Size::Large, &[("files", 1)]), ["1 of 1", "b.txt", "a.txt"]);
    check(&with("parameters:\n  ‹files: {small: 2, large: 4}", ""), &["the parameter `files` has no value for the size `medium`"]);
    check(&with("parameters:\n  files: {small: 2, medium: 3, ‹huge: 4, large: 4}", ""), &["`huge` is no size"]);
    check(&with("parameters:\n  files: ‹many", ""), &["this must be a whole number, not a text"]);
    check(&with("parameters:\n  files: ‹$file", ""), &["there is no parameter `file`: there is none"]);
    check(&with("parameters:\n  ‹my-files: 3", ""), &["`my-files` cannot name a parameter"]);
    check(&with(head, "      - {repeat: ‹$fils, each: {tool: read}}"), &["there is no parameter `fils`: did you mean `files`?"]);
    check(
        &with(head, "      - {repeat: $files, each: {tool: read, args: {path: ‹\"${j}.txt\"}}}"),
        &["there is no parameter `j`: known: `files`, `i`"],
    );
    check(
        &with(head, "      - {repeat: $files, ‹eech: {}, each: {tool: read, args: {path: b.txt}}}"),
        &["unknown key `eech` beside `repeat`"],
    );
    check(&with(head, "      - ‹{repeat: $files}"), &["this `repeat` has no `each`"]);
    check(&with(head, "      - {repeat: ‹often, each: {tool: read, args: {path: b.txt}}}"), &["this must be a whole number, not a text"]);
    check(&with(head, "      - {repeat: 1, as: ‹files, each: {tool: read, args: {path: b.txt}}}"), &["the name `files` is taken here"]);
    check(
        &with(head, "      - {repeat: 1, as: ‹a b, each: {tool: read, args: {path: b.txt}}}"),
        &["`as` must be a name of letters, digits and `_`"],
    );
    let nested = "      - repeat: 1000\n        each:\n          - ‹{repeat: 1000, as: j, each: {tool: read, args: {path: b.txt}}}";
    check(&with(head, nested), &["this file becomes more than 100000 entries"]);
}

#[test]
fn texts_and_their_pieces() {
    let file = |text: &str| scenario(&broken(&[("text: Not here.", text)])).world.files["b.txt"].clone();
    assert_eq!(file("text: [one, \"two\\n\", 3]"), "one\ntwo\n3");
    assert_eq!(file("text: [{fact: port-now}, end]").as_str(), "The service listens on 9187.\nend");
    for (kind, size) in [("source", 700), ("log", 333), ("prose", 250)] {
        let text = file(&format!("text: {{{kind}: {size}}}"));
        assert_eq!(text.chars().count(), size, "{kind}");
        assert_ne!(text, file(&format!("text: {{{kind}: {size}, seed: 7}}")), "{kind}");
        assert_eq!(file(&format!("text: {{{kind}: {size}, seed: 7}}")), file(&format!("text: {{{kind}: {size}, seed: 7}}")), "{kind}");
    }
    assert_ne!(file("text: {source: 400, seed: 1}"), file("text: {source: 400, seed: 1, language: python}"));
    // Without a seed no two places are alike.
    let twice = scenario(&broken(&[("text: Not here.}", "text: {log: 400}}\n  - {path: c.txt, text: [{log: 400}, {log: 400}]}")]));
    let (one, two) = (&twice.world.files["b.txt"], &twice.world.files["c.txt"]);
    let (first, second) = two.split_at(400);
    assert!(one != first && one != second && first != second);

    let beside = |path: &str, read: fn(&str) -> Result<String, String>| {
        let text = broken(&[("text: Not here.", &format!("text: [before, {{beside: {path}}}]"))]);
        let file = ScenarioFile::parse_beside(&text, "base.yaml", std::sync::Arc::new(read)).unwrap_or_else(|errors| panic!("{errors}"));
        file.compile("base", Size::Small, &BTreeMap::new())
            .map(|scenario| scenario.world.files["b.txt"].clone())
            .map_err(|errors| errors.errors[0].message.clone())
    };
    assert_eq!(beside("logs/x.log", |path| Ok(format!("text of {path}"))), Ok("before\ntext of logs/x.log".to_owned()));
    assert_eq!(beside("x.log", |_| Err("no such file".to_owned())), Err("`x.log` cannot be read: no such file".to_owned()));
    for path in ["../x", "/etc/passwd", "a/../../x", "a//x", "./x", "'C:x'", "..\\x"] {
        let outside = beside(path, |_| Ok("read".to_owned()));
        assert!(outside.is_err_and(|message| message.ends_with("it lies outside of the scenario's folder")), "{path}");
    }
    check_base(&[("text: Not here.", "text: {beside: ‹x.log}")], &["`x.log` cannot be read: this scenario stands alone"]);

    check_base(&[("text: Not here.", "text: ‹{seed: 4}")], &["this piece of text says nothing"]);
    check_base(&[("text: Not here.", "text: ‹{log: 3, prose: 4}")], &["this piece of text says several things"]);
    check_base(&[("text: Not here.", "text: {log: ‹30000000}")], &["30000000 characters are too many for one text"]);
    check_base(&[("text: Not here.", "text: {log: ‹-3}")], &["-3 is out of range here"]);
    check_base(&[("text: Not here.", "text: [a, ‹{image: image/png}]")], &["only one plain text can stand here"]);
    check_base(&[("text: Not here.", "text: [a, ‹[b]]")], &["only one plain text can stand here"]);
    check_base(&[("text: Not here.", "text: {source: 3, language: ‹rst}")], &["`rst` is not known here"]);
}

#[test]
fn history_of_every_kind() {
    use ctxbench::transcript::{Body, CallKey, Content, Item, Origin, Phase, Role, dangling};
    let history = "history:
  - {user: hello, hidden: true}
  - {assistant: hi, phase: commentary}
  - {call: {tool: ask, args: {day: monday}}}
  - {call: {tool: gone, result: lost, failed: true}}
  - {call: {tool: ask, args: {day: monday}, answered: false}}
  - {developer: be brief}
  - {system: note}
  - {tool: late}
  - {reasoning: {opaque: encrypted, bytes: 800, tokens: 90}}
  - {compaction: all that was}
  - {mail: {from: /root, to: /root/a, text: well}}
  - {context: {kind: turn_context, text: settings}}
  - {user: [[one, two], [three], {image: image/png, bytes: 5}]}
topics:";
    let scenario = scenario(&broken(&[("topics:", history)]));
    let items: &[Item] = &scenario.history;
    let roles: Vec<(Option<Role>, Origin)> = items.iter().map(|item| (item.role(), item.origin)).collect();
    let call = (None, Origin::Own);
    let result = (None, Origin::ToolResult);
    let expect = [
        (Some(Role::User), Origin::User),
        (Some(Role::Assistant), Origin::Own),
        call,
        result,
        call,
        result,
        call,
        (Some(Role::Developer), Origin::System),
        (Some(Role::System), Origin::System),
        (Some(Role::Tool), Origin::ToolResult),
        (None, Origin::Own),
        (None, Origin::Compaction),
        (None, Origin::Delegated),
        (None, Origin::System),
        (Some(Role::User), Origin::User),
    ];
    assert_eq!(roles, expect);
    assert!(items[0].hidden && !items[1].hidden);
    assert!(matches!(items[1].body(), Body::Message { phase: Some(Phase::Commentary), .. }));
    assert!(matches!(items[3].body(), Body::Result { failed: false, .. }) && items[3].text() == "Nothing new.");
    assert!(matches!(items[5].body(), Body::Result { failed: true, .. }) && items[5].text() == "lost");
    assert_eq!(dangling(items), [Some(CallKey(2))]);
    assert_eq!(items[10].parts()[0].content(), &Content::Opaque { kind: "encrypted".into(), bytes: 800, tokens: Some(90) });
    let parts: Vec<&str> = items[14].parts().iter().map(|part| part.as_text()).collect();
    assert_eq!(parts, ["one\ntwo", "three", ""]);

    let broken_history = |entry: &str| broken(&[("topics:", &format!("history:\n  - {entry}\ntopics:"))]);
    check(&broken_history("‹{hidden: true}"), &["this entry says nothing"]);
    check(&broken_history("‹{user: a, assistant: b}"), &["this entry says several things"]);
    check(&broken_history("‹{user: a, phase: commentary}"), &["only a message of the `assistant` has a phase"]);
    check(&broken_history("{call: {tool: ‹aks, args: {day: monday}}}"), &["there is no tool `aks`"]);
    check(&broken_history("{call: {tool: ‹read, args: {path: c.txt}}}"), &["this call answers an error: Error: there is no file `c.txt`."]);
    check(&broken_history("{call: {tool: read, args: ‹a.txt, result: x}}"), &["arguments must be a mapping, not a text"]);
    check_base(&[("checks:", "  - items: [‹{call: {tool: ask}}]\nchecks:")], &["a call cannot stand in a user turn"]);
    check_base(&[("checks:", "  - ‹{at: 5}\nchecks:")], &["the user says nothing in this turn"]);
}

#[test]
fn checks_ask_one_thing() {
    let with = |check: &str| broken(&[("  - {id: states-port, recall: port}", &format!("  - {check}"))]);
    check(&with("‹{id: a}"), &["the check `a` asks nothing"]);
    check(&with("‹{id: a, contains: x, equals: y}"), &["the check `a` asks several things"]);
    check(&with("‹{id: a, contains: []}"), &["the check `a` asks for nothing"]);
    check(&with("‹{id: a, forbidden: [\" \"]}"), &["the check `a` asks for nothing"]);
    check(&with("{id: a, regex: ‹\"(9187\"}"), &["this is no regular expression: unclosed group"]);
    check(&with("{id: a, contains: x, weight: ‹0}"), &["the weight 0 is not above 0"]);
    check(&with("‹{id: a, contains: x, answer: false}"), &["the check `a` is asked of nobody"]);
    let text = with("{id: a, contains: [x, y], intent: find-port, answer: false, weight: 0.5}");
    let checks = scenario(&text).checks;
    assert_eq!((checks[0].intent, checks[0].on_answer, checks[0].weight), (Some(0), false, 0.5));
}

#[test]
fn heads_of_files() {
    check_base(&[("id: base", "id: ‹Base One")], &["`Base One` cannot be a scenario's id"]);
    check_base(&[("agents:", "expects_failure: ‹overflo\nagents:")], &["`overflo` is no kind of failure"]);
    check_base(
        &[("agents:", "variants: {‹base: {}, ‹b c: {parameters: {‹x: 1}}}\nagents:")],
        &["the scenario `base` is declared twice", "`b c` cannot be a scenario's id", "there is no parameter `x`"],
    );
    check_base(
        &[("does: read, about: Reads a file.}", "does: read, about: Reads a file., outputs: [‹{text: x}]}")],
        &["the tool `read` answers from the files and cannot declare outputs"],
    );
    check_base(&[("  ask:\n", "  mute: {about: ‹Says nothing.}\n  ask:\n")], &["the tool `mute` never answers anything"]);
    check_base(&[("topics:\n", "topics:\n  - ‹{id: empty}\n")], &["this topic has no facts"]);
    check_base(
        &[("topics:\n", "topics:\n  - {id: self, made: {intent: ‹find-port, from: [self]}}\n")],
        &["the deliverable `self` is made of itself"],
    );
    check("‹- a\n- b\n", &["a scenario is a mapping, not a list"]);
    check("‹just words\n", &["a scenario is a mapping, not a text"]);
    let overridden = compile(BASE, "base.yaml", Size::Small, &BTreeMap::from([("files".to_owned(), 3)])).unwrap_err();
    assert_eq!(overridden.errors[0].message, "there is no parameter `files` to override");
    let large = compile(BASE, "base.yaml", Size::Large, &BTreeMap::new()).unwrap_err();
    assert_eq!((large.errors[0].message.as_str(), large.errors[0].help.as_str()), ("this scenario has no size `large`", "known: `small`"));
}

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
    insta::assert_snapshot!(errors(&much_broken()));
    insta::assert_snapshot!(errors("id: [a\ntitle: b\n"));
    let one = &errors(&broken(&[("agent: scout", "agent: scot")])).errors[0];
    assert_eq!(one.to_string(), "base.yaml:28:12: there is no agent `scot`; did you mean `scout`?");
    assert_eq!((one.file.as_str(), one.line, one.column), ("base.yaml", 28, 12));
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

#[test]
fn the_digest_is_of_what_matters() {
    let of = |text: &str| scenario(text).digest;
    let base = of(BASE);
    assert_eq!(of(BASE), base);
    // Comments, spelling, titles and reasons change nothing that runs.
    for (from, to) in [
        ("id: base\n", "# A comment.\nid: base\n"),
        ("title: A scenario", "title: The scenario"),
        ("why: Each", "tags: [x]\nwhy: Every"),
        ("\"9187\"", "'9187'"),
    ] {
        assert_eq!(of(&broken(&[(from, to)])), base, "{to}");
    }
    let changes = [
        ("id: base", "id: bass"),
        ("lead: {tools", "lead: {system: Hm., tools"),
        ("about: Reads a file.", "about: Reads one file."),
        ("about: Reads a file.}", "about: Reads a file., ms: 41}"),
        ("text: Nothing new.", "text: Nothing old."),
        ("text: Nothing new.", "once: true, text: Nothing new."),
        ("text: Not here.", "text: Not there."),
        ("path: b.txt, text", "path: c.txt, text"),
        ("listens on 9187.", "listens at 9187."),
        ("  - id: port\n", "  - id: port\n    label: door\n"),
        ("title: Find the port", "title: Look for the port"),
        ("TASK-1: find the", "TASK-1: find a"),
        ("seeks: [port]}\n      -", "target: it}\n      -"),
        ("    needs: [port]\n", "    needs: [port]\n    group: g\n"),
        ("    needs: [port]\n", "    needs: [port]\n    background: true\n"),
        ("    needs: [port]\n", "    needs: [port]\n    report: {padding_words: 3}\n"),
        ("    needs: [port]\n", "    needs: [port]\n    known: [port]\n"),
        ("which port is it?", "which port was it?"),
        ("    delegate:", "    at: 4\n    delegate:"),
        ("recall: port}", "recall: port, weight: 2}"),
        ("recall: port}", "contains: port}"),
        ("agents:", "window: 9000\nagents:"),
        ("agents:", "ceilings: {rounds: 4}\nagents:"),
        ("agents:", "conduct: {fallback: give-up}\nagents:"),
        ("agents:", "expects_failure: limit\nagents:"),
        ("agents:", "root: scout\nagents:"),
        ("topics:", "history: [{user: hi}]\ntopics:"),
    ];
    let mut seen = std::collections::BTreeSet::from([base]);
    for (from, to) in changes {
        let text = broken(&[(from, to)]);
        // `path: c.txt` must be read by the plan as well.
        let text = if to.starts_with("path: c.txt") { text.replace("path: b.txt}, seeks", "path: c.txt}, seeks") } else { text };
        assert!(seen.insert(of(&text)), "{to}");
    }
}

#[test]
fn sizes_and_variants() {
    let file = |head: &str| {
        ScenarioFile::parse(&broken(&[("agents:", &format!("{head}\nagents:"))]), "base.yaml").unwrap_or_else(|errors| panic!("{errors}"))
    };
    assert_eq!(file("").sizes(), [Size::Small]);
    assert_eq!(file("parameters: {a: 3}").sizes(), [Size::Small]);
    assert_eq!(file("parameters: {a: {small: 1, medium: 2, large: 3}}").sizes(), Size::ALL);
    assert_eq!(file("sizes: [large, small]\nparameters: {a: {small: 1, large: 3}}").sizes(), [Size::Small, Size::Large]);
    let varied = file(
        "parameters: {a: {small: 1, medium: 2, large: 3}, b: $a, c: \"${a * b}\"}\nvariants: {other: {title: Another, parameters: {b: 7}}}",
    );
    assert_eq!(varied.ids(), ["base", "other"]);
    let parameters = |id, size| varied.parameters(id, size).into_values().collect::<Vec<_>>();
    assert_eq!(parameters("base", Size::Medium), [2, 2, 4]);
    assert_eq!(parameters("other", Size::Medium), [2, 7, 14]);
    let other = varied.compile("other", Size::Large, &BTreeMap::new()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((other.id.as_str(), other.title.as_str(), other.why.as_str()), ("other", "Another", "Each test breaks it in one place."));
    assert_eq!(other.sizes, Size::ALL);
    assert_eq!(varied.check(), Ok(()));
    assert!(varied.compile("third", Size::Small, &BTreeMap::new()).is_err());
    assert_eq!(builtin("auth-lookup"), builtin("auth-lookup-parallel"));
    // A step that only the large size has is wrong: `check` finds it, compiling the small one does not.
    let large_only = broken(&[
        ("agents:", "parameters: {a: {small: 0, medium: 0, large: 1}}\nagents:"),
        ("    plan:\n", "    plan:\n      - {repeat: $a, each: {tool: read, args: {path: none.txt}}}\n"),
    ]);
    scenario(&large_only);
    let file = ScenarioFile::parse(&large_only, "base.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(file.check().unwrap_err().errors[0].message, "there is no file `none.txt` when this step is taken");
}

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
        ("  - {path: b.txt, text: Not here.}", "  - {repeat: 3, each: {paht: b.txt, text: Not here.}}"),
        ("  - {path: b.txt, text: Not here.}", "  - {repeat: 3, as: 4, each: {path: b.txt, text: Not here.}}"),
    ] {
        assert_ne!(valid(&broken(&[(from, to)])), Vec::<String>::new(), "{to}");
    }
}

#[test]
fn the_page_on_the_format_names_every_key() {
    let page = include_str!("../scenarios/README.md");
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

/// Walks a work's plan on the world and gives what its steps show.
fn walk(scenario: &Scenario, plan: &[ctxbench::scenario::Step]) -> Vec<String> {
    use ctxbench::setting::World;
    use ctxbench::transcript::{CallKey, Part, ToolCall};
    let mut world = scenario.world.clone();
    let mut outputs = vec![];
    for step in plan {
        let args = Part::text(step.args.as_str());
        let answer =
            world.call(&ToolCall { key: CallKey(0), id: String::new(), name: step.tool.clone(), args, intent: None, recorded: None });
        assert!(!answer.failed, "{} {}", step.tool, step.args);
        outputs.push(answer.parts.iter().map(Part::as_text).collect());
    }
    outputs
}

#[test]
fn plans_of_the_shipped_scenarios_find_what_is_needed() {
    for name in builtin_names() {
        for size in Size::ALL {
            let scenario =
                compile_builtin(name, size, &BTreeMap::new()).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"));
            for intent in &scenario.intents {
                let outputs = walk(&scenario, &intent.work.plan);
                for &need in &intent.work.needs {
                    let fact = scenario.topics[need].facts.last().expect("a fact");
                    let first = outputs.iter().position(|text| fact.markers.iter().any(|marker| text.contains(marker.as_str())));
                    // Exploring ends with the step that shows the fact: what stands before it does not.
                    assert_eq!(first, Some(outputs.len() - 1), "{name} {size:?}");
                    assert!(intent.work.plan.iter().all(|step| step.seeks.contains(&need)));
                }
                assert!((400..=550).contains(&intent.task.len()), "{name}: a task of {} characters", intent.task.len());
                assert!(intent.work.plan.len() <= 53);
            }
            for turn in &scenario.turns {
                walk(&scenario, &turn.work.plan);
            }
            let last = scenario.turns.last().expect("a turn");
            assert!(
                last.work.needs.iter().any(|topic| scenario.topics[*topic].made.is_none()),
                "{name}: the final answer states what was found"
            );
        }
    }
}

#[test]
fn overrides_change_what_they_name() {
    let with = |overrides: &[(&str, i64)]| {
        let overrides = overrides.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        compile_builtin("auth-lookup", Size::Small, &overrides).expect("a built-in name").unwrap_or_else(|errors| panic!("{errors}"))
    };
    let usual = with(&[]);
    assert_eq!((usual.turns.len(), usual.intents[0].work.plan.len(), usual.world.files.len()), (5, 7, 18));
    let more = with(&[("files", 11)]);
    assert_eq!((more.turns.len(), more.intents[0].work.plan.len(), more.world.files.len()), (5, 12, 23));
    let short = with(&[("then_turns", 0)]);
    assert_eq!((short.turns.len(), short.intents[0].work.plan.len(), short.world.files.len()), (1, 7, 6));
    let long = with(&[("file_characters", 4000)]);
    assert_eq!(long.world.files["src/service/invoice.rs"].len(), 4000);
    let groups = |scenario: &Scenario| {
        let plan = &scenario.intents[0].work.plan;
        plan.chunk_by(|a, b| a.parallel.is_some() && a.parallel == b.parallel).map(<[_]>::len).collect::<Vec<_>>()
    };
    assert_eq!(groups(&usual), [1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(groups(&with(&[("reads_at_once", 100)])), [1, 6]);
    assert_eq!(groups(&with(&[("reads_at_once", 4)])), [1, 4, 2]);
    let digests: std::collections::BTreeSet<_> = [&usual, &more, &short, &long].map(|scenario| scenario.digest).into();
    assert_eq!(digests.len(), 4);
}

#[test]
fn the_example_of_the_page_is_sound() {
    let page = include_str!("../scenarios/README.md");
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let file = ScenarioFile::parse(example, "README.md").unwrap_or_else(|errors| panic!("{errors}"));
    file.check().unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(file.sizes(), Size::ALL);
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
