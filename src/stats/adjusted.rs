//! P values of many tests at once.

/// P values adjusted so that the chance of any false alarm among all tests stays below the level (Holm 1979).
///
/// In the order given. Unknown values, and any that are not between 0 and 1, stay unknown and are not counted as tests.
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let order = ascending(p);
    let mut adjusted = vec![None; p.len()];
    let mut least = 0.0_f64;
    for (rank, &(place, value)) in order.iter().enumerate() {
        least = least.max(value * (order.len() - rank) as f64).min(1.0);
        adjusted[place] = Some(least);
    }
    adjusted
}

/// P values adjusted so that the expected share of false alarms among all alarms stays below the level (Benjamini and Hochberg 1995).
///
/// In the order given; unknown values as for [`holm`].
pub fn benjamini_hochberg(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let order = ascending(p);
    let mut adjusted = vec![None; p.len()];
    let mut most = 1.0_f64;
    for (rank, &(place, value)) in order.iter().enumerate().rev() {
        most = most.min(value * order.len() as f64 / (rank + 1) as f64);
        adjusted[place] = Some(most);
    }
    adjusted
}

/// The known values with their places, lowest first.
fn ascending(p: &[Option<f64>]) -> Vec<(usize, f64)> {
    let mut known: Vec<(usize, f64)> =
        p.iter().enumerate().filter_map(|(place, value)| value.filter(|p| (0.0..=1.0).contains(p)).map(|p| (place, p))).collect();
    known.sort_by(|one, other| one.1.total_cmp(&other.1));
    known
}
