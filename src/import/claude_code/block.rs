//! The content of a message: its blocks.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript::{Content, Digest, Part};

use super::wire::{Flag, Object, Raw, Text, keys_once};

/// Tools that only ask for the answer of a background child (2.0: `AgentOutputTool`, 2.1: `TaskOutput`).
pub const COLLECTING: [&str; 2] = ["TaskOutput", "AgentOutputTool"];

/// Which contents are kept; the others become empty texts.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// Texts.
    pub texts: bool,
    /// Contents of results.
    pub results: bool,
    /// Reasoning and arguments.
    pub rest: bool,
}

impl Keep {
    /// Everything.
    pub const ALL: Keep = Keep { texts: true, results: true, rest: true };
}

/// A block of a message.
#[derive(Clone, Debug)]
pub enum Block {
    /// Text.
    Text(Part),
    /// Reasoning.
    Thinking(Part),
    /// Content whose tokens nobody knows: an image, a document, a kind that is not known.
    Opaque(Part),
    /// A call.
    Call(CallBlock),
    /// A call's result.
    Result(ResultBlock),
}

/// A call.
#[derive(Clone, Debug)]
pub struct CallBlock {
    /// The wire id.
    pub id: Box<str>,
    /// The tool.
    pub name: Box<str>,
    /// The arguments as JSON text; empty where contents are not kept.
    pub args: Part,
    /// Set for a delegating call.
    pub task: Option<Box<Task>>,
    /// Set for a call that asks for a background child's answer: the child.
    pub collects: Option<Box<str>>,
}

/// What a delegating call asks for.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// A few words.
    pub title: String,
    /// The task.
    pub prompt: Option<String>,
    /// The kind of agent.
    pub subagent_type: Option<String>,
    /// In the background.
    pub background: bool,
}

/// A result.
#[derive(Clone, Debug)]
pub struct ResultBlock {
    /// The call's wire id.
    pub id: Box<str>,
    /// Its content; empty where contents are not kept.
    pub parts: Vec<Part>,
    /// Whether it is an error.
    pub failed: bool,
    /// Parts in it whose tokens nobody knows.
    pub opaque: u64,
    /// Its first part's text without white space around it: what links compare, kept or not.
    pub said: Option<Digest>,
    /// Its content as it stands: whether two results are the same one, kept or not.
    pub content: Option<Digest>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    thinking: Raw<'a>,
    #[serde(borrow)]
    signature: Raw<'a>,
    #[serde(borrow)]
    data: Raw<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    is_error: Flag,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    source: Object<WireSource<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireSource<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    media_type: Text<'a>,
    #[serde(borrow)]
    data: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireInput<'a> {
    #[serde(borrow)]
    description: Text<'a>,
    #[serde(borrow)]
    prompt: Text<'a>,
    #[serde(borrow)]
    subagent_type: Text<'a>,
    run_in_background: Flag,
    #[serde(borrow)]
    task_id: Text<'a>,
    #[serde(borrow, rename = "agentId")]
    agent_id: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireAttachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    prompt: Raw<'a>,
    #[serde(borrow, rename = "addedLines")]
    added_lines: Raw<'a>,
}

fn list<'a>(json: &'a str) -> Option<Vec<&'a RawValue>> {
    serde_json::from_str::<Vec<&'a RawValue>>(json).ok()
}

/// What stands for a content that is not kept.
static NOTHING: LazyLock<Part> = LazyLock::new(|| Part::text(""));

fn text_part(raw: Raw<'_>, keep: bool) -> Part {
    if keep { Part::text(raw.string().unwrap_or_default().into_owned()) } else { NOTHING.clone() }
}

fn opaque(kind: &str, json: &str) -> Part {
    Part::new(Content::Opaque { kind: kind.chars().take(60).collect(), bytes: json.len() as u64, tokens: None })
}

