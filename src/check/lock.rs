//! `budgets.lock`, which the tool owns: what was accepted. One line a figure, sorted, committed, so that the difference
//! of a pull request is the report.
//!
//! ```text
//! ctxbench-lock/1
//! tokenizer o200k_base
//!
//! tiny-task/opencode@1.18.33/reader/0 parent.input_total 1234 0f3c… delegated=60 own=5 system=20 user=40
//!   0 / in system=10,user=20 out 5 same 0 head system|system|10|1a2b3c4d items user|user|20|5e6f7a8b
//! ```
//!
//! A figure's line holds cell, metric, value, fingerprint and where its tokens stand. The indented lines below a cell's
//! figures are its requests ([`super::trail`]). An empty line parts the cells: two branches that accept different cells
//! change lines that are not neighbours, so git merges them.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::results::Number;
use crate::transcript::Origin;

use super::split::Split;
use super::trail::{Exchange, Mark, Trail};

/// The version of the lock.
pub const LOCK_FORMAT: &str = "ctxbench-lock/1";

/// What was accepted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// The encoding of every token figure; empty in a lock without cells that was never written.
    pub tokenizer: String,
    /// The cells, by id.
    pub cells: BTreeMap<String, LockedCell>,
}

/// What was accepted of a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockedCell {
    /// Its figures, by metric.
    pub figures: BTreeMap<String, Figure>,
    /// What its requests held when a figure of it was last accepted.
    pub trail: Trail,
}

/// An accepted figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its value.
    pub value: Number,
    /// The cell's fingerprint then.
    pub fingerprint: String,
    /// Where its tokens stand; `None`: it is no sum over parts of requests.
    pub split: Option<Split>,
}

/// Why a lock cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct LockError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub why: String,
}

impl Lock {
    /// Reads a lock.
    ///
    /// # Errors
    /// The first line that is wrong: a conflict marker, two values for a figure, another version, a torn line.
    pub fn parse(text: &str) -> Result<Lock, LockError> {
        let mut lock = Lock::default();
        let mut cell: Option<String> = None;
        let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate();
        let error = |line: usize, why: String| LockError { line: line + 1, why };
        let mut begun = false;
        for (at, line) in &mut lines {
            if let Some(marker) = CONFLICT.iter().find(|marker| line.starts_with(**marker)) {
                return Err(error(at, conflict(marker)));
            }
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if !begun {
                if line != LOCK_FORMAT {
                    return Err(error(at, other_format(line)));
                }
                begun = true;
            } else if let Some(name) = line.strip_prefix("tokenizer ") {
                if !lock.tokenizer.is_empty() && lock.tokenizer != name {
                    let why = format!("two tokenizers, {} and {name}: two branches accepted with different ones; {AGAIN}", lock.tokenizer);
                    return Err(error(at, why));
                }
                lock.tokenizer = name.to_owned();
            } else if let Some(rest) = line.strip_prefix("  ") {
                let cell = cell.as_ref().and_then(|cell| lock.cells.get_mut(cell));
                let cell = cell.ok_or_else(|| error(at, format!("a request that belongs to no cell; {AGAIN}")))?;
                read_request(rest, &mut cell.trail).ok_or_else(|| error(at, format!("this is no request of the lock; {AGAIN}")))?;
            } else {
                let (id, metric, figure) = read_figure(line).ok_or_else(|| error(at, format!("this is no line of the lock; {AGAIN}")))?;
                let figures = &mut lock.cells.entry(id.clone()).or_default().figures;
                if let Some(other) = figures.get(&metric).filter(|other| **other != figure) {
                    let (one, two) = (other.value, figure.value);
                    let why = format!(
                        "{id} {metric} stands there twice, as {one} and as {two}: two branches accepted it; delete one of the two lines, \
                         then run `ctxbench check`"
                    );
                    return Err(error(at, why));
                }
                figures.insert(metric, figure);
                cell = Some(id);
            }
        }
        if !begun {
            return Err(error(0, format!("the file is empty; {AGAIN}")));
        }
        if lock.tokenizer.is_empty() {
            return Err(error(0, format!("the line `tokenizer NAME` is missing; {AGAIN}")));
        }
        Ok(lock)
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = format!("{LOCK_FORMAT}\ntokenizer {}\n", self.tokenizer);
        for (id, cell) in &self.cells {
            text.push('\n');
            for (metric, figure) in &cell.figures {
                let _ = write!(text, "{} {metric} {} {}", escaped(id), figure.value, figure.fingerprint);
                for (name, tokens) in figure.split.iter().flatten() {
                    let _ = write!(text, " {name}={tokens}");
                }
                text.push('\n');
            }
            for exchange in &cell.trail.exchanges {
                text += &request_line(exchange);
            }
            if cell.trail.more > 0 {
                let _ = writeln!(text, "  more {}", cell.trail.more);
            }
        }
        text
    }

