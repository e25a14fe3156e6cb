//! What the product was measured to send beside history (f1f4af9, one run): root and child.

use crate::strategy::View;
use crate::strategy::scaffold::{Piece, Tools};

use super::text;

const SYSTEM: &str = "deerflow/system";

const ROOT: Piece = Piece { kind: SYSTEM, chars: 18_159, tokens: 3_937 };
/// While there is a ledger: the contract on it stands at the end.
const ROOT_WITH_LEDGER: Piece = Piece { kind: SYSTEM, chars: 18_484, tokens: 3_993 };
const ROOT_TOOLS: Tools = Tools { count: 6, tokens: 2_783 };

const CHILD: Piece = Piece { kind: SYSTEM, chars: 2_470, tokens: 552 };
/// The note on a snapshot, by its stated length, and the pointer to criteria, by the words here.
const NOTE_TOKENS: u32 = 116;
const POINTER_TOKENS: u32 = 79;
const CHILD_TOOLS: Tools = Tools { count: 2, tokens: 527 };

/// The root's view, with the product's sizes.
pub(super) fn root(view: &mut View, has_ledger: bool) {
    put(view, if has_ledger { ROOT_WITH_LEDGER } else { ROOT }, ROOT_TOOLS);
}

/// A child's view, with the product's sizes: what the note on a snapshot and the pointer to criteria add to its system text
/// was not on the wire, and is as long as the words here that stand for them.
pub(super) fn child(view: &mut View, notes: &[&str]) {
    let tokens = |note: &str| if note == text::SNAPSHOT_NOTE { NOTE_TOKENS } else { POINTER_TOKENS };
    // Notes are a few hundred characters.
    let chars: u32 = notes.iter().map(|note| note.chars().count() as u32).sum();
    let system = Piece { chars: CHILD.chars + chars, tokens: CHILD.tokens + notes.iter().map(|note| tokens(note)).sum::<u32>(), ..CHILD };
    put(view, system, CHILD_TOOLS);
}

fn put(view: &mut View, system: Piece, tools: Tools) {
    view.system = Some(system.part());
    view.tools = tools.measured(std::mem::take(&mut view.tools));
}
