//! `reprice`: a run with other prices; tokens, times and scores are as they were.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::error::Error;
use crate::plan::NONE;
use crate::prices::{ModelPrices, PriceTable, Tokens, Usd};
use crate::report::render;
use crate::results::{CacheClasses, CellResult, LedgerLine, Number, Prices, Results, Settings, Summing};
use crate::transcript::Digest;

use super::args::{Global, RepriceArgs};
use super::console::Console;
use super::measuring::{price_table, say_age};
use super::output::emit;
use super::run_folder::{Lines, progress, run_json};

/// The figures that prices decide.
const PRICED: [&str; 4] = ["cost.usd", "cost.usd.low", "cost.usd.high", NEXT_TURN];
const NEXT_TURN: &str = "cost.next_turn";

/// Prints a run's results at other prices.
pub fn reprice(args: &RepriceArgs, global: &Global, console: &Console) -> Result<(), Error> {
    let table = price_table(args.prices.as_deref())?;
    say_age(&table, args.prices.is_some(), console);
    let run = run_json(&args.run)?;
    if let Some(lack) = progress(&args.run)?.lack(&args.run) {
        console.warn(&lack);
    }
    let settings: Settings = serde_json::from_value(run.get("settings").cloned().unwrap_or_default())
        .map_err(|why| Error::Input(format!("{}: settings: {why}", args.run.join("run.json").display())))?;
    let models = models(&run);
    let mut spent = spent(&args.run)?;
    let mut cells: Vec<CellResult> = Vec::new();
    let mut summing = Summing::default();
    for cell in Lines::<CellResult>::open(&args.run.join("results.jsonl"))? {
        let mut cell = cell?;
        let model = models.get(&(cell.scenario.clone(), cell.strategy.clone())).and_then(Option::as_deref);
        let paid = spent.remove(&cell.cell);
        price(&mut cell, paid, model, settings.child_model.as_deref(), &table);
        summing.add(&cell);
        cells.push(cell);
    }
    let text = |name: &str| run.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let results = Results {
        format: text("results"),
        ctxbench: text("ctxbench"),
        tokenizer: text("tokenizer"),
        prices: Some(Prices { name: table.name.clone(), sha256: table.digest.clone(), date: table.dated.to_string() }),
        settings,
        cells,
        summary: summing.rows(),
        // Whoever writes them finds them in the cells.
        break_even: vec![],
    };
    emit("reprice", global.format, &global.out, console, &|format, colour| render(format, colour, &results))
}

/// What a request spent.
struct Request {
    is_root: bool,
    worst: Option<CacheClasses>,
    best: Option<CacheClasses>,
    output: u64,
}

/// What a cell spent, request by request.
type Spent = Vec<Request>;

fn spent(folder: &Path) -> Result<BTreeMap<String, Spent>, Error> {
    let mut spent: BTreeMap<String, Spent> = BTreeMap::new();
    for line in Lines::<LedgerLine>::open(&folder.join("ledger.jsonl"))? {
        let line = line?;
        let worst = line.cache.as_ref().map(|cache| cache.worst());
        let best = line.cache.as_ref().map(|cache| cache.best.unwrap_or(cache.worst()));
        let is_root = *line.thread == *"/";
        spent.entry(line.cell.to_string()).or_default().push(Request { is_root, worst, best, output: line.output });
    }
    Ok(spent)
}

/// The model that each scenario's cells were priced as, by strategy; `None`: they were not.
fn models(run: &Value) -> BTreeMap<(String, String), Option<String>> {
    let lines = run.get("inputs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of = |line: &Value| {
        let text = |name: &str| Some(line.get(name)?.as_str()?.to_owned());
        // `NAME window ...`, or `none`.
        let profile = line.get("inputs")?.get("profile")?.as_str()?;
        let model = profile.split(' ').next().filter(|name| *name != "none").map(str::to_owned);
        Some(((text("scenario")?, text("strategy")?), model))
    };
    lines.iter().filter_map(of).collect()
}

