//! What the client sends beside the history, as sizes: the base prompt, the developer bundle, usage hints, the mode, the
//! environment. They stand in the history as the client puts them there, so forks treat them as the rules say.

use crate::strategy::scaffold::Piece;
use crate::strategy::{Scope, Splice, ThreadId, View};
use crate::transcript::{Body, Content, Item, Origin, Role};

use super::profile::{Client, Profile};
use super::rollout::{Appended, Extent, Opening, TURN_CONTEXT};

/// The base prompt.
pub const BASE: &str = "codex/base";
/// The part of the developer bundle that lists skills.
pub const SKILLS: &str = "codex/skills";
/// The part of the developer bundle that tells what is permitted.
pub const PERMISSIONS: &str = "codex/permissions";
/// What tells the root how to use sub-agents.
pub const USAGE_HINT: &str = "codex/usage_hint";
/// What tells a child how to work as one.
pub const CHILD_USAGE_HINT: &str = "codex/child_usage_hint";
/// Which mode of sub-agents is on.
pub const MODE: &str = "codex/mode";
/// Folder, shell and system: a user message.
pub const ENVIRONMENT: &str = "codex/environment";
/// What tells a child that the history before it is another's.
pub const CHILD_NOTE: &str = "codex/child_note";

fn developer(pieces: &[Piece]) -> Item {
    Piece::message(Role::Developer, pieces)
}

impl Client {
    /// What the first turn of a thread begins with, behind what it inherits: its bundle, its hint, the mode, the
    /// environment, and the record of its settings.
    fn context(&self, root: bool) -> Vec<Item> {
        let agents = self.agents.map(|agents| [if root { agents.hint } else { agents.child_hint }, agents.mode]);
        let mut items = vec![developer(&self.bundle)];
        items.extend(agents.into_iter().flatten().map(|piece| developer(&[piece])));
        items.push(Piece::message(Role::User, &[self.environment]));
        items.push(settings());
        items
    }

    /// The same for a thread without any history: the base prompt stands first where it is a message.
    pub(super) fn new_thread(&self, root: bool) -> Vec<Item> {
        let base = self.base_is_message.then(|| developer(&[self.base]));
        base.into_iter().chain(self.context(root)).collect()
    }

    /// A view as the client sends it: the root's context stands in its history from its first request on.
    pub(super) fn dress(&self, mut view: View, history: &[Item], at: &Scope<'_>) -> View {
        let root = at.me().depth == 0;
        view.system = (!self.base_is_message).then(|| self.base.part());
        view.tools = if root { self.root_tools } else { self.child_tools }.measured(view.tools);
        if at.thread == ThreadId::ROOT && history.first().is_none_or(|item| item.origin != Origin::Scaffold) {
            view.splices.push(Splice { at: 0, remove: 0, items: self.new_thread(true), keep: true });
        }
        view
    }
}

/// The record of a turn's settings. No model reads it; forks do.
fn settings() -> Item {
    Item::new(Body::Context { kind: TURN_CONTEXT.into(), parts: vec![] }, Origin::Scaffold)
}

impl Profile {
    /// What a filtered fork's child is sent behind what it inherits, before its task.
    pub(super) fn behind_fork(&self, extent: Extent, opening: &Opening) -> Vec<Item> {
        let client = &self.client;
        let hint = opening.appended.contains(&Appended::Hint);
        let appended = client.agents.filter(|_| hint).map(|agents| developer(&[agents.child_hint]));
        let mut items: Vec<Item> = appended.into_iter().collect();
        if !opening.reference || (self.rebuilds && extent == Extent::Full) {
            items.extend(client.context(false));
            return items;
        }
        items.extend(client.agents.filter(|_| self.writes_mode && !tells_mode(&opening.items)).map(|agents| developer(&[agents.mode])));
        items.push(settings());
        items
    }

    /// The same behind a verbatim copy.
    pub(super) fn behind_copy(&self) -> Vec<Item> {
        let client = &self.client;
        let agents = client.agents.map(|agents| [agents.child_hint, agents.mode]);
        let pieces = client.child_note.into_iter().chain(agents.into_iter().flatten());
        pieces.map(|piece| developer(&[piece])).chain([settings()]).collect()
    }
}

/// Whether a part that tells the mode is among the items.
fn tells_mode(items: &[Item]) -> bool {
    let is_mode = |item: &Item| item.parts().iter().any(|part| matches!(part.content(), Content::Opaque { kind, .. } if kind == MODE));
    items.iter().any(is_mode)
}
