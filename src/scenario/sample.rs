//! Small scenarios built in code, for the tests of several rooms.

use std::collections::BTreeMap;

use crate::setting::{Ceilings, UserTime};
use crate::strategy::{AgentSpec, ToolSpec};
use crate::transcript::{Digest, Item, Origin, Part};

use super::*;

/// A topic of facts, oldest first, each `(statement, value, marker)`.
pub(crate) fn topic(label: &str, facts: &[(&str, &str, &str)]) -> Topic {
    let fact = |(at, &(statement, value, marker)): (usize, &(&str, &str, &str))| Fact {
        id: format!("{label}-{at}"),
        statement: statement.into(),
        value: value.into(),
        markers: vec![marker.into()],
    };
    Topic { id: label.replace(' ', "-"), label: label.into(), facts: facts.iter().enumerate().map(fact).collect(), made: None }
}

/// A deliverable.
pub(crate) fn made(label: &str, intent: IntentIndex, from: &[TopicIndex]) -> Topic {
    Topic { made: Some(Made { intent, from: from.to_vec() }), ..topic(label, &[]) }
}

/// A step that reads a file.
pub(crate) fn read(path: &str, seeks: &[TopicIndex]) -> Step {
    let args = serde_json::json!({ "path": path }).to_string();
    Step { tool: "read".into(), args, target: path.into(), seeks: seeks.to_vec(), parallel: None }
}

/// The same step in a parallel group.
pub(crate) fn grouped(step: Step, group: &str) -> Step {
    Step { parallel: Some(group.into()), ..step }
}

/// An intent; its task is `Please MARKER.`, its terse form `Continue the work.`
pub(crate) fn intent(id: &str, marker: &str, needs: &[TopicIndex], plan: Vec<Step>) -> IntentSpec {
    IntentSpec {
        id: id.into(),
        agent: "worker".into(),
        title: format!("title of {id}"),
        task: format!("Please {marker}."),
        terse: "Continue the work.".into(),
        known: vec![],
        work: Work { marker: marker.into(), needs: needs.to_vec(), plan, delegates: vec![] },
        group: None,
        background: false,
        report: ReportForm::default(),
        follow_ups: vec![],
    }
}

/// A user turn that sets work; its text is `Now MARKER.`
pub(crate) fn turn(marker: &str, needs: &[TopicIndex], delegates: &[IntentIndex]) -> UserTurn {
    UserTurn {
        when: UserTime::Settled,
        items: vec![Item::user(Origin::User, format!("Now {marker}."))],
        work: Work { marker: marker.into(), needs: needs.to_vec(), plan: vec![], delegates: delegates.to_vec() },
    }
}

/// A scenario of these, with the agents `root` and `worker`, which may read files.
pub(crate) fn scenario(topics: Vec<Topic>, intents: Vec<IntentSpec>, turns: Vec<UserTurn>) -> Scenario {
    let tools = vec![ToolSpec::of_strings("read", "Reads a file.", &[("path", "The file.", true)])];
    let agent = |system: &str| AgentSpec { system: Some(Part::from(system)), tools: tools.clone(), ..AgentSpec::default() };
    Scenario {
        id: "sample".into(),
        title: "A sample".into(),
        tags: vec![],
        why: "For tests.".into(),
        size: Size::Small,
        sizes: vec![Size::Small],
        root: "root".into(),
        agents: [("root".to_owned(), agent("You lead.")), ("worker".to_owned(), agent("You work."))].into(),
        history: vec![],
        turns,
        world: ScenarioWorld::new(BTreeMap::new(), [("read".to_owned(), ToolBehaviour::ReadFile { ms: 5 })].into()),
        topics,
        intents,
        conduct: Conduct::default(),
        script: vec![],
        checks: vec![],
        ceilings: Ceilings::default(),
        window: None,
        expects_failure: None,
        digest: Digest::of("sample"),
    }
}
