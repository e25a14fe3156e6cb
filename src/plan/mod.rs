//! The plan: scenarios x strategies x models x seeds, as cells in one order, each with its id and its fingerprint.
//!
//! A plan holds no cell: cell number `n` is made when it is asked for, so a plan of any size costs nothing.

mod cell_id;
mod fingerprint;
mod recording;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use crate::import::Imported;
use crate::model::Model;
use crate::model::held::{Held, HeldError};
use crate::model::judge::Judge;
use crate::model::profile::{FRONTIER, Latency, ModelProfile, model_profile};
use crate::prices::{ModelPrices, PriceTable};
use crate::results::{CacheSettings, Evidence, Head, Prices, Settings};
use crate::scenario::{Briefing, Fallback, Scenario, Size};
use crate::score::Scorer;
use crate::setting::{CacheKeys, Ceilings, PromptCache, UserInput, World};
use crate::strategy::{RunContext, Strategy};
use crate::tokens::Meter;
use crate::transcript::{Digest, Item};

pub use cell_id::{CellId, CellIdError};
pub use fingerprint::Inputs;
use recording::{held_remark, recording_digest};

/// What requests hold of real clients' fixed texts: nothing.
pub const NONE: &str = "none";
/// What requests hold of real clients' fixed texts: what was measured, as sizes.
pub const MEASURED: &str = "measured";

/// The prompt cache by the rules of the model's provider.
pub const CACHE_OF_MODEL: &str = "model";
/// No prompt cache.
pub const CACHE_OFF: &str = "off";
/// One routing key for the threads of a run.
pub const KEY_OF_RUN: &str = "run";
/// A routing key for each thread.
pub const KEY_OF_THREAD: &str = "thread";
/// An empty prompt cache when a run begins.
pub const COLD: &str = "cold";
/// A prompt cache that holds the root's history when a run begins.
pub const WARM: &str = "warm";

/// Makes the model that plays a scenario under a strategy.
pub type Casting = Arc<dyn Fn(&dyn Strategy) -> Arc<dyn Model> + Send + Sync>;

/// What a fresh run is given beside its strategy and its model.
pub struct Stage {
    /// The agents.
    pub context: RunContext,
    /// What the root's history holds before the first turn.
    pub history: Vec<Item>,
    /// The user's messages, in order.
    pub user: Vec<UserInput>,
    /// Files and tools.
    pub world: Box<dyn World>,
    /// The harness's limits.
    pub ceilings: Ceilings,
}

/// Sets the stage for one run.
pub type Staging = Arc<dyn Fn() -> Stage + Send + Sync>;

/// What must be known beside every figure of a subject, in whole sentences; it may take counting to say it.
pub type Remark = Arc<dyn Fn(&Meter) -> Vec<String> + Send + Sync>;

/// A scenario or a recording with the model that plays it.
#[derive(Clone)]
pub struct Subject {
    /// The scenario's id, or the recording's session id.
    pub id: String,
    /// The family that it is one scenario of; `None`: it stands for itself.
    pub family: Option<String>,
    /// The size that a scenario was compiled in; a recording has but one, which counts as small.
    pub size: Size,
    /// Digest of its content.
    pub digest: Digest,
    /// Sets the stage.
    pub staging: Staging,
    /// The window that it wants instead of the model's, in tokens.
    pub window: Option<u64>,
    /// A failure that it wants.
    pub expects_failure: Option<String>,
    /// What it does itself about failed delegations.
    pub own_fallback: Option<Fallback>,
    /// The model's name.
    pub model: String,
    /// What kind of behaviour that model produces.
    pub evidence: Evidence,
    /// Makes the model.
    pub casting: Casting,
    /// The model that a recording names.
    pub recorded_model: Option<String>,
    /// The model whose window and latency it takes; `None`: no window.
    pub profile: Option<ModelProfile>,
    /// What that model costs, where not as the run's table says.
    pub prices: Option<Arc<ModelPrices>>,
    /// Scores its runs, or why they are not scored.
    pub scorer: Result<Arc<Scorer>, String>,
    /// `Err`: why the children's own exchanges are not known, so that no figure holds them.
    pub children: Result<(), String>,
    /// What must be known beside its figures.
    pub remark: Remark,
    /// Who scores its answers besides.
    pub judges: Vec<Arc<Judge>>,
    /// Whether a reader writes its tasks, so that the brief and the rule about failed delegations are the reader's.
    pub is_read: bool,
    /// Why a strategy cannot be run on it, by the id of a strategy without profile; usually empty.
    pub unfit: Vec<(String, String)>,
}

