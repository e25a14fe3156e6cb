//! What OpenCode's agents are shown: tools by rules, the delegating tool, the real client's sizes.

use ctxbench::strategy::opencode::{Action, AgentConfiguration, Configuration, Mode, PROFILES, Rule, SessionRecord};
use ctxbench::strategy::{OpenCode, RunContext, Strategy, ThreadId, ToolSpec, View};
use ctxbench::transcript::{Content, Part};

use crate::hand::{Tree, reply, run};
use crate::opencode::{start, task};

const ROOT: ThreadId = ThreadId::ROOT;

#[test]
fn who_is_shown_the_tool() {
    let (mut session, mut tree) = start(false);
    let child = tree.open(ROOT, "explorer");
    let names = |view: View| view.tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(names(session.view(&[], &tree.scope(ROOT, 0))), ["read", "task"]);
    let view = session.view(&[], &tree.scope(child, 0));
    assert_eq!((view.agent.as_str(), view.system.as_ref().map(|part| part.as_text())), ("explorer", Some("You explore.")));
    assert_eq!(names(view), ["read", "list"]);
}

fn schema(background: bool, run: &RunContext) -> serde_json::Value {
    let strategy = OpenCode { background, ..OpenCode::default() };
    let view = strategy.start(run).view(&[], &Tree::new("lead").scope(ROOT, 0));
    serde_json::from_str(view.tools.last().expect("it is shown").schema.as_text()).expect("it is JSON")
}

#[test]
fn the_tool_names_the_agents_and_its_arguments() {
    let shown = schema(false, &run());
    let about = shown["description"].as_str().expect("a text");
    assert!(
        about.ends_with("\n\nAvailable agent types and the tools they have access to:\n- explorer: read, list\n- writer: none"),
        "{about}"
    );
    let keys =
        |schema: &serde_json::Value| schema["parameters"]["properties"].as_object().map(|all| all.keys().cloned().collect::<Vec<_>>());
    assert_eq!(keys(&shown), Some(["command", "description", "prompt", "subagent_type", "task_id"].map(String::from).to_vec()));
    assert_eq!(shown["parameters"]["required"], serde_json::json!(["description", "prompt", "subagent_type"]));
    let flagged = schema(true, &run());
    assert_eq!(flagged["parameters"]["properties"]["background"]["type"], "boolean");
    assert_ne!(flagged["description"], shown["description"]);
}

/// The sizes that the real client was measured to send, root and child; the names of tools stay.
#[test]
fn the_scaffold_of_the_real_client() {
    let run = RunContext { scaffold: true, ..run() };
    let mut tree = Tree::new("lead");
    let child = tree.open(ROOT, "explorer");
    let check = |strategy: &OpenCode, thread: ThreadId, names: &[&str], count: usize, tokens: u32| {
        let view = strategy.start(&run).view(&[], &tree.scope(thread, 0));
        let size = |part: &Part| match part.content() {
            Content::Opaque { bytes, tokens, .. } => (*bytes, tokens.unwrap_or_default()),
            other => panic!("{other:?}"),
        };
        assert_eq!(view.system.as_ref().map(size), Some((11_706, 2_529)));
        let sent: u32 = view.tools.iter().map(|tool| size(&tool.schema).1).sum();
        assert_eq!((view.tools.len(), sent), (count, tokens));
        assert_eq!(view.tools.iter().map(|tool| tool.name.as_str()).take(names.len()).collect::<Vec<_>>(), names);
    };
    let strategy = OpenCode::default();
    check(&strategy, ROOT, &["read", "task"], 10, 5_014);
    check(&strategy, child, &["read", "list"], 9, 4_360);
    let older = OpenCode { profile: &PROFILES[1], ..OpenCode::default() };
    assert_eq!((strategy.has_scaffold(), older.has_scaffold()), (true, false));
    let view = older.start(&run).view(&[], &tree.scope(ROOT, 0));
    assert_eq!(view.system.as_ref().map(Part::as_text), Some("You lead."), "it was not measured");
}

#[test]
fn an_ordinary_tool_of_the_same_name_gives_way() {
    let mut run = run();
    let clash = ToolSpec::of_strings("task", "another", &[]);
    run.agents.get_mut("lead").expect("it is there").tools.insert(0, clash);
    let view = OpenCode::default().start(&run).view(&[], &Tree::new("lead").scope(ROOT, 0));
    assert_eq!(view.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["read", "task"]);
}

/// The tools of a child of `explorer`, which has all of these, under a root whose session and agent have these rules.
fn check_child(configuration: &Configuration, tools: &[&str], expect: &[&str]) {
    let mut run = run();
    run.agents.get_mut("explorer").expect("it is there").tools = tools.iter().map(|name| ToolSpec::of_strings(name, "", &[])).collect();
    let mut session = OpenCode { configuration: configuration.clone(), ..OpenCode::default() }.start(&run);
    let mut tree = Tree::new("lead");
    let call = task(0, serde_json::Value::Null);
    tree.route(&mut *session, ROOT, &call);
    let (child, _) = tree.opened(&mut *session, ROOT, &call, "explorer");
    let view = session.view(&[], &tree.scope(child, 0));
    assert_eq!(view.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), expect);
}

