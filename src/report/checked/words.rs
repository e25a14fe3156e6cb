//! The sentences of a check: one wording for every output that people read.

use crate::check::{Allowance, Bound, Change, Checked, Held, Mark, Millionths, Place, Row, Verdict, exit_words, millionths, plain};
use crate::error::Exit;
use crate::metrics::Unit;
use crate::results::Number;

use super::super::numerals::apart;

/// A number of millionths with its thousands apart, exact.
pub fn exact(amount: Millionths) -> String {
    apart(&plain(amount))
}

/// As [`exact`], with a sign in any case.
pub fn signed(amount: Millionths) -> String {
    if amount >= 0 { format!("+{}", exact(amount)) } else { exact(amount) }
}

/// A measured number; `–` for what was not measured.
pub fn value(number: Option<Number>) -> String {
    number.map_or("–".to_owned(), |number| exact(millionths(number)))
}

/// What the numbers of a row count; empty for scores.
pub fn unit(row: &Row) -> &'static str {
    row.metric.map_or("", |metric| match metric.unit {
        Unit::Ratio | Unit::Count => "",
        unit => unit.name(),
    })
}

/// By how much a figure moved: `+55 (+0.45 %)`; `None` where it did not, or there is nothing to compare.
pub fn movement(row: &Row) -> Option<String> {
    let (now, before) = (millionths(row.value?), millionths(row.accepted?));
    let difference = now - before;
    if difference == 0 {
        return None;
    }
    if before == 0 {
        return Some(signed(difference));
    }
    let percent = difference as f64 / before.abs() as f64 * 100.0;
    // A small share is not written as none.
    let digits = if percent.abs() < 0.01 { 4 } else { 2 };
    Some(format!("{} ({percent:+.digits$} %)", signed(difference)))
}

/// Where a limit stands.
pub fn source(checked: &Checked, held: &Held) -> String {
    match (held.limit.line, held.limit.by_default) {
        (Some(line), false) => format!("{}:{line}", checked.about.budgets_file),
        (Some(line), true) => format!("{}:{line}, the default", checked.about.budgets_file),
        (None, _) => "typed".to_owned(),
    }
}

fn allowance(allowance: Allowance) -> String {
    match allowance {
        Allowance::By(amount) => exact(amount),
        share => share.to_string(),
    }
}

/// What a limit allows, as it is written: `max 12,000`, `grow 1%`.
pub fn bound(bound: Bound) -> String {
    match bound {
        Bound::Max(max) => format!("max {}", exact(millionths(max))),
        Bound::Min(min) => format!("min {}", exact(millionths(min))),
        Bound::Grow(by) => format!("grow {}", allowance(by)),
        Bound::Drop(by) => format!("drop {}", allowance(by)),
    }
}

/// A limit with its place: `max 12,000 (budgets.toml:9)`, `may grow by 1% (budgets.toml:4, the default)`.
pub fn limit(checked: &Checked, held: &Held) -> String {
    let level = if held.limit.level == crate::check::Level::Warn && !checked.about.strict { ", level warn" } else { "" };
    let words = match held.limit.bound {
        absolute @ (Bound::Max(_) | Bound::Min(_)) => bound(absolute),
        Bound::Grow(by) => format!("may grow by {}", allowance(by)),
        Bound::Drop(by) => format!("may drop by {}", allowance(by)),
    };
    format!("{words} ({}{level})", source(checked, held))
}

/// A limit that is exceeded: `max 12,000 (budgets.toml:9), exceeded by 345`.
pub fn exceeded(checked: &Checked, held: &Held) -> String {
    format!("{}, exceeded by {}", limit(checked, held), exact(held.beyond))
}

/// Places of tokens that a line names.
const PLACES: usize = 4;

/// What a row has more of, by where the tokens stand: `tools +40, own -3`, the largest first.
pub fn growth(row: &Row) -> Option<String> {
    let mut parts: Vec<(&String, i64)> = row.growth.as_ref()?.iter().map(|(name, tokens)| (name, *tokens)).collect();
    parts.sort_by_key(|(name, tokens)| (std::cmp::Reverse(tokens.unsigned_abs()), (*name).clone()));
    let named = parts.iter().take(PLACES).map(|(name, tokens)| format!("{name} {}", signed(i128::from(*tokens) * 1_000_000)));
    let more = parts.len().checked_sub(PLACES).filter(|more| *more > 0).map(|more| format!("{more} more"));
    Some(named.chain(more).collect::<Vec<_>>().join(", "))
}

