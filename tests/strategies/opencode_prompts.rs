//! What a prompt's mentions become, beyond what the vectors hold: the Read tool's limits, instructions, attachments.

use std::collections::BTreeMap;

use ctxbench::strategy::opencode::{Configuration, UserPart};
use ctxbench::strategy::{OpenCode, ThreadId};
use ctxbench::transcript::{CallKey, Content, Part};

use crate::hand::{Tree, call, run};

/// The parts that a prompt becomes, among these files.
fn parts(prompt: &str, files: &[(&str, String)]) -> Vec<UserPart> {
    let configuration = Configuration { worktree: "/w".into(), home: "/h".into(), ..Configuration::of_scenarios() };
    let mut session = OpenCode { configuration, ..OpenCode::default() }.session(&run());
    let mut tree = Tree::new("lead");
    tree.files = files.iter().map(|(path, text)| ((*path).to_owned(), text.clone())).collect::<BTreeMap<_, _>>();
    let args = serde_json::json!({"description": "d", "prompt": prompt, "subagent_type": "explorer"});
    let call = call(7, "task", &args.to_string());
    tree.route(&mut session, ThreadId::ROOT, &call);
    session.prompt_of(CallKey(7)).map_or_else(|| vec![UserPart::Text { text: prompt.into(), synthetic: false }], <[UserPart]>::to_vec)
}

