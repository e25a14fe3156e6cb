//! Prices by hand: sums that sources published, steps, tariffs, and what is not known.

use super::{Date, PriceTable, Tariff, Tokens, Usd};

fn table() -> PriceTable {
    PriceTable::builtin().expect("the built-in table reads")
}

fn cost(model: &str, tokens: Tokens) -> Usd {
    table().find(model).and_then(|prices| prices.cost(&tokens)).expect("a price")
}

/// Dollars with so many digits behind the point as trillionths.
fn usd(text: &str) -> u128 {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{rest:0<12}").parse().expect("an amount")
}

#[test]
fn published_sums_are_exact() {
    let check = |tokens: Tokens, model: &str, expect: &str| {
        assert_eq!(cost(model, tokens).trillionths(), usd(expect), "{model} {tokens:?}");
    };
    // A cost guide's session start on Opus 5.5 (M8c): 2 plain, 23,167 read, 11,977 written for an hour, 121 out; published 0.102877.
    let start = Tokens { uncached: 2, read: 23_167, write_long: 11_977, output: 121, ..Tokens::default() };
    check(start, "claude-opus-5-5", "0.1028774");
    assert_eq!(cost("claude-opus-5-5", start).to_string(), "0.102877");
    // Its worked example on Sonnet 5.5 (M8f): ten requests at once, 30,000 shared tokens written by each: 0.75.
    let at_once: Usd = (0..10).map(|_| cost("claude-sonnet-5-5", Tokens { write_short: 30_000, ..Tokens::default() })).sum();
    assert_eq!(at_once.trillionths(), usd("0.75"));
    // The same, one first and nine after it has begun (M8g), at today's cached price and at the one of then, 0.20: published 0.13.
    let staggered = |model| {
        let first = cost(model, Tokens { write_short: 30_000, ..Tokens::default() });
        (0..9).map(|_| cost(model, Tokens { read: 30_000, ..Tokens::default() })).fold(first, |sum, one| sum + one)
    };
    assert_eq!(staggered("claude-sonnet-5-5").trillionths(), usd("0.102"));
    assert_eq!(staggered("claude-sonnet-5").trillionths(), usd("0.129"));
    // A bill on Fable 5.1 (M9): 20.00 and 12.51 for a million tokens written for an hour and for five minutes.
    check(Tokens { write_long: 1_000_000, ..Tokens::default() }, "claude-fable-5-1", "20");
    check(Tokens { write_short: 1_000_000, ..Tokens::default() }, "claude-fable-5-1", "12.5");
}

#[test]
fn a_step_re_prices_the_whole_request() {
    let at = |uncached, read, write_short, output| Tokens { uncached, read, write_short, write_long: 0, output };
    let check =
        |model: &str, tokens: Tokens, expect: &str| assert_eq!(cost(model, tokens).trillionths(), usd(expect), "{model} {tokens:?}");
    check("gpt-5.5", at(272_000, 0, 0, 1000), "1.39");
    check("gpt-5.5", at(272_001, 0, 0, 1000), "2.76501");
    // Cached and written tokens are input, and are priced again too.
    check("gpt-6-astra", at(1, 272_000, 0, 0), "0.54402");
    check("gpt-6-astra", at(0, 272_000, 0, 0), "0.272");
    check("gpt-6-astra", at(0, 172_000, 100_001, 0), "2.844025");
    check("claude-haiku-5-5", at(100_000, 0, 0, 0), "0.01");
    check("claude-haiku-5-5", at(100_001, 0, 0, 0), "0.0500005");
    // Output is no input.
    check("claude-haiku-5-5", at(100_000, 0, 0, 50_000), "0.035");
    // Flat to a million.
    check("claude-opus-5-5", at(900_000, 0, 0, 0), "3.6");
    let long = Tokens { uncached: 200_001, write_long: 100_000, ..Tokens::default() };
    check("gpt-6-astra", long, "9.00002");
}

