//! What a cell's requests held, small enough to be committed: for each request its tokens by origin and a mark for each
//! piece that its thread had not sent before. So a later check can say which request and which item grew.
//!
//! A mark names a piece, it does not hold it: kind, origin, tokens and the first eight digits of its digest. What is
//! kept is bounded ([`MAX_REQUESTS`], [`MAX_MARKS`]): a long recording does not swell the lock. Sums by origin are not
//! taken from here but kept with each figure ([`super::split`]), and are whole.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::results::{ItemKind, ItemLine, LedgerLine, PartLine, PartName, RequestLine};
use crate::transcript::Origin;

/// Requests of a cell that are kept, in order of sending.
pub const MAX_REQUESTS: usize = 400;
/// Marks that are kept of what one request adds.
pub const MAX_MARKS: usize = 64;
/// Hexadecimal digits of a digest that tell two pieces apart.
const DIGITS: usize = 8;

/// A piece of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// What it is: `system`, `tool NAME`, `user`, `assistant`, `call NAME`, `result` ...
    pub what: String,
    /// Where its tokens come from.
    pub origin: Origin,
    /// Its tokens as sent; `None`: some are unknown.
    pub tokens: Option<u64>,
    /// The first digits of its digest.
    pub digest: String,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Its number in the cell.
    pub seq: u32,
    /// Its thread's place in the tree.
    pub thread: String,
    /// Its tokens by origin, the origins that have any.
    pub input: Vec<(Origin, u64)>,
    /// Tokens of the reply.
    pub output: u64,
    /// System text and tools, where they differ from those of the thread's request before.
    pub head: Option<Vec<Mark>>,
    /// So many of its first items are those of the thread's request before.
    pub same: usize,
    /// The items after them, at most [`MAX_MARKS`].
    pub items: Vec<Mark>,
    /// Items after those, which are not kept.
    pub more: usize,
}

impl Exchange {
    /// Tokens of the whole request.
    pub fn input_total(&self) -> u64 {
        self.input.iter().fold(0, |sum: u64, (_, tokens)| sum.saturating_add(*tokens))
    }
}

/// What a cell's requests held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// The first [`MAX_REQUESTS`] requests, in order of sending.
    pub exchanges: Vec<Exchange>,
    /// Requests after those.
    pub more: usize,
}

/// A piece of a whole request; `None`: it was not kept.
pub type Piece = Option<Mark>;

/// A thread as its last request held it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// System text and tools.
    pub head: Vec<Mark>,
    /// The items.
    pub items: Vec<Piece>,
}

impl Standing {
    /// Takes the thread's next request in: what it held then.
    pub fn take(&mut self, exchange: &Exchange) {
        if let Some(head) = &exchange.head {
            self.head.clone_from(head);
        }
        // A lock that was edited by hand may claim more than there is.
        self.items.truncate(exchange.same);
        self.items.extend(exchange.items.iter().map(|mark| Some(mark.clone())));
        self.items.resize(self.items.len() + exchange.more.min(MAX_UNKEPT), None);
    }
}

impl Trail {
    /// The trail of a cell, from its lines of the ledger and of the requests and the parts that those name.
    pub fn of(ledger: &[LedgerLine], requests: &[RequestLine], parts: &BTreeMap<PartName, PartLine>) -> Trail {
        let mut heads: IndexMap<&str, (&Option<PartName>, &Vec<PartName>)> = IndexMap::new();
        let mut exchanges = Vec::new();
        for (line, request) in ledger.iter().zip(requests).take(MAX_REQUESTS) {
            let head = (&request.system, &request.tools);
            let known = heads.insert(&request.thread, head);
            exchanges.push(Exchange {
                seq: request.seq,
                thread: request.thread.to_string(),
                input: line.input.each().into_iter().filter(|(_, tokens)| *tokens > 0).collect(),
                output: line.output,
                head: (known != Some(head)).then(|| head_marks(request, parts)),
                same: request.same,
                items: request.items.iter().take(MAX_MARKS).map(item_mark).collect(),
                more: request.items.len().saturating_sub(MAX_MARKS),
            });
        }
        Trail { exchanges, more: requests.len().saturating_sub(MAX_REQUESTS) }
    }
}

/// Places that are made for items which were not kept: more of them tell nothing more.
const MAX_UNKEPT: usize = 4_096;

/// System text and tools in the order in which tables name them.
fn head_marks(request: &RequestLine, parts: &BTreeMap<PartName, PartLine>) -> Vec<Mark> {
    let system = request.system.iter().map(|digest| Mark {
        what: "system".to_owned(),
        origin: Origin::System,
        tokens: request.system_tokens.map(u64::from),
        digest: short(&digest.to_string()),
    });
    let tools = request.tools.iter().enumerate().map(|(at, digest)| Mark {
        what: parts.get(digest).and_then(tool_name).map_or("tool".to_owned(), |name| format!("tool {name}")),
        origin: Origin::Tools,
        tokens: request.tool_tokens.get(at).copied().flatten().map(u64::from),
        digest: short(&digest.to_string()),
    });
    system.chain(tools).collect()
}

fn tool_name(part: &PartLine) -> Option<String> {
    let schema: serde_json::Value = serde_json::from_str(part.text.as_deref()?).ok()?;
    let name = schema.get("name").or_else(|| schema.get("function")?.get("name"))?;
    name.as_str().map(str::to_owned)
}

