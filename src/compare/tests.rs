use super::*;
use crate::metrics::metric;
use crate::results::{ByMetric, Number};

/// A cell with one figure.
fn cell(scenario: &str, strategy: &str, seed: u64, name: &str, value: f64) -> CellResult {
    let figure = ByMetric::from_iter([(name.to_owned().into(), Number::real(value))]);
    CellResult { fingerprint: format!("{value}"), metrics: figure, ..crate::results::tests::cell(scenario, strategy, seed) }
}

fn run(strategy: &str, name: &str, values: &[f64]) -> Vec<CellResult> {
    values.iter().enumerate().map(|(at, value)| cell(&format!("s{at}"), strategy, 0, name, *value)).collect()
}

fn only(compared: &Compared) -> &Row {
    assert_eq!(compared.rows.len(), 1, "{compared:?}");
    &compared.rows[0]
}

#[test]
fn what_changed_is_right_less_left() {
    let check = |name: &str, left: &[f64], right: &[f64], mean: f64, counts: (usize, usize, usize), saying: Saying| {
        let compared = compare(&run("a@1", name, left), &run("a@1", name, right), &Pairing::SameStrategy, &[metric(name).unwrap()]);
        let row = only(&compared);
        assert!((row.comparison.difference.mean() - mean).abs() < 1e-9, "{row:?}");
        assert_eq!((row.comparison.wins, row.comparison.ties, row.comparison.losses), counts, "{row:?}");
        assert_eq!(row.saying(), saying, "{row:?}");
    };
    let same = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0];
    let more = same.map(|value| value + 5.0);
    check("total.input", &same, &same, 0.0, (0, 6, 0), Saying::Same);
    check("total.input", &same, &more, 5.0, (0, 0, 6), Saying::Worse);
    check("total.input", &more, &same, -5.0, (6, 0, 0), Saying::Better);
    check("delegations", &same, &more, 5.0, (0, 0, 6), Saying::Differs);
    // Up in three, down in three: chance could do that.
    let mixed = [15.0, 15.0, 35.0, 35.0, 55.0, 55.0];
    check("total.input", &same, &mixed, 0.0, (3, 0, 3), Saying::NotShown);
    // Four that differ can never be told from chance.
    check("total.input", &same[..4], &more[..4], 5.0, (0, 0, 4), Saying::TooFew);
    check("quality", &[0.5; 6], &[1.0; 6], 0.5, (6, 0, 0), Saying::Better);
    check("quality", &[1.0; 6], &[0.5; 6], -0.5, (0, 0, 6), Saying::Worse);
}

#[test]
fn means_are_of_the_pairs_and_the_others_are_named() {
    let mut left = run("a@1", "total.input", &[10.0, 20.0, 30.0]);
    let mut right = run("a@1", "total.input", &[11.0, 21.0]);
    left.push(cell("s0", "b@1", 0, "total.input", 1.0));
    right.push(cell("new", "a@1", 0, "total.input", 500.0));
    let compared = compare(&left, &right, &Pairing::SameStrategy, &[metric("total.input").unwrap()]);
    assert_eq!(only(&compared).means, (15.0, 16.0));
    assert_eq!((compared.pairs, compared.identical), (2, 0));
    assert_eq!(compared.left_only, ["s2/a@1/reader/0", "s0/b@1/reader/0"]);
    assert_eq!(compared.right_only, ["new/a@1/reader/0"]);
}

#[test]
fn two_strategies_face_each_other() {
    let mut all = run("a@1", "total.input", &[10.0, 20.0, 30.0, 40.0, 50.0]);
    all.extend(run("b@1", "total.input", &[5.0, 10.0, 15.0, 20.0, 25.0]));
    let pairing = Pairing::Strategies("a@1".into(), "b@1".into());
    let compared = compare(&all, &all, &pairing, &[metric("total.input").unwrap()]);
    let row = only(&compared);
    assert_eq!((row.left.as_str(), row.right.as_str(), row.means), ("a@1", "b@1", (30.0, 15.0)));
    assert_eq!((row.comparison.wins, row.saying()), (5, Saying::Better));
    assert!(compared.left_only.is_empty() && compared.right_only.is_empty());
}

#[test]
fn many_strategies_are_corrected_for() {
    // One of twenty strategies differs in five of five: alone it would be shown, among twenty that were looked at it is not.
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for at in 0..20 {
        let strategy = format!("s{at}@1");
        let base = [10.0, 20.0, 30.0, 40.0, 50.0];
        let shift = if at == 0 { [5.0; 5] } else { [1.0, -1.0, 1.0, -1.0, 1.0] };
        left.extend(run(&strategy, "total.input", &base));
        right.extend(run(&strategy, "total.input", &[0, 1, 2, 3, 4].map(|i| base[i] + shift[i])));
    }
    let one = |count: usize| {
        let part = |cells: &[CellResult]| cells[..count * 5].to_vec();
        let compared = compare(&part(&left), &part(&right), &Pairing::SameStrategy, &[metric("total.input").unwrap()]);
        compared.rows[0].saying()
    };
    assert_eq!((one(1), one(20)), (Saying::Worse, Saying::NotShown));
}

#[test]
fn seeds_are_averaged_and_families_are_one_sample() {
    let side = |shift: f64| -> Vec<CellResult> {
        let cells = (0..3).flat_map(|scenario| (0..4).map(move |seed| (scenario, seed)));
        cells
            .map(|(scenario, seed)| {
                let value = 10.0 * f64::from(scenario) + f64::from(seed) + shift;
                CellResult { family: Some("f".into()), ..cell(&format!("s{scenario}"), "a@1", seed as u64, "total.input", value) }
            })
            .collect()
    };
    let compared = compare(&side(0.0), &side(7.0), &Pairing::SameStrategy, &[metric("total.input").unwrap()]);
    let row = only(&compared);
    // Twelve pairs of one family are one sample: nothing can be told from chance.
    assert_eq!((row.comparison.losses, row.comparison.difference.families(), row.saying()), (12, 1, Saying::TooFew));
}

#[test]
fn what_failed_has_no_figures_but_that_it_did() {
    let left = run("a@1", "total.input", &[10.0, 20.0]);
    let mut right = run("a@1", "total.input", &[11.0, 2.0]);
    right[1].status = Status::Failed;
    let compared = compare(&left, &right, &Pairing::SameStrategy, &[metric("total.input").unwrap()]);
    assert_eq!(only(&compared).means, (10.0, 11.0));
    assert_eq!(compared.failed, ["s1/a@1/reader/0"]);
    let left = run("a@1", "quality", &[1.0, 1.0]);
    let mut right = run("a@1", "quality", &[1.0, 0.0]);
    right[1].status = Status::Failed;
    let compared = compare(&left, &right, &Pairing::SameStrategy, &[metric("quality").unwrap()]);
    assert_eq!(only(&compared).means, (1.0, 0.5));
}
