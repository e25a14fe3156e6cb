//! What a thread holds: parts, items, origins and turns. Nothing here knows of tokens, strategies or clocks.
//!
//! A [`Part`] is the unit that is stored once and counted once; an [`Item`] is one entry of a thread and shares its
//! [`Body`], so a fork copies pointers. The words are those of the field: see `ARCHITECTURE.md`, "Words".

mod call;
mod dangling;
mod heard;
mod item;
mod part;
mod tool;
mod turn;

pub use call::{CallKey, Recorded, ToolCall, normalised_arguments};
pub use dangling::{Loose, dangling};
pub use heard::{Heard, Outcome, heard};
pub use item::{Body, BodyWeight, Handle, Item, Means, Name, Origin, Phase, Role};
pub use part::{Content, Digest, Part, PartWeight};
pub use tool::{ToolName, ToolSpec};
pub use turn::{Turns, turns};
