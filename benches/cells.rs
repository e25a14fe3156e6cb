//! How long one cell takes under each strategy of the default table, scores and metrics included.
//!
//! `cargo bench --bench cells`; add a name (`codex-v2`) for a part of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use ctxbench::model::Model;
use ctxbench::model::profile::MODELS;
use ctxbench::model::reader::Reader;
use ctxbench::plan::{Casting, Plan, Subject};
use ctxbench::results::{CacheSettings, Evidence, Head, Settings, Status};
use ctxbench::runner::play;
use ctxbench::scenario::{Briefing, Scenario, Size, compile_builtin};
use ctxbench::score::Scorer;
use ctxbench::strategy::Registry;
use ctxbench::tokens::{Encoding, Meter, counter};

/// Every default row on one scenario with its reader, as the command line plans it.
fn plan(scenario: Scenario) -> Plan {
    let scenario = Arc::new(scenario);
    let reader = Reader::new(scenario.clone());
    let scorer = Arc::new(Scorer::with_markers(scenario.clone(), reader.index()));
    let casting: Casting = Arc::new(move |strategy| {
        let mut reader = reader.clone();
        reader.hands_history_down = strategy.hands_history_down();
        Arc::new(reader) as Arc<dyn Model>
    });
    let subject = Subject::of_scenario(scenario, "reader", Evidence::Simulated, casting, Ok(scorer));
    let settings = Settings {
        size: Size::Small,
        seeds: 1,
        briefing: Briefing::default(),
        fallback: None,
        as_model: Some(MODELS[0].name.into()),
        child_model: None,
        latency: "frontier".into(),
        engine: "tiktoken".into(),
        scaffold: "none".into(),
        cache: CacheSettings::default(),
    };
    let strategies = Registry::builtin().default_rows().iter().map(|row| row.build()).collect();
    let subjects = vec![Subject { profile: Some(MODELS[0]), ..subject }];
    Plan::new(Head::new(Encoding::O200kBase.name(), settings), subjects, strategies).expect("one scenario is no two")
}

fn cells(criterion: &mut Criterion) {
    let scenario = compile_builtin("auth-lookup", Size::Small, &BTreeMap::new()).expect("it is built in").expect("it compiles");
    let plan = plan(scenario);
    let meter = Meter::new(counter(Encoding::O200kBase));
    let mut group = criterion.benchmark_group("cells/auth-lookup");
    for cell in plan.cells() {
        // The first run counts every text; what is measured are the later ones of a table.
        assert_eq!(play(&cell, &meter, false).result.status, Status::Ok, "{}", cell.name);
        group.bench_function(&cell.id.strategy, |bencher| bencher.iter(|| play(&cell, &meter, false)));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = cells
}
criterion_main!(benches);
