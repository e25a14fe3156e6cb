//! Texts as such a file holds them: in full, by their head, or by their size alone.

use crate::transcript::{Content, Part};

use super::super::json::Json;
use super::fields::{Fields, short};

/// One text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Text {
    /// In full.
    Plain(String),
    /// A long one: its first characters.
    Long(Long),
    /// The vendor's own prose: its size.
    Scaffold(Scaffold),
}

/// A long text of which the head is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Long {
    /// Its first characters.
    pub(super) head: String,
    /// All its characters.
    pub(super) chars: usize,
    /// Equal for equal texts.
    pub(super) sha: String,
    /// Its tokens.
    pub(super) tokens: Option<u32>,
}

/// Prose of which the size is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scaffold {
    /// Its characters.
    pub(super) chars: u32,
    /// Equal for equal texts.
    pub(super) sha: String,
    /// Its tokens.
    pub(super) tokens: Option<u32>,
    /// Texts of the run that stand in it; `None`: nobody looked.
    pub(super) holds: Option<Vec<String>>,
    /// What it is, where that is known.
    pub(super) is: Option<String>,
}

impl Text {
    /// Reads a text that stands at a place.
    pub(super) fn read(value: &Json, at: &str) -> Result<Text, String> {
        if let Json::Text(text) = value {
            return Ok(Text::Plain(text.clone()));
        }
        if value.fields().is_none() {
            return Err(format!("{at} is {}, not a text", short(value)));
        }
        let mut fields = Fields::of(value, at)?;
        let text = if fields.has("scaffold") {
            let chars = fields.maybe_small("scaffold")?.unwrap_or_default();
            let (sha, tokens) = (fields.text("sha")?, fields.maybe_small("tokens")?);
            Text::Scaffold(Scaffold { chars, sha, tokens, holds: fields.maybe_texts("holds")?, is: fields.maybe_text("is")? })
        } else {
            let (head, chars) = (fields.text("head")?, fields.number("chars")?);
            // As many characters as a file of them can have: the text is made up to this length.
            let chars = usize::try_from(chars).ok().filter(|&chars| chars <= LONGEST);
            let chars = chars.ok_or_else(|| format!("{at}.chars is more than {LONGEST}"))?;
            Text::Long(Long { head, chars, sha: fields.text("sha")?, tokens: fields.maybe_small("tokens")? })
        };
        fields.done()?;
        Ok(text)
    }

    /// As a file writes it.
    pub(super) fn json(&self) -> Json {
        let mut fields: Vec<(&str, Json)> = Vec::new();
        match self {
            Text::Plain(text) => return text.as_str().into(),
            Text::Long(Long { head, chars, sha, tokens }) => {
                fields.extend([("head", head.as_str().into()), ("chars", (*chars).into()), ("sha", sha.as_str().into())]);
                fields.extend(tokens.map(|tokens| ("tokens", (tokens as usize).into())));
            }
            Text::Scaffold(Scaffold { chars, sha, tokens, holds, is }) => {
                fields.extend([("scaffold", (*chars as usize).into()), ("sha", sha.as_str().into())]);
                fields.extend(tokens.map(|tokens| ("tokens", (tokens as usize).into())));
                fields.extend(holds.clone().map(|holds| ("holds", holds.into())));
                fields.extend(is.as_deref().map(|is| ("is", is.into())));
            }
        }
        Json::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// What stands for it in a run: prose is a size, a long text is made up behind its head.
    pub(super) fn part(&self) -> Part {
        match self {
            Text::Plain(text) => Part::text(text.as_str()),
            Text::Long(long) => Part::text(long.whole()),
            Text::Scaffold(Scaffold { chars, sha, tokens, is, .. }) => {
                let kind = is.clone().unwrap_or_else(|| format!("text {sha}"));
                Part::new(Content::Opaque { kind, bytes: (*chars).into(), tokens: Some(tokens.unwrap_or_default()) })
            }
        }
    }

    /// The text, where it stands in full.
    pub(super) fn plain(&self) -> Option<&str> {
        match self {
            Text::Plain(text) => Some(text),
            Text::Long(_) | Text::Scaffold(_) => None,
        }
    }
}

/// Characters that a long text may have.
const LONGEST: usize = 1_000_000;

impl Long {
    /// Whether a text is the one that is made up for it.
    pub(super) fn is(&self, text: &str) -> bool {
        // Most texts differ early.
        text.starts_with(&self.head) && *text == *self.whole()
    }

    /// A text with this head and this length; equal for an equal digest.
    pub(super) fn whole(&self) -> String {
        let missing = self.chars.saturating_sub(self.head.chars().count());
        let tag = format!(" [{}]", self.sha);
        self.head.chars().chain(tag.chars().cycle().take(missing)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Text, String> {
        Text::read(&serde_json::from_str(text).expect("it is JSON"), "here")
    }

    #[test]
    fn texts_survive_a_round_trip() {
        for text in [
            r#""hello""#,
            r#"{"head":"be","chars":9,"sha":"ab","tokens":3}"#,
            r#"{"head":"be","chars":9,"sha":"ab"}"#,
            r#"{"scaffold":9,"sha":"ab","tokens":3,"holds":["x"],"is":"base"}"#,
            r#"{"scaffold":9,"sha":"ab"}"#,
        ] {
            assert_eq!(read(text).map(|text| text.json().to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn anything_else_is_a_fault_with_its_place() {
        fn check(text: &str, expect: &str) {
            assert_eq!(read(text), Err(expect.to_owned()));
        }
        check("7", "here is 7, not a text");
        check(r#"{"head":"a","chars":1}"#, "here has no `sha`");
        check(r#"{"head":"a","chars":1,"sha":"b","is":"base"}"#, "here has an unknown field `is`");
        check(r#"{"scaffold":"a","sha":"b"}"#, "here.scaffold is \"a\", not a whole number");
        check(r#"{"scaffold":1,"sha":"b","holds":[1]}"#, "here.holds is no list of texts");
        check(r#"{"scaffold":5000000000,"sha":"b"}"#, "here.scaffold is 5000000000: more than 4294967295");
        check(r#"{"head":"a","chars":1000001,"sha":"b"}"#, "here.chars is more than 1000000");
    }

    #[test]
    fn a_long_text_has_its_length() {
        let long = |chars| Long { head: "ab".into(), chars, sha: "s".into(), tokens: None }.whole();
        assert_eq!((long(7), long(2), long(0)), ("ab [s] ".to_owned(), "ab".to_owned(), "ab".to_owned()));
    }
}