#[test]
fn a_childs_tools_are_those_that_no_rule_hides() {
    let tools = ["read", "edit", "write", "apply_patch", "bash", "todowrite", "question"];
    let all = ["read", "edit", "write", "apply_patch", "bash"];
    let plain = Configuration::of_scenarios();
    check_child(&plain, &tools, &all);
    // The root's session hands its denies down; the tools that write share one name.
    let session =
        |rules: Vec<Rule>| SessionRecord { title: String::new(), agent: "lead".into(), permission: rules, model: None, variant: None };
    let under = |rules: Vec<Rule>| Configuration { sessions: [(ROOT, session(rules))].into(), ..plain.clone() };
    check_child(&under(vec![Rule::new("edit", "*", Action::Deny)]), &tools, &["read", "bash"]);
    // Not a deny of everything; and no rule that the session does not hand down.
    check_child(&under(vec![Rule::new("edit", "*.lock", Action::Deny), Rule::new("bash", "*", Action::Ask)]), &tools, &all);
    // The session's rules stand behind the agent's.
    let own = |permission: Vec<Rule>| {
        let agents = [("explorer".to_owned(), AgentConfiguration { permission, ..AgentConfiguration::default() })].into();
        Configuration { agents, ..plain.clone() }
    };
    check_child(&own(vec![Rule::of_all("todo*", Action::Allow)]), &tools, &all);
    let todo = ["read", "edit", "write", "apply_patch", "bash", "todowrite"];
    check_child(&own(vec![Rule::of_all("todowrite", Action::Allow)]), &tools, &todo);
    check_child(&own(vec![Rule::of_all("*", Action::Deny), Rule::of_all("r?ad", Action::Allow)]), &tools, &["read"]);
    let primary = Configuration { primary_tools: vec!["bash".into()], ..plain.clone() };
    check_child(&primary, &tools, &["read", "edit", "write", "apply_patch"]);
}

/// Agents that are offered to the root by the tool's description.
fn check_offered(configuration: Configuration, run: &RunContext, expect: &[&str]) {
    let view = OpenCode { configuration, ..OpenCode::default() }.start(run).view(&[], &Tree::new("lead").scope(ROOT, 0));
    let schema: serde_json::Value = serde_json::from_str(view.tools.last().expect("it is shown").schema.as_text()).expect("it is JSON");
    let about = schema["description"].as_str().expect("a text").to_owned();
    let lines = about.lines().filter_map(|line| line.strip_prefix("- ")).collect::<Vec<_>>();
    assert_eq!(lines, expect);
}

#[test]
fn who_is_offered() {
    let agent = |mode: Mode| AgentConfiguration { mode: Some(mode), ..AgentConfiguration::default() };
    let agents = |more: Vec<(&str, AgentConfiguration)>| more.into_iter().map(|(name, agent)| (name.to_owned(), agent)).collect();
    let mut run = run();
    run.agents.retain(|name, _| name == "lead");
    let product = Configuration::default();
    // Sorted by name; primary and hidden ones are not among them.
    let configured = agents(vec![("zebra", agent(Mode::Subagent)), ("alpha", agent(Mode::All)), ("chief", agent(Mode::Primary))]);
    let none = ["alpha: none", "explore: none", "general: none", "zebra: none"];
    check_offered(Configuration { agents: configured, ..product.clone() }, &run, &none);
    // Whom the caller's agent is denied is not offered.
    let lead = AgentConfiguration { permission: vec![Rule::new("task", "gen*", Action::Deny)], ..agent(Mode::Primary) };
    check_offered(Configuration { agents: agents(vec![("lead", lead)]), ..product }, &run, &["explore: none"]);
    // An agent that somebody describes is offered with its description.
    run.agents.entry("scout".into()).or_default().description = "Looks around.".into();
    check_offered(Configuration::of_scenarios(), &run, &["scout: Looks around."]);
}

/// A built-in agent that the run does not know works with the root's prompt and tools, less those that its rules hide.
#[test]
fn a_built_in_agent_works_with_what_the_root_has() {
    let mut session = OpenCode { configuration: Configuration::default(), ..OpenCode::default() }.start(&run());
    let mut tree = Tree::new("lead");
    let mut view = |agent: &str, key: u32| {
        let call = task(key, serde_json::json!({"subagent_type": agent}));
        tree.route(&mut *session, ROOT, &call);
        let (child, _) = tree.opened(&mut *session, ROOT, &call, agent);
        let view = session.view(&[], &tree.scope(child, 0));
        let tools: Vec<String> = view.tools.iter().map(|tool| tool.name.to_string()).collect();
        (view.agent, view.system.map(|part| part.as_text().to_owned()), tools)
    };
    let leads = Some("You lead.".to_owned());
    assert_eq!(view("general", 0), ("general".to_owned(), leads.clone(), vec!["read".to_owned()]));
    assert_eq!(view("explore", 1), ("explore".to_owned(), leads.clone(), vec!["read".to_owned()]));
    assert_eq!(view("title", 2), ("title".to_owned(), leads, vec![]));
    let refused = task(3, serde_json::json!({"subagent_type": "general"}));
    let (text, ..) = reply(&Tree::new("lead").route(&mut *start(false).0, ROOT, &refused));
    assert_eq!(text, "Unknown agent type: general is not a valid agent type", "scenarios name their own");
}
