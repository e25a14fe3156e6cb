//! What a cell's threads were sent: the view behind `show`, from ledger lines, requests and parts.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Serialize;

use crate::results::{
    CacheLine, CellResult, Divergence, FailureNote, ItemKind, ItemLine, LedgerLine, PartLine, PartName, RequestLine, TokensByOrigin,
};
use crate::transcript::{Origin, Role};

/// The version of `show --format json`.
pub const SHOW_FORMAT: &str = "ctxbench-show/1";

/// A cell with all that was sent in it.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// One line an exchange, in order of sending.
    pub ledger: Vec<LedgerLine>,
    /// One line an exchange, in the same order.
    pub requests: Vec<RequestLine>,
    /// The parts that the requests name.
    pub parts: BTreeMap<PartName, PartLine>,
}

/// What `show` prints of a cell.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// `ctxbench-show/1`.
    pub format: &'static str,
    /// The cell.
    pub cell: String,
    /// The encoding of all token figures.
    pub tokenizer: String,
    /// What produced the behaviour.
    pub evidence: &'static str,
    /// How it ended.
    pub status: &'static str,
    /// Why it failed; null: it did not.
    pub failure: Option<FailureNote>,
    /// Its threads, in order of their first request.
    pub threads: Vec<ShownThread>,
    /// Its requests as a provider bills them; left out unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billed: Option<super::Billed>,
}

/// A thread.
#[derive(Clone, Debug, Serialize)]
pub struct ShownThread {
    /// Its place in the tree.
    pub path: String,
    /// Who spoke in its first request.
    pub agent: String,
    /// Its first request: what it opened with.
    pub opening: ShownRequest,
    /// What delegation put into it after it was opened, by the request that first held it: results, acknowledgements,
    /// notices, mail, and the tasks of a child that was continued.
    pub received: Vec<ShownArrival>,
    /// All that was new in its later requests, its own words and tool results too; empty unless it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<ShownArrival>,
    /// What stood behind its last request in the end: its last words.
    pub after: Vec<ShownItem>,
    /// Its requests, with their tokens by origin.
    pub requests: Vec<ShownExchange>,
}

/// A whole request.
#[derive(Clone, Debug, Serialize)]
pub struct ShownRequest {
    /// Its number in the cell.
    pub seq: u32,
    /// Its thread.
    pub thread: String,
    /// Who spoke.
    pub agent: String,
    /// The tokens of the system text with the request's frame.
    pub system_tokens: u64,
    /// The system text; null: none was sent.
    pub system: Option<String>,
    /// The tokens of the tools.
    pub tools_tokens: u64,
    /// The tools' schemas, in the order in which they were sent.
    pub tools: Vec<String>,
    /// The items.
    pub items: Vec<ShownItem>,
    /// Tokens of the whole request.
    pub input_total: u64,
}

/// An item.
#[derive(Clone, Debug, Serialize)]
pub struct ShownItem {
    /// What it is.
    pub kind: ItemKind,
    /// Where its tokens come from.
    pub origin: Origin,
    /// Who speaks, of a message.
    pub role: Option<Role>,
    /// The tool of a call, author and recipient of mail.
    pub name: Option<String>,
    /// The call's key, of a call and of its result.
    pub call: Option<u32>,
    /// Whether a result reports an error.
    pub failed: bool,
    /// Tokens as sent; null: some are unknown.
    pub tokens: Option<u32>,
    /// The text; what is no text stands in brackets.
    pub text: String,
}

/// Items that arrived together.
#[derive(Clone, Debug, Serialize)]
pub struct ShownArrival {
    /// The request that first held them.
    pub seq: u32,
    /// Their tokens; null: some are unknown.
    pub tokens: Option<u64>,
    /// The items.
    pub items: Vec<ShownItem>,
}

/// An exchange in figures.
#[derive(Clone, Debug, Serialize)]
pub struct ShownExchange {
    /// Its number in the cell.
    pub seq: u32,
    /// The thread's turn.
    pub turn: u32,
    /// When it was sent, in virtual milliseconds.
    pub sent_ms: u64,
    /// When the reply came; null: none did.
    pub done_ms: Option<u64>,
    /// Its tokens by origin.
    pub input: TokensByOrigin,
    /// Tokens of the whole request.
    pub input_total: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// What the prompt cache made of it; null: none was simulated.
    pub cache: Option<CacheLine>,
    /// Where it first differs from the thread's request before.
    pub first_divergence: Option<Divergence>,
    /// How it ended.
    pub end: String,
}

