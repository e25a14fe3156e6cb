//! A cell's fingerprint: equal fingerprints, equal figures.

use crate::model::profile::ModelProfile;
use crate::results::RESULTS_FORMAT;
use crate::scenario::{Briefing, Fallback, Size};
use crate::transcript::Digest;

/// What a fingerprint is made of, beside the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// Digest of the scenario's content.
    pub scenario: Digest,
    /// Its size.
    pub size: Size,
    /// The brief.
    pub briefing: Briefing,
    /// The override about failed delegations.
    pub fallback: Option<Fallback>,
    /// The strategy with profile and options.
    pub strategy: String,
    /// Its semantic version.
    pub strategy_version: u32,
    /// The model.
    pub model: String,
    /// The model whose window and latency it takes.
    pub profile: Option<ModelProfile>,
    /// The model of the children, where another one was asked for.
    pub children: Option<Option<ModelProfile>>,
    /// The encoding.
    pub tokenizer: String,
    /// The counting engine and its version.
    pub engine: String,
    /// The scaffold.
    pub scaffold: String,
    /// The prompt cache: rules with client and date, keys, start; `none`.
    pub cache: String,
    /// What the model costs, and of which table; `none`.
    pub prices: String,
}

impl Inputs {
    /// Every input by name, in the order in which it is digested.
    pub fn each(&self) -> Vec<(&'static str, String)> {
        // Every field is named here, so that a new one cannot be forgotten.
        let Inputs {
            scenario,
            size,
            briefing,
            fallback,
            strategy,
            strategy_version,
            model,
            profile,
            children,
            tokenizer,
            engine,
            scaffold,
            cache,
            prices,
        } = self;
        let told = |profile: Option<ModelProfile>| {
            profile.map_or("none".to_owned(), |profile| {
                let latency = profile.latency;
                let rates = [latency.ttft_ms, latency.prefill, latency.prefill_above_64k, latency.cached_prefill, latency.decode];
                format!("{} window {} latency {} {rates:?}", profile.name, profile.window, latency.name)
            })
        };
        // Whoever asked for no other model has the fingerprints that there were before anybody could.
        let children = children.map(|children| ("children", told(children)));
        vec![
            ("results", RESULTS_FORMAT.to_owned()),
            ("scenario", scenario.to_string()),
            ("size", size.name().to_owned()),
            ("briefing", briefing.name().to_owned()),
            ("fallback", fallback.map_or("the scenario's", Fallback::name).to_owned()),
            ("strategy", strategy.clone()),
            ("strategy_version", strategy_version.to_string()),
            ("model", model.clone()),
            ("profile", told(*profile)),
            ("tokenizer", tokenizer.clone()),
            ("engine", engine.clone()),
            ("scaffold", scaffold.clone()),
            ("cache", cache.clone()),
            ("prices", prices.clone()),
        ]
        .into_iter()
        .chain(children)
        .collect()
    }

    /// The inputs as the text that is digested behind the seed.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.each() {
            text.push_str(&format!("{name}={}:{value}\n", value.len()));
        }
        text
    }

    /// The fingerprint of the cell with this seed.
    pub fn fingerprint(&self, seed: u64) -> Digest {
        of(seed, &self.text())
    }
}

/// The fingerprint of a cell, by its seed and the text of its other inputs.
pub(super) fn of(seed: u64, inputs: &str) -> Digest {
    Digest::of_pieces([format!("seed={seed}\n").as_str(), inputs])
}
