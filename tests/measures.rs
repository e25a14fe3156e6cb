//! Figures move as they should: sizes, turns, facts and words of the built-in scenarios are changed, the real engine
//! plays them, and what must grow, shrink, cross or stay does so. At the end: exact counters of the tokenizer's work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use ctxbench::engine::{self, ChildModel};
use ctxbench::ledger::Outcome;
use ctxbench::model::Model;
use ctxbench::model::profile::FRONTIER;
use ctxbench::model::reader::Reader;
use ctxbench::results::BreakEven;
use ctxbench::scenario::file::compile;
use ctxbench::scenario::{Scenario, Size, builtin, builtin_names};
use ctxbench::setting::UserInput;
use ctxbench::strategy::{Registry, RunContext, Strategy, ThreadId};
use ctxbench::tokens::{CountError, Counters, Encoding, Meter, TokenCounter, counter};
use ctxbench::transcript::{Body, Item, Origin, Part};
use futures_util::FutureExt;

#[path = "worlds/play.rs"]
mod play;

use play::{Played, play, strategy};

fn meter() -> Meter {
    Meter::new(counter(Encoding::O200kBase))
}

/// A built-in scenario's file.
fn text_of(name: &str) -> &'static str {
    builtin(name).unwrap_or_else(|| panic!("there is no {name}"))
}

