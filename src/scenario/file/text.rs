//! Texts of a file: written out, generated, quoting a fact, or several pieces of these.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::transcript::{Content, Digest, Part};

use super::errors::{Problems, suggest};
use super::generate::{self, Kind, Language};
use super::node::{Located, Node, Place, Value};
use super::record::{Form, names, record};

/// A generated text is at most this long, in characters.
const LONGEST: u64 = 20_000_000;

/// A text: one piece or several, each of which begins on a line of its own.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pieces: Vec<Piece>,
    /// Where it stands.
    pub at: Place,
}

#[derive(Clone, Debug)]
enum Piece {
    Literal(String),
    Generated { kind: Kind, language: Language, characters: usize, seed: Option<u64> },
    Fact(Located<String>),
    Beside(Located<String>),
    Part(Text),
    Content(Content, Place),
}

record! {
    /// A piece of a text that is not written out. Exactly one of `source`, `log`, `prose`, `diff`, `tests`, `fact`, `beside`,
    /// `image`, `document` and `opaque` stands in it.
    struct PieceForm {
        /// Generated program text of so many characters.
        source: Option<Located<u64>>,
        /// Generated log lines of so many characters.
        log: Option<Located<u64>>,
        /// Generated paragraphs of so many characters.
        prose: Option<Located<u64>>,
        /// A generated change of files, as version control shows it, of so many characters.
        diff: Option<Located<u64>>,
        /// Generated output of a test runner of so many characters; all its tests pass.
        tests: Option<Located<u64>>,
        /// The language of generated source: `rust` (the default), `python` or `typescript`; or `chinese`, for comments, messages
        /// and paragraphs.
        language: Option<Language>,
        /// The seed of a generated text. Left out: by the place where the text stands, so that no two are alike.
        seed: Option<u64>,
        /// A fact's id: its statement stands here, and this place is declared for it.
        fact: Option<Located<String>>,
        /// The text of a file beside the scenario's, by its path from there.
        beside: Option<Located<String>>,
        /// An image, by its media type: a part of its own. In messages and history only.
        image: Option<String>,
        /// A document, by its media type: a part of its own. In messages and history only.
        document: Option<String>,
        /// Content that nobody but its maker can read, by what it is called: a part of its own. In messages and history only.
        opaque: Option<String>,
        /// Size of the image, document or opaque content in bytes.
        bytes: u64 = 0,
        /// Tokens that its source declares; left out: unknown.
        tokens: Option<u32>,
    }
}

names!(Language: "rust" => Language::Rust, "python" => Language::Python, "typescript" => Language::TypeScript,
    "chinese" => Language::Chinese);

impl JsonSchema for Language {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Language".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": ["rust", "python", "typescript", "chinese"]})
    }
}

impl Form for Text {
    fn read(node: &Node, problems: &mut Problems) -> Option<Text> {
        let pieces = match &node.value {
            Value::List(items) => items.iter().filter_map(|item| Piece::read(item, problems)).collect(),
            _ => vec![Piece::read(node, problems)?],
        };
        Some(Text { pieces, at: node.at })
    }
}

impl Piece {
    fn read(node: &Node, problems: &mut Problems) -> Option<Piece> {
        match &node.value {
            Value::Map(_) => {
                let form = PieceForm::read(node, problems)?;
                Piece::of(form, node, problems)
            }
            // A list within the list of pieces.
            Value::List(_) => Text::read(node, problems).map(Piece::Part),
            _ => String::read(node, problems).map(Piece::Literal),
        }
    }

    fn of(form: PieceForm, node: &Node, problems: &mut Problems) -> Option<Piece> {
        let PieceForm { source, log, prose, diff, tests, language, seed, fact, beside, image, document, opaque, bytes, tokens } = form;
        let generated = [(Kind::Source, source), (Kind::Log, log), (Kind::Prose, prose), (Kind::Diff, diff), (Kind::Tests, tests)];
        let generated = generated.into_iter().filter_map(|(kind, size)| Some((kind, size?)));
        let contents = [
            image.map(|media| Content::Image { media, bytes, tokens }),
            document.map(|media| Content::File { media, bytes, tokens }),
            opaque.map(|kind| Content::Opaque { kind, bytes, tokens }),
        ];
        let mut found: Vec<Piece> = Vec::new();
        for (kind, size) in generated {
            if size.value > LONGEST {
                problems.add(size.at, format!("{} characters are too many for one text", size.value), format!("write at most {LONGEST}"));
            }
            let characters = size.value.min(LONGEST) as usize;
            found.push(Piece::Generated { kind, language: language.unwrap_or(Language::Default), characters, seed });
        }
        found.extend(fact.map(Piece::Fact));
        found.extend(beside.map(Piece::Beside));
        found.extend(contents.into_iter().flatten().map(|content| Piece::Content(content, node.at)));
        let kinds = ["source", "log", "prose", "diff", "tests", "fact", "beside", "image", "document", "opaque"];
        let named = kinds.iter().filter(|kind| node.get(kind).is_some()).count();
        if named != 1 {
            problems.incomplete = true;
            let message = if named == 0 { "this piece of text says nothing" } else { "this piece of text says several things" };
            problems.add(
                node.at,
                message,
                "write exactly one of `source`, `log`, `prose`, `diff`, `tests`, `fact`, `beside`, `image`, `document` and `opaque`; a list holds several pieces",
            );
            return None;
        }
        // None where its one kind was wrong, and reported.
        found.pop()
    }
}

