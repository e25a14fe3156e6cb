//! Markers: the texts by which a thread is seen to know a fact, to hold a deliverable, or to be bound to a task.
//!
//! A marker is matched in Unicode's NFC, with every run of white space as one blank, case-sensitively, with a word
//! boundary at both ends, on the text of a part as it stands and as it reads with JSON string escapes and tag escapes
//! undone. It never counts in tool schemas, in the arguments of the thread's own calls, inside a topic's label, or in an
//! `unknown:` line. What a text holds depends on the text alone, so each distinct part is read once ([`MarkerIndex`]).

mod invented;
#[cfg(test)]
mod tests;
mod text;
mod told;

use std::sync::{Arc, Mutex};

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::transcript::{Body, Content, Digest, Item, Origin, Part};

use super::{IntentIndex, Scenario, TopicIndex};
pub use invented::invented;
pub(crate) use text::{fold, is_boundary, is_spaced_word, readings, words};
use text::{places, unknown_lines};
pub use told::Telling;

/// The fewest characters of a marker.
pub const SHORTEST: usize = 4;

/// What a deliverable says where its maker knew no value.
pub const GUESS: &str = "guess";

/// What a thread answers that finds no task.
pub const UNKNOWN_TASK: &str = "unknown: task";

const UNKNOWN: &str = "unknown: ";

/// Why a text cannot be a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is too short to be told from chance.
    #[error("a marker needs at least {SHORTEST} characters")]
    TooShort,
    /// Quotes are escaped in JSON, differently at each depth.
    #[error("a marker may hold no quotes")]
    Quote,
    /// It is escaped inside tags.
    #[error("a marker may hold no `<`")]
    Tag,
    /// It may be escaped, wrapped or numbered.
    #[error("a marker may hold no line break")]
    Newline,
    /// The ends of a marker must be text.
    #[error("a marker may not begin or end with white space")]
    Blank,
}

/// Why this text cannot be a marker; `None`: it can.
pub fn fault(marker: &str) -> Option<Fault> {
    if marker.chars().any(|c| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')) {
        Some(Fault::Newline)
    } else if marker.contains(['"', '\'', '`', '“', '”', '‘', '’', '„', '«', '»']) {
        Some(Fault::Quote)
    } else if marker.contains('<') {
        Some(Fault::Tag)
    } else if marker.trim() != marker {
        Some(Fault::Blank)
    } else if fold(marker).chars().count() < SHORTEST {
        Some(Fault::TooShort)
    } else {
        None
    }
}

/// Whether a marker stands in a text, plain or decoded. Labels and `unknown:` lines are not looked at: for one marker in
/// one text (a validator, a scorer), where [`MarkerIndex`] is for a whole scenario.
pub fn stands_in(marker: &str, text: &str) -> bool {
    let marker = fold(marker);
    let finder = Finder::new(marker.as_bytes());
    readings(text).iter().any(|reading| places(&finder, marker.len(), &fold(reading)).next().is_some())
}

/// A deliverable's text: `DONE label: value, value`; `values` are positions in the facts of the topics it is made of, in
/// their order, `None` where its maker knew none. One that is made of nothing says `done`.
pub fn deliverable(scenario: &Scenario, topic: TopicIndex, values: &[Option<usize>]) -> String {
    let topic = &scenario.topics[topic];
    let from = topic.made.as_ref().map_or(&[][..], |made| &made.from);
    let value = |(&source, fact): (&TopicIndex, &Option<usize>)| {
        let fact = fact.and_then(|fact| scenario.topics.get(source)?.facts.get(fact));
        fact.map_or(GUESS.into(), |fact| fact.value.clone())
    };
    let mut values: Vec<String> = from.iter().zip(values).map(value).collect();
    if values.is_empty() {
        values.push("done".into());
    }
    format!("DONE {}: {}", topic.label, values.join(", "))
}

/// What a reader says of a topic that it does not know and does not admit not to know: `LABEL: VALUE`.
pub fn claim(scenario: &Scenario, topic: TopicIndex, value: &str) -> String {
    format!("{}: {value}", scenario.topics[topic].label)
}

