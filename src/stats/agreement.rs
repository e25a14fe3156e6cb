//! How far two who score the same agree.

/// How far two agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Answers that both scored.
    pub count: usize,
    /// The mean of the differences of their scores, without sign.
    pub difference: f64,
    /// The share of answers that both let pass (a half or more) or both do not.
    pub same: f64,
    /// Cohen's kappa of passing: what of that is more than chance; `None`: both say the same of all, so chance says it too.
    pub kappa: Option<f64>,
}

/// The agreement of pairs of scores from 0 to 1; `None`: there is no pair.
pub fn agreement(pairs: &[(f64, f64)]) -> Option<Agreement> {
    if pairs.is_empty() {
        return None;
    }
    let count = pairs.len() as f64;
    let share = |is: &dyn Fn(&(f64, f64)) -> bool| pairs.iter().filter(|pair| is(pair)).count() as f64 / count;
    let passes = |score: f64| score >= 0.5;
    let same = share(&|(one, other)| passes(*one) == passes(*other));
    let (one, other) = (share(&|(one, _)| passes(*one)), share(&|(_, other)| passes(*other)));
    let chance = one * other + (1.0 - one) * (1.0 - other);
    let difference = pairs.iter().map(|(one, other)| (one - other).abs()).sum::<f64>() / count;
    let kappa = (chance < 1.0).then(|| (same - chance) / (1.0 - chance));
    Some(Agreement { count: pairs.len(), difference, same, kappa })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let check = |pairs: &[(f64, f64)], expect: Option<(f64, f64, Option<f64>)>| {
            let found = agreement(pairs).map(|found| (found.difference, found.same, found.kappa));
            match (found, expect) {
                (Some(found), Some(expect)) => {
                    assert!((found.0 - expect.0).abs() < 1e-9 && (found.1 - expect.1).abs() < 1e-9, "{found:?}");
                    assert!(found.2.zip(expect.2).is_none_or(|(a, b)| (a - b).abs() < 1e-9) && found.2.is_some() == expect.2.is_some());
                }
                (found, expect) => assert_eq!(found, expect),
            }
        };
        check(&[], None);
        check(&[(1.0, 1.0), (1.0, 0.8)], Some((0.1, 1.0, None)));
        check(&[(1.0, 1.0), (0.0, 0.0)], Some((0.0, 1.0, Some(1.0))));
        check(&[(1.0, 0.0), (0.0, 1.0)], Some((1.0, 0.0, Some(-1.0))));
        // A table of 20, 5, 10 and 15 of 50: kappa 0.4.
        let table = [((1.0, 1.0), 20), ((1.0, 0.0), 5), ((0.0, 1.0), 10), ((0.0, 0.0), 15)];
        let pairs: Vec<(f64, f64)> = table.iter().flat_map(|(pair, times)| std::iter::repeat_n(*pair, *times)).collect();
        check(&pairs, Some((0.3, 0.7, Some(0.4))));
    }
}