    /// An accepted figure.
    pub fn figure(&self, cell: &str, metric: &str) -> Option<&Figure> {
        self.cells.get(cell)?.figures.get(metric)
    }
}

/// What stands in a lock after a merge that git left to people.
const CONFLICT: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// What to do about a lock that cannot be read.
const AGAIN: &str = "the tool owns this file: take it back from git, then run `ctxbench check --accept`";

fn conflict(marker: &str) -> String {
    format!(
        "a conflict marker ({marker}): this lock is in the middle of a merge. Take one side (`git checkout --ours budgets.lock`, or \
         --theirs), run `ctxbench check`, accept what it names, and commit. The line `budgets.lock merge=union` in .gitattributes \
         makes git merge different cells by itself"
    )
}

fn other_format(line: &str) -> String {
    match line.strip_prefix("ctxbench-lock/") {
        Some(version) => format!("version {version} of the lock is not known here: use the ctxbench that wrote it, or a newer one"),
        None => format!("a lock begins with `{LOCK_FORMAT}`; {AGAIN}"),
    }
}

fn read_figure(line: &str) -> Option<(String, String, Figure)> {
    let mut words = line.split(' ');
    let (id, metric, value, fingerprint) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let value: Number = serde_json::from_str(value).ok()?;
    let mut split = Split::new();
    for word in words {
        let (name, tokens) = word.split_once('=')?;
        split.insert(name.to_owned(), tokens.parse().ok()?);
    }
    if id.is_empty() || metric.is_empty() || fingerprint.is_empty() {
        return None;
    }
    let split = (!split.is_empty()).then_some(split);
    Some((plain(id)?, metric.to_owned(), Figure { value, fingerprint: fingerprint.to_owned(), split }))
}

fn request_line(exchange: &Exchange) -> String {
    let input: Vec<String> = exchange.input.iter().map(|(origin, tokens)| format!("{}={tokens}", origin.name())).collect();
    let mut line =
        format!("  {} {} in {} out {} same {}", exchange.seq, escaped(&exchange.thread), joined(&input), exchange.output, exchange.same);
    if let Some(head) = &exchange.head {
        let marks: Vec<String> = head.iter().map(mark_text).collect();
        let _ = write!(line, " head {}", joined(&marks));
    }
    let marks: Vec<String> = exchange.items.iter().map(mark_text).collect();
    let _ = write!(line, " items {}", joined(&marks));
    if exchange.more > 0 {
        let _ = write!(line, " more {}", exchange.more);
    }
    line.push('\n');
    line
}

/// A list in a line; nothing is `-`.
fn joined(words: &[String]) -> String {
    if words.is_empty() { "-".to_owned() } else { words.join(",") }
}

fn listed(word: &str) -> impl Iterator<Item = &str> {
    word.split(',').filter(|word| *word != "-")
}

fn read_request(line: &str, trail: &mut Trail) -> Option<()> {
    let words: Vec<&str> = line.split(' ').collect();
    if let ["more", count] = words.as_slice() {
        trail.more = count.parse().ok()?;
        return Some(());
    }
    let [seq, thread, "in", input, "out", output, "same", same, rest @ ..] = words.as_slice() else { return None };
    let (head, rest) = match rest {
        ["head", head, rest @ ..] => (Some(listed(head).map(read_mark).collect::<Option<Vec<Mark>>>()?), rest),
        rest => (None, rest),
    };
    let (items, more) = match rest {
        ["items", items] => (items, 0),
        ["items", items, "more", more] => (items, more.parse().ok()?),
        _ => return None,
    };
    let exchange = Exchange {
        seq: seq.parse().ok()?,
        thread: plain(thread)?,
        input: listed(input)
            .map(|one| one.split_once('=').and_then(|(name, tokens)| Some((origin(name)?, tokens.parse().ok()?))))
            .collect::<Option<_>>()?,
        output: output.parse().ok()?,
        head,
        same: same.parse().ok()?,
        items: listed(items).map(read_mark).collect::<Option<_>>()?,
        more,
    };
    trail.exchanges.push(exchange);
    Some(())
}

fn mark_text(mark: &Mark) -> String {
    let tokens = mark.tokens.map_or("?".to_owned(), |tokens| tokens.to_string());
    format!("{}|{}|{tokens}|{}", escaped(&mark.what), mark.origin.name(), mark.digest)
}

fn read_mark(text: &str) -> Option<Mark> {
    let words: Vec<&str> = text.split('|').collect();
    let [what, origin_name, tokens, digest] = words.as_slice() else { return None };
    let tokens = if *tokens == "?" { None } else { Some(tokens.parse().ok()?) };
    Some(Mark { what: plain(what)?, origin: origin(origin_name)?, tokens, digest: (*digest).to_owned() })
}

fn origin(name: &str) -> Option<Origin> {
    Origin::ALL.into_iter().find(|origin| origin.name() == name)
}

