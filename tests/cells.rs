//! One cell of each strategy, request by request, against a fixture that was written by hand and counted by another
//! tokenizer: `fixtures/cells/README.md`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use ctxbench::ledger::{Outcome, Row};
use ctxbench::model::reader::Reader;
use ctxbench::scenario::Size;
use ctxbench::scenario::file::compile;
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{Body, Item, Origin, Part};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[path = "worlds/play.rs"]
mod play;

use play::{Played, play, strategy};

/// What cells of one scenario share; the rest of it is the counting script's.
#[derive(Deserialize)]
struct World {
    scenario: String,
    texts: BTreeMap<String, String>,
    tools: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Hand {
    world: String,
    strategy: String,
    texts: BTreeMap<String, String>,
    tools: BTreeMap<String, String>,
    requests: Vec<HandRequest>,
}

#[derive(Deserialize)]
struct HandRequest {
    thread: String,
    turn: u32,
    exchange: u32,
    agent: String,
    system: Option<String>,
    tools: Vec<String>,
    items: Vec<HandItem>,
    reply: Vec<HandItem>,
}

/// Kind, origin and the name of its text, or the names of its parts.
#[derive(Deserialize)]
struct HandItem(String, String, String);

#[derive(Deserialize)]
struct Counts {
    texts: BTreeMap<String, u32>,
    tools: BTreeMap<String, u32>,
    requests: Vec<RequestCounts>,
    metrics: BTreeMap<String, Option<f64>>,
}

#[derive(Deserialize)]
struct RequestCounts {
    input: BTreeMap<String, u64>,
    input_total: u64,
    output: u64,
    sent_ms: u64,
    done_ms: u64,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/cells")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap_or_else(|why| panic!("fixtures/cells/{name}: {why}"))
}

fn json<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_str(&read(name)).unwrap_or_else(|why| panic!("fixtures/cells/{name}: {why}"))
}

/// One cell as written and as counted, with all its texts.
struct Cell {
    file: String,
    scenario: String,
    hand: Hand,
    counts: Counts,
    texts: BTreeMap<String, String>,
    tools: BTreeMap<String, String>,
    /// Where the run is not what was written.
    differences: Vec<String>,
}

impl Cell {
    fn read(file: &str) -> Cell {
        let hand: Hand = json(file);
        let world: World = json(&hand.world);
        let counts = json::<BTreeMap<String, Counts>>("counts.json").remove(file);
        let counts = counts.unwrap_or_else(|| panic!("{file} is not counted: run fixtures/cells/count.mjs"));
        let all = |shared: &BTreeMap<String, String>, own: &BTreeMap<String, String>| {
            shared.iter().chain(own).map(|(name, text)| (name.clone(), text.clone())).collect()
        };
        let (texts, tools) = (all(&world.texts, &hand.texts), all(&world.tools, &hand.tools));
        Cell { file: file.into(), scenario: world.scenario, texts, tools, hand, counts, differences: vec![] }
    }

    /// The text of an item's parts: their names are joined by ` + `.
    fn text(&self, names: &str) -> String {
        let text = |name| self.texts.get(name).unwrap_or_else(|| panic!("{}: there is no text `{name}`", self.file)).as_str();
        names.split(" + ").map(text).collect()
    }

    fn tool(&self, name: &str) -> String {
        self.tools.get(name).cloned().unwrap_or_else(|| panic!("{}: there is no tool `{name}`", self.file))
    }

    /// Items as they are compared: kind, origin, text.
    fn items(&self, items: &[HandItem]) -> Vec<(String, String, String)> {
        items.iter().map(|HandItem(kind, origin, text)| (kind.clone(), origin.clone(), self.text(text))).collect()
    }

    fn compare<T: PartialEq + Debug>(&mut self, what: &str, run: T, hand: T) {
        if run != hand {
            self.differences.push(format!("{}: {what}\n    the run: {run:?}\n    by hand: {hand:?}", self.file));
        }
    }

    /// The counts are of the texts as they stand now, and the program counts each of them alike.
    fn compare_counts(&mut self, meter: &Meter) {
        let count = |text: &String| meter.part(&Part::text(text.as_str())).expect("short").expect("text");
        for (what, texts, counted) in [("text", &self.texts, &self.counts.texts), ("tool", &self.tools, &self.counts.tools)] {
            let run: BTreeMap<String, u32> = texts.iter().map(|(name, text)| (name.clone(), count(text))).collect();
            assert_eq!(&run, counted, "{}: tokens of each {what}; after a change run count.mjs", self.file);
        }
    }

    fn compare_requests(&mut self, outcome: &Outcome) {
        assert_eq!(self.hand.requests.len(), self.counts.requests.len(), "{}: run count.mjs", self.file);
        self.compare("number of requests", outcome.rows.len(), self.hand.requests.len());
        let requests = std::mem::take(&mut self.hand.requests);
        let counts = std::mem::take(&mut self.counts.requests);
        for ((row, request), counted) in outcome.rows.iter().zip(&requests).zip(&counts) {
            self.compare_request(outcome, row, request);
            self.compare_row(row, counted);
        }
    }

