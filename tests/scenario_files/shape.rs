//! Keys, types, references, names.

use super::*;

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
