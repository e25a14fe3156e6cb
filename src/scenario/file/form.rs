//! The records of a scenario file: every key, what it means, what it is when it is left out.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::scenario::{Briefing, Ends, FactsAt, Fallback, OnRefusal, Size};
use crate::transcript::{Phase, Role};

use super::asked::CheckForm;
use super::errors::Problems;
use super::node::{Located, Node, Value};
use super::record::{Form, Map, OneOrMore, names, record};
use super::scripted::ScriptTurn;
use super::settings::Amount;
use super::text::{Line, Text};

record! {
    /// A scenario: a small world in which a parent works, delegates, and is asked for an answer.
    pub(super) struct File {
        /// The scenario's id: lower-case letters, digits and `-`. The first part of a cell id.
        id: Located<Line>,
        /// A line for people.
        title: Line,
        /// What the scenario separates, in a sentence.
        why: Line,
        /// Free words to select by.
        tags: Vec<String>,
        /// The sizes that the file offers. Left out: all three where a parameter differs by size, else `small` alone.
        sizes: Option<Vec<Located<Size>>>,
        /// Named whole numbers: one for all sizes, or one a size. Used as `$name` or `${expression}`.
        parameters: Map<Amount>,
        /// Further scenarios of this file, by id: the same with other parameters.
        variants: Map<Variant>,
        /// The agent that plays the root. Left out: the first of `agents`.
        root: Option<Located<String>>,
        /// The agents by name.
        agents: Map<Agent>,
        /// The tools by name: what agents are shown and what happens when they call.
        tools: Map<Tool>,
        /// The files of the world, shared by all threads.
        files: Vec<WorldFile>,
        /// What the root's history holds before the first turn.
        history: Vec<Located<Entry>>,
        /// The user's messages, in order.
        turns: Vec<Located<Turn>>,
        /// What can be known.
        topics: Vec<Located<TopicForm>>,
        /// What there is to delegate.
        intents: Vec<Located<IntentForm>>,
        /// How the simulated reader behaves.
        conduct: Option<ConductForm>,
        /// What each thread says and calls, turn by turn, under `--model script`. Left out: that model cannot play it.
        script: Vec<Located<ScriptTurn>>,
        /// What is asked of returns and of the final answer.
        checks: Vec<Located<CheckForm>>,
        /// The harness's own limits.
        ceilings: Option<CeilingsForm>,
        /// The window that the scenario wants instead of the model's, in tokens.
        window: Option<u64>,
        /// The kind of failure that the scenario wants (`overflow`, `limit`, ...).
        expects_failure: Option<Located<String>>,
    }

    /// Other parameters under another id.
    pub(super) struct Variant {
        /// A line for people. Left out: as the file's.
        title: Option<Line>,
        /// What it separates. Left out: as the file's.
        why: Option<Line>,
        /// The parameters that differ.
        parameters: Map<Amount>,
    }

    /// An agent: its prompt and its ordinary tools.
    pub(super) struct Agent {
        /// The system prompt. Left out: no system text is sent.
        system: Option<Text>,
        /// The tools that it is shown, in this order.
        tools: Vec<Located<String>>,
    }

    /// A tool: what it is called with and what it answers.
    pub(super) struct Tool {
        /// The description that agents read.
        about: Text,
        /// What it does: `read`, `write`, `list` or `search` files, or `answer` with declared outputs (the default).
        does: Does = Does::Answer,
        /// Its parameters by name: a description, or more. Left out: those of what it does.
        parameters: Map<Parameter>,
        /// The parameters as a raw JSON schema, instead of `parameters`.
        schema: Option<Node>,
        /// Duration in milliseconds. Default: 40.
        ms: u64 = 40,
        /// The declared outputs by arguments.
        outputs: Vec<Located<Output>>,
        /// The output for any other arguments. Left out: an error that names the known ones.
        otherwise: Option<Output>,
    }

