//! What the product was measured to send beside history (f1f4af9, one run): root and child.

use crate::strategy::View;
use crate::strategy::scaffold::{Piece, Tools};

const SYSTEM: &str = "deerflow/system";

const ROOT: Piece = Piece { kind: SYSTEM, chars: 18_159, tokens: 3_937 };
/// While there is a ledger: the contract on it stands at the end.
const ROOT_WITH_LEDGER: Piece = Piece { kind: SYSTEM, chars: 18_484, tokens: 3_993 };
const ROOT_TOOLS: Tools = Tools { count: 6, tokens: 2_783 };

const CHILD: Piece = Piece { kind: SYSTEM, chars: 2_470, tokens: 552 };
const CHILD_TOOLS: Tools = Tools { count: 2, tokens: 527 };

/// The root's view, with the product's sizes.
pub(super) fn root(view: &mut View, has_ledger: bool) {
    put(view, if has_ledger { ROOT_WITH_LEDGER } else { ROOT }, ROOT_TOOLS);
}

/// A child's view, with the product's sizes.
pub(super) fn child(view: &mut View) {
    put(view, CHILD, CHILD_TOOLS);
}

fn put(view: &mut View, system: Piece, tools: Tools) {
    view.system = Some(system.part());
    view.tools = tools.measured(std::mem::take(&mut view.tools));
}