/// The second text behind a prompt that is one mention: what the Read tool gave.
fn read(mention: &str, files: &[(&str, String)]) -> String {
    match &parts(mention, files)[2] {
        UserPart::Text { text, synthetic: true } => text.as_text().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn check_end(text: String, shown: usize, end: &str) {
    let read = read("@f", &[("f", text)]);
    let body = read.strip_prefix("<path>/w/f</path>\n<type>file</type>\n<content>\n").expect("it is a file");
    let (lines, rest) = body.rsplit_once("\n\n").expect("a blank line stands before the end");
    assert_eq!(rest, format!("({end})\n</content>"));
    assert_eq!(lines.split('\n').count(), shown);
}

#[test]
fn a_file_is_shown_within_limits() {
    check_end("x\n".repeat(2000), 2000, "End of file - total 2000 lines");
    check_end("x\n".repeat(2001), 2000, "Showing lines 1-2000 of 2001. Use offset=2001 to continue.");
    // 25 lines of 2,047 bytes and their 24 breaks are 51,199 bytes; numbers do not count.
    let lines = |first: usize| format!("{}\n{}\n", "é".repeat(first), vec!["é".repeat(1023) + "x"; 24].join("\n"));
    check_end(lines(1024), 25, "End of file - total 25 lines");
    check_end(lines(1025), 24, "Output capped at 50 KB. Showing lines 1-24. Use offset=25 to continue.");
    // Bytes are named also where there are too many lines.
    check_end(
        format!("{}\n", "y".repeat(100)).repeat(3000),
        506,
        "Output capped at 50 KB. Showing lines 1-506. Use offset=507 to continue.",
    );
    // Any line break ends a line.
    check_end("a\r\nb\rc\n\nd".into(), 5, "End of file - total 5 lines");
}

#[test]
fn a_long_line_is_cut_in_utf_16() {
    let check = |line: String, expect: String| {
        let shown = read("@f", &[("f", line)]);
        assert!(shown.contains(&format!("\n1: {expect}\n\n(End")), "{shown}");
    };
    let cut = "... (line truncated to 2000 chars)";
    check("😀".repeat(1000), "😀".repeat(1000));
    check("😀".repeat(1001), format!("{}{cut}", "😀".repeat(1000)));
    // The cut goes through a character of two units.
    check(format!("x{}", "😀".repeat(1000)), format!("x{}\u{fffd}{cut}", "😀".repeat(999)));
}

#[test]
fn a_large_folder_is_shown_in_part() {
    let files: Vec<(String, String)> = (0..2001).map(|number| (format!("d/{number:04}"), String::new())).collect();
    let files: Vec<(&str, String)> = files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    let shown = read("@d", &files);
    assert!(shown.starts_with("<path>/w/d</path>\n<type>directory</type>\n<entries>\n0000\n0001\n"), "{shown}");
    let end = "\n1999\n\n(Showing 2000 of 2001 entries. Use 'offset' parameter to read beyond entry 2001)\n</entries>";
    assert!(shown.ends_with(end), "{shown}");
    let shown = read("@d", &files[..2000]);
    assert!(shown.ends_with("\n1999\n\n(2000 entries)\n</entries>"), "{shown}");
}

#[test]
fn instructions_beside_a_file_follow_it_once() {
    let text = |text: &str| text.to_owned();
    let files = [
        ("AGENTS.md", text("root")),
        ("a/AGENTS.md", text("of a")),
        ("a/CLAUDE.md", text("unread")),
        ("a/b/CLAUDE.md", text("of b\n")),
        ("a/b/x", text("1")),
        ("a/b/y", text("2")),
        ("c/x", text("3")),
    ];
    let reminder = "</content>\n\n<system-reminder>\nInstructions from: /w/a/b/CLAUDE.md\nof b\n\n\nInstructions from: /w/a/AGENTS.md\nof a\n</system-reminder>";
    assert!(read("@a/b/x", &files).ends_with(reminder));
    assert!(read("@c/x", &files).ends_with("</content>"), "the worktree's own stand in the system text");
    assert!(!read("@a/AGENTS.md", &files).contains("reminder"), "a file is no instruction for itself");
    let both = parts("@a/b/x @a/b/y", &files);
    let reminders = both.iter().filter(|part| part.sent().is_some_and(|text| text.as_text().contains("<system-reminder>"))).count();
    assert_eq!(reminders, 1, "a message brings them once");
}

#[test]
fn images_and_documents_are_handed_over() {
    let check = |path: &str, said: &str, mime: &str, content: Content| {
        let parts = parts(&format!("@{path}"), &[(path, "12345".into())]);
        let UserPart::Text { text, synthetic: true } = &parts[2] else { panic!("{parts:?}") };
        assert_eq!(text.as_text(), said);
        let sent = Some(Part::new(content));
        assert_eq!(parts[3], UserPart::File { mime: mime.into(), filename: path.into(), sent });
    };
    let media = "image/png".to_owned();
    check("a.PNG", "Image read successfully", "image/png", Content::Image { media, bytes: 5, tokens: None });
    let media = "application/pdf".to_owned();
    check("d/a.b.pdf", "PDF read successfully", "application/pdf", Content::File { media, bytes: 5, tokens: None });
}

#[test]
fn what_is_no_text_is_not_read() {
    let check = |path: &str, text: &str, readable: bool| {
        let parts = parts(&format!("@{path}"), &[(path, text.into())]);
        let failed = format!("Read tool failed to read /w/{path} with the following error: Cannot read binary file: /w/{path}");
        let UserPart::Text { text, .. } = &parts[2] else { panic!("{parts:?}") };
        assert_eq!((text.as_text() != failed, parts.len()), (readable, if readable { 4 } else { 3 }), "{path}");
    };
    check("a.zip", "", false);
    check("a.txt", "a\0b", false);
    check("a.txt", "\u{1}\u{1}ab", false);
    check("a.txt", "\u{1}abc\n", true);
    check(".bin", "text", true);
    check("a.svg", "<svg/>", true);
}

#[test]
fn paths_outside_the_worktree() {
    let files = [("/etc/hosts", "h".to_owned()), ("~/notes", "n".to_owned())];
    assert!(read("@/etc/hosts", &files).starts_with("<path>/etc/hosts</path>\n"));
    assert!(read("@~/notes", &files).starts_with("<path>/h/notes</path>\n"));
    assert!(read("@../h/notes", &files).starts_with("<path>/h/notes</path>\n"));
    assert!(read("@/etc/", &files).contains("<entries>\nhosts\n\n(1 entries)"));
    assert_eq!(parts("@~/other @../x @/etc/x", &files).len(), 1);
}
