//! The three families of APIs: how each writes what a request holds.

use super::super::json::Json;
use super::entry::{Entry, Placed};
use super::text::Text;
use super::{anthropic, chat, responses};

/// A family of APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `/chat/completions`: the system text is the first message.
    Chat,
    /// `/responses`.
    Responses,
    /// `/messages` as Anthropic has it.
    Anthropic,
}

impl Family {
    /// The family that a request's path belongs to.
    pub(super) fn of_path(path: &str) -> Option<Family> {
        let path = path.split('?').next().unwrap_or_default();
        [("/chat/completions", Family::Chat), ("/responses", Family::Responses), ("/messages", Family::Anthropic)]
            .into_iter()
            .find(|(end, _)| path.ends_with(end))
            .map(|(_, family)| family)
    }

    /// Reads a request's items.
    pub(super) fn read(self, items: &[Json]) -> Result<Vec<Placed<Text>>, String> {
        let mut entries = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let at = format!("items[{at}]");
            entries.extend(match self {
                Family::Chat => chat::read(item, &at)?,
                Family::Responses => responses::read(item, &at)?,
                Family::Anthropic => anthropic::read(item, &at)?,
            });
        }
        if self == Family::Anthropic {
            entries = anthropic::merged(entries);
        }
        Ok(entries)
    }

    /// Writes items.
    pub(super) fn write(self, entries: &[Entry<Json>]) -> Vec<Json> {
        match self {
            Family::Chat => chat::write(entries),
            Family::Responses => entries.iter().map(responses::write).collect(),
            Family::Anthropic => anthropic::write(entries),
        }
    }

    /// Entries of a run as far as this wire can say them: what it has no field for is not sent.
    pub(super) fn shaped<T: Clone>(self, entries: Vec<Entry<T>>) -> Vec<Entry<T>> {
        let mut shaped: Vec<Entry<T>> = Vec::new();
        for mut entry in entries {
            if let Entry::Message { phase, name, .. } = &mut entry {
                if self != Family::Responses {
                    *phase = None;
                }
                if self != Family::Chat {
                    *name = None;
                }
            }
            if let Entry::Call { speaker, .. } = &mut entry
                && self != Family::Chat
            {
                *speaker = None;
            }
            if self == Family::Anthropic
                && let (Some(Entry::Message { role, parts, .. }), Entry::Message { role: same, parts: more, .. }) =
                    (shaped.last_mut(), &mut entry)
                && role == same
            {
                parts.append(more);
                continue;
            }
            shaped.push(entry);
        }
        shaped
    }
}

/// An object of the fields that are there.
pub(super) fn object<const N: usize>(fields: [(&str, Option<Json>); N]) -> Json {
    Json::Object(fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
}

/// Parts in one value: one is itself, several are a list of blocks of a type.
pub(super) fn content(parts: &[Json], kind: &str) -> Json {
    match parts {
        [one] => one.clone(),
        several => blocks(several, kind),
    }
}

/// A list of blocks of a type.
pub(super) fn blocks(parts: &[Json], kind: &str) -> Json {
    Json::List(parts.iter().map(|part| Json::object([("type", kind.into()), ("text", part.clone())])).collect())
}

/// Reads content that is one text or a list of blocks of these types, with the place of each part. `null` is none.
pub(super) fn read_content(value: &Json, at: &str, kinds: &[&str]) -> Result<(Vec<Text>, Vec<String>), String> {
    if value.is_null() {
        return Ok((vec![], vec![]));
    }
    let Some(list) = value.items() else {
        return Ok((vec![Text::read(value, at)?], vec![at.to_owned()]));
    };
    let mut texts = Vec::new();
    let mut places = Vec::new();
    for (number, block) in list.iter().enumerate() {
        let at = format!("{at}[{number}]");
        let mut fields = super::fields::Fields::of(block, at.as_str())?;
        let kind = fields.text("type")?;
        if !kinds.contains(&kind.as_str()) {
            return Err(format!("{at}.type is `{kind}`, not one of {}", kinds.join(", ")));
        }
        texts.push(Text::read(fields.need("text")?, &format!("{at}.text"))?);
        fields.done()?;
        places.push(at);
    }
    Ok((texts, places))
}