    /// A declared output.
    pub(super) struct Output {
        /// The arguments that it answers. Default: none.
        args: Option<Node>,
        /// What the model reads.
        text: Text,
        /// Whether it is an error. Default: false.
        failed: bool = false,
        /// Duration in milliseconds. Left out: the tool's.
        ms: Option<u64>,
        /// Whether the source answers `gone` the second time. Default: false.
        once: bool = false,
    }

    /// A file of the world.
    pub(super) struct WorldFile {
        /// Its path.
        path: Located<String>,
        /// Its text.
        text: Text,
    }

    /// One entry of a history. Exactly one of `user`, `assistant`, `developer`, `system`, `tool`, `call`, `reasoning`,
    /// `compaction`, `mail` and `context` stands in it.
    pub(super) struct Entry {
        /// A name, so that a fact can say that it is seen here.
        id: Option<Located<String>>,
        /// A message of the user.
        user: Option<Text>,
        /// A message of the model.
        assistant: Option<Text>,
        /// Instructions of the application.
        developer: Option<Text>,
        /// A system message inside the history.
        system: Option<Text>,
        /// A tool's message outside a call's result.
        tool: Option<Text>,
        /// A call with its result.
        call: Option<CallForm>,
        /// The model's reasoning; often opaque.
        reasoning: Option<Text>,
        /// A summary that stands for history that was dropped.
        compaction: Option<Text>,
        /// A message between agents.
        mail: Option<MailForm>,
        /// A record of the product that no model reads.
        context: Option<ContextForm>,
        /// Whether the message is commentary or a final answer. Left out: nobody says.
        phase: Option<Phase>,
        /// Marked as not for people; the model reads it all the same. Default: false.
        hidden: bool = false,
    }

    /// A call in the history.
    pub(super) struct CallForm {
        /// The tool's name.
        tool: Located<String>,
        /// Its arguments. Default: none.
        args: Option<Node>,
        /// What it answered. Left out: what the tool answers as the scenario begins.
        result: Option<Text>,
        /// Whether the result was an error. Default: false.
        failed: bool = false,
        /// Whether there is a result at all. Default: true.
        answered: bool = true,
    }

    /// A message between agents.
    pub(super) struct MailForm {
        /// Author, as the model reads it.
        from: String,
        /// Recipient, as the model reads it.
        to: String,
        /// What it says.
        text: Text,
    }

    /// A record that no model reads.
    pub(super) struct ContextForm {
        /// What the product calls it.
        kind: String,
        /// Its content.
        text: Text,
    }

    /// A message of the user, with the work that it sets.
    pub(super) struct Turn {
        /// A name, so that a fact can say that it is seen here.
        id: Option<Located<String>>,
        /// What the user says.
        user: Option<Text>,
        /// Several items instead of one message.
        items: Vec<Located<Entry>>,
        /// When it comes, in milliseconds from the start. Left out: when the root is idle and its children have ended.
        at: Option<u64>,
        /// The text in the message that binds the root to the work below.
        marker: Option<Located<String>>,
        /// The topics that the answer must state, beside those of the delegated intents.
        needs: Vec<Located<String>>,
        /// What the root itself does.
        plan: Vec<Located<StepForm>>,
        /// The intents to delegate, in order.
        delegate: Vec<Located<String>>,
    }

    /// One step of a plan.
    pub(super) struct StepForm {
        /// The tool.
        tool: Located<String>,
        /// Its arguments. Default: none.
        args: Option<Node>,
        /// What the text beside the call names. Left out: the first argument that is a text.
        target: Option<String>,
        /// The topics that it is taken for: taken while one of them is unknown. Left out: taken always, once.
        seeks: Vec<Located<String>>,
        /// Neighbours with an equal group go in one message.
        parallel: Option<String>,
    }

    /// Something that can be known: facts on it, or a deliverable made of other topics.
    pub(super) struct TopicForm {
        /// Its id.
        id: Located<String>,
        /// What an answer calls it. Left out: the id with blanks for `-`.
        label: Option<Line>,
        /// The facts, oldest first: each supersedes those before it, unless `supersedes` says otherwise.
        facts: Vec<Located<FactForm>>,
        /// A deliverable: what only the thread that carries out an intent can make.
        made: Option<MadeForm>,
    }

