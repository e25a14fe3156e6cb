//! The arguments of `task`.

use serde::Serialize;

use super::python;
use super::tags::neutralise;
use super::text;
use super::value::Value;
use super::{Profile, python::strip};

/// What a call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) prompt: String,
    pub(crate) subagent_type: String,
    pub(crate) snapshot: bool,
    /// Acceptance criteria, as they are told.
    pub(crate) criteria: Vec<String>,
}

/// A call as an agent writes it, in the order of the schema.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    pub(super) prompt: &'a str,
    pub(super) subagent_type: &'a str,
    pub(super) description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_mode: Option<&'a str>,
}

/// The same at f1f4af9.
#[derive(Serialize)]
pub(super) struct WrittenEarlier<'a> {
    pub(super) description: &'a str,
    pub(super) prompt: &'a str,
    pub(super) subagent_type: &'a str,
}

/// Criteria of one call, and characters of one.
const CRITERIA: usize = 20;
const CRITERION: usize = 500;

impl Arguments {
    /// Decodes a call's arguments; the error is the call's. The mode is checked first; f1f4af9 knows neither modes nor
    /// criteria. A missing text is refused in this project's words: the product's schema refuses it before the tool runs, in
    /// words that are not established.
    pub(crate) fn decode(profile: Profile, args: &Value) -> Result<Arguments, String> {
        let modes = profile.has_modes();
        let snapshot = match args.get("context_mode").filter(|_| modes) {
            None => false,
            Some(Value::Text(mode)) if mode == "isolated" => false,
            Some(Value::Text(mode)) if mode == "snapshot" => true,
            Some(other) => return Err(text::unknown_mode(&python::str(other))),
        };
        let required = |key: &str| args.get(key).and_then(Value::as_text).map(str::to_owned).ok_or_else(|| text::missing(key));
        let criteria = args.get("acceptance_criteria").filter(|_| modes).and_then(Value::items).unwrap_or_default();
        let told = criteria.iter().filter_map(Value::as_text).map(criterion).filter(|one| !one.is_empty());
        Ok(Arguments {
            prompt: required("prompt")?,
            subagent_type: required("subagent_type")?,
            snapshot,
            criteria: told.take(CRITERIA).collect(),
        })
    }
}

/// A criterion as it is told: stripped, not too long, harmless.
fn criterion(text: &str) -> String {
    let cut: String = strip(text).chars().take(CRITERION).collect();
    neutralise(strip(&cut))
}
