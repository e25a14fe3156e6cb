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
    let endless = "      - {repeat: 1000, each: {repeat: 1000, as: j, each: {tool: read, args: {path: b.txt}}}}";
    let nested = "      - repeat: 1000\n        each:\n          - ‹{repeat: 1000, as: j, each: {tool: read, args: {path: b.txt}}}";
    assert!(!errors(&with(head, endless)).errors.is_empty());
    check(&with(head, nested), &["this file becomes more than 400000 entries"]);
}
