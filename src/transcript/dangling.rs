//! Calls without a result, and results without a call.

use std::collections::BTreeSet;

use super::{Body, CallKey, Item};

/// What dangles in a history that grows: an item costs what stands open at that moment, not what came before.
#[derive(Clone, Debug, Default)]
pub struct Loose {
    /// Open calls by key, with their positions: a key should stand once, but a history from elsewhere may repeat it.
    open: BTreeSet<(CallKey, usize)>,
    orphans: Vec<Option<CallKey>>,
    seen: usize,
}

impl Loose {
    /// What dangles behind a beginning of so many items in which nothing does.
    pub fn behind(items: usize) -> Loose {
        Loose { seen: items, ..Loose::default() }
    }

    /// Takes the history's next item. A result answers the last open call of its key.
    pub fn push(&mut self, item: &Item) {
        match item.body() {
            Body::Call(call) => {
                self.open.insert((call.key, self.seen));
            }
            Body::Result { key, .. } => {
                let answered = key.and_then(|key| self.open.range((key, 0)..=(key, usize::MAX)).next_back().copied());
                match answered {
                    Some(call) => {
                        self.open.remove(&call);
                    }
                    None => self.orphans.push(*key),
                }
            }
            _ => {}
        }
        self.seen += 1;
    }

    /// Whether nothing dangles.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.orphans.is_empty()
    }

    /// The keys of calls without a result, then those of results without a call, each in order.
    pub fn keys(&self) -> Vec<Option<CallKey>> {
        let mut unanswered: Vec<(usize, CallKey)> = self.open.iter().map(|&(key, at)| (at, key)).collect();
        unanswered.sort();
        unanswered.into_iter().map(|(_, key)| Some(key)).chain(self.orphans.iter().copied()).collect()
    }
}

/// The keys of calls without a result and of results without a call (before them), in order. Empty: nothing dangles.
pub fn dangling(items: &[Item]) -> Vec<Option<CallKey>> {
    let mut loose = Loose::default();
    items.iter().for_each(|item| loose.push(item));
    loose.keys()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Origin, ToolCall};

    /// `c1` a call, `r1` its result, `r?` a result of nothing.
    fn check(history: &str, expect: &[Option<u32>]) {
        let item = |word: &str| {
            let key = word[1..].parse().ok().map(CallKey);
            match (&word[..1], key) {
                ("c", Some(key)) => {
                    let call = ToolCall { key, id: String::new(), name: "t".into(), args: "{}".into(), intent: None, recorded: None };
                    Item::call(call)
                }
                _ => Item::new(Body::Result { key, parts: vec![], failed: false }, Origin::ToolResult),
            }
        };
        let items: Vec<Item> = history.split_whitespace().map(item).collect();
        let expect: Vec<Option<CallKey>> = expect.iter().map(|key| key.map(CallKey)).collect();
        assert_eq!(dangling(&items), expect, "{history}");
    }

    #[test]
    fn what_dangles_is_named_in_order() {
        check("", &[]);
        check("c1 c2 r2 r1", &[]);
        check("c2 c1", &[Some(2), Some(1)]);
        check("r1 c1", &[Some(1), Some(1)]);
        check("c1 r1 r1 r?", &[Some(1), None]);
        check("c1 c1 r1", &[Some(1)]);
    }
}
