//! How a recorded run is played again: who says what to which request, what tools give, what the user says.

use std::collections::{BTreeMap, BTreeSet};

use crate::strategy::{AgentSpec, RunContext, ToolSpec};
use crate::transcript::{Content, Part};

use super::entry::{Entry, Placed};
use super::file::Request;
use super::replies::{Said, SaidCall, Step, first_words, steps, texts_in};
use super::text::Text;
use super::threads::Threads;

/// A run to be played.
pub(super) struct Plan {
    /// The agents.
    pub(super) context: RunContext,
    /// What the root says to each of its requests; nobody knows what it said to the last one.
    pub(super) root: Vec<Beat>,
    /// What each child says to each of its requests. What it says last is known from its parent alone.
    pub(super) children: Vec<Vec<Beat>>,
    /// What tools give, by the id of the call.
    pub(super) results: BTreeMap<String, Vec<Text>>,
    /// Replies whose text the client sends behind their calls: the ids of their first calls.
    pub(super) calls_first: BTreeSet<String>,
    /// What the user says, in order.
    pub(super) user: Vec<Input>,
    /// Which call opened each child.
    pub(super) openings: Vec<Opening>,
}

/// What a thread says to one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Beat {
    /// What it says; `None`: it is not recorded.
    pub(super) said: Option<Said>,
    /// When the reply has come, in milliseconds since the run began; `None`: soon.
    pub(super) at_ms: Option<u64>,
}

/// A turn of the user.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// The root's request that it first stands in.
    pub(super) request: usize,
    /// The texts of each message.
    pub(super) messages: Vec<Vec<Text>>,
}

/// How a child came to be.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    /// The root's request whose reply opened it.
    pub(super) request: usize,
    /// The id of the call; `None`: no call can be made out.
    pub(super) call: Option<String>,
    /// The agent that it runs as.
    pub(super) agent: String,
}

/// Virtual time from one recorded request to the next, in milliseconds: more than any wait of a known system lasts that
/// a recorded run could have sat out, so that everything comes in the order in which it was recorded.
const PACE_MS: u64 = 100_000;

/// Arguments that name an agent.
const AGENT_KEYS: [&str; 4] = ["subagent_type", "agent_type", "agent_name", "agent"];

impl Plan {
    /// Reads the plan out of a run's threads.
    pub(super) fn of(threads: &Threads) -> Result<Plan, String> {
        let (Some(first), Some(last)) = (threads.root.first(), threads.root.last()) else {
            return Err("it has no request of the root".into());
        };
        if let Some(own) = first.entries.iter().find(|placed| placed.entry.is_own()) {
            return Err(format!("request {}: {} was written by a model before the run began", first.n, own.at));
        }
        let root_steps = steps(&threads.root)?;
        let child_steps: Vec<Vec<Step>> = threads.children.iter().map(|child| steps(child)).collect::<Result<_, _>>()?;
        let openings = openings(threads, &root_steps);
        let mut user = vec![Input { request: 0, messages: first_words(first) }];
        for (at, step) in root_steps.iter().enumerate() {
            if !step.user.is_empty() {
                user.push(Input { request: at + 1, messages: step.user.clone() });
            }
        }
        let opened: Vec<&str> = openings.iter().filter_map(|opening| opening.call.as_deref()).collect();
        let given = root_steps.iter().chain(child_steps.iter().flatten()).flat_map(|step| step.results.iter().cloned());
        let results = given.filter(|(id, _)| !opened.contains(&id.as_str())).collect();
        let mut root: Vec<Beat> = (0..root_steps.len()).map(|at| beat(threads, &root_steps, &openings, at)).collect();
        root.push(Beat::default());
        let children =
            threads.children.iter().zip(&child_steps).map(|(requests, steps)| child_beats(requests, steps, last.order)).collect();
        let context = context(threads, &root_steps, &child_steps, &openings);
        let said = root_steps.iter().chain(child_steps.iter().flatten()).map(|step| &step.said);
        let calls_first = said.filter(|said| said.calls_first).filter_map(|said| said.calls.first()).map(|call| call.id.clone()).collect();
        Ok(Plan { context, root, children, results, calls_first, user, openings })
    }
}

