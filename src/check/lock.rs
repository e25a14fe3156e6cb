//! `budgets.lock`, which the tool owns: what was accepted. One line a figure, sorted, committed, so that the difference
//! of a pull request is the report.
//!
//! ```text
//! ctxbench-lock/1
//! tokenizer o200k_base
//!
//! tiny-task/opencode@1.18.33/reader/0 parent.input_total 1234 0f3c… delegated=60 own=5 system=20 user=40
//!   9d1f 0 / in system=10,user=20 out 5 same 0 head system|system|10|1a2b3c4d items user|user|20|5e6f7a8b
//! ```
//!
//! A figure's line holds cell, metric, value, fingerprint and where its tokens stand. The indented lines below a cell's
//! figures are its requests ([`super::trail`]); each begins with digits of the cell's own, so that git, which merges by equal
//! lines, never takes a request of one cell for one of another. An empty line parts the cells: two branches that accept
//! different cells change lines that are not neighbours, so git merges them.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::results::Number;
use crate::transcript::Origin;

use super::split::Split;
use super::trail::{Exchange, MAX_MARKS, MAX_REQUESTS, Mark, Trail};

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

/// A cell of which a lock says two things, as a merge that keeps both sides leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twice {
    /// The line of the second, from 1.
    pub line: usize,
    /// The cell.
    pub cell: String,
}

impl Lock {
    /// Reads a lock.
    ///
    /// # Errors
    /// The first line that is wrong: a conflict marker, another version, a torn line, a cell of which two things are said.
    pub fn parse(text: &str) -> Result<Lock, LockError> {
        let (lock, twice) = Lock::parse_merged(text)?;
        match twice.first() {
            None => Ok(lock),
            Some(first) => Err(LockError { line: first.line, why: said_twice(&twice) }),
        }
    }

    /// Reads a lock that a merge may have left with two sayings of a cell: those cells are left out, and named.
    ///
    /// # Errors
    /// As [`Lock::parse`] otherwise.
    pub fn parse_merged(text: &str) -> Result<(Lock, Vec<Twice>), LockError> {
        let mut reading = Reading::default();
        for (at, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
            reading.line(line, at + 1).map_err(|why| LockError { line: at + 1, why })?;
        }
        reading.finish().map_err(|why| LockError { line: 1, why })
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = format!("{LOCK_FORMAT}\ntokenizer {}\n", self.tokenizer);
        for (id, cell) in &self.cells {
            let key = key(id);
            text.push('\n');
            for (metric, figure) in &cell.figures {
                let _ = write!(text, "{} {metric} {} {}", escaped(id), figure.value, figure.fingerprint);
                for (name, tokens) in figure.split.iter().flatten() {
                    let _ = write!(text, " {name}={tokens}");
                }
                text.push('\n');
            }
            for exchange in &cell.trail.exchanges {
                let _ = writeln!(text, "  {key} {}", request_line(exchange));
            }
            if cell.trail.more > 0 {
                let _ = writeln!(text, "  {key} more {}", cell.trail.more);
            }
        }
        text
    }

    /// An accepted figure.
    pub fn figure(&self, cell: &str, metric: &str) -> Option<&Figure> {
        self.cells.get(cell)?.figures.get(metric)
    }
}

/// A lock while it is read.
#[derive(Default)]
struct Reading {
    lock: Lock,
    begun: bool,
    /// The cell of each key that request lines begin with.
    keys: BTreeMap<String, String>,
    twice: Vec<Twice>,
}