#[test]
fn tariffs() {
    let check = |model: &str, tariff, expect: &str| {
        let tokens = Tokens { uncached: 1_000_000, read: 0, output: 100_000, ..Tokens::default() };
        let table = table();
        let prices = table.find(model).expect("known");
        let got = prices.cost_at(&tokens, tariff).map_or_else(|why| why.to_string(), |usd| usd.to_string());
        assert_eq!(got, expect, "{model} {tariff:?}");
    };
    check("claude-opus-5-5", Tariff::Batch, "3.000000");
    check("claude-opus-5-5", Tariff::Listed, "6.000000");
    check("gpt-6-astra", Tariff::Batch, "13.750000");
    check("grok-4.7", Tariff::Batch, "4.160000");
    check("deepseek-v4-pro", Tariff::Listed, "1.716000");
    check("deepseek-v4-pro", Tariff::OffPeak, "0.858000");
    check("deepseek-flash", Tariff::OffPeak, "0.210000");
    check("deepseek-v4-pro", Tariff::Batch, "no batch price is known for `deepseek-v4-pro`");
    check("claude-opus-5-5", Tariff::OffPeak, "no off-peak price is known for `claude-opus-5-5`");
}

#[test]
fn what_is_not_known_stays_unknown() {
    let table = table();
    let why = |model: &str| table.find(model).expect_err("unknown").to_string();
    assert_eq!(why("claude-opus-5.5"), "no price is known for `claude-opus-5.5`; did you mean `claude-opus-5-5`?");
    assert_eq!(why("gpt-5.6-luna-preview"), "no price is known for `gpt-5.6-luna-preview`");
    assert_eq!(why(""), "no price is known for ``");
    let class = |model: &str, tokens: Tokens| table.find(model).and_then(|prices| prices.cost(&tokens)).map_err(|why| why.to_string());
    let written = Tokens { write_short: 1, ..Tokens::default() };
    assert_eq!(class("gpt-5.5", written), Err("no price is known for cache writes of `gpt-5.5`".into()));
    assert_eq!(class("qwen3.8-max", written), Err("no price is known for cache writes of `qwen3.8-max`".into()));
    let long = Tokens { write_long: 1, ..Tokens::default() };
    assert_eq!(class("qwen3.8-flash", long), Err("no price is known for cache writes for the longer lifetime of `qwen3.8-flash`".into()));
    // A class that was not used need not be known.
    assert_eq!(class("gpt-5.5", Tokens { uncached: 1, ..Tokens::default() }).map(Usd::trillionths), Ok(5_000_000));
    assert_eq!(class("gpt-5.5", Tokens::default()), Ok(Usd::ZERO));
}

#[test]
fn the_built_in_table_is_whole() {
    let table = table();
    assert_eq!((table.name.as_str(), table.dated.to_string().as_str(), table.models.len()), ("2026-11-30", "2026-11-30", 32));
    assert_eq!(table.digest.len(), 64);
    assert_eq!(table.find("openai/gpt-6-sol").map(|prices| prices.name.clone()), Ok("gpt-6-sol".into()));
    assert_eq!(table.find("gemini/gemini-2.5-pro").map(|prices| prices.steps[0].above), Ok(200_000));
    // Off-peak hours are noted where they matter.
    let noted = table.find("deepseek-v4-pro").expect("known").note.clone().expect("a note");
    assert!(noted.contains("01-04 and 06-10 UTC"), "{noted}");
    let day = |text| Date::parse(text).expect("a day");
    assert_eq!(table.age_days(day("2026-12-01")), 1);
    assert_eq!(table.age_warning(day("2027-01-29"), super::OLD_AFTER_DAYS), None);
    let warning = table.age_warning(day("2027-01-30"), super::OLD_AFTER_DAYS).expect("old");
    assert_eq!(warning, "the prices `2026-11-30` are 61 days old (of 2026-11-30): they may have changed");
}

const MINE: &str = r#"version = 1
dated = "2026-12-01"
source = "our contract"

[[model]]
name = "house"
provider = "us"
input = 1
output = 2.5
"#;

