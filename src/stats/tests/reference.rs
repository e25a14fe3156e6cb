//! Against values of scipy and statsmodels: `fixtures/statistics/reference.json`, made by `reference.py` beside it.

use serde_json::Value;

use super::super::distribution::{normal_below, student_975};
use super::super::{Estimate, Method, Observation, Sample, Scale, SignFlip, benjamini_hochberg, holm, pass_at_k, pass_hat_k};
use super::super::{log_normal, square_and_add, studentised, wilson};

fn fixture(part: &str) -> Vec<Value> {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/statistics/reference.json"));
    let all: Value = serde_json::from_str(text).expect("the fixture is JSON");
    let rows = all[part].as_array().expect("the part is a list").clone();
    assert!(!rows.is_empty(), "{part}");
    rows
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list")).iter().map(number).collect()
}

fn near(got: f64, expect: f64, tolerance: f64, what: &str) {
    assert!((got - expect).abs() <= tolerance, "{what}: {got}, expected {expect} within {tolerance}");
}

fn interval_near(got: Option<(f64, f64)>, expect: &Value, tolerance: f64) {
    let (low, high) = got.unwrap_or_else(|| panic!("an interval, {expect}"));
    near(low, number(&expect[0]), tolerance, "low");
    near(high, number(&expect[1]), tolerance, "high");
}

#[test]
fn quantiles_and_shares() {
    for row in fixture("student_975") {
        near(student_975(number(&row[0]) as usize), number(&row[1]), 1e-9, &row.to_string());
    }
    for row in fixture("normal_below") {
        near(normal_below(number(&row[0])), number(&row[1]), 1e-14, &row.to_string());
    }
}

#[test]
fn wilson_is_that_of_statsmodels() {
    for row in fixture("wilson") {
        let [passes, trials, low, high] = numbers(&row)[..] else { panic!("four numbers") };
        let estimate = Estimate::of_passes(passes as usize, trials as usize).expect("trials");
        let interval = estimate.interval().expect("Wilson's interval holds from one trial on");
        assert_eq!(interval.method, Method::Wilson);
        near(estimate.mean(), passes / trials, 1e-15, "share");
        near(interval.low, low, 1e-12, &row.to_string());
        near(interval.high, high, 1e-12, &row.to_string());
    }
}

#[test]
fn graded_scores() {
    for row in fixture("score") {
        interval_near(wilson::of_scores(&numbers(&row["scores"])), &row["interval"], 1e-9);
    }
}

#[test]
fn gains_and_losses() {
    for row in fixture("square_and_add") {
        interval_near(square_and_add::of_differences(&numbers(&row["differences"])), &row["interval"], 1e-9);
    }
}

/// The bootstrap's ends lie within four Monte Carlo errors of those of 200,000 resamples, and never within Student's.
#[test]
fn means_and_the_studentised_bootstrap() {
    for row in fixture("means") {
        let values = numbers(&row["values"]);
        let sample = Sample::of_scenarios(&values).expect("finite");
        near(sample.mean().expect("values"), number(&row["mean"]), 1e-9, "mean");
        near(sample.deviation().expect("values"), number(&row["deviation"]), 1e-9, "deviation");
        let (student, bootstrap, error) = (numbers(&row["student"]), numbers(&row["bootstrap_t"]), numbers(&row["error"]));
        let (low, high) = studentised::of_values(&values, 1_999, 5).expect("they spread");
        near(low, student[0].min(bootstrap[0]), 4.0 * error[0], &format!("low of {}", row["name"]));
        near(high, student[1].max(bootstrap[1]), 4.0 * error[1], &format!("high of {}", row["name"]));
        assert!(low <= student[0] + 1e-9 && high >= student[1] - 1e-9, "{} is within Student's", row["name"]);
        if let Some(other) = row["bca"].as_array() {
            // Two methods, so only near: an eighth of the width at forty values and more.
            let tolerance = (high - low) / 8.0;
            near(low, number(&other[0]), tolerance, "low of BCa");
            near(high, number(&other[1]), tolerance, "high of BCa");
        }
    }
}

#[test]
fn log_normal_means() {
    for row in fixture("log_normal") {
        let (low, high) = log_normal::of_sizes(&numbers(&row["values"])).expect("they look log-normal");
        near(low / number(&row["interval"][0]), 1.0, 1e-5, "low");
        near(high / number(&row["interval"][1]), 1.0, 1e-5, "high");
    }
}

