//! What stands before the reader: the rendered request and what can be read off it.

use rustc_hash::FxHashMap;

use crate::scenario::marker::{Known, MarkerIndex, Task, Values};
use crate::scenario::{IntentIndex, Scenario, TopicIndex};
use crate::strategy::codex::fork::ABORTED;
use crate::strategy::filter::PLACEHOLDER;
use crate::strategy::{Act, Call, ToolSpec};
use crate::transcript::{Body, CallKey, Digest, Heard, Item, Means, Origin, Outcome, Part, Role, heard};

use super::notice::Seen;
use super::{ArgumentsId, Manner, Reading, Tables};

/// How the labels begin under which a snapshot tells a history as text.
const TOLD: &str = "\nHistorical ";
/// The one of a tool's result.
const TOLD_RESULT: &str = "\nHistorical tool result (";

/// A delegating call of this thread, and what its items tell of it.
pub(super) struct Told {
    pub intent: IntentIndex,
    /// Where the call stands.
    pub at: usize,
    /// Which follow-ups of the intent its arguments ask for.
    pub follow_ups: Vec<usize>,
    /// Where its result stands and whether that reads as an error.
    pub result: Option<(usize, bool)>,
    pub heard: Heard,
}

impl Told {
    /// Whether its child is at work, as far as this thread was told.
    pub fn is_running(&self) -> bool {
        self.heard.outcome == Outcome::Started
    }

    /// Whether its work or its failure has arrived.
    pub fn has_ended(&self) -> bool {
        matches!(self.heard.outcome, Outcome::Returned | Outcome::Failed)
    }

    /// Whether its items say anything beyond "received": a message to a running child may be answered by that alone.
    pub fn says_something(&self) -> bool {
        self.heard.outcome != Outcome::Called || self.result.is_none()
    }
}

/// How often a call of a tool stands in the visible text with its result.
#[derive(Clone, Copy, Default)]
pub(super) struct Stands {
    pub completed: bool,
    pub failures: u32,
    /// Somebody has made it, and what it gave is not here: the text says that it was still running.
    pub under_way: bool,
}

/// What the text that stands for a call's result says of the call.
fn outcome_of(text: &str, failed: bool) -> Stands {
    let under_way = text == PLACEHOLDER;
    let failed = failed || text == ABORTED;
    Stands { completed: !failed && !under_way, failures: u32::from(failed && !under_way), under_way }
}

/// The rendered request, read. Nothing here knows which thread this is.
pub(super) struct Sight<'a> {
    pub tables: &'a Tables,
    pub index: &'a MarkerIndex,
    pub manner: &'a Manner,
    pub system: Option<&'a Part>,
    pub items: &'a [Item],
    /// Tokens of the request.
    tokens: u64,
    pub tools: &'a [ToolSpec],
    pub speak: &'a dyn Fn(&Act<'_>) -> Option<Call>,
    /// What is visible of the scenario's topics.
    pub known: Known,
    /// This thread's delegating calls, in order.
    pub told: Vec<Told>,
    reading: &'a Reading,
    /// By tool and arguments.
    calls: FxHashMap<(&'a str, ArgumentsId), Stands>,
}

impl<'a> Sight<'a> {
    pub fn new(reading: &'a Reading, seen: Seen<'a>, tools: &'a [ToolSpec], speak: &'a dyn Fn(&Act<'_>) -> Option<Call>) -> Sight<'a> {
        let Seen { system, items, tokens } = seen;
        let mut results: FxHashMap<CallKey, (usize, bool)> = FxHashMap::default();
        for (at, item) in items.iter().enumerate() {
            if let Body::Result { key: Some(key), failed, .. } = item.body() {
                results.insert(*key, (at, *failed));
            }
        }
        let mut calls: FxHashMap<(&str, ArgumentsId), Stands> = FxHashMap::default();
        for call in items.iter().filter_map(Item::as_call) {
            if let Some(&(result, failed)) = results.get(&call.key) {
                let stands = calls.entry((&call.name, reading.arguments(&call.args))).or_default();
                let text = items[result].parts().first().map_or("", Part::as_text);
                let one = outcome_of(text, failed);
                stands.completed |= one.completed;
                stands.failures += one.failures;
                stands.under_way |= one.under_way;
            }
        }
        for item in items.iter().filter(|item| item.role() == Some(Role::User)) {
            for (tool, arguments) in told_as_text(item) {
                if let Some(shown) = tools.iter().find(|shown| shown.name == tool) {
                    calls.entry((&shown.name, Digest::of(&arguments))).or_default().completed = true;
                }
            }
        }
        let scenario = &reading.tables.scenario;
        let heard = heard(items);
        let mut own: FxHashMap<CallKey, usize> = FxHashMap::default();
        if !heard.is_empty() {
            let calls = items.iter().enumerate().filter(|(_, item)| item.origin == Origin::Own);
            own.extend(calls.filter_map(|(at, item)| Some((item.as_call()?.key, at))));
        }
        let told = heard
            .into_iter()
            .filter_map(|heard| {
                let at = *own.get(&heard.call)?;
                let intent = scenario.intent(&heard.intent)?;
                let mut follow_ups = Vec::new();
                for part in items[at].parts() {
                    follow_ups.extend(reading.index.of_part(part).tasks.iter().filter_map(|task| match *task {
                        Task::FollowUp(of, nth) if of == intent => Some(nth),
                        _ => None,
                    }));
                }
                Some(Told { intent, at, follow_ups, result: results.get(&heard.call).copied(), heard })
            })
            .collect();
        Sight {
            tables: &reading.tables,
            index: &reading.index,
            manner: &reading.manner,
            known: reading.known(&seen),
            system,
            items,
            tokens,
            tools,
            speak,
            told,
            reading,
            calls,
        }
    }

    /// The same request as it stood when so many of its items were there.
    pub fn earlier(&self, length: usize) -> Sight<'a> {
        Sight::new(self.reading, self.before(length), self.tools, self.speak)
    }

    /// What stood here then. How long it was is judged by its share of the items.
    fn before(&self, length: usize) -> Seen<'a> {
        let items = &self.items[..length.min(self.items.len())];
        let share = items.len() as f64 / self.items.len().max(1) as f64;
        Seen { system: self.system, items, tokens: (self.tokens as f64 * share) as u64 }
    }

