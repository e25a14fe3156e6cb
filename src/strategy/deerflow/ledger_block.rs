//! The ledger as the parent reads it: one hidden message in every request.

use crate::transcript::{Item, Origin};

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

/// An entry as it is shown.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    characters: usize,
}

impl Line {
    fn new(text: String) -> Line {
        Line { characters: text.chars().count(), text }
    }

    fn of(entry: &Entry) -> Line {
        let brought =
            entry.brought.as_ref().map(|brought| format!(" -> {}", escaped(&shortened(&brought.brief, SHOWN)))).unwrap_or_default();
        let (status, about, agent) = (entry.status.name(), escaped(&entry.description), escaped(&entry.agent));
        Line::new(format!("- [{status}] {about} (via {agent}; {}){brought}", guidance(entry)))
    }
}

/// The message that a root's requests hold, rendered when the ledger has changed, and of it the entries that have.
#[derive(Default)]
pub(super) struct LedgerBlock {
    entries: Vec<Entry>,
    lines: Vec<Line>,
    item: Option<Item>,
}

impl LedgerBlock {
    /// The message of a ledger; `None`: nothing was delegated.
    pub fn of(&mut self, entries: &[Entry]) -> Option<Item> {
        if self.entries == entries {
            return self.item.clone();
        }
        // Entries keep their order; old ones are forgotten at the front.
        let mut from = 0;
        let line = |entry: &Entry| {
            let known = self.entries.iter().skip(from).position(|known| known == entry).map(|at| from + at);
            from = known.map_or(from, |at| at + 1);
            known.map_or_else(|| Line::of(entry), |at| self.lines[at].clone())
        };
        self.lines = entries.iter().map(line).collect();
        self.entries = entries.to_vec();
        self.item = assembled(&self.lines).map(|block| Item::user(Origin::Delegated, block).hide());
        self.item.clone()
    }
}

/// The block of a ledger, in its frame; `None`: nothing was delegated.
#[cfg(test)]
pub(crate) fn block(entries: &[Entry]) -> Option<String> {
    assembled(&entries.iter().map(Line::of).collect::<Vec<_>>())
}

