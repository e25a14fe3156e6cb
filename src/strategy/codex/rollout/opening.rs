//! Forks of a transcript: what a child opens with in a run.

use crate::transcript::{Body, Item, Origin, Part, Role};

use super::{Appended, Content, Extent, Fork, KeptPart, Line, Source, Visible, fork, last_turns, replay};

/// What a child inherits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The items that its model sees, in order.
    pub items: Vec<Item>,
    /// Developer messages that the fork adds behind them.
    pub appended: Vec<Appended>,
    /// Whether it goes on from its parent's settings. If not, it writes its whole context anew.
    pub reference: bool,
}

/// What a fork of a transcript opens with. Text is never copied; of last turns nothing older is looked at.
pub fn opening(items: &[Item], rule: &Fork<'_>) -> Opening {
    let window = match rule.extent {
        Extent::Full => items,
        Extent::Last(turns) => &items[items.len() - last_turns(items.iter().rev().map(Line::of), turns)..],
    };
    let lines: Vec<Line<'_>> = window.iter().map(Line::of).collect();
    let forked = fork(&lines, rule);
    let replayed = replay(&lines, &forked);
    let items = replayed.visible.iter().filter_map(|visible| inherited(window, visible)).collect();
    Opening { items, appended: forked.appended, reference: replayed.reference }
}

/// The item that a child sees; `None` for what no transcript holds.
fn inherited(items: &[Item], visible: &Visible) -> Option<Item> {
    let Source::Line(at) = visible.source else { return None };
    let item = items.get(at)?;
    let (role, parts) = match &visible.content {
        None => return Some(item.inherited()),
        Some(Content::Parts(kept)) => (Role::Developer, kept.iter().filter_map(|part| part_of(item, part)).collect()),
        Some(Content::Text(text)) => (Role::User, vec![text.clone()]),
    };
    let phase = match item.body() {
        Body::Message { phase, .. } => *phase,
        _ => None,
    };
    let left = Item::new(Body::Message { role, phase, parts }, Origin::Inherited);
    Some(if item.hidden { left.hide() } else { left })
}

fn part_of(item: &Item, kept: &KeptPart) -> Option<Part> {
    kept.text.clone().or_else(|| item.parts().get(kept.at).cloned())
}
