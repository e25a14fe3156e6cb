//! What a provider bills for the requests of a cell: the frames, tool renderings and hidden prompts that a run's own count leaves
//! out because they are the same for every strategy. Under many small requests they are not small.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Mutex;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::results::{ItemKind, ItemLine, PartName, RequestLine};
use crate::tokens::framing::{Accuracy, Framing, Message, Request, Tool, ToolChoice};
use crate::tokens::{CountError, TokenCounter};
use crate::transcript::{Content, Digest, Part};

use super::folded::folded;
use super::numerals::count;
use super::shown::Sent;
use super::shown_text::PAGE;

/// A cell's requests as a family of models bills them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Billed {
    /// The model or the family that was asked for.
    pub model: String,
    /// The family whose figures were taken.
    pub family: &'static str,
    /// The encoding of its texts.
    pub encoding: &'static str,
    /// How far a count may lie from the bill: `exact`, `N tokens`, `N %` or `unstated`; the worst of all requests.
    pub accuracy: String,
    /// What the figures rest on.
    pub basis: &'static str,
    /// When the bills were seen, as far as the source says.
    pub billed: &'static str,
    /// Tokens of the prompt that a request with tools carries unseen; null: none is known.
    pub tool_prompt: Option<u32>,
    /// Tokens of all requests; null: some are unknown.
    pub total: Option<u64>,
    /// Tokens of what can be counted.
    pub at_least: u64,
    /// What nobody can count, and where.
    pub unknown: Vec<String>,
    /// Where the figures say nothing about what was sent.
    pub doubts: Vec<&'static str>,
    /// Each request.
    pub requests: Vec<BilledRequest>,
}

/// A request as it is billed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BilledRequest {
    /// Its number in the cell.
    pub seq: u32,
    /// Its thread.
    pub thread: String,
    /// Tokens as the run counts them, in the run's encoding.
    pub counted: u64,
    /// Tokens as they are billed; null: some are unknown.
    pub tokens: Option<u64>,
    /// Tokens of what can be counted.
    pub at_least: u64,
}

impl Billed {
    /// What these requests cost in tokens. Each distinct text is counted once.
    ///
    /// # Errors
    /// A text above the size that is counted.
    pub fn of(sent: &Sent, model: &str, framing: Framing, counter: &dyn TokenCounter) -> Result<Billed, CountError> {
        let counter = Once { counter, known: Mutex::default() };
        let family = framing.family();
        let mut billed = Billed {
            model: model.to_owned(),
            family: family.name,
            encoding: framing.encoding().name(),
            accuracy: String::new(),
            basis: family.basis.name(),
            billed: family.billed,
            tool_prompt: framing.tool_prompt().map(|prompt| prompt.auto),
            total: Some(0),
            at_least: 0,
            unknown: vec![],
            doubts: vec![],
            requests: Vec::with_capacity(sent.requests.len()),
        };
        let (mut worst, mut doubts, mut unknown) = (Accuracy::Exact, BTreeSet::new(), BTreeSet::new());
        let mut held: FxHashMap<&str, Vec<&ItemLine>> = FxHashMap::default();
        for (line, exchange) in sent.requests.iter().zip(&sent.ledger) {
            let items = held.entry(&line.thread).or_default();
            items.truncate(line.same);
            items.extend(&line.items);
            let one = framing.count_request(&counter, &sent.framed(line, items))?;
            worst = worse(worst, one.accuracy);
            doubts.extend(one.doubts.iter().copied());
            billed.requests.push(BilledRequest {
                seq: line.seq,
                thread: line.thread.to_string(),
                counted: exchange.input_total,
                tokens: one.tokens(),
                at_least: one.counted,
            });
            unknown.extend(one.unknown);
        }
        billed.add_up();
        billed.accuracy = accuracy_text(worst);
        billed.doubts = doubts.into_iter().collect();
        billed.unknown = unknown.into_iter().collect();
        Ok(billed)
    }

