//! A scenario played by the reader under a strategy, on the real engine, as a run plays its cells. Include it with
//! `#[path]`.

use std::sync::Arc;

use ctxbench::engine;
use ctxbench::ledger::Outcome;
use ctxbench::metrics::{Facts, Measurement, Subject, measure};
use ctxbench::model::Model;
use ctxbench::model::profile::{FRONTIER, model_profile};
use ctxbench::model::reader::Reader;
use ctxbench::score::Scorer;
use ctxbench::setting::UserInput;
use ctxbench::strategy::{Registry, RunContext, Strategy};
use ctxbench::tokens::Meter;
use futures_util::FutureExt;

/// What a run left behind, and its figures.
pub struct Played {
    /// The ledger.
    pub outcome: Outcome,
    /// The metrics, scores among them.
    pub measurement: Measurement,
}

/// The one strategy of a spec.
pub fn strategy(spec: &str) -> Arc<dyn Strategy> {
    let choices = Registry::builtin().parse(spec).unwrap_or_else(|why| panic!("{why}"));
    let [choice] = choices.as_slice() else { panic!("{spec} names {} strategies", choices.len()) };
    choice.build()
}

/// A reader's scenario under a strategy, with seed 0 and the window and latency of the default model.
#[allow(dead_code)] // A test may play with scaffolds alone.
pub fn play(reader: &Reader, strategy: &dyn Strategy, meter: &Meter) -> Played {
    play_sent(reader, strategy, meter, false)
}

/// The same; `scaffold`: the strategy sends what its real client was measured to send.
#[allow(dead_code)] // A test may play with seeds alone.
pub fn play_sent(reader: &Reader, strategy: &dyn Strategy, meter: &Meter, scaffold: bool) -> Played {
    play_seeded(reader, strategy, meter, scaffold, 0)
}

/// The same, with any seed.
pub fn play_seeded(reader: &Reader, strategy: &dyn Strategy, meter: &Meter, scaffold: bool, seed: u64) -> Played {
    let scenario = reader.scenario();
    let mut reader = reader.clone();
    reader.hands_history_down = strategy.hands_history_down();
    let outcome = engine::run(engine::Run {
        strategy,
        agent: reader.start(seed),
        context: RunContext { root: scenario.root.clone(), agents: scenario.agents.clone(), scaffold },
        history: scenario.history.clone(),
        user: scenario.turns.iter().map(|turn| UserInput { when: turn.when, items: turn.items.clone() }).collect(),
        world: Box::new(scenario.world.clone()),
        meter: meter.clone(),
        ceilings: scenario.ceilings,
        window: scenario.window.or(model_profile("gpt-6-sol").map(|profile| profile.window)),
        latency: FRONTIER,
        cache: None,
        children: None,
    });
    let outcome = outcome.now_or_never().expect("the reader answers at once");
    assert_eq!(outcome.failure, None, "{} under {}", scenario.id, strategy.id());
    let scorer = Scorer::with_markers(scenario.clone(), reader.index());
    let markers = scorer.markers_for_run();
    let scored = scorer.score_with(&outcome, &markers);
    let facts = Ok(Facts::new(scenario, &markers));
    let measurement = measure(&Subject {
        outcome: &outcome,
        scored: Ok(&scored),
        facts,
        children: Ok(()),
        prices: Err("unpriced".into()),
        no_cache: "no cache",
        child_prices: None,
        meter,
    });
    Played { outcome, measurement }
}
