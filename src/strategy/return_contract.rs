//! What any strategy may ask of a child's last message, whatever it does with it afterwards.

use std::sync::Arc;

use super::{RunContext, Session, Strategy};

/// How a child's last message is limited and formed before its strategy gets to see it, as a provider's limit on output
/// and a demand for structured output would do it: nobody says so in the child's task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReturnContract {
    /// The most tokens of it; `None`: no limit. What is behind them is never received by anybody, and not paid for.
    pub max_tokens: Option<u32>,
    /// Its form.
    pub format: ReturnFormat,
}

/// The form of a child's last message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnFormat {
    /// As the child wrote it.
    #[default]
    Text,
    /// The text as the one field of a JSON object, `{"answer": "..."}`: escapes and all.
    Json,
    /// The text between tags, `<answer>` and `</answer>`, each on a line of its own.
    Tagged,
}

impl ReturnFormat {
    /// Every form, the default first.
    pub const ALL: [ReturnFormat; 3] = [ReturnFormat::Text, ReturnFormat::Json, ReturnFormat::Tagged];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            ReturnFormat::Text => "text",
            ReturnFormat::Json => "json",
            ReturnFormat::Tagged => "tagged",
        }
    }

    /// The form of a text, where it has one but plain text, and what stands in it.
    pub fn of(text: &str) -> Option<(ReturnFormat, String)> {
        let text = text.trim();
        if let Some(inner) = text.strip_prefix("<answer>\n").and_then(|rest| rest.strip_suffix("\n</answer>")) {
            return Some((ReturnFormat::Tagged, inner.to_owned()));
        }
        let fields = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).ok().filter(|fields| fields.len() == 1)?;
        Some((ReturnFormat::Json, fields.get("answer")?.as_str()?.to_owned()))
    }

    /// A text in this form.
    pub fn form(self, text: String) -> String {
        match self {
            ReturnFormat::Text => text,
            ReturnFormat::Json => serde_json::json!({ "answer": text }).to_string(),
            ReturnFormat::Tagged => format!("<answer>\n{text}\n</answer>"),
        }
    }
}

/// A strategy whose children are held to a contract; in everything else it is that strategy.
pub(super) struct Contracted {
    pub(super) strategy: Arc<dyn Strategy>,
    pub(super) contract: ReturnContract,
    /// The id with the contract's options in it.
    pub(super) id: String,
}

impl Strategy for Contracted {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn version(&self) -> u32 {
        self.strategy.version()
    }

    fn hands_history_down(&self) -> bool {
        self.strategy.hands_history_down()
    }

    fn has_scaffold(&self) -> bool {
        self.strategy.has_scaffold()
    }

    fn may_dangle(&self) -> bool {
        self.strategy.may_dangle()
    }

    fn return_contract(&self) -> ReturnContract {
        self.contract
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        self.strategy.start(run)
    }
}

#[cfg(test)]
mod tests {
    use super::ReturnFormat;

    #[test]
    fn a_form_holds_the_whole_text() {
        #[track_caller]
        fn check(format: ReturnFormat, expect: &str) {
            assert_eq!(format.form("a \"b\"\nc".into()), expect);
        }
        check(ReturnFormat::Text, "a \"b\"\nc");
        check(ReturnFormat::Json, r#"{"answer":"a \"b\"\nc"}"#);
        check(ReturnFormat::Tagged, "<answer>\na \"b\"\nc\n</answer>");
        for format in ReturnFormat::ALL {
            let read = ReturnFormat::of(&format.form("a \"b\"\nc".into()));
            assert_eq!(read, (format != ReturnFormat::Text).then(|| (format, "a \"b\"\nc".to_owned())));
        }
        for other in ["", "{}", r#"{"answer":1}"#, r#"{"answer":"a","more":1}"#, "<answer>a</answer>", "<answer>\na", "[1]"] {
            assert_eq!(ReturnFormat::of(other), None, "{other}");
        }
    }
}
