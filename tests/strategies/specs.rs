//! Specs and the registry: what is understood, what is refused and with which words.

use ctxbench::strategy::{Choice, Inline, OptionSpec, Registered, Registry, Spec};

fn names(choices: &[Choice]) -> Vec<String> {
    choices.iter().map(Choice::to_string).collect()
}

fn versioned() -> Registered {
    Registered {
        id: "versioned",
        profiles: &["2", "1", "0.9"],
        options: &[
            OptionSpec { key: "turns", words: &["absent", "none"], numbers: Some((1, 50)), default: "absent", profiles: &[] },
            OptionSpec { key: "mode", words: &["isolated", "fork"], numbers: None, default: "isolated", profiles: &["2", "1"] },
        ],
        rows: &["versioned:turns=none", "versioned@1:turns=3,mode=fork"],
        about: "for tests",
        down: "nothing",
        back: "nothing",
        returns: true,
        build: |_| Box::new(Inline),
    }
}

fn registry() -> Registry {
    let mut registry = Registry::builtin();
    registry.register(versioned()).expect("it is in order");
    registry
}

fn check(spec: &str, expect: &[&str]) {
    assert_eq!(registry().parse(spec).map(|choices| names(&choices)), Ok(expect.iter().map(|&s| s.to_owned()).collect()), "{spec}");
}

fn check_refused(spec: &str, expect: &str) {
    assert_eq!(registry().parse(spec).map(|choices| names(&choices)).map_err(|why| why.to_string()), Err(expect.to_owned()));
}

#[test]
fn what_is_understood() {
    check("inline", &["inline@1"]);
    check("inline@1", &["inline@1"]);
    check("opencode", &["opencode@1.18.33"]);
    check("opencode:background=true", &["opencode@1.18.33:background=true"]);
    // What equals the default is left out.
    check("opencode:background=false", &["opencode@1.18.33"]);
    check("maf-python:session=kept,propagate_session=true", &["maf-python@1.23.0:propagate_session=true,session=kept"]);
    check("deerflow:context_mode=isolated", &["deerflow@v2:context_mode=isolated"]);
    check("deerflow:context_mode=absent", &["deerflow@v2"]);
    check("deerflow@v3:context_mode=snapshot", &["deerflow@v3:context_mode=snapshot"]);
    check("deerflow@*", &["deerflow@v2", "deerflow@v1", "deerflow@v3", "deerflow@f1f4af9"]);
    check("full-copy:in_flight=placeholder", &["full-copy@1:in_flight=placeholder"]);
    check("opencode@*", &["opencode@1.18.33", "opencode@005201e"]);
    check("versioned", &["versioned@2"]);
    check("versioned@*", &["versioned@2", "versioned@1", "versioned@0.9"]);
    check("versioned@0.9:turns=50", &["versioned@0.9:turns=50"]);
    // Sorted by key, whatever the order.
    check("versioned:turns=3,mode=fork", &["versioned@2:mode=fork,turns=3"]);
}

