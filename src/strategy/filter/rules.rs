//! The six rules, each usable alone.

use std::collections::BTreeSet;

use crate::transcript::{Body, CallKey, Item, Origin, Role};

use super::ROOM;
use super::pairs::{OpenCalls, partners, waiting};

/// The text of the result that [`placeholder`] makes up for a call in flight.
pub const PLACEHOLDER: &str = "No result yet: this call was still running when this history was copied.";

/// Leaves out the calls in flight and nothing else.
pub fn drop_call(items: &[Item], in_flight: &[CallKey], own: usize) -> Vec<Item> {
    let mut open = OpenCalls::default();
    let mut copy = Vec::with_capacity(items.len() + ROOM);
    for (at, item) in items.iter().enumerate() {
        match item.body() {
            Body::Call(call) => open.call(call.key, at),
            Body::Result { key: Some(key), .. } => _ = open.answer(*key),
            _ => {}
        }
        copy.push(item.inherited());
    }
    // Nearly always the last items alone, so that the others are not touched again.
    let gone: Vec<usize> = open.left().filter(|(key, at)| *at >= own || in_flight.contains(key)).map(|(_, at)| at).collect();
    if let Some(&first) = gone.first() {
        let tail = copy.split_off(first);
        copy.extend(tail.into_iter().zip(first..).filter(|(_, at)| gone.binary_search(at).is_err()).map(|(item, _)| item));
    }
    copy
}

/// Leaves out every assistant message of the turn in progress that made a call in flight: its text, its reasoning, all
/// its calls, and the results that some of them have. A message is the unbroken run of what the model wrote around the
/// call. Of a call in flight that stands before the turn in progress only the call goes.
pub fn pop_message(items: &[Item], in_flight: &[CallKey], own: usize) -> Vec<Item> {
    let partners = partners(items);
    let mut gone = waiting(items, &partners, in_flight, own);
    for at in gone.clone() {
        if at < own {
            continue;
        }
        // Records that no model reads neither break a message nor belong to it.
        let part = |item: &Item| wrote(item) || !item.is_sent();
        let before = (own..at).rev().take_while(|&at| part(&items[at]));
        let after = (at + 1..items.len()).take_while(|&at| part(&items[at]));
        for at in before.chain(after).filter(|&at| wrote(&items[at])) {
            gone.insert(at);
            gone.extend(partners[at]);
        }
    }
    without(items, &gone)
}

/// Cuts back to before the turn in progress: a prefix of the history. Of calls that stand there and are listed as in
/// flight, or have their result in the part that is cut away, the call goes too.
pub fn finished_turn(items: &[Item], in_flight: &[CallKey], own: usize) -> Vec<Item> {
    let own = own.min(items.len());
    let partners = partners(items);
    let mut gone = waiting(items, &partners, in_flight, own);
    gone.extend((0..own).filter(|&at| partners[at].is_some_and(|other| other >= own)));
    without(&items[..own], &gone)
}

/// Keeps everything and gives every call in flight a result, [`PLACEHOLDER`], where its result would stand: behind its
/// message (the unbroken run of what the model wrote), results in the order of their calls.
pub fn placeholder(items: &[Item], in_flight: &[CallKey], own: usize) -> Vec<Item> {
    let partners = partners(items);
    // Ascending, as the calls are: a later call's result never stands before an earlier one's.
    let mut made: Vec<(usize, Item)> = Vec::new();
    for call in waiting(items, &partners, in_flight, own) {
        let mut at = call + 1;
        while items.get(at).is_some_and(|item| wrote(item) || !item.is_sent()) {
            at += 1;
        }
        while let Some(item) = items.get(at) {
            match item.body() {
                Body::Result { .. } if partners[at].is_none_or(|other| other < call) => at += 1,
                Body::Context { .. } => at += 1,
                _ => break,
            }
        }
        if let Some(key) = items[call].as_call().map(|call| call.key) {
            made.push((at, Item::result(key, Origin::Inherited, PLACEHOLDER, false)));
        }
    }
    let mut copy = Vec::with_capacity(items.len() + made.len() + ROOM);
    let mut from = 0;
    for (at, result) in made {
        copy.extend(items[from..at].iter().map(Item::inherited));
        copy.push(result);
        from = at;
    }
    copy.extend(items[from..].iter().map(Item::inherited));
    copy
}

/// Leaves out every call and every result.
pub fn drop_tools(items: &[Item]) -> Vec<Item> {
    let is_tool = |item: &&Item| matches!(item.body(), Body::Call(_) | Body::Result { .. });
    items.iter().filter(|item| !is_tool(item)).map(Item::inherited).collect()
}

/// Keeps everything, calls in flight too: the copy dangles.
pub fn forward(items: &[Item]) -> Vec<Item> {
    items.iter().map(Item::inherited).collect()
}

/// What a model writes in a reply.
fn wrote(item: &Item) -> bool {
    matches!(item.body(), Body::Reasoning { .. } | Body::Call(_) | Body::Message { role: Role::Assistant, .. })
}

fn without(items: &[Item], gone: &BTreeSet<usize>) -> Vec<Item> {
    items.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, item)| item.inherited()).collect()
}