    fn compare_request(&mut self, outcome: &Outcome, row: &Row, request: &HandRequest) {
        let of = |what: &str| format!("request {}: {what}", row.seq);
        let HandRequest { thread, turn, exchange, agent, .. } = request;
        let place = |path: &str, turn: u32, exchange: u32, agent: &str| (path.to_owned(), turn, exchange, agent.to_owned());
        self.compare(&of("place"), place(&row.path, row.turn, row.exchange, &row.agent), place(thread, *turn, *exchange, agent));
        let system = request.system.as_ref().map(|name| self.text(name));
        self.compare(&of("system"), row.sent.system.as_ref().map(|part| part.as_text().to_owned()), system);
        let tools: Vec<(String, String)> = request.tools.iter().map(|name| (name.clone(), self.tool(name))).collect();
        let sent = row.sent.tools.iter().map(|tool| (tool.name.to_string(), tool.schema.as_text().to_owned()));
        self.compare(&of("tools"), sent.collect(), tools);
        self.compare(&of("items"), outcome.items_of(row).iter().map(written).collect(), self.items(&request.items));
        // A reply stands in the thread's log directly behind what it answers. A name beside it is the history's: whether it is sent, and
        // from when on, is told by the items of the requests.
        let log = &outcome.logs[row.sent.log].items[row.sent.length..];
        let behind = log.iter().take_while(|item| item.origin == Origin::Own).map(|item| written(&item.clone().unnamed())).collect();
        self.compare(&of("reply"), behind, self.items(&request.reply));
    }

    fn compare_row(&mut self, row: &Row, counted: &RequestCounts) {
        let of = |what: &str| format!("request {}: {what}", row.seq);
        let by_origin = Origin::ALL.map(|origin| (origin.name().to_owned(), row.input.get(origin)));
        let input: BTreeMap<String, u64> = by_origin.into_iter().filter(|(_, tokens)| *tokens > 0).collect();
        self.compare(&of("input by origin"), input, counted.input.clone());
        self.compare(&of("input"), row.input.total(), counted.input_total);
        self.compare(&of("output"), row.output, counted.output);
        self.compare(&of("times"), (row.sent_ms, row.done_ms), (counted.sent_ms, Some(counted.done_ms)));
    }

    fn compare_metrics(&mut self, played: &Played) {
        let metrics = std::mem::take(&mut self.counts.metrics);
        assert!(metrics.len() > 30, "{}: run count.mjs", self.file);
        for (name, by_hand) in metrics {
            let value = played.measurement.get(&name).map(|value| value.as_f64());
            let is_equal = match (&value, by_hand) {
                (Ok(run), Some(hand)) => (run - hand).abs() < 1e-9,
                (Err(_), None) => true,
                _ => false,
            };
            if !is_equal {
                self.differences.push(format!("{}: {name}\n    the run: {value:?}\n    by hand: {by_hand:?}", self.file));
            }
        }
    }
}

/// An item as the fixtures write it.
fn written(item: &Item) -> (String, String, String) {
    let kind = match item.body() {
        Body::Message { role, .. } => role.name().to_owned(),
        Body::Call(call) => format!("call {}", call.name),
        Body::Result { .. } => "result".to_owned(),
        Body::Mail { from, to, .. } => format!("mail {from} to {to}"),
        Body::Reasoning { .. } => "reasoning".to_owned(),
        Body::Compaction { .. } => "compaction".to_owned(),
        Body::Context { .. } => "context".to_owned(),
    };
    let kind = item.name().map_or(kind.clone(), |name| format!("{kind} as {name}"));
    (kind, item.origin.name().to_owned(), item.text())
}

fn check(file: &str) {
    let mut cell = Cell::read(file);
    let meter = Meter::new(counter(Encoding::O200kBase));
    let scenario = compile(&read(&cell.scenario), "lookup", Size::Small, &BTreeMap::new()).unwrap_or_else(|errors| panic!("{errors}"));
    let strategy = strategy(&cell.hand.strategy);
    assert_eq!(strategy.id(), cell.hand.strategy, "{file} names its strategy in full");
    let played = play(&Reader::new(Arc::new(scenario)), &*strategy, &meter);
    cell.compare_counts(&meter);
    cell.compare_requests(&played.outcome);
    cell.compare_metrics(&played);
    assert!(cell.differences.is_empty(), "\n{}", cell.differences.join("\n"));
}

#[test]
fn inline() {
    check("inline.json");
}

#[test]
fn full_copy() {
    check("full-copy.json");
}

#[test]
fn opencode() {
    check("opencode.json");
}

#[test]
fn maf_dotnet() {
    check("maf-dotnet.json");
}

#[test]
fn maf_python() {
    check("maf-python.json");
}

#[test]
fn codex_v1() {
    check("codex-v1.json");
}

#[test]
fn codex_v2_before_0_166() {
    check("codex-v2-0.160.json");
}

#[test]
fn codex_v2() {
    check("codex-v2-0.171.json");
}

#[test]
fn deerflow_isolated() {
    check("deerflow-isolated.json");
}

#[test]
fn deerflow_snapshot() {
    check("deerflow-snapshot.json");
}

#[test]
fn learn_claude_code() {
    check("learn-claude-code.json");
}

#[test]
fn spawn_agent() {
    check("spawn-agent.json");
}

/// A cell that nobody checks proves nothing.
#[test]
fn every_counted_cell_is_checked() {
    let counted: Vec<String> = json::<BTreeMap<String, serde_json::Value>>("counts.json").into_keys().collect();
    let checked = [
        "codex-v1.json",
        "codex-v2-0.160.json",
        "codex-v2-0.171.json",
        "deerflow-isolated.json",
        "deerflow-snapshot.json",
        "full-copy.json",
        "inline.json",
        "learn-claude-code.json",
        "maf-dotnet.json",
        "maf-python.json",
        "opencode.json",
        "spawn-agent.json",
    ];
    assert_eq!(counted, checked);
}