impl Subject {
    /// A scenario with a model that plays it.
    pub fn of_scenario(
        scenario: Arc<Scenario>,
        model: &str,
        evidence: Evidence,
        casting: Casting,
        scorer: Result<Arc<Scorer>, String>,
    ) -> Subject {
        let staged = scenario.clone();
        Subject {
            id: scenario.id.clone(),
            family: None,
            size: scenario.size,
            digest: scenario.digest,
            staging: Arc::new(move || Stage {
                context: RunContext { root: staged.root.clone(), agents: staged.agents.clone(), ..RunContext::default() },
                history: staged.history.clone(),
                user: staged.turns.iter().map(|turn| UserInput { when: turn.when, items: turn.items.clone() }).collect(),
                world: Box::new(staged.world.clone()),
                ceilings: staged.ceilings,
            }),
            window: scenario.window,
            expects_failure: scenario.expects_failure.clone(),
            own_fallback: Some(scenario.conduct.fallback),
            model: model.to_owned(),
            evidence,
            casting,
            recorded_model: None,
            profile: None,
            prices: None,
            scorer,
            children: Ok(()),
            remark: Arc::new(|_| vec![]),
            judges: vec![],
            is_read: evidence == Evidence::Simulated,
            unfit: vec![],
        }
    }

    /// A recorded root session, held.
    ///
    /// # Errors
    /// As [`Held::new`]: what of the recording is missing.
    pub fn of_recording(imported: &Imported, at: usize) -> Result<Subject, HeldError> {
        let held = Held::new(imported, at)?;
        let (staged, played) = (held.clone(), held.clone());
        let unfit = held.without_delegation().err().map(|why| ("inline".to_owned(), why.to_string()));
        Ok(Subject {
            id: plain_id(held.id()),
            family: None,
            size: Size::default(),
            digest: recording_digest(imported, at),
            staging: Arc::new(move || Stage {
                context: staged.context(),
                history: staged.history(),
                user: staged.user(),
                world: staged.world(),
                ceilings: Ceilings::default(),
            }),
            window: None,
            expects_failure: None,
            own_fallback: None,
            model: held.name(),
            evidence: Evidence::Held,
            casting: Arc::new(move |_| Arc::new(played.clone())),
            recorded_model: held.recorded_model().map(str::to_owned),
            profile: None,
            prices: None,
            scorer: Err("a recording has no answer key".to_owned()),
            children: held.children(),
            remark: imported.sessions.get(at).map_or_else(|| Arc::new(|_: &Meter| vec![]) as Remark, held_remark),
            judges: vec![],
            is_read: false,
            unfit: unfit.into_iter().collect(),
        })
    }
}

/// A session's id as a cell id can hold it: whoever wrote the file chose it. `/` parts a cell id, and what is no visible
/// character would break lines and terminals.
fn plain_id(id: &str) -> String {
    let plain = |c: char| match c {
        '/' => '+',
        c if c.is_control() => '?',
        c => c,
    };
    id.chars().map(plain).collect()
}

/// What was planned.
#[derive(Clone)]
pub struct Plan {
    head: Head,
    prices: Option<Arc<PriceTable>>,
    subjects: Vec<Subject>,
    strategies: Vec<Arc<dyn Strategy>>,
    pairs: Vec<(usize, usize)>,
    left_out: Vec<String>,
    /// The pair that was asked for last: seeds stand together.
    last: Arc<Mutex<Option<LastRow>>>,
}

/// What is taken of the model that plays the children.
#[derive(Clone)]
pub struct ChildSide {
    /// Its window in tokens; `None`: no limit.
    pub window: Option<u64>,
    /// How long an exchange lasts where the model does not say.
    pub latency: Latency,
    /// The prompt cache that its requests meet, or why there is none.
    pub cache: Result<PromptCache, String>,
    /// What its tokens cost, or why nobody knows.
    pub prices: Result<Arc<ModelPrices>, String>,
}

/// A pair's number, and its row.
type LastRow = (usize, Arc<CellRow>);

/// One run to make.
#[derive(Clone)]
pub struct Cell {
    /// Its id.
    pub id: CellId,
    /// Its id as text.
    pub name: String,
    /// Digest of all that its figures depend on, beside its model's own content.
    plain_fingerprint: Digest,
    /// All else: the same for every seed.
    pub row: Arc<CellRow>,
}

impl Cell {
    /// Digest of all that its figures depend on. With a cassette its replies belong to it: known once they are recorded.
    pub fn fingerprint(&self) -> Digest {
        match self.row.model.content(self.id.seed) {
            None => self.plain_fingerprint,
            Some(content) => Digest::chain([self.plain_fingerprint, content]),
        }
    }
}

