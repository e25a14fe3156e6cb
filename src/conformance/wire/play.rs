//! One run of a plan through the engine, and what it sent.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt;

use crate::engine::{Ceilings, Run, UserInput, UserTime, World, run};
use crate::ledger::{Outcome, Row};
use crate::model::profile::FRONTIER;
use crate::model::{Agent, CallDraft, Pending, Reply, Request as Asked, Took, ready};
use crate::strategy::{Intent, Strategy, ThreadId};
use crate::tokens::{CountError, Meter, TokenCounter};
use crate::transcript::{Body, Content, Item, Origin, Part, Phase, Recorded, Role, ToolCall};

use super::bind::Values;
use super::entry::Entry;
use super::family::Family;
use super::plan::{Beat, Input, Plan, UNSEEN_TOOL};
use super::text::Text;
use super::threads::Threads;

/// What no request of a recording shows, as it is played.
#[derive(Clone, Debug, Default)]
pub(super) struct Unseen {
    /// The user's words, by turn, where they are others than the recorded ones.
    pub(super) user: BTreeMap<usize, String>,
    /// What each child says last.
    pub(super) finals: Vec<String>,
    /// The task of each child that a call without recorded arguments opened.
    pub(super) tasks: Vec<String>,
}

/// A request as the run sent it.
pub(super) struct Sent {
    /// The system text outside the items.
    pub(super) system: Option<Part>,
    /// How many tools it shows.
    pub(super) tools: u64,
    /// What it holds.
    pub(super) entries: Vec<Entry<Part>>,
}

/// What a run sent.
pub(super) struct Played {
    /// The root's requests.
    pub(super) root: Vec<Sent>,
    /// The first request of each child, in order of opening.
    pub(super) children: Vec<Sent>,
    /// Every request in order of sending, with its thread's path.
    pub(super) all: Vec<(String, Sent)>,
    /// Why the run did not come to its end.
    pub(super) failure: Option<String>,
}

/// Counts nothing: no figure of such a run is looked at.
struct Free;

impl TokenCounter for Free {
    fn count(&self, _: &str) -> Result<u64, CountError> {
        Ok(0)
    }
    fn id(&self) -> &'static str {
        "none"
    }
}

/// Plays a plan.
pub(super) fn play(strategy: &dyn Strategy, threads: &Rc<Threads>, plan: &Rc<Plan>, unseen: &Unseen, family: Family) -> Played {
    let player = Player { threads: threads.clone(), plan: plan.clone(), unseen: unseen.clone(), sent: BTreeMap::new() };
    let user =
        plan.user.iter().enumerate().map(|(at, input)| UserInput { when: UserTime::Settled, items: spoken(input, unseen.user.get(&at)) });
    let outcome = run(Run {
        strategy,
        agent: Box::new(player),
        context: plan.context.clone(),
        history: vec![],
        user: user.collect(),
        world: Box::new(Results(plan.clone())),
        meter: Meter::new(Arc::new(Free)),
        ceilings: Ceilings::default(),
        window: None,
        latency: FRONTIER,
        cache: None,
        children: None,
    });
    // Every reply is ready at once, so the engine never waits.
    let outcome = outcome.now_or_never().unwrap_or_default();
    let sent = |row: &Row| sent(&outcome, row, family, &plan.calls_first);
    let of = |thread: ThreadId| outcome.rows_of(thread).filter(|row| !row.aside);
    let children = outcome.threads.iter().filter(|thread| thread.parent == Some(ThreadId::ROOT));
    Played {
        root: of(ThreadId::ROOT).map(sent).collect(),
        children: children.filter_map(|thread| of(thread.id).next().map(sent)).collect(),
        all: outcome.rows.iter().map(|row| (row.path.to_string(), sent(row))).collect(),
        failure: outcome.failure.as_ref().map(|failure| failure.message.clone()),
    }
}

fn spoken(input: &Input, other: Option<&String>) -> Vec<Item> {
    let said = |texts: &Vec<Text>| texts.iter().map(Text::part).collect::<Vec<Part>>();
    let messages: Vec<Vec<Part>> = match other {
        Some(text) => vec![vec![Part::text(text.as_str())]],
        None => input.messages.iter().map(said).collect(),
    };
    messages.into_iter().map(|parts| Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::User)).collect()
}

/// Gives what the recording has for a call.
struct Results(Rc<Plan>);

impl World for Results {
    fn call(&mut self, call: &ToolCall) -> Recorded {
        match self.0.results.get(&call.id) {
            Some(parts) => Recorded { parts: parts.iter().map(Text::part).collect(), failed: false, ms: 1 },
            None => Recorded::text(format!("(no tool gave a result to the call {} of {})", call.id, call.name), true, 1),
        }
    }
    fn write(&mut self, _: &str, _: &str) {}
}

/// Says what was said in the recording.
struct Player {
    threads: Rc<Threads>,
    plan: Rc<Plan>,
    unseen: Unseen,
    /// Requests so far, by thread.
    sent: BTreeMap<ThreadId, usize>,
}

/// A reply that nothing waits for.
const SOON_MS: u64 = 1_000;

impl Agent for Player {
    fn reply(&mut self, request: &Asked<'_>) -> Pending {
        if request.aside {
            return ready(Ok(Reply::say("(not recorded)")));
        }
        let number = self.sent.entry(request.thread).or_default();
        let at = *number;
        *number += 1;
        let child = request.path.strip_prefix('/').filter(|rest| !rest.is_empty());
        let child: Option<usize> = child.map(|rest| rest.parse::<usize>().map_or(usize::MAX, |number| number.saturating_sub(1)));
        let (beats, recorded) = match child {
            None => (Some(&self.plan.root), self.threads.root.get(at)),
            Some(child) => (self.plan.children.get(child), self.threads.children.get(child).and_then(|requests| requests.get(at))),
        };
        let beat = beats.and_then(|beats| beats.get(at)).cloned().unwrap_or_default();
        let values = recorded.map(|recorded| Values::of(&recorded.entries, request.items)).unwrap_or_default();
        let last = child.and_then(|child| self.unseen.finals.get(child));
        ready(Ok(self.said(request, &beat, last, values)))
    }
}

