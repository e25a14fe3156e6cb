//! Small random worlds: near-copies of short texts, forks, keys, scopes, slow and missing answers.

use std::cmp::Ordering;

use proptest::prelude::*;

use crate::cache::{Common, Kind, Lifetime, Segment, Texts};

/// A text as token ids: what it is, its letters, and an end, so that no segment's tokens begin another's.
pub(super) fn token_ids(piece: usize) -> Vec<u32> {
    let (kind, letters) = piece_of(piece);
    let mut ids = vec![100 + kind as u32];
    ids.extend(letters.bytes().map(u32::from));
    ids.push(1_000);
    ids
}

const KINDS: [Kind; 5] = [Kind::Tools, Kind::System, Kind::User, Kind::ToolUse, Kind::ToolResult];
const LETTERS: [&str; 8] = ["", "a", "ab", "aba", "abab", "abb", "b", "ba"];

fn piece_of(piece: usize) -> (Kind, &'static str) {
    (KINDS[piece / LETTERS.len()], LETTERS[piece % LETTERS.len()])
}

pub(super) fn kind_of(piece: usize) -> Kind {
    piece_of(piece).0
}

pub(super) fn segment(piece: usize) -> Segment {
    Segment { id: piece as u128, tokens: token_ids(piece).len() as u64, kind: kind_of(piece) }
}

/// Tokens that two arrays have in common.
pub(super) fn common_tokens(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The texts of the pieces.
pub(super) struct Pieces;

impl Texts for Pieces {
    fn common(&self, a: &Segment, b: &Segment) -> Common {
        let (left, right) = (token_ids(a.id as usize), token_ids(b.id as usize));
        let tokens = common_tokens(&left, &right) as u64;
        Common { tokens, bytes: tokens + 1, order: if a == b { Ordering::Equal } else { left.cmp(&right) } }
    }
}

/// One request of a world.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) pieces: Vec<usize>,
    pub(super) model: usize,
    pub(super) key: Option<usize>,
    /// Time since the request before.
    pub(super) pause: u64,
    /// Time to the first token; none: it never comes.
    pub(super) first_token: Option<u64>,
    pub(super) reply: Vec<usize>,
    /// Breakpoints by segment.
    pub(super) marks: Vec<(usize, Lifetime)>,
    /// Which earlier request it says to begin like, and how many segments fewer than in common it claims.
    pub(super) after: usize,
    pub(super) modest: usize,
}

/// What a request does to an earlier one's pieces.
#[derive(Clone, Debug)]
struct Edit {
    from: usize,
    keep: usize,
    replace: Option<usize>,
    add: Vec<usize>,
}

fn edit() -> impl Strategy<Value = Edit> {
    let replace = prop_oneof![3 => Just(None), 1 => (0..KINDS.len() * LETTERS.len()).prop_map(Some)];
    (0..8_usize, 0..12_usize, replace, prop::collection::vec(0..KINDS.len() * LETTERS.len(), 0..4))
        .prop_map(|(from, keep, replace, add)| Edit { from, keep, replace, add })
}

prop_compose! {
    fn step()(
        edit in edit(),
        model in prop_oneof![5 => Just(0), 1 => Just(1)],
        key in prop_oneof![3 => Just(None), 3 => Just(Some(0)), 1 => Just(Some(1))],
        pause in prop_oneof![Just(0), 0..30_u64],
        first_token in prop_oneof![6 => (0..12_u64).prop_map(Some), 1 => (30..60_u64).prop_map(Some), 1 => Just(None)],
        reply in prop::collection::vec(0..KINDS.len() * LETTERS.len(), 0..3),
        marks in prop::collection::vec(0..14_usize, 0..4),
        long in 0..4_usize,
        after in 0..8_usize,
        modest in prop_oneof![4 => Just(0), 1 => 0..4_usize],
    ) -> (Edit, Step, usize, Vec<usize>) {
        (edit, Step { pieces: vec![], model, key, pause, first_token, reply, marks: vec![], after, modest }, long, marks)
    }
}

/// A world: requests that grow out of one another.
pub(super) fn world() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..24).prop_map(|edits| {
        let mut steps: Vec<Step> = vec![];
        for (edit, mut step, long, mut places) in edits {
            let back = edit.from.min(steps.len());
            let mut pieces = if back == 0 { vec![] } else { steps[steps.len() - back].pieces.clone() };
            if edit.keep < 8 {
                // Most requests go on; some are cut.
                if edit.keep < 3 {
                    pieces.truncate(edit.keep * 2);
                }
            }
            if let (Some(piece), false) = (edit.replace, pieces.is_empty()) {
                let at = edit.keep % pieces.len();
                pieces[at] = piece;
            }
            pieces.extend(edit.add);
            places.iter_mut().for_each(|place| *place = place.wrapping_add(pieces.len().saturating_sub(10)));
            places.retain(|&place| place < pieces.len());
            places.sort_unstable();
            places.dedup();
            step.marks = places.iter().enumerate().map(|(n, &at)| (at, if n < long { Lifetime::Long } else { Lifetime::Short })).collect();
            step.pieces = pieces;
            steps.push(step);
        }
        steps
    })
}
