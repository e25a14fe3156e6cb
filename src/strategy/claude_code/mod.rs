//! `claude-code`: Claude Code's `Agent` tool, as `@anthropic-ai/claude-code` 2.1.197 was seen to behave on the wire.
//!
//! Seen, in runs of that version against a local server: the call (`description`, `prompt`, `subagent_type`,
//! `run_in_background`); that an isolated child opens with its own system prompt and one user message of reminder, date
//! and prompt; the two blocks of a foreground result; that a background call is acknowledged at once and its result
//! comes in a `<task-notification>` of the user's role; that a fork opens with its parent's whole history, whose last
//! reply is reduced to the call, a placeholder for its result, and a directive; what it all weighs.
//!
//! Assumed, since neither runs nor documents settle it: every refusal and its words; that further calls of the reply
//! that forks are left out with its text; that a fork starts no fork; nesting down to five; what `SendMessage` answers,
//! and that what it brings about is told in a notification; that user input during a turn is read before its next
//! request; what stands in place of an empty report; that reminder and date stand in a thread's first turn alone.
//!
//! Fixed words that were seen are literal; longer prose is this project's own, of about the measured length. Not here:
//! permissions, hooks, memory files, skills, task lists, compaction.

mod arguments;
mod scaffold;
mod session;
mod text;

use super::{RunContext, Session, Strategy};

use session::ClaudeCodeSession;

/// Every profile, the default first: versions of the npm package.
pub const PROFILES: [&str; 1] = ["2.1.197"];

/// What a simulated or held agent asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A child of some type that knows its prompt alone.
    #[default]
    Isolated,
    /// A fork: the product's flag for them is set, and every call asks for one.
    Fork,
}

impl Mode {
    /// Every mode, the default first.
    pub const ALL: [Mode; 2] = [Mode::Isolated, Mode::Fork];

    /// Its name in strategy specs.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Isolated => "isolated",
            Mode::Fork => "fork",
        }
    }

    /// The mode of this name.
    pub fn named(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// Claude Code.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClaudeCode {
    /// What calls ask for.
    pub mode: Mode,
    /// Whether calls ask to be run in the background; a fork always is.
    pub background: bool,
}

impl Strategy for ClaudeCode {
    fn id(&self) -> String {
        let background = self.background.then(|| "background=true".to_owned());
        let mode = (self.mode != Mode::default()).then(|| format!("mode={}", self.mode.name()));
        let options: Vec<String> = background.into_iter().chain(mode).collect();
        let mark = if options.is_empty() { "" } else { ":" };
        format!("claude-code@{}{mark}{}", PROFILES[0], options.join(","))
    }

    fn hands_history_down(&self) -> bool {
        self.mode == Mode::Fork
    }

    fn has_scaffold(&self) -> bool {
        true
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(ClaudeCodeSession::new(*self, run.clone()))
    }
}
