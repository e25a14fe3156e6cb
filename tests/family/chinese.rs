//! The exploring of `auth-lookup` in Chinese.

use super::*;

const FACT: &str = "用商店私钥签名的令牌";

#[test]
fn facts_are_found_in_text_without_blanks() {
    for size in Size::ALL {
        let bench = Bench::new("chinese-codebase", size);
        for spec in DELEGATING.into_iter().chain(["inline"]) {
            let run = bench.play(spec);
            assert_eq!(figures(&run, ["quality", "rescues", "drift"]), [1.0, 0.0, 0.0], "{size:?} {spec}");
            assert!(run.outcome.answer().contains(FACT), "{size:?} {spec}");
        }
    }
}

/// What is wrapped in JSON stays as it is: an escaped character costs several tokens.
#[test]
fn nobody_escapes_a_character() {
    let bench = Bench::new("chinese-codebase", Size::Small);
    for spec in DELEGATING.into_iter().chain(["inline"]) {
        let outcome = bench.play(spec).outcome;
        for row in &outcome.rows {
            for item in outcome.items_of(row) {
                for part in item.parts() {
                    assert!(!part.as_text().contains("\\u"), "{spec}: {}", part.as_text());
                }
            }
        }
    }
}

/// By the published encoding, a Chinese character is about three quarters of a token, an English one about a quarter.
#[test]
fn a_character_costs_more_than_an_english_one() {
    let meter = meter();
    let per_character = |name: &str| {
        let scenario = compiled(name, Size::Medium, &[]);
        let files = scenario.world.files.values().map(|text| (text.chars().count(), f64::from(meter.text(text).expect("it is short"))));
        let (characters, tokens) = files.fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        tokens / characters as f64
    };
    let [chinese, english] = ["chinese-codebase", "auth-lookup"].map(per_character);
    assert!(chinese > 1.15 * english, "{chinese} and {english}");
}

#[test]
fn a_child_keeps_the_files_out_of_its_parent_here_too() {
    let benches = sizes("chinese-codebase");
    let contexts = |spec: &str| benches.each_ref().map(|bench| figure(&bench.play(spec), "parent.final_context"));
    let [inline, isolated] = ["inline", "opencode"].map(contexts);
    assert!(inline[2] > 5.0 * inline[0], "{inline:?}");
    // With each size come a few turns more, and as many short files of the parent's own.
    assert!(isolated[2] < 2.0 * isolated[0] && isolated[0] < inline[0], "{isolated:?} {inline:?}");
}
