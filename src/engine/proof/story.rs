//! A small run, told in a few lines: a strategy, scripts, the user's messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::FutureExt;

use crate::engine::{Ceilings, Run, UserInput, UserTime, run};
use crate::ledger::Outcome;
use crate::model::profile::FRONTIER;
use crate::strategy::{AgentSpec, RunContext, Strategy, ToolSpec};
use crate::tokens::{CountError, Meter, TokenCounter};
use crate::transcript::{Item, Origin, Part};

use super::listing::{compare, history, listing};
use super::player::{Player, Shelf, Step};

/// A tokenizer that can be counted by hand: a token a byte.
pub struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> Result<u64, CountError> {
        Ok(text.len() as u64)
    }
    fn id(&self) -> &'static str {
        "bytes"
    }
}

/// A meter of bytes.
pub fn bytes() -> Meter {
    Meter::new(Arc::new(Bytes))
}

/// The agents `lead` (the root) and `worker`, without prompts, both with the tools of the shelf.
pub fn two_agents() -> RunContext {
    let tools = ["look", "dig", "bad"].map(|name| ToolSpec { name: name.into(), schema: Part::from("{}") });
    let spec = AgentSpec { system: None, tools: tools.into(), ..AgentSpec::default() };
    RunContext {
        root: "lead".into(),
        agents: ["lead", "worker"].into_iter().map(|name| (name.to_owned(), spec.clone())).collect(),
        ..RunContext::default()
    }
}

/// See the module.
pub struct Story<'a> {
    strategy: &'a dyn Strategy,
    scripts: BTreeMap<&'static str, Vec<Step>>,
    user: Vec<UserInput>,
    ceilings: Ceilings,
}

/// A story under a strategy.
pub fn under(strategy: &dyn Strategy) -> Story<'_> {
    Story { strategy, scripts: BTreeMap::new(), user: vec![], ceilings: Ceilings::default() }
}

/// Plays a run without a clock; no virtual model ever lets it wait.
pub fn play(run_of: Run<'_>) -> Result<Outcome, String> {
    run(run_of).now_or_never().ok_or_else(|| "the engine awaited something although every reply was ready".to_owned())
}

impl Story<'_> {
    /// What a thread (by path) or the turns that an intent opens (by id) say, reply by reply.
    pub fn script<const N: usize>(mut self, key: &'static str, steps: [Step; N]) -> Self {
        self.scripts.insert(key, steps.into());
        self
    }

    /// A message of the user that comes when the root is idle.
    pub fn user(self, text: &str) -> Self {
        self.user_when(UserTime::Settled, text)
    }

    /// A message of the user that comes at a millisecond.
    pub fn user_at(self, ms: u64, text: &str) -> Self {
        self.user_when(UserTime::At(ms), text)
    }

    fn user_when(mut self, when: UserTime, text: &str) -> Self {
        self.user.push(UserInput { when, items: vec![Item::user(Origin::User, text)] });
        self
    }

    /// Other limits of the harness than the default ones.
    pub fn ceilings(mut self, ceilings: Ceilings) -> Self {
        self.ceilings = ceilings;
        self
    }

    /// Plays it once.
    pub fn play(&self) -> Result<Outcome, String> {
        play(Run {
            strategy: self.strategy,
            agent: Box::new(Player::new(self.scripts.clone())),
            context: two_agents(),
            history: vec![],
            user: self.user.clone(),
            world: Box::new(Shelf::default()),
            meter: bytes(),
            ceilings: self.ceilings,
            window: None,
            latency: FRONTIER,
            cache: None,
            children: None,
        })
    }

    /// Plays it three times: each run equals the others, and reads as expected.
    pub fn reads(&self, expected: &str) -> Result<Outcome, String> {
        let outcome = self.play()?;
        for _ in 0..2 {
            compare("a second run", &format!("{outcome:#?}"), &format!("{:#?}", self.play()?))?;
        }
        compare("the ledger", expected, &listing(&outcome)).map_err(|why| match &outcome.failure {
            Some(failure) => format!("{why}\nfailure: {}", failure.message),
            None => why,
        })?;
        Ok(outcome)
    }
}

/// A thread's history at the end of a run reads as expected.
pub fn ends_with(outcome: &Outcome, thread: u32, expected: &str) -> Result<(), String> {
    compare("a history", expected, &history(outcome, thread))
}
