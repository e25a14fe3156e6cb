//! Plans that can be carried out.

use super::*;

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
    check_base(
        &[("{tool: read, args: {path: a.txt}", "‹{tool: read, args: {path: b.txt}"), ("needs: [port]", "needs: [‹port]")],
        &["nothing ever reveals the topic `port`", "this step stands in the plan already"],
    );
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
fn titles_tell_delegations_from_steps() {
    check_base(
        &[("title: Find the port", "title: a.txt"), ("- id: find-port", "- id: ‹find-port")],
        &["the title `a.txt` is also the target of a step"],
    );
}
