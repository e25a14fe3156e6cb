//! Scenarios: small worlds in which a parent works, delegates, and is asked for an answer.
//!
//! The compiled form, which the reader, the engine and the scorers use, is in [`Scenario`] and its parts; the file
//! format (YAML, sizes, validation with line and caret, JSON schema) stands in [`mod@file`] and compiles to it.

mod check;
pub mod file;
pub mod marker;
#[cfg(test)]
pub(crate) mod sample;
pub mod script;
mod suite;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::setting::{Ceilings, UserTime};
use crate::strategy::AgentSpec;
use crate::transcript::{Digest, Item, Part};

pub use check::{Ask, Check, Citation, Forbidden, Measure, NumberAsk, Which};
pub(crate) use check::{is_path_character, validator};
use script::ScriptedTurn;
pub use suite::{builtin, builtin_names, compile_builtin};
pub use world::{ScenarioWorld, ToolBehaviour, ToolOutput};

/// A scenario of one size, ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its id: the first part of a cell id.
    pub id: String,
    /// A line for people.
    pub title: String,
    /// Free words to select by.
    pub tags: Vec<String>,
    /// What it separates, in a sentence.
    pub why: String,
    /// The size that was compiled.
    pub size: Size,
    /// The sizes that the file offers.
    pub sizes: Vec<Size>,
    /// The agent that plays the root.
    pub root: String,
    /// Every agent by its name.
    pub agents: BTreeMap<String, AgentSpec>,
    /// What the root's history holds before the first turn (origins `user`, `own`, `tool_result`, `compaction`, ...).
    pub history: Vec<Item>,
    /// The user's messages, in order.
    pub turns: Vec<UserTurn>,
    /// Files and tools, shared by all threads.
    pub world: ScenarioWorld,
    /// What can be known, by topic.
    pub topics: Vec<Topic>,
    /// What there is to delegate.
    pub intents: Vec<IntentSpec>,
    /// How the reader behaves here.
    pub conduct: Conduct,
    /// What each thread says and calls, turn by turn, where the model `script` plays; empty: it cannot.
    pub script: Vec<ScriptedTurn>,
    /// What is asked of returns and of the final answer.
    pub checks: Vec<Check>,
    /// The harness's limits.
    pub ceilings: Ceilings,
    /// The window that this scenario wants instead of the model's, in tokens.
    pub window: Option<u64>,
    /// A failure that the scenario wants: its cell is then `expected_failure`.
    pub expects_failure: Option<String>,
    /// Digest of everything above that a run depends on (not of title, tags, reason and the other sizes): part of a cell's
    /// fingerprint.
    pub digest: Digest,
}

/// A scenario's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// The default; not printed in cell ids.
    #[default]
    Small,
    /// About three times as much.
    Medium,
    /// About ten times as much.
    Large,
}

impl Size {
    /// Every size.
    pub const ALL: [Size; 3] = [Size::Small, Size::Medium, Size::Large];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Medium => "medium",
            Size::Large => "large",
        }
    }
}

/// An index into [`Scenario::topics`].
pub type TopicIndex = usize;
/// An index into [`Scenario::intents`].
pub type IntentIndex = usize;

/// Something that can be known. What a thread knows of it is the newest fact, in `facts` order, of which a marker is
/// visible to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// Its id.
    pub id: String,
    /// What an answer calls it (`unknown: LABEL`).
    pub label: String,
    /// The facts, oldest first: each supersedes all before it. Empty for a deliverable.
    pub facts: Vec<Fact>,
    /// Set for a deliverable: what only the thread that carries out an intent can make.
    pub made: Option<Made>,
}

/// One statement on a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its id.
    pub id: String,
    /// The sentence that states it; it contains a marker.
    pub statement: String,
    /// The value as a deliverable quotes it.
    pub value: String,
    /// Whoever sees one of these texts (white space runs as one blank, word boundaries at both ends) knows the fact.
    pub markers: Vec<String>,
}

