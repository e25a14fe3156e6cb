//! Scripts: what a file writes is what is played, and what is wrong with one is told at its place.

use ctxbench::scenario::script::{ScriptedCall, ScriptedTurn};

use super::*;

/// The base with a script of these lines.
fn scripted(lines: &str) -> String {
    broken(&[("checks:", &format!("script:\n{lines}checks:"))])
}

/// The base with one root turn of one reply with this call.
fn calling(call: &str) -> String {
    scripted(&format!("  - {{thread: /, replies: [{{calls: [{call}]}}]}}\n"))
}

#[test]
fn what_is_written_is_what_is_played() {
    let lines = r#"
  - thread: /
    replies:
      - text: I begin.
        calls:
          - tool: {name: read, args: {path: b.txt}}
          - tool: {name: ask, args: "no json"}
          - tool: {name: ask}
          - delegate: {intent: find-port}
          - delegate: {intent: find-port, task: Find it again.}
        ms: 40
      - calls: [{wait: {}}, {wait: {intents: [find-port]}}]
      - calls:
          - continue: {intent: find-port, text: And then?}
          - continue: {intent: find-port, text: Note this., wake: false}
          - close: {intent: find-port}
          - back: {}
      - {text: [Two, lines]}
  - {thread: /2, turn: 3, replies: [{calls: [{tool: {name: read, args: {path: a.txt}}}]}, {}]}
"#;
    let text = scripted(lines.trim_start_matches('\n'));
    // The written form of the library is read by another reader: both must say the same.
    let as_library = lines.replace("[Two, lines]", "\"Two\\nlines\"");
    let expect: Vec<ScriptedTurn> = serde_saphyr::from_str(&as_library).expect("the library's form");
    assert_eq!(scenario(&text).script, expect);
    assert_eq!(expect.len(), 2);
    assert!(scenario(BASE).script.is_empty());
    // Parameters and repeats work as everywhere.
    let repeated =
        "  - {thread: /, replies: [{repeat: 3, each: {calls: [{tool: {name: read, args: {path: \"${i}.txt\"}}}], ms: \"${i * 10}\"}}]}\n";
    let script = scenario(&scripted(repeated)).script;
    let of = |reply: usize| (script[0].replies[reply].ms, script[0].replies[reply].calls.clone());
    let read = |path: &str| vec![ScriptedCall::Tool { name: "read".into(), args: serde_json::json!({"path": path}) }];
    assert_eq!([of(0), of(2)], [(Some(10), read("1.txt")), (Some(30), read("3.txt"))]);
}

#[test]
fn names_that_nobody_knows() {
    check(&calling("{delegate: {intent: ‹find-prt}}"), &["there is no intent `find-prt`"]);
    check(&calling("{wait: {intents: [find-port, ‹find-prt]}}"), &["there is no intent `find-prt`"]);
    check(&calling("{continue: {intent: ‹other, text: x}}"), &["there is no intent `other`"]);
    check(&calling("{close: {intent: ‹other}}"), &["there is no intent `other`"]);
    check(&calling("{tool: {name: ‹reed}}"), &["there is no tool `reed`"]);
    let error = &errors(&calling("{delegate: {intent: find-prt}}")).errors[0];
    // `script:` takes the place of `checks:`, the base's line 40; 55 characters stand before the name.
    assert_eq!(error.to_string(), "base.yaml:41:56: there is no intent `find-prt`; did you mean `find-port`?");
}

#[test]
fn tools_that_the_thread_s_agent_lacks() {
    let turns = |child: &str| {
        let root = "  - {thread: /, turn: 2, replies: [{calls: [{delegate: {intent: find-port}}]}]}\n";
        scripted(&format!("{root}  - {{thread: {child}, replies: [{{calls: [{{tool: {{name: ‹ask}}}}]}}]}}\n"))
    };
    check(&turns("/1"), &["the agent `scout` does not have the tool `ask`"]);
    // Who plays a thread that the script does not open is not known here.
    check(&turns("/2").replace('‹', ""), &[]);
    check(&turns("/1/1").replace('‹', ""), &[]);
    check(&calling("{tool: {name: ask}}"), &[]);
    let root = scripted("  - {thread: /, replies: [{calls: [{tool: {name: ‹ask}}]}]}\n").replace("id: base", "id: base\nroot: scout");
    check(&root, &["the agent `scout` does not have the tool `ask`"]);
}

#[test]
fn turns_and_threads() {
    let twice =
        "  - {thread: /, replies: [{text: a}]}\n  - {thread: /1, replies: [{text: a}]}\n  - ‹{thread: /, turn: 1, replies: [{text: b}]}\n";
    check(&scripted(twice), &["turn 1 of the thread `/` is written twice"]);
    assert_eq!(errors(&scripted(&twice.replace('‹', ""))).errors[0].help, "it stands first in line 41: join the two");
    check(&scripted("  - {thread: /, replies: [{text: a}]}\n  - {thread: /, turn: 2, replies: [{text: a}]}\n"), &[]);
    check(&scripted("  - {thread: /, turn: ‹0, replies: [{text: a}]}\n"), &["turns are counted from 1"]);
    for wrong in ["\"\"", "1", "//", "/0", "/1/", "/a", "/+1", "/01"] {
        let expect = format!("`{}` is no place of a thread", wrong.trim_matches('"'));
        check(&scripted(&format!("  - {{thread: ‹{wrong}, replies: [{{text: a}}]}}\n")), &[&expect]);
    }
    check(&scripted("  - ‹{thread: /, replies: []}\n"), &["this turn has no replies"]);
    check(&scripted("  - ‹{replies: [{text: a}]}\n"), &["the key `thread` is missing here"]);
}

#[test]
fn unknown_keys_and_calls_that_are_none() {
    check(&scripted("  - {thread: /, ‹trun: 2, replies: [{text: a}]}\n"), &["unknown key `trun`"]);
    check(&scripted("  - {thread: /, replies: [{‹says: a}]}\n"), &["unknown key `says`"]);
    check(&calling("{‹tol: {name: read}}"), &["unknown key `tol`"]);
    check(&calling("{wait: {‹x: 1}}"), &["unknown key `x`"]);
    check(&calling("{back: {‹x: 1}}"), &["unknown key `x`"]);
    check(&calling("‹{}"), &["a call does one thing"]);
    check(&calling("‹{back: {}, wait: {}}"), &["a call does one thing"]);
    check(&calling("{delegate: ‹find-port}"), &["this must be a mapping, not a text"]);
    check(&calling("{continue: ‹{intent: find-port}}"), &["the key `text` is missing here"]);
}

#[test]
fn an_intent_that_the_script_alone_delegates_is_used() {
    let undelegated = |script: &str| broken(&[("    delegate: [find-port]\nchecks:", &format!("    needs: [port]\n{script}checks:"))]);
    let text = undelegated("").replace("  - id: find-port", "  - id: ‹find-port");
    check(&text, &["nobody delegates the intent `find-port`"]);
    check(&undelegated("script: [{thread: /, replies: [{calls: [{delegate: {intent: find-port}}]}]}]\n"), &[]);
}
