//! How often the sign-flip test calls chance a difference, at 5 %, in 2,000 data sets a row.
//!
//! By the mid-p value it is 3 to 7 % of the tests that can be significant at all, and 3 to 7 % of all tests where nearly all can be. The
//! ordinary p value is printed beside it: with ties or few differences it stays far below.
//! `cargo test --lib false_alarms -- --nocapture` prints the table.

use super::super::{Observation, Random, Sample, SignFlip, Verdict};
use super::draws::{beta, exponential, log_normal, normal, one_of, pass};

const DATA_SETS: u32 = 2_000;

/// Less than the product does, as the tests run unoptimised.
const ENUMERATED: usize = 12;
const DRAWS: u32 = 399;

/// So many differences that lie around 0.
type Draw = dyn Fn(&mut Random, usize) -> Vec<f64>;

fn check(name: &str, counts: &[usize], expect: ((f64, f64), (f64, f64)), draw: &Draw) {
    for &count in counts {
        let mut random = Random::new(77 + count as u64);
        let (mut alarms, mut ordinary, mut impossible) = (0_u32, 0_u32, 0_u32);
        for data_set in 0..DATA_SETS {
            let test = SignFlip::with(&draw(&mut random, count), ENUMERATED, DRAWS, u64::from(data_set));
            ordinary += u32::from(test.p <= 0.05);
            match test.verdict(0.05) {
                Verdict::Significant => alarms += 1,
                Verdict::CannotBe => impossible += 1,
                Verdict::NotSignificant => {}
            }
        }
        let share = |times: u32, of: u32| f64::from(times) / f64::from(of.max(1));
        let (overall, decided) = (share(alarms, DATA_SETS), share(alarms, DATA_SETS - impossible));
        let (ordinary, impossible) = (share(ordinary, DATA_SETS), share(impossible, DATA_SETS));
        println!(
            "{name:<32} {count:>3}  {:.1} %, {:.1} % of those that can be  ordinary p {:.1} %  cannot be {:.1} %",
            100.0 * overall,
            100.0 * decided,
            100.0 * ordinary,
            100.0 * impossible
        );
        let within = |share: f64, band: (f64, f64)| (band.0..=band.1).contains(&share);
        assert!(within(overall, expect.0), "{name}, {count} differences: {overall} false alarms, expected {:?}", expect.0);
        assert!(within(decided, expect.1), "{name}, {count} differences: {decided} of those that can be, expected {:?}", expect.1);
        assert!(ordinary <= 0.06, "{name}, {count} differences: the ordinary p value alarms in {ordinary}");
    }
}

/// Between 3 and 7 %.
const BAND: (f64, f64) = (0.03, 0.07);

/// Of all tests, and of those that can be significant.
const BOTH: ((f64, f64), (f64, f64)) = (BAND, BAND);

/// Where most cannot be: the others are too few for a narrower band.
const FEWER: ((f64, f64), (f64, f64)) = ((0.0, 0.07), (0.02, 0.09));

fn each(value: impl Fn(&mut Random) -> f64 + 'static) -> Box<Draw> {
    Box::new(move |random, count| (0..count).map(|_| value(random)).collect())
}

#[test]
fn without_ties() {
    let all = &[5, 6, 7, 8, 10, 12, 25][..];
    check("normal", all, BOTH, &*each(normal));
    check("beta scores", all, BOTH, &*each(|random| beta(random, 8, 2) - beta(random, 8, 2)));
    check("skewed sizes", all, BOTH, &*each(|random| log_normal(random, 0.8) - log_normal(random, 0.8)));
    check("four", &[4], ((0.0, 0.0), (0.0, 0.0)), &*each(normal));
}

#[test]
fn with_ties() {
    let (few, more) = (&[8, 10][..], &[16, 25, 40][..]);
    let half = |random: &mut Random| pass(random, 0.5) * normal(random);
    check("half ties, else normal", few, FEWER, &*each(half));
    check("half ties, else normal", more, BOTH, &*each(half));
    let passes = |chance: f64| move |random: &mut Random| pass(random, chance) - pass(random, chance);
    check("passes, 1 in 2", few, FEWER, &*each(passes(0.5)));
    check("passes, 1 in 2", more, BOTH, &*each(passes(0.5)));
    check("passes, 3 in 4", few, FEWER, &*each(passes(0.75)));
    check("passes, 3 in 4", more, BOTH, &*each(passes(0.75)));
    let halves = |random: &mut Random| one_of(random, &[(0.0, 0.2), (0.5, 0.3), (1.0, 0.5)]);
    check("halves", few, FEWER, &*each(move |random| halves(random) - halves(random)));
    check("halves", more, BOTH, &*each(move |random| halves(random) - halves(random)));
}

/// Differences that are all of one size, none 0: the sign test, whose steps are coarse. What it raises is a binomial sum, counted by hand;
/// for some numbers no rate between 3 and 7 % exists (of seven, the steps are 1.6 and 12.5 %; of eight, 0.8 and 7.03 %; of ten, 2.1 and
/// 10.9 %).
#[test]
fn signs_alone() {
    fn check(count: usize, expect: f64) {
        let (mut alarms, mut ways) = (0.0_f64, 1.0_f64);
        for negative in 0..=count {
            let differences: Vec<f64> = (0..count).map(|at| if at < negative { -1.0 } else { 1.0 }).collect();
            if SignFlip::of(&differences, 0).verdict(0.05) == Verdict::Significant {
                alarms += ways;
            }
            ways = ways * (count - negative) as f64 / (negative + 1) as f64;
        }
        assert_eq!(alarms, expect, "{count}: of {}", 1_u64 << count);
    }
    // Both ends: 1 way without a negative, `count` with one, and so on.
    check(4, 0.0);
    check(5, 2.0);
    check(6, 2.0);
    check(7, 2.0);
    check(8, 2.0 * 9.0);
    check(9, 2.0 * 10.0);
    check(10, 2.0 * 11.0);
    check(11, 2.0 * 67.0);
    check(12, 2.0 * 79.0);
}

/// Scenarios of a family are alike; flipped one by one they would raise alarms far too often.
#[test]
fn families() {
    let names: Vec<String> = (0..7).map(|place| place.to_string()).collect();
    let mut random = Random::new(9);
    let (mut by_family, mut by_scenario) = (0_u32, 0_u32);
    for _ in 0..DATA_SETS {
        let mut cells = Vec::new();
        for family in &names {
            let middle = normal(&mut random) * exponential(&mut random);
            for scenario in &names[..2] {
                cells.push(Observation { family, scenario, seed: 1, value: middle + 0.3 * normal(&mut random) });
            }
        }
        let apart: Vec<f64> = cells.iter().map(|cell| cell.value).collect();
        by_scenario += u32::from(SignFlip::with(&apart, ENUMERATED, DRAWS, 1).verdict(0.05) == Verdict::Significant);
        let sums = Sample::of(cells).expect("finite").family_sums();
        by_family += u32::from(SignFlip::with(&sums, ENUMERATED, DRAWS, 1).verdict(0.05) == Verdict::Significant);
    }
    let share = |times: u32| f64::from(times) / f64::from(DATA_SETS);
    println!("7 families of 2: {:.1} %, by scenario {:.1} %", 100.0 * share(by_family), 100.0 * share(by_scenario));
    assert!((BAND.0..=BAND.1).contains(&share(by_family)), "{}", share(by_family));
    assert!(share(by_scenario) > 0.10, "{}", share(by_scenario));
}