    /// The same of one thread's requests.
    pub fn only(mut self, thread: &str) -> Billed {
        self.requests.retain(|one| one.thread == thread);
        self.add_up();
        self
    }

    fn add_up(&mut self) {
        self.total = self.requests.iter().map(|one| one.tokens).sum();
        self.at_least = self.requests.iter().map(|one| one.at_least).sum();
    }
}

impl Sent {
    /// A request as a wire would send it.
    fn framed(&self, line: &RequestLine, items: &[&ItemLine]) -> Request {
        let mut messages: Vec<Message> = Vec::new();
        if let Some(system) = line.system {
            messages.push(Message { role: "system".into(), content: vec![self.part(system)], ..Message::default() });
        }
        for item in items {
            let role = match item.kind {
                ItemKind::Message => item.role.map_or("user", |role| role.name()),
                ItemKind::Reasoning | ItemKind::Call => "assistant",
                ItemKind::Result => "tool",
                ItemKind::Mail | ItemKind::Compaction => "user",
                ItemKind::Context => continue,
            };
            let name = item.name.clone().filter(|_| item.kind == ItemKind::Message);
            let goes_on = |last: &mut Message| last.role == "assistant" && role == "assistant" && last.name == name;
            let mut message = match messages.pop_if(|last| goes_on(last)) {
                Some(last) => last,
                None => Message { role: role.into(), name, ..Message::default() },
            };
            let parts = item.parts.iter().map(|&part| self.part(part));
            match item.kind {
                ItemKind::Call => {
                    let arguments: String = parts.map(|part| part.as_text().to_owned()).collect();
                    message = message.calling(item.name.as_deref().unwrap_or_default(), &arguments);
                }
                _ => message.content.extend(parts),
            }
            messages.push(message);
        }
        Request { messages, tools: line.tools.iter().map(|&tool| self.tool(tool)).collect(), choice: ToolChoice::Auto }
    }

    fn part(&self, name: PartName) -> Part {
        match self.parts.get(&name) {
            Some(line) => match &line.text {
                Some(text) => Part::text(text.as_str()),
                None => unreadable(line.other.as_deref().unwrap_or("a part")),
            },
            None => unreadable("a part that is missing"),
        }
    }

    fn tool(&self, name: PartName) -> Tool {
        #[derive(Deserialize)]
        struct Described<'a> {
            name: String,
            description: Option<String>,
            #[serde(borrow)]
            parameters: &'a serde_json::value::RawValue,
        }
        let part = self.part(name);
        match serde_json::from_str::<Described<'_>>(part.as_text()) {
            Ok(tool) => Tool::function(&tool.name, tool.description.as_deref(), tool.parameters.get()),
            Err(_) => Tool::function("", None, part.as_text()),
        }
    }
}

/// What is no text: the files of a run keep no declared tokens, so its tokens are unknown.
fn unreadable(what: &str) -> Part {
    Part::new(Content::Opaque { kind: what.to_owned(), bytes: 0, tokens: None })
}

/// A counter that counts each text once: a request sends again what the one before it sent.
struct Once<'a> {
    counter: &'a dyn TokenCounter,
    known: Mutex<FxHashMap<Digest, u64>>,
}

impl TokenCounter for Once<'_> {
    fn count(&self, text: &str) -> Result<u64, CountError> {
        let mut known = self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let digest = Digest::of(text);
        if let Some(tokens) = known.get(&digest) {
            return Ok(*tokens);
        }
        let tokens = self.counter.count(text)?;
        known.insert(digest, tokens);
        Ok(tokens)
    }

    fn id(&self) -> &'static str {
        self.counter.id()
    }
}

fn worse(one: Accuracy, other: Accuracy) -> Accuracy {
    let rank = |accuracy: Accuracy| match accuracy {
        Accuracy::Exact => (0, 0),
        Accuracy::Tokens(tokens) => (1, tokens),
        Accuracy::Percent(percent) => (2, percent),
        Accuracy::Unstated => (3, 0),
    };
    if rank(other) > rank(one) { other } else { one }
}