fn item_mark(item: &ItemLine) -> Mark {
    let named = |kind: &str| item.name.as_ref().map_or(kind.to_owned(), |name| format!("{kind} {name}"));
    let what = match item.kind {
        ItemKind::Message => item.role.map_or("message", |role| role.name()).to_owned(),
        ItemKind::Reasoning => "reasoning".to_owned(),
        ItemKind::Call => named("call"),
        ItemKind::Result if item.failed => "failed result".to_owned(),
        ItemKind::Result => "result".to_owned(),
        ItemKind::Mail => named("mail"),
        ItemKind::Compaction => "summary".to_owned(),
        ItemKind::Context => named("record"),
    };
    // An item is more than its parts: the same text by another role or another tool is another item.
    let identity = item.parts.iter().fold(what.clone(), |so_far, part| format!("{so_far}\n{part}"));
    let digest = crate::transcript::Digest::of(&identity).to_string();
    Mark { what, origin: item.origin, tokens: item.tokens.map(u64::from), digest: short(&digest) }
}

fn short(digest: &str) -> String {
    digest.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::TokensByOrigin;
    use crate::results::tests::ledger_line;
    use crate::transcript::Role;

    fn ledger(seq: u32, thread: &str, user: u64) -> LedgerLine {
        ledger_line(seq, thread, TokensByOrigin { user, ..Default::default() }, 1)
    }

    fn item(part: &str) -> ItemLine {
        ItemLine {
            kind: ItemKind::Message,
            origin: Origin::User,
            role: Some(Role::User),
            phase: None,
            name: None,
            call: None,
            failed: false,
            hidden: false,
            tokens: Some(7),
            parts: smallvec::smallvec![named(part)],
        }
    }

    fn request(seq: u32, thread: &str, tools: &[&str], same: usize, items: Vec<ItemLine>) -> RequestLine {
        RequestLine {
            cell: "c".into(),
            seq,
            thread: thread.into(),
            agent: "a".into(),
            system: Some("0123456789abcdef".parse().expect("a name")),
            system_tokens: Some(5),
            tools: tools.iter().map(|tool| named(tool)).collect(),
            tool_tokens: tools.iter().map(|_| Some(9)).collect(),
            same,
            items,
            after: vec![],
        }
    }

    fn named(text: &str) -> PartName {
        crate::transcript::Digest::of(text).into()
    }

    fn part(name: &str, text: &str) -> (PartName, PartLine) {
        (named(name), PartLine { digest: named(name), text: Some(text.to_owned()), other: None })
    }

    #[test]
    fn a_head_is_kept_where_it_changes_and_tools_are_named() {
        let parts = BTreeMap::from([
            part("aaaaaaaaaa", r#"{"name":"read"}"#),
            part("bbbbbbbbbb", r#"{"function":{"name":"list"}}"#),
            part("cccccccccc", "no JSON"),
        ]);
        let lines = [ledger(0, "/", 3), ledger(1, "/1", 4), ledger(2, "/", 5), ledger(3, "/", 0)];
        let requests = [
            request(0, "/", &["aaaaaaaaaa", "bbbbbbbbbb"], 0, vec![item("x")]),
            request(1, "/1", &["cccccccccc", "dddddddddd"], 0, vec![]),
            request(2, "/", &["aaaaaaaaaa", "bbbbbbbbbb"], 1, vec![]),
            request(3, "/", &["aaaaaaaaaa"], 1, vec![]),
        ];
        let trail = Trail::of(&lines, &requests, &parts);
        let heads = trail.exchanges.iter().map(|exchange| {
            exchange.head.as_ref().map(|head| head.iter().map(|mark| (mark.what.as_str(), mark.tokens.unwrap())).collect::<Vec<_>>())
        });
        let expect = [
            Some(vec![("system", 5), ("tool read", 9), ("tool list", 9)]),
            Some(vec![("system", 5), ("tool", 9), ("tool", 9)]),
            None,
            Some(vec![("system", 5), ("tool read", 9)]),
        ];
        assert_eq!(heads.collect::<Vec<_>>(), expect);
        assert_eq!(trail.exchanges[0].head.as_ref().unwrap()[0].digest, "01234567");
        assert_eq!(trail.exchanges[0].input, [(Origin::User, 3)]);
        assert_eq!(trail.exchanges[3].input, []);
    }

    #[test]
    fn an_item_is_more_than_its_text() {
        let digest = |item: ItemLine| item_mark(&item).digest;
        let plain = digest(item("x"));
        assert_eq!(plain, digest(item("x")));
        let others = [
            item("y"),
            ItemLine { role: Some(Role::Assistant), ..item("x") },
            ItemLine { kind: ItemKind::Call, name: Some("read".into()), ..item("x") },
            ItemLine { kind: ItemKind::Result, ..item("x") },
            ItemLine { kind: ItemKind::Result, failed: true, ..item("x") },
        ];
        for other in others {
            assert_ne!(plain, digest(other.clone()), "{other:?}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_rest_is_counted() {
        let count = u32::try_from(MAX_REQUESTS).unwrap() + 3;
        let lines: Vec<LedgerLine> = (0..count).map(|seq| ledger(seq, "/", 1)).collect();
        let many: Vec<ItemLine> = (0..MAX_MARKS + 2).map(|at| item(&at.to_string())).collect();
        let requests: Vec<RequestLine> = (0..count).map(|seq| request(seq, "/", &[], 0, many.clone())).collect();
        let trail = Trail::of(&lines, &requests, &BTreeMap::new());
        assert_eq!((trail.exchanges.len(), trail.more), (MAX_REQUESTS, 3));
        assert!(trail.exchanges.iter().all(|exchange| exchange.items.len() == MAX_MARKS && exchange.more == 2));
        let mut standing = Standing::default();
        standing.take(&trail.exchanges[0]);
        assert_eq!(standing.items.len(), MAX_MARKS + 2);
        assert_eq!(standing.items.iter().filter(|item| item.is_none()).count(), 2);
    }
}
