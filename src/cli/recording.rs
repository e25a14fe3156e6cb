//! `record` and `replay`: runs with a cassette that is written, and runs from one.

#[cfg(feature = "live")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;
#[cfg(feature = "live")]
use std::time::Duration;

use crate::error::{Error, Exit};
use crate::plan::CellId;
use crate::strategy::Registry;

#[cfg(feature = "live")]
use super::args::LiveArgs;
use super::args::{Global, RecordArgs, ReplayArgs, RunArgs};
use super::console::Console;
use super::measuring::Measuring;
use super::player::Player;
use super::provided::{ProvidedModel, open};
use super::run::{Playing, run_with};

/// Where a live run records.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "live"), allow(dead_code))]
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
    super::run::only_live(&args.run)?;
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
    run.seeds = Some(typed.seeds.unwrap_or(seeds));
    run.jobs = typed.jobs;
    run.run_dir = typed.run_dir.clone();
    (run.resume, run.fail_fast) = (typed.resume, typed.fail_fast);
    run.measure = typed.measure.clone();
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

/// A provider as it was typed: whom to ask, where, with which key.
#[cfg(feature = "live")]
struct Typed {
    provider: crate::model::live::Provider,
    base_url: String,
    key: Option<crate::model::live::Key>,
}

#[cfg(feature = "live")]
impl Typed {
    /// The provider of a name. Address and key file are the run's own, where the judge's provider is another one.
    fn of(name: &str, typed: &LiveArgs, own: bool) -> Result<Typed, Error> {
        use crate::error::nearest::suggestion_or_stop;
        use crate::model::live::{Key, KeyError, PROVIDERS, provider};

        let usage = |why: KeyError| Error::Usage(why.to_string());
        let known = PROVIDERS.map(|provider| provider.name);
        let Some(provider) = provider(name) else {
            let near = suggestion_or_stop(name, known);
            let known = known.join(", ");
            let other = "any other is live:compatible/NAME --base-url URL";
            return Err(Error::Usage(format!("there is no provider `{name}`{near} There are {known}; {other}")));
        };
        let given = typed.base_url.clone().filter(|_| own);
        let base_url = given.clone().unwrap_or_else(|| provider.base_url.to_owned());
        if base_url.is_empty() {
            return Err(Error::Usage(format!("`{name}` has no address of its own: give --base-url URL")));
        }
        let key = match typed.key_file.as_ref().filter(|_| own) {
            Some(path) => Some(Key::of_file(path).map_err(usage)?),
            None => Key::of_variable(provider.key_variable).map_err(usage)?,
        };
        if provider.needs_key && key.is_none() && given.is_none() {
            return Err(usage(KeyError::Unset(provider.key_variable.to_owned())));
        }
        Ok(Typed { provider, base_url, key })
    }
}

/// The model that was typed, ready to be asked, and what it may spend.
///
/// # Errors
/// There is no such provider, or it lacks a key, an address or a price; the cassette cannot be written.
#[cfg(feature = "live")]
pub fn live(
    args: &RunArgs,
    recording: Option<Recording<'_>>,
    measuring: &Measuring,
    stop: &Arc<std::sync::atomic::AtomicBool>,
) -> Result<(ProvidedModel, Arc<crate::model::live::Purse>), Error> {
    use crate::model::cassette::{CASSETTE_FORMAT, Cassette, Head, Masks};
    use crate::model::judge::Judge;
    use crate::model::live::{Backoff, Cap, Client, Key, Manners, Purse};
    use crate::model::provided::Line;
    use crate::model::wire::{Asking, Calls, Rendering, Wire};
    use crate::results::Evidence;

    let usage = |why: &dyn std::fmt::Display| Error::Usage(why.to_string());
    let Some(Player::Live { provider: name, model }) = args.model.first() else {
        return Err(Error::Internal("a live run without a live model".to_owned()));
    };
    let typed = &args.live;
    let main = Typed::of(name, typed, true)?;
    let wire = typed.wire.unwrap_or(main.provider.wire);
    let asking = Asking {
        wire,
        model: model.clone(),
        stream: typed.stream,
        max_output_tokens: typed.max_output_tokens,
        completion_limit: main.provider.completion_limit,
        temperature: typed.temperature,
        seeded: wire == Wire::Chat,
        rendering: typed.rendering,
        calls: typed.calls,
        previous: typed.previous_response && wire == Wire::Responses && typed.rendering == Rendering::Native,
        breakpoints: wire == Wire::Messages && !typed.no_breakpoints,
        fields: typed.field.iter().cloned().collect(),
    };
    // A judge reads one text and calls nothing, whatever it judges.
    let mut judges: Vec<(String, Typed, Asking)> = Vec::new();
    for judge in &typed.judge {
        let Player::Live { provider, model } = judge else {
            return Err(Error::Usage(format!("a judge is a model at a provider, live:PROVIDER/NAME, and no {}", judge.name())));
        };
        let side = Typed::of(provider, typed, provider == name)?;
        let wire = if provider == name { wire } else { side.provider.wire };
        let (rendering, calls, completion_limit) = (Rendering::Native, Calls::Model, side.provider.completion_limit);
        let asking = Asking {
            wire,
            model: model.clone(),
            rendering,
            calls,
            completion_limit,
            previous: false,
            breakpoints: false,
            fields: Default::default(),
            ..asking.clone()
        };
        judges.push((format!("{provider}/{model}"), side, asking));
    }
    let prices = super::provided::prices_of(model, measuring);
    let mut costs = BTreeMap::new();
    for model in judges.iter().map(|(_, _, asking)| &asking.model).chain([model]) {
        match super::provided::prices_of(model, measuring) {
            Some(prices) => _ = costs.insert(model.clone(), prices),
            None if typed.max_usd.is_some() => {
                return Err(Error::Usage(format!(
                    "--max-usd needs a price, and {model} is in no table: give --prices FILE, or --max-tokens"
                )));
            }
            None => {}
        }
    }
    let purse = Arc::new(Purse::new(Cap { usd: typed.max_usd, tokens: typed.max_tokens }, costs));
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
                judges: judges.iter().map(|(name, _, asking)| (name.clone(), asking.clone())).collect(),
                masked: mask.to_vec(),
                redacted: redact.to_vec(),
            };
            let cassette = Cassette::record(path, head, main.key.as_ref().map(Key::secret)).map_err(super::provided::unusable)?;
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
    let line = |Typed { base_url, key, .. }: Typed| -> Result<Arc<dyn Line>, Error> {
        let client = Client::new(&base_url, key, manners, purse.clone(), cassette.clone(), stop.clone());
        Ok(Arc::new(client.map_err(|why| usage(&why))?))
    };
    let ask = line(main)?;
    let judge = |(name, side, asking): (String, Typed, Asking)| {
        Ok(Arc::new(Judge { name, asking, cassette: cassette.clone(), line: Some(line(side)?) }))
    };
    let judges = judges.into_iter().map(judge).collect::<Result<_, Error>>()?;
    let name = cassette.as_ref().map_or_else(|| format!("live:{name}/{model}"), |cassette| format!("cassette:{}", cassette.name()));
    Ok((ProvidedModel { name, evidence: Evidence::Live, asking, cassette: cassette.clone(), line: Some(ask), prices, judges }, purse))
}
