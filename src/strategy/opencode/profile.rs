//! What differs between versions, as data.

/// One version's facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name: the version of the npm package `opencode-ai`.
    pub name: &'static str,
    /// Parent links above a caller from which on it may not delegate (`subagent_depth`).
    pub depth: u32,
    /// Lines that a tool's output may have.
    pub max_lines: usize,
    /// Bytes of UTF-8 that a tool's output may have.
    pub max_bytes: usize,
    /// The folder for outputs that were cut.
    pub output_folder: &'static str,
}

/// Every profile, the default first.
pub const PROFILES: [Profile; 1] = [Profile {
    name: "1.18.33",
    depth: 1,
    max_lines: 2000,
    max_bytes: 51_200,
    // The real folder lies in the user's home; this one has a path of about that length.
    output_folder: "/home/user/.local/share/opencode/tool-output",
}];

impl Profile {
    /// The profile of this name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}
