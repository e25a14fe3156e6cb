//! A cell's id: what people type and files sort by.

use std::fmt;
use std::str::FromStr;

use crate::scenario::{Briefing, Fallback, Size};

/// `SCENARIO[~SIZE][+BRIEFING][+FALLBACK]/ID@PROFILE[:options]/MODEL/SEED`. What equals the default is left out; a `/`
/// inside a name is written `+`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CellId {
    /// The scenario's id, or a recording's session id.
    pub scenario: String,
    /// The size; `small` is not written.
    pub size: Size,
    /// What a delegating reader writes into a task; `same` is not written.
    pub briefing: Briefing,
    /// What stands in for the scenario's own rule about failed delegations; `None`: nothing does.
    pub fallback: Option<Fallback>,
    /// The strategy with its profile and the options that are not the default.
    pub strategy: String,
    /// The model.
    pub model: String,
    /// The seed.
    pub seed: u64,
}

impl CellId {
    /// The scenario's piece: its name, then what of size, brief and fallback is not the default.
    pub fn scenario_piece(&self) -> String {
        let mut piece = one_name(&self.scenario);
        if self.size != Size::default() {
            piece += &format!("~{}", self.size.name());
        }
        if self.briefing != Briefing::default() {
            piece += &format!("+{}", self.briefing.name());
        }
        if let Some(fallback) = self.fallback {
            piece += &format!("+{}", fallback.name());
        }
        piece
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.scenario_piece(), one_name(&self.strategy), one_name(&self.model), self.seed)
    }
}

/// A name without the separator of cell ids.
fn one_name(name: &str) -> String {
    name.replace('/', "+")
}

/// Why a text is no cell id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no cell id: {why}. A cell id is SCENARIO/STRATEGY@PROFILE/MODEL/SEED, as `run` prints it")]
pub struct CellIdError {
    text: String,
    why: String,
}

impl FromStr for CellId {
    type Err = CellIdError;

    fn from_str(text: &str) -> Result<CellId, CellIdError> {
        let no = |why: String| CellIdError { text: text.to_owned(), why };
        let pieces: Vec<&str> = text.split('/').collect();
        let &[scenario, strategy, model, seed] = pieces.as_slice() else {
            return Err(no(format!("it has {} pieces between slashes, not 4", pieces.len())));
        };
        let seed = seed.parse().map_err(|_| no(format!("the seed `{seed}` is no whole number")))?;
        let mut id = CellId {
            scenario: scenario.to_owned(),
            size: Size::default(),
            briefing: Briefing::default(),
            fallback: None,
            strategy: strategy.to_owned(),
            model: model.to_owned(),
            seed,
        };
        // The marks stand at the end, in one order; a name may hold `+` and `~` itself, so only known words are marks.
        if let Some(fallback) = strip(&mut id.scenario, '+', [Fallback::GiveUp, Fallback::Itself].map(|one| (one.name(), one))) {
            id.fallback = Some(fallback);
        }
        let briefings = [Briefing::Terse, Briefing::Known, Briefing::Auto].map(|one| (one.name(), one));
        if let Some(briefing) = strip(&mut id.scenario, '+', briefings) {
            id.briefing = briefing;
        }
        if let Some(size) = strip(&mut id.scenario, '~', [Size::Medium, Size::Large].map(|one| (one.name(), one))) {
            id.size = size;
        }
        for (what, piece) in [("scenario", &id.scenario), ("strategy", &id.strategy), ("model", &id.model)] {
            if piece.is_empty() {
                return Err(no(format!("its {what} is empty")));
            }
        }
        Ok(id)
    }
}

fn strip<T: Copy, const N: usize>(name: &mut String, mark: char, known: [(&str, T); N]) -> Option<T> {
    let (rest, last) = name.rsplit_once(mark)?;
    let found = known.into_iter().find(|(word, _)| *word == last)?.1;
    *name = rest.to_owned();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain() -> CellId {
        CellId {
            scenario: "auth-lookup".into(),
            size: Size::Small,
            briefing: Briefing::Same,
            fallback: None,
            strategy: "opencode@1.18.33".into(),
            model: "reader".into(),
            seed: 0,
        }
    }

    fn check(id: CellId, expect: &str) {
        assert_eq!(id.to_string(), expect);
        assert_eq!(expect.parse::<CellId>().as_ref(), Ok(&id), "{expect}");
    }

    #[test]
    fn ids_are_written_and_read() {
        check(plain(), "auth-lookup/opencode@1.18.33/reader/0");
        check(CellId { size: Size::Large, seed: 12, ..plain() }, "auth-lookup~large/opencode@1.18.33/reader/12");
        check(CellId { briefing: Briefing::Known, ..plain() }, "auth-lookup+known/opencode@1.18.33/reader/0");
        check(CellId { fallback: Some(Fallback::GiveUp), ..plain() }, "auth-lookup+give-up/opencode@1.18.33/reader/0");
        check(
            CellId {
                size: Size::Medium,
                briefing: Briefing::Auto,
                fallback: Some(Fallback::Itself),
                strategy: "strands@2:context=all,last_messages=3".into(),
                ..plain()
            },
            "auth-lookup~medium+auto+self/strands@2:context=all,last_messages=3/reader/0",
        );
        check(CellId { model: "live:openai+gpt-6".into(), ..plain() }, "auth-lookup/opencode@1.18.33/live:openai+gpt-6/0");
    }

    #[test]
    fn a_slash_in_a_name_becomes_a_plus() {
        let id = CellId { model: "live:openai/gpt-6".into(), ..plain() };
        assert_eq!(id.to_string(), "auth-lookup/opencode@1.18.33/live:openai+gpt-6/0");
    }

    #[test]
    fn what_is_no_id_is_named() {
        let check = |text: &str, why: &str| {
            let said = text.parse::<CellId>().unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        };
        check("auth-lookup", "1 pieces");
        check("a/b/c/d/e", "5 pieces");
        check("a/b/c/x", "seed `x`");
        check("a/b/c/-1", "seed `-1`");
        check("/b/c/0", "scenario is empty");
        check("~large/b/c/0", "scenario is empty");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            scenario in "[a-z][a-z0-9-]{0,12}", size in 0..3usize, briefing in 0..4usize, fallback in 0..3usize,
            strategy in "[a-z0-9-]{1,8}@[a-z0-9.-]{1,6}(:[a-z_]{1,5}=[a-z0-9-]{1,5})?", model in "[a-z0-9:+.-]{1,9}", seed: u64,
        ) {
            let id = CellId {
                scenario,
                size: Size::ALL[size],
                briefing: [Briefing::Terse, Briefing::Same, Briefing::Known, Briefing::Auto][briefing],
                fallback: [None, Some(Fallback::GiveUp), Some(Fallback::Itself)][fallback],
                strategy,
                model,
                seed,
            };
            prop_assert_eq!(id.to_string().parse::<CellId>(), Ok(id));
        }
    }
}
