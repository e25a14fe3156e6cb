//! One record of a session file, as the rest of this importer uses it.

use std::sync::Arc;

use memchr::memmem;
use rustc_hash::FxHashSet as HashSet;
use serde::Deserialize;

use crate::import::time::milliseconds;
use crate::ledger::Usage;
use crate::transcript::Digest;

use super::block::{self, Block, Keep};
use super::outcome::{Notice, Outcome, WireUsage, notice, outcome};
use super::wire::{Count, Flag, Object, Pointer, Raw, Text, keys_once};

/// Model name of rows that the client writes by itself (errors, interruptions): no responses.
const SYNTHETIC: &str = "<synthetic>";

/// Types of records beside the conversation, seen in versions 1.0.98 to 2.1.197.
const BESIDE: [&str; 17] = [
    "system",
    "progress",
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "mode",
    "permission-mode",
    "ai-title",
    "custom-title",
    "bridge-session",
    "pr-link",
    "saved_hook_context",
    "atis-latch",
    "fork-context-ref",
    "agent-name",
    "tag",
];

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What the model was told: prompts, results, hidden messages.
    User,
    /// A block of a model response.
    Assistant,
    /// A client-made assistant row.
    Synthetic,
    /// What the client adds to a request.
    Attachment,
    /// A record that others hang from, without content for the model.
    Structure,
}

/// The record that this one follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// It does not say.
    Missing,
    /// None: it begins a tree.
    Root,
    /// That one.
    To(Digest),
}

/// A record with its place.
#[derive(Clone, Debug)]
pub struct Row {
    /// Index of the file.
    pub file: usize,
    /// The line, from 1.
    pub line: u64,
    /// What it is.
    pub kind: Kind,
    /// Its uuid.
    pub uuid: Option<Digest>,
    /// The same as text, where it may name a thread.
    pub uuid_text: Option<Box<str>>,
    /// The record before it.
    pub parent: Parent,
    /// The same across a compaction.
    pub logical: Option<Digest>,
    /// The session that it was written in.
    pub session: Option<Arc<str>>,
    /// The child agent that it belongs to.
    pub agent: Option<Arc<str>>,
    /// Whether it belongs to a child.
    pub side: bool,
    /// The call whose child it is a copy from.
    pub copy_of: Option<Arc<str>>,
    /// Written by the product, not for people.
    pub meta: bool,
    /// A compaction's summary.
    pub summary: bool,
    /// A copy from another session.
    pub forked: bool,
    /// When, in milliseconds since 1970.
    pub at_ms: Option<i64>,
    /// Which response it is a block of.
    pub key: Option<Digest>,
    /// The model.
    pub model: Option<Arc<str>>,
    /// Usage as reported.
    pub usage: Option<Usage>,
    /// Size of its content as JSON.
    pub bytes: u64,
    /// Its content.
    pub blocks: Vec<Block>,
    /// What `toolUseResult` says on a delegation.
    pub outcome: Option<Box<Outcome>>,
    /// `toolUseResult` is a string: an error.
    pub outcome_is_text: bool,
    /// A notice on a background task.
    pub notice: Option<Box<Notice>>,
}

/// A fork's history by reference.
#[derive(Clone, Debug)]
pub struct ForkRef {
    /// The forked child.
    pub agent: Option<Arc<str>>,
    /// The session that it was forked from.
    pub session: Option<Arc<str>>,
    /// The last record that it has.
    pub last: Option<Digest>,
    /// How many.
    pub length: u64,
}

/// What a record turned out to be.
pub enum Parsed {
    /// One with a place in the tree.
    Row(Box<Row>),
    /// A place in the tree, and a copy of a child's row that it carries.
    Copy(Box<Row>, Box<Row>),
    /// A notice on a background task, with its session.
    Notice(Option<Arc<str>>, Notice),
    /// History by reference.
    Fork(ForkRef),
    /// A known type without anything for an import.
    Nothing,
    /// A type that is not known.
    Unknown(String),
}

/// A record, with what is needed of the file and the import.
pub struct Reading<'a> {
    /// Index of the file.
    pub file: usize,
    /// The line, from 1.
    pub line: u64,
    /// Whether contents are kept.
    pub keep: bool,
    /// Names of delegating tools.
    pub delegating: &'a [String],
}