/// A deliverable: `DONE label: value`, with the values that its maker knew of `from`, `guess` where it knew none.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The intent whose thread makes it.
    pub intent: IntentIndex,
    /// The topics whose values it is made of.
    pub from: Vec<TopicIndex>,
}

/// A message of the user.
#[derive(Clone, Debug)]
pub struct UserTurn {
    /// When it comes.
    pub when: UserTime,
    /// What it holds, in order.
    pub items: Vec<Item>,
    /// The work that it sets.
    pub work: Work,
}

/// What a task marker binds: needs, a plan, and what to hand on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// The text that binds a thread to this work; stands in the message or task that sets it.
    pub marker: String,
    /// The topics that the answer must state.
    pub needs: Vec<TopicIndex>,
    /// Steps that the thread itself takes, in order.
    pub plan: Vec<Step>,
    /// Intents to delegate, in order; neighbours with an equal group go in one message.
    pub delegates: Vec<IntentIndex>,
}

/// One step of a plan: a call of an ordinary tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The tool.
    pub tool: String,
    /// Its arguments as JSON text.
    pub args: String,
    /// What the text beside the call names: a path, a pattern.
    pub target: String,
    /// The topics that it is taken for: taken while one of them is unknown. Empty: taken always, once.
    pub seeks: Vec<TopicIndex>,
    /// Neighbours with an equal group go in one message.
    pub parallel: Option<String>,
}

/// Something to delegate.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentSpec {
    /// Its id.
    pub id: String,
    /// The agent that should do it.
    pub agent: String,
    /// A few words on it.
    pub title: String,
    /// The self-contained task without what is known (brief `same`); holds the work's marker.
    pub task: String,
    /// The terse task (brief `terse`); may hold no marker at all.
    pub terse: String,
    /// Topics that brief `known` writes out, as far as the delegating thread knows them.
    pub known: Vec<TopicIndex>,
    /// Needs, plan and marker of the thread that carries it out. Its deliverables are among the needs.
    pub work: Work,
    /// Neighbours with an equal group are delegated in one message.
    pub group: Option<String>,
    /// Whether the caller would rather go on meanwhile.
    pub background: bool,
    /// How the thread that carries it out answers.
    pub report: ReportForm,
    /// What the parent asks a child for when it follows up, by topic.
    pub follow_ups: Vec<FollowUp>,
}

/// A follow-up's wording.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowUp {
    /// The topic that is asked for.
    pub topic: TopicIndex,
    /// What the child is told.
    pub task: String,
}

/// How an answer is written.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportForm {
    /// Words of padding beside the statements.
    pub padding_words: u32,
    /// Where the statements stand in the padding.
    pub facts_at: FactsAt,
    /// Topics beyond the needs that it also states when it knows them.
    pub also: Vec<TopicIndex>,
    /// Whether it names where it looked: a line `Seen: TARGET` for each step of its plan that stands completed.
    pub evidence: bool,
    /// What stands in place of the answer, if the thread never gets to say it.
    pub ends: Ends,
    /// The most words that the task allows. A contract asked of the child: nothing cuts by it, and a longer return is
    /// counted as overlong.
    pub max_words: Option<u32>,
}

/// What the last reply of a thread is that carries out an intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// Its answer.
    #[default]
    Answer,
    /// A message without any text.
    Empty,
    /// A sentence on what it is about to do, and no call: it stops there.
    Preamble,
    /// None: the provider gives an error.
    Error,
    /// None: it makes the last call of its plan again and again, for ever.
    Never,
}

impl Default for ReportForm {
    fn default() -> ReportForm {
        ReportForm { padding_words: 0, facts_at: FactsAt::Head, also: vec![], evidence: false, ends: Ends::Answer, max_words: None }
    }
}

/// Where the statements of an answer stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactsAt {
    /// First.
    #[default]
    Head,
    /// Evenly between the padding.
    Spread,
    /// Last.
    Tail,
}