    /// What this thread knew when so many of its items were there.
    pub fn known_before(&self, length: usize) -> Known {
        self.reading.known(&self.before(length))
    }

    pub fn scenario(&self) -> &'a Scenario {
        &self.tables.scenario
    }

    /// Whether a tool is shown.
    pub fn shows(&self, tool: &str) -> bool {
        self.tools.iter().any(|shown| shown.name == tool)
    }

    /// How a call of a tool stands in the visible text.
    pub fn stands(&self, tool: &str, arguments: ArgumentsId) -> Stands {
        self.calls.get(&(tool, arguments)).copied().unwrap_or_default()
    }

    /// The task markers of an item that can bind, in order: none of what a snapshot tells of tool results.
    pub fn binding(&self, item: &Item) -> Vec<Task> {
        if !item.parts().iter().any(|part| part.as_text().starts_with(TOLD)) {
            return self.index.tasks(item);
        }
        let mut in_result = false;
        let mut tasks = Vec::new();
        for part in item.parts() {
            match part.as_text() {
                label if label.starts_with(TOLD) => in_result = label.starts_with(TOLD_RESULT),
                _ if in_result => {}
                _ => tasks.extend(self.index.of_part(part).tasks.iter().copied()),
            }
        }
        tasks
    }

    /// What the items at these positions hold together.
    pub fn known_of(&self, positions: &[usize]) -> Known {
        let mut known = Known::nothing(self.scenario().topics.len());
        for part in positions.iter().filter_map(|&at| self.items.get(at)).flat_map(Item::parts) {
            known.add(&self.index.of_part(part));
        }
        known
    }

    /// The values that this thread knows of the topics that a deliverable is made of.
    pub fn values(&self, from: &[TopicIndex]) -> Values {
        from.iter().map(|&topic| self.known.fact(topic)).collect()
    }

    /// Where the reply that holds an own item begins and ends: own items side by side are one reply.
    pub fn reply_around(&self, at: usize) -> std::ops::Range<usize> {
        let is_own = |item: &Item| item.origin == Origin::Own;
        let before = self.items[..at].iter().rev().take_while(|item| is_own(item)).count();
        let behind = self.items[at..].iter().take_while(|item| is_own(item)).count();
        at - before..at + behind
    }

    /// Where the thread's last reply since a position stands.
    pub fn last_reply(&self, from: usize) -> Option<std::ops::Range<usize>> {
        let last = self.items.iter().rposition(|item| item.origin == Origin::Own).filter(|&at| at >= from)?;
        Some(self.reply_around(last))
    }

    pub fn has_not_spoken_since(&self, from: usize) -> bool {
        self.last_reply(from).is_none()
    }

    /// Whether three waits brought nothing since a call was made.
    pub fn is_given_up_waiting(&self, call_at: usize) -> bool {
        self.items[call_at..].iter().filter(|item| item.means.contains(&Means::TimedOut)).count() >= 3
    }

    /// The last own message since a position that holds a text.
    pub fn last_said(&self, text: &str, from: usize) -> Option<usize> {
        let is_it = |item: &Item| {
            item.origin == Origin::Own && item.role().is_some() && item.parts().iter().any(|part| part.as_text().contains(text))
        };
        Some(from + self.items[from..].iter().rposition(is_it)?)
    }

    /// Whether exactly this call stands in the thread since a position.
    pub fn has_called(&self, call: &Call, from: usize) -> bool {
        let arguments = self.reading.arguments(&Part::text(call.args.as_str()));
        let is_it = |item: &Item| {
            item.origin == Origin::Own
                && item.as_call().is_some_and(|made| made.name == call.name && self.reading.arguments(&made.args) == arguments)
        };
        self.items[from..].iter().any(is_it)
    }
}

/// Calls that a message tells of, with their results, as text (a snapshot of a history): tool and normalised arguments.
fn told_as_text(item: &Item) -> Vec<(String, String)> {
    const CALLS: &str = "Historical tool calls (not executed by you): ";
    let texts = || item.parts().iter().map(Part::as_text);
    let lists = texts().filter_map(|text| serde_json::from_str::<Vec<serde_json::Value>>(text.strip_prefix(CALLS)?).ok());
    let field = |call: &serde_json::Value, key: &str| Some(call.get(key)?.as_str()?.to_owned());
    let told = lists.flatten().filter_map(|call| {
        let (tool, id) = (field(&call, "name")?, field(&call, "id")?);
        let label = format!("{TOLD_RESULT}{tool}, call {id}):\n");
        texts().any(|text| text == label).then(|| Some((tool, call.get("args")?.to_string())))?
    });
    told.collect()
}
