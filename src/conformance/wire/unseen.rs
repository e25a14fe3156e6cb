//! What no request of a recording shows: what a child said last, a task whose call the server kept, the user's words
//! inside a client's frame.
//!
//! A run is played with a probe in each of their places. Where the probe turns up in the run, the recording has the
//! text in question: around both stands what the strategy makes of it.

use std::rc::Rc;

use crate::strategy::Strategy;
use crate::transcript::Part;

use super::entry::{Entry, Placed};
use super::family::Family;
use super::file::Request;
use super::glob;
use super::plan::{Input, Plan};
use super::play::{Played, Sent, Unseen, play};
use super::text::{Long, Text};
use super::threads::Threads;

/// What a probe of a kind looks like: a word that no text holds by chance and that nothing escapes, cuts or masks.
fn probe(kind: &str, number: usize) -> String {
    format!("qzv{kind}{number}qzv")
}

/// Finds what is not shown.
pub(super) fn unseen(strategy: &dyn Strategy, threads: &Rc<Threads>, plan: &Rc<Plan>, family: Family) -> Unseen {
    let one_text = |input: &Input| matches!(input.messages.as_slice(), [message] if message.len() == 1);
    let spoken = plan.user.iter().enumerate().filter(|(_, input)| one_text(input));
    let probes = Unseen {
        user: spoken.map(|(at, _)| (at, probe("user", at))).collect(),
        finals: (0..plan.children.len()).map(|child| probe("final", child)).collect(),
        tasks: (0..plan.children.len()).map(|child| probe("task", child)).collect(),
    };
    let played = play(strategy, threads, plan, &probes, family);
    let user = probes.user.iter().filter_map(|(&at, probe)| {
        let input = &plan.user[at];
        let found = words(threads.root.get(input.request)?, played.root.get(input.request)?, probe)?;
        Some((at, found))
    });
    let user = user.collect();
    let finals = probes.finals.iter().enumerate();
    let finals = finals.map(|(child, probe)| last_words(threads, plan, &played, child, probe).unwrap_or_else(|| UNKNOWN.to_owned()));
    let tasks = probes.tasks.iter().enumerate();
    let tasks = tasks.map(|(child, probe)| task(&threads.children[child], played.children.get(child), probe));
    Unseen { user, finals: finals.collect(), tasks: tasks.collect() }
}

/// What a child says whose last words cannot be made out.
const UNKNOWN: &str = "(not recorded)";

/// Where a probe stands in a request of the run: the entry, the number of the part, its text.
fn holding<'a>(sent: &'a Sent, probe: &'a str) -> impl Iterator<Item = (&'a Entry<Part>, usize, &'a str)> {
    let parts = sent.entries.iter().flat_map(|entry| entry.parts().iter().enumerate().map(move |(at, part)| (entry, at, part.as_text())));
    parts.filter(move |(_, _, text)| text.contains(probe))
}

/// Whether a recorded entry can be the run's: of one kind, of one role, of one call.
fn fits(recorded: &Entry<Text>, given: &Entry<Part>) -> bool {
    match (recorded, given) {
        (Entry::Message { role, .. }, Entry::Message { role: other, .. }) => role == other,
        (Entry::Result { id, .. }, Entry::Result { id: other, .. }) => id == other,
        (Entry::Mail { .. }, Entry::Mail { .. }) => true,
        _ => false,
    }
}

/// The recorded text in a probe's place, among recorded entries.
fn in_place<'a>(mut recorded: impl Iterator<Item = &'a Entry<Text>>, sent: &Sent, probe: &str) -> Option<String> {
    let held: Vec<_> = holding(sent, probe).collect();
    recorded.find_map(|entry| {
        held.iter().filter(|(given, ..)| fits(entry, given)).find_map(|(given, at, text)| {
            let aligned = entry.parts().len() == given.parts().len();
            let parts = entry.parts().iter().enumerate().filter(|(number, _)| !aligned || number == at);
            parts.map(|(_, part)| part).find_map(|part| at_probe(part, text, probe))
        })
    })
}

fn at_probe(recorded: &Text, given: &str, probe: &str) -> Option<String> {
    match recorded {
        Text::Plain(text) => glob::at_probe(text, given, probe),
        Text::Long(long) => {
            let (head, around) = glob::behind_probe(&long.head, given, probe)?;
            let chars = long.chars.checked_sub(around)?;
            Some(Long { head, chars, ..long.clone() }.whole())
        }
        Text::Scaffold(_) => None,
    }
}

/// The user's words, out of whatever frame the strategy puts around them.
fn words(recorded: &Request, sent: &Sent, probe: &str) -> Option<String> {
    in_place(recorded.entries.iter().rev().map(|placed| &placed.entry), sent, probe)
}

/// What a child said last: what its parent was told in the place of the probe.
fn last_words(threads: &Threads, plan: &Plan, played: &Played, child: usize, probe: &str) -> Option<String> {
    let from = plan.openings.get(child)?.request;
    let before = &threads.root.get(from)?.entries;
    let is_new = |placed: &&Placed<Text>| before.iter().all(|known| known.entry != placed.entry);
    let pairs = || threads.root.iter().zip(&played.root).skip(from + 1);
    let plain =
        pairs().find_map(|(recorded, sent)| in_place(recorded.entries.iter().filter(is_new).map(|placed| &placed.entry), sent, probe));
    plain.or_else(|| {
        // Prose around it: the file says which texts of the run stand in it.
        let is_told = |held: &&String| before.iter().all(|placed| placed.entry.parts().iter().all(|text| text.plain() != Some(held)));
        pairs().find_map(|(recorded, sent)| {
            holding(sent, probe).next()?;
            let prose = recorded.entries.iter().filter(is_new).flat_map(|placed| placed.entry.parts());
            let held = prose.filter_map(|text| if let Text::Scaffold(scaffold) = text { scaffold.holds.as_ref() } else { None });
            held.flatten().find(is_told).cloned()
        })
    })
}

/// The task of a child, in what it was given.
fn task(child: &[Request], sent: Option<&Sent>, probe: &str) -> String {
    let entries = || child.first().into_iter().flat_map(|request| request.entries.iter().rev()).map(|placed| &placed.entry);
    let found = sent.and_then(|sent| in_place(entries(), sent, probe));
    let last = || entries().flat_map(Entry::parts).find_map(Text::plain).map(str::to_owned);
    found.or_else(last).unwrap_or_default()
}
