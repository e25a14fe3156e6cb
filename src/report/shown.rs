//! What a cell's threads were sent: the view behind `show`, from ledger lines, requests and parts.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Serialize;

use crate::results::{CellResult, Divergence, FailureNote, ItemKind, ItemLine, LedgerLine, PartLine, RequestLine, TokensByOrigin};
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
    pub parts: BTreeMap<String, PartLine>,
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
        }
    }

    fn thread(&self, path: &str, places: &[usize], whole: bool) -> Option<ShownThread> {
        let opening = self.request(*places.first()?)?;
        let arrivals = |wanted: fn(&ItemLine) -> bool| places.iter().skip(1).filter_map(|&at| self.arrival(at, wanted)).collect();
        let received = arrivals(|item| matches!(item.origin, Origin::Delegated | Origin::Task));
        let later = if whole { arrivals(|_| true) } else { vec![] };
        let last = places.last().and_then(|&at| self.requests.get(at));
        let after = last.map_or_else(Vec::new, |last| last.after.iter().map(|item| self.item(item)).collect());
        let requests = places.iter().filter_map(|&at| self.ledger.get(at)).map(exchange).collect();
        Some(ShownThread { path: path.to_owned(), agent: opening.agent.clone(), opening, received, later, after, requests })
    }

    fn arrival(&self, at: usize, wanted: fn(&ItemLine) -> bool) -> Option<ShownArrival> {
        let request = self.requests.get(at)?;
        let items: Vec<ShownItem> = request.items.iter().filter(|item| wanted(item)).map(|item| self.item(item)).collect();
        let tokens = items.iter().map(|item| item.tokens.map(u64::from)).sum();
        (!items.is_empty()).then_some(ShownArrival { seq: request.seq, tokens, items })
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
            thread: request.thread.clone(),
            agent: request.agent.clone(),
            system_tokens: line.input.system,
            system: request.system.as_ref().map(|digest| self.text(digest)),
            tools_tokens: line.input.tools,
            tools: request.tools.iter().map(|digest| self.text(digest)).collect(),
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
            text: item.parts.iter().map(|digest| self.text(digest)).collect(),
        }
    }

    fn text(&self, digest: &str) -> String {
        match self.parts.get(digest) {
            Some(PartLine { text: Some(text), .. }) => text.clone(),
            Some(PartLine { other: Some(other), .. }) => format!("[{other}]"),
            _ => format!("[part {digest} is missing]"),
        }
    }
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
        first_divergence: line.first_divergence.clone(),
        end: line.end.clone(),
    }
}
