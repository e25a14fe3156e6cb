//! Which entries of two requests belong together.

/// One step through two sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// These are alike.
    Same(usize, usize),
    /// These stand in each other's place and differ.
    Changed(usize, usize),
    /// Only the first has it, before this position of the second.
    Missing(usize, usize),
    /// Only the second has it, before this position of the first.
    Extra(usize, usize),
}

/// Pairs that are compared beyond what two sequences have in common at their ends: more than any real requests need.
const PAIRS: usize = 1_000_000;

/// The longest way through two sequences along what is alike; what stands between is paired off where it may be.
pub(super) fn align(lengths: (usize, usize), alike: impl Fn(usize, usize) -> bool, pairs: impl Fn(usize, usize) -> bool) -> Vec<Step> {
    let (left, right) = lengths;
    let head = (0..left.min(right)).take_while(|&at| alike(at, at)).count();
    let tail = (0..left.min(right) - head).take_while(|&at| alike(left - 1 - at, right - 1 - at)).count();
    let mut steps: Vec<Step> = (0..head).map(|at| Step::Same(at, at)).collect();
    let (left, right) = (left - tail, right - tail);
    middle(head, (left, right), alike, &pairs, &mut steps);
    steps.extend((0..tail).map(|at| Step::Same(left + at, right + at)));
    steps
}

/// The part of two sequences that begins behind what they have in common and ends before it.
fn middle(
    head: usize,
    (left, right): (usize, usize),
    alike: impl Fn(usize, usize) -> bool,
    pairs: &impl Fn(usize, usize) -> bool,
    steps: &mut Vec<Step>,
) {
    let (rows, columns) = (left - head, right - head);
    if rows.saturating_mul(columns) > PAIRS {
        return between(head..left, head..right, pairs, steps);
    }
    let same: Vec<bool> = (head..left).flat_map(|i| (head..right).map(move |j| (i, j))).map(|(i, j)| alike(i, j)).collect();
    let same = |i: usize, j: usize| same[(i - head) * columns + j - head];
    // How many alike pairs are left from here on.
    let mut best = vec![0_usize; (rows + 1) * (columns + 1)];
    let place = |i: usize, j: usize| (i - head) * (columns + 1) + j - head;
    for i in (head..left).rev() {
        for j in (head..right).rev() {
            let skip = best[place(i + 1, j)].max(best[place(i, j + 1)]);
            best[place(i, j)] = if same(i, j) { skip.max(best[place(i + 1, j + 1)] + 1) } else { skip };
        }
    }
    let (mut i, mut j) = (head, head);
    while i < left || j < right {
        let (from_i, from_j) = (i, j);
        let pair = |i: usize, j: usize| i < left && j < right && same(i, j) && best[place(i, j)] == best[place(i + 1, j + 1)] + 1;
        while (i < left || j < right) && !pair(i, j) {
            if j == right || (i < left && best[place(i + 1, j)] >= best[place(i, j + 1)]) {
                i += 1;
            } else {
                j += 1;
            }
        }
        between(from_i..i, from_j..j, pairs, steps);
        if i < left && j < right {
            steps.push(Step::Same(i, j));
            i += 1;
            j += 1;
        }
    }
}

/// What has no partner: in order, each of the first with the next of the second that may be its pair.
fn between(first: std::ops::Range<usize>, second: std::ops::Range<usize>, pairs: &impl Fn(usize, usize) -> bool, steps: &mut Vec<Step>) {
    let mut next = second.start;
    let mut open = Vec::new();
    for i in first.clone() {
        match (next..second.end).find(|&j| pairs(i, j)) {
            Some(j) => {
                open.extend((next..j).map(|j| Step::Extra(j, i)));
                open.push(Step::Changed(i, j));
                next = j + 1;
            }
            None => open.push(Step::Missing(i, next)),
        }
    }
    open.extend((next..second.end).map(|j| Step::Extra(j, first.end)));
    steps.extend(open);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters are alike if they are equal, and pairs if they are equal but for their case.
    fn check(first: &str, second: &str, expect: &str) {
        let (a, b): (Vec<char>, Vec<char>) = (first.chars().collect(), second.chars().collect());
        let alike = |i: usize, j: usize| a[i] == b[j];
        let pairs = |i: usize, j: usize| a[i].eq_ignore_ascii_case(&b[j]);
        let shown = align((a.len(), b.len()), alike, pairs).into_iter().map(|step| match step {
            Step::Same(i, _) => format!("{}", a[i]),
            Step::Changed(i, j) => format!("{}>{}", a[i], b[j]),
            Step::Missing(i, at) => format!("-{}@{at}", a[i]),
            Step::Extra(j, at) => format!("+{}@{at}", b[j]),
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expect, "{first} | {second}");
    }

    #[test]
    fn what_differs_is_named_and_the_rest_stays_paired() {
        check("abc", "abc", "a b c");
        check("abc", "ac", "a -b@1 c");
        check("ac", "abc", "a +b@1 c");
        check("abc", "aBc", "a b>B c");
        check("abcd", "bcda", "-a@0 b c d +a@4");
        check("", "ab", "+a@0 +b@0");
        check("ab", "", "-a@0 -b@0");
        check("axc", "aycz", "a -x@1 +y@2 c +z@3");
    }
}
