//! How long it takes to open a child beside a long history, under each strategy of the default table: the delegating call
//! is routed and what the child opens with is weighed. Every text has been counted before, as later in a run.
//!
//! `cargo bench --bench openings`; add a name (`codex-v2`, `100000`) for a part of it.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ctxbench::strategy::{
    Act, AgentSpec, AssistantTurn, Intent, Order, ParentView, Registry, Route, RunContext, Scope, Session, Strategy, ThreadId, ThreadState,
    To,
};
use ctxbench::tokens::{Encoding, Meter, counter};
use ctxbench::transcript::{CallKey, Item, Origin, Part, ToolCall};

const LENGTHS: [u32; 4] = [100, 1_000, 10_000, 100_000];

/// What the parent is asked to delegate.
const WORK: &str = "Find out how requests are authenticated.";

/// So many items: turns of a question, five calls with their results, and an answer.
fn history(length: u32) -> Vec<Item> {
    let call = |at: u32| ToolCall {
        key: CallKey(at),
        id: format!("c{at}"),
        name: "read_file".into(),
        args: format!("{{\"path\":\"src/part_{at}.rs\"}}").into(),
        intent: None,
        recorded: None,
    };
    let item = |at: u32| match at % 12 {
        0 => Item::user(Origin::User, format!("Question {at}: what do the next parts do?")),
        11 => Item::assistant(None, format!("They do what question {at} was about.")),
        step if step % 2 == 1 => Item::call(call(at)),
        _ => Item::result(CallKey(at - 1), Origin::ToolResult, format!("pub fn part_{at}() -> u32 {{ {at} }}\n").repeat(4), false),
    };
    // Whole turns alone: a call without its result would be a fault.
    (0..length / 12 * 12).map(item).collect()
}

fn context() -> RunContext {
    let agent = AgentSpec { system: Some(Part::from("You work in a repository.")), tools: vec![], ..AgentSpec::default() };
    RunContext {
        root: "lead".into(),
        agents: ["lead", "worker"].map(|name| (name.to_owned(), agent.clone())).into(),
        ..RunContext::default()
    }
}

/// A parent that is about to open a child.
struct Parent {
    items: Vec<Item>,
    call: ToolCall,
    own: usize,
    states: Vec<ThreadState>,
    files: BTreeMap<String, String>,
}

impl Parent {
    /// `None`: the strategy never opens a child.
    fn new(strategy: &dyn Strategy, mut items: Vec<Item>) -> Option<Parent> {
        let intent =
            Intent { id: "look".into(), agent: "worker".into(), title: "authentication".into(), task: WORK.into(), background: false };
        let phrased = strategy.start(&context()).phrase(&Act::Delegate(&intent))?;
        let key = CallKey(items.len() as u32);
        let call =
            ToolCall { key, id: "last".into(), name: phrased.name, args: phrased.args.into(), intent: Some(intent.id), recorded: None };
        let own = items.len();
        items.push(Item::user(Origin::User, WORK));
        items.push(Item::call(call.clone()));
        let root = ThreadState {
            id: ThreadId::ROOT,
            parent: None,
            depth: 0,
            agent: "lead".into(),
            running: 1,
            waiting: 0,
            mail: 0,
            input: 0,
            last: None,
            last_used_ms: 0,
        };
        Some(Parent { items, call, own, states: vec![root], files: BTreeMap::new() })
    }

    fn scope(&self) -> Scope<'_> {
        Scope { thread: ThreadId::ROOT, turn: 1, exchange: 1, own: self.own, now_ms: 1_000, threads: &self.states, files: &self.files }
    }

    /// A session that has seen the parent's request and the reply that delegates.
    fn session(&self, strategy: &dyn Strategy) -> Box<dyn Session> {
        let mut session = strategy.start(&context());
        let before = &self.items[..=self.own];
        session.view(before, &Scope { exchange: 0, ..self.scope() });
        session.turn(AssistantTurn { calls: vec![self.call.clone()], ..AssistantTurn::default() }, before, &self.scope());
        session
    }

    /// Opens the child: its opening items and their tokens.
    fn open(&self, session: &mut dyn Session, meter: &Meter) -> (Vec<Item>, u64) {
        let parent = ParentView { items: &self.items, in_flight: &[self.call.key] };
        let Route::Do(orders) = session.route(&self.call, parent, &self.scope()) else { return (vec![], 0) };
        let opening = orders.into_iter().find_map(|order| match order {
            Order::Put { to: To::New(_), items, .. } => Some(items),
            _ => None,
        });
        let items = opening.unwrap_or_default();
        let tokens = items.iter().filter_map(|item| meter.item(item).ok()).map(|weight| u64::from(weight.tokens)).sum();
        (items, tokens)
    }
}

fn openings(criterion: &mut Criterion) {
    let meter = Meter::new(counter(Encoding::O200kBase));
    let histories: BTreeMap<u32, Vec<Item>> = LENGTHS.map(|length| (length, history(length))).into();
    for choice in Registry::builtin().default_rows() {
        let strategy = choice.build();
        let mut group = criterion.benchmark_group(format!("openings/{choice}"));
        for (&length, items) in &histories {
            let Some(parent) = Parent::new(&*strategy, items.clone()) else { continue };
            let (opening, _) = parent.open(&mut *parent.session(&*strategy), &meter);
            assert!(!opening.is_empty(), "{choice} opened no child");
            group.throughput(Throughput::Elements(length.into()));
            group.bench_function(BenchmarkId::from_parameter(length), |bencher| {
                bencher.iter_batched_ref(
                    || parent.session(&*strategy),
                    |session| parent.open(black_box(&mut **session), &meter),
                    BatchSize::PerIteration,
                );
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = openings
}
criterion_main!(benches);
