//! How often something passes: once, at least once in `k` tries, in all of `k` tries.

/// The chance that at least one of `k` tries passes, unbiased from `passes` in `trials` (Chen et al. 2021): one minus the share of
/// `k`-subsets of the trials that hold no pass. None when there are fewer than `k` trials, more passes than trials, or no try.
pub fn pass_at_k(trials: u64, passes: u64, k: u64) -> Option<f64> {
    let failures = trials.checked_sub(passes)?;
    subsets_within(trials, failures, k).map(|none| 1.0 - none)
}

/// The chance that all of `k` tries pass (written pass^k), unbiased from `passes` in `trials` (Yao et al. 2024): the share of `k`-subsets
/// of the trials that hold nothing but passes. None as for [`pass_at_k`].
pub fn pass_hat_k(trials: u64, passes: u64, k: u64) -> Option<f64> {
    subsets_within(trials, passes, k)
}

/// The share of `k`-subsets of `trials` that lie within `chosen` of them: C(chosen, k) / C(trials, k).
fn subsets_within(trials: u64, chosen: u64, k: u64) -> Option<f64> {
    if k == 0 || k > trials || chosen > trials {
        return None;
    }
    if k > chosen {
        return Some(0.0);
    }
    // C(chosen, k) / C(trials, k) is a product over the tries or, by symmetry, over the trials that are not chosen: the shorter is taken.
    let rest = trials - chosen;
    let product = if k <= rest {
        (0..k).map(|drawn| (chosen - drawn) as f64 / (trials - drawn) as f64).product()
    } else {
        (0..rest).map(|left| (trials - k - left) as f64 / (trials - left) as f64).product()
    };
    Some(product)
}
