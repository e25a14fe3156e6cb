//! The user message that a prompt becomes: its text, and what stands behind its `@mentions`.

use crate::transcript::{Body, Content, Item, Origin, Part, Role};

use super::agents::Agents;
use super::mention;
use super::path::{Entry, Place};
use super::permission::{Action, decide};
use super::read::{self, Output};
use super::text::{self, TOOL};

/// A part of a user message as the product stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserPart {
    /// A text.
    Text {
        /// What the model reads.
        text: Part,
        /// Whether the program wrote it.
        synthetic: bool,
    },
    /// A file or folder that was mentioned.
    File {
        /// Its media type.
        mime: String,
        /// As the prompt names it.
        filename: String,
        /// What of it is sent: an image or a document; `None`: it is only kept.
        sent: Option<Part>,
    },
    /// An agent that was mentioned: kept, not sent.
    Agent {
        /// Its name.
        name: String,
    },
}

impl UserPart {
    fn synthetic(text: impl Into<Part>) -> UserPart {
        UserPart::Text { text: text.into(), synthetic: true }
    }

    /// What the model reads of it.
    pub fn sent(&self) -> Option<&Part> {
        match self {
            UserPart::Text { text, .. } => Some(text),
            UserPart::File { sent, .. } => sent.as_ref(),
            UserPart::Agent { .. } => None,
        }
    }
}

/// A prompt for an agent with what it mentions. The product looks mentions up at once, and what stands behind the first
/// part has no fixed order between mentions; here it is the prompt's.
pub(super) fn parts(prompt: &str, place: &Place<'_>, agents: &Agents, rules: &[super::Rule]) -> Vec<UserPart> {
    let mut parts = vec![UserPart::Text { text: prompt.into(), synthetic: false }];
    let mut told = Vec::new();
    for name in mention::names(prompt) {
        let path = place.absolute(name);
        match place.entry(&path) {
            Some(Entry::File(text)) => parts.extend(file(name, &path, text, place, &mut told)),
            Some(Entry::Folder(names)) => {
                let listed = read::folder(&path, names);
                let file = UserPart::File { mime: "application/x-directory".into(), filename: name.to_owned(), sent: None };
                parts.extend([UserPart::synthetic(text::read_called(&path)), UserPart::synthetic(listed), file]);
            }
            None if agents.get(name).is_some() => {
                let is_denied = decide(TOOL, name, rules.iter()) == Action::Deny;
                let hint = UserPart::synthetic(text::agent_mentioned(name, is_denied));
                parts.extend([UserPart::Agent { name: name.to_owned() }, hint]);
            }
            None => {}
        }
    }
    parts
}

fn file(name: &str, path: &str, text: &str, place: &Place<'_>, told: &mut Vec<String>) -> Vec<UserPart> {
    let filename = name.to_owned();
    let (said, file) = match read::file(path, text) {
        Ok(Output::Text(shown)) => {
            let shown = shown + &read::instructions(path, place, told);
            (shown, Some(UserPart::File { mime: "text/plain".into(), filename, sent: None }))
        }
        Ok(Output::Attachment(said, mime)) => {
            // Nobody here knows what an image or a document costs.
            let (media, bytes, tokens) = (mime.to_owned(), text.len() as u64, None);
            let content = match media.starts_with("image/") {
                true => Content::Image { media, bytes, tokens },
                false => Content::File { media, bytes, tokens },
            };
            (said, Some(UserPart::File { mime: mime.into(), filename, sent: Some(Part::new(content)) }))
        }
        Err(why) => (text::read_failed(path, &why), None),
    };
    [UserPart::synthetic(text::read_called(path)), UserPart::synthetic(said)].into_iter().chain(file).collect()
}

/// The message as a model gets it.
pub(super) fn message(parts: &[UserPart]) -> Item {
    let parts = parts.iter().filter_map(UserPart::sent).cloned().collect();
    Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::Task)
}