/// A name without what parts words, marks and lines: those stand as `%` and two hexadecimal digits.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        // A name that begins like a comment or a conflict marker would be taken for one.
        if c.is_whitespace() || c.is_control() || matches!(c, '%' | '|' | ',' | '#' | '<' | '>') || (text.is_empty() && c == '=') {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(text, "%{byte:02x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

fn plain(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = behind.get(2..)?;
        } else {
            bytes.push(first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str) -> String {
        Lock::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_read_says_why_and_what_to_do() {
        let check = |text: &str, words: &[&str]| {
            let said = refused(text);
            words.iter().for_each(|word| assert!(said.contains(word), "{said}"));
        };
        let head = "ctxbench-lock/1\ntokenizer o200k_base\n\n";
        check("", &["line 1", "empty", "--accept"]);
        check("ctxbench-lock/2\n", &["version 2", "newer"]);
        check("[[budget]]\n", &["begins with `ctxbench-lock/1`"]);
        check("ctxbench-lock/1\n", &["tokenizer NAME"]);
        check(&format!("{head}<<<<<<< ours\n"), &["line 4", "conflict marker", "git checkout --ours"]);
        check(&format!("{head}c/a@1/r/0 m 1 f\n=======\n"), &["line 5", "conflict marker"]);
        check(&format!("{head}c/a@1/r/0 m 1 f\nc/a@1/r/0 m 2 f\n"), &["line 5", "as 1 and as 2"]);
        check(&format!("{head}tokenizer cl100k_base\n"), &["two tokenizers"]);
        check(&format!("{head}c/a@1/r/0 m one f\n"), &["line 4", "no line of the lock"]);
        check(&format!("{head}c/a@1/r/0 m 1\n"), &["no line of the lock"]);
        check(&format!("{head}  0 / in - out 0 same 0 items -\n"), &["belongs to no cell"]);
        check(&format!("{head}c/a@1/r/0 m 1 f\n  0 / in - out 0\n"), &["no request of the lock"]);
    }

    #[test]
    fn a_figure_that_a_union_merge_left_twice_counts_once() {
        let text = "ctxbench-lock/1\ntokenizer o200k_base\n\nc/a@1/r/0 m 1 f own=1\n\nb/a@1/r/0 m 2 f\nc/a@1/r/0 m 1 f own=1\n";
        let lock = Lock::parse(text).unwrap();
        assert_eq!(lock.cells.len(), 2);
        assert_eq!(lock.figure("c/a@1/r/0", "m").unwrap().split, Some(Split::from([("own".to_owned(), 1)])));
        assert!(lock.text().contains("\n\nb/a@1/r/0 m 2 f\n\nc/a@1/r/0 m 1 f own=1\n"), "{}", lock.text());
    }

    fn any_mark() -> impl Strategy<Value = Mark> {
        ("[ -~äü\n]{1,12}", 0..Origin::ALL.len(), proptest::option::of(any::<u64>()), "[0-9a-f]{8}")
            .prop_map(|(what, origin, tokens, digest)| Mark { what, origin: Origin::ALL[origin], tokens, digest })
    }

    fn any_exchange() -> impl Strategy<Value = Exchange> {
        let marks = || proptest::collection::vec(any_mark(), 0..3);
        (any::<u32>(), "/[0-9/]{0,4}", 0..9_u64, any::<u64>(), proptest::option::of(marks()), 0..9_usize, marks(), 0..3_usize).prop_map(
            |(seq, thread, user, output, head, same, items, more)| {
                let input = if user > 0 { vec![(Origin::User, user)] } else { vec![] };
                Exchange { seq, thread, input, output, head, same, items, more }
            },
        )
    }

    fn any_cell() -> impl Strategy<Value = LockedCell> {
        let number = prop_oneof![any::<i64>().prop_map(Number::Whole), (-1e6..1e6_f64).prop_map(|real| Number::real(real).unwrap())];
        let split = proptest::option::of(proptest::collection::btree_map("[a-z_]{1,6}", any::<i64>(), 1..3));
        let figure = (number, "[0-9a-f]{16}", split).prop_map(|(value, fingerprint, split)| Figure { value, fingerprint, split });
        let figures = proptest::collection::btree_map("[a-z.]{1,8}", figure, 1..4);
        (figures, proptest::collection::vec(any_exchange(), 0..4), 0..3_usize)
            .prop_map(|(figures, exchanges, more)| LockedCell { figures, trail: Trail { exchanges, more } })
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "(ctxbench-lock/1\ntokenizer x\n)?[ -~\n]{0,80}") {
            let _ = Lock::parse(&text);
        }

        #[test]
        fn what_is_written_reads_back(cells in proptest::collection::btree_map("[!-~ äß]{1,20}", any_cell(), 0..4)) {
            let lock = Lock { tokenizer: "o200k_base".into(), cells };
            prop_assert_eq!(Lock::parse(&lock.text()), Ok(lock));
        }
    }
}