impl Cell {
    /// What it is called in cassettes: its id without the model, which a cassette is of.
    pub fn name_in_cassettes(&self) -> String {
        format!("{}/{}/{}", self.id.scenario_piece(), self.id.strategy.replace('/', "+"), self.id.seed)
    }
}

impl Deref for Cell {
    type Target = CellRow;

    fn deref(&self) -> &CellRow {
        &self.row
    }
}

/// What the cells of a scenario under a strategy have in common.
#[derive(Clone)]
pub struct CellRow {
    /// The family of its scenario; `None`: the scenario stands for itself.
    pub family: Option<String>,
    /// Sets the stage.
    pub staging: Staging,
    /// A failure that the scenario wants.
    pub expects_failure: Option<String>,
    /// The strategy.
    pub strategy: Arc<dyn Strategy>,
    /// The model.
    pub model: Arc<dyn Model>,
    /// What kind of behaviour the model produces.
    pub evidence: Evidence,
    /// Scores the run, or why it is not scored.
    pub scorer: Result<Arc<Scorer>, String>,
    /// `Err`: why the children's own exchanges are not known.
    pub children: Result<(), String>,
    /// What must be known beside the figures.
    pub remark: Remark,
    /// The model's window in tokens; `None`: no limit.
    pub window: Option<u64>,
    /// How long an exchange lasts where the model does not say.
    pub latency: Latency,
    /// The prompt cache that its requests meet, or why there is none.
    pub cache: Result<PromptCache, String>,
    /// What its tokens cost, or why nobody knows.
    pub prices: Result<Arc<ModelPrices>, String>,
    /// The model that plays the children, where it is another one.
    pub children_model: Option<ChildSide>,
    /// Who scores its answers besides.
    pub judges: Vec<Arc<Judge>>,
    /// The id without its seed.
    id: CellId,
    /// The id as text, up to the seed.
    name: String,
    /// What its fingerprint is made of, beside the seed.
    inputs: String,
}

impl CellRow {
    /// Why no thread meets a prompt cache; empty: they do.
    pub fn no_cache(&self) -> &str {
        let children = self.children_model.as_ref().map(|child| &child.cache);
        [Some(&self.cache), children].into_iter().flatten().find_map(|cache| cache.as_ref().err()).map_or("", String::as_str)
    }

