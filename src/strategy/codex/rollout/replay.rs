//! The second layer: what the child's model sees of the lines that it got, before its context and its task.

use crate::transcript::{Part, Role};

use super::legacy::{fitting, summary, words};
use super::line::Mark;
use super::reconstruction::reconstruction;
use super::scrub::KeptPart;
use super::{Appended, Forked, Kept, KeptItem, Line, Remains, Response};

/// A replayed history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Its items, in order.
    pub visible: Vec<Visible>,
    /// Whether the settings of the last turn hold. If not, the child's first turn writes its whole context anew.
    pub reference: bool,
}

/// An item that the model sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visible {
    /// Where it comes from.
    pub source: Source,
    /// Its content; `None`: as it was.
    pub content: Option<Content>,
}

/// Where a visible item comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The parent's line.
    Line(usize),
    /// An item of the parent's checkpoint.
    Checkpoint {
        /// The checkpoint's line.
        line: usize,
        /// The item's position in it.
        item: usize,
    },
    /// The summary of a legacy checkpoint, as a user message.
    Summary(usize),
    /// A developer message that the fork added.
    Appended(Appended),
}

/// What a visible item holds in place of what it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// These parts.
    Parts(Vec<KeptPart>),
    /// This text alone.
    Text(Part),
}

/// An item of the history while it is replayed.
struct Entry<'a> {
    visible: Visible,
    mark: Mark,
    /// The parts of what a person said or a product said in a person's role; a summary has none.
    user: Option<&'a [Part]>,
}

#[derive(Default)]
struct History<'a> {
    entries: Vec<Entry<'a>>,
    /// Where turns begin.
    turns: Vec<usize>,
}

impl<'a> History<'a> {
    fn push(&mut self, entry: Entry<'a>) {
        if entry.mark == Mark::Turn {
            self.turns.push(self.entries.len());
        }
        self.entries.push(entry);
    }

    fn respond(&mut self, source: Source, response: &Response<'a>, parts: Option<&Vec<KeptPart>>) {
        let mark = match (response, parts) {
            (Response::Message { parts, .. }, Some(kept)) => {
                // Few parts, so that a copy of their pointers is nothing.
                let left: Vec<Part> = kept.iter().map(|one| one.text.clone().unwrap_or_else(|| parts[one.at].clone())).collect();
                Response::Message { role: Role::Developer, phase: None, parts: &left, envelope: None }.mark()
            }
            _ => response.mark(),
        };
        let user = match response {
            Response::Message { role: Role::User, parts, .. } => Some(*parts),
            _ => None,
        };
        self.push(Entry { visible: Visible { source, content: parts.cloned().map(Content::Parts) }, mark, user });
    }

    /// The whole history becomes the items that are left of a checkpoint, as they are.
    fn replace(&mut self, line: &Line<'a>, kept: &Kept) {
        let (Line::Checkpoint(checkpoint), Remains::Items(left)) = (line, &kept.remains) else { return };
        let items = checkpoint.replacement.unwrap_or_default();
        *self = History::default();
        for KeptItem { at: item, parts } in left {
            self.respond(Source::Checkpoint { line: kept.at, item: *item }, &items[*item], parts.as_ref());
        }
    }

    /// The whole history becomes what people said, and a summary. An earlier summary is nobody's words.
    fn summarise(&mut self, line: usize, message: &str) {
        let said: Vec<(Source, Option<Part>, &[Part])> = std::mem::take(&mut self.entries)
            .into_iter()
            .filter(|entry| entry.mark == Mark::Turn)
            .filter_map(|entry| {
                let text = match entry.visible.content {
                    Some(Content::Text(text)) => Some(text),
                    _ => None,
                };
                entry.user.map(|parts| (entry.visible.source, text, parts))
            })
            .collect();
        self.turns.clear();
        let texts = said.iter().map(|(_, text, parts)| text.as_ref().map_or_else(|| words(parts), |text| text.as_text().to_owned()));
        for (at, text) in fitting(texts.collect()) {
            let (source, _, parts) = said[at];
            let as_it_was = matches!(parts, [part] if *part == Part::from(text.as_str()));
            let content = (!as_it_was).then(|| Content::Text(text.into()));
            self.push(Entry { visible: Visible { source, content }, mark: Mark::Turn, user: Some(parts) });
        }
        let text = summary(message);
        let mark = Response::Message { role: Role::User, phase: None, parts: std::slice::from_ref(&text), envelope: None }.mark();
        self.push(Entry { visible: Visible { source: Source::Summary(line), content: Some(Content::Text(text)) }, mark, user: None });
    }

    /// So many of the newest turns go, each with what follows it, and the context that stands directly before them. What
    /// stands before the first turn stays.
    fn roll_back(&mut self, turns: u64) {
        let Some(&first) = self.turns.first() else { return };
        if turns == 0 {
            return;
        }
        let left = self.turns.len().saturating_sub(usize::try_from(turns).unwrap_or(usize::MAX));
        let mut cut = self.turns.get(left).copied().unwrap_or(first);
        while cut > first && self.entries[cut - 1].mark == Mark::Context {
            cut -= 1;
        }
        self.entries.truncate(cut);
        self.turns.truncate(left);
    }
}

/// Replays what a child got.
pub fn replay(lines: &[Line<'_>], forked: &Forked) -> Replayed {
    let begin = reconstruction(lines, forked);
    let mut history = History::default();
    let mut legacy = false;
    if let Some(base) = begin.base.and_then(|base| forked.kept.get(base)) {
        history.replace(&lines[base.at], base);
    }
    for kept in &forked.kept[begin.from..] {
        match &lines[kept.at] {
            Line::Response(response) if response.is_recorded() => {
                let parts = match &kept.remains {
                    Remains::Parts(parts) => Some(parts),
                    _ => None,
                };
                history.respond(Source::Line(kept.at), response, parts);
            }
            Line::Summary => {
                let visible = Visible { source: Source::Line(kept.at), content: None };
                history.push(Entry { visible, mark: Mark::Plain, user: None });
            }
            Line::Checkpoint(checkpoint) => match checkpoint.replacement {
                Some(_) => history.replace(&lines[kept.at], kept),
                None => {
                    legacy = true;
                    history.summarise(kept.at, checkpoint.message);
                }
            },
            Line::RolledBack(turns) => history.roll_back(*turns),
            _ => {}
        }
    }
    for &appended in &forked.appended {
        let visible = Visible { source: Source::Appended(appended), content: None };
        history.push(Entry { visible, mark: Mark::Plain, user: None });
    }
    Replayed { visible: history.entries.into_iter().map(|entry| entry.visible).collect(), reference: begin.reference && !legacy }
}
