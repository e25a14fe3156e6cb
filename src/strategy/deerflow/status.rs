//! How a delegation stands: in the words of its result, and in the structured half that the product keeps beside the text
//! (f1f4af9, `status_contract.py`). Status is never read off a text.

use super::python::strip;
use super::sha256;
use super::text::shortened;
use super::value::Value;

/// How a delegation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Called; nothing has come back.
    InProgress,
    Completed,
    Failed,
    Cancelled,
    /// The child took too long.
    TimedOut,
    /// The caller stopped looking.
    PollingTimedOut,
}

impl Status {
    /// Every status that a result may have.
    const ENDS: [Status; 5] = [Status::Completed, Status::Failed, Status::Cancelled, Status::TimedOut, Status::PollingTimedOut];

    /// Its name in the product's data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Status::InProgress => "in_progress",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
            Status::TimedOut => "timed_out",
            Status::PollingTimedOut => "polling_timed_out",
        }
    }

    /// The end of this name.
    pub(crate) fn ended(name: &str) -> Option<Status> {
        Status::ENDS.into_iter().find(|status| status.name() == name)
    }

    pub(super) fn is_end(self) -> bool {
        self != Status::InProgress
    }

    /// What a result says that has no more to say; `None`: a completed one always has.
    pub(super) fn bare(self) -> Option<&'static str> {
        match self {
            Status::InProgress | Status::Completed => None,
            Status::Failed => Some("Task failed."),
            Status::Cancelled => Some("Task cancelled by user."),
            Status::TimedOut => Some("Task timed out."),
            Status::PollingTimedOut => Some("Task polling timed out."),
        }
    }
}

/// A limit that ended a child early; its work may be there all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cap {
    Tokens,
    Turns,
    Loop,
}

impl Cap {
    const ALL: [Cap; 3] = [Cap::Tokens, Cap::Turns, Cap::Loop];

    /// Its name in the product's data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cap::Tokens => "token_capped",
            Cap::Turns => "turn_capped",
            Cap::Loop => "loop_capped",
        }
    }

    /// The cap of this name.
    pub(crate) fn named(name: &str) -> Option<Cap> {
        Cap::ALL.into_iter().find(|cap| cap.name() == name)
    }

    fn label(self) -> &'static str {
        match self {
            Cap::Tokens => "token budget",
            Cap::Turns => "turn budget",
            Cap::Loop => "repeated tool-call loop",
        }
    }
}

/// How a child's work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Its status: an end.
    pub(crate) status: Status,
    /// The limit that it met, if one did.
    pub(crate) cap: Option<Cap>,
    /// The child's text if it completed, else the error; empty: there is none.
    pub(crate) text: String,
}

impl Outcome {
    /// A failure.
    pub(crate) fn failed(error: impl Into<String>) -> Outcome {
        Outcome { status: Status::Failed, cap: None, text: error.into() }
    }

    /// The call's result, before its length is looked at.
    pub(crate) fn message(&self) -> String {
        let capped = self.cap.map(|cap| format!(" (capped: {})", cap.label())).unwrap_or_default();
        let error = strip(&self.text);
        let bare = self.status.bare().unwrap_or_default();
        // A text that says no more than the bare form, with or without the cap, is none.
        let with_cap = self.cap.map(|cap| format!("Task failed (capped: {}).", cap.label()));
        let told = if error == bare || with_cap.as_deref() == Some(error) { "" } else { error };
        match self.status {
            Status::InProgress | Status::Completed => format!("Task Succeeded{capped}. Result: {}", self.text),
            Status::Failed if told.is_empty() => format!("Task failed{capped}."),
            Status::Failed => format!("Task failed{capped}. Error: {told}"),
            Status::PollingTimedOut if !told.is_empty() => told.to_owned(),
            _ if told.is_empty() => bare.to_owned(),
            _ => format!("{bare} Error: {told}"),
        }
    }
}

/// Characters of a result as it is remembered.
const BRIEF: usize = 2_000;

/// The structured half of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(super) status: Status,
    pub(super) cap: Option<Cap>,
    /// What is remembered of a completed child's text; `None`: nothing was there.
    pub(super) brief: Option<String>,
    /// The SHA-256 of the whole text.
    pub(super) digest: Option<String>,
    /// What is remembered of an error.
    pub(super) error: Option<String>,
}

/// A text as it is remembered; `None`: it is blank.
fn brief(text: &str) -> Option<String> {
    Some(shortened(strip(text), BRIEF)).filter(|text| !text.is_empty())
}

impl Told {
    /// What is kept beside a result.
    pub(super) fn of(outcome: &Outcome) -> Told {
        let Outcome { status, cap, text } = outcome;
        let completed = *status == Status::Completed;
        let kept = brief(text).or_else(|| status.bare().map(str::to_owned));
        let digest = kept.as_ref().filter(|_| completed).map(|_| sha256::hex(text));
        let (brief, error) = if completed { (kept, None) } else { (None, kept) };
        Told { status: *status, cap: *cap, brief, digest, error }
    }

