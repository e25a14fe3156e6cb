//! What may be asked of an answer, and what is wrong with a question: said before anything runs.

use ctxbench::scenario::{Ask, Citation, Forbidden, Measure, NumberAsk, Which};

use super::*;

/// The base with another check.
fn with(check: &str) -> String {
    broken(&[("  - {id: states-port, recall: port}", &format!("  - {check}"))])
}

#[track_caller]
fn asks(text: &str, expect: Ask) {
    assert_eq!(scenario(&with(text)).checks[0].ask, expect, "{text}");
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn every_kind_is_read() {
    asks("{id: a, contains: x}", Ask::Contains(texts(&["x"])));
    asks("{id: a, contains: [x, y]}", Ask::Contains(texts(&["x", "y"])));
    asks("{id: a, contains_all: [x, [y, 7]]}", Ask::ContainsAll(vec![texts(&["x"]), texts(&["y", "7"])]));
    asks("{id: a, regex: \"^x\"}", Ask::Regex("^x".into()));
    asks("{id: a, equals: x}", Ask::Equals("x".into()));
    let number = |value| NumberAsk { value, tolerance: 0.0, relative: 0.0, which: Which::Any, units: vec![] };
    asks("{id: a, number: 9187}", Ask::Number(number(9187.0)));
    asks("{id: a, number: {value: -2.5}}", Ask::Number(number(-2.5)));
    asks(
        "{id: a, number: {value: 45, tolerance: 0.5, relative: 0.1, which: last, unit: [ms, milliseconds]}}",
        Ask::Number(NumberAsk { value: 45.0, tolerance: 0.5, relative: 0.1, which: Which::Last, units: texts(&["ms", "milliseconds"]) }),
    );
    asks(
        "{id: a, number: {value: 45, unit: \"%\", which: every}}",
        Ask::Number(NumberAsk { which: Which::Every, units: texts(&["%"]), ..number(45.0) }),
    );
    asks("{id: a, json: {value: {b: [1, null, x]}}}", Ask::Json { value: serde_json::json!({"b": [1, null, "x"]}), path: String::new() });
    asks("{id: a, json: {value: null, path: /b/0}}", Ask::Json { value: serde_json::Value::Null, path: "/b/0".into() });
    asks("{id: a, json_schema: {type: object}}", Ask::JsonSchema(serde_json::json!({"type": "object"})));
    asks("{id: a, json_schema: true}", Ask::JsonSchema(true.into()));
    asks("{id: a, token_f1: the port}", Ask::TokenF1 { texts: texts(&["the port"]), at_least: None });
    asks("{id: a, token_f1: {text: [a port, two], at_least: 0.5}}", Ask::TokenF1 { texts: texts(&["a port", "two"]), at_least: Some(0.5) });
    asks("{id: a, ordered: [x, [y, z]]}", Ask::Ordered(vec![texts(&["x"]), texts(&["y", "z"])]));
    asks("{id: a, recall: port}", Ask::Recall(vec![0]));
    asks("{id: a, forbidden: x}", Ask::Forbidden(vec![Forbidden::Text("x".into())]));
    asks("{id: a, forbidden: [x, {fact: port-now}]}", Ask::Forbidden(vec![Forbidden::Text("x".into()), Forbidden::Fact(0, 0)]));
    let cited = |quote: Option<&str>| Ask::Citation(vec![Citation { path: "a.txt".into(), line: 1, quote: quote.map(str::to_owned) }]);
    asks("{id: a, citation: [{path: a.txt, line: 1}]}", cited(None));
    asks("{id: a, citation: [{path: a.txt, line: 1, quote: \"port  is 9187\"}]}", cited(Some("port  is 9187")));
    asks("{id: a, length: {at_most: 40}}", Ask::Length { of: Measure::Words, at_least: None, at_most: Some(40) });
    asks("{id: a, length: {of: lines, at_least: 2, at_most: 2}}", Ask::Length { of: Measure::Lines, at_least: Some(2), at_most: Some(2) });
}

#[test]
fn what_was_superseded_is_forbidden_fact_by_fact() {
    let older = "      - {id: port-old, statement: It was 8081 once., value: \"8081\", seen_in: [{file: b.txt}]}\n";
    let text = with("{id: a, forbidden: {superseded: port}}").replace("    facts:\n", &format!("    facts:\n{older}"));
    let text = text.replace("text: Not here.", "text: It was 8081.");
    assert_eq!(scenario(&text).checks[0].ask, Ask::Forbidden(vec![Forbidden::Fact(0, 0)]));
    let text = text.replace("{superseded: port}", "[{fact: port-old}, {fact: port-now}]");
    assert_eq!(scenario(&text).checks[0].ask, Ask::Forbidden(vec![Forbidden::Fact(0, 0), Forbidden::Fact(0, 1)]));
}

#[test]
fn checks_ask_one_thing() {
    check(&with("‹{id: a}"), &["the check `a` asks nothing"]);
    check(&with("‹{id: a, contains: x, equals: y}"), &["the check `a` asks several things"]);
    check(&with("‹{id: a, length: {at_most: 3}, number: 3}"), &["the check `a` asks several things"]);
    check(&with("‹{id: a, contains: x, answer: false}"), &["the check `a` is asked of nobody"]);
    let text = with("{id: a, contains: [x, y], intent: find-port, answer: false, weight: 0.5}");
    let checks = scenario(&text).checks;
    assert_eq!((checks[0].intent, checks[0].on_answer, checks[0].weight), (Some(0), false, 0.5));
}

#[test]
fn checks_ask_something() {
    for kind in ["contains: []", "contains: [x, \" \"]", "contains_all: []", "contains_all: [[]]", "contains_all: [x, [\"\"]]"] {
        check(&with(&format!("‹{{id: a, {kind}}}")), &["the check `a` asks for nothing"]);
    }
    for kind in ["ordered: []", "ordered: [x, []]", "recall: []", "forbidden: []", "forbidden: [\" \"]", "citation: []"] {
        check(&with(&format!("‹{{id: a, {kind}}}")), &["the check `a` asks for nothing"]);
    }
    check(&with("{id: a, contains: [x, ‹[y]]}"), &["this must be a text, not a list"]);
}

#[test]
fn patterns_are_pointed_into() {
    check(&with("{id: a, regex: \"‹(9187\"}"), &["this is no regular expression: unclosed group"]);
    check(
        &with("{id: a, regex: \"ab‹{2,1}\"}"),
        &["this is no regular expression: invalid repetition count range, the start must be <= the end"],
    );
    check(
        &with("{id: a, regex: 'it''s 中‹[z-a]'}").replace("‹[", "[‹"),
        &["this is no regular expression: invalid character class range, the start must be <= the end"],
    );
    check(&with("{id: a, regex: \"\\\\d+ \\\"x\\\" ‹(\"}"), &["this is no regular expression: unclosed group"]);
    // Spelled in a way that is not followed: at the text.
    check(&with("{id: a, regex: ‹\"\\u0041(\"}"), &["this is no regular expression: unclosed group"]);
    check(
        &with("{id: a, regex: ‹\"a{1000}{1000}{1000}\"}"),
        &["this is no regular expression: Compiled regex exceeds size limit of 10485760 bytes."],
    );
}

#[test]
fn numbers_that_cannot_be_asked_for() {
    check(&with("{id: a, number: ‹nine}"), &["this must be a number, not a text"]);
    check(&with("{id: a, number: ‹.inf}"), &["non-finite float `.inf` rejected by the configured policy"]);
    check(&with("{id: a, number: ‹{tolerance: 1}}"), &["the key `value` is missing here"]);
    check(&with("{id: a, number: {value: 3, tolerance: ‹-1}}"), &["the tolerance -1 is not 0 or above"]);
    check(&with("{id: a, number: {value: 3, relative: ‹.nan}}"), &["non-finite float `.nan` rejected by the configured policy"]);
    check(&with("{id: a, number: {value: 3, which: ‹all}}"), &["`all` is not known here"]);
    check(&with("{id: a, number: {value: 3, unit: ‹\"\"}}"), &["this unit is empty"]);
    check(&with("{id: a, number: {value: 3, ‹units: m}}"), &["unknown key `units`"]);
}

#[test]
fn json_that_cannot_be_asked_for() {
    check(&with("{id: a, json: ‹{path: /a}}"), &["the key `value` is missing here"]);
    check(&with("{id: a, json: {value: 1, path: ‹a/b}}"), &["`a/b` is no JSON pointer"]);
    check(&with("{id: a, json: {value: 1, path: ‹/a~2}}"), &["`/a~2` is no JSON pointer"]);
    let refused = |schema: &str, expect: &str| {
        let text = with(&format!("{{id: a, json_schema: {schema}}}"));
        let place = text.lines().enumerate().find_map(|(line, text)| Some((line + 1, text.split_once('‹')?.0.chars().count() + 1)));
        let errors = errors(&text.replace('‹', ""));
        let [error] = &errors.errors[..] else { panic!("{errors}") };
        assert_eq!(Some((error.line as usize, error.column as usize)), place, "{errors}");
        assert!(error.message.starts_with(expect), "{errors}");
    };
    refused("{type: ‹objekt}", "this is no JSON schema: \"objekt\"");
    refused("{properties: {a: {minLength: ‹-1}}}", "this is no JSON schema: -1");
    refused("‹3", "this is no JSON schema: 3");
    refused("{$ref: ‹\"https://example.com/a.json\"}", "`https://example.com/a.json` lies outside of this schema");
    refused("{items: {$ref: ‹\"file:///a.json\"}}", "`file:///a.json` lies outside of this schema");
    refused("{items: {$ref: ‹other.json}}", "`other.json` lies outside of this schema");
    refused("{$ref: ‹\"https://json-schema.org/draft/2020-12/schema\"}", "`https://json-schema.org/");
    refused("{items: {$ref: ‹\"#/$$defs/b\"}, $defs: {a: true}}".replace("$$", "$").as_str(), "this is no JSON schema: ");
    refused("{properties: {a: {pattern: ‹\"(\"}}}", "this is no JSON schema: \"(\"");
    // Names and data are no references.
    scenario(&with("{id: a, json_schema: {properties: {$ref: {const: {$ref: x}}}, $defs: {a: true}, items: {$ref: \"#/$defs/a\"}}}"));
}

#[test]
fn overlaps_that_cannot_be_asked_for() {
    check(&with("{id: a, token_f1: ‹\"The!\"}"), &["this text has no word to compare"]);
    check(&with("{id: a, token_f1: [x, ‹\" \"]}"), &["this text has no word to compare"]);
    check(&with("{id: a, token_f1: ‹[]}"), &["there is no text to compare with"]);
    check(&with("{id: a, token_f1: {text: x, at_least: ‹0}}"), &["no F1 tells by 0"]);
    check(&with("{id: a, token_f1: {text: x, at_least: ‹1.5}}"), &["no F1 tells by 1.5"]);
    check(&with("{id: a, token_f1: ‹{at_least: 1}}"), &["there is no text to compare with"]);
}

#[test]
fn references_of_checks() {
    check(&with("{id: a, recall: ‹prt}"), &["there is no topic `prt`"]);
    check(&with("{id: a, forbidden: [{fact: ‹port-new}]}"), &["there is no fact `port-new`"]);
    check(&with("{id: a, forbidden: {superseded: ‹prt}}"), &["there is no topic `prt`"]);
    check(&with("{id: a, forbidden: {superseded: ‹port}}"), &["nothing of the topic `port` was superseded"]);
    check(&with("{id: a, forbidden: [‹{}]}"), &["this forbids nothing, or several things"]);
    check(&with("{id: a, forbidden: [‹{fact: port-now, superseded: port}]}"), &["this forbids nothing, or several things"]);
    check(&with("{id: a, citation: [{path: ‹c.txt, line: 1}]}"), &["there is no file `c.txt`"]);
    check(
        &with("{id: a, citation: [{path: a.txt, line: ‹0}, {path: a.txt, line: ‹2}]}"),
        &["there is no line 0 in `a.txt`", "there is no line 2 in `a.txt`"],
    );
    check(&with("{id: a, citation: [{path: a.txt, line: ‹-4}]}"), &["there is no line -4 in `a.txt`"]);
    check(&with("{id: a, citation: [{path: a.txt, line: 1, quote: ‹port is 8080}]}"), &["line 1 of `a.txt` does not hold this"]);
    check(&with("{id: a, citation: [{path: a.txt, line: 1, quote: ‹\" \"}]}"), &["this quote is empty"]);
    check(&with("{id: a, citation: [‹{path: a.txt}]}"), &["the key `line` is missing here"]);
    let blank = with("{id: a, citation: [{path: ‹a b.txt, line: 1}]}").replace("files:\n", "files:\n  - {path: a b.txt, text: x}\n");
    check(&blank, &["`a b.txt` cannot be told as a citation: it holds ` `"]);
}

#[test]
fn lengths_that_cannot_be_asked_for() {
    check(&with("{id: a, length: ‹{}}"), &["every answer is as long as that"]);
    check(&with("{id: a, length: {at_least: ‹0}}"), &["every answer is as long as that"]);
    check(&with("{id: a, length: {at_least: ‹9, at_most: 8}}"), &["no answer is at least 9 and at most 8 long"]);
    check(&with("{id: a, length: {at_most: ‹-1}}"), &["-1 is out of range here"]);
    check(&with("{id: a, length: {at_most: 9, of: ‹tokens}}"), &["`tokens` is not known here"]);
}

#[test]
fn weights() {
    check(&with("{id: a, contains: x, weight: ‹-1}"), &["the weight -1 is not 0 or above"]);
    check(&with("{id: a, contains: x, weight: ‹.nan}"), &["non-finite float `.nan` rejected by the configured policy"]);
    check(&with("{id: a, contains: x, weight: ‹.inf}"), &["non-finite float `.inf` rejected by the configured policy"]);
    // Of a mean at least one counts: of the final answer's, and of each intent's.
    check(&with("{id: a, contains: x, weight: ‹0}"), &["all checks on the final answer weigh 0"]);
    check(&with("{id: a, contains: x, weight: ‹0}\n  - {id: b, contains: x, weight: 0}"), &["all checks on the final answer weigh 0"]);
    check(
        &with("{id: a, contains: x}\n  - {id: b, contains: x, intent: find-port, weight: ‹0}"),
        &["all checks on the return of `find-port` weigh 0"],
    );
    check(
        &with("{id: a, contains: x, weight: ‹0}\n  - {id: b, contains: x, intent: find-port, answer: false}"),
        &["all checks on the final answer weigh 0"],
    );
    check(
        &with("{id: a, contains: x, intent: find-port}\n  - {id: b, contains: x, intent: find-port, answer: false, weight: ‹0}"),
        &["the check `b` is reported nowhere: it weighs 0, and scores returns alone"],
    );
    let weighed = |text: &str| scenario(&with(text)).checks.iter().map(|check| check.weight).collect::<Vec<_>>();
    assert_eq!(weighed("{id: a, contains: x, weight: 0}\n  - {id: b, contains: x}"), [0.0, 1.0]);
    assert_eq!(
        weighed("{id: a, contains: x, intent: find-port}\n  - {id: b, length: {at_most: 9}, intent: find-port, weight: 0}"),
        [1.0, 0.0]
    );
}

/// Mistakes of many checks come together, each at its place.
#[test]
fn all_mistakes_of_checks_at_once() {
    let text = with(
        "{id: a, regex: \"x‹(\", weight: ‹-2}\n  - ‹{id: b}\n  - {id: c, number: {value: 1, tolerance: ‹-1}, intent: ‹find}\n  \
         - {id: d, citation: [{path: ‹d.txt, line: 1}]}\n  - {id: ‹a, json_schema: {$ref: ‹x}}",
    );
    check(
        &text,
        &[
            "this is no regular expression: unclosed group",
            "the weight -2 is not 0 or above",
            "the check `b` asks nothing",
            "the tolerance -1 is not 0 or above",
            "there is no intent `find`",
            "there is no file `d.txt`",
            "the check `a` is declared twice",
            "`x` lies outside of this schema",
        ],
    );
}
