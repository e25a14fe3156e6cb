//! Small cases whose answer can be seen.

use super::super::*;

fn estimate(values: &[f64], scale: Scale) -> Estimate {
    Sample::of_scenarios(values).expect("finite").estimate(scale, 7).expect("values")
}

fn seen<'a>(family: &'a str, scenario: &'a str, seed: u64, value: f64) -> Observation<'a> {
    Observation { family, scenario, seed, value }
}

#[test]
fn seeds_come_first_and_scenarios_weigh_the_same() {
    // Scenario a has the mean 2, b 5, c 8; plain averaging of the five cells would give 4.4.
    let cells = [seen("f", "a", 1, 1.0), seen("f", "a", 2, 3.0), seen("f", "a", 3, 2.0), seen("f", "b", 1, 5.0), seen("g", "c", 1, 8.0)];
    let sample = Sample::of(cells).expect("finite");
    assert_eq!((sample.mean(), sample.scenarios(), sample.families()), (Some(5.0), 3, 2));
    // (9 + 0 + 9) / 2 = 9.
    assert_eq!(sample.deviation(), Some(3.0));
    // The same name in another family is another scenario.
    assert_eq!(Sample::of([seen("f", "a", 1, 1.0), seen("g", "a", 1, 2.0)]).expect("finite").scenarios(), 2);
    assert_eq!(Sample::of([seen("f", "a", 1, f64::NAN)]), Err(NotFinite));
    assert_eq!(Sample::of_scenarios(&[f64::INFINITY]), Err(NotFinite));
    assert_eq!(Sample::default().estimate(Scale::Real, 1), None);
}

#[test]
fn where_no_method_covers_the_interval_is_unknown() {
    fn check(values: &[f64], scale: Scale, expect: NoInterval) {
        assert_eq!(estimate(values, scale).interval(), Err(expect), "{values:?} {scale:?}");
    }
    for scale in [Scale::Real, Scale::Positive, Scale::UnitDifference] {
        check(&[0.5], scale, NoInterval::TooFew { families: 1, needed: 4 });
        check(&[0.5, 0.7, 0.8], scale, NoInterval::TooFew { families: 3, needed: 4 });
        check(&[0.7; 9], scale, NoInterval::NoSpread);
    }
    check(&[0.5, 1.0], Scale::Unit, NoInterval::TooFew { families: 2, needed: 3 });
    check(&[0.7; 9], Scale::Unit, NoInterval::NoSpread);
    assert_eq!(estimate(&[0.5], Scale::Real).deviation(), None);
    // Many scenarios of few families are few samples.
    let cells: Vec<Observation> = ["a", "b", "c", "d", "e"].iter().flat_map(|s| [seen("f", s, 1, 1.0), seen("g", s, 1, 2.0)]).collect();
    let of_two = Sample::of(cells).expect("finite").estimate(Scale::Real, 1).expect("values");
    assert_eq!((of_two.scenarios(), of_two.interval()), (10, Err(NoInterval::TooFew { families: 2, needed: 4 })));
}

#[test]
fn passes_alone_have_an_interval_from_the_first() {
    // One pass of one: 1 / (1 + 1.96²) = 0.2065 to 1.
    let one = estimate(&[1.0], Scale::Unit).interval().expect("Wilson's");
    assert!((one.low - 0.206_55).abs() < 1e-5 && one.high == 1.0, "{one:?}");
    assert_eq!(Estimate::of_passes(2, 1), None);
    assert_eq!(Estimate::of_passes(0, 0), None);
    assert_eq!(Estimate::of_passes(usize::MAX, 7), None);
    // Trials that are scenarios give the same, one way and the other.
    let (counted, listed) = (Estimate::of_passes(2, 5).expect("trials"), estimate(&[1.0, 0.0, 0.0, 1.0, 0.0], Scale::Unit));
    assert_eq!((counted.mean(), counted.scenarios(), counted.interval()), (listed.mean(), listed.scenarios(), listed.interval()));
    assert!((counted.deviation().expect("five") - listed.deviation().expect("five")).abs() < 1e-15);
    let ties = estimate(&[0.0; 10], Scale::UnitDifference).interval().expect("ties have one");
    // Wilson's upper end for 0 of 10 is 1.96² / (10 + 1.96²) = 0.2775; gains and losses joined: the larger alone, as the lower arms are 0.
    assert!((ties.high - 0.277_53).abs() < 1e-5 && (ties.low + 0.277_53).abs() < 1e-5, "{ties:?}");
}

