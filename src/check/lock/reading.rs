//! Reading a lock, whatever a merge or a hand has made of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::results::Number;
use crate::transcript::Origin;

use super::super::possible::impossible;
use super::super::split::Split;
use super::super::trail::{Exchange, MAX_MARKS, MAX_REQUESTS, Mark};
use super::{Figure, LOCK_FORMAT, Lock, Twice, key};

/// A lock while it is read.
#[derive(Default)]
pub struct Reading {
    lock: Lock,
    begun: bool,
    /// The cell of each key that request lines begin with.
    keys: BTreeMap<String, String>,
    twice: Vec<Twice>,
}

impl Reading {
    /// Takes a line in.
    pub fn line(&mut self, line: &str, at: usize) -> Result<(), String> {
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
        if let Some(why) = wrong(&metric, &figure) {
            return Err(format!("{why}; {AGAIN}"));
        }
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

    /// The lock, and the cells of which it says two things: those are left out.
    pub fn finish(mut self) -> Result<(Lock, Vec<Twice>), String> {
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

/// What no check can have written of a figure; `None`: nothing.
fn wrong(metric: &str, figure: &Figure) -> Option<String> {
    if let Some(why) = crate::metrics::metric(metric).and_then(|known| impossible(known, figure.value)) {
        return Some(why);
    }
    let split = figure.split.as_ref()?;
    if let Some((name, tokens)) = split.iter().find(|(_, tokens)| **tokens < 0) {
        return Some(format!("of `{metric}`, {name} is below 0: {tokens}"));
    }
    let sum: i128 = split.values().map(|tokens| i128::from(*tokens)).sum();
    let sums = matches!(figure.value, Number::Whole(value) if i128::from(value) == sum);
    (!sums).then(|| format!("the tokens of `{metric}` by origin sum to {sum}, not to {}", figure.value))
}

/// What to do about cells of which two things are said.
pub fn said_twice(twice: &[Twice]) -> String {
    let mut cells: Vec<&str> = twice.iter().map(|one| one.cell.as_str()).collect();
    cells.dedup();
    let all: BTreeSet<&str> = cells.iter().copied().collect();
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

fn read_mark(text: &str) -> Option<Mark> {
    let words: Vec<&str> = text.split('|').collect();
    let [what, origin_name, tokens, digest] = words.as_slice() else { return None };
    let tokens = if *tokens == "?" { None } else { Some(tokens.parse().ok()?) };
    Some(Mark { what: plain(what)?, origin: origin(origin_name)?, tokens, digest: (*digest).to_owned() })
}

fn origin(name: &str) -> Option<Origin> {
    Origin::ALL.into_iter().find(|origin| origin.name() == name)
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
