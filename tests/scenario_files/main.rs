//! The scenario files that ship, and what the format's reader says about files with mistakes.

mod checks;
mod errors;
mod format;
mod markers;
mod plans;
mod script;
mod shape;
mod shipped;
mod values;

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
    compile(text, "base.yaml", Size::Small, &BTreeMap::new()).expect_err("the text is broken")
}
