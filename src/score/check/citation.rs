//! `citation`: places of the world's files that an answer names, and the words that it quotes from them.
//!
//! **A citation** is `PATH:LINE`, `PATH:LINE-LINE`, `PATH:LINE:COLUMN`, `PATH#LLINE` or `PATH#LLINE-LLINE` (the second `L`
//! may be left out). A path is a run of letters, digits and `_ - . / + @ ~` without a leading `./` that names a file of the
//! world, or that ends as one of them does (`.rs`): `10:30` and `example.com:80` are no citations. A range of more than 100
//! lines names no place and is none either.
//!
//! **Beside a citation** stands the rest of its line, back to the citation before it and on to the next one. Texts there
//! between backticks or double quotes (`"…"`, `“…”`, `「…」`) are marked as quoted.
//!
//! **It stands** if the world has the file as the scenario begins, the file has the lines, and it is not misquoted: a
//! citation is misquoted if a marked text beside it stands in the lines of no citation next to that text, and no other marked
//! text beside it stands in its own lines. White space runs are one blank, as everywhere.
//!
//! **The score** is `right / (required + invented)`: `right` are the required places where a citation begins that stands and,
//! where words are required, has them beside it, marked or not; `invented` are the different citations (path and lines) of
//! which no occurrence stands. Citations of other places that stand change nothing.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::scenario::marker::{fold, is_spaced_word};
use crate::scenario::{Citation, is_path_character};

/// A range of more lines names no place.
const LONGEST_RANGE: u32 = 100;

/// A path of more bytes is none.
const LONGEST_PATH: usize = 400;

/// Places that must be cited.
#[derive(Debug)]
pub(in crate::score) struct Citations {
    required: Vec<Citation>,
}

/// A citation where it stands in a line of the answer.
struct Cited<'a> {
    path: &'a str,
    from: u32,
    to: u32,
    /// Its bytes, with the quotes or backticks around it.
    span: (usize, usize),
}

/// A text between citations, or between one and an end of the line.
struct Gap<'a> {
    folded: std::borrow::Cow<'a, str>,
    /// What is marked as quoted in it.
    marked: Vec<String>,
}

impl Citations {
    pub(super) fn new(required: &[Citation]) -> Citations {
        let quote = |quote: &String| fold(quote).trim().to_owned();
        let folded = |one: &Citation| Citation { quote: one.quote.as_ref().map(quote), ..one.clone() };
        Citations { required: required.iter().map(folded).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.required.is_empty()
    }

    /// The score of an answer over these files.
    pub(super) fn score(&self, answer: &str, files: &BTreeMap<String, String>) -> f64 {
        let mut world = World { files, lines: FxHashMap::default(), shown: FxHashMap::default() };
        let mut right = vec![false; self.required.len()];
        // Whether any occurrence of a citation stands.
        let mut stands: BTreeMap<(&str, u32, u32), bool> = BTreeMap::new();
        for line in answer.lines() {
            let cited = world.cited(line);
            if cited.is_empty() {
                continue;
            }
            let gaps = gaps(line, &cited);
            for (at, one) in cited.iter().enumerate() {
                let is_right = world.stands(&cited, &gaps, at);
                *stands.entry((one.path, one.from, one.to)).or_default() |= is_right;
                let beside = gaps.get(at..at + 2).unwrap_or_default();
                for (required, right) in self.required.iter().zip(&mut right).filter(|_| is_right) {
                    let has = |quote: &String| beside.iter().any(|gap| gap.folded.contains(quote.as_str()));
                    *right |= required.path == one.path && required.line == one.from && required.quote.as_ref().is_none_or(has);
                }
            }
        }
        let right = right.into_iter().filter(|right| *right).count();
        let invented = stands.values().filter(|stands| !**stands).count();
        super::share(right, self.required.len() + invented)
    }
}

/// The files, and what was looked up in them.
struct World<'a> {
    files: &'a BTreeMap<String, String>,
    lines: FxHashMap<&'a str, Vec<&'a str>>,
    /// Lines that were cited, folded.
    shown: FxHashMap<(String, u32, u32), Option<String>>,
}

