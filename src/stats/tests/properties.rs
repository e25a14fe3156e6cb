//! What holds for all data.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::*;

fn any_scale() -> impl Strategy<Value = Scale> {
    prop_oneof![Just(Scale::Unit), Just(Scale::UnitDifference), Just(Scale::Positive), Just(Scale::Real)]
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (-20_i32..=20).prop_map(|value| f64::from(value) / 20.0),
        2 => 0.0..1.0_f64,
        2 => 1.0..1e6_f64,
        1 => -1e150..1e150_f64,
        1 => Just(f64::MIN_POSITIVE),
        1 => Just(0.0),
    ]
}

fn graded(most: usize) -> impl Strategy<Value = Vec<f64>> {
    vec((0_u8..=8).prop_map(|value| f64::from(value) / 8.0), 1..most)
}

fn ends(values: &[f64], scale: Scale) -> Option<(f64, f64)> {
    let interval = Sample::of_scenarios(values).ok()?.estimate(scale, 3)?.interval().ok()?;
    Some((interval.low, interval.high))
}

/// The ends, but each value mapped; a decreasing map changes low and high.
fn mapped(values: &[f64], scale: Scale, map: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
    let values: Vec<f64> = values.iter().map(|&value| map(value)).collect();
    ends(&values, scale)
}