/// A value of nobody's: two words and four digits. No marker and no fact of a scenario has that form, so that it is known
/// for what it is wherever it stands.
pub fn invention(drawn: u64) -> String {
    const FIRST: [&str; 8] = ["amber", "brisk", "cedar", "dusty", "early", "fleet", "grand", "humble"];
    const SECOND: [&str; 8] = ["anchor", "beacon", "carrier", "dagger", "engine", "falcon", "garden", "harvest"];
    let of = |words: [&'static str; 8], at: u64| words[(at % 8) as usize];
    format!("{}-{}-{:04}", of(FIRST, drawn), of(SECOND, drawn / 8), drawn / 64 % 10_000)
}

/// The invented value behind a label, if that is what stands there.
fn invented_at(behind: &str) -> Option<&str> {
    let rest = behind.strip_prefix(": ")?;
    let value = &rest[..rest.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-').unwrap_or(rest.len())];
    let pieces: Vec<&str> = value.split('-').collect();
    let is = |piece: &str, of: fn(&u8) -> bool| !piece.is_empty() && piece.bytes().all(|byte| of(&byte));
    match pieces[..] {
        [first, second, digits] if digits.len() == 4 => {
            (is(first, u8::is_ascii_lowercase) && is(second, u8::is_ascii_lowercase) && is(digits, u8::is_ascii_digit)).then_some(value)
        }
        _ => None,
    }
}

/// What a text can bind a thread to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// The work of a user turn, by its position in [`Scenario::turns`].
    Turn(usize),
    /// An intent's work.
    Intent(IntentIndex),
    /// One follow-up of an intent, by its position in [`IntentSpec::follow_ups`](super::IntentSpec::follow_ups): bound by
    /// its whole text.
    FollowUp(IntentIndex, usize),
}

/// A deliverable as it stands in a text: for each topic that it is made of the position of the fact whose value is
/// quoted, `None` for a guess.
pub type Values = Vec<Option<usize>>;

/// What one text holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Every fact of which a marker stands in it, as (topic, position in its facts), ascending, each once.
    pub facts: Vec<(TopicIndex, usize)>,
    /// The last complete deliverable of each topic, ascending by topic.
    pub made: Vec<(TopicIndex, Values)>,
    /// Topics of which it says `unknown: LABEL`, ascending, each once.
    pub unknown: Vec<TopicIndex>,
    /// Values that a reader invented ([`claim`]): the last one of each topic, ascending by topic.
    pub claimed: Vec<(TopicIndex, String)>,
    /// Whether it says `unknown: task`.
    pub unknown_task: bool,
    /// Task markers, in the order in which they stand in it.
    pub tasks: Vec<Task>,
}

impl Found {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        *self == Found::default()
    }
}

/// What a thread can see of one topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownTopic {
    /// The newest fact, in the order of the topic's facts, of which a marker is visible.
    pub fact: Option<usize>,
    /// The last visible deliverable.
    pub made: Option<Values>,
    /// Whether `unknown: LABEL` is visible.
    pub unknown: bool,
    /// The last visible value that a reader invented.
    pub claimed: Option<String>,
}

/// What a thread can see of a scenario's topics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    topics: Vec<KnownTopic>,
}

impl Known {
    /// Of so many topics nothing.
    pub fn nothing(topics: usize) -> Known {
        Known { topics: vec![KnownTopic::default(); topics] }
    }

    /// What is known of a topic; `None`: there is no such topic.
    pub fn of(&self, topic: TopicIndex) -> Option<&KnownTopic> {
        self.topics.get(topic)
    }

    /// Every topic, in order.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut KnownTopic> {
        self.topics.iter_mut()
    }

    /// The newest fact of a topic of which a marker is visible.
    pub fn fact(&self, topic: TopicIndex) -> Option<usize> {
        self.of(topic)?.fact
    }

    /// The last visible deliverable of a topic.
    pub fn made(&self, topic: TopicIndex) -> Option<&Values> {
        self.of(topic)?.made.as_ref()
    }

    /// Whether `unknown: LABEL` is visible of a topic.
    pub fn is_said_unknown(&self, topic: TopicIndex) -> bool {
        self.of(topic).is_some_and(|topic| topic.unknown)
    }

    /// Whether a topic is known, as far as its reader can tell: a fact of it, the deliverable itself, or what somebody
    /// invented and stated.
    pub fn has(&self, topic: TopicIndex) -> bool {
        self.of(topic).is_some_and(|topic| topic.fact.is_some() || topic.made.is_some() || topic.claimed.is_some())
    }

    /// Adds what a text that stands after all others holds.
    pub fn add(&mut self, found: &Found) {
        for &(topic, fact) in &found.facts {
            self.topics[topic].fact = self.topics[topic].fact.max(Some(fact));
        }
        for (topic, values) in &found.made {
            self.topics[*topic].made = Some(values.clone());
        }
        for &topic in &found.unknown {
            self.topics[topic].unknown = true;
        }
        for (topic, value) in &found.claimed {
            self.topics[*topic].claimed = Some(value.clone());
        }
    }
}

