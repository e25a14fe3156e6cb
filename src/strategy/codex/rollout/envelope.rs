//! Messages between agents as older releases kept them: JSON text of an assistant message.

use serde::{Deserialize, Serialize};

use crate::transcript::Part;

use crate::strategy::codex::path;

/// Such a message. Written, it is what release 0.130 shows its model.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Envelope {
    /// The sender's path.
    pub author: String,
    /// The receiver's path.
    pub recipient: String,
    /// Further receivers' paths.
    #[serde(default)]
    pub other_recipients: Vec<String>,
    /// The text.
    pub content: String,
    /// Whether it starts a turn.
    pub trigger_turn: bool,
}

/// Whether the content of an assistant message is such a message, and whether that starts a turn.
pub fn envelope(parts: &[Part]) -> Option<bool> {
    let [part] = parts else { return None };
    let text = part.as_text();
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let read: Envelope = serde_json::from_str(text).ok()?;
    let paths = [&read.author, &read.recipient].into_iter().chain(&read.other_recipients);
    paths.into_iter().all(|path| path::is_absolute(path)).then_some(read.trigger_turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<bool>) {
        assert_eq!(envelope(&[text.into()]), expect, "{text}");
    }

    #[test]
    fn what_is_a_message_between_agents() {
        check(r#"{"author":"/root","recipient":"/root/a","other_recipients":[],"content":"c","trigger_turn":true}"#, Some(true));
        check(r#" {"author":"/root/a","recipient":"/root","content":"c","trigger_turn":false,"id":"1"}"#, Some(false));
        check(r#"{"author":"/root","recipient":"/root/a","content":"c"}"#, None);
        check(r#"{"author":"root","recipient":"/root/a","content":"c","trigger_turn":true}"#, None);
        check(r#"{"author":"/root","recipient":"/root/A","content":"c","trigger_turn":true}"#, None);
        check(r#"["author"]"#, None);
        check("said", None);
        check("", None);
        let text = || Part::from(r#"{"author":"/root","recipient":"/root/a","content":"c","trigger_turn":true}"#);
        assert_eq!((envelope(&[]), envelope(&[text(), text()]), envelope(&[text()])), (None, None, Some(true)));
    }
}