#[test]
fn families_spread_as_a_jackknife_says() {
    for row in fixture("families") {
        let families: Vec<Vec<f64>> = row["families"].as_array().expect("a list").iter().map(numbers).collect();
        let names: Vec<String> = (0..10).map(|place| place.to_string()).collect();
        let observations = families.iter().zip(&names).flat_map(|(values, family)| {
            values.iter().zip(&names).map(|(&value, scenario)| Observation { family, scenario, seed: 0, value })
        });
        let sample = Sample::of(observations).expect("finite");
        near(sample.mean().expect("values"), number(&row["mean"]), 1e-12, "mean");
        near(sample.deviation().expect("values"), number(&row["deviation"]), 1e-12, "deviation");
        let values = sample.family_values();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        near(mean, number(&row["mean"]), 1e-12, "mean of the families' values");
        let error = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0) / count).sqrt();
        near(error, number(&row["jackknife_error"]), 1e-12, "jackknife");
        if let Some(other) = row["regression_error"].as_f64() {
            near(error, other, 1e-12, "cluster-robust regression");
        }
    }
}

#[test]
fn exact_sign_flips() {
    for row in fixture("sign_flip") {
        let test = SignFlip::of(&numbers(&row["differences"]), 0);
        assert!(test.exact);
        near(test.p, number(&row["p"]), 1e-12, &row.to_string());
        near(test.mid_p, number(&row["mid_p"]), 1e-12, &row.to_string());
    }
}

/// Within four standard errors of a share of 9,999 draws.
#[test]
fn drawn_sign_flips() {
    for row in fixture("large_sign_flip") {
        let test = SignFlip::of(&numbers(&row["differences"]), 11);
        assert!(!test.exact);
        let (p, mid_p) = (number(&row["p"]), number(&row["mid_p"]));
        near(test.p, p, 4.0 * (p * (1.0 - p) / 9_999.0).sqrt(), "p");
        near(test.mid_p, mid_p, 4.0 * (mid_p * (1.0 - mid_p) / 9_999.0).sqrt(), "mid-p");
    }
}

#[test]
fn passes_by_counting_subsets() {
    for row in fixture("passes") {
        let whole = |name: &str| row[name].as_u64().expect("a count");
        let (trials, passes, k) = (whole("trials"), whole("passes"), whole("k"));
        near(pass_at_k(trials, passes, k).expect("k is in range"), number(&row["at"]), 1e-12, &row.to_string());
        near(pass_hat_k(trials, passes, k).expect("k is in range"), number(&row["hat"]), 1e-12, &row.to_string());
    }
}

#[test]
fn adjusted_p_values() {
    for row in fixture("adjusted") {
        let p: Vec<Option<f64>> = numbers(&row["p"]).into_iter().map(Some).collect();
        for (name, got) in [("holm", holm(&p)), ("benjamini_hochberg", benjamini_hochberg(&p))] {
            for (got, expect) in got.into_iter().zip(numbers(&row[name])) {
                near(got.expect("known"), expect, 1e-12, name);
            }
        }
    }
}

#[test]
fn scales_choose_their_methods() {
    fn check(values: &[f64], scale: Scale, expect: Method) {
        let estimate = Sample::of_scenarios(values).expect("finite").estimate(scale, 1).expect("values");
        assert_eq!(estimate.interval().expect("an interval").method, expect, "{values:?} {scale:?}");
    }
    let scores = [1.0, 0.0, 0.5, 1.0, 0.0];
    check(&[1.0, 0.0, 1.0, 1.0, 0.0], Scale::Unit, Method::Wilson);
    check(&scores, Scale::Unit, Method::Score);
    check(&scores, Scale::UnitDifference, Method::SquareAndAdd);
    check(&scores, Scale::Real, Method::StudentisedBootstrap);
    // A size of 0 has no logarithm.
    check(&scores, Scale::Positive, Method::StudentisedBootstrap);
    check(&[100.0, 300.0, 150.0, 900.0, 400.0], Scale::Positive, Method::LogNormal);
    // One of eight is a thousand times larger: the logarithms do not look normal.
    check(&[1.0, 1.1, 1.2, 0.9, 1.05, 0.95, 1.0, 1000.0], Scale::Positive, Method::StudentisedBootstrap);
    // Two in ten are large: the logarithms' skewness is 1.5, twice its standard error 1.16; their kurtosis is within.
    check(&[1.0, 100.0, 1.0, 1.0, 1.0, 1.0, 100.0, 1.0, 1.0, 1.0], Scale::Positive, Method::StudentisedBootstrap);
    // Small and large alone, as many of each: no skewness, but a kurtosis of -2, twice its standard error at twenty values is 1.52.
    check(&[1.0, 100.0].repeat(10), Scale::Positive, Method::StudentisedBootstrap);
    // Out of the scale's range.
    check(&[1.0, 0.0, 1.5, 1.0, 0.0], Scale::Unit, Method::StudentisedBootstrap);
    check(&[-1.5, 0.0, 0.5, 1.0, 0.0], Scale::UnitDifference, Method::StudentisedBootstrap);
}