    /// One statement on a topic.
    pub(super) struct FactForm {
        /// Its id.
        id: Located<String>,
        /// The sentence that states it; it holds a marker.
        statement: Located<String>,
        /// The value as a deliverable quotes it.
        value: Located<String>,
        /// Whoever sees one of these texts knows the fact. Left out: the value.
        markers: OneOrMore,
        /// The fact of this topic that it replaces.
        supersedes: Option<Located<String>>,
        /// Where a marker stands, beside the places that quote the fact with `{fact: ID}`.
        seen_in: Vec<Located<Seen>>,
    }

    /// A place where a fact can be seen. Exactly one key stands in it.
    pub(super) struct Seen {
        /// A file, by path.
        file: Option<String>,
        /// A user turn, by id.
        turn: Option<String>,
        /// An entry of the history, by id.
        history: Option<String>,
        /// An agent's system prompt, by name.
        agent: Option<String>,
        /// The tasks of an intent (`task`, `terse`, `follow_ups`), by id.
        intent: Option<String>,
        /// The outputs of a tool, by name.
        tool: Option<String>,
    }

    /// A deliverable: `DONE label: value`.
    pub(super) struct MadeForm {
        /// The intent whose thread makes it.
        intent: Located<String>,
        /// The topics whose values it is made of.
        from: Vec<Located<String>>,
    }

    /// Something to delegate.
    pub(super) struct IntentForm {
        /// Its id.
        id: Located<String>,
        /// The agent that should do it.
        agent: Located<String>,
        /// A few words on it.
        title: Line,
        /// The text in the task that binds a thread to this work.
        marker: Located<String>,
        /// The self-contained task, without what is known.
        task: Text,
        /// The terse task. Left out: the title with the marker.
        terse: Option<Text>,
        /// Topics that the brief `known` writes out, as far as the delegating thread knows them.
        known: Vec<Located<String>>,
        /// The topics that the answer must state; its deliverables are added.
        needs: Vec<Located<String>>,
        /// The steps of whoever carries it out, in order.
        plan: Vec<Located<StepForm>>,
        /// Intents that whoever carries it out delegates in turn.
        delegate: Vec<Located<String>>,
        /// Neighbours with an equal group are delegated in one message.
        group: Option<String>,
        /// Whether the caller would rather go on meanwhile. Default: false.
        background: bool = false,
        /// How the answer is written.
        report: Option<ReportForm>,
        /// What the parent asks a child for when it follows up, by topic.
        follow_ups: Vec<Located<FollowUpForm>>,
    }

    /// How an answer is written.
    pub(super) struct ReportForm {
        /// Words of padding beside the statements. Default: 0.
        padding_words: u32 = 0,
        /// Where the statements stand: `head` (the default), `spread` or `tail`.
        facts_at: FactsAt = FactsAt::Head,
        /// Topics beyond the needs that it also states when it knows them.
        also: Vec<Located<String>>,
        /// Whether it names where it looked: a line `Seen: TARGET` for each step that was taken. Default: false.
        evidence: bool = false,
        /// What a child's last reply is: its `answer` (the default), an `empty` message, a `preamble` to what it is about to do,
        /// or an `error` of the provider; or it is `never`: the last call of its plan is made again and again.
        ends: Ends = Ends::Answer,
        /// The most words that the task allows. Nothing cuts by it: a longer return is counted in `returns.overlong`.
        max_words: Option<u32>,
    }

    /// A follow-up's wording.
    pub(super) struct FollowUpForm {
        /// The topic that is asked for.
        topic: Located<String>,
        /// What the child is told.
        task: Text,
    }

    /// How the simulated reader behaves.
    pub(super) struct ConductForm {
        /// What it does about a delegation that failed: `self` (the default) or `give-up`.
        fallback: Fallback = Fallback::Itself,
        /// What it does about a refused one: `retry-after-return` (the default), `self` or `give-up`.
        on_refusal: OnRefusal = OnRefusal::RetryAfterReturn,
        /// Whether it leaves out intents whose topics it knows already. Default: false.
        skip_known: bool = false,
        /// Whether text beside a call also states what was just learnt. Default: false.
        narrate_findings: bool = false,
        /// What it writes into a task, unless the run asks for another brief: `same` (the default), `terse`, `known` or `auto`.
        brief: Briefing = Briefing::Same,
    }