/// Shared strings, each stored once.
#[derive(Default)]
pub struct Names(HashSet<Arc<str>>);

impl Names {
    /// The shared string.
    pub fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.0.insert(new.clone());
        new
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    uuid: Text<'a>,
    #[serde(borrow)]
    parent_uuid: Pointer<'a>,
    #[serde(borrow)]
    logical_parent_uuid: Text<'a>,
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    agent_id: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    version: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    is_sidechain: Flag,
    is_meta: Flag,
    is_compact_summary: Flag,
    #[serde(borrow)]
    request_id: Text<'a>,
    #[serde(borrow)]
    attribution_agent: Text<'a>,
    #[serde(borrow)]
    forked_from: Raw<'a>,
    #[serde(borrow)]
    message: Object<WireMessage<'a>>,
    #[serde(borrow)]
    tool_use_result: Raw<'a>,
    #[serde(borrow)]
    data: Raw<'a>,
    #[serde(borrow, rename = "parentToolUseID")]
    parent_tool_use_id: Text<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    attachment: Raw<'a>,
    #[serde(borrow)]
    parent_session_id: Text<'a>,
    #[serde(borrow)]
    parent_last_uuid: Text<'a>,
    context_length: Count,
    #[serde(borrow)]
    leaf_uuid: Text<'a>,
    #[serde(borrow)]
    message_id: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireMessage<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    usage: Object<WireUsage>,
}

/// A child's row inside a `progress` record.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireProgress<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    agent_id: Text<'a>,
    #[serde(borrow)]
    message: Object<Wire<'a>>,
}

/// Says about a file: its last session id, version and folder.
#[derive(Clone, Debug, Default)]
pub struct Heading {
    /// Session id of this record.
    pub session: Option<Arc<str>>,
    /// Product version.
    pub version: Option<Arc<str>>,
    /// Working folder.
    pub folder: Option<Arc<str>>,
    /// Agent kind.
    pub agent_kind: Option<Arc<str>>,
}

/// Whether only this product writes such a record.
pub fn recognises(text: &str) -> bool {
    let known = |wire: &Wire<'_>| {
        wire.kind.filled().is_some()
            && (wire.session_id.filled().is_some()
                || !matches!(wire.parent_uuid, Pointer::Missing)
                || wire.leaf_uuid.filled().is_some()
                || (wire.kind.get() == Some("file-history-snapshot") && wire.message_id.filled().is_some())
                || (wire.kind.get() == Some("fork-context-ref") && wire.agent_id.filled().is_some()))
    };
    if !text.starts_with('{') {
        return false;
    }
    match serde_json::from_str::<Wire<'_>>(text) {
        Ok(wire) => known(&wire),
        Err(_) => keys_once(text).is_some_and(|once| serde_json::from_str::<Wire<'_>>(&once).is_ok_and(|wire| known(&wire))),
    }
}

/// Reads a record. The third value says what of it was lost.
pub fn parse(text: &str, reading: &Reading<'_>, names: &mut Names) -> Result<(Parsed, Heading, Option<String>), String> {
    if !text.starts_with('{') {
        return Err("not a JSON object".into());
    }
    match serde_json::from_str::<Wire<'_>>(text) {
        Ok(wire) => build(&wire, reading, names),
        // A key that is named twice is an error for a typed reader and none for JSON: the last one counts.
        Err(error) => match keys_once(text) {
            Some(once) => build(&serde_json::from_str(&once).map_err(|error| error.to_string())?, reading, names),
            None => Err(error.to_string()),
        },
    }
}