fn compiled(text: &str, name: &str, size: Size, overrides: &[(&str, i64)]) -> Scenario {
    let overrides: BTreeMap<String, i64> = overrides.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    compile(text, name, size, &overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

fn reader(name: &str, size: Size, overrides: &[(&str, i64)]) -> Reader {
    Reader::new(Arc::new(compiled(text_of(name), name, size, overrides)))
}

/// What a run compares when nothing is asked for.
fn rows() -> Vec<Arc<dyn Strategy>> {
    Registry::builtin().default_rows().iter().map(|choice| choice.build()).collect()
}

/// A metric that must have a value.
fn figure(played: &Played, name: &str) -> f64 {
    played.measurement.get(name).unwrap_or_else(|why| panic!("{name}: {why}")).as_f64()
}

fn total(played: &Played) -> f64 {
    figure(played, "total.input") + figure(played, "total.output")
}

// ---- sizes and turns ---------------------------------------------------------------------------------------------------

/// The root's last context in each size, and the tokens and the number of the scenario's files, all of which are read.
fn final_contexts(name: &str, spec: &str, meter: &Meter) -> Vec<(f64, f64, usize)> {
    let of_size = |size| {
        let reader = reader(name, size, &[]);
        let files = &reader.scenario().world.files;
        let tokens = files.values().map(|text| meter.part(&Part::text(text.as_str())).expect("short").expect("text"));
        let played = play(&reader, &*strategy(spec), meter);
        (figure(&played, "parent.final_context"), f64::from(tokens.sum::<u32>()), files.len())
    };
    Size::ALL.map(of_size).to_vec()
}

#[test]
fn the_parent_grows_by_the_files_inline_and_not_at_all_when_isolated() {
    let meter = meter();
    for name in ["auth-lookup", "auth-lookup-parallel"] {
        for pair in final_contexts(name, "inline", &meter).windows(2) {
            let (grown, files, number) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1, pair[1].2 - pair[0].2);
            assert!(files > 5_000.0, "{name}: the sizes differ by {files} tokens of files");
            // A read costs its call, what is said beside it and two frames: some 40 tokens beside the file.
            let beside = (grown - files) / number as f64;
            assert!((15.0..60.0).contains(&beside), "{name}: {grown} for {files} of {number} files, {beside} beside each");
        }
        for spec in ["opencode", "full-copy"] {
            let contexts = final_contexts(name, spec, &meter);
            assert!(contexts.iter().all(|one| (one.0 - contexts[0].0).abs() <= 8.0), "{name} {spec}: {contexts:?}");
        }
    }
}

/// The fewest turns after the answer with which the isolated child costs fewer tokens in all. From there on it does.
fn saved(name: &str, size: Size, turns: i64, meter: &Meter) -> f64 {
    let reader = reader(name, size, &[("then_turns", turns)]);
    let [isolated, inline] = ["opencode", "inline"].map(|spec| total(&play(&reader, &*strategy(spec), meter)));
    inline - isolated
}

fn crossing(name: &str, size: Size, meter: &Meter) -> i64 {
    let cheaper: Vec<bool> = (0..6).map(|turns| saved(name, size, turns, meter) > 0.0).collect();
    let first = cheaper.iter().position(|&cheaper| cheaper).unwrap_or_else(|| panic!("{name} {size:?} never crosses"));
    assert!(cheaper[first..].iter().all(|&cheaper| cheaper), "{name} {size:?} crosses twice: {cheaper:?}");
    first as i64
}

#[test]
fn inline_is_cheaper_at_first_and_sequential_reading_turns_sooner() {
    let meter = meter();
    let of_size = |size| (crossing("auth-lookup", size, &meter), crossing("auth-lookup-parallel", size, &meter));
    // Files read in one message are re-sent once, not once a file, so that there is less to save.
    assert_eq!(of_size(Size::Small), (1, 2));
    // With more and longer files the first turn that follows pays for the child, however they are read.
    assert_eq!(of_size(Size::Medium), (1, 1));
    // In whole turns that is a tie; in tokens it never is: sequential reading has saved more at any number of turns.
    for size in Size::ALL {
        for turns in 0..3 {
            let [sequential, parallel] = ["auth-lookup", "auth-lookup-parallel"].map(|name| saved(name, size, turns, &meter));
            assert!(sequential > parallel, "{size:?}, {turns} turns: {sequential} against {parallel}");
        }
    }
}

/// What is projected from a run without further turns is what runs with them show, by the requests that those send.
#[test]
fn the_projected_break_even_is_the_one_that_comes() {
    let meter = meter();
    let mut later = 0;
    for (name, spec) in [("auth-lookup", "opencode"), ("auth-lookup", "full-copy"), ("auth-lookup-parallel", "opencode")] {
        let played = |turns: i64, spec: &str| play(&reader(name, Size::Small, &[("then_turns", turns)]), &*strategy(spec), &meter);
        let requests = |played: &Played| played.outcome.rows_of(ThreadId::ROOT).count() as u64;
        let [delegating, inline] = [spec, "inline"].map(|spec| played(0, spec));
        let more = |of: fn(&Played) -> f64| of(&delegating) - of(&inline);
        let projected = BreakEven::of(more(total), more(|played| figure(played, "parent.final_context"))).expect("numbers");
        for turns in 0..6 {
            let [with, without] = [spec, "inline"].map(|spec| played(turns, spec));
            let further = requests(&with) - requests(&delegating);
            assert_eq!(further, requests(&without) - requests(&inline), "both go on alike");
            let expect = match projected {
                BreakEven::Already => true,
                BreakEven::From { request } => further >= request,
                BreakEven::Until { request } => further < request,
                BreakEven::Never => false,
            };
            assert_eq!(total(&with) <= total(&without), expect, "{name} {spec}, {further} further requests: {projected:?}");
        }
        later += usize::from(matches!(projected, BreakEven::From { .. }));
    }
    assert!(later >= 2, "of {later} the break-even lies ahead");
}

/// A child's request is too long for its own model; the root's longer ones are not for the root's.
#[test]
fn each_thread_has_the_window_of_its_model() {
    let reader = reader("tiny-task", Size::Small, &[]);
    let scenario = reader.scenario();
    let opencode = strategy("opencode");
    let children = ChildModel { window: Some(300), latency: FRONTIER, cache: None };
    let outcome = engine::run(engine::Run {
        strategy: &*opencode,
        agent: reader.start(0),
        context: RunContext { root: scenario.root.clone(), agents: scenario.agents.clone(), scaffold: false },
        history: vec![],
        user: scenario.turns.iter().map(|turn| UserInput { when: turn.when, items: turn.items.clone() }).collect(),
        world: Box::new(scenario.world.clone()),
        meter: meter(),
        ceilings: scenario.ceilings,
        window: Some(10_000),
        latency: FRONTIER,
        cache: None,
        children: Some(children),
    });
    let outcome = outcome.now_or_never().expect("the reader answers at once");
    assert_eq!(outcome.failure, None, "the parent is told, and goes on");
    for row in &outcome.rows {
        assert_eq!(row.overflow, row.thread != ThreadId::ROOT && row.input.total() > 300, "{} of {} tokens", row.path, row.input.total());
    }
    assert!(outcome.rows.iter().any(|row| row.overflow));
    assert!(outcome.rows_of(ThreadId::ROOT).any(|row| row.input.total() > 300));
}

#[test]
fn a_task_of_one_step_is_not_worth_a_child() {
    let meter = meter();
    for size in Size::ALL {
        let reader = reader("tiny-task", size, &[]);
        let inline = play(&reader, &*strategy("inline"), &meter);
        for strategy in rows().into_iter().filter(|strategy| !strategy.id().starts_with("inline@")) {
            let delegated = play(&reader, &*strategy, &meter);
            assert!(total(&delegated) > total(&inline), "{size:?} {}", strategy.id());
            for name in ["requests", "latency.end_to_end", "latency.critical_path"] {
                assert!(figure(&delegated, name) > figure(&inline, name), "{size:?} {} {name}", strategy.id());
            }
            assert_eq!((figure(&inline, "quality"), figure(&delegated, "quality")), (1.0, 1.0), "{size:?} {}", strategy.id());
        }
    }
}

#[test]
fn a_longer_report_weighs_on_the_delegating_parent_alone() {
    let meter = meter();
    for name in ["auth-lookup", "tiny-task"] {
        let words = [0, 50, 190, 600];
        let readers = words.map(|words| reader(name, Size::Small, &[("report_words", words)]));
        let figures = |spec, name: &str| readers.each_ref().map(|reader| figure(&play(reader, &*strategy(spec), &meter), name));
        let footprints = figures("opencode", "delegation.footprint");
        for (pair, words) in footprints.windows(2).zip(words.windows(2)) {
            // An English word and its share of full stops and line ends is a token or little more.
            let a_word = (pair[1] - pair[0]) / (words[1] - words[0]) as f64;
            assert!((0.9..1.5).contains(&a_word), "{name}: {footprints:?}");
        }
        let contexts = figures("inline", "parent.final_context");
        assert!(contexts.iter().all(|context| *context == contexts[0]), "{name}: {contexts:?}");
    }
}

// ---- facts -------------------------------------------------------------------------------------------------------------

/// A built-in scenario with one fact: what its value is called wherever it stands, what else it could be called, and the
/// file that tells it.
struct OneFact {
    name: &'static str,
    value: &'static str,
    other_value: &'static str,
    file: &'static str,
}

const FACTS: [OneFact; 3] = [
    OneFact { name: "auth-lookup", value: "Ed25519", other_value: "Falcon512", file: "src/edge/claims.rs" },
    OneFact { name: "auth-lookup-parallel", value: "Ed25519", other_value: "Falcon512", file: "src/edge/claims.rs" },
    OneFact { name: "tiny-task", value: "9187", other_value: "5044", file: "deploy/metrics.py" },
];

impl OneFact {
    fn scenario(&self) -> Scenario {
        compiled(text_of(self.name), self.name, Size::Small, &[])
    }

    /// The scenario with the other value, in file, fact and checks.
    fn changed(&self) -> Scenario {
        let text = text_of(self.name);
        assert!(text.contains(self.value) && !text.contains(self.other_value), "{}", self.name);
        compiled(&text.replace(self.value, self.other_value), self.name, Size::Small, &[])
    }

    /// The scenario without the step that reads the fact's file.
    fn unread(&self, mut scenario: Scenario) -> Scenario {
        let plan = &mut scenario.intents[0].work.plan;
        let before = plan.len();
        plan.retain(|step| step.target != self.file);
        assert_eq!(plan.len() + 1, before, "{}: one step reads {}", self.name, self.file);
        scenario
    }
}

fn under_each(scenario: Scenario, meter: &Meter) -> Vec<(String, Played)> {
    let reader = Reader::new(Arc::new(scenario));
    rows().iter().map(|strategy| (strategy.id(), play(&reader, &**strategy, meter))).collect()
}

#[test]
fn another_value_is_another_answer_of_the_same_quality() {
    let meter = meter();
    for fact in FACTS {
        let runs = under_each(fact.scenario(), &meter);
        for ((id, one), (_, other)) in runs.iter().zip(&under_each(fact.changed(), &meter)) {
            let (answer, changed) = (one.outcome.answer(), other.outcome.answer());
            assert!(answer.contains(fact.value), "{} {id}: {answer}", fact.name);
            assert_eq!(answer.replace(fact.value, fact.other_value), changed, "{} {id}", fact.name);
            assert_eq!((figure(one, "quality"), figure(other, "quality")), (1.0, 1.0), "{} {id}", fact.name);
        }
    }
}

#[test]
fn a_fact_that_nobody_sees_changes_nothing() {
    let meter = meter();
    for fact in FACTS {
        let runs = under_each(fact.unread(fact.scenario()), &meter);
        for ((id, one), (_, other)) in runs.iter().zip(&under_each(fact.unread(fact.changed()), &meter)) {
            assert_eq!(format!("{:?}", one.outcome), format!("{:?}", other.outcome), "{} {id}", fact.name);
        }
    }
}

#[test]
fn a_file_that_nobody_reads_is_missed_in_the_answer() {
    let meter = meter();
    for fact in FACTS {
        let runs = under_each(fact.scenario(), &meter);
        for ((id, read), (_, unread)) in runs.iter().zip(&under_each(fact.unread(fact.scenario()), &meter)) {
            // Of the checks (weights 1, 2 and 1) only the last one passes: nothing false is said.
            assert_eq!((figure(read, "quality"), figure(unread, "quality")), (1.0, 0.25), "{} {id}", fact.name);
            if unread.outcome.threads.len() > 1 {
                assert_eq!((figure(read, "child.quality"), figure(unread, "child.quality")), (1.0, 0.25), "{} {id}", fact.name);
                assert_eq!((figure(read, "child.coverage"), figure(unread, "child.coverage")), (1.0, 0.0), "{} {id}", fact.name);
            }
        }
    }
}

/// The share of an intent's topics whose newest fact stands, as plain text, in a child's last request: the mean of each
/// intent's children, then of the intents. The arguments of the child's own calls do not count.
fn coverage(scenario: &Scenario, outcome: &Outcome) -> f64 {
    let mut shares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for child in &outcome.threads[1..] {
        let intent = scenario.intents.iter().find(|intent| Some(&intent.id) == child.intent.as_ref()).expect("a child has its intent");
        let last = outcome.rows_of(child.id).next_back().expect("a child was sent something");
        let is_own_call = |item: &Item| item.origin == Origin::Own && item.as_call().is_some();
        let mut texts: Vec<String> = outcome.items_of(last).iter().filter(|item| !is_own_call(item)).map(Item::text).collect();
        texts.extend(last.sent.system.as_ref().map(|system| system.as_text().to_owned()));
        let newest = intent.work.needs.iter().map(|&topic| scenario.topics[topic].facts.last().expect("these topics are facts"));
        let seen = newest.filter(|fact| fact.markers.iter().any(|marker| texts.iter().any(|text| text.contains(marker))));
        shares.entry(&intent.id).or_default().push(seen.count() as f64 / intent.work.needs.len() as f64);
    }
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    mean(&shares.values().map(|shares| mean(shares)).collect::<Vec<_>>())
}

#[test]
fn coverage_is_what_a_plain_search_finds() {
    let meter = meter();
    let lookup = include_str!("../fixtures/cells/lookup.yaml");
    let mut scenarios = vec![compiled(lookup, "lookup", Size::Small, &[])];
    scenarios.extend(FACTS.iter().flat_map(|fact| [fact.scenario(), fact.unread(fact.scenario())]));
    let mut found = BTreeSet::new();
    for scenario in scenarios {
        for (id, played) in under_each(scenario.clone(), &meter) {
            if played.outcome.threads.len() > 1 {
                let searched = coverage(&scenario, &played.outcome);
                assert_eq!(figure(&played, "child.coverage"), searched, "{} {id}", scenario.id);
                found.insert((searched * 100.0) as u32);
            }
        }
    }
    // The scenarios are of all kinds: a child that sees nothing, half and all of what it needs.
    assert_eq!(found, BTreeSet::from([0, 50, 100]));
}

// ---- counters ----------------------------------------------------------------------------------------------------------

/// The tokenizer, with a list of all that it was given.
struct Listening {
    counter: Arc<dyn TokenCounter>,
    given: Mutex<Vec<String>>,
}

impl TokenCounter for Listening {
    fn count(&self, text: &str) -> Result<u64, CountError> {
        self.given.lock().expect("nobody panics with it").push(text.to_owned());
        self.counter.count(text)
    }
    fn id(&self) -> &'static str {
        self.counter.id()
    }
}