impl Sent {
    /// The view of a cell. `whole`: with all that was new in later requests.
    pub fn shown(&self, result: &CellResult, tokenizer: &str, whole: bool) -> Shown {
        let mut by_thread: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for (at, request) in self.requests.iter().enumerate() {
            by_thread.entry(&request.thread).or_default().push(at);
        }
        let threads = by_thread.into_iter().filter_map(|(path, places)| self.thread(path, &places, whole)).collect();
        Shown {
            format: SHOW_FORMAT,
            cell: result.cell.clone(),
            tokenizer: tokenizer.to_owned(),
            evidence: result.evidence.name(),
            status: result.status.name(),
            failure: result.failure.clone(),
            threads,
            billed: None,
        }
    }

    fn thread(&self, path: &str, places: &[usize], whole: bool) -> Option<ShownThread> {
        let opening = self.request(*places.first()?)?;
        let new = self.new_items(places);
        let arrivals = |wanted: fn(&ItemLine) -> bool| new.iter().filter_map(|(seq, items)| self.arrival(*seq, items, wanted)).collect();
        let received = arrivals(|item| matches!(item.origin, Origin::Delegated | Origin::Task));
        let later = if whole { arrivals(|_| true) } else { vec![] };
        let last = places.last().and_then(|&at| self.requests.get(at));
        let after = last.map_or_else(Vec::new, |last| last.after.iter().map(|item| self.item(item)).collect());
        let requests = places.iter().filter_map(|&at| self.ledger.get(at)).map(exchange).collect();
        Some(ShownThread { path: path.to_owned(), agent: opening.agent.clone(), opening, received, later, after, requests })
    }

    /// Of each request of a thread but its first, what the request before did not hold. Where a history is rewritten, what
    /// stands behind that place is listed with the request again, and most of it is nothing new.
    fn new_items(&self, places: &[usize]) -> Vec<(u32, Vec<&ItemLine>)> {
        let mut held: Vec<&ItemLine> = Vec::new();
        let mut new = Vec::new();
        for (nth, request) in places.iter().filter_map(|&at| self.requests.get(at)).enumerate() {
            let mut gone: Vec<&ItemLine> = held.split_off(request.same.min(held.len()));
            held.extend(&request.items);
            if nth == 0 {
                continue;
            }
            let is_new = |item: &&ItemLine| match gone.iter().position(|known| is_the_same(known, item)) {
                Some(at) => {
                    gone.remove(at);
                    false
                }
                None => true,
            };
            new.push((request.seq, request.items.iter().filter(is_new).collect()));
        }
        new
    }

    fn arrival(&self, seq: u32, items: &[&ItemLine], wanted: fn(&ItemLine) -> bool) -> Option<ShownArrival> {
        let items: Vec<ShownItem> = items.iter().filter(|item| wanted(item)).map(|item| self.item(item)).collect();
        let tokens = items.iter().map(|item| item.tokens.map(u64::from)).sum();
        (!items.is_empty()).then_some(ShownArrival { seq, tokens, items })
    }

    /// The whole request of that place in the list of requests.
    pub fn request(&self, at: usize) -> Option<ShownRequest> {
        let request = self.requests.get(at)?;
        let line = self.ledger.get(at)?;
        let mut items: Vec<&ItemLine> = Vec::new();
        for earlier in self.requests.get(..=at)?.iter().filter(|earlier| earlier.thread == request.thread) {
            items.truncate(earlier.same);
            items.extend(&earlier.items);
        }
        Some(ShownRequest {
            seq: request.seq,
            thread: request.thread.to_string(),
            agent: request.agent.to_string(),
            system_tokens: line.input.system,
            system: request.system.map(|name| self.text(name)),
            tools_tokens: line.input.tools,
            tools: request.tools.iter().map(|&name| self.text(name)).collect(),
            items: items.into_iter().map(|item| self.item(item)).collect(),
            input_total: line.input_total,
        })
    }

    fn item(&self, item: &ItemLine) -> ShownItem {
        ShownItem {
            kind: item.kind,
            origin: item.origin,
            role: item.role,
            name: item.name.clone(),
            call: item.call,
            failed: item.failed,
            tokens: item.tokens,
            text: item.parts.iter().map(|&name| self.text(name)).collect(),
        }
    }

    fn text(&self, name: PartName) -> String {
        match self.parts.get(&name) {
            Some(PartLine { text: Some(text), .. }) => text.clone(),
            Some(PartLine { other: Some(other), .. }) => format!("[{other}]"),
            _ => format!("[part {name} is missing]"),
        }
    }
}

/// Whether two items have the same content from the same place; the tool of a call is part of its content.
fn is_the_same(one: &ItemLine, other: &ItemLine) -> bool {
    (one.origin, &one.name, &one.parts) == (other.origin, &other.name, &other.parts)
}