enum Meaning {
    Fact(TopicIndex, usize),
    Made(TopicIndex),
    Label(TopicIndex),
    Task(Task),
    UnknownTask,
}

struct Pattern {
    finder: Finder<'static>,
    length: usize,
    meanings: Vec<Meaning>,
}

/// How a deliverable is read back.
struct MadeForm {
    topic: TopicIndex,
    /// For each topic that it is made of: texts that may stand there, longest first.
    values: Vec<Vec<(String, Option<usize>)>>,
}

struct Compiled {
    topics: usize,
    patterns: Vec<Pattern>,
    made: Vec<MadeForm>,
    /// What the scenario's own texts hold.
    own: FxHashMap<Digest, Arc<Found>>,
}

/// Every marker of a scenario, ready to be looked for; remembers by content what each part holds.
pub struct MarkerIndex {
    compiled: Arc<Compiled>,
    nothing: Arc<Found>,
    memo: Mutex<FxHashMap<Digest, Arc<Found>>>,
    /// Who answers in words of its own, so that facts are also found by them.
    telling: Option<Arc<Telling>>,
}

impl MarkerIndex {
    /// The index of a scenario. The scenario's own texts are read here, once.
    pub fn new(scenario: &Scenario) -> MarkerIndex {
        let mut patterns: Vec<(String, Vec<Meaning>)> = Vec::new();
        let mut add = |text: &str, meaning: Meaning| {
            let text = fold(text).into_owned();
            if text.is_empty() {
                return;
            }
            match patterns.iter_mut().find(|(known, _)| *known == text) {
                Some((_, meanings)) => meanings.push(meaning),
                None => patterns.push((text, vec![meaning])),
            }
        };
        for (at, topic) in scenario.topics.iter().enumerate() {
            add(topic.label.trim(), Meaning::Label(at));
            for (fact, one) in topic.facts.iter().enumerate() {
                for marker in &one.markers {
                    add(marker.trim(), Meaning::Fact(at, fact));
                }
            }
            if topic.made.is_some() {
                add(&format!("DONE {}:", topic.label), Meaning::Made(at));
            }
        }
        for (at, turn) in scenario.turns.iter().enumerate() {
            add(turn.work.marker.trim(), Meaning::Task(Task::Turn(at)));
        }
        for (at, intent) in scenario.intents.iter().enumerate() {
            add(intent.work.marker.trim(), Meaning::Task(Task::Intent(at)));
            for (nth, follow_up) in intent.follow_ups.iter().enumerate() {
                add(follow_up.task.trim(), Meaning::Task(Task::FollowUp(at, nth)));
            }
        }
        add(UNKNOWN_TASK, Meaning::UnknownTask);
        let patterns = patterns
            .into_iter()
            .map(|(text, meanings)| Pattern { length: text.len(), finder: Finder::new(text.as_bytes()).into_owned(), meanings })
            .collect();
        let mut compiled = Compiled { topics: scenario.topics.len(), patterns, made: made_forms(scenario), own: FxHashMap::default() };
        for part in own_parts(scenario) {
            if !compiled.own.contains_key(&part.digest()) {
                let found = compiled.scan(part.as_text());
                compiled.own.insert(part.digest(), Arc::new(found));
            }
        }
        MarkerIndex::of(Arc::new(compiled))
    }

    fn of(compiled: Arc<Compiled>) -> MarkerIndex {
        MarkerIndex { compiled, nothing: Arc::default(), memo: Mutex::default(), telling: None }
    }

    /// The same index for one run: it shares what the scenario's own texts hold and forgets the run's texts with the run.
    pub fn for_run(&self) -> MarkerIndex {
        MarkerIndex { telling: self.telling.clone(), ..MarkerIndex::of(self.compiled.clone()) }
    }

    /// The same index for answers of models, which say facts in words of their own.
    pub fn telling(self, telling: Telling) -> MarkerIndex {
        MarkerIndex { telling: Some(Arc::new(telling)), ..self }
    }

