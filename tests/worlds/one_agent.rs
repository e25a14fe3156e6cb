//! The one cell that costs are measured on: an agent with a system text of 2 KB and tools of 6 KB reads two files of 2 KB, in three
//! exchanges, and is checked by five facts and the words of its answer. Include it with `#[path]`.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctxbench::model::Model;
use ctxbench::model::profile::MODELS;
use ctxbench::model::reader::Reader;
use ctxbench::plan::{Casting, Plan, Subject};
use ctxbench::results::{CacheSettings, Evidence, Head, Settings};
use ctxbench::scenario::file::compile;
use ctxbench::scenario::{Briefing, Size};
use ctxbench::score::Scorer;
use ctxbench::strategy::Registry;
use ctxbench::tokens::Encoding;

/// The five facts, each with the word that tells it.
const FACTS: [(&str, &str); 5] =
    [("port", "9187"), ("user", "harbourmaster"), ("region", "eu-north-7"), ("limit", "640 MiB"), ("owner", "team Quayside")];

/// So many characters of plain words, which hold no fact; the same for the same number.
fn filler(number: u64, characters: usize) -> String {
    const BEGINNINGS: [&str; 16] =
        ["har", "que", "lo", "sti", "ran", "ve", "mo", "cal", "dre", "fin", "gu", "ta", "pel", "wor", "bi", "zen"];
    const ENDINGS: [&str; 8] = ["ding", "ter", "ment", "sol", "ly", "nic", "ward", "ous"];
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::new();
    while text.len() < characters {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let one = |shift: u32, most: usize| (state >> shift) as usize % most;
        text.push_str(BEGINNINGS[one(60, 16)]);
        text.push_str(BEGINNINGS[one(50, 16)]);
        text.push_str(ENDINGS[one(40, 8)]);
        text.push(if one(34, 9) == 0 { '.' } else { ' ' });
    }
    text.truncate(characters);
    text
}

fn scenario() -> String {
    let mut text = format!(
        "id: one-agent\ntitle: Two files, five facts\nwhy: What one agent costs that hands nothing to anybody.\n\nagents:\n  operator:\n    tools: [read_file, t1, t2, t3]\n    system: >-\n      {}\n\ntools:\n",
        filler(1, 2_000)
    );
    for (at, (name, does)) in [("read_file", "read"), ("t1", "list"), ("t2", "search"), ("t3", "read")].into_iter().enumerate() {
        text.push_str(&format!("  {name}:\n    does: {does}\n    ms: 30\n    about: >-\n      {}\n", filler(10 + at as u64, 1_350)));
    }
    text.push_str("\nfiles:\n");
    for (at, (file, facts)) in [("a.md", &FACTS[..3]), ("b.md", &FACTS[3..])].into_iter().enumerate() {
        text.push_str(&format!("  - path: {file}\n    text: >-\n      {}\n", filler(20 + at as u64, 1_000)));
        for (topic, value) in facts {
            text.push_str(&format!("      The {topic} of the service is {value}, as {file} says.\n"));
        }
        text.push_str(&format!("      {}\n", filler(30 + at as u64, 900)));
    }
    text.push_str("\ntopics:\n");
    for (at, (topic, value)) in FACTS.iter().enumerate() {
        let file = if at < 3 { "a.md" } else { "b.md" };
        text.push_str(&format!(
            "  - id: {topic}\n    label: {topic} of the service\n    facts:\n      - id: {topic}\n        statement: The {topic} of the service is {value}, as {file} says.\n        value: {value}\n        seen_in: [{{file: {file}}}]\n"
        ));
    }
    text.push_str(
        "\nintents:\n  - id: look-up\n    agent: operator\n    title: two files\n    marker: OPS-77\n    needs: [port, user, region, limit, owner]\n    task: >-\n      OPS-77: read a.md and b.md and tell me port, user, region, limit and owner of the service, each with the file that says so, and nothing that stands in neither of them; if one of the five is missing in both files, say that it is missing, and do not guess what it could be from what is usual elsewhere.\n    plan:\n      - {tool: read_file, args: {path: a.md}, seeks: [port, user, region]}\n      - {tool: read_file, args: {path: b.md}, seeks: [limit, owner]}\n    report: {padding_words: 0}\n\nturns:\n  - marker: OPS-12\n    delegate: [look-up]\n    user: >-\n      OPS-12: what do a.md and b.md say of the service's port, user, region, limit and owner?\n\nchecks:\n",
    );
    for (topic, value) in FACTS {
        text.push_str(&format!("  - {{id: {topic}, contains: \"{value}\"}}\n"));
    }
    text.push_str("  - {id: words, token_f1: \"The port of the service is 9187, the owner of the service is team Quayside.\"}\n");
    text
}

/// So many cells of it: one scenario, one strategy, as many seeds.
pub fn plan(cells: u64) -> Plan {
    let scenario = compile(&scenario(), "one-agent", Size::Small, &BTreeMap::new()).unwrap_or_else(|errors| panic!("{errors}"));
    let scenario = Arc::new(scenario);
    let reader = Reader::new(scenario.clone());
    let scorer = Arc::new(Scorer::with_markers(scenario.clone(), reader.index()));
    let casting: Casting = Arc::new(move |_| Arc::new(reader.clone()) as Arc<dyn Model>);
    let settings = Settings {
        size: Size::Small,
        seeds: cells,
        briefing: Briefing::default(),
        fallback: None,
        as_model: Some(MODELS[0].name.into()),
        child_model: None,
        latency: "frontier".into(),
        engine: "tiktoken".into(),
        scaffold: "none".into(),
        cache: CacheSettings::default(),
    };
    let subject = Subject::of_scenario(scenario, "reader", Evidence::Simulated, casting, Ok(scorer));
    let strategy = Registry::builtin().parse("inline").expect("a strategy")[0].build();
    let subjects = vec![Subject { profile: Some(MODELS[0]), ..subject }];
    Plan::new(Head::new(Encoding::O200kBase.name(), settings), subjects, vec![strategy]).expect("one scenario is no two")
}
