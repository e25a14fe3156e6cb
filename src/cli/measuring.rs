//! What figures are measured with, as it was typed: the model whose window, latency, prompt cache and prices count, the
//! encoding, the scaffold.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::model::profile::{FRONTIER, MODELS, ModelProfile, model_profile};
use crate::plan::{COLD, KEY_OF_RUN, NONE, Plan, Subject};
use crate::prices::{Date, OLD_AFTER_DAYS, PriceTable};
use crate::results::{CacheSettings, Head, Settings};
use crate::scenario::{Briefing, Fallback, Size};
use crate::strategy::Strategy;
use crate::tokens::{Encoding, TokenCounter, UnknownName, counter_by_name};

use super::args::MeasureArgs;
use super::console::Console;
use super::inputs::read_text;

/// What figures are measured with.
pub struct Measuring {
    /// The model whose window, latency, cache and prices runs take, if that was typed; `Some(None)`: none.
    pub as_model: Option<Option<ModelProfile>>,
    /// The model of every thread but the root, by name, if that was typed.
    pub child_model: Option<String>,
    /// The encoding.
    pub encoding: Encoding,
    /// The counter; it loads its vocabulary when it first counts.
    pub counter: Arc<dyn TokenCounter>,
    /// What requests hold of real clients' fixed texts.
    pub scaffold: String,
    /// The prompt cache.
    pub cache: CacheSettings,
    /// What tokens cost.
    pub prices: Arc<PriceTable>,
}

impl Measuring {
    /// What was typed.
    pub fn of(args: &MeasureArgs) -> Result<Measuring, Error> {
        let unknown = |why: UnknownName| Error::Usage(why.to_string());
        let encoding: Encoding = args.tokenizer.parse().map_err(unknown)?;
        let counter = counter_by_name(encoding, &args.engine).map_err(unknown)?;
        let as_model = args.as_model.as_deref().map(model_profile);
        let rules = args.cache.as_str();
        if ![crate::plan::CACHE_OF_MODEL, crate::plan::CACHE_OFF].contains(&rules) {
            crate::cache::Profile::builtin(rules).map_err(|why| Error::Usage(format!("--cache: {why}, model, off")))?;
        }
        let cache = CacheSettings { rules: rules.to_owned(), keys: args.cache_key.clone(), start: args.cache_start.clone() };
        let (child_model, scaffold) = (args.child_model.clone(), args.scaffold.clone());
        Ok(Measuring { as_model, child_model, encoding, counter, scaffold, cache, prices: price_table(args.prices.as_deref())? })
    }

    /// What is measured with if nothing is typed, in an encoding.
    pub fn usual(encoding: &str) -> Result<Measuring, Error> {
        Measuring::of(&MeasureArgs {
            as_model: None,
            child_model: None,
            tokenizer: encoding.to_owned(),
            engine: "tiktoken".to_owned(),
            scaffold: NONE.to_owned(),
            cache: crate::plan::CACHE_OF_MODEL.to_owned(),
            cache_key: KEY_OF_RUN.to_owned(),
            cache_start: COLD.to_owned(),
            prices: None,
        })
    }

    /// The head of a run.
    pub fn head(&self, size: Size, seeds: u64, briefing: Briefing, fallback: Option<Fallback>) -> Head {
        let profile = self.as_model.unwrap_or(Some(MODELS[0]));
        let settings = Settings {
            size,
            seeds,
            briefing,
            fallback,
            as_model: profile.map(|profile| profile.name.to_owned()),
            child_model: self.child_model.clone(),
            latency: profile.map_or(FRONTIER, |profile| profile.latency).name.to_owned(),
            engine: self.counter.id().to_owned(),
            scaffold: self.scaffold.clone(),
            cache: self.cache.clone(),
        };
        Head::new(self.encoding.name(), settings)
    }

    /// A plan with prices.
    pub fn plan(&self, head: Head, subjects: Vec<Subject>, strategies: Vec<Arc<dyn Strategy>>) -> Result<Plan, Error> {
        let plan = Plan::new(head, subjects, strategies).map_err(|why| Error::Usage(why.to_string()))?;
        Ok(plan.priced(self.prices.clone()))
    }
}

/// Says that a table is old: loudly of one that was asked for, else to whoever wants to hear more.
pub fn say_age(table: &PriceTable, was_asked_for: bool, console: &Console) {
    match table.age_warning(today(), OLD_AFTER_DAYS) {
        Some(warning) if was_asked_for => console.warn(&warning),
        Some(warning) => console.info(&warning),
        None => {}
    }
}

/// The day that it is, in UTC.
pub fn today() -> Date {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Date::of_unix_day(i64::try_from(seconds / 86_400).unwrap_or(0))
}

/// The table of a file; without one the one that is built in.
pub fn price_table(file: Option<&Path>) -> Result<Arc<PriceTable>, Error> {
    let table = match file {
        None => PriceTable::builtin(),
        Some(path) => PriceTable::parse(&read_text(path)?, &path.display().to_string()),
    };
    table.map(Arc::new).map_err(|why| Error::Input(why.to_string()))
}
