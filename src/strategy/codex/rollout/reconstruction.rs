//! What a replay finds out from the newest line back: where the history begins, and whether the settings of its last turn
//! still hold.
//!
//! Faithful to its oddities: a rollback skips whole segments, those too that have not ended when it is read, and a
//! checkpoint in a skipped segment still cuts off what stands before it.

use super::line::{Checkpoint, Mark};
use super::{Forked, Line};

/// The result.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reconstruction {
    /// The kept line whose checkpoint the history begins with, by position among the kept ones.
    pub base: Option<usize>,
    /// The first kept line that is replayed.
    pub from: usize,
    /// Whether settings hold, unless a legacy checkpoint is among the replayed lines.
    pub reference: bool,
}

/// What is known of the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Settings {
    #[default]
    Unknown,
    /// A checkpoint came after the last of them.
    Cleared,
    Hold,
}

/// Lines between two starts of turns, read backwards.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    /// It has a turn.
    turn: bool,
    settings: Settings,
    /// It has a `turn_context`.
    context: bool,
    base: Option<usize>,
}

#[derive(Default)]
struct Scan {
    found: Reconstruction,
    settings: Settings,
    /// A segment with a turn and a `turn_context` was among the living.
    context: bool,
    /// Turns that are still to be skipped.
    skip: u64,
    open: Option<Segment>,
}

impl Scan {
    fn end_segment(&mut self) {
        let Some(segment) = self.open.take() else { return };
        if self.skip > 0 {
            self.skip -= u64::from(segment.turn);
            return;
        }
        self.found.base = self.found.base.or(segment.base);
        self.context |= segment.turn && segment.context;
        if self.settings == Settings::Unknown && (segment.turn || segment.settings == Settings::Cleared) {
            self.settings = segment.settings;
        }
    }

    fn read(&mut self, at: usize, line: &Line<'_>) {
        match line {
            Line::RolledBack(turns) => self.skip = self.skip.saturating_add(*turns),
            Line::TurnStarted => self.end_segment(),
            Line::Checkpoint(Checkpoint { replacement, .. }) => {
                let segment = self.open.get_or_insert_default();
                if segment.settings == Settings::Unknown {
                    segment.settings = Settings::Cleared;
                }
                if segment.base.is_none() && replacement.is_some() {
                    segment.base = Some(at);
                    self.found.from = at + 1;
                }
            }
            Line::TurnContext => {
                let segment = self.open.get_or_insert_default();
                segment.context = true;
                if segment.settings == Settings::Unknown {
                    segment.settings = Settings::Hold;
                }
            }
            Line::UserMessage | Line::Communication { .. } => self.open.get_or_insert_default().turn = true,
            Line::Response(response) => self.open.get_or_insert_default().turn |= response.mark() == Mark::Turn,
            Line::TurnComplete | Line::WorldState { .. } | Line::Summary => {
                self.open.get_or_insert_default();
            }
            Line::SessionMeta | Line::Delivery { .. } | Line::Mail { .. } | Line::RiskScore | Line::Paged | Line::Event => {}
        }
    }
}

/// Reads what a child got, from its end.
pub(super) fn reconstruction(lines: &[Line<'_>], forked: &Forked) -> Reconstruction {
    let mut scan = Scan::default();
    if !forked.appended.is_empty() {
        // Developer messages: they belong to the newest segment, and no turn begins with them.
        scan.open = Some(Segment::default());
    }
    for (at, kept) in forked.kept.iter().enumerate().rev() {
        scan.read(at, &lines[kept.at]);
        // What is older can change nothing any more.
        if scan.found.base.is_some() && scan.context && scan.settings != Settings::Unknown {
            break;
        }
    }
    scan.end_segment();
    Reconstruction { reference: scan.settings == Settings::Hold, ..scan.found }
}
