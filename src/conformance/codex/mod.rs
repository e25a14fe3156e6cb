//! The vectors of `codex-v1` and `codex-v2`: what a fork hands a child, line by line, what its model sees of it, whether it
//! writes its context anew, and what a spawn is refused with.
//!
//! The call is routed by the strategy's own session; lines are kept and replayed by the rules that runs use
//! ([`rollout`](crate::strategy::codex::rollout)).

mod given;
mod lines;
mod shown;

use crate::strategy::codex::profile::History;
use crate::strategy::codex::rollout::{Extent, Fork, Forked, Instructions, Line, Response, fork, replay};
use crate::strategy::codex::{CodexV1, CodexV2, Profile};
use crate::strategy::{AgentSpec, Registry, RunContext, Strategy, ThreadId};
use crate::transcript::{Part, ToolCall};

use super::dialect::Dialect;
use super::difference::{Difference, differences};
use super::json::Json;
use super::stage::Stage;
use given::{Call, Given, HistoryMode};
use lines::Owned;

/// The dialect.
pub const CODEX: Dialect =
    Dialect { system: "codex", head: &["commit", "commit_date", "vocabulary", "task_delivery"], answer, differences: compare };

/// The section of a world state that says which usage hint was given.
const HINT_SECTION: &str = "multi_agent_usage_hint";

const EXPECTED: [&str; 5] =
    ["expected_fork", "expected_child_items", "expected_model_visible", "expected_context_rebuild", "expected_error"];

enum Codex {
    V1(CodexV1),
    V2(CodexV2),
}

impl Codex {
    fn named(spec: &str) -> Result<Codex, String> {
        let known = Registry::builtin().parse(spec).map_err(|why| why.to_string())?;
        let [choice] = &known[..] else { return Err(format!("the strategy `{spec}` is no single profile")) };
        let unknown = || format!("the strategy `{spec}` is none of Codex");
        match choice.id() {
            "codex-v1" => Profile::of_v1(choice.profile()).map(|profile| Codex::V1(CodexV1 { profile, ..CodexV1::default() })),
            "codex-v2" => Profile::named(choice.profile()).map(|profile| Codex::V2(CodexV2 { profile, ..CodexV2::default() })),
            _ => None,
        }
        .ok_or_else(unknown)
    }

    fn strategy(&self) -> &dyn Strategy {
        match self {
            Codex::V1(strategy) => strategy,
            Codex::V2(strategy) => strategy,
        }
    }

    fn profile(&self) -> &'static Profile {
        match self {
            Codex::V1(strategy) => strategy.profile,
            Codex::V2(strategy) => strategy.profile,
        }
    }

    fn extent(&self, call: &ToolCall) -> Result<Option<Extent>, String> {
        match self {
            Codex::V1(strategy) => strategy.extent(call),
            Codex::V2(strategy) => strategy.extent(call),
        }
    }

    /// Routes a call as a run would. The error is what it is refused with.
    fn spawn(&self, args: &str) -> Result<Option<Extent>, String> {
        let run = RunContext { root: "root".into(), agents: [("root".into(), AgentSpec::default())].into(), ..RunContext::default() };
        let mut stage = Stage::new(self.strategy(), &run);
        let call = stage.draft("", "spawn_agent", args);
        stage.call(ThreadId::ROOT, &call, &[], 0);
        match stage.said(call.key) {
            Some(said) if said.failed => Err(said.text.clone()),
            _ => self.extent(&call),
        }
    }
}

fn answer(given: &str) -> Result<Json, String> {
    let given: Given = serde_json::from_str(given).map_err(|why| why.to_string())?;
    let _: Call = serde_json::from_str(given.call.get()).map_err(|why| format!("`call`: {why}"))?;
    let codex = Codex::named(&given.strategy)?;
    let read = given.parent_items.into_iter().enumerate();
    let owned =
        read.map(|(at, item)| Owned::new(item).map_err(|why| format!("`parent_items[{at}]`: {why}"))).collect::<Result<Vec<_>, _>>()?;
    let asked = match codex.spawn(given.call.get()) {
        Err(error) => return Ok(answered([Json::Null, Json::Null, Json::Null, Json::Null, error.into()])),
        Ok(asked) => asked,
    };
    let replacements: Vec<Option<Vec<Response<'_>>>> = owned.iter().map(Owned::replacement).collect();
    let lines: Vec<Line<'_>> = owned.iter().zip(&replacements).map(|(item, items)| item.line(items.as_deref())).collect();
    let config = &given.config;
    let hints: Vec<Part> = config.parent_usage_hints.iter().flatten().map(|hint| hint.as_str().into()).collect();
    let child_hint = config.child_usage_hint.as_deref().map(Part::from);
    let forked = match asked {
        None => Forked::default(),
        Some(_) if codex.profile().history == History::Verbatim => Forked::everything(&lines, child_hint.as_ref()),
        Some(extent) => {
            let rule = Fork {
                paginated: config.history_mode == HistoryMode::Paginated,
                hints: &hints,
                child_hint: child_hint.as_ref(),
                instructions: Instructions {
                    parent: config.parent_developer_instructions.as_deref(),
                    child: config.child_developer_override.as_deref(),
                    reference: config.parent_reference_context_present,
                },
                ..codex.profile().fork(extent)
            };
            fork(&lines, &rule)
        }
    };
    let replayed = replay(&lines, &forked);
    let kept = forked.kept.iter().map(|one| shown::kept(one, &lines[one.at], &owned[one.at]));
    let items: Vec<Json> = kept.chain(forked.appended.iter().map(|&one| shown::appended(one, config))).collect();
    let visible: Vec<Json> = replayed.visible.iter().map(|one| shown::visible(one, &owned, config)).collect();
    Ok(answered([shown::extent(asked), items.into(), visible.into(), (!replayed.reference).into(), Json::Null]))
}

fn answered(values: [Json; 5]) -> Json {
    Json::Object(EXPECTED.into_iter().map(str::to_owned).zip(values).collect())
}

fn compare(expected: &Json, got: &Json) -> Result<Vec<Difference>, String> {
    let mut found = Vec::new();
    for (key, value) in expected.fields().into_iter().flatten() {
        if !EXPECTED.contains(&key.as_str()) {
            return Err(format!("the expectation `{key}` is unknown"));
        }
        found.extend(differences(key, value, got.get(key), &|_| false));
    }
    Ok(found)
}