impl<'a> World<'a> {
    /// The cited lines as one text; `None`: there are no such lines.
    fn shown(&mut self, cited: &Cited<'_>) -> Option<&str> {
        let key = (cited.path.to_owned(), cited.from, cited.to);
        if !self.shown.contains_key(&key) {
            let text = self.files.get_key_value(cited.path).and_then(|(path, text)| {
                let lines = self.lines.entry(path).or_insert_with(|| text.lines().collect());
                let first = (cited.from as usize).checked_sub(1)?;
                let lines = lines.get(first..cited.to as usize).filter(|lines| !lines.is_empty())?;
                Some(fold(&lines.join("\n")).into_owned())
            });
            self.shown.insert(key.clone(), text);
        }
        self.shown.get(&key).and_then(Option::as_deref)
    }

    fn holds(&mut self, cited: Option<&Cited<'_>>, text: &str) -> bool {
        cited.and_then(|cited| self.shown(cited)).is_some_and(|lines| lines.contains(text))
    }

    /// Whether a citation of a line stands: `gaps[at]` is before it, `gaps[at + 1]` behind it.
    fn stands(&mut self, cited: &[Cited<'_>], gaps: &[Gap<'_>], at: usize) -> bool {
        let own = cited.get(at);
        if own.and_then(|own| self.shown(own)).is_none() {
            return false;
        }
        let (mut quoted, mut misplaced) = (false, false);
        let before = at.checked_sub(1).and_then(|before| cited.get(before));
        for (gap, neighbour) in [(gaps.get(at), before), (gaps.get(at + 1), cited.get(at + 1))] {
            for text in gap.iter().flat_map(|gap| &gap.marked) {
                let is_own = self.holds(own, text);
                quoted |= is_own;
                misplaced |= !is_own && !self.holds(neighbour, text);
            }
        }
        quoted || !misplaced
    }

    /// The citations of a line, in order.
    fn cited<'t>(&self, line: &'t str) -> Vec<Cited<'t>> {
        let mut all: Vec<Cited<'t>> = vec![];
        let mut from = 0;
        while let Some(at) = memchr::memchr2(b':', b'#', &line.as_bytes()[from..]).map(|at| from + at) {
            let begin = all.last().map_or(0, |last| last.span.1);
            from = at + 1;
            if let Some(cited) = self.citation(line, begin, at) {
                from = cited.span.1.max(from);
                all.push(cited);
            }
        }
        all
    }

    /// The citation whose `:` or `#` stands here, if one does; it begins no earlier than `begin`.
    fn citation<'t>(&self, line: &'t str, begin: usize, at: usize) -> Option<Cited<'t>> {
        let hash = line[at..].starts_with('#');
        let rest = if hash { line[at..].strip_prefix("#L")? } else { &line[at + 1..] };
        let (first, mut rest) = line_number(rest)?;
        let mut last = first;
        if let Some(further) = rest.strip_prefix(['-', '–']) {
            let further = if hash { further.strip_prefix('L').unwrap_or(further) } else { further };
            if let Some((line, behind)) = line_number(further) {
                (last, rest) = (line, behind);
            }
        } else if let Some((_, behind)) = rest.strip_prefix(':').filter(|_| !hash).and_then(line_number) {
            rest = behind;
        }
        if rest.chars().next().is_some_and(is_spaced_word) || last.saturating_sub(first) >= LONGEST_RANGE {
            return None;
        }
        let path = self.path(line.get(begin..at)?)?;
        let mut span = (at - path.len(), line.len() - rest.len());
        // What stands in quotes as a whole is no quotation.
        let outside = line[begin..span.0].chars().next_back().zip(rest.chars().next());
        if let Some((open, close)) = outside.filter(|&(open, close)| closing(open) == Some(close)) {
            span = (span.0 - open.len_utf8(), span.1 + close.len_utf8());
        }
        let path = path.strip_prefix("./").unwrap_or(path);
        Some(Cited { path, from: first, to: last, span })
    }

    /// The path that a text ends with.
    fn path<'t>(&self, text: &'t str) -> Option<&'t str> {
        let run = text.char_indices().rev().take_while(|&(at, c)| text.len() - at <= LONGEST_PATH && is_path_character(c));
        let begin = run.last().map(|(at, _)| at)?;
        let run = &text[begin..];
        // Where words have no blanks between them a path may begin behind any character.
        let joins = |c: char| c.is_alphanumeric() && !is_spaced_word(c);
        let starts = std::iter::once(0).chain(run.char_indices().filter(|&(_, c)| joins(c)).map(|(at, c)| at + c.len_utf8()));
        let is_file = |path: &&str| self.files.contains_key(path.strip_prefix("./").unwrap_or(path));
        let named = starts.clone().filter_map(|start| run.get(start..)).find(is_file);
        named.or_else(|| starts.last().and_then(|start| run.get(start..)).filter(|path| self.ends_like_a_file(path)))
    }

    fn ends_like_a_file(&self, path: &str) -> bool {
        let ending = |path: &str| path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending.to_owned());
        ending(path).is_some_and(|own| self.files.keys().any(|file| ending(file).as_ref() == Some(&own)))
    }
}