/// The header of an item, by the frame's rule.
fn header(item: &Item) -> String {
    match item.body() {
        Body::Message { role, .. } => role.name().to_owned(),
        Body::Reasoning { .. } => "assistant".to_owned(),
        Body::Call(call) => format!("assistant to=functions.{}", call.name),
        Body::Result { .. } => "tool".to_owned(),
        Body::Mail { from, to, .. } => format!("{from} to={to}"),
        Body::Compaction { .. } => "user".to_owned(),
        Body::Context { .. } => String::new(),
    }
}

/// Every segment of a run that a request or a history held.
fn segments(outcome: &Outcome, all: &mut BTreeSet<String>) {
    let logged = outcome.logs.iter().flat_map(|log| &log.items);
    let spliced = outcome.rows.iter().flat_map(|row| row.sent.splices.iter()).flat_map(|splice| &splice.items);
    for item in logged.chain(spliced).filter(|item| item.is_sent()) {
        all.insert(header(item));
        all.extend(item.name().map(str::to_owned));
        all.extend(item.parts().iter().map(|part| part.as_text().to_owned()));
    }
    for row in &outcome.rows {
        for (header, part) in
            row.sent.system.iter().map(|system| ("system", system)).chain(row.sent.tools.iter().map(|t| ("tool", &t.schema)))
        {
            all.insert(header.to_owned());
            all.insert(part.as_text().to_owned());
        }
    }
}