fn accuracy_text(accuracy: Accuracy) -> String {
    match accuracy {
        Accuracy::Exact => "exact".to_owned(),
        Accuracy::Tokens(tokens) => format!("{tokens} tokens"),
        Accuracy::Percent(percent) => format!("{percent} %"),
        Accuracy::Unstated => "unstated".to_owned(),
    }
}

/// The billing for people: each request beside the run's count, the sum, and how far it can be trusted.
pub fn billed_text(billed: &Billed) -> String {
    let told = |tokens: Option<u64>, at_least: u64| match tokens {
        Some(tokens) => count(tokens as f64),
        None => format!("> {}", count(at_least as f64)),
    };
    let mut rows: Vec<[String; 4]> = vec![["thread", "request", "counted", "billed"].map(str::to_owned)];
    for one in &billed.requests {
        rows.push([one.thread.clone(), one.seq.to_string(), count(one.counted as f64), told(one.tokens, one.at_least)]);
    }
    let counted: u64 = billed.requests.iter().map(|one| one.counted).sum();
    rows.push(["all".to_owned(), billed.requests.len().to_string(), count(counted as f64), told(billed.total, billed.at_least)]);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    let mut out = format!("as {} bills it (figures of {})\n", billed.model, billed.family);
    for row in &rows {
        let [thread, request, counted, tokens] = row;
        let _ = writeln!(out, "  {thread:<0$} {request:>1$} {counted:>2$} {tokens:>3$}", widths[0], widths[1], widths[2], widths[3]);
    }
    let mut say = |text: &str| {
        for piece in folded(text, PAGE - 2) {
            let _ = writeln!(out, "  {piece}");
        }
    };
    say(&match billed.accuracy.as_str() {
        "exact" => format!("Exact for what was seen billed; {}, {}.", billed.basis, billed.billed),
        "unstated" => format!("Nobody states how far this lies from a bill; {}, {}.", billed.basis, billed.billed),
        within => format!("An estimate: within about {within} of the bill; {}, {}.", billed.basis, billed.billed),
    });
    if let Some(tokens) = billed.tool_prompt {
        say(&format!("Each request with tools carries {tokens} tokens of a prompt that nobody sees."));
    }
    billed.doubts.iter().for_each(|doubt| say(&format!("Doubt: {doubt}.")));
    billed.unknown.iter().for_each(|what| say(&format!("Unknown: {what}.")));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::ledger_line;
    use crate::results::{PartLine, TokensByOrigin};
    use crate::tokens::counter;
    use crate::transcript::{Item, Origin, Role, ToolSpec};

    /// What a thread was sent, a request each, every one holding those of the thread before it.
    #[derive(Default)]
    struct Told(Sent);

    impl Told {
        fn part(&mut self, part: &Part) -> PartName {
            let name = PartName::from(part.digest());
            self.0.parts.insert(name, PartLine::from(part));
            name
        }

        fn request(mut self, thread: &str, system: Option<&str>, tools: &[&ToolSpec], items: &[Item]) -> Told {
            let seq = self.0.requests.len() as u32;
            let same = self.0.requests.iter().filter(|one| &*one.thread == thread).map(|one| one.items.len()).sum();
            let system = system.map(|text| self.part(&text.into()));
            let tools = tools.iter().map(|tool| self.part(&tool.schema)).collect();
            items.iter().flat_map(Item::parts).for_each(|part| _ = self.part(part));
            self.0.ledger.push(ledger_line(seq, thread, TokensByOrigin::default(), 1));
            self.0.requests.push(RequestLine {
                cell: "c".into(),
                seq,
                thread: thread.into(),
                agent: "a".into(),
                system,
                system_tokens: None,
                tools,
                tool_tokens: vec![],
                same,
                items: items.iter().map(|item| ItemLine::of(item, None)).collect(),
                after: vec![],
            });
            self
        }

        fn billed(&self, model: &str) -> Billed {
            let framing = Framing::of_model(model).or_else(|| Framing::named(model).ok()).expect("a model that is known");
            Billed::of(&self.0, model, framing, &*counter(framing.encoding())).expect("texts of a few words")
        }
    }

    fn user(text: &str) -> Item {
        Item::user(Origin::User, text)
    }

    /// The API's own numbers: hmarr/openai-chat-tokens, tests/token-counts.test.ts @b8e3b11d: `hello` 8, `hello world` 9.
    #[test]
    fn requests_are_billed_as_they_were_published() {
        let told = Told::default().request("/", None, &[], &[user("hello")]).request("/1", None, &[], &[user("hello world")]);
        let billed = told.billed("functions-2023-cl100k");
        let requests: Vec<_> = billed.requests.iter().map(|one| (one.seq, one.thread.as_str(), one.tokens)).collect();
        assert_eq!(requests, [(0, "/", Some(8)), (1, "/1", Some(9))]);
        assert_eq!((billed.total, billed.accuracy.as_str(), billed.tool_prompt), (Some(17), "exact", None));
        assert_eq!(billed.only("/1").total, Some(9));
    }

    /// The cookbook's request with a tool, which `gpt-4o` billed 101.
    #[test]
    fn tools_are_read_from_the_schema_that_was_sent() {
        let properties = serde_json::json!({
            "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
            "unit": {"type": "string", "description": "The unit of temperature to return", "enum": ["celsius", "fahrenheit"]},
        });
        let parameters = serde_json::json!({"type": "object", "properties": properties, "required": ["location"]});
        let tool = ToolSpec::new("get_current_weather", "Get the current weather in a given location", parameters);
        let system = "You are a helpful assistant that can answer to questions about the weather.";
        let told = Told::default().request("/", Some(system), &[&tool], &[user("What's the weather like in San Francisco?")]);
        assert_eq!(told.billed("gpt-4o").total, Some(101));
    }

    /// A history is sent again with each request, and a reply of several items is one message: by the published rule 3 a message,
    /// its role and its words, and 3 once.
    #[test]
    fn later_requests_hold_the_earlier_items() {
        let reply = ["hello", "world"].map(|text| Item::assistant(None, text));
        let told =
            Told::default().request("/", None, &[], &[user("hello")]).request("/", None, &[], &[&reply[..], &[user("hello")]].concat());
        // 8; then (3 + user + hello) twice, 3 + assistant + hello + world, and 3.
        assert_eq!(told.billed("functions-2023-cl100k").requests.iter().map(|one| one.at_least).collect::<Vec<_>>(), [8, 5 + 5 + 6 + 3]);
    }

    #[test]
    fn what_nobody_can_count_is_unknown() {
        let image = Part::new(Content::Image { media: "image/png".into(), bytes: 4_096, tokens: None });
        let told = Told::default().request("/", None, &[], &[Item::message(Role::User, Origin::User, image)]);
        let billed = told.billed("gpt-4o");
        assert_eq!((billed.total, billed.requests[0].tokens, billed.unknown.len()), (None, None, 1), "{billed:?}");
        assert!(billed_text(&billed).contains("> 7"), "{}", billed_text(&billed));
    }

    /// A text of nothing but a schema's name is one tool with a hidden prompt.
    #[test]
    fn the_hidden_prompt_of_tools_is_paid_with_every_request() {
        let tool = ToolSpec::new("run", "Runs it", serde_json::json!({"type": "object", "properties": {}}));
        let of = |tools: &[&ToolSpec]| Told::default().request("/", None, tools, &[user("hello")]).billed("claude-sonnet-4-6").at_least;
        let prompt = Framing::of_model("claude-sonnet-4-6").and_then(Framing::tool_prompt).expect("it was published").auto;
        assert_eq!(prompt, 497);
        assert!(of(&[&tool]) > of(&[]) + 497);
    }
}
