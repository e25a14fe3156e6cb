//! The first layer: which lines of its parent's file a child gets.

use crate::transcript::{Part, Phase, Role};

use super::scrub::{KeptPart, Scrub, Scrubbed};
use super::{Checkpoint, Line, Response, last_turns};

/// How much of a history a fork is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Full,
    /// So many of its last turns.
    Last(u64),
}

/// Which generation of the sub-agent tools opens the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// `multi_agent_v1`: no usage hints, and a child never has instructions of its own.
    V1,
    /// `multi_agent_v2`.
    V2,
}

/// The developer instructions of parent and child.
#[derive(Clone, Copy, Debug, Default)]
pub struct Instructions<'a> {
    /// The parent's.
    pub parent: Option<&'a str>,
    /// The child's own; empty: it has none, not even its parent's. `None`: it keeps its parent's.
    pub child: Option<&'a str>,
    /// Whether the running parent holds the settings that its history was written with. Without them the child's
    /// instructions are not appended.
    pub reference: bool,
}

/// What a fork depends on besides the lines.
#[derive(Clone, Copy, Debug)]
pub struct Fork<'a> {
    /// Which tools open the child.
    pub generation: Generation,
    /// How much is handed down.
    pub extent: Extent,
    /// Whether the parent's file is read in pages.
    pub paginated: bool,
    /// Whether parts that tell the mode stay (release 0.145).
    pub keeps_mode: bool,
    /// The usage hints of the parent: as a root and as a sub-agent.
    pub hints: &'a [Part],
    /// The child's usage hint; `None`: it gets none.
    pub child_hint: Option<&'a Part>,
    /// Whose instructions hold.
    pub instructions: Instructions<'a>,
}

/// What a child gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forked {
    /// Lines of the parent, in order.
    pub kept: Vec<Kept>,
    /// Developer messages behind them, in order.
    pub appended: Vec<Appended>,
}

impl Forked {
    /// Everything, as the releases from 0.166 hand it down.
    pub fn everything(lines: &[Line<'_>], child_hint: Option<&Part>) -> Forked {
        let whole = |at: usize| match &lines[at] {
            Line::Checkpoint(Checkpoint { replacement: Some(items), .. }) => {
                Remains::Items((0..items.len()).map(|at| KeptItem { at, parts: None }).collect())
            }
            _ => Remains::Whole,
        };
        let kept = (0..lines.len()).map(|at| Kept { at, remains: whole(at) }).collect();
        Forked { kept, appended: child_hint.map(|_| Appended::Hint).into_iter().collect() }
    }
}

/// A line that a child gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its position in the parent's file.
    pub at: usize,
    /// What is left of it.
    pub remains: Remains,
}

/// What is left of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remains {
    /// All of it.
    Whole,
    /// A developer message with these parts.
    Parts(Vec<KeptPart>),
    /// A checkpoint that replaces the history by these of its items.
    Items(Vec<KeptItem>),
    /// A world state that does not say which usage hint was given.
    WithoutHint,
}

/// An item of a checkpoint that is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptItem {
    /// Its position in the checkpoint.
    pub at: usize,
    /// The parts that are left, where not all of them are as they were.
    pub parts: Option<Vec<KeptPart>>,
}

/// A developer message that the fork adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The child's own instructions, which no part of the history brought.
    Instructions,
    /// The child's usage hint.
    Hint,
}

/// Hands lines down.
pub fn fork(lines: &[Line<'_>], rule: &Fork<'_>) -> Forked {
    let from = match rule.extent {
        Extent::Full => 0,
        Extent::Last(turns) => lines.len() - last_turns(lines.iter().rev().copied(), turns),
    };
    let window = &lines[from..];
    // A child of the whole history goes on from its parent's settings, unless the newest checkpoint is a legacy one.
    let preserves = rule.extent == Extent::Full
        && window.iter().rev().find_map(|line| match line {
            Line::Checkpoint(checkpoint) => Some(checkpoint.replacement.is_some()),
            _ => None,
        }) != Some(false);
    let v2 = rule.generation == Generation::V2;
    let child = rule.instructions.child.filter(|_| v2);
    let parent = rule.instructions.parent.filter(|text| !text.is_empty());
    let scrub = Scrub {
        mode: !rule.keeps_mode,
        managed: !preserves,
        hints: if v2 { rule.hints } else { &[] },
        instructions: parent.zip(child).map(|(parent, child)| (parent, if preserves { child } else { "" })),
    };
    let mut found = false;
    let mut kept = Vec::new();
    for (line, at) in window.iter().zip(from..) {
        if !is_kept(line, preserves, rule.paginated) {
            continue;
        }
        let remains = match line {
            Line::Response(response) => remains_of(response, &scrub, &mut found).map(|parts| parts.map_or(Remains::Whole, Remains::Parts)),
            Line::Checkpoint(checkpoint) => Some(match checkpoint.replacement {
                None => Remains::Whole,
                Some(items) => {
                    // What stood before it is no longer read.
                    found = false;
                    let kept = items.iter().enumerate().filter_map(|(at, item)| {
                        let gone = matches!(item, Response::AgentMessage);
                        if gone { None } else { remains_of(item, &scrub, &mut found).map(|parts| KeptItem { at, parts }) }
                    });
                    Remains::Items(kept.collect())
                }
            }),
            Line::WorldState { hint: true } if v2 => Some(Remains::WithoutHint),
            _ => Some(Remains::Whole),
        };
        kept.extend(remains.map(|remains| Kept { at, remains }));
    }
    let mut appended = Vec::new();
    if preserves && !found && rule.instructions.reference && child.is_some_and(|text| !text.is_empty()) {
        appended.push(Appended::Instructions);
    }
    if preserves && v2 && rule.child_hint.is_some_and(|hint| *hint != Part::from("")) {
        appended.push(Appended::Hint);
    }
    Forked { kept, appended }
}

/// Which lines a fork keeps. `preserves`: the child goes on from its parent's settings.
fn is_kept(line: &Line<'_>, preserves: bool, paginated: bool) -> bool {
    match line {
        Line::Response(Response::Message { role, phase, .. }) => match role {
            Role::System | Role::Developer | Role::User => true,
            Role::Assistant => *phase == Some(Phase::FinalAnswer),
            Role::Tool => false,
        },
        Line::Response(Response::Notification) => true,
        Line::Response(Response::AgentMessage | Response::Unrecorded | Response::Other) => false,
        Line::TurnContext | Line::WorldState { .. } => preserves,
        Line::Paged => !paginated,
        Line::Checkpoint(_) | Line::Summary | Line::SessionMeta => true,
        Line::TurnStarted | Line::TurnComplete | Line::UserMessage | Line::RolledBack(_) | Line::Event => true,
        Line::Communication { .. } | Line::Delivery { .. } | Line::Mail { .. } | Line::RiskScore => false,
    }
}

/// What is left of an item: `None`: nothing; `Some(None)`: all of it.
fn remains_of(response: &Response<'_>, scrub: &Scrub<'_>, found: &mut bool) -> Option<Option<Vec<KeptPart>>> {
    let Response::Message { role: Role::Developer, parts, .. } = response else { return Some(None) };
    match scrub.message(parts, found) {
        Scrubbed::Whole => Some(None),
        Scrubbed::Nothing => None,
        Scrubbed::Parts(parts) => Some(Some(parts)),
    }
}