fn exchange(line: &LedgerLine) -> ShownExchange {
    ShownExchange {
        seq: line.seq,
        turn: line.turn,
        sent_ms: line.sent_ms,
        done_ms: line.done_ms,
        input: line.input,
        input_total: line.input_total,
        output: line.output,
        cache: line.cache.clone(),
        first_divergence: line.first_divergence.clone(),
        end: line.end.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::TokensByOrigin;
    use crate::results::tests::{cell, ledger_line};

    /// The name of a part whose text is this.
    fn named(text: &str) -> PartName {
        crate::transcript::Digest::of(text).into()
    }

    fn item(origin: Origin, part: &str) -> ItemLine {
        ItemLine {
            kind: ItemKind::Message,
            origin,
            role: Some(Role::User),
            phase: None,
            name: None,
            call: None,
            failed: false,
            hidden: false,
            tokens: Some(10),
            parts: smallvec::smallvec![named(part)],
        }
    }

    fn request(seq: u32, same: usize, items: &[(Origin, &str)]) -> RequestLine {
        RequestLine {
            cell: "c".into(),
            seq,
            thread: "/".into(),
            agent: "a".into(),
            system: None,
            system_tokens: None,
            tools: vec![],
            tool_tokens: vec![],
            same,
            items: items.iter().map(|(origin, part)| item(*origin, part)).collect(),
            after: vec![],
        }
    }

    /// Of each request behind the first: its number and the parts that are told to be new in it.
    fn received(requests: Vec<RequestLine>, whole: bool) -> Vec<(u32, Vec<String>)> {
        let ledger = requests.iter().map(|one| ledger_line(one.seq, "/", TokensByOrigin::default(), 1)).collect();
        let texts = ('a'..='z').map(String::from);
        let parts = texts.map(|text| (named(&text), PartLine { digest: named(&text), text: Some(text), other: None })).collect();
        let shown = Sent { ledger, requests, parts }.shown(&cell("s", "a@1", 0), "o200k_base", whole);
        let thread = &shown.threads[0];
        let arrivals = if whole { &thread.later } else { &thread.received };
        for one in arrivals {
            assert_eq!(one.tokens, Some(10 * one.items.len() as u64), "of each item ten tokens");
        }
        arrivals.iter().map(|one| (one.seq, one.items.iter().map(|item| item.text.clone()).collect())).collect()
    }

    #[test]
    fn what_a_rewritten_history_repeats_is_not_received_again() {
        use Origin::{Delegated, Own, Task, User};
        let check = |requests: Vec<RequestLine>, whole: bool, expect: &[(u32, &[&str])]| {
            let received = received(requests, whole);
            let received: Vec<(u32, Vec<&str>)> =
                received.iter().map(|(seq, parts)| (*seq, parts.iter().map(String::as_str).collect())).collect();
            let expect: Vec<(u32, Vec<&str>)> = expect.iter().map(|(seq, parts)| (*seq, parts.to_vec())).collect();
            assert_eq!(received, expect);
        };
        // The history grows.
        let grows =
            || vec![request(0, 0, &[(User, "u")]), request(1, 1, &[(Own, "o"), (Delegated, "d")]), request(2, 3, &[(Delegated, "e")])];
        check(grows(), false, &[(1, &["d"]), (2, &["e"])]);
        check(grows(), true, &[(1, &["o", "d"]), (2, &["e"])]);
        // Its second item is written anew, so all behind it stands in the request once more.
        let rewritten = || {
            let mut all = grows();
            all.push(request(3, 1, &[(Own, "x"), (Delegated, "d"), (Delegated, "e"), (Delegated, "f")]));
            all
        };
        check(rewritten(), false, &[(1, &["d"]), (2, &["e"]), (3, &["f"])]);
        check(rewritten(), true, &[(1, &["o", "d"]), (2, &["e"]), (3, &["x", "f"])]);
        // The same text twice was delivered twice, and is repeated twice.
        let twice = vec![
            request(0, 0, &[(User, "u"), (Delegated, "d")]),
            request(1, 2, &[(Delegated, "d")]),
            request(2, 0, &[(User, "v"), (Delegated, "d"), (Delegated, "d"), (Delegated, "d")]),
        ];
        check(twice, false, &[(1, &["d"]), (2, &["d"])]);
        // The same text from elsewhere is new; what went and came back is, too.
        let elsewhere =
            vec![request(0, 0, &[(User, "t")]), request(1, 0, &[(Task, "t")]), request(2, 0, &[]), request(3, 0, &[(Task, "t")])];
        check(elsewhere, false, &[(1, &["t"]), (3, &["t"])]);
        // Nothing new, no line.
        check(vec![request(0, 0, &[(Delegated, "d")]), request(1, 0, &[(Delegated, "d")])], true, &[]);
    }
}
