//! Problems of a text file for people: each with its line and a caret under what it is about.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A problem at a place of a file.
#[derive(Clone, Copy, Debug)]
pub struct Pointed<'a> {
    /// The bytes that it is about; they lie on characters' borders.
    pub span: (usize, usize),
    /// What is wrong.
    pub message: &'a str,
    /// What to do about it.
    pub help: &'a str,
}

/// All problems of a file, and how many there are.
pub fn pointed<'a>(file: &str, source: &str, problems: impl Iterator<Item = Pointed<'a>>, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.decor_style(DecorStyle::Ascii);
    let (mut out, mut count) = (String::new(), 0);
    for Pointed { span: (start, end), message, help } in problems {
        let snippet = Snippet::source(source).path(file).annotation(AnnotationKind::Primary.span(start..end));
        let group = Level::ERROR.primary_title(message).element(snippet).element(Level::HELP.message(help));
        out.push_str(&renderer.render(&[group]));
        out.push_str("\n\n");
        count += 1;
    }
    out + &format!("{file}: {count} problem{}", if count == 1 { "" } else { "s" })
}