/// The digits at the beginning of a text, as a line, and what follows. A number beyond all files stays beyond them.
fn line_number(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let digits = text.get(..end).filter(|digits| !digits.is_empty())?;
    Some((digits.parse().unwrap_or(u32::MAX), &text[end..]))
}

/// The mark that closes a quotation.
fn closing(open: char) -> Option<char> {
    match open {
        '`' => Some('`'),
        '"' => Some('"'),
        '“' => Some('”'),
        '「' => Some('」'),
        _ => None,
    }
}

/// The texts before, between and behind the citations of a line: one more than there are citations.
fn gaps<'t>(line: &'t str, cited: &[Cited<'_>]) -> Vec<Gap<'t>> {
    let begins = std::iter::once(0).chain(cited.iter().map(|one| one.span.1));
    let ends = cited.iter().map(|one| one.span.0).chain(std::iter::once(line.len()));
    let gap = |(begin, end): (usize, usize)| {
        let text = line.get(begin..end).unwrap_or_default();
        Gap { folded: fold(text), marked: marked(text) }
    };
    begins.zip(ends).map(gap).collect()
}

/// What is marked as quoted in a text, folded; an opening mark that nothing closes is none.
fn marked(text: &str) -> Vec<String> {
    let mut all = vec![];
    let mut rest = text;
    // Marks that are known not to be closed any more: each is looked for once.
    let mut open: Vec<char> = vec![];
    while let Some((at, mark, close)) = rest.char_indices().find_map(|(at, c)| Some((at, c, closing(c).filter(|_| !open.contains(&c))?))) {
        let inside = &rest[at + mark.len_utf8()..];
        match inside.find(close) {
            Some(end) => {
                let quoted = fold(&inside[..end]).trim().to_owned();
                all.extend(Some(quoted).filter(|quoted| !quoted.is_empty()));
                rest = &inside[end + close.len_utf8()..];
            }
            None => {
                open.push(mark);
                rest = inside;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn files() -> BTreeMap<String, String> {
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        BTreeMap::from([
            file("src/a.rs", "fn one() {\n    let port = 9187;\n}\n"),
            file("src/b.rs", "fn two() {}\nfn three() {}\n"),
            file("文档/甲.md", "第一行\n第二行\n"),
            file("Makefile", "all:\n\tcargo build\n"),
        ])
    }

    #[test]
    fn citations_of_a_line() {
        let files = files();
        let check = |line: &str, expect: &[(&str, u32, u32)]| {
            let world = World { files: &files, lines: FxHashMap::default(), shown: FxHashMap::default() };
            let found: Vec<(&str, u32, u32)> = world.cited(line).iter().map(|one| (one.path, one.from, one.to)).collect();
            assert_eq!(found, expect, "{line}");
        };
        check("See src/a.rs:2.", &[("src/a.rs", 2, 2)]);
        check(
            "`./src/a.rs:2-3` (src/b.rs:1:7), [src/a.rs#L1-L2] src/b.rs#L2",
            &[("src/a.rs", 2, 3), ("src/b.rs", 1, 1), ("src/a.rs", 1, 2), ("src/b.rs", 2, 2)],
        );
        check("src/ghost.rs:7 and Makefile:2", &[("src/ghost.rs", 7, 7), ("Makefile", 2, 2)]);
        check("src/a.rs:2: fn at 10:30 on example.com:80, Rakefile:3", &[("src/a.rs", 2, 2)]);
        check("src/a.rs src/a.rs: 2 src/a.rs:x src/a.rs:2nd a::b.rs", &[]);
        check("见src/a.rs:2行；文档/甲.md:1", &[("src/a.rs", 2, 2), ("文档/甲.md", 1, 1)]);
        check("src/a.rs:1-101 src/a.rs:1-100", &[("src/a.rs", 1, 100)]);
        check("src/a.rs:99999999999", &[("src/a.rs", u32::MAX, u32::MAX)]);
        check("other/src/a.rs:2", &[("other/src/a.rs", 2, 2)]); // another file, which is not there
        check("src/a.rs:2src/b.rs:1", &[("2src/b.rs", 1, 1)]); // grown together: no file of the world
    }

    #[test]
    fn marked_texts() {
        let check = |text: &str, expect: &[&str]| assert_eq!(marked(text), expect, "{text}");
        check("is `a  b` and \"c\", “d” 「e」", &["a b", "c", "d", "e"]);
        check("`open", &[]);
        check("`open \"c\" d", &["c"]);
        check("it's ' ' ``", &[]);
    }

    fn required(places: &[(&str, u32, Option<&str>)]) -> Citations {
        let place =
            |&(path, line, quote): &(&str, u32, Option<&str>)| Citation { path: path.into(), line, quote: quote.map(str::to_owned) };
        Citations::new(&places.iter().map(place).collect::<Vec<_>>())
    }

    #[test]
    fn scores_by_hand() {
        let both = required(&[("src/a.rs", 2, Some("let  port")), ("src/b.rs", 1, None)]);
        let check = |answer: &str, expect: f64| assert_eq!(both.score(answer, &files()), expect, "{answer}");
        check("src/a.rs:2 says `let port = 9187;`, and src/b.rs:1 calls it.", 1.0);
        check("src/a.rs:2: let port = 9187;\nsrc/b.rs:1", 1.0); // quoted without marks
        check("`let port` (src/a.rs:2)\n`two()` (src/b.rs:1)", 1.0); // quoted before
        check("src/b.rs:1", 0.5);
        check("src/a.rs:2 and src/b.rs:1", 0.5); // cited, not quoted
        check("src/a.rs:2-3: `let port`; src/b.rs:1-2", 1.0); // a range that begins there
        check("src/a.rs:1-3: `let port`; src/b.rs:1", 0.5); // one that begins elsewhere
        check("nothing", 0.0);
        check("", 0.0);
        // Invented: each as one more that is missing.
        check("src/a.rs:2 `let port`, src/b.rs:1, src/c.rs:4", 2.0 / 3.0); // no such file
        check("src/a.rs:2 `let port`, src/b.rs:1, src/b.rs:3", 2.0 / 3.0); // no such line
        check("src/a.rs:2 `let port`, src/b.rs:1, src/b.rs:0, src/b.rs:2-1", 0.5);
        check("src/a.rs:2 `let port`\nsrc/b.rs:1 and src/c.rs:4\nsrc/c.rs:4", 2.0 / 3.0); // the same one twice
        check("src/a.rs:2 `let port`\nsrc/b.rs:1\nsrc/a.rs:1 `fn four`", 2.0 / 3.0); // misquoted
        check("src/a.rs:2 `let gate`\nsrc/b.rs:1", 1.0 / 3.0); // missed and invented
        check("src/a.rs:2 `let gate`\nsrc/a.rs:2 `let port`\nsrc/b.rs:1", 1.0); // rightly quoted once
        check("src/a.rs:2 has `let port`, not `let gate`\nsrc/b.rs:1", 1.0); // one marked text of its own will do
        check("src/b.rs:1, but `let port` in src/a.rs:2", 1.0); // a neighbour's quote is no misquote
        check("src/a.rs:2 `let port`\nsrc/b.rs:1\nsrc/b.rs:2 too", 1.0); // others that stand change nothing
    }

    proptest! {
        #[test]
        fn bounds_and_no_panic(answer in "(src/[a-c]\\.rs[:#]L?[0-3](-[0-3])?| `let port`|\"|`|\\n|[:#,甲 ]|\\PC){0,12}") {
            let both = required(&[("src/a.rs", 2, Some("let port")), ("src/b.rs", 1, None)]);
            let score = both.score(&answer, &files());
            prop_assert!((0.0..=1.0).contains(&score));
            // Lines may change places, and a line more that invents something never helps.
            let mut lines: Vec<&str> = answer.lines().collect();
            lines.reverse();
            prop_assert_eq!(both.score(&lines.join("\n"), &files()), score);
            let more = format!("{answer}\nsrc/z.rs:1");
            prop_assert!(both.score(&more, &files()) <= score);
        }
    }

    /// One long line of citations, quotes and what may be either: nothing is read from every place anew.
    #[test]
    fn long_answers_are_read_once() {
        let both = required(&[("src/a.rs", 2, Some("let port")), ("src/b.rs", 1, None)]);
        for piece in ["src/a.rs:2 `let port` ", "`", "“", ":1", "a", "src/a.rs:", "甲", "src/b.rs:1-2 \"two"] {
            let text = piece.repeat(1_000_000 / piece.len());
            assert!(both.score(&text, &files()) <= 0.5, "{piece}");
        }
    }
}
