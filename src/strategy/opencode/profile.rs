//! What differs between versions, as data.

use crate::strategy::scaffold::{Piece, Tools};

use super::text::TOOL;

/// One version's facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name: the version of the npm package `opencode-ai`, or the commit of anomalyco/opencode.
    pub name: &'static str,
    /// Parent links above a caller from which on it may not delegate, if the configuration does not say
    /// (`subagent_depth`); `None`: there is no such limit.
    pub depth: Option<u32>,
    /// How a result is wrapped.
    pub wrapper: Wrapper,
    /// Whether a call may return at once.
    pub background: bool,
    /// Whether a child's error, or a failed tool of its last message, fails the call; else its last text is all.
    pub surfaces_failures: bool,
    /// Whether a child's session inherits rules of its parent's.
    pub inherits: bool,
    /// What a child's session is denied, in order, before the primary tools.
    pub denied: &'static [Denied],
    /// Whether a child inherits its caller's variant of the model.
    pub variants: bool,
    /// Lines that a tool's output may have.
    pub max_lines: usize,
    /// Bytes of UTF-8 that a tool's output may have.
    pub max_bytes: usize,
    /// The folder for outputs that were cut.
    pub output_folder: &'static str,
    /// What it was measured to send beside history; `None`: it was not measured.
    pub scaffold: Option<Scaffold>,
}

/// What a request holds beside history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaffold {
    /// The system text: one message, the same for a root and for a child of the agent `general`.
    pub system: Piece,
    /// A root's tools.
    pub root: Tools,
    /// A child's tools.
    pub child: Tools,
}

/// The frame around a child's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapper {
    /// `<task id="..." state="...">` with a result or an error in it.
    Task,
    /// A line with the id, then the result in its tag.
    IdLine,
}

/// A tool that a child's session is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The tool's permission.
    pub tool: &'static str,
    /// Left out where the child's agent has a rule of that name.
    pub unless_named: bool,
}

// The real folder lies in the user's home; this one has a path of about that length.
const OUTPUT_FOLDER: &str = "/home/user/.local/share/opencode/tool-output";

/// Every profile, the default first.
///
/// `005201e` is read in the one file `tool/task.ts` of that commit; what that file does not say (argument faults, the
/// permission question, the cut of long outputs) is assumed to be as in 1.18.33. Its list of denies is what the session
/// holds once the child is prompted.
pub const PROFILES: [Profile; 2] = [
    Profile {
        name: "1.18.33",
        depth: Some(1),
        wrapper: Wrapper::Task,
        background: true,
        surfaces_failures: true,
        inherits: true,
        denied: &[Denied { tool: "todowrite", unless_named: true }, Denied { tool: TOOL, unless_named: true }],
        variants: true,
        max_lines: 2000,
        max_bytes: 51_200,
        output_folder: OUTPUT_FOLDER,
        // Over chat completions, with `task` allowed by the configuration, so that a child is shown it. Over Anthropic's
        // API the tools are 4,925 and 4,280 tokens.
        scaffold: Some(Scaffold {
            system: Piece { kind: "opencode/system", chars: 11_706, tokens: 2_529 },
            root: Tools { count: 10, tokens: 5_014 },
            child: Tools { count: 9, tokens: 4_360 },
        }),
    },
    Profile {
        name: "005201e",
        depth: None,
        wrapper: Wrapper::IdLine,
        background: false,
        surfaces_failures: false,
        inherits: false,
        denied: &[
            Denied { tool: "todowrite", unless_named: false },
            Denied { tool: "todoread", unless_named: false },
            Denied { tool: TOOL, unless_named: true },
        ],
        variants: false,
        max_lines: 2000,
        max_bytes: 51_200,
        output_folder: OUTPUT_FOLDER,
        scaffold: None,
    },
];

impl Profile {
    /// The profile of this name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}
