//! `inline`: the parent has every agent's tools, and no tool that delegates.

use ctxbench::strategy::{Act, AgentSpec, Inline, Intent, ParentView, Route, RunContext, Strategy, ThreadId, ToolSpec};

use crate::hand::{Tree, call};

fn tool(name: &str, schema: &str) -> ToolSpec {
    ToolSpec { name: name.into(), schema: schema.into() }
}

fn check(agents: &[(&str, &[(&str, &str)])], expect: &[(&str, &str)]) {
    let mut run = RunContext { root: "lead".into(), ..RunContext::default() };
    for (name, tools) in agents {
        let tools = tools.iter().map(|(name, schema)| tool(name, schema)).collect();
        run.agents
            .insert((*name).into(), AgentSpec { system: Some(format!("I am {name}").as_str().into()), tools, ..AgentSpec::default() });
    }
    let tree = Tree::new("lead");
    let view = Inline.start(&run).view(&[], &tree.scope(ThreadId::ROOT, 0));
    let shown: Vec<(&str, &str)> = view.tools.iter().map(|tool| (tool.name.as_str(), tool.schema.as_text())).collect();
    assert_eq!(shown, expect);
    assert_eq!((view.agent.as_str(), view.system.as_ref().map(|part| part.as_text())), ("lead", Some("I am lead")));
}

#[test]
fn the_parents_tools_then_those_of_the_other_agents() {
    check(&[("lead", &[("read", "1"), ("edit", "2")])], &[("read", "1"), ("edit", "2")]);
    // The parent's own schema wins; agents follow by name, each tool once.
    check(
        &[("zoe", &[("grep", "z"), ("read", "z")]), ("lead", &[("read", "1")]), ("ann", &[("list", "a"), ("grep", "a")])],
        &[("read", "1"), ("list", "a"), ("grep", "a")],
    );
}

#[test]
fn nothing_can_be_delegated() {
    let intent = Intent { id: "i".into(), agent: "ann".into(), title: "t".into(), task: "do".into(), background: false };
    let mut session = Inline.start(&RunContext::default());
    assert_eq!(session.phrase(&Act::Delegate(&intent)), None);
    let tree = Tree::new("lead");
    let route = session.route(&call(1, "task", "{}"), ParentView { items: &[], in_flight: &[] }, &tree.scope(ThreadId::ROOT, 0));
    assert!(matches!(route, Route::Tool));
    assert_eq!((Inline.id().as_str(), Inline.hands_history_down(), Inline.may_dangle()), ("inline@1", false, false));
}