#[test]
fn what_is_refused() {
    check_refused(
        "opncode",
        "strategy `opncode`: there is no strategy `opncode`; the nearest is `opencode`; known strategies: inline, full-copy, maf-dotnet, maf-python, opencode, codex-v1, codex-v2, deerflow, learn-claude-code, spawn-agent, summary-return, artifact-ref, claude-code, versioned",
    );
    check_refused(
        "codex-v3@0.160",
        "strategy `codex-v3@0.160`: there is no strategy `codex-v3`; the nearest is `codex-v1`; known strategies: inline, full-copy, maf-dotnet, maf-python, opencode, codex-v1, codex-v2, deerflow, learn-claude-code, spawn-agent, summary-return, artifact-ref, claude-code, versioned",
    );
    check_refused(
        "",
        "strategy ``: a part is empty; write ID[@PROFILE][:KEY=VALUE,...]; known strategies: inline, full-copy, maf-dotnet, maf-python, opencode, codex-v1, codex-v2, deerflow, learn-claude-code, spawn-agent, summary-return, artifact-ref, claude-code, versioned",
    );
    check_refused(
        "opencode@1.18.3",
        "strategy `opencode@1.18.3`: `opencode` has no profile `1.18.3`; the nearest is `1.18.33`; known profiles of `opencode` (`*` for all): 1.18.33, 005201e",
    );
    check_refused(
        "versioned@",
        "strategy `versioned@`: a part is empty; write ID[@PROFILE][:KEY=VALUE,...]; known profiles of `versioned` (`*` for all): 2, 1, 0.9",
    );
    check_refused(
        "versioned:turn=3",
        "strategy `versioned:turn=3`: `versioned@2` has no option `turn`; the nearest is `turns`; known options of `versioned@2`: turns, mode, return_format, return_max",
    );
    // An option of other profiles is none of this one, also when all profiles are meant.
    check_refused(
        "versioned@0.9:mode=fork",
        "strategy `versioned@0.9:mode=fork`: `versioned@0.9` has no option `mode`; the nearest is `turns`; known options of `versioned@0.9`: turns, return_format, return_max",
    );
    check_refused(
        "versioned@*:mode=fork",
        "strategy `versioned@*:mode=fork`: `versioned@0.9` has no option `mode`; the nearest is `turns`; known options of `versioned@0.9`: turns, return_format, return_max",
    );
    check_refused(
        "deerflow@*:context_mode=snapshot",
        "strategy `deerflow@*:context_mode=snapshot`: `deerflow@f1f4af9` has no option `context_mode`; the nearest is `return_max`; known options of `deerflow@f1f4af9`: return_format, return_max",
    );
    check_refused("inline:x=1", "strategy `inline:x=1`: `inline@1` has no option `x`; known options of `inline@1`: none");
    check_refused(
        "opencode:",
        "strategy `opencode:`: a part is empty; write ID[@PROFILE][:KEY=VALUE,...]; known options of `opencode@1.18.33`: background, return_format, return_max",
    );
    check_refused(
        "opencode:background=true,",
        "strategy `opencode:background=true,`: a part is empty; write ID[@PROFILE][:KEY=VALUE,...]; known options of `opencode@1.18.33`: background, return_format, return_max",
    );
    check_refused(
        "opencode:background",
        "strategy `opencode:background`: a part is empty; write ID[@PROFILE][:KEY=VALUE,...]; known values of `background`: false, true",
    );
    check_refused(
        "opencode:background=",
        "strategy `opencode:background=`: a part is empty; write ID[@PROFILE][:KEY=VALUE,...]; known values of `background`: false, true",
    );
    check_refused(
        "opencode:background=ture",
        "strategy `opencode:background=ture`: the option `background` has no value `ture`; the nearest is `true`; known values of `background`: false, true",
    );
    check_refused(
        "opencode:background=true,background=true",
        "strategy `opencode:background=true,background=true`: the option `background` is given twice; give it once; known options of `opencode@1.18.33`: background, return_format, return_max",
    );
    for value in ["0", "51", "03", "+3", "-1", "3.0", "99999999999999999999"] {
        let known = "known values of `turns`: absent, none, 1..50";
        let why = registry().parse(&format!("versioned:turns={value}")).map(|_| ()).map_err(|why| why.to_string());
        assert!(why.as_ref().is_err_and(|why| why.contains(&format!("has no value `{value}`")) && why.ends_with(known)), "{why:?}");
    }
}

#[test]
fn a_spec_is_taken_apart_and_written_back() {
    for text in ["a", "a@b", "a@*", "a:b=c", "a@b:c=d,e=f", "a@b@c:d", "@:", "a:,=,b=c=d", ":"] {
        assert_eq!(Spec::parse(text).to_string(), text);
    }
    let spec = Spec::parse("a@b@c:d=e=f,g");
    assert_eq!((spec.id.as_str(), spec.profile.as_deref()), ("a", Some("b@c")));
    let options: Vec<(&str, Option<&str>)> = spec.options.iter().map(|one| (one.key.as_str(), one.value.as_deref())).collect();
    assert_eq!(options, [("d", Some("e=f")), ("g", None)]);
}

proptest::proptest! {
    /// No text is a reason to panic, and what is understood is understood again from its own name.
    #[test]
    fn any_text_is_judged(text in "[a-z1@:,=*. -]{0,24}|(inline|opencode|versioned|full-copy)[@:][a-z_=,0-9*.@:]{0,30}") {
        if let Ok(choices) = registry().parse(&text) {
            for choice in choices {
                proptest::prop_assert_eq!(registry().parse(&choice.to_string()), Ok(vec![choice]));
            }
        }
    }
}

#[test]
fn every_choice_builds_what_it_names() {
    let registry = Registry::builtin();
    for one in registry.list() {
        let mut specs = vec![format!("{}@*", one.id)];
        for option in one.options {
            let profiles = if option.profiles.is_empty() { &["*"] } else { option.profiles };
            let words = |profile| option.words.iter().map(move |word| format!("{}@{profile}:{}={word}", one.id, option.key));
            specs.extend(profiles.iter().flat_map(words));
        }
        for choice in specs.iter().flat_map(|spec| registry.parse(spec).expect("made of what is listed")) {
            assert_eq!(choice.build().id(), choice.to_string());
        }
    }
}