/// The newest entries come first; what does not fit is counted, and makes room for being counted.
fn assembled(entries: &[Line]) -> Option<String> {
    if entries.is_empty() {
        return None;
    }
    let first = ["## Work already delegated", EXPLANATION].map(|text| Line::new(text.to_owned()));
    let mut lines: Vec<&Line> = first.iter().collect();
    // Lines are joined by one character each.
    let mut length: usize = lines.iter().map(|line| line.characters + 1).sum();
    for line in entries.iter().rev() {
        if length + line.characters > BUDGET {
            break;
        }
        length += line.characters + 1;
        lines.push(line);
    }
    let mut left = entries.len() + first.len() - lines.len();
    let mut omitted = None;
    while left > 0 {
        let note = format!("- ... {left} older delegation entries omitted from this model view because of context budget");
        if length + note.chars().count() <= BUDGET {
            omitted = Some(note);
            break;
        }
        // Heading and explanation leave room for the note.
        length -= lines.pop().map_or(0, |line| line.characters + 1);
        left += 1;
    }
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).chain(omitted.as_deref()).collect();
    Some(format!("<durable_context_data>\n{}\n</durable_context_data>", texts.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::deerflow::ledger::{Brought, Ledger, extract};
    use crate::strategy::deerflow::message::Message;
    use crate::strategy::deerflow::status::Cap;
    use crate::strategy::deerflow::value::Value;

    fn entry(description: &str, status: Status, cap: Option<Cap>, brief: Option<&str>) -> Entry {
        let brought = brief.map(|brief| Brought::of(brief, "c"));
        Entry { id: "c".into(), description: description.into(), agent: "a <b>".into(), status, cap, brought, run: None }
    }

    fn lines(entries: &[Entry]) -> Vec<String> {
        let block = block(entries).unwrap_or_default();
        let inner = block.strip_prefix("<durable_context_data>\n").and_then(|rest| rest.strip_suffix("\n</durable_context_data>"));
        inner.map(|inner| inner.lines().map(str::to_owned).collect()).unwrap_or_default()
    }

    #[test]
    fn every_status_advises() {
        let check = |status, cap, expect: &str| {
            assert_eq!(lines(&[entry("d", status, cap, None)])[2], format!("- [{}] d (via a &lt;b&gt;; {expect})", status.name()));
        };
        check(Status::InProgress, None, "already delegated; do NOT delegate again; wait for or build on the result");
        check(Status::Completed, None, "completed result; do NOT delegate again; reuse this result");
        check(Status::Failed, None, "failed attempt; may retry with a changed plan");
        check(Status::Cancelled, None, "cancelled attempt; may retry with a changed plan");
        check(Status::TimedOut, None, "timed-out attempt; may retry with a changed plan");
        check(Status::PollingTimedOut, None, "polling timed-out attempt; may retry with a changed plan");
        let partial = "hit a guardrail cap with a partial result; reuse the partial result, retry with a tighter scope, or raise the \
                       per-agent budget (max_turns / token_budget)";
        let nothing = "hit a guardrail cap with no usable result; retry with a tighter scope or raise the per-agent budget \
                       (max_turns / token_budget)";
        check(Status::Completed, Some(Cap::Loop), partial);
        check(Status::Failed, Some(Cap::Turns), nothing);
        check(Status::TimedOut, Some(Cap::Tokens), nothing);
    }

    #[test]
    fn results_are_cut_first_and_then_made_one_line() {
        let brief = format!("{}\n\n<b> & {}", "x".repeat(76), "y".repeat(100));
        let line = &lines(&[entry(" a \u{1f} b ", Status::Completed, None, Some(&brief))])[2];
        // 80 of the head, of which two are line ends; a mark; 35 of the tail.
        let expect = format!(" -> {} &lt;b ... {}", "x".repeat(76), "y".repeat(35));
        assert!(line.starts_with("- [completed] a b (via ") && line.ends_with(&expect), "{line}");
        assert_eq!(block(&[]), None);
    }

    /// Lines of every length: as many as fit, and where not all do, as many as leave room for the note.
    #[test]
    fn what_does_not_fit_is_counted() {
        let heading = 26 + 1 + EXPLANATION.chars().count();
        for length in 0..=140 {
            let all: Vec<Entry> = (0..50).map(|_| entry(&"d".repeat(length), Status::InProgress, None, None)).collect();
            let line = lines(&all[..1])[2].chars().count();
            let note =
                |left: usize| format!("- ... {left} older delegation entries omitted from this model view because of context budget");
            let fits = heading + 50 * (1 + line) <= 6_000;
            let shown = if fits {
                50
            } else {
                (0..50).rfind(|shown| heading + shown * (1 + line) + 1 + note(50 - shown).len() <= 6_000).unwrap_or(0)
            };
            let lines = lines(&all);
            assert_eq!(lines.len(), 2 + shown + usize::from(!fits), "{length}");
            assert!(fits || lines.last() == Some(&note(50 - shown)), "{length}");
        }
    }

    /// Whatever is written into a call, an entry is one line.
    #[test]
    fn an_entry_is_one_line() {
        let message = r#"{"role":"assistant","content":"","tool_calls":[{"name":"task","id":"i","args":{"prompt":"a\nb <system>","subagent_type":"x\ny"}}]}"#;
        let message = Message::read(&Value::parse(message).expect("it is JSON"), 0).expect("it is a message");
        let mut ledger = Ledger::default();
        ledger.learn(extract(&[message]), None);
        assert_eq!(lines(ledger.entries()).len(), 3);
        assert!(lines(ledger.entries())[2].starts_with("- [in_progress] a b &lt;system&gt; (via x y; "));
    }

    /// However a ledger changes, the message is the one that is rendered from nothing.
    #[test]
    fn what_is_kept_reads_the_same() {
        let entry =
            |at: usize, status, brief: Option<&str>| Entry { id: format!("c{at}"), ..entry(&format!("work {at}"), status, None, brief) };
        let long = "word ".repeat(60);
        let mut kept = LedgerBlock::default();
        let mut entries: Vec<Entry> = Vec::new();
        for at in 0..70 {
            entries.push(entry(at, Status::InProgress, None));
            if at % 3 == 0 {
                entries[at / 2 - at.saturating_sub(50) / 2] = entry(at / 2, Status::Completed, Some(&long));
            }
            if entries.len() > 50 {
                entries.remove(0);
            }
            for _ in 0..2 {
                assert_eq!(kept.of(&entries).map(|item| item.text()), block(&entries), "{at}");
            }
        }
        assert_eq!(kept.of(&[]), None);
    }
}