    /// The harness's own limits; what is left out is as everywhere.
    pub(super) struct CeilingsForm {
        /// Exchanges of one turn.
        rounds: Option<u32>,
        /// Depth of a child; 1: the root may have children, they may not.
        depth: Option<u32>,
        /// Threads of a run, the root included.
        threads: Option<u32>,
        /// Input and output tokens of a run, all threads together.
        tokens: Option<u64>,
    }

    /// A parameter that is more than a text, or not required.
    struct ParameterForm {
        /// The description that agents read.
        about: String,
        /// Its JSON type. Default: `string`.
        kind: ParameterKind = ParameterKind("string"),
        /// Whether a call must have it. Default: true.
        required: bool = true,
        /// The values that it may have.
        values: Vec<String>,
    }
}

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(super) enum Does {
    Read,
    Write,
    List,
    Search,
    Answer,
}

names!(Does: "read" => Does::Read, "write" => Does::Write, "list" => Does::List, "search" => Does::Search, "answer" => Does::Answer);
names!(Size: "small" => Size::Small, "medium" => Size::Medium, "large" => Size::Large);
names!(FactsAt: "head" => FactsAt::Head, "spread" => FactsAt::Spread, "tail" => FactsAt::Tail);
names!(Fallback: "self" => Fallback::Itself, "give-up" => Fallback::GiveUp);
names!(Briefing: "terse" => Briefing::Terse, "same" => Briefing::Same, "known" => Briefing::Known, "auto" => Briefing::Auto);
names!(Ends: "answer" => Ends::Answer, "empty" => Ends::Empty, "preamble" => Ends::Preamble, "error" => Ends::Error, "never" => Ends::Never);
names!(OnRefusal: "retry-after-return" => OnRefusal::RetryAfterReturn, "self" => OnRefusal::Itself, "give-up" => OnRefusal::GiveUp);
names!(Phase: "commentary" => Phase::Commentary, "final_answer" => Phase::FinalAnswer);
names!(ParameterKind: "string" => ParameterKind("string"), "integer" => ParameterKind("integer"), "number" => ParameterKind("number"),
    "boolean" => ParameterKind("boolean"), "array" => ParameterKind("array"), "object" => ParameterKind("object"));

/// A JSON type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParameterKind(&'static str);

impl JsonSchema for ParameterKind {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ParameterKind".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": ["string", "integer", "number", "boolean", "array", "object"]})
    }
}

/// A parameter of a tool.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// Its JSON schema.
    pub schema: serde_json::Value,
    /// Whether a call must have it.
    pub required: bool,
}

impl Form for Parameter {
    fn read(node: &Node, problems: &mut Problems) -> Option<Parameter> {
        if let Value::Text(about) = &node.value {
            return Some(Parameter { schema: serde_json::json!({"type": "string", "description": about}), required: true });
        }
        let ParameterForm { about, kind, required, values } = ParameterForm::read(node, problems)?;
        let mut schema = serde_json::json!({"type": kind.0, "description": about});
        if let (false, Some(object)) = (values.is_empty(), schema.as_object_mut()) {
            object.insert("enum".to_owned(), values.into());
        }
        Some(Parameter { schema, required })
    }
}

impl JsonSchema for Parameter {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Parameter".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let more = generator.subschema_for::<ParameterForm>();
        json_schema!({"anyOf": [{"type": "string", "description": "The description of a required text."}, more]})
    }
}

/// The role of an entry's key, where it is a message.
pub(super) fn messages(entry: &Entry) -> [(Role, &Option<Text>); 5] {
    [
        (Role::User, &entry.user),
        (Role::Assistant, &entry.assistant),
        (Role::Developer, &entry.developer),
        (Role::System, &entry.system),
        (Role::Tool, &entry.tool),
    ]
}