#[test]
fn the_rows_of_a_run() {
    let rows = [
        "inline@1",
        "full-copy@1",
        "maf-dotnet@2026-08",
        "maf-python@1.23.0",
        "opencode@1.18.33",
        "codex-v1@0.171:fork_context=false",
        "codex-v1@0.171:fork_context=true",
        "codex-v2@0.171",
        "codex-v2@0.160:fork_turns=none",
        "codex-v2@0.160:fork_turns=all",
        "codex-v2@0.160:fork_turns=3",
        "deerflow@v2:context_mode=isolated",
        "deerflow@v2:context_mode=snapshot",
        "learn-claude-code@0f691a0",
        "spawn-agent@article-18",
        "summary-return@1",
        "artifact-ref@1",
    ];
    assert_eq!(names(&Registry::builtin().default_rows()), rows);
    let with = names(&registry().default_rows());
    assert_eq!(with[rows.len()..], ["versioned@2:turns=none", "versioned@1:mode=fork,turns=3"]);
}

#[test]
fn options_as_chosen_and_as_listed() {
    let choice = &registry().parse("versioned@1:turns=3").expect("known")[0];
    assert_eq!((choice.id(), choice.profile(), choice.option("turns"), choice.option("mode")), ("versioned", "1", "3", "isolated"));
    let old = &registry().parse("versioned@0.9").expect("known")[0];
    assert_eq!((old.option("mode"), old.option("nothing")), ("", ""));
    let listed: Vec<String> = registry().list().iter().flat_map(|one| one.options).map(OptionSpec::to_string).collect();
    assert_eq!(
        listed,
        [
            "in_flight=drop-call|pop-message|finished-turn|placeholder|drop-tools|forward",
            "session=fresh|kept",
            "propagate_session=false|true",
            "session=fresh|kept",
            "background=false|true",
            "fork_context=absent|false|true",
            "fork_turns=absent|none|all|1..1000000",
            "context_mode=absent|isolated|snapshot",
            "max_words=1..1000000",
            "summary_words=1..1000000",
            "mode=isolated|fork",
            "background=false|true",
            "turns=absent|none|1..50",
            "mode=isolated|fork",
        ]
    );
}

fn check_unfit(change: impl Fn(&mut Registered), expect: &str) {
    let mut one = versioned();
    change(&mut one);
    let mut registry = Registry::builtin();
    let why = registry.register(one).map_err(|why| why.to_string());
    assert_eq!(why, Err(format!("strategy `{}` cannot be registered: {expect}", one.id)));
    assert_eq!(registry.list().len(), Registry::builtin().list().len(), "nothing of it stays");
}

#[test]
fn what_cannot_be_registered() {
    check_unfit(|one| one.id = "inline", "the id is taken; choose another");
    check_unfit(|one| one.id = "a/b", "`a/b` is no name; names are not empty or `*` and hold none of `@ : , = /` and no blanks");
    check_unfit(|one| one.profiles = &[], "it has no profile; give it one, `1` say");
    check_unfit(|one| one.profiles = &["2", "1", "0.9", "1"], "the profile `1` is there twice");
    check_unfit(|one| one.profiles = &["2"], "the option `mode` is of a profile `1` that it does not have");
    check_unfit(
        |one| one.options = &[OptionSpec { key: "k", words: &["a"], numbers: None, default: "b", profiles: &[] }],
        "the default `b` of the option `k` is not among its values",
    );
    const TWICE: OptionSpec = OptionSpec { key: "k", words: &["a"], numbers: None, default: "a", profiles: &[] };
    check_unfit(|one| one.options = &[TWICE, TWICE], "the option `k` is there twice");
    check_unfit(|one| one.rows = &["inline"], "the default row `inline` is of another strategy");
    check_unfit(
        |one| one.rows = &["versioned@3"],
        "a default row is no spec: strategy `versioned@3`: `versioned` has no profile `3`; the nearest is `2`; known profiles of `versioned` (`*` for all): 2, 1, 0.9",
    );
}

#[test]
fn the_built_in_ones_are_fit_themselves() {
    let mut registry = Registry::default();
    for one in Registry::builtin().list() {
        assert_eq!(registry.register(*one), Ok(()));
    }
}
