//! The unit of content: stored once, digested once, counted once.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// 128 bits that stand for a part's content; equal content has an equal digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u128);

impl Digest {
    /// The digest of a text (XXH3, 128 bits).
    pub fn of(text: &str) -> Digest {
        Digest(xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
    }

    /// The digest of a text in pieces.
    pub fn of_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Digest {
        let mut state = xxhash_rust::xxh3::Xxh3::new();
        pieces.into_iter().for_each(|piece| state.update(piece.as_bytes()));
        Digest(state.digest128())
    }

    /// The digest of a sequence of digests.
    pub fn chain(digests: impl IntoIterator<Item = Digest>) -> Digest {
        let mut state = xxhash_rust::xxh3::Xxh3::new();
        for digest in digests {
            state.update(&digest.0.to_le_bytes());
        }
        Digest(state.digest128())
    }
}

impl fmt::Display for Digest {
    /// The first 16 hexadecimal digits, as they stand in files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", (self.0 >> 64) as u64)
    }
}

/// What a part is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text that the model reads; the only content that a text tokenizer may see.
    Text(Box<str>),
    /// An image: its tokens are declared by whoever knows them, or unknown.
    Image {
        /// The media type, `image/png` for one.
        media: String,
        /// Size of the decoded image in bytes.
        bytes: u64,
        /// Tokens that the source declares; `None` is unknown, never 0.
        tokens: Option<u32>,
    },
    /// A document or another file carried by value.
    File {
        /// The media type.
        media: String,
        /// Size of the decoded file in bytes.
        bytes: u64,
        /// Tokens that the source declares; `None` is unknown, never 0.
        tokens: Option<u32>,
    },
    /// Content nobody but its maker can read: encrypted reasoning, redacted text.
    Opaque {
        /// What the source calls it.
        kind: String,
        /// Size as stored, in bytes.
        bytes: u64,
        /// Tokens that the source declares; `None` is unknown, never 0.
        tokens: Option<u32>,
    },
}

#[derive(Debug)]
struct Stored {
    content: Content,
    digest: Digest,
    weight: OnceLock<PartWeight>,
}

/// What a text weighs, and who found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartWeight {
    /// Who counted.
    pub by: u64,
    /// Tokens of the text.
    pub tokens: u32,
}

/// A piece of an item's content. Cloning copies a pointer.
#[derive(Clone)]
pub struct Part(Arc<Stored>);

impl PartialEq for Part {
    fn eq(&self, other: &Part) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.digest == other.0.digest && self.0.content == other.0.content)
    }
}

impl Eq for Part {}

impl Part {
    /// A part of text. The digest is taken here, once.
    pub fn text(text: impl Into<Box<str>>) -> Part {
        let text = text.into();
        let digest = Digest::of(&text);
        Part(Arc::new(Stored { content: Content::Text(text), digest, weight: OnceLock::new() }))
    }

    /// A part of any content.
    pub fn new(content: Content) -> Part {
        let digest = match &content {
            Content::Text(text) => return Part::text(text.clone()),
            Content::Image { media, bytes, tokens } => Digest::of(&format!("image\0{media}\0{bytes}\0{tokens:?}")),
            Content::File { media, bytes, tokens } => Digest::of(&format!("file\0{media}\0{bytes}\0{tokens:?}")),
            Content::Opaque { kind, bytes, tokens } => Digest::of(&format!("opaque\0{kind}\0{bytes}\0{tokens:?}")),
        };
        Part(Arc::new(Stored { content, digest, weight: OnceLock::new() }))
    }

    /// The content.
    pub fn content(&self) -> &Content {
        &self.0.content
    }

    /// The text; empty for content that is no text.
    pub fn as_text(&self) -> &str {
        match &self.0.content {
            Content::Text(text) => text,
            _ => "",
        }
    }

    /// The digest of the content.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// What its text weighs: found out once for all who share it, as an item's body is ([`super::Item::weight`]).
    pub fn weight(&self) -> &OnceLock<PartWeight> {
        &self.0.weight
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.content() {
            Content::Text(text) => fmt::Debug::fmt(text, f),
            other => fmt::Debug::fmt(other, f),
        }
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Part {
        Part::text(text)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part::text(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A text in pieces has the digest of the whole, whatever its length.
        #[test]
        fn pieces_have_the_digest_of_the_whole(pieces in proptest::collection::vec("\\PC{0,200}", 0..8)) {
            prop_assert_eq!(Digest::of_pieces(pieces.iter().map(String::as_str)), Digest::of(&pieces.concat()));
        }
    }
}