    /// What a tool message's `additional_kwargs` tell; `None`: nothing of a delegation. The older status
    /// `max_turns_reached` is a completed one if it brought a text, else a failed one; what capped it were its turns, unless
    /// it says otherwise.
    pub(crate) fn read(kwargs: &Value) -> Option<Told> {
        let field = |key: &str| kwargs.get(&format!("subagent_{key}")).and_then(Value::as_text);
        let brief = field("result_brief").and_then(brief);
        let name = field("status")?;
        let older = name == "max_turns_reached";
        let status = match older {
            true if brief.is_some() => Status::Completed,
            true => Status::Failed,
            false => Status::ended(name)?,
        };
        let completed = status == Status::Completed;
        let brief = brief.filter(|_| completed);
        let is_digest = |text: &&str| text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let digest = field("result_sha256").filter(is_digest).filter(|_| brief.is_some()).map(str::to_owned);
        let error = field("error").and_then(self::brief).filter(|_| !completed);
        let cap = field("stop_reason").and_then(Cap::named).or(older.then_some(Cap::Turns));
        Some(Told { status, cap, brief, digest, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_result_says() {
        let check = |status, cap, text: &str, expect: &str| assert_eq!(Outcome { status, cap, text: text.into() }.message(), expect);
        check(Status::Completed, None, " two\n", "Task Succeeded. Result:  two\n");
        check(Status::Completed, Some(Cap::Loop), "half", "Task Succeeded (capped: repeated tool-call loop). Result: half");
        check(Status::Failed, None, " boom ", "Task failed. Error: boom");
        check(Status::Failed, Some(Cap::Turns), "boom", "Task failed (capped: turn budget). Error: boom");
        check(Status::Failed, Some(Cap::Tokens), "Task failed.", "Task failed (capped: token budget).");
        check(Status::Failed, None, " \n", "Task failed.");
        check(Status::Cancelled, Some(Cap::Turns), "x", "Task cancelled by user. Error: x");
        check(Status::Cancelled, None, "Task cancelled by user.", "Task cancelled by user.");
        check(Status::TimedOut, None, "", "Task timed out.");
        check(
            Status::TimedOut,
            None,
            "Execution timed out after 900 seconds",
            "Task timed out. Error: Execution timed out after 900 seconds",
        );
        check(Status::PollingTimedOut, None, "", "Task polling timed out.");
        check(Status::PollingTimedOut, None, " still running ", "still running");
    }

    #[test]
    fn what_is_kept_of_a_result() {
        let of = |status, text: &str| Told::of(&Outcome { status, cap: None, text: text.into() });
        let done = of(Status::Completed, &format!(" {} ", "a".repeat(3_000)));
        let brief = format!("{}\n...\n{}", "a".repeat(1_333), "a".repeat(662));
        assert_eq!((done.brief, done.error), (Some(brief), None));
        assert_eq!(done.digest, Some(sha256::hex(&format!(" {} ", "a".repeat(3_000)))));
        assert_eq!(of(Status::Completed, " ").brief, None);
        assert_eq!(of(Status::Completed, " ").digest, None);
        let failed = of(Status::Failed, " boom ");
        assert_eq!((failed.brief, failed.digest, failed.error.as_deref()), (None, None, Some("boom")));
        assert_eq!(of(Status::TimedOut, "").error.as_deref(), Some("Task timed out."));
    }

    #[test]
    fn what_data_tell() {
        let read = |text: &str| Told::read(&Value::parse(text).expect("it is JSON"));
        for nothing in ["{}", "null", r#"{"subagent_status":"running"}"#, r#"{"subagent_status":1}"#, r#"{"subagent_result_brief":"x"}"#] {
            assert_eq!(read(nothing), None, "{nothing}");
        }
        let status = |text: &str| read(text).map(|told| (told.status, told.cap));
        assert_eq!(status(r#"{"subagent_status":"failed","subagent_stop_reason":"nothing"}"#), Some((Status::Failed, None)));
        assert_eq!(
            status(r#"{"subagent_status":"max_turns_reached","subagent_result_brief":" "}"#),
            Some((Status::Failed, Some(Cap::Turns)))
        );
        assert_eq!(
            status(r#"{"subagent_status":"max_turns_reached","subagent_result_brief":"x","subagent_stop_reason":"loop_capped"}"#),
            Some((Status::Completed, Some(Cap::Loop)))
        );
        let digest = "8C".repeat(32);
        let told = read(&format!(
            r#"{{"subagent_status":"completed","subagent_result_brief":" R ","subagent_result_sha256":"{digest}","subagent_error":"e"}}"#
        ));
        let told = told.expect("it tells");
        assert_eq!((told.brief.as_deref(), told.digest, told.error), (Some("R"), None, None));
        let told = read(r#"{"subagent_status":"cancelled","subagent_result_brief":"R","subagent_error":"e"}"#).expect("it tells");
        assert_eq!((told.brief, told.error.as_deref()), (None, Some("e")));
    }
}