    /// What a part holds. A distinct part is read once.
    pub fn of_part(&self, part: &Part) -> Arc<Found> {
        let Content::Text(text) = part.content() else { return self.nothing.clone() };
        self.look_up(&mut self.memo.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), part.digest(), text)
    }

    fn look_up(&self, memo: &mut FxHashMap<Digest, Arc<Found>>, digest: Digest, text: &str) -> Arc<Found> {
        if let Some(found) = self.compiled.own.get(&digest).or_else(|| memo.get(&digest)) {
            return found.clone();
        }
        let found = self.scan(text);
        let found = if found.is_empty() { self.nothing.clone() } else { Arc::new(found) };
        memo.insert(digest, found.clone());
        found
    }

    /// What a text holds that is no part. A distinct one is read once, too.
    pub fn of_text(&self, text: &str) -> Arc<Found> {
        self.look_up(&mut self.memo.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), Digest::of(text), text)
    }

    /// What an answer states: what it holds, and for a model's what its words tell.
    pub fn stated(&self, text: &str) -> Arc<Found> {
        let found = self.of_text(text);
        let Some(telling) = &self.telling else { return found };
        let mut found = (*found).clone();
        // An answer often arrives inside JSON or tags: it is read with escapes undone as well.
        readings(text).iter().for_each(|reading| telling.add(reading, &mut found));
        Arc::new(found)
    }

    /// What a text holds, read afresh.
    pub fn scan(&self, text: &str) -> Found {
        self.compiled.scan(text)
    }

    /// How many topics there are.
    pub fn topics(&self) -> usize {
        self.compiled.topics
    }

    /// What is visible to a thread in a request: what [its visible parts](visible_parts) hold together.
    pub fn visible(&self, system: Option<&Part>, items: &[Item]) -> Known {
        let mut known = Known::nothing(self.compiled.topics);
        let mut memo = self.memo.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for part in visible_parts(system, items) {
            let Content::Text(text) = part.content() else { continue };
            let found = self.look_up(&mut memo, part.digest(), text);
            if !Arc::ptr_eq(&found, &self.nothing) {
                known.add(&found);
            }
        }
        known
    }

    /// The task markers of an item, in order; none in the arguments of the thread's own calls.
    pub fn tasks(&self, item: &Item) -> Vec<Task> {
        let parts = if counts(item) { item.parts() } else { &[] };
        let mut tasks = Vec::new();
        for part in parts {
            tasks.extend_from_slice(&self.of_part(part).tasks);
        }
        tasks
    }
}

impl std::fmt::Debug for MarkerIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MarkerIndex").field("patterns", &self.compiled.patterns.len()).finish_non_exhaustive()
    }
}

/// The parts of a request in which markers count: the system text and the items, without the arguments of the thread's own
/// calls and without records that no model reads.
pub fn visible_parts<'a>(system: Option<&'a Part>, items: &'a [Item]) -> impl Iterator<Item = &'a Part> {
    system.into_iter().chain(items.iter().filter(|item| counts(item)).flat_map(Item::parts))
}

/// Whether markers count in an item at all.
fn counts(item: &Item) -> bool {
    item.is_sent() && !(item.origin == Origin::Own && matches!(item.body(), Body::Call(_)))
}

/// The texts that every run of a scenario meets.
fn own_parts(scenario: &Scenario) -> Vec<Part> {
    let mut parts: Vec<Part> = scenario.agents.values().filter_map(|agent| agent.system.clone()).collect();
    parts.extend(scenario.history.iter().flat_map(Item::parts).cloned());
    parts.extend(scenario.turns.iter().flat_map(|turn| &turn.items).flat_map(Item::parts).cloned());
    parts.extend(scenario.world.files.values().map(|text| Part::text(text.as_str())));
    for behaviour in scenario.world.tools.values() {
        if let super::ToolBehaviour::Declared { outputs, otherwise } = behaviour {
            parts.extend(outputs.values().chain(otherwise.as_deref()).map(|output| Part::text(output.text.as_str())));
        }
    }
    parts.extend(scenario.intents.iter().flat_map(|intent| [&intent.task, &intent.terse]).map(|text| Part::text(text.as_str())));
    parts
}

fn made_forms(scenario: &Scenario) -> Vec<MadeForm> {
    let form = |(topic, made): (usize, &super::Made)| {
        let candidates = |&source: &TopicIndex| {
            let facts = scenario.topics.get(source).map_or(&[][..], |topic| &topic.facts);
            // The newest fact first, so that of two equal values the newest is meant.
            let mut texts: Vec<(String, Option<usize>)> =
                facts.iter().enumerate().rev().map(|(at, fact)| (fold(&fact.value).trim().to_owned(), Some(at))).collect();
            texts.push((GUESS.into(), None));
            texts.retain(|(text, _)| !text.is_empty());
            texts.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
            texts
        };
        let mut values: Vec<_> = made.from.iter().map(candidates).collect();
        if values.is_empty() {
            values.push(vec![("done".into(), None)]);
        }
        MadeForm { topic, values }
    };
    scenario.topics.iter().enumerate().filter_map(|(at, topic)| Some((at, topic.made.as_ref()?))).map(form).collect()
}

