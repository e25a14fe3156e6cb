//! What of a child's last words entered its parent: whole, cut, or not at all.

use std::borrow::Cow;

use crate::scenario::marker::{fold, readings};
use crate::transcript::Item;

/// How much of the child's last words stands in a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// All of them.
    Whole,
    /// Their beginning or their end, and not all.
    Cut,
    /// Nothing that could be told from other text.
    Nothing,
}

/// The fewest characters by which a beginning or an end is known again.
const TELLING: usize = 24;

/// A return's text as it entered the parent, in every reading: wrappers stay, escapes are undone, blanks are one.
pub(super) struct Text {
    /// Its items, each line by line as it stands.
    pub plain: String,
    folded: Vec<String>,
}

impl Text {
    /// What these items brought.
    pub(super) fn of(news: &[&Item]) -> Text {
        // Parts are segments of their own: words do not grow together across them.
        let plain = news.iter().flat_map(|item| item.parts()).map(|part| part.as_text()).collect::<Vec<_>>().join("\n");
        let folded = readings(&plain).iter().map(|reading| fold(reading).into_owned()).collect();
        Text { plain, folded }
    }

    fn holds(&self, text: &str) -> bool {
        let finder = memchr::memmem::Finder::new(text);
        self.folded.iter().any(|reading| finder.find(reading.as_bytes()).is_some())
    }

    /// How much of a child's words it holds. What surrounds them and how they are escaped plays no part.
    pub(super) fn entered(&self, words: &Item) -> Entered {
        let mut all = true;
        for part in words.parts() {
            let part = fold(part.as_text());
            let part = part.trim();
            if part.is_empty() || self.holds(part) {
                continue;
            }
            let length = part.chars().count();
            let some = TELLING.min(length / 2).max(1);
            let end = |at: usize| part.char_indices().nth(at).map_or(part.len(), |(at, _)| at);
            if self.holds(part[..end(some)].trim()) || self.holds(part[end(length - some)..].trim()) {
                return Entered::Cut;
            }
            all = false;
        }
        if all { Entered::Whole } else { Entered::Nothing }
    }

    /// The child's words without what a protocol puts around them, where they entered whole; else the text as it reads with
    /// all escapes undone.
    pub(super) fn body<'t>(&'t self, whole: Option<&'t Item>) -> Cow<'t, str> {
        match whole {
            Some(words) => Cow::Owned(words.parts().iter().map(|part| part.as_text()).collect::<Vec<_>>().join("\n")),
            None => readings(&self.plain).pop().unwrap_or_default(),
        }
    }
}