#[test]
fn pass_at_k_by_hand() {
    // Two of four pass: no pass in two tries has 1 of 6 pairs, two passes have 1 of 6.
    assert_eq!(pass_at_k(4, 2, 2), Some(1.0 - 1.0 / 6.0));
    assert_eq!(pass_hat_k(4, 2, 2), Some(1.0 / 6.0));
    for (trials, passes, k) in [(4, 5, 1), (4, 2, 5), (4, 2, 0), (0, 0, 1), (u64::MAX, 1, 0)] {
        assert_eq!((pass_at_k(trials, passes, k), pass_hat_k(trials, passes, k)), (None, None), "{trials} {passes} {k}");
    }
    // The product has two factors, not 10^12.
    assert_eq!(pass_hat_k(1_000_000_000_000, 999_999_999_998, 500_000_000_000).map(|p| (p * 1e6).round()), Some(250_000.0));
}

#[test]
fn pairs_are_found_by_scenario_and_seed() {
    let left =
        [seen("f", "a", 1, 0.9), seen("f", "a", 2, 0.1 + 0.2), seen("g", "b", 1, 0.5), seen("g", "b", 2, 0.4), seen("h", "c", 1, 1.0)];
    let right = [seen("h", "d", 1, 1.0), seen("f", "a", 2, 0.3), seen("f", "a", 1, 0.4), seen("g", "b", 1, 0.7), seen("g", "b", 3, 0.4)];
    let compared = Comparison::of(&left, &right, Scale::Unit, Direction::Higher, 1).expect("pairs");
    assert_eq!((compared.wins, compared.ties, compared.losses), (1, 1, 1));
    // Left lacks (d, 1) and (b, 3), right (b, 2) and (c, 1).
    assert_eq!(compared.unpaired, 4);
    // a: (0.5 + 0) / 2; b: -0.2.
    assert!((compared.difference.mean() - 0.025).abs() < 1e-12);
    assert_eq!((compared.difference.scenarios(), compared.test.untied), (2, 2));
    let lower = Comparison::of(&left, &right, Scale::Unit, Direction::Lower, 1).expect("pairs");
    assert_eq!((lower.wins, lower.ties, lower.losses), (1, 1, 1));
    assert_eq!(lower.difference, compared.difference);
}

#[test]
fn families_are_compared_as_wholes() {
    let names = ["a", "b", "c", "d", "e"];
    let side = |values: [f64; 2]| -> Vec<Observation> {
        names.iter().flat_map(|family| [seen(family, "x", 1, values[0]), seen(family, "y", 1, values[1])]).collect()
    };
    let compared = Comparison::of(&side([0.5, 1.0]), &side([0.25, 0.5]), Scale::Unit, Direction::Higher, 1).expect("pairs");
    // Ten scenarios gain, a quarter or a half; but they are five families, and each gains three eighths.
    assert_eq!((compared.wins, compared.ties, compared.losses), (10, 0, 0));
    assert_eq!((compared.difference.mean(), compared.difference.families(), compared.test.untied), (0.375, 5, 5));
    // Five of one sign: the ordinary value is 2 of 32.
    assert_eq!((compared.test.p, compared.test.mid_p), (2.0 / 32.0, 1.0 / 32.0));
    assert_eq!(compared.difference.interval(), Err(NoInterval::NoSpread));
    let ties = Comparison::of(&side([0.5, 1.0]), &side([0.5, 1.0]), Scale::Unit, Direction::Higher, 1).expect("pairs");
    assert_eq!(ties.difference.interval().map(|interval| interval.method), Ok(Method::SquareAndAdd));
    let real = Comparison::of(&side([0.5, 1.0]), &side([0.5, 1.0]), Scale::Positive, Direction::Lower, 1).expect("pairs");
    assert_eq!((real.difference.interval(), real.ties), (Err(NoInterval::NoSpread), 10));
}

#[test]
fn what_cannot_be_compared_is_said() {
    fn check(left: &[Observation], right: &[Observation], expect: NotComparable) {
        assert_eq!(Comparison::of(left, right, Scale::Real, Direction::Lower, 1), Err(expect));
    }
    let one = seen("f", "a", 1, 1.0);
    check(&[one, one], &[one], NotComparable::Repeated);
    check(&[one], &[seen("f", "a", 2, 1.0)], NotComparable::NoPair);
    check(&[one], &[seen("f", "a", 1, f64::NAN)], NotComparable::NotFinite);
    check(&[seen("f", "a", 1, f64::MAX)], &[seen("f", "a", 1, f64::MIN)], NotComparable::NotFinite);
    check(&[], &[], NotComparable::NoPair);
}