fn at_ms(request: &Request) -> u64 {
    request.order.saturating_mul(PACE_MS)
}

/// The root's reply has come when the first thing that followed from it was sent: its own next request or a child's first.
fn beat(threads: &Threads, steps: &[Step], openings: &[Opening], at: usize) -> Beat {
    let said = steps[at].said.clone();
    let next = threads.root.get(at + 1).map(at_ms);
    let opened = openings.iter().zip(&threads.children).filter(|(opening, _)| opening.request == at);
    let opened = opened.filter_map(|(_, child)| child.first().map(at_ms)).min();
    let at_ms = if said.calls.is_empty() { None } else { next.into_iter().chain(opened).min() };
    Beat { said: Some(said), at_ms }
}

/// A child's replies. It ends half a pace behind its last request, before anything that was recorded later.
fn child_beats(requests: &[Request], steps: &[Step], last: u64) -> Vec<Beat> {
    let mut beats: Vec<Beat> =
        steps.iter().zip(&requests[1..]).map(|(step, next)| Beat { said: Some(step.said.clone()), at_ms: Some(at_ms(next)) }).collect();
    let end = requests.last().map_or(last, |request| request.order);
    beats.push(Beat { said: None, at_ms: Some(end.saturating_mul(PACE_MS).saturating_add(PACE_MS / 2)) });
    beats
}

/// Which call opened each child: the last one before it whose arguments hold a text that the child was given, the
/// longest such text if there are several.
fn openings(threads: &Threads, steps: &[Step]) -> Vec<Opening> {
    let mut openings: Vec<Opening> = Vec::new();
    for (number, child) in threads.children.iter().enumerate() {
        let first = &child[0];
        // A reply is the root's to a request before the child's first one.
        let before = threads.root.iter().take_while(|request| request.n < first.n).count();
        let free = |id: &str| openings.iter().all(|opening| opening.call.as_deref() != Some(id));
        let calls = steps.iter().enumerate().take(before).flat_map(|(at, step)| step.said.calls.iter().map(move |call| (at, call)));
        let calls: Vec<_> = calls.filter(|(_, call)| free(&call.id)).collect();
        let given = given_texts(&first.entries);
        let found = calls.iter().filter_map(|&(at, call)| {
            let (name, args) = call.seen.as_ref()?;
            let shared = texts_in(args.plain()?).into_iter().filter(|text| !text.is_empty() && given.iter().any(|one| one.contains(text)));
            Some((shared.map(|text| text.len()).max()?, at, call.id.clone(), agent_of(name, args)))
        });
        let found = found.max_by_key(|(length, at, ..)| (*length, *at));
        // Without such a text: a call that no request repeats, or else the first one of the last reply that names an agent.
        let unseen = || calls.iter().rev().find(|(at, call)| call.seen.is_none() && at + 1 == before).map(|(at, call)| (*at, *call, None));
        let last = calls.iter().map(|(at, _)| *at).max();
        let of_last = || calls.iter().filter(|(at, call)| Some(*at) == last && call.seen.is_some());
        let agent = |call: &SaidCall| call.seen.as_ref().map(|(name, args)| agent_of(name, args));
        let names_one = |(_, call): &&(usize, &SaidCall)| call.seen.as_ref().is_some_and(|(_, args)| named_agent(args).is_some());
        let seen = || of_last().find(names_one).or_else(|| of_last().next()).map(|(at, call)| (*at, *call, agent(call)));
        let nobody = format!("agent_{}", number + 1);
        openings.push(match found {
            Some((_, request, call, agent)) => Opening { request, call: Some(call), agent },
            None => match unseen().or_else(seen) {
                Some((request, call, agent)) => Opening { request, call: Some(call.id.clone()), agent: agent.unwrap_or(nobody) },
                None => Opening { request: before.saturating_sub(1), call: None, agent: nobody },
            },
        });
    }
    openings
}