/// How the reader behaves in a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Conduct {
    /// What it does about a delegation that failed.
    pub fallback: Fallback,
    /// What it does about a refused one.
    pub on_refusal: OnRefusal,
    /// Whether it leaves out intents whose topics it knows already.
    pub skip_known: bool,
    /// Whether text beside a call also states what was just learnt.
    pub narrate_findings: bool,
    /// What it writes into a task where the run asks for no other brief than the usual one.
    pub brief: Briefing,
}

impl Default for Conduct {
    fn default() -> Conduct {
        Conduct {
            fallback: Fallback::Itself,
            on_refusal: OnRefusal::RetryAfterReturn,
            skip_known: false,
            narrate_findings: false,
            brief: Briefing::Same,
        }
    }
}

/// READER rule 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Fallback {
    /// Let it stand.
    #[serde(rename = "give-up")]
    GiveUp,
    /// Do the work in the parent; each intent so taken over is a rescue.
    #[serde(rename = "self")]
    Itself,
}

impl Fallback {
    /// Its name on the command line and in cell ids.
    pub fn name(self) -> &'static str {
        match self {
            Fallback::GiveUp => "give-up",
            Fallback::Itself => "self",
        }
    }
}

/// READER rule 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum OnRefusal {
    /// Call again when another delegation has returned; with none running, as `fallback` says.
    #[serde(rename = "retry-after-return")]
    RetryAfterReturn,
    /// Do the work in the parent.
    #[serde(rename = "self")]
    Itself,
    /// Let it stand.
    #[serde(rename = "give-up")]
    GiveUp,
}

/// READER rule 8: what the delegating thread writes into a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Briefing {
    /// As few words as possible.
    Terse,
    /// Self-contained, without what is known.
    #[default]
    Same,
    /// Self-contained, with what the delegating thread knows of the intent's `known` topics.
    Known,
    /// `Known` under a strategy that hands no history down, `Terse` under one that does.
    Auto,
}

impl Briefing {
    /// Its name on the command line and in cell ids.
    pub fn name(self) -> &'static str {
        match self {
            Briefing::Terse => "terse",
            Briefing::Same => "same",
            Briefing::Known => "known",
            Briefing::Auto => "auto",
        }
    }
}

impl Scenario {
    /// The topics that the answer to a user turn must state: its own needs and those of what it delegates, ascending, each once.
    pub fn needs_of_turn(&self, turn: &UserTurn) -> Vec<TopicIndex> {
        let delegated = turn.work.delegates.iter().filter_map(|&intent| self.intents.get(intent));
        let mut needs = turn.work.needs.clone();
        needs.extend(delegated.flat_map(|intent| intent.work.needs.iter().copied()));
        needs.sort_unstable();
        needs.dedup();
        needs
    }

    /// These topics, with what deliverables are made of in their place.
    pub fn sources_of(&self, topics: &[TopicIndex]) -> BTreeSet<TopicIndex> {
        let (mut sources, mut unfolded) = (BTreeSet::new(), BTreeSet::new());
        let mut open = topics.to_vec();
        while let Some(topic) = open.pop() {
            match self.topics.get(topic).and_then(|topic| topic.made.as_ref()) {
                // A deliverable that is made of itself is the validator's to refuse; here it ends nothing.
                Some(made) if unfolded.insert(topic) => open.extend(&made.from),
                Some(_) => {}
                None => _ = sources.insert(topic),
            }
        }
        sources
    }

    /// The topic's position.
    pub fn topic(&self, id: &str) -> Option<TopicIndex> {
        self.topics.iter().position(|topic| topic.id == id)
    }

    /// The intent's position.
    pub fn intent(&self, id: &str) -> Option<IntentIndex> {
        self.intents.iter().position(|intent| intent.id == id)
    }

    /// The text of a user turn, for people.
    pub fn turn_text(&self, at: usize) -> String {
        self.turns[at].items.iter().flat_map(Item::parts).map(Part::as_text).collect()
    }
}