fn build(wire: &Wire<'_>, reading: &Reading<'_>, names: &mut Names) -> Result<(Parsed, Heading, Option<String>), String> {
    let mut share = |text: &Text<'_>| text.filled().map(|text| names.share(text));
    let heading = Heading {
        session: share(&wire.session_id),
        version: share(&wire.version),
        folder: share(&wire.cwd),
        agent_kind: share(&wire.attribution_agent),
    };
    let kind = wire.kind.get().unwrap_or("");
    match kind {
        "user" | "assistant" => {
            let (row, lost) = conversation(wire, reading, names, kind)?;
            Ok((Parsed::Row(Box::new(row)), heading, lost))
        }
        "attachment" => {
            let mut row = skeleton(wire, reading, names, Kind::Attachment);
            row.blocks = wire.attachment.object().and_then(|text| block::attachment(text, reading.keep)).into_iter().collect();
            Ok((Parsed::Row(Box::new(row)), heading, None))
        }
        "progress" => match progress_copy(wire, reading, names) {
            Some(Ok((copy, lost))) => {
                let place = skeleton(wire, reading, names, Kind::Structure);
                Ok((Parsed::Copy(Box::new(place), Box::new(copy)), heading, lost))
            }
            // The copy is lost; the record keeps its place in the tree.
            Some(Err(why)) => Ok((structure(wire, reading, names), heading, Some(why))),
            None => Ok((structure(wire, reading, names), heading, None)),
        },
        "queue-operation" => {
            let content = wire.content.string().unwrap_or_default();
            let parsed = notice(&content).map_or(Parsed::Nothing, |notice| Parsed::Notice(heading.session.clone(), notice));
            Ok((parsed, heading, None))
        }
        "fork-context-ref" => {
            let fork = ForkRef {
                agent: wire.agent_id.filled().map(|text| names.share(text)),
                session: wire.parent_session_id.filled().map(|text| names.share(text)),
                last: wire.parent_last_uuid.filled().map(Digest::of),
                length: wire.context_length.get().unwrap_or(0),
            };
            let odd = wire.context_length == Count::Odd;
            Ok((Parsed::Fork(fork), heading, odd.then(|| "`contextLength` is no count of records: the history is left out".into())))
        }
        known if BESIDE.contains(&known) => Ok((structure(wire, reading, names), heading, None)),
        _ => {
            let name = if kind.is_empty() { "(no type)" } else { kind };
            Ok((Parsed::Unknown(name.chars().take(60).collect()), heading, None))
        }
    }
}

/// Any record with a uuid has a place in the tree: others may hang from it.
fn structure(wire: &Wire<'_>, reading: &Reading<'_>, names: &mut Names) -> Parsed {
    if wire.uuid.filled().is_none() {
        return Parsed::Nothing;
    }
    Parsed::Row(Box::new(skeleton(wire, reading, names, Kind::Structure)))
}

fn skeleton(wire: &Wire<'_>, reading: &Reading<'_>, names: &mut Names, kind: Kind) -> Row {
    let side = wire.is_sidechain.0;
    let agent = wire.agent_id.filled().map(|text| names.share(text));
    Row {
        file: reading.file,
        line: reading.line,
        kind,
        uuid: wire.uuid.filled().map(Digest::of),
        uuid_text: if side && agent.is_none() { wire.uuid.filled().map(Into::into) } else { None },
        parent: match &wire.parent_uuid {
            Pointer::Missing => Parent::Missing,
            Pointer::Null => Parent::Root,
            Pointer::To(uuid) if uuid.is_empty() => Parent::Root,
            Pointer::To(uuid) => Parent::To(Digest::of(uuid)),
        },
        logical: wire.logical_parent_uuid.filled().map(Digest::of),
        session: wire.session_id.filled().map(|text| names.share(text)),
        agent,
        side,
        copy_of: None,
        meta: wire.is_meta.0,
        summary: wire.is_compact_summary.0,
        forked: wire.forked_from.is_some(),
        at_ms: wire.timestamp.get().and_then(milliseconds),
        key: None,
        model: None,
        usage: None,
        bytes: 0,
        blocks: vec![],
        outcome: None,
        outcome_is_text: false,
        notice: None,
    }
}

