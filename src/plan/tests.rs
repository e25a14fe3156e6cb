//! A small world to plan and run, and what plans promise.

use std::collections::BTreeMap;

use super::*;
use crate::model::profile::model_profile;
use crate::model::{Agent, CallDraft, Pending, Reply, Request, Took, ready};
use crate::scenario::{Conduct, ScenarioWorld, Size, ToolBehaviour, UserTurn, Work};
use crate::setting::{Ceilings, UserTime};
use crate::strategy::{AgentSpec, Inline, RunContext, Session, ToolSpec};
use crate::transcript::{Item, Origin, Part};

/// Reads the file `a` as often as the seed says, then says so.
struct Reads(u64);

impl Agent for Reads {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        let calls = vec![CallDraft::tool("read", r#"{"path":"a"}"#)];
        let reply = if u64::from(request.exchange) < self.0 { Reply { calls, ..Reply::default() } } else { Reply::say("done") };
        ready(Ok(Reply { took: Took::Ms(10), ..reply }))
    }
}

/// The model `reads`.
pub(crate) struct ReadsModel;

impl Model for ReadsModel {
    fn name(&self) -> String {
        "reads".into()
    }
    fn start(&self, seed: u64) -> Box<dyn Agent> {
        Box::new(Reads(seed))
    }
}

/// `inline` under another name.
pub(crate) struct Named(pub &'static str);

impl Strategy for Named {
    fn id(&self) -> String {
        self.0.into()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        assert!(self.0 != "panics@1", "it was asked to");
        Inline.start(run)
    }
}

/// A scenario of one file, one tool and one question.
pub(crate) fn scenario(id: &str) -> Scenario {
    let agent = AgentSpec {
        system: Some(Part::from("You read.")),
        tools: vec![ToolSpec { name: "read".into(), schema: Part::from("{}") }],
        ..AgentSpec::default()
    };
    let tools = BTreeMap::from([("read".to_owned(), ToolBehaviour::ReadFile { ms: 5 })]);
    Scenario {
        id: id.into(),
        title: "one file".into(),
        tags: vec![],
        why: "a test".into(),
        size: Size::Small,
        sizes: vec![Size::Small],
        root: "root".into(),
        agents: BTreeMap::from([("root".to_owned(), agent)]),
        history: vec![],
        turns: vec![UserTurn { when: UserTime::Settled, items: vec![Item::user(Origin::User, "go")], work: Work::default() }],
        world: ScenarioWorld::new(BTreeMap::from([("a".to_owned(), "content of a".to_owned())]), tools),
        topics: vec![],
        intents: vec![],
        conduct: Conduct::default(),
        script: vec![],
        checks: vec![],
        ceilings: Ceilings::default(),
        window: None,
        expects_failure: None,
        digest: Digest::of(id),
    }
}

/// A scenario with the model `reads`.
pub(crate) fn subject(scenario: Scenario) -> Subject {
    let casting: Casting = Arc::new(|_| Arc::new(ReadsModel));
    let scorer = Err("a test".into());
    let subject = Subject::of_scenario(Arc::new(scenario), "reads", Evidence::Simulated, casting, scorer);
    Subject { profile: model_profile("gpt-6-sol"), ..subject }
}

/// The settings of a run of so many seeds.
pub(crate) fn head(seeds: u64) -> Head {
    let settings = Settings {
        size: Size::Small,
        seeds,
        briefing: Briefing::Same,
        fallback: None,
        as_model: Some("gpt-6-sol".into()),
        child_model: None,
        latency: "frontier".into(),
        engine: "tiktoken".into(),
        scaffold: "none".into(),
        cache: CacheSettings::default(),
    };
    Head::new("o200k_base", settings)
}

fn strategies(ids: &[&'static str]) -> Vec<Arc<dyn Strategy>> {
    ids.iter().map(|id| Arc::new(Named(id)) as Arc<dyn Strategy>).collect()
}

/// A plan of these scenarios and strategies.
pub(crate) fn plan(seeds: u64, scenarios: Vec<Scenario>, ids: &[&'static str]) -> Plan {
    Plan::new(head(seeds), scenarios.into_iter().map(subject).collect(), strategies(ids)).unwrap()
}

fn names(plan: &Plan) -> Vec<String> {
    plan.cells().map(|cell| cell.name).collect()
}

#[test]
fn cells_stand_in_one_order() {
    let plan = plan(2, vec![scenario("s"), scenario("t")], &["a@1", "b@1:x=y"]);
    let expect = [
        "s/a@1/reads/0",
        "s/a@1/reads/1",
        "s/b@1:x=y/reads/0",
        "s/b@1:x=y/reads/1",
        "t/a@1/reads/0",
        "t/a@1/reads/1",
        "t/b@1:x=y/reads/0",
        "t/b@1:x=y/reads/1",
    ];
    assert_eq!(names(&plan), expect);
    assert_eq!(plan.len(), 8);
    assert!(plan.cell(8).is_none());
}

#[test]
fn a_strategy_given_twice_counts_once_and_a_scenario_may_not_be() {
    assert_eq!(names(&plan(1, vec![scenario("s")], &["a@1", "a@1"])), ["s/a@1/reads/0"]);
    let twice = vec![subject(scenario("s")), subject(scenario("s"))];
    assert_eq!(Plan::new(head(1), twice, strategies(&["a@1"])).err(), Some(PlanError::TwoScenarios("s".into())));
}

#[test]
fn what_cannot_be_run_is_left_out_and_said() {
    let unfit = Subject { unfit: vec![("inline".into(), "a child is missing".into())], ..subject(scenario("s")) };
    let plan = Plan::new(head(1), vec![unfit], strategies(&["inline@1", "b@1"])).unwrap();
    assert_eq!(names(&plan), ["s/b@1/reads/0"]);
    assert_eq!(plan.left_out(), ["inline@1 is not run on s: a child is missing"]);
}

#[test]
fn the_brief_and_the_fallback_are_named_where_they_change_something() {
    use crate::scenario::Fallback;
    let check = |evidence, briefing, fallback, expect: &str| {
        let mut head = head(1);
        (head.settings.briefing, head.settings.fallback) = (briefing, fallback);
        let one = Subject { evidence, is_read: evidence == Evidence::Simulated, ..subject(scenario("s")) };
        assert_eq!(names(&Plan::new(head, vec![one], strategies(&["a@1"])).unwrap()), [expect]);
    };
    // A scenario's own fallback is `self` unless it says otherwise.
    check(Evidence::Simulated, Briefing::Same, Some(Fallback::Itself), "s/a@1/reads/0");
    check(Evidence::Simulated, Briefing::Known, Some(Fallback::GiveUp), "s+known+give-up/a@1/reads/0");
    check(Evidence::Held, Briefing::Known, Some(Fallback::GiveUp), "s/a@1/reads/0");
}

#[test]
fn whatever_a_figure_depends_on_is_in_the_fingerprint() {
    let of = |head: Head, subject: Subject, id: &'static str| {
        let plan = Plan::new(head, vec![subject], strategies(&[id])).unwrap();
        plan.cells().map(|cell| cell.fingerprint()).collect::<Vec<_>>()
    };
    let change = |change: fn(&mut Head, &mut Subject)| {
        let (mut head, mut subject) = (head(1), subject(scenario("s")));
        change(&mut head, &mut subject);
        of(head, subject, "a@1")
    };
    let base = change(|_, _| {});
    assert_eq!(base, change(|_, _| {}));
    let others = [
        of(head(1), subject(scenario("s")), "b@1"),
        change(|_, s| s.digest = Digest::of("other")),
        change(|_, s| s.model = "other".into()),
        change(|_, s| s.profile = None),
        change(|_, s| s.profile = model_profile("gpt-4o-mini")),
        change(|h, _| h.tokenizer = "cl100k_base".into()),
        change(|h, _| h.settings.engine = "other".into()),
        change(|h, _| h.settings.cache.rules = "off".into()),
        change(|h, _| h.settings.cache.rules = "anthropic/claude-code".into()),
        change(|h, _| h.settings.cache.keys = "thread".into()),
        change(|h, _| h.settings.cache.start = "warm".into()),
        change(|h, _| h.settings.briefing = Briefing::Terse),
        change(|h, _| h.settings.fallback = Some(crate::scenario::Fallback::GiveUp)),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(&base, other, "change {at}");
    }
    let seeds = of(head(2), subject(scenario("s")), "a@1");
    assert_eq!(seeds[0], base[0]);
    assert_ne!(seeds[0], seeds[1]);
}
