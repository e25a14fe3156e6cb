//! The import report: everything that was read, and everything that could not be.

use std::collections::BTreeMap;

use serde::Serialize;

/// What an import met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Files that were read as recordings, files beside them included.
    pub files: u64,
    /// Physical lines of them.
    pub lines: u64,
    /// Lines of which something was lost.
    pub bad_lines: Vec<BadLine>,
    /// Records of a type that this importer does not know, by type.
    pub unknown_types: BTreeMap<String, u64>,
    /// Records left out because the same record had been taken.
    pub duplicates: u64,
    /// Records that point at a record found nowhere, and results without a call.
    pub orphans: u64,
    /// Calls of the own parts without a result.
    pub unanswered_calls: u64,
    /// Records won from a damaged line.
    pub salvaged: u64,
    /// Responses whose usage is missing or zero: estimated.
    pub estimated_usage: u64,
    /// Images, documents, encrypted reasoning and blocks of unknown kind: kept, their tokens unknown.
    pub opaque_items: u64,
    /// Files that are no recording of a known format.
    pub skipped_files: Vec<SkippedFile>,
    /// How every line was accounted for.
    #[serde(skip)]
    pub account: Account,
}

/// Every line has one of three fates, every record one of four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Lines without content.
    pub blank_lines: u64,
    /// Lines that gave at least one record.
    pub record_lines: u64,
    /// Lines that gave none: each is among the bad lines.
    pub lost_lines: u64,
    /// Records that are part of a conversation.
    pub conversation: u64,
    /// Records of a known type beside the conversation.
    pub beside: u64,
    /// Records of an unknown type.
    pub unknown: u64,
    /// All records.
    pub records: u64,
}

/// A line of which something was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// What is wrong with it.
    pub why: String,
}

/// A file that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedFile {
    /// The file.
    pub file: String,
    /// Why not.
    pub why: String,
}
