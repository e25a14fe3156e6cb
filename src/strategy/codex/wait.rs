//! How long a wait lasts and what a v2 wait says. Durations are in milliseconds.

use serde_json::json;

/// When nothing is said.
const DEFAULT_MS: i64 = 30_000;
/// The shortest wait: less is raised.
const MIN_MS: i64 = 10_000;
/// The longest wait: v1 lowers what is more, v2 refuses it.
const MAX_MS: i64 = 3_600_000;

/// How long a v1 wait lasts. The error is the call's result.
pub(super) fn v1(asked: Option<i64>) -> Result<u64, String> {
    match asked.unwrap_or(DEFAULT_MS) {
        ..=0 => Err("timeout_ms must be greater than zero".into()),
        ms => Ok(ms.clamp(MIN_MS, MAX_MS).unsigned_abs()),
    }
}

/// How long a v2 wait lasts. The error is the call's result.
pub(super) fn v2(asked: Option<i64>) -> Result<u64, String> {
    match asked.unwrap_or(DEFAULT_MS) {
        ms if ms > MAX_MS => Err(format!("timeout_ms must be at most {MAX_MS}")),
        ms => Ok(ms.max(MIN_MS).unsigned_abs()),
    }
}

/// How a v2 wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Mail,
    Input,
    Time,
}

/// What a v2 wait says: never what came.
pub(super) fn v2_output(ended: Ended, asked: Option<i64>) -> String {
    let said = match ended {
        Ended::Mail => "Wait completed.",
        Ended::Input => "Wait interrupted by new input.",
        Ended::Time => "Wait timed out.",
    };
    let message = match asked {
        Some(asked) if asked < MIN_MS => {
            format!("{said}\n\nRequested timeout of {asked}ms was clamped to the minimum of {MIN_MS}ms.")
        }
        _ => said.to_owned(),
    };
    json!({"message": message, "timed_out": ended == Ended::Time}).to_string()
}
