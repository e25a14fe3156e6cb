//! Whether the run's entries are the recorded ones.

use std::collections::BTreeMap;

use crate::transcript::{Content, Digest, Part};

use super::super::difference::Difference;
use super::super::json::Json;
use super::entry::{Entry, Placed};
use super::glob;
use super::play::{Sent, part_json};
use super::text::{Long, Scaffold, Text};

/// Which part of the run stands where the recording has prose of a digest: equal digests are one text.
#[derive(Default)]
pub(super) struct Judge {
    parts: BTreeMap<String, Digest>,
    digests: BTreeMap<Digest, String>,
}

/// Something that differs in a request: where, what is expected, what stands there.
pub(super) struct Fault {
    at: String,
    expected: Option<Json>,
    got: Option<Json>,
}

impl Fault {
    /// A fault at a place of the request.
    pub(super) fn new(at: &str, expected: Option<Json>, got: Option<Json>) -> Fault {
        Fault { at: at.to_owned(), expected, got }
    }

    /// As a difference of the run.
    pub(super) fn difference(self, request: &str) -> Difference {
        Difference::new(&format!("{request}, {}", self.at), self.expected.as_ref(), self.got.as_ref())
    }
}

/// One recorded entry with the request that it stands in, and one of the run.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) recorded: &'a Placed<Text>,
    pub(super) all_recorded: &'a [Placed<Text>],
    pub(super) given: &'a Entry<Part>,
    pub(super) sent: &'a Sent,
}

impl Judge {
    /// Remembers which parts stand for which texts of a digest.
    pub(super) fn learn(&mut self, recorded: &Entry<Text>, given: &Entry<Part>) {
        for (text, part) in recorded.parts().iter().zip(ordered(recorded.parts(), given.parts())) {
            match text {
                Text::Scaffold(scaffold) => self.learn_part(&scaffold.sha, part),
                Text::Long(long) => self.learn_part(&long.sha, part),
                Text::Plain(_) => {}
            }
        }
    }

    /// Remembers which part stands for prose of this digest.
    pub(super) fn learn_part(&mut self, sha: &str, part: &Part) {
        self.parts.entry(sha.to_owned()).or_insert_with(|| part.digest());
        self.digests.entry(part.digest()).or_insert_with(|| sha.to_owned());
    }

    /// Whether an entry of the run is the recorded one.
    pub(super) fn alike(&self, pair: Pair<'_>) -> bool {
        self.faults(pair).is_some_and(|faults| faults.is_empty())
    }

