//! What a file's values become.

use super::*;

#[test]
fn parameters_and_repeats() {
    let numbered = ("files:\n", "files:\n  - {repeat: 9, as: n, each: {path: \"${n}.txt\", text: x}}\n");
    let with = |head: &str, steps: &str| {
        broken(&[numbered, ("agents:", &format!("{head}\nagents:")), ("    plan:\n", &format!("    plan:\n{steps}\n"))])
    };
    let head = "parameters:\n  files: {small: 2, medium: 3, large: 4}";
    let text = with(head, "      - {repeat: $files, each: {tool: read, args: {path: \"${i}.txt\"}, target: \"${i} of ${files}\"}}");
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
        &with(head, "      - {repeat: $files, ‹eech: {}, each: {tool: read, args: {path: \"${i}.txt\"}}}"),
        &["unknown key `eech` beside `repeat`"],
    );
    check(&with(head, "      - ‹{repeat: $files}"), &["this `repeat` has no `each`"]);
    check(&with(head, "      - {repeat: ‹often, each: {tool: read, args: {path: b.txt}}}"), &["this must be a whole number, not a text"]);
    check(&with(head, "      - {repeat: 1, as: ‹files, each: {tool: read, args: {path: b.txt}}}"), &["the name `files` is taken here"]);
    check(
        &with(head, "      - {repeat: 1, as: ‹a b, each: {tool: read, args: {path: b.txt}}}"),
        &["`as` must be a name of letters, digits and `_`"],
    );
    let nested = "tags:\n  - repeat: 1000\n    each:\n      - ‹{repeat: 1000, as: j, each: x}";
    check(&with(nested, ""), &["this file becomes more than 100000 entries"]);
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
        ("topics:", "script: []\ntopics:"),
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
        ("topics:", "script: [{thread: /, replies: [{text: a}]}]\ntopics:"),
        ("topics:", "script: [{thread: /, replies: [{text: b}]}]\ntopics:"),
        ("topics:", "script: [{thread: /, replies: [{text: a, ms: 1}]}]\ntopics:"),
        ("topics:", "script: [{thread: /, turn: 2, replies: [{text: a}]}]\ntopics:"),
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
