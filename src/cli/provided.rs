//! A model at a provider, or a cassette, as it was typed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::model::Model;
use crate::model::cassette::{Cassette, CassetteError};
use crate::model::judge::Judge;
use crate::model::profile::{FRONTIER, model_profile};
use crate::model::provided::{Line, Provided, wants_reader};
use crate::model::reader::Reader;
use crate::model::wire::{Asking, Calls, Rendering};
use crate::plan::{Casting, CellId, Remark, Subject};
use crate::prices::ModelPrices;
use crate::results::{Evidence, Settings};
use crate::scenario::Scenario;
use crate::score::Scorer;

use super::guarded;
use super::inputs::Wanted;
use super::measuring::Measuring;

/// Where cassettes lie that are called by their name.
const FOLDERS: [&str; 2] = ["cassettes", "fixtures/cassettes"];

/// A model at a provider, or what it once said.
pub struct ProvidedModel {
    /// Its name in cell ids.
    pub name: String,
    /// What kind of behaviour it produces.
    pub evidence: Evidence,
    /// With what it is asked.
    pub asking: Asking,
    /// What was recorded, and where to record.
    pub cassette: Option<Arc<Cassette>>,
    /// Whom to ask.
    pub line: Option<Arc<dyn Line>>,
    /// What it costs, where that is known.
    pub prices: Option<Arc<ModelPrices>>,
    /// Who scores its answers besides.
    pub judges: Vec<Arc<Judge>>,
}

impl ProvidedModel {
    /// The replies of a cassette, by its name or path.
    ///
    /// # Errors
    /// There is none, or it cannot be used.
    pub fn of_cassette(name: &str, measuring: &Measuring) -> Result<ProvidedModel, Error> {
        Ok(ProvidedModel::of(Arc::new(open(&cassette_path(name)?)?), measuring))
    }

    /// The replies of a cassette.
    pub fn of(cassette: Arc<Cassette>, measuring: &Measuring) -> ProvidedModel {
        let asking = cassette.head().asking.clone();
        let prices = prices_of(&asking.model, measuring);
        let name = format!("cassette:{}", cassette.name());
        let judge = |(name, asking): (&String, &Asking)| {
            Arc::new(Judge { name: name.clone(), asking: asking.clone(), cassette: Some(cassette.clone()), line: None })
        };
        let judges = cassette.head().judges.iter().map(judge).collect();
        ProvidedModel { name, evidence: Evidence::Cassette, asking, cassette: Some(cassette), line: None, prices, judges }
    }

    /// A scenario that it plays.
    pub fn subject(&self, scenario: Scenario, wanted: &Wanted<'_>) -> Subject {
        let scenario = Arc::new(scenario);
        let mut reader = Reader::new(scenario.clone());
        let scorer = Arc::new(Scorer::with_markers(scenario.clone(), reader.index()).telling());
        (reader.briefing, reader.fallback) = (wanted.briefing, wanted.fallback);
        let is_read = wants_reader(&self.asking);
        let id = CellId {
            scenario: scenario.id.clone(),
            size: scenario.size,
            briefing: if is_read { wanted.briefing } else { Default::default() },
            fallback: wanted.fallback.filter(|fallback| is_read && *fallback != scenario.conduct.fallback),
            strategy: String::new(),
            model: String::new(),
            seed: 0,
        };
        let piece = id.scenario_piece();
        let base = Provided {
            name: self.name.clone(),
            asking: self.asking.clone(),
            cassette: self.cassette.clone(),
            line: self.line.clone(),
            scenario: scenario.clone(),
            reader: None,
            cell: String::new(),
        };
        let casting: Casting = Arc::new(move |strategy| {
            let mut reader = reader.clone();
            reader.hands_history_down = strategy.hands_history_down();
            let reader = is_read.then(|| Arc::new(reader) as Arc<dyn Model>);
            Arc::new(Provided { cell: format!("{piece}/{}", strategy.id()), reader, ..base.clone() })
        });
        let subject = Subject::of_scenario(scenario, &self.name, self.evidence, casting, Ok(scorer));
        let said = self.said();
        let remark: Remark = Arc::new(move |_| said.clone());
        let profile = wanted.as_model.unwrap_or_else(|| model_profile(&self.asking.model));
        let prices = if wanted.as_model.is_some() { None } else { self.prices.clone() };
        Subject { profile, prices, remark, is_read, judges: self.judges.clone(), ..subject }
    }

    /// What of a run's settings is this model's own: its name, unless another was typed, and how long its exchanges last.
    pub fn settle(&self, settings: &mut Settings, as_was_typed: bool) {
        if !as_was_typed {
            settings.as_model = model_profile(&self.asking.model).map(|profile| profile.name.to_owned());
        }
        settings.latency = match self.asking.calls {
            Calls::Model => "as measured".to_owned(),
            Calls::Reader => format!("as measured, the reader's steps {}", FRONTIER.name),
        };
    }

    /// What must be known beside the figures.
    fn said(&self) -> Vec<String> {
        let Asking { model, calls, rendering, .. } = &self.asking;
        let calls = (*calls == Calls::Reader)
            .then(|| format!("The reader makes the calls and {model} writes the answers, so times are of both and say little."));
        let rendering = (*rendering != Rendering::Native).then(|| {
            format!(
                "Requests are rendered as {} text, whose own words no figure counts; a ranking may be one of renderings.",
                rendering.name()
            )
        });
        let told = "Facts in a model's answers are recognised by their markers or by the words of their values in one sentence.";
        calls.into_iter().chain(rendering).chain([told.to_owned()]).collect()
    }
}

/// What a model costs by the run's table; `None`: it is not in it.
pub fn prices_of(model: &str, measuring: &Measuring) -> Option<Arc<ModelPrices>> {
    measuring.prices.find(model).ok().map(|prices| Arc::new(prices.clone()))
}

/// The file of a cassette that is called by a path or by a name.
///
/// # Errors
/// There is none.
pub fn cassette_path(name: &str) -> Result<PathBuf, Error> {
    let as_typed = Path::new(name);
    if as_typed.is_file() {
        return Ok(as_typed.to_owned());
    }
    let in_folders = FOLDERS.iter().map(|folder| Path::new(folder).join(format!("{name}.jsonl")));
    let mut places = std::iter::once(PathBuf::from(format!("{name}.jsonl"))).chain(in_folders);
    places.find(|path| path.is_file()).ok_or_else(|| {
        if name.contains('/') || name.ends_with(".jsonl") {
            return Error::path("read", as_typed, std::io::ErrorKind::NotFound.into());
        }
        Error::Usage(format!(
            "there is no cassette `{name}`: none of {name}.jsonl, {}/{name}.jsonl",
            FOLDERS.join(&format!("/{name}.jsonl, "))
        ))
    })
}

/// Reads a cassette.
///
/// # Errors
/// It cannot be read, or is none.
pub fn open(path: &Path) -> Result<Cassette, Error> {
    guarded::file(path)?;
    Cassette::open(path).map_err(unusable)
}

/// Why a cassette cannot be used, as the command's error.
pub fn unusable(why: CassetteError) -> Error {
    match why {
        CassetteError::File { path, source } => Error::path("use", &path, source),
        CassetteError::Line { .. } => Error::Input(why.to_string()),
        CassetteError::Other(said) => Error::Usage(said),
        CassetteError::Masks(why) => Error::Usage(why.to_string()),
    }
}