/// Reads a message's content: a string, a list of blocks, or nothing. The second value says what could not be read.
pub fn blocks(content: Option<&str>, keep: Keep, delegating: &[String]) -> (Vec<Block>, Option<String>) {
    let Some(json) = content else { return (vec![], None) };
    if json.starts_with('"') {
        return (vec![string_block(json, keep)], None);
    }
    // As a rule all blocks are objects of known kinds: one pass. Else each is looked at by itself.
    if let Ok(all) = serde_json::from_str::<Vec<Object<WireBlock<'_>>>>(json) {
        let known: Option<Vec<Block>> = all.iter().map(|one| known_block(one.0.as_ref()?, keep, delegating)).collect();
        if let Some(known) = known {
            return (known, None);
        }
    }
    let Some(all) = list(json) else {
        return (vec![Block::Opaque(opaque("content", json))], Some("`content` is no text and no list".into()));
    };
    (all.into_iter().map(|one| block(one.get(), keep, delegating)).collect(), None)
}

fn string_block(json: &str, keep: Keep) -> Block {
    Block::Text(text_part(serde_json::from_str::<Raw<'_>>(json).unwrap_or_default(), keep.texts))
}

fn block(json: &str, keep: Keep, delegating: &[String]) -> Block {
    if json.starts_with('"') {
        return string_block(json, keep);
    }
    let once;
    let wire: WireBlock<'_> = match serde_json::from_str(json) {
        Ok(wire) if json.starts_with('{') => wire,
        _ => {
            once = keys_once(json);
            match once.as_deref().and_then(|once| serde_json::from_str(once).ok()) {
                Some(wire) => wire,
                None => return Block::Opaque(opaque("unknown", json)),
            }
        }
    };
    let kind = wire.kind.filled().unwrap_or("unknown");
    known_block(&wire, keep, delegating).unwrap_or_else(|| Block::Opaque(opaque(kind, json)))
}

/// A block of a kind that is known and carried by value.
fn known_block(wire: &WireBlock<'_>, keep: Keep, delegating: &[String]) -> Option<Block> {
    Some(match wire.kind.get()? {
        "text" => Block::Text(text_part(wire.text, keep.texts)),
        "thinking" => {
            // Two quotes around nothing: the reasoning itself was left out, its signature stands for it.
            let hidden = wire.thinking.get().is_none_or(|json| json == "\"\"");
            match wire.signature.get() {
                Some(signature) if hidden => Block::Opaque(opaque("thinking", signature)),
                _ => Block::Thinking(text_part(wire.thinking, keep.rest)),
            }
        }
        "redacted_thinking" => Block::Opaque(opaque("redacted_thinking", wire.data.get().unwrap_or(""))),
        "tool_use" => Block::Call(call(wire, keep.rest, delegating)),
        "tool_result" => {
            let json = wire.content.get();
            let (parts, opaque, said) = result_parts(json, keep.results);
            let id = wire.tool_use_id.get().unwrap_or("").into();
            Block::Result(ResultBlock { id, parts, failed: wire.is_error.0, opaque, said, content: json.map(Digest::of) })
        }
        "image" | "document" => {
            let part = media(wire)?;
            if matches!(part.content(), Content::Text(_)) { Block::Text(part) } else { Block::Opaque(part) }
        }
        _ => return None,
    })
}

fn call(wire: &WireBlock<'_>, keep: bool, delegating: &[String]) -> CallBlock {
    let name = wire.name.get().unwrap_or("");
    let is_task = delegating.iter().any(|tool| tool == name);
    let collecting = COLLECTING.contains(&name);
    let input = wire.input.object().filter(|_| is_task || collecting);
    let fields: WireInput<'_> = input.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    let task = is_task.then(|| {
        Box::new(Task {
            title: fields.description.get().unwrap_or("").to_owned(),
            prompt: fields.prompt.get().map(str::to_owned),
            subagent_type: fields.subagent_type.filled().map(str::to_owned),
            background: fields.run_in_background.0,
        })
    });
    let asked = fields.task_id.filled().or(fields.agent_id.filled());
    CallBlock {
        id: wire.id.get().unwrap_or("").into(),
        name: name.into(),
        args: if keep { Part::text(wire.input.get().unwrap_or("{}")) } else { NOTHING.clone() },
        task,
        collects: asked.filter(|_| collecting).map(Into::into),
    }
}

