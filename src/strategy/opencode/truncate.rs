//! The cut that every tool output goes through. The whole output counts, wrapper included, so a long report loses its
//! closing tags.

use super::profile::Profile;

/// What stays of an output that is too large, with the notice that names the file of the whole; `None`: it fits.
/// `delegates`: whether the caller's agent may hand the file to another.
pub(super) fn truncate(output: &str, profile: &Profile, path: &str, delegates: bool) -> Option<String> {
    let lines: Vec<&str> = output.split('\n').collect();
    if lines.len() <= profile.max_lines && output.len() <= profile.max_bytes {
        return None;
    }
    let mut kept = 0;
    let mut bytes = 0;
    let mut by_bytes = false;
    for line in lines.iter().take(profile.max_lines) {
        // The break before every line but the first counts.
        let size = line.len() + usize::from(kept > 0);
        if bytes + size > profile.max_bytes {
            by_bytes = true;
            break;
        }
        bytes += size;
        kept += 1;
    }
    let (gone, unit) = if by_bytes { (output.len() - bytes, "bytes") } else { (lines.len() - kept, "lines") };
    let kept = lines[..kept].join("\n");
    let hint = if delegates { DELEGATE } else { LOOK };
    Some(format!(
        "{kept}\n\n...{gone} {unit} truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: \
         {path}\n{hint}"
    ))
}

/// The hint for a caller that delegates; its second sentence is this project's.
const DELEGATE: &str = "Use the Task tool to have explore agent process this file with Grep and Read (with offset/limit). Leave the whole \
     file to it: reading it yourself would fill your own context.";

/// The hint for one that does not.
const LOOK: &str = "Use Grep to search the full content or Read with offset/limit to view specific sections.";
