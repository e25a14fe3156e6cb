//! Published curves of how often what stands in a long context is used (`attention.tsv`, dated, with its sources).

use std::sync::OnceLock;

/// One curve.
#[derive(Debug, PartialEq)]
pub struct Curve {
    /// The benchmark and the model.
    pub name: &'static str,
    /// Ascending by length, then by position.
    points: Vec<Point>,
}

/// One measured point.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// Tokens of the context.
    tokens: f64,
    /// 0: the beginning, 1: the end; `None`: the benchmark does not tell.
    position: Option<f64>,
    /// 0 to 1.
    used: f64,
}

const TABLE: &str = include_str!("attention.tsv");

/// All curves.
pub fn curves() -> impl Iterator<Item = &'static Curve> {
    static CURVES: OnceLock<Vec<Curve>> = OnceLock::new();
    CURVES.get_or_init(|| read(TABLE)).iter()
}

/// A row that cannot be read is left out: a test reads the table row by row.
fn read(table: &'static str) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for (name, point) in table.lines().filter_map(row) {
        match curves.last_mut().filter(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, points: vec![point] }),
        }
    }
    curves
}

fn row(line: &'static str) -> Option<(&'static str, Point)> {
    let mut fields = line.split('\t');
    let name = fields.next().filter(|name| !name.starts_with('#'))?;
    let tokens = fields.next()?.parse().ok()?;
    let position = match fields.next()? {
        "" => None,
        position => Some(position.parse().ok()?),
    };
    Some((name, Point { tokens, position, used: fields.next()?.parse::<f64>().ok()? / 100.0 }))
}

/// The names of all curves.
pub fn curve_names() -> impl Iterator<Item = &'static str> {
    curves().map(|curve| curve.name)
}

/// The named curve.
pub fn named(name: &str) -> Option<&'static Curve> {
    curves().find(|curve| curve.name == name)
}

impl Curve {
    /// The share of visible facts that are used, at a length in tokens and a position from 0, the beginning, to 1, the end.
    /// Between two measured points linear in the logarithm of the length, or in the position, whichever the curve is over;
    /// beyond the outermost point it stays where that one is, for nobody has measured there.
    pub fn used(&self, tokens: u64, position: f64) -> f64 {
        let by_position = self.points.first().is_some_and(|point| point.position.is_some());
        let at = |point: &Point| if by_position { point.position.unwrap_or_default() } else { point.tokens.max(1.0).log2() };
        let here = if by_position { position } else { (tokens.max(1) as f64).log2() };
        let above = self.points.iter().position(|point| at(point) >= here);
        match above {
            Some(0) => self.points[0].used,
            None => self.points.last().map_or(1.0, |point| point.used),
            Some(above) => {
                let (low, high) = (&self.points[above - 1], &self.points[above]);
                let share = (here - at(low)) / (at(high) - at(low));
                low.used + share * (high.used - low.used)
            }
        }
    }

    /// The lengths between which it was measured, in tokens; `None`: it is over positions.
    pub fn measured(&self) -> Option<(u64, u64)> {
        let lengths = self.points.iter().filter(|point| point.position.is_none()).map(|point| point.tokens as u64);
        Some((lengths.clone().min()?, lengths.max()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_row_is_read_and_makes_sense() {
        let rows: Vec<&str> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(rows.iter().all(|line| row(line).is_some()));
        assert_eq!(curves().map(|curve| curve.points.len()).sum::<usize>(), rows.len());
        for curve in curves() {
            let key = |point: &Point| (point.tokens, point.position.unwrap_or(-1.0));
            assert!(curve.points.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])), "{}", curve.name);
            let over_positions = curve.points.iter().filter(|point| point.position.is_some()).count();
            assert!(
                over_positions == 0
                    || (over_positions == curve.points.len() && curve.points[0].tokens == curve.points.last().expect("one").tokens)
            );
            assert!(curve.points.iter().all(|point| (0.0..=1.0).contains(&point.used)), "{}", curve.name);
            assert!(!curve.name.contains(['/', ':', ',', '=', ' ']), "{} stands in a cell id", curve.name);
        }
        let mut names: Vec<&str> = curve_names().collect();
        names.dedup();
        assert_eq!(names.len(), curves().count(), "rows of a curve stand together");
    }

    #[test]
    fn between_two_points_it_is_linear_and_beyond_them_it_stays() {
        #[track_caller]
        fn check(name: &str, tokens: u64, position: f64, expect: f64) {
            let used = named(name).expect("it is there").used(tokens, position);
            assert!((used - expect).abs() < 1e-9, "{used}");
        }
        check("nolima-gpt-4o", 1_000, 0.0, 0.981);
        check("nolima-gpt-4o", 2_000, 0.7, 0.980);
        // Halfway between 4,000 and 8,000 in the logarithm: (95.7 + 89.2) / 2.
        check("nolima-gpt-4o", 5_657, 0.5, 0.957 - 0.065 * (5_657_f64 / 4_000.0).log2());
        check("nolima-gpt-4o", 10, 0.5, 0.993);
        check("nolima-gpt-4o", 0, 0.5, 0.993);
        check("nolima-gpt-4o", 9_000_000, 0.5, 0.697);
        check("middle-20-gpt-3.5-turbo", 9, 0.0, 0.758);
        check("middle-20-gpt-3.5-turbo", 9, 0.125, 0.665);
        check("middle-20-gpt-3.5-turbo", 9, 1.0, 0.632);
        check("trial-smollm2-135m", 9, 0.5, 0.68);
    }

    proptest! {
        #[test]
        fn it_is_a_share_whatever_is_asked(which in any::<prop::sample::Index>(), tokens in any::<u64>(), position in 0.0_f64..=1.0) {
            let used = which.get(&curves().collect::<Vec<_>>()).used(tokens, position);
            prop_assert!((0.0..=1.0).contains(&used));
        }
    }
}
