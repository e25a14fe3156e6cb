//! What providers documented and users measured (`fixtures/cache/cases.toml`), against the rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctxbench::cache::{Cache, Kind, Lifetime, Mark, Profile, Request, Rule, Segment, WholeSegments};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    kind: String,
    source: String,
    what: String,
    profile: String,
    model: String,
    step: Option<u64>,
    #[serde(default)]
    tolerance: u64,
    says: Option<String>,
    ours: Option<String>,
    request: Vec<Sending>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sending {
    sends: String,
    read: Option<u64>,
    write: Option<u64>,
    write_long: Option<u64>,
    uncached: Option<u64>,
    best: Option<u64>,
    worst: Option<u64>,
    #[serde(default)]
    within: Vec<u64>,
}

struct Parsed {
    start: u64,
    first_token: u64,
    key: Option<String>,
    segments: Vec<Segment>,
    marks: Vec<Mark>,
}

fn kind(word: &str) -> Kind {
    match word {
        "tools" => Kind::Tools,
        "system" => Kind::System,
        "setting" => Kind::Setting,
        "user" => Kind::User,
        "assistant" => Kind::Assistant,
        "tool_use" => Kind::ToolUse,
        "tool_result" => Kind::ToolResult,
        other => panic!("no kind `{other}`"),
    }
}

fn parse(sends: &str, names: &mut BTreeMap<(String, String), u128>) -> Parsed {
    let mut parts = sends.split('|').map(str::trim);
    let head = parts.next().expect("a head");
    let mut parsed = Parsed { start: 0, first_token: 1000, key: None, segments: vec![], marks: vec![] };
    for word in head.split_whitespace() {
        if let Some(times) = word.strip_prefix('@') {
            let (start, first) = times.split_once('+').unwrap_or((times, "1000"));
            parsed.start = start.parse().expect("a time");
            parsed.first_token = first.parse().expect("a time");
        } else if let Some(key) = word.strip_prefix("key=") {
            parsed.key = Some(key.to_owned());
        } else {
            panic!("no head word `{word}`");
        }
    }
    for part in parts {
        let words: Vec<&str> = part.split_whitespace().collect();
        let (word, name, tokens) = (words[0], words[1], words[2].parse().expect("tokens"));
        let names_here = match name.rsplit_once('-').and_then(|(first, last)| Some((first, last.parse::<u32>().ok()?))) {
            Some((first, last)) if first.ends_with(|c: char| c.is_ascii_digit()) => {
                let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
                let from: u32 = first[stem.len()..].parse().expect("a number");
                (from..=last).map(|n| format!("{stem}{n}")).collect()
            }
            _ => vec![name.to_owned()],
        };
        for name in names_here {
            let next = names.len() as u128 + 1;
            let id = *names.entry((word.to_owned(), name)).or_insert(next);
            parsed.segments.push(Segment { id, tokens, kind: kind(word) });
        }
        let at = parsed.segments.len() - 1;
        match words.get(3) {
            Some(&"^") => parsed.marks.push(Mark { at, lifetime: Lifetime::Short }),
            Some(&"^long") => parsed.marks.push(Mark { at, lifetime: Lifetime::Long }),
            Some(other) => panic!("no mark `{other}`"),
            None => {}
        }
    }
    parsed
}

fn check(case: &Case) {
    let mut profile = Profile::clone(&Profile::builtin(&case.profile).expect("a profile"));
    if let (Some(new), Rule::LongestPrefix { step, .. }) = (case.step, &mut profile.rule) {
        *step = new;
    }
    let profile = Arc::new(profile);
    let (mut cache, mut names) = (Cache::new(WholeSegments), BTreeMap::new());
    for (n, sending) in case.request.iter().enumerate() {
        let parsed = parse(&sending.sends, &mut names);
        let name = format!("{} ({}), request {}: {}", case.id, case.source, n + 1, case.what);
        let outcome = cache
            .send(&Request {
                profile: &profile,
                model: &case.model,
                scope: "org",
                key: parsed.key.as_deref(),
                thread: "root",
                start_ms: parsed.start,
                after: None,
                same: 0,
                rest: &parsed.segments,
                marks: Some(&parsed.marks),
                lifetime: None,
            })
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        cache.available(outcome.request, parsed.start + parsed.first_token);
        assert_eq!(outcome.low.input(), outcome.input, "{name}");
        assert_eq!(outcome.high.input(), outcome.input, "{name}");
        let near = |what: &str, got: u64, expect: Option<u64>| {
            if let Some(expect) = expect {
                assert!(got.abs_diff(expect) <= case.tolerance, "{name}: {what} is {got}, expected {expect}");
            }
        };
        if sending.read.or(sending.write).or(sending.write_long).is_some() {
            assert_eq!(outcome.low, outcome.high, "{name}: the rule is exact");
            assert_eq!(outcome.range, None, "{name}");
        }
        near("read", outcome.high.read, sending.read);
        near("write", outcome.high.write_short, sending.write);
        near("write_long", outcome.high.write_long, sending.write_long);
        near("uncached", outcome.high.uncached, sending.uncached);
        near("best", outcome.high.read, sending.best);
        near("worst", outcome.low.read, sending.worst);
        for &published in &sending.within {
            assert!((outcome.low.read..=outcome.high.read).contains(&published), "{name}: {published} is outside {outcome:?}");
            if outcome.low != outcome.high {
                assert!(outcome.range.is_some(), "{name}: a range says why");
            }
        }
    }
}

fn cases() -> Vec<Case> {
    let file: File = toml::from_str(include_str!("../fixtures/cache/cases.toml")).expect("the fixture is a file of cases");
    file.case
}

#[test]
fn every_published_case_holds() {
    for case in cases() {
        check(&case);
    }
}

#[test]
fn the_cases_are_all_there_and_what_the_rules_do_not_predict_is_said() {
    let cases = cases();
    let count = |kind: &str| cases.iter().filter(|case| case.kind == kind).count();
    let kinds = ["vendor_example", "parameter_free", "sizes_fitted", "zero_by_construction"].map(count);
    // The fourth kind of the source, its arithmetic with prices, stands with the prices; so does M9, a price.
    assert_eq!(kinds, [11, 9, 17, 3]);
    for id in ["M2a", "O5b", "O6a", "O6b", "O6c", "O6d", "O7", "O8a", "O8b"] {
        let case = cases.iter().find(|case| case.id == id).expect("the case");
        assert!(case.says.is_some(), "{id} says why");
    }
    let fitted = cases.iter().filter(|case| case.tolerance > 0).map(|case| case.id.as_str());
    assert_eq!(fitted.collect::<Vec<_>>(), ["M2b", "M5b", "O6a", "O6b"]);
    assert!(cases.iter().any(|case| case.ours.is_some()));
}
