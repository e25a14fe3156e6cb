//! What the Read tool says of a file or a folder: a prompt's mentions go through it.
//!
//! Limits and texts are read in 1.18.33. What a binary file, an image and a PDF come to, and the text of instructions
//! beside a file, are read in `tool/read.ts` and `session/instruction.ts` of a source near it.

use super::locale;
use super::path::{Place, parent};

/// Lines of a file, and names of a folder, that are shown.
const LINES: usize = 2000;
/// UTF-16 units of a line.
const LINE_UNITS: usize = 2000;
/// Bytes of all lines together.
const BYTES: usize = 50 * 1024;

/// What came of reading a file.
pub(super) enum Output {
    /// Its text, with numbers.
    Text(String),
    /// It is handed over as it is: what the tool says, and the media type.
    Attachment(String, &'static str),
}

/// A text file with its lines numbered from 1, an image or a PDF; the error is what the tool fails with.
pub(super) fn file(path: &str, text: &str) -> Result<Output, String> {
    if let Some((kind, mime)) = media(path) {
        return Ok(Output::Attachment(format!("{kind} read successfully"), mime));
    }
    if is_binary(path, text) {
        return Err(format!("Cannot read binary file: {path}"));
    }
    let lines = lines(text);
    let mut shown: Vec<String> = Vec::new();
    let mut bytes = 0;
    let mut capped = false;
    for line in lines.iter().take(LINES) {
        let line = cut(line);
        bytes += line.len() + usize::from(!shown.is_empty());
        if bytes > BYTES {
            capped = true;
            break;
        }
        shown.push(format!("{}: {line}", shown.len() + 1));
    }
    let (last, next) = (shown.len(), shown.len() + 1);
    let end = match (capped, lines.len()) {
        (true, _) => format!("(Output capped at 50 KB. Showing lines 1-{last}. Use offset={next} to continue.)"),
        (false, all) if all > last => format!("(Showing lines 1-{last} of {all}. Use offset={next} to continue.)"),
        (false, all) => format!("(End of file - total {all} lines)"),
    };
    Ok(Output::Text(format!("<path>{path}</path>\n<type>file</type>\n<content>\n{}\n\n{end}\n</content>", shown.join("\n"))))
}

/// The names in a folder, in the order of the locale.
pub(super) fn folder(path: &str, names: impl IntoIterator<Item = String>) -> String {
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by(|one, other| locale::compare(one, other));
    let all = names.len();
    names.truncate(LINES);
    let end = match all > LINES {
        true => format!("(Showing {LINES} of {all} entries. Use 'offset' parameter to read beyond entry {})", LINES + 1),
        false => format!("({all} entries)"),
    };
    format!("<path>{path}</path>\n<type>directory</type>\n<entries>\n{}\n\n{end}\n</entries>", names.join("\n"))
}

/// Instruction files in the folders between a file and the worktree, the nearest first, as one reminder behind the file's
/// text. The worktree's own stands in the system text. `told`: those that a message has brought already.
pub(super) fn instructions(path: &str, place: &Place<'_>, told: &mut Vec<String>) -> String {
    let inside = format!("{}/", place.worktree);
    let mut found = Vec::new();
    let mut folder = parent(path);
    while folder.starts_with(&inside) {
        let names = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"].map(|name| format!("{folder}/{name}"));
        let first = names.into_iter().find_map(|name| place.file(&name).map(|text| (name, text)));
        if let Some((name, text)) = first
            && name != path
            && !told.contains(&name)
        {
            if !text.is_empty() {
                found.push(format!("Instructions from: {name}\n{text}"));
            }
            told.push(name);
        }
        folder = parent(folder);
    }
    if found.is_empty() { String::new() } else { format!("\n\n<system-reminder>\n{}\n</system-reminder>", found.join("\n\n")) }
}

/// The lines of a text: any line break ends one, and nothing stands behind the last break.
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\r']) {
        lines.push(&rest[..at]);
        rest = rest[at..].strip_prefix("\r\n").unwrap_or(&rest[at + 1..]);
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// A line within its limit. A character of two units that the cut goes through is lost, and its replacement is sent.
fn cut(line: &str) -> String {
    let mut units = 0;
    for (at, c) in line.char_indices() {
        units += c.len_utf16();
        if units > LINE_UNITS {
            let half = if units - c.len_utf16() < LINE_UNITS { "\u{fffd}" } else { "" };
            return format!("{}{half}... (line truncated to {LINE_UNITS} chars)", &line[..at]);
        }
    }
    line.to_owned()
}

/// A path's extension in small letters.
fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

/// What a model is handed as it is, by extension.
fn media(path: &str) -> Option<(&'static str, &'static str)> {
    match extension(path).as_str() {
        "png" => Some(("Image", "image/png")),
        "jpg" | "jpeg" => Some(("Image", "image/jpeg")),
        "gif" => Some(("Image", "image/gif")),
        "webp" => Some(("Image", "image/webp")),
        "bmp" => Some(("Image", "image/bmp")),
        "avif" => Some(("Image", "image/avif")),
        "tif" | "tiff" => Some(("Image", "image/tiff")),
        "pdf" => Some(("PDF", "application/pdf")),
        _ => None,
    }
}

/// Whether a file is no text: by extension, by a zero byte, or by many control characters at its beginning.
fn is_binary(path: &str, text: &str) -> bool {
    const BINARY: [&str; 28] = [
        "zip", "tar", "gz", "exe", "dll", "so", "class", "jar", "war", "7z", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods",
        "odp", "bin", "dat", "obj", "o", "a", "lib", "wasm", "pyc", "pyo",
    ];
    if BINARY.contains(&extension(path).as_str()) {
        return true;
    }
    let head = &text.as_bytes()[..text.len().min(4096)];
    let odd = head.iter().filter(|&&byte| byte < 9 || (byte > 13 && byte < 32)).count();
    head.contains(&0) || odd * 10 > head.len() * 3
}