fn conversation(wire: &Wire<'_>, reading: &Reading<'_>, names: &mut Names, kind: &str) -> Result<(Row, Option<String>), String> {
    let Some(message) = &wire.message.0 else { return Err(format!("a record of type `{kind}` without a `message`")) };
    let assistant = kind == "assistant";
    let synthetic = assistant && message.model.get() == Some(SYNTHETIC);
    let row_kind = match (assistant, synthetic) {
        (false, _) => Kind::User,
        (true, false) => Kind::Assistant,
        (true, true) => Kind::Synthetic,
    };
    let mut row = skeleton(wire, reading, names, row_kind);
    let (told, odd) = wire.tool_use_result.object().map_or((None, None), |text| outcome(text, names));
    row.outcome = told.map(Box::new);
    row.outcome_is_text = wire.tool_use_result.get().is_some_and(|text| text.starts_with('"'));
    // Texts of children are needed for links even where contents are not kept; of results their digests are.
    let keep =
        Keep { texts: reading.keep || row.side || row.agent.is_some(), results: reading.keep || row.outcome.is_some(), rest: reading.keep };
    let content = message.content.get();
    row.bytes = content.map_or(0, |text| text.len() as u64);
    let (blocks, lost) = block::blocks(content, keep, reading.delegating);
    let mut lost = lost.or(odd);
    row.blocks = blocks;
    if assistant && !synthetic {
        row.key = Some(response_key(wire, message, reading));
        row.model = message.model.filled().map(|text| names.share(text));
        row.usage = message.usage.0.as_ref().and_then(WireUsage::usage);
        lost = lost.or_else(|| message.usage.0.as_ref().and_then(WireUsage::odd));
    } else if row_kind == Kind::User && content.is_some_and(|text| memmem::find(text.as_bytes(), b"-notification>").is_some()) {
        let text = content.and_then(block::all_text).unwrap_or_default();
        row.notice = notice(&text).map(Box::new);
    }
    Ok((row, lost))
}

/// One response, one key: the response's and the request's ids where both are there; a proxy leaves the request's out,
/// and then the response's id may repeat in another session.
fn response_key(wire: &Wire<'_>, message: &WireMessage<'_>, reading: &Reading<'_>) -> Digest {
    match (message.id.filled(), wire.request_id.filled(), wire.uuid.filled()) {
        (Some(id), Some(request), _) => Digest::of(&format!("request\0{id}\0{request}")),
        (Some(id), None, _) => Digest::of(&format!("session\0{}\0{id}", wire.session_id.get().unwrap_or(""))),
        (None, _, Some(uuid)) => Digest::of(&format!("uuid\0{uuid}")),
        (None, _, None) => Digest::of(&format!("line\0{}\0{}", reading.file, reading.line)),
    }
}

/// The child's row that a `progress` record of type `agent_progress` carries; `None`: it is another kind of progress.
fn progress_copy(wire: &Wire<'_>, reading: &Reading<'_>, names: &mut Names) -> Option<Result<(Row, Option<String>), String>> {
    let data = wire.data.object().filter(|text| memmem::find(text.as_bytes(), b"agent_progress").is_some())?;
    let once;
    let progress: Option<WireProgress<'_>> = match serde_json::from_str(data) {
        Ok(progress) => Some(progress),
        Err(_) => {
            once = keys_once(data);
            once.as_deref().and_then(|once| serde_json::from_str(once).ok())
        }
    };
    let Some(progress) = progress else { return Some(Err("the `data` of a `progress` record cannot be read".into())) };
    if progress.kind.get() != Some("agent_progress") {
        return None;
    }
    let Some(mut inner) = progress.message.0 else { return Some(Err("an `agent_progress` whose `message` is no object".into())) };
    let kind = match inner.kind.get() {
        Some(kind @ ("user" | "assistant")) => kind.to_owned(),
        Some(kind) => {
            let kind: String = kind.chars().take(60).collect();
            return Some(Err(format!("an `agent_progress` with a record of type `{kind}`")));
        }
        None => return Some(Err("an `agent_progress` with a record without a type".into())),
    };
    // The copy names neither its session nor its agent: the record around it does.
    if inner.session_id.filled().is_none() {
        inner.session_id = Text(wire.session_id.filled().map(|text| text.to_owned().into()));
    }
    if inner.agent_id.filled().is_none() {
        inner.agent_id = Text(progress.agent_id.filled().map(|text| text.to_owned().into()));
    }
    inner.is_sidechain = Flag(true);
    let keeping = Reading { keep: reading.keep, ..*reading };
    Some(conversation(&inner, &keeping, names, &kind).map(|(mut row, lost)| {
        row.copy_of = Some(names.share(wire.parent_tool_use_id.get().unwrap_or("")));
        if row.agent.is_none() {
            // Without a name the call's id keeps the copies of one child together.
            row.agent = row.copy_of.clone();
        }
        (row, lost)
    }))
}
