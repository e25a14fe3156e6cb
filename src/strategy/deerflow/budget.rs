//! The budget of a tool's output (f1f4af9, `tool_output_budget_middleware.py`): a long result becomes a preview of a file,
//! or, where nothing can be stored, its two ends.

use crate::transcript::{CallKey, Digest};

use super::text::{TOOL, head_of, tail_of};

/// Characters that an output may have, and of which its preview is made.
const OUTPUT: usize = 12_000;
const PREVIEW_HEAD: usize = 2_000;
const PREVIEW_TAIL: usize = 1_000;
/// The same without storage.
const UNSTORED: usize = 30_000;
const UNSTORED_HEAD: usize = 8_000;
const UNSTORED_TAIL: usize = 3_000;

/// A path for the whole of a result. The product's has a hash of its own; this one is made of what is known, so that
/// equal runs have equal paths.
pub(super) fn result_path(call: CallKey) -> String {
    let hash = Digest::of(&format!("deerflow task {}", call.0));
    format!("/mnt/user-data/outputs/.tool-results/task-{hash}.txt")
}

/// What stays of a result that is too long; `None`: it fits. `path`: where the whole is stored; runs always have storage.
pub(crate) fn cut(text: &str, path: Option<&str>) -> Option<String> {
    let length = text.chars().count();
    match path {
        Some(path) if length > OUTPUT => Some(preview(text, length, path)),
        None if length > UNSTORED => Some(ends(text, length)),
        _ => None,
    }
}

fn preview(text: &str, length: usize, path: &str) -> String {
    let gone = length - PREVIEW_HEAD - PREVIEW_TAIL;
    format!(
        "The output of this tool was too long for the context: {length} characters. The whole of it is saved in {path}\nRead that file if \
         the part that is left out matters, and only the lines that you need. Below stand its beginning and its end.\n\n{}\n\n[... {gone} \
         characters left out; the whole is in {path} ...]\n\n{}",
        head_of(text, PREVIEW_HEAD),
        tail_of(text, length, PREVIEW_TAIL)
    )
}

/// Head and tail, at ends of lines where one is near.
fn ends(text: &str, length: usize) -> String {
    let mut head = head_of(text, UNSTORED_HEAD);
    if let Some(end) = head.rfind('\n').filter(|&end| head[..end].chars().count() >= UNSTORED_HEAD / 2) {
        head.truncate(end + 1);
    }
    let mut tail = tail_of(text, length, UNSTORED_TAIL);
    if let Some(end) = tail.find('\n').filter(|&end| tail[..end].chars().count() < UNSTORED_TAIL / 2) {
        tail.drain(..=end);
    }
    let gone = length - head.chars().count() - tail.chars().count();
    format!(
        "{head}\n\n[... {gone} characters of the output of {TOOL} left out: they could not be stored. Ask for less at a time. ...]\n\n{tail}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_without_storage_keep_their_ends() {
        assert_eq!(cut(&"ä".repeat(30_000), None), None);
        let shown = cut(&"ä".repeat(30_001), None).expect("it is too long");
        assert!(
            shown.starts_with(&format!("{}\n\n[... 19001 ", "ä".repeat(8_000))) && shown.ends_with(&format!("\n\n{}", "ä".repeat(3_000)))
        );
        let lines = "123456789\n".repeat(4_000);
        let shown = cut(&format!("x{lines}"), None).expect("it is too long");
        let (head, tail) = (shown.split("\n\n[").next().unwrap_or_default(), shown.rsplit("]\n\n").next().unwrap_or_default());
        assert!(head.ends_with("9\n") && tail.starts_with("123456789\n"), "cut at the ends of lines");
    }

    #[test]
    fn outputs_with_storage_become_previews() {
        assert_eq!(cut(&"a".repeat(12_000), Some("p")), None);
        let shown = cut(&"a".repeat(12_001), Some("/p")).expect("it is too long");
        assert!(shown.contains("saved in /p\n") && shown.ends_with(&format!("]\n\n{}", "a".repeat(1_000))));
    }
}