fn tokens(mark: &Mark) -> String {
    mark.tokens.map_or("unknown tokens".to_owned(), |tokens| {
        format!("{} token{}", exact(i128::from(tokens) * 1_000_000), if tokens == 1 { "" } else { "s" })
    })
}

/// A piece of a request: what it is, and where its tokens come from where that does not say it.
pub fn piece(mark: &Mark) -> String {
    let origin = mark.origin.name();
    if mark.what == origin || mark.what.starts_with("tool ") { mark.what.clone() } else { format!("{} ({origin})", mark.what) }
}

/// What changed first, without saying in which request: `tool read_file changed: 45 → 46 tokens`.
pub fn change(change: &Change) -> String {
    let count = |tokens: u64| exact(i128::from(tokens) * 1_000_000);
    match change {
        Change::Changed(before, now) if before.what == now.what && before.origin == now.origin => {
            let before = before.tokens.map_or("unknown".to_owned(), count);
            format!("{} changed: {before} → {}", piece(now), tokens(now))
        }
        Change::Changed(before, now) => {
            format!("{} stands in the place of {}: {} → {}", piece(now), piece(before), tokens(before), tokens(now))
        }
        Change::Added(now) => format!("{} was added: {}", piece(now), tokens(now)),
        Change::Removed(before) => format!("{} was taken out: {}", piece(before), tokens(before)),
        Change::Reply(before, now) => format!("the reply changed: {} → {} tokens", count(*before), count(*now)),
        Change::Frame(before, now) => format!("the request changed where no item is kept: {} → {} tokens", count(*before), count(*now)),
        Change::NewRequest => "a request was added".to_owned(),
        Change::GoneRequest => "a request was taken out".to_owned(),
    }
}

/// Where it changed first: `request 3 of the root thread /, item 5`.
pub fn place(place: &Place) -> String {
    let thread = if place.thread == "/" { "the root thread /".to_owned() } else { format!("the child thread {}", place.thread) };
    let item = place.item.map_or(String::new(), |item| format!(", item {item}"));
    format!("request {} of {thread}{item}", place.request)
}

/// Whether a row is worth a line of its own: all but what passes.
pub fn is_told(row: &Row) -> bool {
    !matches!(row.worst(), Verdict::Ok | Verdict::Better)
}

/// The verdicts of a row in one word: `GREW STALE`.
pub fn verdicts(row: &Row) -> String {
    row.verdicts.iter().map(|verdict| verdict.name()).collect::<Vec<_>>().join(" ")
}

/// `1 cell`, `2 cells`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", exact(count as i128 * 1_000_000), if count == 1 { "" } else { "s" })
}

/// Every verdict with how many figures have it as their worst: `1 GREW, 8 ok`.
pub fn tally(checked: &Checked) -> String {
    let counts: Vec<String> = checked.counts().iter().map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
    if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
}

/// The last line of a check: exit code and what it means, the other codes that apply behind it.
pub fn last_line(checked: &Checked) -> String {
    let exits = checked.exits();
    let exit = checked.exit();
    let more: Vec<String> = exits.iter().skip(1).map(|exit| format!("{} {}", *exit as u8, exit_words(*exit))).collect();
    let more = if more.is_empty() { String::new() } else { format!(" (also {})", more.join(", ")) };
    exit_line(exit) + &more
}

/// An exit code and what it means.
pub fn exit_line(exit: Exit) -> String {
    format!("exit {}: {}", exit as u8, exit_words(exit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_readable() {
        let check = |amount: Millionths, expect: &str| assert_eq!(exact(amount), expect);
        check(0, "0");
        check(999_000_000, "999");
        check(1_234_567_000_000, "1,234,567");
        check(-1_234_500_000, "-1,234.5");
        check(833_333, "0.833333");
    }
}