impl Player {
    fn said(&self, request: &Asked<'_>, beat: &Beat, last: Option<&String>, mut values: Values) -> Reply {
        let wait = beat.at_ms.map_or(SOON_MS, |at| at.saturating_sub(request.now_ms)).max(1);
        let mut reply = Reply { took: Took::Ms(wait), ..Reply::default() };
        let Some(said) = &beat.said else {
            reply.text = last.cloned().unwrap_or_else(|| "(not recorded)".to_owned());
            return reply;
        };
        reply.reasoning = said.reasoning.iter().map(Text::part).collect();
        reply.text = said.text.as_ref().map(|text| text.part().as_text().to_owned()).unwrap_or_default();
        for call in &said.calls {
            let draft = match &call.seen {
                Some((name, args)) => CallDraft::tool(name, values.fill(args.part().as_text())),
                None => self.unseen_call(request, &call.id),
            };
            reply.calls.push(CallDraft { id: call.id.clone(), ..draft });
        }
        reply
    }

    /// A call of which only the result is recorded: one that opened a child is written as the strategy writes it.
    fn unseen_call(&self, request: &Asked<'_>, id: &str) -> CallDraft {
        let opened = self.plan.openings.iter().zip(&self.unseen.tasks).find(|(opening, _)| opening.call.as_deref() == Some(id));
        let phrased = opened.and_then(|(opening, task)| {
            let agent = opening.agent.clone();
            let intent = Intent { id: id.to_owned(), title: agent.clone(), agent, task: task.clone(), background: false };
            request.delegate(&intent)
        });
        phrased.map_or_else(|| CallDraft::tool(UNSEEN_TOOL, "{}"), |call| CallDraft::phrased(call, None))
    }
}

/// A request of the run, in the shape of an API.
fn sent(outcome: &Outcome, row: &Row, family: Family, calls_first: &BTreeSet<String>) -> Sent {
    let items = outcome.items_of(row);
    let ids: BTreeMap<_, _> = items.iter().filter_map(Item::as_call).map(|call| (call.key, call.id.clone())).collect();
    let mut entries: Vec<Entry<Part>> = items.iter().filter_map(|item| entry(item, &ids)).collect();
    behind_calls(&mut entries, calls_first);
    let mut system = row.sent.system.clone();
    if family == Family::Chat
        && let Some(text) = system.take()
    {
        entries.insert(0, Entry::Message { role: "system".into(), phase: None, name: None, parts: vec![text] });
    }
    Sent { system, tools: row.sent.tools.len() as u64, entries: family.shaped(entries) }
}

/// Puts the text of some replies behind their calls, as their client does: the order inside a reply is the client's
/// rendering, and no strategy's.
fn behind_calls(entries: &mut [Entry<Part>], first_calls: &BTreeSet<String>) {
    for at in 1..entries.len() {
        let is_first = matches!(&entries[at], Entry::Call { id, .. } if first_calls.contains(id));
        if is_first && matches!(&entries[at - 1], Entry::Message { role, .. } if role == "assistant") {
            let calls = entries[at..].iter().take_while(|entry| matches!(entry, Entry::Call { .. })).count();
            entries[at - 1..at + calls].rotate_left(1);
        }
    }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Commentary => "commentary",
        Phase::FinalAnswer => "final_answer",
    }
}

fn entry(item: &Item, ids: &BTreeMap<crate::transcript::CallKey, String>) -> Option<Entry<Part>> {
    let name = item.name().map(str::to_owned);
    Some(match item.body() {
        Body::Message { role, phase, parts } => Entry::Message {
            role: role.name().to_owned(),
            phase: phase.map(|phase| phase_name(phase).to_owned()),
            name,
            parts: parts.clone(),
        },
        Body::Reasoning { parts } => Entry::Reasoning { parts: parts.clone() },
        Body::Call(call) => Entry::Call { id: call.id.clone(), name: call.name.clone(), speaker: name, args: call.args.clone() },
        Body::Result { key, parts, .. } => {
            let id = key.and_then(|key| ids.get(&key).cloned()).unwrap_or_default();
            Entry::Result { id, parts: parts.clone() }
        }
        Body::Mail { from, to, parts } => Entry::Mail { from: from.clone(), to: to.clone(), parts: parts.clone() },
        Body::Compaction { parts } => Entry::Message { role: "user".into(), phase: None, name, parts: parts.clone() },
        Body::Context { .. } => return None,
    })
}

/// A part for people and for files.
pub(super) fn part_json(part: &Part) -> super::super::json::Json {
    use super::super::json::Json;
    match part.content() {
        Content::Text(text) => text.to_string().into(),
        Content::Image { media, .. } => Json::object([("image", media.as_str().into())]),
        Content::File { media, .. } => Json::object([("file", media.as_str().into())]),
        Content::Opaque { kind, bytes, tokens } => {
            let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            Json::object([
                ("scaffold", count(*bytes).into()),
                ("sha", part.digest().to_string().chars().take(10).collect::<String>().into()),
                ("tokens", tokens.map(|tokens| count(tokens.into())).into()),
                ("is", super::judge::bare(kind).into()),
            ])
        }
    }
}