impl Reading {
    fn line(&mut self, line: &str, at: usize) -> Result<(), String> {
        if let Some(marker) = CONFLICT.iter().find(|marker| line.starts_with(**marker)) {
            return Err(conflict(marker));
        }
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if !self.begun {
            self.begun = true;
            return if line == LOCK_FORMAT { Ok(()) } else { Err(other_format(line)) };
        }
        if let Some(name) = line.strip_prefix("tokenizer ") {
            let known = std::mem::replace(&mut self.lock.tokenizer, name.to_owned());
            if !known.is_empty() && known != name {
                return Err(format!("two tokenizers, {known} and {name}: two branches accepted with different ones; {AGAIN}"));
            }
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix("  ") {
            return self.request(rest, at);
        }
        let (id, metric, figure) = read_figure(line).ok_or_else(|| format!("this is no line of the lock; {AGAIN}"))?;
        self.keys.entry(key(&id)).or_insert_with(|| id.clone());
        let figures = &mut self.lock.cells.entry(id.clone()).or_default().figures;
        if figures.get(&metric).is_some_and(|other| *other != figure) {
            self.twice.push(Twice { line: at, cell: id });
            return Ok(());
        }
        figures.insert(metric, figure);
        Ok(())
    }

    /// A request belongs to the cell whose key it bears, wherever a merge put it.
    fn request(&mut self, line: &str, at: usize) -> Result<(), String> {
        let no = || format!("this is no request of the lock; {AGAIN}");
        let (key, rest) = line.split_once(' ').ok_or_else(no)?;
        let cell = self.keys.get(key).cloned().ok_or_else(|| format!("a request that belongs to no cell; {AGAIN}"))?;
        let trail = &mut self.lock.cells.entry(cell.clone()).or_default().trail;
        if let Some(count) = rest.strip_prefix("more ") {
            trail.more = count.parse().map_err(|_| no())?;
            return Ok(());
        }
        let exchange = read_request(rest).ok_or_else(no)?;
        match trail.exchanges.iter().find(|known| known.seq == exchange.seq) {
            Some(known) if *known == exchange => {}
            Some(_) => self.twice.push(Twice { line: at, cell }),
            None if trail.exchanges.len() >= MAX_REQUESTS => return Err(no()),
            None => trail.exchanges.push(exchange),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(Lock, Vec<Twice>), String> {
        if !self.begun {
            return Err(format!("the file is empty; {AGAIN}"));
        }
        if self.lock.tokenizer.is_empty() {
            return Err(format!("the line `tokenizer NAME` is missing; {AGAIN}"));
        }
        for twice in &self.twice {
            self.lock.cells.remove(&twice.cell);
        }
        self.lock.cells.values_mut().for_each(|cell| cell.trail.exchanges.sort_by_key(|exchange| exchange.seq));
        Ok((self.lock, self.twice))
    }
}

/// What request lines of a cell begin with.
fn key(cell: &str) -> String {
    crate::transcript::Digest::of(cell).to_string().chars().take(8).collect()
}

/// What to do about cells of which two things are said.
fn said_twice(twice: &[Twice]) -> String {
    let mut cells: Vec<&str> = twice.iter().map(|one| one.cell.as_str()).collect();
    cells.dedup();
    let all: std::collections::BTreeSet<&str> = cells.iter().copied().collect();
    let named = all.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = if all.len() > 5 { format!(" and {} more", all.len() - 5) } else { String::new() };
    format!(
        "two things are said of {named}{more}: two branches accepted {} and a merge kept both. `ctxbench check --accept`, of \
         everything, measures and writes what holds now",
        if all.len() == 1 { "it" } else { "them" }
    )
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
        format!("{} {} in {} out {} same {}", exchange.seq, escaped(&exchange.thread), joined(&input), exchange.output, exchange.same);
    if let Some(head) = &exchange.head {
        let marks: Vec<String> = head.iter().map(mark_text).collect();
        let _ = write!(line, " head {}", joined(&marks));
    }
    let marks: Vec<String> = exchange.items.iter().map(mark_text).collect();
    let _ = write!(line, " items {}", joined(&marks));
    if exchange.more > 0 {
        let _ = write!(line, " more {}", exchange.more);
    }
    line
}

/// A list in a line; nothing is `-`.
fn joined(words: &[String]) -> String {
    if words.is_empty() { "-".to_owned() } else { words.join(",") }
}

fn listed(word: &str) -> impl Iterator<Item = &str> {
    word.split(',').filter(|word| *word != "-")
}

fn read_request(line: &str) -> Option<Exchange> {
    let words: Vec<&str> = line.split(' ').collect();
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
    let tokens = |word: &str| word.split_once('=').and_then(|(name, tokens)| Some((origin(name)?, tokens.parse().ok()?)));
    let items: Vec<Mark> = listed(items).map(read_mark).collect::<Option<_>>()?;
    if items.len() > MAX_MARKS {
        return None;
    }
    Some(Exchange {
        seq: seq.parse().ok()?,
        thread: plain(thread)?,
        input: listed(input).map(tokens).collect::<Option<_>>()?,
        output: output.parse().ok()?,
        head,
        same: same.parse().ok()?,
        items,
        more,
    })
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
    // No name holds what would steer a terminal: scenarios, models and sessions are named without.
    String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
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
        check(&format!("{head}c/a@1/r/0 m 1 f\nc/a@1/r/0 m 2 f\n"), &["line 5", "two things are said of c/a@1/r/0", "check --accept"]);
        check(&format!("{head}c%1b/a@1/r/0 m 1 f\n"), &["line 4", "no line of the lock"]);
        check(&format!("{head}tokenizer cl100k_base\n"), &["two tokenizers"]);
        check(&format!("{head}c/a@1/r/0 m one f\n"), &["line 4", "no line of the lock"]);
        check(&format!("{head}c/a@1/r/0 m 1\n"), &["no line of the lock"]);
        check(&format!("{head}  01234567 0 / in - out 0 same 0 items -\n"), &["belongs to no cell"]);
        let key = key("c/a@1/r/0");
        check(&format!("{head}c/a@1/r/0 m 1 f\n  {key} 0 / in - out 0\n"), &["no request of the lock"]);
        let request = |output: u32| format!("  {key} 0 / in - out {output} same 0 items -\n");
        check(&format!("{head}c/a@1/r/0 m 1 f\n{}{}", request(1), request(2)), &["line 6", "two things are said"]);
        let many: String = (0..=MAX_REQUESTS).map(|seq| format!("  {key} {seq} / in - out 1 same 0 items -\n")).collect();
        check(&format!("{head}c/a@1/r/0 m 1 f\n{many}"), &["no request of the lock"]);
    }

    #[test]
    fn a_figure_that_a_union_merge_left_twice_counts_once() {
        // Lines of one cell twice, and a request among those of another.
        let line = |cell: &str, seq: u32| format!("  {} {seq} / in own=1 out 2 same 0 items -\n", key(cell));
        let (b, c) = ("b/a@1/r/0", "c/a@1/r/0");
        let figures = "c/a@1/r/0 m 1 f own=1\n\nb/a@1/r/0 m 2 f\nc/a@1/r/0 m 1 f own=1\n";
        let text = format!("ctxbench-lock/1\ntokenizer o200k_base\n\n{figures}{}{}{}{}", line(c, 1), line(b, 0), line(c, 0), line(c, 1));
        let lock = Lock::parse(&text).unwrap();
        let seqs = |cell: &str| lock.cells[cell].trail.exchanges.iter().map(|exchange| exchange.seq).collect::<Vec<_>>();
        assert_eq!((seqs(b), seqs(c)), (vec![0], vec![0, 1]));
        assert_eq!(lock.cells.len(), 2);
        assert_eq!(lock.figure("c/a@1/r/0", "m").unwrap().split, Some(Split::from([("own".to_owned(), 1)])));
        assert!(lock.text().starts_with("ctxbench-lock/1\ntokenizer o200k_base\n\nb/a@1/r/0 m 2 f\n"), "{}", lock.text());
        assert_eq!(Lock::parse(&lock.text()), Ok(lock));
    }

    #[test]
    fn cells_that_two_branches_accepted_are_left_out_and_named() {
        let text = "ctxbench-lock/1\ntokenizer o200k_base\n\nb/a@1/r/0 m 2 f\n\nc/a@1/r/0 m 1 f\nc/a@1/r/0 m 1 g\n";
        let (lock, twice) = Lock::parse_merged(text).unwrap();
        assert_eq!(lock.cells.keys().collect::<Vec<_>>(), ["b/a@1/r/0"]);
        assert_eq!(twice, [Twice { line: 7, cell: "c/a@1/r/0".into() }]);
    }

    fn any_mark() -> impl Strategy<Value = Mark> {
        ("[ -~äü]{1,12}", 0..Origin::ALL.len(), proptest::option::of(any::<u64>()), "[0-9a-f]{8}")
            .prop_map(|(what, origin, tokens, digest)| Mark { what, origin: Origin::ALL[origin], tokens, digest })
    }

    fn any_exchange() -> impl Strategy<Value = Exchange> {
        let marks = || proptest::collection::vec(any_mark(), 0..3);
        (0..1_u32, "/[0-9/]{0,4}", 0..9_u64, any::<u64>(), proptest::option::of(marks()), 0..9_usize, marks(), 0..3_usize).prop_map(
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
        (figures, proptest::collection::vec(any_exchange(), 0..4), 0..3_usize).prop_map(|(figures, mut exchanges, more)| {
            (0..).zip(&mut exchanges).for_each(|(seq, exchange)| exchange.seq = seq);
            LockedCell { figures, trail: Trail { exchanges, more } }
        })
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