/// The digest by which a returned text is known: of the text without white space around it.
pub fn said(text: &str) -> Digest {
    Digest::of(text.trim())
}

/// The parts of a result, how many of them nobody can count, and what its first one says.
fn result_parts(content: Option<&str>, keep: bool) -> (Vec<Part>, u64, Option<Digest>) {
    let Some(json) = content else { return (vec![], 0, None) };
    if json.starts_with('"') {
        let text = serde_json::from_str::<Raw<'_>>(json).unwrap_or_default().string().unwrap_or_default();
        let digest = Some(said(&text));
        return (if keep { vec![Part::text(text.into_owned())] } else { vec![] }, 0, digest);
    }
    let Some(all) = list(json) else { return (if keep { vec![opaque("result", json)] } else { vec![] }, 1, None) };
    let mut parts = Vec::new();
    let mut unknown = 0;
    for (at, one) in all.into_iter().enumerate() {
        // The first part is read in any case, for what it says.
        let texts = keep || at == 0;
        match block(one.get(), Keep { texts, results: false, rest: texts }, &[]) {
            Block::Text(part) | Block::Thinking(part) => parts.push(part),
            Block::Opaque(part) => {
                unknown += 1;
                parts.push(part);
            }
            // A call or a result inside a result: no product writes it, and it must not look like one of the thread's.
            Block::Call(_) | Block::Result(_) => {
                unknown += 1;
                parts.push(opaque("nested", one.get()));
            }
        }
    }
    let first = parts.first().filter(|part| matches!(part.content(), Content::Text(_))).map(|part| said(part.as_text()));
    if !keep {
        parts.clear();
    }
    (parts, unknown, first)
}

/// An image or a document that is carried by value; `None`: by reference.
fn media(wire: &WireBlock<'_>) -> Option<Part> {
    let source = wire.source.0.as_ref()?;
    let media = source.media_type.get().unwrap_or("application/octet-stream").to_owned();
    match source.kind.get()? {
        "base64" => {
            let data = source.data.get()?.trim_matches('"');
            let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count() as u64;
            let bytes = (data.len() as u64 / 4 * 3).saturating_sub(padding);
            let image = wire.kind.get() == Some("image");
            Some(Part::new(if image {
                Content::Image { media, bytes, tokens: None }
            } else {
                Content::File { media, bytes, tokens: None }
            }))
        }
        "text" => Some(Part::text(source.data.string()?.into_owned())),
        "content" => Some(Part::text(all_text(source.content.get()?)?)),
        _ => None,
    }
}

/// All text of a content, joined with nothing but a line break between blocks; `None`: it has none.
pub fn all_text(json: &str) -> Option<String> {
    if json.starts_with('"') {
        return serde_json::from_str::<Raw<'_>>(json).ok()?.string().map(Cow::into_owned);
    }
    let (blocks, _) = blocks(Some(json), Keep::ALL, &[]);
    let texts: Vec<String> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(part) => Some(part.as_text().to_owned()),
            _ => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// What an attachment brings into the request: its text where it has one, else its JSON; `None` for what hooks report
/// to the person. How the product words it for the model is not recorded.
pub fn attachment(json: &str, keep: bool) -> Option<Block> {
    let wire: WireAttachment<'_> = serde_json::from_str(json).ok()?;
    if wire.kind.get().unwrap_or("").starts_with("hook_") {
        return None;
    }
    if !keep {
        return Some(Block::Text(NOTHING.clone()));
    }
    let lines = || {
        let lines: Vec<Text<'_>> = serde_json::from_str(wire.added_lines.get()?).ok()?;
        Some(lines.iter().filter_map(Text::get).collect::<Vec<_>>().join("\n"))
    };
    let text = wire.content.get().and_then(all_text).or_else(|| wire.prompt.get().and_then(all_text)).or_else(lines);
    Some(Block::Text(Part::text(text.unwrap_or_else(|| json.to_owned()))))
}
