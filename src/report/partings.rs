//! Where requests part from those before them, and what a prompt cache lost by it, in words.

use std::fmt::Write as _;

use crate::results::Parting;

use super::folded::folded;
use super::numerals::count;
use super::shown_text::PAGE;

/// Why requests read no more of the prompt cache than they do, a line each.
pub(super) fn partings<'a>(requests: impl Iterator<Item = (u32, &'a Parting)>) -> String {
    let mut out = String::new();
    for (seq, parts) in requests {
        let place = if parts.at.parse::<usize>().is_ok() { format!("item {}", parts.at) } else { parts.at.to_string() };
        let from = parts.from.map_or("no request of this run".to_owned(), |from| format!("request {from}"));
        let why = match &*parts.why {
            "model" => "another model".to_owned(),
            "scope" => "another organisation".to_owned(),
            "key" => "another routing key".to_owned(),
            "expired" => "its entry had expired".to_owned(),
            "not_yet" => "that one had not begun to answer".to_owned(),
            "minimum" => "shorter than the provider keeps".to_owned(),
            "look_back" => "too far before the breakpoints".to_owned(),
            "not_kept" => "nothing was kept there".to_owned(),
            "no_cache" => "the provider keeps nothing".to_owned(),
            kind => format!("{} differs", kind.replace('_', " ")),
        };
        let (common, lost) = (count(parts.common as f64), count(parts.lost as f64));
        let line = format!("cache: request {seq} is like {from} up to {place} ({common} tokens; {why}): at most {lost} more could be read");
        for piece in folded(&line, PAGE - 2) {
            let _ = writeln!(out, "  {piece}");
        }
    }
    out
}
