//! `record` and `replay`: runs with a cassette that is written, and runs from one.

use std::collections::BTreeSet;
use std::sync::Arc;
#[cfg(feature = "live")]
use std::time::Duration;

use crate::error::{Error, Exit};
use crate::plan::CellId;
use crate::strategy::Registry;

use super::args::{Global, RecordArgs, ReplayArgs, RunArgs};
use super::console::Console;
use super::measuring::Measuring;
use super::player::Player;
use super::provided::{ProvidedModel, open};
use super::run::{Playing, run_with};

/// Where a live run records.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// The cassette.
    pub path: &'a std::path::Path,
    /// What is not compared.
    pub mask: &'a [String],
    /// What is not kept.
    pub redact: &'a [String],
}

/// Runs with a provider and writes a cassette.
pub fn record(args: &RecordArgs, registry: &Registry, global: &Global, console: &Console) -> Result<Exit, Error> {
    let [Player::Live { .. }] = args.run.model.as_slice() else {
        return Err(Error::Usage("`record` asks a provider: say which, with one --model live:PROVIDER/NAME".to_owned()));
    };
    let recording = Recording { path: &args.cassette, mask: &args.mask, redact: &args.redact };
    run_with(&args.run, Playing::Recorded(recording), registry, global, console)
}

/// Runs from a cassette.
pub fn replay(args: &ReplayArgs, registry: &Registry, global: &Global, console: &Console) -> Result<Exit, Error> {
    if !args.run.model.is_empty() {
        return Err(Error::Usage("`replay` plays what the cassette holds: leave --model out".to_owned()));
    }
    let measuring = Measuring::of(&args.run.measure)?;
    let path = super::provided::cassette_path(&args.cassette.display().to_string())?;
    let cassette = Arc::new(open(&path)?);
    let cells = recorded(&cassette.cells())?;
    let Some((first, _)) = cells.first() else {
        return Err(Error::Input(format!("{}: no cell was recorded to its end: record again to go on", path.display())));
    };
    // What is not typed is what was recorded.
    let (size, briefing, fallback) = (first.size, first.briefing, first.fallback);
    let left: Vec<&CellId> =
        cells.iter().map(|(id, _)| id).filter(|id| (id.size, id.briefing, id.fallback) != (size, briefing, fallback)).collect();
    if let Some(other) = left.first() {
        console.warn(&format!(
            "{} cells were recorded with another size, brief or fallback ({}): left out",
            left.len(),
            other.scenario_piece()
        ));
    }
    let mut run = RunArgs { size, briefing, fallback, ..RunArgs::bare().map_err(|why| Error::Internal(why.to_string()))? };
    let typed = &args.run;
    let mut scenarios: Vec<String> = Vec::new();
    let mut strategies: Vec<String> = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (id, name) in cells.iter().filter(|(id, _)| (id.size, id.briefing, id.fallback) == (size, briefing, fallback)) {
        if !scenarios.contains(&id.scenario) {
            scenarios.push(id.scenario.clone());
        }
        if !strategies.contains(&id.strategy) {
            strategies.push(id.strategy.clone());
        }
        names.insert(name.clone());
    }
    let seeds = cells.iter().map(|(id, _)| id.seed + 1).max().unwrap_or(1);
    run.what = if typed.what.is_empty() { scenarios } else { typed.what.clone() };
    run.strategy = if typed.strategy.is_empty() { strategies } else { typed.strategy.clone() };
    run.seeds = if typed.seeds > 1 { typed.seeds.min(seeds) } else { seeds };
    run.jobs = typed.jobs;
    run.run_dir = typed.run_dir.clone();
    (run.resume, run.fail_fast) = (typed.resume, typed.fail_fast);
    run.measure = typed.measure.clone();
    run.live.judge = typed.live.judge.clone();
    let provided = ProvidedModel::of(cassette, &measuring);
    run_with(&run, Playing::Replayed(provided, names), registry, global, console)
}

/// The cells of a cassette as ids, with their names in it.
fn recorded(cells: &[String]) -> Result<Vec<(CellId, String)>, Error> {
    let parse = |name: &String| {
        let (row, seed) = name.rsplit_once('/').unwrap_or((name, ""));
        let id = format!("{row}/cassette/{seed}").parse::<CellId>();
        id.map(|id| (id, name.clone())).map_err(|why| Error::Input(format!("the cassette holds `{name}`, which is no cell: {why}")))
    };
    cells.iter().map(parse).collect()
}