    /// Where an entry of the run differs from the recorded one; `None`: they are of other kinds.
    pub(super) fn faults(&self, pair: Pair<'_>) -> Option<Vec<Fault>> {
        let Placed { at, parts_at, entry } = pair.recorded;
        let mut faults = Vec::new();
        let mut field = |name: &str, recorded: &str, given: &str| {
            if glob::same(recorded, given).is_none() {
                faults.push(Fault::new(&format!("{at}.{name}"), Some(recorded.into()), Some(given.into())));
            }
        };
        let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "(none)".to_owned());
        match (entry, pair.given) {
            // The server has it, the recording does not: whatever was said or called there is right.
            (Entry::UnseenCall { .. }, Entry::Call { .. }) => return Some(vec![]),
            (Entry::UnseenText, Entry::Message { role, .. }) => return (role == "assistant").then(Vec::new),
            (Entry::Message { role, phase, name, .. }, Entry::Message { role: given_role, phase: given_phase, name: given_name, .. }) => {
                field("role", role, given_role);
                field("phase", &shown(phase), &shown(given_phase));
                field("name", &shown(name), &shown(given_name));
            }
            (Entry::Reasoning { .. }, Entry::Reasoning { .. }) => {}
            (Entry::Call { name, speaker, args, .. }, Entry::Call { name: given_name, speaker: given_speaker, args: given, .. }) => {
                field("name", name, given_name);
                field("speaker", &shown(speaker), &shown(given_speaker));
                if !same_arguments(args, given.as_text()) {
                    let place = parts_at.first().unwrap_or(at).clone();
                    faults.push(Fault::new(&place, Some(args.json()), Some(part_json(given))));
                }
                return Some(faults);
            }
            (Entry::Result { id, .. }, Entry::Result { id: given_id, .. }) => {
                let call = called(pair.all_recorded.iter().map(|placed| &placed.entry), id);
                let given = called(pair.sent.entries.iter(), given_id);
                match (call, given) {
                    (Some(Entry::UnseenCall { .. }), Some(_)) | (None, None) => {}
                    (Some(Entry::Call { name, args, .. }), Some(Entry::Call { name: given_name, args: given, .. })) => {
                        if name != given_name || !same_arguments(args, given.as_text()) {
                            field(
                                "the call that it answers",
                                &format!("{name} {}", args.json()),
                                &format!("{given_name} {}", part_json(given)),
                            );
                        }
                    }
                    (one, other) => field("the call that it answers", named(one.is_some()), named(other.is_some())),
                }
            }
            (Entry::Mail { from, to, .. }, Entry::Mail { from: given_from, to: given_to, .. }) => {
                field("author", from, given_from);
                field("recipient", to, given_to);
            }
            _ => return None,
        }
        let given = ordered(entry.parts(), pair.given.parts());
        if entry.parts().len() != given.len() {
            let texts = |all: Vec<Json>| Json::List(all);
            let expected = texts(entry.parts().iter().map(Text::json).collect());
            faults.push(Fault::new(
                &format!("{at}, its parts"),
                Some(expected),
                Some(texts(given.iter().map(|part| part_json(part)).collect())),
            ));
            return Some(faults);
        }
        for ((text, part), place) in entry.parts().iter().zip(given).zip(parts_at) {
            faults.extend(self.text_fault(text, part, place));
        }
        Some(faults)
    }

    /// Where a part of the run is not the recorded text.
    pub(super) fn text_fault(&self, recorded: &Text, given: &Part, at: &str) -> Option<Fault> {
        let fault = |expected: Json| Some(Fault::new(at, Some(expected), Some(part_json(given))));
        match (recorded, given.content()) {
            (Text::Plain(text), Content::Text(given)) => {
                let differ = glob::same(text, given).is_none();
                differ.then(|| Fault::new(at, Some(glob::shown(text).into()), Some(glob::shown(given).into())))
            }
            (Text::Long(long), Content::Text(text)) => self.long_fault(long, text, given).and_then(fault),
            (Text::Scaffold(scaffold), _) => self.scaffold_fault(scaffold, given).and_then(fault),
            (Text::Plain(_) | Text::Long(_), _) => fault(recorded.json()),
        }
    }

    /// What is expected in place of a text that should be one of which the head is known. What a tool gave is known as it
    /// was handed in; what the strategy wrote itself by its head, and by its length unless masked places change that.
    fn long_fault(&self, long: &Long, text: &str, given: &Part) -> Option<Json> {
        if long.is(text) {
            return None;
        }
        let whole = glob::begins(&long.head, text) && (glob::is_masked(&long.head) || text.chars().count() == long.chars);
        if whole { self.identity_fault(&long.sha, given) } else { Some(Text::Long(long.clone()).json()) }
    }

    /// What is expected in place of a part that should stand for prose.
    fn scaffold_fault(&self, scaffold: &Scaffold, given: &Part) -> Option<Json> {
        let json = Text::Scaffold(scaffold.clone()).json();
        let held = scaffold.holds.as_deref();
        match given.content() {
            Content::Opaque { kind, .. } => {
                if scaffold.is.as_ref().is_some_and(|is| is != bare(kind)) || held.is_some_and(|held| !held.is_empty()) {
                    return Some(json);
                }
            }
            // Prose that the client wrote around texts of the run, in the strategy's own words.
            Content::Text(text) if scaffold.is.is_none() => {
                if !held.is_some_and(|held| held.iter().all(|one| text.contains(one.as_str()))) {
                    return Some(json);
                }
            }
            _ => return Some(json),
        }
        self.identity_fault(&scaffold.sha, given)
    }

    /// What is expected in place of a part that should stand for several blocks of prose.
    pub(super) fn blocks_fault(&self, blocks: &[Text], sha: &str, given: &Part) -> Option<Json> {
        if matches!(given.content(), Content::Opaque { .. }) {
            return self.identity_fault(sha, given);
        }
        Some(Json::List(blocks.iter().map(Text::json).collect()))
    }

    /// What is expected in place of a part that is another one than before, or the same one where the text was another.
    pub(super) fn identity_fault(&self, sha: &str, given: &Part) -> Option<Json> {
        let digest = given.digest();
        if self.parts.get(sha).is_some_and(|known| *known != digest) {
            return Some(format!("the same part as where {sha} stood before").into());
        }
        let known = self.digests.get(&digest).filter(|known| *known != sha)?;
        Some(format!("{sha}: another part than where {known} stood").into())
    }
}

/// A piece's kind without the product that it is of.
pub(super) fn bare(kind: &str) -> &str {
    kind.rsplit('/').next().unwrap_or(kind)
}

fn named(is_there: bool) -> &'static str {
    if is_there { "a call" } else { "no call" }
}

/// The call that a result answers: the last one of its id.
fn called<'a, T>(entries: impl Iterator<Item = &'a Entry<T>>, id: &str) -> Option<&'a Entry<T>> {
    let is_it = |entry: &&Entry<T>| matches!(entry, Entry::Call { id: one, .. } | Entry::UnseenCall { id: one } if one == id);
    entries.filter(is_it).last()
}

/// Arguments as JSON, masked places apart.
fn same_arguments(recorded: &Text, given: &str) -> bool {
    match recorded {
        Text::Plain(recorded) => {
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).map(|value| value.to_string());
            match (read(recorded), read(given)) {
                (Ok(recorded), Ok(given)) => glob::same(&recorded, &given).is_some(),
                _ => glob::same(recorded, given).is_some(),
            }
        }
        Text::Long(long) => long.is(given),
        Text::Scaffold(_) => false,
    }
}

/// The run's parts in the order of the recorded ones: pieces of a client's prompt that say what they are may stand in
/// any order inside one message.
fn ordered<'a>(recorded: &[Text], given: &'a [Part]) -> Vec<&'a Part> {
    let kinds = recorded.iter().map(|text| match text {
        Text::Scaffold(scaffold) => scaffold.is.as_deref(),
        Text::Plain(_) | Text::Long(_) => None,
    });
    let mut left: Vec<&Part> = given.iter().collect();
    let Some(kinds) = kinds.collect::<Option<Vec<&str>>>().filter(|kinds| kinds.len() == left.len()) else { return left };
    let mut sorted = Vec::with_capacity(left.len());
    for wanted in kinds {
        let of_kind = |part: &&Part| matches!(part.content(), Content::Opaque { kind, .. } if bare(kind) == wanted);
        match left.iter().position(of_kind) {
            Some(at) => sorted.push(left.remove(at)),
            None => return given.iter().collect(),
        }
    }
    sorted
}
