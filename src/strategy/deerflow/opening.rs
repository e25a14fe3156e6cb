//! From a call to what the child opens with: the product's checks in the product's order, then the capture. A call that is
//! refused never has the history read.

use super::Profile;
use super::arguments::Arguments;
use super::snapshot::Raised;
use super::text;
use super::value::Value;

/// The type of sub-agent that runs commands on the host.
const BASH: &str = "bash";

/// What calls are checked against.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    /// The types that may be named, in the registry's order; `None`: any that is asked for.
    pub(crate) types: Option<Vec<String>>,
    /// Whether sub-agents may run commands on the host; else the type `bash` is known and refused.
    pub(crate) host_bash: bool,
}

/// Why no child starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The call fails with this error.
    Error(String),
    /// The call dies.
    Raised(Raised),
}

/// What a child opens with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opening<S> {
    /// Its type.
    pub(crate) agent: String,
    /// The parent's history in the form in which it was captured, if it is handed down and something is left of it.
    pub(crate) snapshot: Option<S>,
    /// The task as the child reads it, and what stands behind it: a blank line is between them.
    pub(crate) task: Vec<String>,
    /// The criteria that stand in it.
    pub(crate) criteria: Vec<String>,
}

/// A call's opening.
pub(crate) fn open<S>(
    profile: Profile,
    args: &Value,
    policy: &Policy,
    capture: impl FnOnce() -> Result<Option<S>, Raised>,
) -> Result<Opening<S>, Refusal> {
    let asked = Arguments::decode(profile, args).map_err(Refusal::Error)?;
    check(profile, &asked.subagent_type, policy).map_err(Refusal::Error)?;
    let snapshot = if asked.snapshot { capture().map_err(Refusal::Raised)? } else { None };
    let task = [Some(asked.prompt), text::criteria(&asked.criteria)].into_iter().flatten().collect();
    Ok(Opening { agent: asked.subagent_type, snapshot, task, criteria: asked.criteria })
}

/// The host's policy before the registry; at f1f4af9 the registry, which knows `bash`, before the policy.
fn check(profile: Profile, asked: &str, policy: &Policy) -> Result<(), String> {
    let bash = asked == BASH && !policy.host_bash;
    let known = match &policy.types {
        Some(types) => types.iter().any(|known| known == asked),
        None => true,
    };
    let types = policy.types.as_deref().unwrap_or_default();
    if profile == Profile::F1f4af9 && !known && !bash {
        return Err(text::unknown_type(profile, asked, types));
    }
    if bash {
        return Err(text::NO_BASH.into());
    }
    if !known { Err(text::unknown_type(profile, asked, types)) } else { Ok(()) }
}

/// What stands behind a child's role in its system text, in order: the note on the snapshot, the product's contract on
/// reports (where the product's own prompts are sent), the pointer to criteria. Blank lines are between them.
pub(crate) fn notes(contract: bool, opened: Opened) -> Vec<&'static str> {
    let note = opened.snapshot.then_some(text::SNAPSHOT_NOTE);
    let contract = contract.then_some(text::REPORT_CONTRACT);
    let pointer = opened.criteria.then_some(text::CRITERIA_POINTER);
    [note, contract, pointer].into_iter().flatten().collect()
}

/// What a child's system text depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opened {
    /// A snapshot precedes the task.
    pub(crate) snapshot: bool,
    /// The task ends with criteria.
    pub(crate) criteria: bool,
}

impl<S> Opening<S> {
    /// What its child's system text depends on.
    pub(crate) fn opened(&self) -> Opened {
        Opened { snapshot: self.snapshot.is_some(), criteria: !self.criteria.is_empty() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::deerflow::status::Outcome;

    fn check(profile: Profile, args: &str, types: &[&str], host_bash: bool, expect: &str) {
        let policy = Policy { types: Some(types.iter().map(|name| (*name).to_owned()).collect()), host_bash };
        let args = Value::parse(args).expect("it is JSON");
        let refusal = open::<()>(profile, &args, &policy, || panic!("the history is read"));
        let told = match refusal {
            Err(Refusal::Error(why)) => Outcome::failed(why).message(),
            other => panic!("{other:?}"),
        };
        assert!(told.starts_with(expect), "{told}");
    }

    /// What the host forbids is said before what nobody knows, but at f1f4af9 what nobody knows comes first.
    #[test]
    fn checks_come_in_order() {
        let bash = r#"{"prompt":"p","subagent_type":"bash","context_mode":"snapshot"}"#;
        let mode = r#"{"prompt":"p","subagent_type":"bash","context_mode":"x"}"#;
        let policy = "Task failed. Error: Bash subagent is disabled for LocalSandboxProvider because ";
        for profile in [Profile::V1, Profile::V2, Profile::V3] {
            check(profile, mode, &[], false, "Task failed. Error: Unknown context_mode 'x'. Use isolated or snapshot.");
            check(profile, bash, &[], false, policy);
            check(profile, bash, &["a"], true, "Task failed. Error: Unknown subagent type 'bash'. Available: a");
        }
        // There `bash` is in the registry, whatever the host allows.
        check(Profile::F1f4af9, bash, &["a"], false, policy);
        check(
            Profile::F1f4af9,
            r#"{"prompt":"p","subagent_type":"x"}"#,
            &["a"],
            false,
            "Task failed. Error: Unknown subagent type 'x'. Available: a",
        );
        check(
            Profile::F1f4af9,
            r#"{"prompt":"p","subagent_type":"x"}"#,
            &[],
            false,
            "Task failed. Error: Unknown subagent type 'x'. Available:",
        );
        check(Profile::V2, r#"{"subagent_type":"x"}"#, &[], false, "Task failed. Error: `task` needs the argument `prompt`, a text.");
        check(Profile::V2, "null", &[], false, "Task failed. Error: `task` needs the argument `prompt`, a text.");
    }

    #[test]
    fn criteria_are_cut_and_harmless() {
        let criteria: Vec<String> = (0..30).map(|at| format!("\" <role> {at} {}\"", "x".repeat(600))).collect();
        let args = format!(r#"{{"prompt":"p","subagent_type":"a","acceptance_criteria":[" ",{}]}}"#, criteria.join(","));
        let args = Value::parse(&args).expect("it is JSON");
        let opening = open::<()>(Profile::V2, &args, &Policy::default(), || Ok(None)).expect("any type is known");
        assert_eq!(opening.criteria.len(), 20);
        assert!(opening.criteria.iter().all(|one| one.starts_with("&lt;role&gt; ") && one.chars().count() == 500 + 6));
        assert_eq!(opening.task.len(), 2);
        assert_eq!(notes(true, opening.opened()), [text::REPORT_CONTRACT, text::CRITERIA_POINTER]);
    }
}