/// Texts that a thread is given, not what it inherits of calls and results.
fn given_texts(entries: &[Placed<Text>]) -> Vec<String> {
    let mut texts = Vec::new();
    for placed in entries.iter().filter(|placed| matches!(placed.entry, Entry::Message { .. } | Entry::Mail { .. })) {
        for part in placed.entry.parts() {
            match part {
                Text::Plain(text) => texts.push(text.clone()),
                Text::Long(long) => texts.push(long.head.clone()),
                Text::Scaffold(scaffold) => texts.extend(scaffold.holds.iter().flatten().cloned()),
            }
        }
    }
    texts
}

/// The agent that a call asks for: an argument names it, or the tool is the agent.
fn agent_of(name: &str, args: &Text) -> String {
    named_agent(args).unwrap_or_else(|| name.to_owned())
}

fn named_agent(args: &Text) -> Option<String> {
    let args: serde_json::Value = serde_json::from_str(args.plain()?).ok()?;
    AGENT_KEYS.iter().find_map(|key| args.get(key)?.as_str()).map(str::to_owned)
}

/// The agents with what the application gave them: system texts as recorded, the tools that they called.
fn context(threads: &Threads, root: &[Step], children: &[Vec<Step>], openings: &[Opening]) -> RunContext {
    let opened: Vec<&str> = openings.iter().filter_map(|opening| opening.call.as_deref()).collect();
    let spec = |requests: &[Request], steps: &[Step]| {
        let mut tools: Vec<ToolSpec> = Vec::new();
        for call in steps.iter().flat_map(|step| &step.said.calls).filter(|call| !opened.contains(&call.id.as_str())) {
            let name = call.seen.as_ref().map_or(UNSEEN_TOOL, |(name, _)| name);
            if tools.iter().all(|tool| tool.name != name) {
                tools.push(ToolSpec::of_strings(name, "", &[]));
            }
        }
        let system = requests.first().and_then(Request::system_text).map(joined);
        AgentSpec { system, tools, ..AgentSpec::default() }
    };
    let speaks = threads.root.iter().flat_map(|request| &request.entries).find_map(|placed| match &placed.entry {
        Entry::Message { role, name: Some(name), .. } if role == "assistant" => Some(name.clone()),
        Entry::Call { speaker: Some(name), .. } => Some(name.clone()),
        _ => None,
    });
    let name = speaks.unwrap_or_else(|| "root".to_owned());
    let mut agents = BTreeMap::new();
    // A child that nothing opens runs as nobody.
    let called = threads.children.iter().zip(children).zip(openings).filter(|(_, opening)| opening.call.is_some());
    for ((requests, steps), opening) in called {
        agents.entry(opening.agent.clone()).or_insert_with(|| spec(requests, steps));
    }
    agents.insert(name.clone(), spec(&threads.root, root));
    RunContext { root: name, agents, scaffold: true }
}

/// The name of a tool whose calls no request repeats.
pub(super) const UNSEEN_TOOL: &str = "unseen";

/// A system text in one part.
pub(super) fn joined(blocks: &[Text]) -> Part {
    if let [one] = blocks {
        return one.part();
    }
    if let Some(texts) = blocks.iter().map(Text::plain).collect::<Option<Vec<&str>>>() {
        return Part::text(texts.concat());
    }
    let (mut kind, mut bytes, mut tokens) = ("text".to_owned(), 0, 0_u32);
    for block in blocks {
        if let Text::Scaffold(scaffold) = block {
            kind = format!("{kind} {}", scaffold.sha);
        }
        if let Content::Opaque { bytes: more, tokens: Some(some), .. } = block.part().content() {
            (bytes, tokens) = (bytes + more, tokens.saturating_add(*some));
        }
    }
    Part::new(Content::Opaque { kind, bytes, tokens: Some(tokens) })
}