    /// The cell of a seed.
    fn cell(self: &Arc<CellRow>, seed: u64) -> Cell {
        Cell {
            id: CellId { seed, ..self.id.clone() },
            name: format!("{}{seed}", self.name),
            plain_fingerprint: fingerprint::of(seed, &self.inputs),
            row: self.clone(),
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two scenarios would have the same cells.
    #[error("`{0}` is there twice: run the two apart, or give one of them another id")]
    TwoScenarios(String),
}

impl Plan {
    /// The plan in its order: scenario, then strategy, then seed. The same strategy given twice counts once.
    pub fn new(head: Head, subjects: Vec<Subject>, strategies: Vec<Arc<dyn Strategy>>) -> Result<Plan, PlanError> {
        let mut seen = BTreeSet::new();
        let strategies: Vec<_> = strategies.into_iter().filter(|strategy| seen.insert(strategy.id())).collect();
        let mut names = BTreeSet::new();
        let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
        for (at, subject) in subjects.iter().enumerate() {
            if !names.insert((subject.id.clone(), subject.model.clone())) {
                return Err(PlanError::TwoScenarios(subject.id.clone()));
            }
            for (which, strategy) in strategies.iter().enumerate() {
                let id = strategy.id();
                let bare = id.split(['@', ':']).next().unwrap_or_default();
                match subject.unfit.iter().find(|(unfit, _)| unfit == bare) {
                    Some((_, why)) => left_out.push(format!("{id} is not run on {}: {why}", subject.id)),
                    None => pairs.push((at, which)),
                }
            }
        }
        Ok(Plan { head, prices: None, subjects, strategies, pairs, left_out, last: Arc::default() })
    }

    /// The same plan with prices: its head names them.
    pub fn priced(mut self, table: Arc<PriceTable>) -> Plan {
        let (name, sha256, date) = (table.name.clone(), table.digest.clone(), table.dated.to_string());
        self.head.prices = Some(Prices { name, sha256, date });
        self.prices = Some(table);
        self.last = Arc::default();
        self
    }

    /// Leaves out the scenarios under strategies that `keeps` says no to. It is asked for the cell of the first seed.
    pub fn retain(&mut self, mut keeps: impl FnMut(&CellId) -> bool) {
        self.last = Arc::default();
        let pairs = std::mem::take(&mut self.pairs);
        let id =
            |&(subject, strategy): &(usize, usize)| Some(self.id(self.subjects.get(subject)?, self.strategies.get(strategy)?.as_ref(), 0));
        self.pairs = pairs.into_iter().filter(|pair| id(pair).is_some_and(|id| keeps(&id))).collect();
    }

    /// What the cells have in common.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The scenarios with their models, in order.
    pub fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    /// The strategies, in order.
    pub fn strategies(&self) -> &[Arc<dyn Strategy>] {
        &self.strategies
    }

    /// What is not run, and why: lines for people.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.pairs.len() * usize::try_from(self.head.settings.seeds).unwrap_or(usize::MAX)
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cell number `at`, from 0.
    pub fn cell(&self, at: usize) -> Option<Cell> {
        let seeds = usize::try_from(self.head.settings.seeds).ok().filter(|&seeds| seeds > 0)?;
        Some(self.pair(at / seeds)?.cell((at % seeds) as u64))
    }

    /// A scenario under a strategy: made once for all seeds that are asked for one after the other.
    fn pair(&self, at: usize) -> Option<Arc<CellRow>> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, row)) = last().as_ref().filter(|(known, _)| *known == at) {
            return Some(row.clone());
        }
        let &(subject, strategy) = self.pairs.get(at)?;
        let row = self.row(self.subjects.get(subject)?, self.strategies.get(strategy)?);
        *last() = Some((at, row.clone()));
        Some(row)
    }

    /// Every cell, in order.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        (0..self.len()).filter_map(|at| self.cell(at))
    }

    /// The cells of one seed, whatever the plan's own seeds.
    pub fn cells_of_seed(&self, seed: u64) -> impl Iterator<Item = Cell> {
        (0..self.pairs.len()).filter_map(move |at| Some(self.pair(at)?.cell(seed)))
    }

    fn id(&self, subject: &Subject, strategy: &dyn Strategy, seed: u64) -> CellId {
        CellId {
            scenario: subject.id.clone(),
            size: subject.size,
            briefing: self.briefing(subject),
            fallback: self.fallback(subject),
            strategy: strategy.id(),
            model: subject.model.clone(),
            seed,
        }
    }

    /// What all seeds of a scenario under a strategy have in common.
    fn row(&self, subject: &Subject, strategy: &Arc<dyn Strategy>) -> Arc<CellRow> {
        let id = self.id(subject, strategy.as_ref(), 0);
        let window = subject.window.or(subject.profile.map(|profile| profile.window));
        let latency = subject.profile.map_or(FRONTIER, |profile| profile.latency);
        Arc::new(CellRow {
            name: id.to_string().trim_end_matches('0').to_owned(),
            inputs: self.inputs(subject, strategy.as_ref()).text(),
            family: subject.family.clone(),
            id,
            staging: self.staging(subject),
            expects_failure: subject.expects_failure.clone(),
            strategy: strategy.clone(),
            model: (subject.casting)(strategy.as_ref()),
            evidence: subject.evidence,
            scorer: subject.scorer.clone(),
            children: subject.children.clone(),
            remark: self.remark(subject, strategy),
            window,
            latency,
            cache: self.cache(subject.profile).map_err(|why| self.of_provider(subject).unwrap_or(why)),
            prices: self.model_prices(subject),
            children_model: self.child_side(subject),
            judges: subject.judges.clone(),
        })
    }

    /// The model of the children, if another one was asked for; `Some(None)`: none.
    fn child_profile(&self) -> Option<Option<ModelProfile>> {
        self.head.settings.child_model.as_deref().map(model_profile)
    }

    fn child_side(&self, subject: &Subject) -> Option<ChildSide> {
        let profile = self.child_profile()?;
        Some(ChildSide {
            window: subject.window.or(profile.map(|profile| profile.window)),
            latency: profile.map_or(FRONTIER, |profile| profile.latency),
            cache: self.cache(profile),
            prices: self.prices_of(profile),
        })
    }

    /// The prompt cache of a model.
    fn cache(&self, profile: Option<ModelProfile>) -> Result<PromptCache, String> {
        let CacheSettings { rules, keys, start } = &self.head.settings.cache;
        let model = profile.map(|profile| profile.name);
        let rules = match rules.as_str() {
            CACHE_OFF => return Err("no prompt cache was simulated (--cache off)".to_owned()),
            CACHE_OF_MODEL => {
                let Some(profile) = profile else { return Err("no model was taken (--as none), so no prompt cache".to_owned()) };
                profile.cache.ok_or_else(|| format!("no rules are known for the prompt cache of {}", profile.name))?
            }
            named => named,
        };
        let rules = crate::cache::Profile::builtin(rules).map_err(|why| why.to_string())?;
        let keys = if keys == KEY_OF_THREAD { CacheKeys::Thread } else { CacheKeys::Run };
        Ok(PromptCache { rules, model: model.unwrap_or(NONE).to_owned(), keys, warm: start == WARM })
    }

    /// The prices of a subject's model.
    fn model_prices(&self, subject: &Subject) -> Result<Arc<ModelPrices>, String> {
        if let Some(prices) = &subject.prices {
            return Ok(prices.clone());
        }
        self.prices_of(subject.profile).map_err(|why| self.of_provider(subject).unwrap_or(why))
    }

    /// Why nothing is known of a provider's model that nobody typed a profile for.
    fn of_provider(&self, subject: &Subject) -> Option<String> {
        let is_provided = matches!(subject.evidence, Evidence::Live | Evidence::Cassette) && subject.profile.is_none();
        is_provided.then(|| "the model is in no price table and no cache rules are known for it".to_owned())
    }

    fn prices_of(&self, profile: Option<ModelProfile>) -> Result<Arc<ModelPrices>, String> {
        let Some(table) = &self.prices else { return Err("the run has no prices".to_owned()) };
        let Some(profile) = profile else { return Err("no model was taken (--as none), so nothing is priced".to_owned()) };
        table.find(profile.name).map(|prices| Arc::new(prices.clone())).map_err(|why| why.to_string())
    }

    /// Whether strategies are asked for what their real clients send.
    fn is_measured(&self) -> bool {
        self.head.settings.scaffold == MEASURED
    }

    fn staging(&self, subject: &Subject) -> Staging {
        let (staging, scaffold) = (subject.staging.clone(), self.is_measured());
        Arc::new(move || {
            let mut stage = staging();
            stage.context.scaffold = scaffold;
            stage
        })
    }

    /// The subject's own remark, and that a scaffold was asked for that the strategy does not have.
    fn remark(&self, subject: &Subject, strategy: &Arc<dyn Strategy>) -> Remark {
        let remark = subject.remark.clone();
        if !self.is_measured() || strategy.has_scaffold() {
            return remark;
        }
        let note = format!("{} has no measured scaffold: its requests hold the scenario's own texts and tools.", strategy.id());
        Arc::new(move |meter| std::iter::once(note.clone()).chain(remark(meter)).collect())
    }

    /// The brief matters to whoever writes tasks: simulated agents alone.
    fn briefing(&self, subject: &Subject) -> Briefing {
        if subject.is_read { self.head.settings.briefing } else { Briefing::default() }
    }

    /// The override, where it changes anything.
    fn fallback(&self, subject: &Subject) -> Option<Fallback> {
        let given = self.head.settings.fallback.filter(|_| subject.is_read);
        given.filter(|&fallback| Some(fallback) != subject.own_fallback)
    }

    /// What the fingerprints of a scenario under a strategy are made of.
    pub fn inputs(&self, subject: &Subject, strategy: &dyn Strategy) -> Inputs {
        Inputs {
            scenario: subject.digest,
            size: subject.size,
            briefing: self.briefing(subject),
            fallback: self.fallback(subject),
            strategy: strategy.id(),
            strategy_version: strategy.version(),
            model: subject.model.clone(),
            profile: subject.profile,
            tokenizer: self.head.tokenizer.clone(),
            engine: self.head.settings.engine.clone(),
            scaffold: self.head.settings.scaffold.clone(),
            children: self.child_profile(),
            cache: self.cache(subject.profile).map_or(NONE.to_owned(), |cache| {
                let client = cache.rules.client.as_deref().unwrap_or(NONE);
                let (keys, start) = (&self.head.settings.cache.keys, &self.head.settings.cache.start);
                format!("{}/{client} of {}, keys {keys}, {start}", cache.rules.name, cache.rules.dated)
            }),
            prices: self.model_prices(subject).map_or(NONE.to_owned(), |prices| {
                format!("{} {}", self.head.prices.as_ref().map_or(NONE, |table| &table.sha256), prices.name)
            }),
        }
    }
}

impl Head {
    /// The head of a run.
    pub fn new(tokenizer: &str, settings: Settings) -> Head {
        Head { tokenizer: tokenizer.to_owned(), prices: None, settings }
    }
}

#[cfg(test)]
pub(crate) mod tests;