/// The model that was typed, ready to be asked.
#[cfg(feature = "live")]
pub fn live(
    args: &RunArgs,
    recording: Option<Recording<'_>>,
    measuring: &Measuring,
    stop: &Arc<std::sync::atomic::AtomicBool>,
) -> Result<(ProvidedModel, Arc<crate::model::live::Purse>), Error> {
    use crate::error::nearest::suggestion_or_stop;
    use crate::model::cassette::{CASSETTE_FORMAT, Cassette, Head, Masks};
    use crate::model::live::{Backoff, Cap, Client, Key, Manners, PROVIDERS, Purse, provider};
    use crate::model::wire::{Asking, Rendering, Wire};
    use crate::results::Evidence;

    let usage = |why: &dyn std::fmt::Display| Error::Usage(why.to_string());
    let Some(Player::Live { provider: name, model }) = args.model.first() else {
        return Err(Error::Internal("a live run without a live model".to_owned()));
    };
    let typed = &args.live;
    let known = PROVIDERS.map(|provider| provider.name);
    let Some(provider) = provider(name) else {
        let near = suggestion_or_stop(name, known);
        let known = known.join(", ");
        return Err(Error::Usage(format!(
            "there is no provider `{name}`{near} There are {known}; any other is live:compatible/NAME --base-url URL"
        )));
    };
    let base_url = typed.base_url.clone().unwrap_or_else(|| provider.base_url.to_owned());
    if base_url.is_empty() {
        return Err(Error::Usage(format!("`{name}` has no address of its own: give --base-url URL")));
    }
    let key = match &typed.key_file {
        Some(path) => Some(Key::of_file(path).map_err(|why| usage(&why))?),
        None => Key::of_variable(provider.key_variable).map_err(|why| usage(&why))?,
    };
    if provider.needs_key && key.is_none() && typed.base_url.is_none() {
        return Err(usage(&crate::model::live::KeyError::Unset(provider.key_variable.to_owned())));
    }
    let wire = typed.wire.unwrap_or(provider.wire);
    let asking = Asking {
        wire,
        model: model.clone(),
        stream: typed.stream,
        max_output_tokens: typed.max_output_tokens,
        completion_limit: provider.completion_limit,
        temperature: typed.temperature,
        seeded: wire == Wire::Chat,
        rendering: typed.rendering,
        calls: typed.calls,
        previous: typed.previous_response && wire == Wire::Responses && typed.rendering == Rendering::Native,
        breakpoints: wire == Wire::Messages && !typed.no_breakpoints,
    };
    let prices = super::provided::prices_of(model, measuring);
    if typed.max_usd.is_some() && prices.is_none() {
        return Err(Error::Usage(format!("--max-usd needs a price, and {model} is in no table: give --prices FILE, or --max-tokens")));
    }
    let purse = Arc::new(Purse::new(Cap { usd: typed.max_usd, tokens: typed.max_tokens }, prices.clone()));
    let cassette = match recording {
        None => None,
        Some(Recording { path, mask, redact }) => {
            Masks::new(mask, redact).map_err(|why| usage(&why))?;
            super::guarded::file(path)?;
            let head = Head {
                format: CASSETTE_FORMAT.to_owned(),
                ctxbench: env!("CARGO_PKG_VERSION").to_owned(),
                recorded: super::measuring::today().to_string(),
                provider: name.clone(),
                asking: asking.clone(),
                judges: Default::default(),
                masked: mask.to_vec(),
                redacted: redact.to_vec(),
            };
            let cassette = Cassette::record(path, head, key.as_ref().map(Key::secret)).map_err(super::provided::unusable)?;
            Some(Arc::new(cassette))
        }
    };
    let wait = |seconds: f64| Duration::from_secs_f64(seconds.min(86_400.0));
    let first_ms = u64::try_from(wait(typed.first_wait).as_millis()).unwrap_or(u64::MAX);
    let manners = Manners {
        patience: wait(typed.patience),
        backoff: Backoff { attempts: typed.attempts, first_ms, ..Backoff::default() },
        at_once: typed.at_once as usize,
        a_minute: typed.a_minute,
    };
    let client = Client::new(&base_url, key, manners, purse.clone(), cassette.clone(), stop.clone()).map_err(|why| usage(&why))?;
    let name = cassette.as_ref().map_or_else(|| format!("live:{name}/{model}"), |cassette| format!("cassette:{}", cassette.name()));
    Ok((ProvidedModel { name, evidence: Evidence::Live, asking, cassette, line: Some(Arc::new(client)), prices }, purse))
}