#[test]
fn a_users_table_is_read() {
    let mine = PriceTable::parse(MINE, "some/folder/mine.toml").expect("it reads");
    assert_eq!(mine.name, "mine");
    let tokens = Tokens { uncached: 10, output: 2, ..Tokens::default() };
    assert_eq!(mine.find("house").and_then(|prices| prices.cost(&tokens)).map(Usd::trillionths), Ok(15_000_000));
    let other = PriceTable::parse(&MINE.replace("2.5", "2.6"), "mine.toml").expect("it reads");
    assert_ne!(mine.digest, other.digest);
    assert_eq!(mine, PriceTable::parse(MINE, "mine.toml").expect("it reads"));
}

#[test]
fn of_two_steps_the_higher_one_that_is_passed_holds() {
    let steps = "[[model.step]]\nabove = 10\ninput = 2\noutput = 5\n[[model.step]]\nabove = 20\ninput = 4\noutput = 5\n";
    let mine = PriceTable::parse(&format!("{MINE}{steps}"), "mine.toml").expect("it reads");
    for (input, expect) in [(10, 10), (11, 22), (20, 40), (21, 84)] {
        let tokens = Tokens { uncached: input, ..Tokens::default() };
        let cost = mine.find("house").and_then(|prices| prices.cost(&tokens)).map(Usd::trillionths);
        assert_eq!(cost, Ok(expect * 1_000_000), "{input}");
    }
}

#[test]
fn mistakes_are_told_all_at_once_with_line_and_column() {
    let check = |text: &str, expect: &[(usize, usize, &str)]| {
        let errors = PriceTable::parse(text, "mine.toml").expect_err("not a table");
        assert_eq!(errors.places().collect::<Vec<_>>(), expect, "{errors}");
    };
    check(&MINE.replace("input = 1\n", "inputs = 1\n"), &[(5, 1, "`input` is missing"), (8, 1, "there is no key `inputs`")]);
    check(
        &MINE.replace("input = 1\n", "input = -1\n").replace("2.5", "1e3").replace("2026-12-01", "2026-12-32"),
        &[(2, 9, "`2026-12-32` is no day"), (8, 9, "this is no price"), (9, 10, "this is no price")],
    );
    check(&MINE.replace("version = 1", "version = 2"), &[(1, 11, "this version of price tables is not known")]);
    check(&format!("{MINE}batch = 0\nwrite = {{ \"5x\" = 1 }}\n"), &[(10, 9, "this is no percentage"), (11, 11, "`5x` is no lifetime")]);
    check(
        &format!("{MINE}write = {{ \"5m\" = 1, \"1h\" = 2, \"12h\" = 3 }}\naliases = [1]\n"),
        &[(10, 9, "more than two lifetimes"), (11, 12, "a text is expected here")],
    );
    let step = |above: &str| format!("\n[[model.step]]\n{above}\ninput = 2\noutput = 5\n");
    check(&format!("{MINE}{}{}", step("above = 10"), step("above = 10")), &[(16, 1, "the steps are out of order")]);
    check(
        &format!("{MINE}{}", step("below = 10")),
        &[(11, 1, "a step says above how many input tokens it holds"), (12, 1, "there is no key `below`")],
    );
    let again = MINE.split_once("[[model]]").map(|(_, model)| model.to_owned()).expect("a model");
    check(&format!("{MINE}\n[[model]]{again}"), &[(11, 1, "`house` stands in the table twice")]);
    check(
        "version = 1\nmodel = 3\n",
        &[(1, 1, "`dated` is missing"), (1, 1, "`source` is missing"), (2, 9, "`model` is no list of tables")],
    );
    let errors = PriceTable::parse("version = ", "mine.toml").expect_err("no TOML");
    assert!(errors.to_string().contains("this is no TOML") && errors.to_string().contains("mine.toml"), "{errors}");
}

proptest::proptest! {
    #[test]
    fn no_damage_panics(cut in 0_usize..MINE.len(), put in "[\\[\\]=\"0-9a-z{}.\\n-]{0,6}", skip in 0_usize..12) {
        let from = (cut + skip).min(MINE.len());
        let damaged = format!("{}{put}{}", &MINE[..cut], &MINE[from..]);
        if let Err(errors) = PriceTable::parse(&damaged, "mine.toml") {
            proptest::prop_assert!(errors.places().count() > 0);
            proptest::prop_assert!(!errors.render(false).is_empty());
        }
    }
}
