//! What is counted against what a provider reported, request by request.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Cassette;
use super::tape::Exchange;
use crate::model::wire::Section;

/// What of a request tokens are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// The system text.
    System,
    /// Tool schemas.
    Tools,
    /// Texts of messages.
    Prose,
    /// Calls with their arguments.
    Calls,
    /// Results of tools.
    Results,
}

impl ContentKind {
    const ALL: [ContentKind; 5] = [ContentKind::System, ContentKind::Tools, ContentKind::Prose, ContentKind::Calls, ContentKind::Results];
}

/// Counted against reported input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Requests whose input was reported.
    pub requests: u64,
    /// Their input as counted: texts in the encoding, and [`FRAME`] tokens a message.
    pub counted: u64,
    /// Their input as reported.
    pub reported: u64,
    /// Reported over counted: what a count is multiplied with; null: nothing was counted.
    pub factor: Option<f64>,
    /// The mean of the requests' errors without a factor, as a share of what was reported.
    pub mean_error: Option<f64>,
    /// The largest one.
    pub worst_error: Option<f64>,
    /// Tokens and factor by kind of content.
    pub kinds: BTreeMap<ContentKind, KindFactor>,
}

/// A kind's share, and its factor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KindFactor {
    /// Tokens, as counted.
    pub counted: u64,
    /// Reported over counted, of this kind; null: too little of it, or never in another proportion to the rest.
    pub factor: Option<f64>,
}

/// Tokens around each message, as counted here.
pub const FRAME: u64 = 4;

/// A request's tokens by kind, its messages, and what was reported.
struct Counted {
    kinds: [f64; 5],
    messages: u64,
    reported: f64,
}

/// Compares what `count` says of each request with what its reply reported.
pub fn calibrate(cassette: &Cassette, count: &dyn Fn(&str) -> u64) -> Calibration {
    let asking = &cassette.head().asking;
    let counted: Vec<Counted> = cassette.with_tape(|tape| {
        let mut known: BTreeMap<(String, u8), ([f64; 5], u64)> = BTreeMap::new();
        let exchanges = tape.cells.values().flat_map(|cell| &cell.exchanges).filter(|one| !one.superseded);
        let one = |exchange: &Exchange| {
            let answer = asking.read(&exchange.attempts.last()?.delivery).ok()?;
            let usage = answer.usage?;
            let reported = usage.uncached_input? + usage.cache_read.unwrap_or(0) + usage.cache_write.unwrap_or(0);
            let mut sum = Counted { kinds: [0.0; 5], messages: 0, reported: reported as f64 };
            for (section, digest) in exchange.request.digests() {
                let number = section_number(section);
                let (kinds, messages) = known
                    .entry((digest.clone(), number))
                    .or_insert_with(|| tape.pieces.get(digest).map_or(([0.0; 5], 0), |piece| piece_tokens(section, piece, count)));
                sum.kinds.iter_mut().zip(*kinds).for_each(|(sum, tokens)| *sum += tokens);
                sum.messages += *messages;
            }
            Some(sum)
        };
        exchanges.filter(|one| !one.at.lane.starts_with("judge ")).filter_map(one).collect()
    });
    fold(&counted)
}

