//! Developer messages as a child gets them: without what told the parent who and how it is, and with the child's
//! instructions in place of the parent's.

use crate::transcript::{Content, Part};

use crate::strategy::codex::fragment::{is_managed, is_the_parents};

/// A part that is left of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPart {
    /// Its position in the message.
    pub at: usize,
    /// Its text, where that has changed.
    pub text: Option<Part>,
}

/// What is left of a message.
pub(super) enum Scrubbed {
    /// All of it.
    Whole,
    /// Nothing.
    Nothing,
    /// These parts, at least one.
    Parts(Vec<KeptPart>),
}

/// What goes.
pub(super) struct Scrub<'a> {
    /// Parts that tell the mode.
    pub mode: bool,
    /// Parts that hold managed instructions.
    pub managed: bool,
    /// Parts equal to these, to the letter.
    pub hints: &'a [Part],
    /// The parent's instructions, wherever they stand, and what comes in their place.
    pub instructions: Option<(&'a str, &'a str)>,
}

impl Scrub<'_> {
    /// What is left of a developer message. `found` becomes true when the parent's instructions stood in it.
    ///
    /// A part goes only when nothing is left of it, white space included, and a message that had no part goes too.
    pub fn message(&self, parts: &[Part], found: &mut bool) -> Scrubbed {
        let mut kept = Vec::new();
        let mut changed = false;
        for (at, part) in parts.iter().enumerate() {
            if is_the_parents(part, self.mode) || self.hints.contains(part) || (self.managed && is_managed(part)) {
                continue;
            }
            let text = self.replaced(part);
            *found |= text.is_some();
            if text.as_ref().is_some_and(|text| text.as_text().is_empty()) {
                continue;
            }
            let text = text.filter(|text| text != part);
            changed |= text.is_some();
            kept.push(KeptPart { at, text });
        }
        match kept.len() {
            0 => Scrubbed::Nothing,
            left if left == parts.len() && !changed => Scrubbed::Whole,
            _ => Scrubbed::Parts(kept),
        }
    }

    /// A part's text with the child's instructions for the parent's; `None`: those do not stand in it. Managed instructions
    /// stay as they are.
    fn replaced(&self, part: &Part) -> Option<Part> {
        let (parents, childs) = self.instructions?;
        let Content::Text(text) = part.content() else { return None };
        if is_managed(part) || !text.contains(parents) {
            return None;
        }
        Some(text.replace(parents, childs).into())
    }
}
