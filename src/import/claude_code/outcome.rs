//! What a record says about delegations beside its message: `toolUseResult`, and notices on background tasks.

use std::sync::{Arc, LazyLock};

use memchr::memmem;
use serde::Deserialize;

use crate::ledger::Usage;
use crate::transcript::Part;

use super::block;
use super::row::Names;
use super::wire::{Count, Flag, Object, Raw, Text, keys_once};

/// A delegation's result as the parent's record has it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The child.
    pub agent: Option<Arc<str>>,
    /// Started in the background.
    pub background: bool,
    /// What it returned.
    pub text: Option<Part>,
    /// Size of its last request and reply.
    pub final_context: Option<u64>,
    /// Usage of its last response.
    pub usage: Option<Usage>,
    /// State of the task that was asked for.
    pub task_status: Option<String>,
}

/// A notice that a background task has ended.
#[derive(Clone, Debug, Default)]
pub struct Notice {
    /// The call that started it.
    pub call: Option<String>,
    /// The task, which is the child's id.
    pub task: Option<String>,
    /// Its state, in the product's words.
    pub status: Option<String>,
    /// What it answered.
    pub result: Option<String>,
}

/// Usage on the wire.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct WireUsage {
    input_tokens: Count,
    cache_creation_input_tokens: Count,
    cache_read_input_tokens: Count,
    output_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireOutcome<'a> {
    #[serde(borrow)]
    agent_id: Text<'a>,
    is_async: Flag,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    total_tokens: Count,
    usage: Object<WireUsage>,
    #[serde(borrow)]
    task: Object<WireTask<'a>>,
    #[serde(borrow, rename = "retrieval_status")]
    retrieval_status: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireTask<'a> {
    #[serde(borrow)]
    status: Text<'a>,
}

impl WireUsage {
    fn all(&self) -> [(&'static str, Count); 4] {
        [
            ("input_tokens", self.input_tokens),
            ("cache_read_input_tokens", self.cache_read_input_tokens),
            ("cache_creation_input_tokens", self.cache_creation_input_tokens),
            ("output_tokens", self.output_tokens),
        ]
    }

    /// `None`: an object without a single figure, or with one that counts nothing: then the others are not trusted either.
    /// A cache class that is left out stands for no cache use.
    pub fn usage(&self) -> Option<Usage> {
        let all = self.all().map(|(_, count)| count);
        if all.contains(&Count::Odd) {
            return None;
        }
        let [uncached_input, cache_read, cache_write, output] = all.map(|count| Some(count.get().unwrap_or(0)));
        all.iter().any(|count| count.get().is_some()).then_some(Usage { uncached_input, cache_read, cache_write, output, reasoning: None })
    }

    /// Which of the figures counts nothing.
    pub fn odd(&self) -> Option<String> {
        let (name, _) = self.all().into_iter().find(|(_, count)| *count == Count::Odd)?;
        Some(no_count(name))
    }
}

fn no_count(name: &str) -> String {
    format!("`{name}` is no count of tokens: the usage is left out")
}

/// Keys of results that say something on a delegation.
static SAYS: LazyLock<[memmem::Finder<'static>; 4]> =
    LazyLock::new(|| ["\"agentId\"", "\"totalTokens\"", "\"isAsync\"", "\"retrieval_status\""].map(memmem::Finder::new));

/// Reads `toolUseResult`; `None`: it says nothing on a delegation. The second value says what of it is lost.
pub fn outcome(text: &str, names: &mut Names) -> (Option<Outcome>, Option<String>) {
    // Most results are of ordinary tools and large: they are not worth a second look.
    if !SAYS.iter().any(|key| key.find(text.as_bytes()).is_some()) {
        return (None, None);
    }
    let once;
    let wire: Option<WireOutcome<'_>> = match serde_json::from_str(text) {
        Ok(wire) => Some(wire),
        Err(_) => {
            once = keys_once(text);
            once.as_deref().and_then(|once| serde_json::from_str(once).ok())
        }
    };
    let Some(wire) = wire else { return (None, Some("`toolUseResult` cannot be read".into())) };
    let odd = (wire.total_tokens == Count::Odd).then(|| no_count("totalTokens"));
    let odd = odd.or_else(|| wire.usage.0.as_ref().and_then(WireUsage::odd));
    let task_status = wire.task.0.and_then(|task| task.status.filled().map(str::to_owned));
    let fetched = wire.retrieval_status.get() == Some("success");
    let task_status = task_status.or_else(|| fetched.then(|| "completed".to_owned()));
    let outcome = Outcome {
        agent: wire.agent_id.filled().map(|text| names.share(text)),
        background: wire.is_async.0 || wire.status.get() == Some("async_launched"),
        text: wire.content.get().and_then(block::all_text).map(Part::text),
        final_context: wire.total_tokens.get(),
        usage: wire.usage.0.as_ref().and_then(WireUsage::usage),
        task_status,
    };
    let says_something = outcome.agent.is_some() || outcome.background || outcome.final_context.is_some() || outcome.task_status.is_some();
    (says_something.then_some(outcome), odd)
}

/// What a notice says between its tags: `<task-notification>` of 2.1, `<agent-notification>` of 2.0.
pub fn notice(text: &str) -> Option<Notice> {
    if !(text.contains("<task-notification>") || text.contains("<agent-notification>")) {
        return None;
    }
    let tag = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (value, _) = rest.split_once(&format!("</{name}>"))?;
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    };
    Some(Notice {
        call: tag("tool-use-id"),
        task: tag("task-id").or_else(|| tag("agent-id")),
        status: tag("status"),
        result: tag("result"),
    })
}