/// The newest statement of every fact, and every deliverable with the newest values.
fn statements(scenario: &Scenario) -> Vec<String> {
    let newest = |topic: usize| scenario.topics[topic].facts.last();
    let statement = |topic: usize| match &scenario.topics[topic].made {
        None => newest(topic).map(|fact| fact.statement.clone()),
        Some(made) => {
            let mut values: Vec<&str> = made.from.iter().filter_map(|&source| newest(source)).map(|fact| fact.value.as_str()).collect();
            if values.is_empty() {
                values.push("done"); // made of nothing
            }
            Some(format!("DONE {}: {}", scenario.topics[topic].label, values.join(", ")))
        }
    };
    (0..scenario.topics.len()).filter_map(statement).collect()
}

/// Whether it hands out more in one message than DeerFlow lets through. Calls that are cut are billed as they were written, and
/// then stand in no history: their words are counted and never sent.
fn hands_out_more_than_three(scenario: &Scenario) -> bool {
    let group = |intent: usize| scenario.intents[intent].group.as_ref();
    let together = |one: &usize, other: &usize| group(*one).is_some() && group(*one) == group(*other);
    scenario.turns.iter().any(|turn| turn.work.delegates.chunk_by(together).any(|batch| batch.len() > 3))
}

#[test]
fn each_text_of_the_suite_is_counted_once_and_none_when_it_is_run_again() {
    let all = builtin_names().into_iter().flat_map(|name| Size::ALL.map(|size| (name, size)));
    // Three hundred turns say nothing here that thirty do not.
    let some = all.filter(|one| *one != ("long-session", Size::Large)).map(|(name, size)| reader(name, size, &[]));
    let readers: Vec<Reader> = some.filter(|reader| !hands_out_more_than_three(reader.scenario())).collect();
    assert!(readers.len() > 100);
    let strategies = rows();
    let listening = Arc::new(Listening { counter: counter(Encoding::O200kBase), given: Mutex::default() });
    let meter = Meter::new(listening.clone());
    // Each strategy on a thread of its own: the counters do not depend on who comes first.
    let run_all = || {
        std::thread::scope(|scope| {
            let running: Vec<_> = strategies
                .iter()
                .map(|strategy| scope.spawn(|| readers.iter().map(|reader| play(reader, &**strategy, &meter).outcome).collect::<Vec<_>>()))
                .collect();
            running.into_iter().flat_map(|thread| thread.join().expect("no run panics")).collect::<Vec<_>>()
        })
    };

    let outcomes = run_all();
    let mut expect = BTreeSet::new();
    outcomes.iter().for_each(|outcome| segments(outcome, &mut expect));
    expect.remove("");
    let given = std::mem::take(&mut *listening.given.lock().expect("nobody panics with it"));
    let distinct: BTreeSet<String> = given.iter().cloned().collect();
    // What survived is weighed by its statements, which stand inside other texts: each is counted once, like any text.
    let statements = readers.iter().flat_map(|reader| statements(reader.scenario())).collect::<BTreeSet<_>>();
    let unsent: BTreeSet<String> = distinct.difference(&expect).cloned().collect();
    assert!(unsent.is_subset(&statements), "counted and never sent: {:?}", unsent.difference(&statements).next());
    assert!(!unsent.is_empty(), "the suite has facts that survive");
    assert!(expect.difference(&distinct).next().is_none(), "sent and never counted: {:?}", expect.difference(&distinct).next());
    assert_eq!(given.len(), distinct.len(), "no text is counted twice");

    let bytes = distinct.iter().map(|text| text.len() as u64).sum();
    let counters = Counters { calls: distinct.len() as u64, bytes_tokenised: bytes, unique_bytes: bytes, unkept_bytes: 0 };
    assert_eq!(meter.counters(), counters);
    let sent: u64 = outcomes.iter().flat_map(|outcome| &outcome.rows).map(|row| row.input.total()).sum();
    assert!(sent > 10 * bytes, "{sent} tokens were sent, of {bytes} bytes in all: a count at each request would show");

    let again = run_all();
    assert_eq!(meter.counters(), counters, "a second run counts nothing");
    assert!(again.iter().zip(&outcomes).all(|(one, other)| one.rows.len() == other.rows.len()));
}
