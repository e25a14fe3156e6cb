//! Markers, and the order of facts.

use super::*;

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
    let value = |value: &str| {
        with_host("host alpha", "It runs on host alpha.", "It runs on host alpha.").replace("value: alpha", &format!("value: ‹{value}"))
    };
    check(&value("alpha 9187"), &["the value of `host-now` holds a marker of the fact `port-now`"]);
    check(&value("guess"), &["`guess` cannot be a value"]);
    check(&value("\" \""), &["` ` cannot be a value"]);
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
    let label = |label: &str| {
        with_host("host alpha", "It runs on host alpha.", "It runs on host alpha.")
            .replace("- id: host\n", &format!("- id: host\n    label: {label}\n"))
    };
    check(
        &label("port of the host").replace("- id: port\n", "- id: ‹port\n"),
        &["the label of the topic `host` begins like that of `port`"],
    );
    scenario(&label("portable"));
    check(&label("task").replace("- id: host\n", "- id: ‹host\n"), &["a topic cannot be labelled `task`"]);
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
        &[("    needs: [port]", "    terse: ‹Go on with JOB-1.\n    needs: [port]")],
        &["the task of `find-port` also holds `JOB-1`, the marker of another work"],
    );
    // A turn shares its marker with an intent that it delegates, and with nothing else.
    scenario(&broken(&[("marker: TASK-1", "marker: JOB-1"), ("task: \"TASK-1: find", "task: \"JOB-1: find")]));
    check_base(
        &[("checks:", "  - {marker: ‹TASK-1, user: \"TASK-1: and now?\", needs: [port]}\nchecks:")],
        &["`TASK-1` is the task marker of line 30 already"],
    );
    check_base(
        &[("checks:", "  - {marker: ‹JOB-1, user: \"JOB-1: and now?\", needs: [port]}\nchecks:")],
        &["`JOB-1` is the task marker of line 37 already"],
    );
    check_base(
        &[("    needs: [port]", "    follow_ups: [{topic: port, task: And why?}, {topic: port, task: ‹And why?}]\n    needs: [port]")],
        &["two follow-ups have the same text"],
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