impl Compiled {
    fn scan(&self, text: &str) -> Found {
        let mut found = Found::default();
        // The plain reading first: where both hold a deliverable or a task, the decoded reading says it last.
        for reading in readings(text) {
            self.scan_reading(&reading, &mut found);
        }
        found.facts.sort_unstable();
        found.facts.dedup();
        found.unknown.sort_unstable();
        found.unknown.dedup();
        found.claimed.sort_unstable();
        found
    }

    fn scan_reading(&self, reading: &str, found: &mut Found) {
        let text = fold(reading);
        let mut hits: SmallVec<[(usize, usize, &Meaning); 8]> = SmallVec::new();
        let mut masks: SmallVec<[(usize, usize); 8]> = SmallVec::new();
        for pattern in &self.patterns {
            for at in places(&pattern.finder, pattern.length, &text) {
                let end = at + pattern.length;
                for meaning in &pattern.meanings {
                    match meaning {
                        Meaning::Label(topic) => {
                            masks.push((at, end));
                            if text[..at].ends_with(UNKNOWN) && is_boundary(&text, at - UNKNOWN.len()) {
                                found.unknown.push(*topic);
                            }
                            if let Some(value) = invented_at(&text[end..]) {
                                found.claimed.retain(|(known, _)| known != topic);
                                found.claimed.push((*topic, value.to_owned()));
                            }
                        }
                        meaning => hits.push((at, end, meaning)),
                    }
                }
            }
        }
        let labels = masks.len();
        let names_label = |masks: &[(usize, usize)], at: usize| masks[..labels].iter().any(|&(begins, _)| begins == at + UNKNOWN.len());
        if !hits.is_empty() {
            // A line that names a label is hidden as far as the label goes: whatever joined lines to one keeps the rest.
            let lines = unknown_lines(reading).into_iter().filter(|&(at, _)| !names_label(&masks, at)).collect::<Vec<_>>();
            found.unknown_task |= hits.iter().any(|(at, _, meaning)| matches!(meaning, Meaning::UnknownTask) && !names_label(&masks, *at));
            masks.extend(lines);
        }
        hits.retain(|&mut (at, end, _)| !masks.iter().any(|&(from, to)| from <= at && end <= to));
        hits.sort_by_key(|&(at, end, _)| (at, end));
        let mut tasks: SmallVec<[(usize, usize, Task); 2]> = SmallVec::new();
        for (at, end, meaning) in hits {
            match meaning {
                Meaning::Fact(topic, fact) => found.facts.push((*topic, *fact)),
                Meaning::Task(task) => tasks.push((at, end, *task)),
                Meaning::Made(topic) => {
                    let form = self.made.iter().find(|form| form.topic == *topic);
                    if let Some(values) = form.and_then(|form| form.read(&text, end)) {
                        found.made.retain(|(known, _)| known != topic);
                        found.made.push((*topic, values));
                        found.made.sort_by_key(|(topic, _)| *topic);
                    }
                }
                Meaning::Label(_) | Meaning::UnknownTask => {}
            }
        }
        let whole = |&(at, end, _): &(usize, usize, Task)| !tasks.iter().any(|&(a, e, _)| a <= at && end <= e && (a, e) != (at, end));
        let tasks: Vec<Task> = tasks.iter().filter(|task| whole(task)).map(|&(_, _, task)| task).collect();
        if !tasks.is_empty() {
            found.tasks.retain(|known| !tasks.contains(known));
            found.tasks.extend(tasks);
        }
    }
}

impl MadeForm {
    /// Reads the values that follow `DONE label:`; a value that is cut or unheard of makes no deliverable.
    fn read(&self, text: &str, at: usize) -> Option<Values> {
        fn rest(text: &str, at: usize, before: &str, open: &[Vec<(String, Option<usize>)>]) -> Option<Vec<Option<usize>>> {
            let Some((candidates, later)) = open.split_first() else { return is_boundary(text, at).then(Vec::new) };
            let at = at + text[at..].starts_with(before).then_some(before.len())?;
            candidates.iter().filter(|(value, _)| text[at..].starts_with(value.as_str())).find_map(|(value, fact)| {
                let mut values = rest(text, at + value.len(), ", ", later)?;
                values.insert(0, *fact);
                Some(values)
            })
        }
        let mut values = rest(text, at, " ", &self.values)?;
        if self.values.iter().all(|candidates| candidates.len() == 1 && candidates[0].0 == "done") {
            values.clear();
        }
        Some(values)
    }
}
