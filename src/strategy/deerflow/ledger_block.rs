//! The ledger as the parent reads it: one hidden message in every request.

use super::ledger::Entry;
use super::python::in_one_line;
use super::status::Status;
use super::text::{EXPLANATION, shortened};

/// Characters of the whole block.
const BUDGET: usize = 6_000;
/// Characters of a result as it is shown.
const SHOWN: usize = 120;

/// What a status advises.
fn guidance(entry: &Entry) -> String {
    let advice = match (entry.status, entry.cap) {
        (Status::Completed, Some(_)) => {
            "hit a guardrail cap with a partial result; reuse the partial result, retry with a tighter scope, or raise the per-agent \
             budget (max_turns / token_budget)"
        }
        (_, Some(_)) => {
            "hit a guardrail cap with no usable result; retry with a tighter scope or raise the per-agent budget (max_turns / token_budget)"
        }
        (Status::InProgress, None) => "already delegated; do NOT delegate again; wait for or build on the result",
        (Status::Completed, None) => "completed result; do NOT delegate again; reuse this result",
        (Status::Failed, None) => "failed attempt; may retry with a changed plan",
        (Status::Cancelled, None) => "cancelled attempt; may retry with a changed plan",
        (Status::TimedOut, None) => "timed-out attempt; may retry with a changed plan",
        (Status::PollingTimedOut, None) => "polling timed-out attempt; may retry with a changed plan",
    };
    advice.to_owned()
}

/// White space runs as one blank, and nothing that could be a tag.
fn escaped(text: &str) -> String {
    in_one_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn line(entry: &Entry) -> String {
    let brought = entry.brought.as_ref().map(|brought| format!(" -> {}", escaped(&shortened(&brought.brief, SHOWN)))).unwrap_or_default();
    let (status, about, agent) = (entry.status.name(), escaped(&entry.description), escaped(&entry.agent));
    format!("- [{status}] {about} (via {agent}; {}){brought}", guidance(entry))
}

/// The block of a ledger, in its frame; `None`: nothing was delegated. The newest entries come first; what does not fit is
/// counted, and makes room for being counted.
pub(crate) fn block(entries: &[Entry]) -> Option<String> {
    if entries.is_empty() {
        return None;
    }
    let mut lines = vec!["## Work already delegated".to_owned(), EXPLANATION.to_owned()];
    // Lines are joined by one character each.
    let length = |lines: &[String]| lines.iter().map(|line| line.chars().count() + 1).sum::<usize>();
    let mut left = entries.len();
    for entry in entries.iter().rev() {
        let line = line(entry);
        if length(&lines) + line.chars().count() > BUDGET {
            break;
        }
        lines.push(line);
        left -= 1;
    }
    while left > 0 {
        let omitted = format!("- ... {left} older delegation entries omitted from this model view because of context budget");
        if length(&lines) + omitted.chars().count() <= BUDGET {
            lines.push(omitted);
            break;
        }
        // Heading and explanation leave room for the note.
        lines.pop();
        left += 1;
    }
    Some(format!("<durable_context_data>\n{}\n</durable_context_data>", lines.join("\n")))
}