fn price(cell: &mut CellResult, spent: Option<Spent>, model: Option<&str>, child_model: Option<&str>, table: &Arc<PriceTable>) {
    // A figure that nobody could give for another reason than its price stays as it is.
    let is_lost = cell.unmeasured.get("total.input").map(|why| why.clone().into_owned());
    let priced = match (model, &spent) {
        (None, _) => Err("no model was taken (--as none), so nothing is priced".to_owned()),
        (Some(_), None) => Err("the run's ledger has no request of it".to_owned()),
        (Some(model), Some(spent)) => table.find(model).map(|prices| (spent, prices)).map_err(|why| why.to_string()),
    };
    let next_turn = priced.clone().and_then(|(spent, prices)| next_turn(cell, spent, prices));
    let of_children = child_model.map(|name| match name {
        NONE => Err("no model was taken (--as none), so nothing is priced".to_owned()),
        name => table.find(name).map_err(|why| why.to_string()),
    });
    let cost = is_lost.map_or(priced, Err).and_then(|(spent, prices)| {
        let has_children = spent.iter().any(|request| !request.is_root);
        let children = if has_children { of_children.transpose()?.unwrap_or(prices) } else { prices };
        cost(spent, prices, children)
    });
    let dollars = |usd: Usd| Number::real(usd.trillionths() as f64 / 1e12);
    for name in PRICED {
        let value = if name == NEXT_TURN {
            next_turn.clone()
        } else {
            cost.clone().and_then(|(low, high)| match name {
                "cost.usd.low" => Ok(low),
                "cost.usd.high" => Ok(high),
                _ if low == high => Ok(low),
                _ => Err(format!("the provider's cache rules leave a range: {low} to {high} dollars")),
            })
        };
        cell.unmeasured.shift_remove(name);
        if let Err(why) = &value {
            cell.unmeasured.insert(name.into(), why.clone().into());
        }
        cell.metrics.insert(name.into(), value.ok().and_then(dollars));
    }
    cell.fingerprint = Digest::of(&format!("{} {}", cell.fingerprint, table.digest)).to_string();
}

/// What the root's final context costs once more, as `cost.next_turn` of a run is.
fn next_turn(cell: &CellResult, spent: &Spent, prices: &ModelPrices) -> Result<Usd, String> {
    let unknown = || cell.unmeasured.get("parent.final_context").map_or("the root sent no request", AsRef::as_ref).to_owned();
    let Some(Number::Whole(context)) = cell.metrics.get("parent.final_context").copied().flatten() else { return Err(unknown()) };
    let context = u64::try_from(context).map_err(|_| unknown())?;
    if spent.iter().any(|request| request.worst != request.best) {
        return Err("the provider's cache rules leave a range".to_owned());
    }
    let reads = spent.iter().any(|request| request.worst.is_some_and(|classes| classes.read > 0));
    let tokens = if reads { Tokens { read: context, ..Tokens::default() } } else { Tokens { uncached: context, ..Tokens::default() } };
    prices.cost(&tokens).map_err(|why| why.to_string())
}

/// The smaller and the larger sum.
fn cost(spent: &Spent, root: &ModelPrices, children: &ModelPrices) -> Result<(Usd, Usd), String> {
    let sum = |best: bool| {
        let mut sum = Usd::ZERO;
        for request in spent {
            let classes = if best { request.best } else { request.worst };
            let prices = if request.is_root { root } else { children };
            let CacheClasses { read, write, uncached, write_long } = classes.ok_or("the run simulated no prompt cache")?;
            let tokens = Tokens { uncached, read, write_short: write.saturating_sub(write_long), write_long, output: request.output };
            sum += prices.cost(&tokens).map_err(|why| why.to_string())?;
        }
        Ok::<Usd, String>(sum)
    };
    let (one, other) = (sum(false)?, sum(true)?);
    Ok((one.min(other), one.max(other)))
}