fn near(one: Option<(f64, f64)>, other: Option<(f64, f64)>, tolerance: f64) -> Result<(), TestCaseError> {
    match (one, other) {
        (None, None) => Ok(()),
        (Some(one), Some(other)) => {
            let within = |a: f64, b: f64| (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()));
            prop_assert!(within(one.0, other.0) && within(one.1, other.1), "{one:?} {other:?}");
            Ok(())
        }
        _ => Err(TestCaseError::fail(format!("{one:?} {other:?}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn an_estimate_holds_together(values in vec(any_value(), 1..25), scale in any_scale(), seed in any::<u64>()) {
        let estimate = Sample::of_scenarios(&values).unwrap().estimate(scale, seed).unwrap();
        prop_assert_eq!(estimate.scenarios(), values.len());
        prop_assert!(estimate.mean().is_finite());
        prop_assert_eq!(estimate.deviation().is_some(), values.len() > 1);
        if let Ok(interval) = estimate.interval() {
            prop_assert!(interval.low <= estimate.mean() && estimate.mean() <= interval.high, "{:?}", estimate);
            prop_assert!(interval.low.is_finite() && interval.high.is_finite());
            match interval.method {
                Method::Wilson | Method::Score => prop_assert!(0.0 <= interval.low && interval.high <= 1.0),
                Method::SquareAndAdd => prop_assert!(-1.0 <= interval.low && interval.high <= 1.0),
                Method::LogNormal => prop_assert!(interval.low > 0.0),
                Method::StudentisedBootstrap => {}
            }
        }
    }

    #[test]
    fn the_order_of_observations_leaves_no_trace(
        cells in vec((0_usize..5, 0_usize..4, 0_u64..3, any_value()), 1..30),
        scale in any_scale(),
    ) {
        const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
        let seen = |&(family, scenario, seed, value): &(usize, usize, u64, f64)| {
            Observation { family: NAMES[family], scenario: NAMES[scenario], seed, value }
        };
        let forth = Sample::of(cells.iter().map(seen)).unwrap();
        let back = Sample::of(cells.iter().rev().map(seen)).unwrap();
        prop_assert_eq!(forth.estimate(scale, 5), back.estimate(scale, 5));
    }

    #[test]
    fn a_scenario_told_again_in_its_family_makes_nothing_surer(values in graded(12), times in 2_usize..4, scale in any_scale()) {
        let names: Vec<String> = (0..12).map(|place| format!("{place:02}")).collect();
        let again = values.iter().zip(&names).flat_map(|(&value, family)| {
            names[..times].iter().map(move |scenario| Observation { family, scenario, seed: 0, value })
        });
        let again = Sample::of(again).unwrap().estimate(scale, 3).unwrap();
        prop_assert_eq!((again.scenarios(), again.families()), (times * values.len(), values.len()));
        near(again.interval().ok().map(|interval| (interval.low, interval.high)), ends(&values, scale), 1e-9)?;
    }

    #[test]
    fn intervals_go_with_their_unit(values in vec(-50.0..50.0_f64, 4..15), factor in 0.01..100.0_f64, shift in -100.0..100.0_f64) {
        let plain = ends(&values, Scale::Real);
        near(mapped(&values, Scale::Real, |value| value * factor + shift), plain.map(|(l, h)| (l * factor + shift, h * factor + shift)), 1e-7)?;
        near(mapped(&values, Scale::Real, |value| -value), plain.map(|(l, h)| (-h, -l)), 1e-9)?;
    }

    #[test]
    fn sizes_go_with_their_unit(values in vec(0.1..50.0_f64, 4..15), factor in 0.01..100.0_f64) {
        let plain = ends(&values, Scale::Positive);
        near(mapped(&values, Scale::Positive, |value| value * factor), plain.map(|(low, high)| (low * factor, high * factor)), 1e-4)?;
    }

    #[test]
    fn scores_and_differences_mirror(values in graded(15)) {
        near(mapped(&values, Scale::Unit, |value| 1.0 - value), ends(&values, Scale::Unit).map(|(l, h)| (1.0 - h, 1.0 - l)), 1e-9)?;
        let differences: Vec<f64> = values.iter().zip(values.iter().rev().skip(1)).map(|(one, other)| one - other).collect();
        let plain = ends(&differences, Scale::UnitDifference);
        near(mapped(&differences, Scale::UnitDifference, |value| -value), plain.map(|(l, h)| (-h, -l)), 1e-9)?;
    }

    #[test]
    fn sides_of_a_comparison_mirror(pairs in vec((0_u8..=4, 0_u8..=4), 1..12), extra in 0_usize..3) {
        let names: Vec<String> = (0..15).map(|place| place.to_string()).collect();
        let side = |values: Vec<u8>| -> Vec<Observation<'_>> {
            let seen = |(value, name): (u8, _)| Observation { family: name, scenario: name, seed: 0, value: f64::from(value) / 4.0 };
            values.into_iter().zip(names.iter().map(String::as_str)).map(seen).collect()
        };
        let left = side(pairs.iter().map(|pair| pair.0).chain(std::iter::repeat_n(1, extra)).collect());
        let right = side(pairs.iter().map(|pair| pair.1).collect());
        let forth = Comparison::of(&left, &right, Scale::Unit, Direction::Higher, 1).unwrap();
        let back = Comparison::of(&right, &left, Scale::Unit, Direction::Higher, 1).unwrap();
        prop_assert_eq!((forth.wins, forth.ties, forth.losses, forth.unpaired), (back.losses, back.ties, back.wins, back.unpaired));
        prop_assert_eq!((forth.wins + forth.ties + forth.losses, forth.unpaired), (pairs.len(), extra));
        prop_assert!((forth.difference.mean() + back.difference.mean()).abs() < 1e-12);
        prop_assert_eq!(forth.test.mid_p, back.test.mid_p);
    }

    #[test]
    fn sign_flips_are_those_of_the_definition(differences in vec(-4_i32..=4, 0..10)) {
        let sum = |pattern: u32| -> i32 {
            differences.iter().enumerate().map(|(at, &size)| if pattern >> at & 1 == 1 { -size } else { size }).sum::<i32>().abs()
        };
        let patterns = 1_u32 << differences.len();
        let farther = (0..patterns).filter(|&pattern| sum(pattern) > sum(0)).count() as f64;
        let equal = (0..patterns).filter(|&pattern| sum(pattern) == sum(0)).count() as f64;
        // A tenth is no binary fraction: sums that are equal on paper differ.
        let values: Vec<f64> = differences.iter().map(|&size| f64::from(size) * 0.1).collect();
        let test = SignFlip::of(&values, 1);
        prop_assert!((test.p - (farther + equal) / f64::from(patterns)).abs() < 1e-12);
        if test.untied > 0 {
            prop_assert!((test.mid_p - (farther + equal / 2.0) / f64::from(patterns)).abs() < 1e-12);
        }
        prop_assert!(test.smallest <= test.mid_p && test.mid_p <= test.p && test.p <= 1.0);
    }

    #[test]
    fn adjusting_never_lowers_a_p_value(p in vec(prop::option::of(0.0..=1.0_f64), 0..12)) {
        let (strict, mild) = (holm(&p), benjamini_hochberg(&p));
        for at in 0..p.len() {
            prop_assert_eq!((strict[at].is_some(), mild[at].is_some()), (p[at].is_some(), p[at].is_some()));
            if let (Some(p), Some(mild), Some(strict)) = (p[at], mild[at], strict[at]) {
                prop_assert!(p <= mild + 1e-15 && mild <= strict + 1e-12 && strict <= 1.0);
            }
        }
        for (one, other) in (0..p.len()).flat_map(|one| (0..p.len()).map(move |other| (one, other))) {
            if p[one] < p[other] && p[one].is_some() {
                prop_assert!(strict[one] <= strict[other] && mild[one] <= mild[other]);
            }
        }
    }

    #[test]
    fn more_tries_pass_more_often_once_and_less_often_always(trials in 1_u64..60, passes in 0_u64..60) {
        let passes = passes.min(trials);
        let share = passes as f64 / trials as f64;
        prop_assert!((pass_at_k(trials, passes, 1).unwrap() - share).abs() < 1e-12);
        prop_assert!((pass_hat_k(trials, passes, 1).unwrap() - share).abs() < 1e-12);
        for k in 1..trials {
            prop_assert!(pass_at_k(trials, passes, k).unwrap() <= pass_at_k(trials, passes, k + 1).unwrap() + 1e-12);
            prop_assert!(pass_hat_k(trials, passes, k).unwrap() + 1e-12 >= pass_hat_k(trials, passes, k + 1).unwrap());
        }
    }

    #[test]
    fn a_front_is_what_its_definition_says(
        points in vec(vec(prop::option::weighted(0.9, (0_u8..4).prop_map(f64::from)), 3), 0..12),
        higher in any::<[bool; 3]>(),
    ) {
        let better: Vec<Direction> = higher.iter().map(|&it| if it { Direction::Higher } else { Direction::Lower }).collect();
        let front = pareto(&points, &better);
        let mut all: Vec<usize> = front.best.clone();
        all.extend(front.dominated.iter().map(|it| it.point));
        all.extend(front.not_compared.iter().map(|it| it.point));
        all.sort_unstable();
        prop_assert_eq!(all, (0..points.len()).collect::<Vec<_>>());
        // As costs: lower is better in each.
        let costs = |at: usize| -> Option<Vec<f64>> {
            points[at].iter().zip(higher).map(|(value, higher)| value.map(|value| if higher { -value } else { value })).collect()
        };
        let beats = |one: usize, other: usize| match (costs(one), costs(other)) {
            (Some(one), Some(other)) => one != other && one.iter().zip(&other).all(|(one, other)| one <= other),
            _ => false,
        };
        for at in 0..points.len() {
            let known = costs(at).is_some();
            let beaten = (0..points.len()).any(|other| beats(other, at));
            prop_assert_eq!(front.best.contains(&at), known && !beaten);
            prop_assert_eq!(front.not_compared.iter().any(|it| it.point == at), !known);
        }
        for it in &front.dominated {
            prop_assert!(front.best.contains(&it.by) && beats(it.by, it.point));
        }
    }

    #[test]
    fn ranks_leave_open_what_intervals_do(middles in vec((0_i32..30, 1_usize..6), 0..8), higher in any::<bool>()) {
        let better = if higher { Direction::Higher } else { Direction::Lower };
        let estimates: Vec<Option<Estimate>> = (middles.iter())
            .map(|&(middle, count)| {
                let values: Vec<f64> = (0..count).map(|at| f64::from(middle) + at as f64 / 5.0).collect();
                Sample::of_scenarios(&values).unwrap().estimate(Scale::Real, 2)
            })
            .collect();
        let ranking = Ranking::of(&estimates, better);
        prop_assert_eq!(ranking.places.len(), estimates.len());
        for (at, place) in ranking.places.iter().enumerate() {
            prop_assert!(1 <= place.best && place.best <= at + 1 && at < place.worst && place.worst <= estimates.len());
            prop_assert_eq!(place.next.is_none(), at + 1 == estimates.len());
            if let Some(next) = ranking.places.get(at + 1) {
                let (one, other) = (estimates[place.item].unwrap(), estimates[next.item].unwrap());
                prop_assert!(!better.is_better(other.mean(), one.mean()));
                let expect = match (one.interval(), other.interval()) {
                    (Ok(one), Ok(other)) if one.high < other.low || other.high < one.low => Separation::Apart,
                    (Ok(_), Ok(_)) => Separation::Overlapping,
                    _ => Separation::Unknown,
                };
                prop_assert_eq!(place.next, Some(expect));
            }
        }
    }
}