#[test]
fn few_differences_cannot_be_significant() {
    fn check(differences: &[f64], smallest: f64, expect: Verdict) {
        let test = SignFlip::of(differences, 3);
        assert_eq!((test.smallest, test.verdict(0.05)), (smallest, expect), "{differences:?}");
    }
    check(&[], 1.0, Verdict::CannotBe);
    check(&[0.0; 30], 1.0, Verdict::CannotBe);
    // Four of one sign: 2 of 16 patterns are as far, half of them count.
    check(&[1.0, 2.0, 3.0, 4.0], 1.0 / 16.0, Verdict::CannotBe);
    check(&[1.0, 2.0, 3.0, 4.0, 0.0, 0.0], 1.0 / 16.0, Verdict::CannotBe);
    check(&[1.0, 2.0, 3.0, 4.0, 5.0], 1.0 / 32.0, Verdict::Significant);
    check(&[1.0, 2.0, 3.0, 4.0, -5.0], 1.0 / 32.0, Verdict::NotSignificant);
    assert_eq!(SignFlip::of(&[1.0; 5], 3).verdict(1.0 / 32.0), Verdict::Significant);
    check(&[1.0; 25], 0.5 / 10_000.0, Verdict::Significant);
    let sure = SignFlip::of(&[1.0; 25], 3);
    // No drawn pattern is as far (a chance of 1 in 1,677 that one is): only the one that was seen.
    assert_eq!((sure.p, sure.mid_p), (1.0 / 10_000.0, 0.5 / 10_000.0));
}

#[test]
fn unknown_p_values_are_no_tests() {
    assert_eq!(holm(&[Some(0.01), None, Some(0.03), Some(f64::NAN), Some(2.0)]), [Some(0.02), None, Some(0.03), None, None]);
    assert_eq!(benjamini_hochberg(&[Some(0.01), None, Some(0.03)]), [Some(0.02), None, Some(0.03)]);
    assert_eq!(holm(&[]), []);
}

#[test]
fn a_front_of_quality_and_tokens() {
    let better = [Direction::Higher, Direction::Lower];
    let points = [
        vec![Some(0.9), Some(500.0)],
        vec![Some(0.8), Some(200.0)],
        vec![Some(0.8), Some(300.0)],
        vec![None, Some(1.0)],
        vec![Some(0.9), Some(500.0)],
        vec![Some(1.0), Some(f64::NAN)],
        vec![Some(0.1)],
        vec![Some(0.9), Some(600.0), Some(7.0)],
    ];
    let front = pareto(&points, &better);
    assert_eq!(front.best, [0, 1, 4]);
    assert_eq!(front.dominated, [Dominated { point: 2, by: 1 }, Dominated { point: 7, by: 0 }]);
    let not_compared: Vec<(usize, &[usize])> = front.not_compared.iter().map(|it| (it.point, it.unknown.as_slice())).collect();
    assert_eq!(not_compared, [(3, &[0][..]), (5, &[1][..]), (6, &[1][..])]);
    assert_eq!(pareto(&[], &better), Front::default());
    // Without objectives nothing beats anything.
    assert_eq!(pareto(&points, &[]).best.len(), points.len());
}

#[test]
fn a_ranking_says_where_it_is_unsure() {
    let around = |middle: f64| Some(estimate(&[middle - 1.0, middle + 1.0, middle - 0.5, middle + 0.5, middle, middle + 0.1], Scale::Real));
    let estimates = [around(30.0), around(10.0), None, around(10.2), around(50.0), Some(estimate(&[40.0], Scale::Real))];
    let ranking = Ranking::of(&estimates, Direction::Lower);
    let places: Vec<_> = ranking.places.iter().map(|place| (place.item, place.best, place.worst, place.next)).collect();
    use Separation::{Apart, Overlapping, Unknown};
    assert_eq!(
        places,
        [
            // 10 and 10.2 may change places; nobody is told apart from the lone 40.
            (1, 1, 3, Some(Overlapping)),
            (3, 1, 3, Some(Apart)),
            (0, 3, 4, Some(Unknown)),
            (5, 1, 5, Some(Unknown)),
            (4, 4, 5, None),
        ]
    );
    assert_eq!(ranking.unranked, [2]);
    assert!(!ranking.is_certain());
    let clear = Ranking::of(&[around(30.0), around(10.0)], Direction::Higher);
    assert_eq!(clear.places.iter().map(|place| place.item).collect::<Vec<_>>(), [0, 1]);
    assert!(clear.is_certain() && Ranking::of(&[], Direction::Lower).is_certain());
}
