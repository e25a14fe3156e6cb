//! What the client was measured to send beside the history (1.18.33): a child of the general type has its parent's
//! system text. Tools as in a chat request; the numbers are those of a configuration that lets children delegate.

use crate::strategy::View;
use crate::strategy::scaffold::{Piece, Tools};

const SYSTEM: Piece = Piece { kind: "opencode/system", chars: 11_706, tokens: 2_529 };
const ROOT_TOOLS: Tools = Tools { count: 10, tokens: 5_014 };
const CHILD_TOOLS: Tools = Tools { count: 9, tokens: 4_360 };

/// A view with the client's sizes.
pub(super) fn dress(view: &mut View, root: bool) {
    view.system = Some(SYSTEM.part());
    view.tools = if root { ROOT_TOOLS } else { CHILD_TOOLS }.measured(std::mem::take(&mut view.tools));
}