fn fold(requests: &[Counted]) -> Calibration {
    let total = |one: &Counted| one.kinds.iter().sum::<f64>() + (one.messages * FRAME) as f64;
    let counted: f64 = requests.iter().map(total).sum();
    let reported: f64 = requests.iter().map(|one| one.reported).sum();
    let errors: Vec<f64> =
        requests.iter().filter(|one| one.reported > 0.0).map(|one| (total(one) - one.reported).abs() / one.reported).collect();
    let mean = (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
    let overall = (counted > 0.0).then_some(reported / counted);
    let factors = by_kind(requests, overall.unwrap_or(1.0));
    let kinds = ContentKind::ALL.into_iter().enumerate().filter_map(|(at, kind)| {
        let tokens: f64 = requests.iter().map(|one| one.kinds[at]).sum();
        (tokens > 0.0).then_some((kind, KindFactor { counted: tokens as u64, factor: factors[at] }))
    });
    Calibration {
        requests: requests.len() as u64,
        counted: counted as u64,
        reported: reported as u64,
        factor: overall.map(rounded),
        mean_error: mean.map(rounded),
        worst_error: errors.iter().copied().reduce(f64::max).map(rounded),
        kinds: kinds.collect(),
    }
}

/// The factors that fit best (least squares), none of them negative. One is given where its kind is a twentieth of all tokens or
/// more and its share differs between requests.
fn by_kind(requests: &[Counted], overall: f64) -> [Option<f64>; 5] {
    let mut factors = [overall; 5];
    let frame = |one: &Counted| (one.messages * FRAME) as f64 * overall;
    for _ in 0..500 {
        for at in 0..5 {
            let square: f64 = requests.iter().map(|one| one.kinds[at] * one.kinds[at]).sum();
            if square == 0.0 {
                continue;
            }
            let rest = |one: &Counted| {
                let others: f64 = (0..5).filter(|other| *other != at).map(|other| factors[other] * one.kinds[other]).sum();
                one.reported - frame(one) - others
            };
            // A little pull towards the factor of all keeps what cannot be told apart from running away.
            let pull = square * 1e-4;
            let fit: f64 = requests.iter().map(|one| one.kinds[at] * rest(one)).sum::<f64>() + pull * overall;
            factors[at] = (fit / (square + pull)).max(0.0);
        }
    }
    let all: f64 = requests.iter().map(|one| one.kinds.iter().sum::<f64>()).sum();
    let mut known = [None; 5];
    for at in 0..5 {
        let sum: f64 = requests.iter().map(|one| one.kinds[at]).sum();
        let shares = requests.iter().map(|one| one.kinds[at] / one.kinds.iter().sum::<f64>().max(1.0));
        let (low, high) = shares.fold((f64::MAX, 0.0_f64), |(low, high), share| (low.min(share), high.max(share)));
        if sum >= all / 20.0 && high - low > 0.05 {
            known[at] = Some(rounded(factors[at]));
        }
    }
    known
}

fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

fn section_number(section: Section) -> u8 {
    match section {
        Section::Head => 0,
        Section::System => 1,
        Section::Tool(_) => 2,
        Section::Item(_) => 3,
    }
}

/// Tokens of a piece by kind, and how many messages it is.
fn piece_tokens(section: Section, piece: &Value, count: &dyn Fn(&str) -> u64) -> ([f64; 5], u64) {
    let mut kinds = [0.0; 5];
    let mut add = |kind: ContentKind, text: &str| kinds[kind as usize] += count(text) as f64;
    match section {
        Section::Head => return (kinds, 0),
        Section::System => texts(piece, &mut |text| add(ContentKind::System, text)),
        Section::Tool(_) => {
            add(ContentKind::Tools, &piece.to_string());
            return (kinds, 0);
        }
        Section::Item(_) => item(piece, &mut add),
    }
    (kinds, 1)
}

fn item(piece: &Value, add: &mut dyn FnMut(ContentKind, &str)) {
    let kind = piece.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "function_call" | "tool_use" => {
            for key in ["name", "arguments", "input"] {
                match piece.get(key) {
                    Some(Value::String(text)) => add(ContentKind::Calls, text),
                    Some(value) => add(ContentKind::Calls, &value.to_string()),
                    None => {}
                }
            }
        }
        "function_call_output" => texts(piece.get("output").unwrap_or(&Value::Null), &mut |text| add(ContentKind::Results, text)),
        "tool_result" => texts(piece.get("content").unwrap_or(&Value::Null), &mut |text| add(ContentKind::Results, text)),
        _ => {
            let is_result = piece.get("role").is_some_and(|role| role == "tool");
            match piece.get("content") {
                Some(Value::Array(blocks)) => blocks.iter().for_each(|block| item(block, add)),
                Some(Value::String(text)) => add(if is_result { ContentKind::Results } else { ContentKind::Prose }, text),
                _ => {}
            }
            for key in ["text", "thinking"] {
                if let Some(text) = piece.get(key).and_then(Value::as_str) {
                    add(ContentKind::Prose, text);
                }
            }
            for call in piece.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                for key in ["/function/name", "/function/arguments"] {
                    add(ContentKind::Calls, call.pointer(key).and_then(Value::as_str).unwrap_or_default());
                }
            }
        }
    }
}

fn texts(value: &Value, take: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, take)),
        Value::Object(fields) => texts(fields.get("text").unwrap_or(&Value::Null), take),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kinds: [f64; 5], messages: u64, reported: f64) -> Counted {
        Counted { kinds, messages, reported }
    }

    #[test]
    fn factors_are_found_again() {
        // A provider that counts prose as it is, tools one and a half times and results twice.
        let made = |tools: f64, prose: f64, results: f64, messages: u64| {
            let frame = (messages * FRAME) as f64;
            request([0.0, tools, prose, 0.0, results], messages, 1.5 * tools + prose + 2.0 * results + frame)
        };
        let requests = [made(100.0, 300.0, 0.0, 0), made(100.0, 50.0, 900.0, 0), made(0.0, 400.0, 100.0, 0), made(300.0, 10.0, 10.0, 0)];
        let found = fold(&requests);
        let near = |kind: ContentKind, factor: f64| {
            let is = found.kinds[&kind].factor.expect("there is enough of it");
            assert!((is - factor).abs() < 0.02, "{kind:?} {is}");
        };
        near(ContentKind::Tools, 1.5);
        near(ContentKind::Prose, 1.0);
        near(ContentKind::Results, 2.0);
        assert!(!found.kinds.contains_key(&ContentKind::Calls));
        assert_eq!((found.requests, found.counted, found.reported), (4, 2270, 3530));
    }

    #[test]
    fn what_cannot_be_told_apart_has_no_factor() {
        let same = [request([10.0, 0.0, 90.0, 0.0, 0.0], 0, 110.0), request([20.0, 0.0, 180.0, 0.0, 0.0], 0, 220.0)];
        let found = fold(&same);
        assert_eq!((found.factor, found.mean_error), (Some(1.1), Some(0.0909)));
        assert!(found.kinds.values().all(|kind| kind.factor.is_none()));
        let none = fold(&[]);
        assert_eq!((none.factor, none.mean_error, none.worst_error), (None, None, None));
    }
}
