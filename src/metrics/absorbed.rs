//! What stayed in the children: their parents never saw it.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use crate::ledger::{ByThread, Outcome};
use crate::scenario::marker::readings;
use crate::tokens::Meter;
use crate::transcript::{Body, Digest, Item, Origin};

/// Tokens of the items that children wrote (`own`) or got from ordinary tools (`tool_result`) and that did not enter
/// their parent, over all child threads. An item entered when its text, surrounding white space aside, stands within one
/// delegated item of the parent thread, as it is or with the escapes of JSON and tags undone; of a call the tool's name
/// must stand there too. One that was cut on the way did not enter: it counts whole.
pub(super) fn absorbed(outcome: &Outcome, by_thread: &ByThread<'_>, meter: &Meter) -> u64 {
    let mut delegated: Vec<Option<Texts<'_>>> = Vec::new();
    delegated.resize_with(outcome.threads.len(), || None);
    let mut absorbed = 0;
    for record in &outcome.threads {
        let Some(parent) = record.parent else { continue };
        let Some(texts) = delegated.get_mut(parent.0 as usize) else { continue };
        let texts = texts.get_or_insert_with(|| {
            let logged = by_thread.items(parent).iter().map(|(item, _)| *item);
            Texts::of(logged.chain(by_thread.spliced(parent)).filter(|item| item.origin == Origin::Delegated))
        });
        for (item, tokens) in by_thread.items(record.id) {
            if matches!(item.origin, Origin::Own | Origin::ToolResult) && !texts.hold(item) {
                // A name beside its words is the protocol's.
                let name = item.name().and_then(|name| meter.name(name).ok()).unwrap_or(0);
                absorbed += u64::from(tokens.saturating_sub(name));
            }
        }
    }
    absorbed
}

/// Delegated texts of one thread. Nearly all that is looked for does not stand in them, so a filter of their 8-byte
/// pieces answers first: a text is searched only if its first, middle and last piece may be there.
struct Texts<'a> {
    texts: Vec<Cow<'a, str>>,
    filter: Vec<u64>,
}

const PIECE: usize = 8;

impl<'a> Texts<'a> {
    fn of(items: impl Iterator<Item = &'a Item>) -> Texts<'a> {
        let mut seen = FxHashSet::default();
        let mut texts = Vec::new();
        for item in items {
            let text = match item.parts() {
                [part] => Cow::Borrowed(part.as_text()),
                _ => Cow::Owned(item.text()),
            };
            // A ledger that each request renders anew is read once.
            if !text.is_empty() && seen.insert(Digest::of(&text)) {
                let decoded = readings(&text).into_iter().skip(1).map(|reading| Cow::Owned(reading.into_owned()));
                texts.extend(decoded.collect::<Vec<_>>());
                texts.push(text);
            }
        }
        let pieces: usize = texts.iter().map(|text| text.len()).sum();
        // Eight bits a piece: about one piece in eight that is not there seems to be.
        let mut filter = vec![0u64; (pieces / 8).next_power_of_two()];
        for text in &texts {
            for piece in text.as_bytes().windows(PIECE) {
                let bit = bit(piece, filter.len());
                filter[bit / 64] |= 1 << (bit % 64);
            }
        }
        Texts { texts, filter }
    }

    fn hold(&self, item: &Item) -> bool {
        let text = item.text();
        let text = text.trim();
        if text.is_empty() || !self.may_hold(text) {
            return false;
        }
        let name = match item.body() {
            Body::Call(call) => call.name.as_str(),
            _ => "",
        };
        let (text, name) = (memchr::memmem::Finder::new(text), memchr::memmem::Finder::new(name));
        self.texts.iter().any(|held| text.find(held.as_bytes()).is_some() && name.find(held.as_bytes()).is_some())
    }

    fn may_hold(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let Some(last) = bytes.len().checked_sub(PIECE) else { return true };
        [0, last / 2, last].into_iter().all(|at| {
            let bit = bit(&bytes[at..at + PIECE], self.filter.len());
            self.filter[bit / 64] >> (bit % 64) & 1 == 1
        })
    }
}

/// The filter's bit for a piece; below `64 * words`, `words` being a power of two.
fn bit(piece: &[u8], words: usize) -> usize {
    let number = piece.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as usize & (64 * words - 1)
}