impl JsonSchema for Text {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let piece = generator.subschema_for::<PieceForm>();
        let this = generator.subschema_for::<Text>();
        json_schema!({
            "description": "A text, a piece that is generated or quotes a fact, or a list of pieces, each of which begins on a line of its own; in a message, a list within the list is a part of its own.",
            "anyOf": [{"type": ["string", "integer"]}, piece, {"type": "array", "items": this}]
        })
    }
}

/// Reads a file beside the scenario's by its path from there, or says why it cannot.
pub type Beside = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// What a text can be made of, beside its own pieces.
#[derive(Clone)]
pub(super) struct Sources {
    /// The statements of facts by fact id.
    pub statements: BTreeMap<String, String>,
    /// Files beside the scenario's.
    pub beside: Beside,
}

/// A text as it was made, with the facts that it quotes by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Made {
    /// The parts; one for a plain text.
    pub parts: Vec<Part>,
    /// The ids of the facts that it quotes.
    pub quotes: Vec<String>,
}

impl Made {
    /// All text of it.
    pub(super) fn text(&self) -> String {
        self.parts.iter().map(Part::as_text).collect()
    }
}

impl Text {
    /// The text in parts. `owner` names the place: generated text without a seed depends on it.
    pub(super) fn parts(&self, owner: &str, sources: &Sources, problems: &mut Problems) -> Made {
        let mut maker = Maker { owner, sources, made: Made::default(), open: None, pieces: 0 };
        maker.add(self, problems);
        maker.close();
        if maker.made.parts.is_empty() {
            maker.made.parts.push(Part::text(""));
        }
        maker.made
    }

    /// The same where only one text may stand.
    pub(super) fn plain(&self, owner: &str, sources: &Sources, problems: &mut Problems) -> Made {
        let made = self.parts(owner, sources, problems);
        if let [_, _, ..] = *made.parts {
            let at = self.pieces.iter().find_map(|piece| match piece {
                Piece::Content(_, at) => Some(*at),
                Piece::Part(text) => Some(text.at),
                _ => None,
            });
            problems.add(
                at.unwrap_or(self.at),
                "only one plain text can stand here",
                "parts of their own stand in `history` and in `turns`; write the pieces in one list",
            );
        }
        made
    }
}

struct Maker<'a> {
    owner: &'a str,
    sources: &'a Sources,
    made: Made,
    open: Option<String>,
    pieces: u64,
}

impl Maker<'_> {
    fn add(&mut self, text: &Text, problems: &mut Problems) {
        for piece in &text.pieces {
            self.pieces += 1;
            match piece {
                Piece::Literal(text) => self.push(text),
                Piece::Generated { kind, language, characters, seed } => {
                    let by_place = || (Digest::of(self.owner).0 as u64).wrapping_add(self.pieces);
                    let text = generate::text(*kind, *language, *characters, seed.unwrap_or_else(by_place));
                    self.push(&text);
                }
                Piece::Fact(id) => match self.sources.statements.get(&id.value) {
                    Some(statement) => {
                        self.made.quotes.push(id.value.clone());
                        let statement = statement.clone();
                        self.push(&statement);
                    }
                    None => {
                        let known = self.sources.statements.keys().map(String::as_str);
                        problems.add(id.at, format!("there is no fact `{}`", id.value), suggest(&id.value, known));
                    }
                },
                Piece::Beside(path) => match self.read(&path.value) {
                    Ok(text) => self.push(&text),
                    Err(why) => {
                        problems.add(path.at, format!("`{}` cannot be read: {why}", path.value), "name a file by its path from this one")
                    }
                },
                Piece::Part(text) => {
                    self.close();
                    self.add(text, problems);
                    self.close();
                }
                Piece::Content(content, _) => {
                    self.close();
                    self.made.parts.push(Part::new(content.clone()));
                }
            }
        }
    }

    fn read(&self, path: &str) -> Result<String, String> {
        // A scenario is data: it reads nothing but what lies beside it.
        let is_inside = path.split(['/', '\\']).all(|part| !matches!(part, "" | "." | "..")) && !path.contains(':');
        if is_inside { (self.sources.beside)(path) } else { Err("it lies outside of the scenario's folder".to_owned()) }
    }

    fn push(&mut self, text: &str) {
        match &mut self.open {
            None => self.open = Some(text.to_owned()),
            Some(open) => {
                if !open.is_empty() && !open.ends_with('\n') {
                    open.push('\n');
                }
                open.push_str(text);
            }
        }
    }

    fn close(&mut self) {
        if let Some(text) = self.open.take() {
            self.made.parts.push(Part::text(text));
        }
    }
}

/// A text of one line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line(pub String);

impl Form for Line {
    fn read(node: &Node, problems: &mut Problems) -> Option<Line> {
        let text = String::read(node, problems)?;
        let line = text.trim();
        if line.is_empty() || line.contains('\n') {
            problems.incomplete = true;
            let message = if line.is_empty() { "this text is empty" } else { "this text must stand on one line" };
            problems.add(node.at, message, "write one line of text");
            return None;
        }
        Some(Line(line.to_owned()))
    }
    fn stand_in() -> Option<Line> {
        Some(Line::default())
    }
}

impl JsonSchema for Line {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Line".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "integer"], "minLength": 1})
    }
}
