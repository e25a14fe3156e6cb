//! A file of one run's requests (`ctxbench-wire/1`).

use indexmap::IndexMap;

use super::super::json::Json;
use super::entry::Placed;
use super::family::Family;
use super::fields::{Fields, short};
use super::text::Text;

/// The format's name and version.
pub(in super::super) const FORMAT: &str = "ctxbench-wire/1";

/// One run of a real client.
pub(super) struct Wire {
    /// Its name.
    pub(super) run: String,
    /// The strategy that must do the same.
    pub(super) strategy: String,
    /// Its requests, in order of arrival.
    pub(super) requests: Vec<Request>,
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Its number in the run, ascending.
    pub(super) n: u64,
    /// Its place in the order of arrival.
    pub(super) order: u64,
    /// Its path as recorded.
    pub(super) path: String,
    /// The API that it was sent to.
    pub(super) family: Family,
    /// Whose it is.
    pub(super) whose: Whose,
    /// What says which thread it is of, where the client says so.
    pub(super) thread: Option<String>,
    /// How many tools it shows.
    pub(super) tools: u64,
    /// The system text outside the items, block by block.
    pub(super) system: Option<Vec<Text>>,
    /// The server has what came before: the items are only the new ones.
    pub(super) goes_on: bool,
    /// What it holds.
    pub(super) entries: Vec<Placed<Text>>,
}

/// Whose a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The root's.
    Root,
    /// A child's.
    Child,
    /// The client's own, for a title: answered and left out.
    Title,
}

/// Headers that name the thread that sends, the most telling first. Names that all threads of a run share are none.
const THREAD: [&str; 4] = ["thread-id", "thread_id", "x-claude-code-agent-id", "x-session-id"];

impl Wire {
    /// Reads a file. The error says what is wrong, and where.
    pub(super) fn read(file: &Json) -> Result<Wire, String> {
        let mut fields = Fields::of(file, "")?;
        match fields.text("format")?.as_str() {
            FORMAT => {}
            other => return Err(format!("its format is `{other}`, not `{FORMAT}`")),
        }
        let (run, strategy) = (fields.text("run")?, fields.text("strategy")?);
        let list = fields.list("requests")?;
        let requests = list.iter().enumerate().map(|(at, one)| Request::read(one, &format!("requests[{at}]")));
        let mut requests: Vec<Request> = requests.collect::<Result<_, _>>()?;
        requests.iter_mut().zip(1..).for_each(|(request, order)| request.order = order);
        fields.done()?;
        if let Some(pair) = requests.windows(2).find(|pair| pair[0].n >= pair[1].n) {
            return Err(format!("request {} stands before request {}: their numbers ascend", pair[0].n, pair[1].n));
        }
        if requests.iter().all(|request| request.whose != Whose::Root) {
            return Err("it has no request of the root".into());
        }
        Ok(Wire { run, strategy, requests })
    }
}

impl Request {
    fn read(value: &Json, at: &str) -> Result<Request, String> {
        let inside = |why: String| if why.starts_with(at) { why } else { format!("{at}.{why}") };
        let mut fields = Fields::of(value, at)?;
        let (n, path) = (fields.number("n")?, fields.text("path")?);
        let family = Family::of_path(&path)
            .ok_or_else(|| format!("{at}.path is `{path}`, which is no path of a known API: /chat/completions, /responses, /messages"))?;
        let whose = match fields.text("thread")?.as_str() {
            "root" => Whose::Root,
            "child" => Whose::Child,
            "title" => Whose::Title,
            other => return Err(format!("{at}.thread is `{other}`, not root, child or title")),
        };
        fields.flag("stream")?;
        let headers = fields.need("headers")?;
        let headers = headers.fields().ok_or_else(|| format!("{at}.headers is {}, not an object", short(headers)))?;
        let thread = THREAD.iter().find_map(|name| headers.get(*name)?.as_text()).map(str::to_owned);
        let tools = tools(fields.need("tools")?, &format!("{at}.tools"))?;
        let system = match family {
            Family::Chat => None,
            Family::Responses => fields.get("instructions").map(|text| Text::read(text, "instructions").map(|text| vec![text])),
            Family::Anthropic => fields.get("system").map(|text| super::family::read_content(text, "system", &["text"]).map(|read| read.0)),
        };
        let system = system.transpose().map_err(inside)?;
        let goes_on = family == Family::Responses && fields.flag("previous_response_id")?;
        let entries = family.read(fields.list("items")?).map_err(inside)?;
        fields.done()?;
        Ok(Request { n, order: 0, path, family, whose, thread, tools, system, goes_on, entries })
    }

    /// The system text with the items, as this family's requests hold it.
    pub(super) fn system_text(&self) -> Option<&[Text]> {
        use super::entry::Entry;
        match (&self.system, self.entries.first().map(|first| &first.entry)) {
            (Some(system), _) => Some(system),
            (None, Some(Entry::Message { role, parts, .. })) if self.family == Family::Chat && role == "system" => Some(parts),
            _ => None,
        }
    }
}

fn tools(value: &Json, at: &str) -> Result<u64, String> {
    let mut fields = Fields::of(value, at)?;
    let count = fields.number("count")?;
    fields.maybe_small("json_chars")?;
    fields.maybe_small("tokens")?;
    fields.done()?;
    Ok(count)
}

/// A written request: what [`Wire::read`] reads.
pub(super) fn written(fields: IndexMap<&'static str, Json>) -> Json {
    Json::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
