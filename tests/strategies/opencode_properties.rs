//! Properties of OpenCode on random input.

use std::collections::BTreeMap;

use ctxbench::strategy::opencode::{Action, Configuration, PROFILES, Rule, derive};
use ctxbench::strategy::{AssistantTurn, End, OpenCode, Order, ParentView, Route, RunContext, Session, Strategy as _, ThreadId, To};
use ctxbench::transcript::{Item, Origin, ToolCall};
use proptest::prelude::*;

use crate::hand::{Tree, call, put, reply, run};

const ROOT: ThreadId = ThreadId::ROOT;

fn any_rule() -> impl Strategy<Value = Rule> {
    let names = prop_oneof![
        Just("todowrite".to_owned()),
        Just("task".to_owned()),
        Just("external_directory".to_owned()),
        Just("*".to_owned()),
        "[a-z*?]{1,6}",
    ];
    let actions = proptest::sample::select(Action::ALL.to_vec());
    (names, prop_oneof![Just("*".to_owned()), "[a-z*/ ]{0,6}"], actions, any::<bool>())
        .prop_map(|(permission, pattern, action, action_first)| Rule { action_first, ..Rule::new(permission, pattern, action) })
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    proptest::collection::vec(any_rule(), 0..8)
}

/// Says the same, however it is written.
fn said(rules: &[Rule]) -> Vec<(&str, &str, Action)> {
    rules.iter().map(|rule| (&*rule.permission, &*rule.pattern, rule.action)).collect()
}

fn task(key: u32, prompt: &str, background: bool) -> ToolCall {
    let mut args = serde_json::json!({"description": "d", "prompt": prompt, "subagent_type": "explorer"});
    if background {
        args["background"] = true.into();
    }
    call(key, "task", &args.to_string())
}

fn any_args() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("[1,{\"a\":[]}]".to_owned()),
        Just("1e400".to_owned()),
        Just("\"ses_x\"".to_owned()),
        "[a-z@./~ ]{0,9}".prop_map(|text| serde_json::Value::from(text).to_string()),
        "\\PC{0,9}".prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    let keys = proptest::sample::select(vec!["description", "prompt", "subagent_type", "task_id", "command", "background", "other"]);
    let field = (keys, value).prop_map(|(key, value)| format!("\"{key}\":{value}"));
    prop_oneof![
        proptest::collection::vec(field, 0..8).prop_map(|fields| format!("{{{}}}", fields.join(","))),
        "\\PC{0,20}",
        (1..5_000_usize).prop_map(|deep| format!("{{\"prompt\":{}{}", "[".repeat(deep), "]".repeat(deep)) + "}"),
    ]
}

fn any_files() -> impl Strategy<Value = BTreeMap<String, String>> {
    proptest::collection::btree_map("[a-c./~é]{0,6}", "\\PC{0,20}|[a\n\r\0]{0,20}", 0..6)
}

/// What a child is sent in its first request.
fn first_request(session: &mut dyn Session, tree: &Tree, child: ThreadId, opening: &[Item]) -> Vec<Item> {
    let view = session.view(opening, &tree.scope(child, 0));
    assert!(view.splices.is_empty());
    opening.to_vec()
}

proptest! {
    /// No parent text ever reaches a child's request: the same call under any history opens the same child.
    #[test]
    fn nothing_of_the_parent_goes_down(
        texts in proptest::collection::vec("[a-z@ ]{0,12}", 0..6),
        prompt in "[a-c@ ./]{0,16}",
        files in any_files(),
    ) {
        let mut opened = Vec::new();
        for history in [vec![], texts.iter().map(|text| Item::user(Origin::User, format!("PARENT {text}"))).collect::<Vec<Item>>()] {
            let mut session = OpenCode { configuration: Configuration::default(), ..OpenCode::default() }.start(&run());
            let mut tree = Tree::new("lead");
            tree.files.clone_from(&files);
            let call = task(0, &prompt, false);
            let parent = ParentView { items: &history, in_flight: &[call.key] };
            let Route::Do(orders) = session.route(&call, parent, &tree.scope(ROOT, history.len())) else { panic!("it delegates") };
            let opening = put(&orders);
            let (child, _) = tree.opened(&mut *session, ROOT, &call, "explorer");
            opened.push(first_request(&mut *session, &tree, child, &opening));
        }
        prop_assert_eq!(&opened[0], &opened[1]);
        prop_assert_eq!(opened[0].len(), 1);
        prop_assert_eq!(opened[0][0].parts()[0].as_text(), &*prompt);
        prop_assert!(!opened[0].iter().any(|item| item.text().contains("PARENT")));
    }

    /// A foreground result begins with the wrapper unless it failed; cut or not, what is kept of it is whole lines of the
    /// whole, within the limits, and the notice names what went.
    #[test]
    fn results_are_wrapped_and_cut_at_lines(
        line in "[a-zé\\t]{0,60}",
        count in prop_oneof![0..40_usize, 1_980..2_020_usize, 2_020..4_000_usize],
        fails in any::<bool>(),
    ) {
        let text = vec![line; count].join("\n");
        let mut session = OpenCode::default().start(&run());
        let mut tree = Tree::new("lead");
        let call = task(0, "p", false);
        tree.route(&mut *session, ROOT, &call);
        let (child, _) = tree.opened(&mut *session, ROOT, &call, "explorer");
        session.turn(AssistantTurn { text: text.clone(), ..AssistantTurn::default() }, &[], &tree.scope(child, 0));
        let end = if fails { End::Failed(text.clone()) } else { End::Done };
        let orders = tree.ended(&mut *session, child, &call, &end, &[]);
        let (told, failed, _) = reply(&orders);
        prop_assert_eq!(failed, fails);
        prop_assert_eq!(told.starts_with("<task id=\"ses_"), !fails);
        if fails {
            let end = format!("): {text}");
            prop_assert!(told.starts_with("Subagent failed (task_id: ses_") && told.ends_with(&end));
        }
        let saved = orders.iter().find_map(|order| match order {
            Order::Write { text, .. } => Some(text.clone()),
            _ => None,
        });
        match saved {
            None if !fails => prop_assert!(told.len() <= 51_200 && told.split('\n').count() <= 2_000 && told.ends_with("</task>")),
            None => {}
            Some(whole) => {
                prop_assert!(whole.len() > 51_200 || whole.split('\n').count() > 2_000);
                let (kept, notice) = told.rsplit_once("\n\n...").expect("it says so");
                prop_assert!(kept.len() <= 51_200 && kept.split('\n').count() <= 2_000);
                let whole_lines = format!("{kept}\n");
                prop_assert!(whole.starts_with(&whole_lines));
                let (number, unit) = notice.split_once(' ').expect("a number and a unit");
                let gone: usize = number.parse().expect("it is a number");
                let (all, left) = match unit.starts_with("bytes") {
                    true => (whole.len(), kept.len()),
                    false => (whole.split('\n').count(), kept.split('\n').count()),
                };
                prop_assert_eq!(all, left + gone);
                // One line more would not have fitted.
                let next = whole[kept.len() + 1..].split('\n').next().unwrap_or_default();
                prop_assert!(kept.split('\n').count() == 2_000 || kept.len() + 1 + next.len() > 51_200);
            }
        }
    }

    /// A child's rules: the parent's denies in their order, then at most one of each default. What was derived once and is
    /// handed down again brings nothing new.
    #[test]
    fn rules_are_handed_down_once(parent in rules(), agent in rules(), primary in proptest::collection::btree_set("[a-z]{1,6}", 0..4)) {
        let primary: Vec<String> = primary.into_iter().collect();
        let profile = &PROFILES[0];
        let once = derive(&parent, &agent, &primary, profile);
        let twice = derive(&once, &agent, &primary, profile);
        prop_assert_eq!(said(&twice), said(&once));
        let inherited = parent.iter().filter(|rule| rule.action == Action::Deny || rule.permission == "external_directory");
        let inherited: Vec<Rule> = inherited.cloned().collect();
        prop_assert_eq!(said(&once[..inherited.len()]), said(&inherited));
        prop_assert!(once[inherited.len()..].iter().all(|rule| rule.pattern == "*" && rule.action == Action::Deny));
        let is_default = |name: &str| once[inherited.len()..].iter().any(|rule| rule.permission == name);
        let handed = said(&inherited);
        let is_said = |name: &'static str| handed.contains(&(name, "*", Action::Deny));
        for name in ["todowrite", "task"] {
            let named = agent.iter().any(|rule| rule.permission == name);
            let wanted = !is_said(name) && (!named || primary.iter().any(|tool| tool == name));
            prop_assert_eq!(is_default(name), wanted, "{}", name);
        }
    }

    /// Calls of one message are answered each by its own child, in whatever order they end.
    #[test]
    fn every_call_gets_its_own_childs_text(order in Just((0..5_usize).collect::<Vec<usize>>()).prop_shuffle(), background in any::<bool>()) {
        let mut session = OpenCode { background: true, ..OpenCode::default() }.start(&run());
        let mut tree = Tree::new("lead");
        let calls: Vec<ToolCall> = (0..5).map(|key| task(key, &format!("task {key}"), background)).collect();
        let mut children = vec![];
        for call in &calls {
            tree.route(&mut *session, ROOT, call);
            children.push(tree.opened(&mut *session, ROOT, call, "explorer"));
        }
        prop_assert!(children.iter().all(|(_, orders)| orders.len() == usize::from(background)));
        for at in order {
            let (child, _) = children[at];
            session.turn(AssistantTurn { text: format!("answer {at}"), ..AssistantTurn::default() }, &[], &tree.scope(child, 0));
            let orders = tree.ended(&mut *session, child, &calls[at], &End::Done, &[]);
            prop_assert_eq!(orders.len(), 1);
            let text = match &orders[0] {
                Order::Reply { call, text, .. } => {
                    prop_assert_eq!(*call, calls[at].key);
                    text.as_text().to_owned()
                }
                Order::Put { to: To::Thread(ROOT), items, .. } => items[0].text(),
                other => panic!("{other:?}"),
            };
            let expect = format!("<task_result>\nanswer {at}\n</task_result>\n</task>");
            prop_assert!(text.ends_with(&expect), "{}", text);
        }
    }

    /// Whatever is called with, there is exactly one answer or one child, and nothing panics.
    #[test]
    fn any_arguments_are_answered(args in any_args(), files in any_files(), depth in 0..3_u32, older in any::<bool>()) {
        let configuration = Configuration { subagent_depth: Some(2), ..Configuration::default() };
        let strategy = OpenCode { profile: &PROFILES[usize::from(older)], background: true, configuration };
        let run = RunContext { root: "build".into(), ..RunContext::default() };
        let mut session = strategy.start(&run);
        let mut tree = Tree::new("build");
        tree.files = files;
        let caller = (0..depth).fold(ROOT, |thread, _| tree.open(thread, "general"));
        let call = call(3, "task", &args);
        let orders = tree.route(&mut *session, caller, &call);
        prop_assert_eq!(orders.len(), 1, "{:?}", orders);
        if let Order::Put { to: To::New(new), items, .. } = &orders[0] {
            prop_assert_eq!(items.len(), 1);
            let (child, acknowledged) = tree.opened(&mut *session, caller, &call, &new.agent);
            session.view(items, &tree.scope(child, 0));
            let ended = tree.ended(&mut *session, child, &call, &End::Done, items);
            let told = acknowledged.iter().chain(&ended).filter(|order| matches!(order, Order::Reply { .. })).count();
            prop_assert_eq!(told, 1);
        }
    }

    /// Any prompt among any files: the first part is the prompt, and every part that is sent is one text or attachment.
    #[test]
    fn any_mention_is_resolved(prompt in "[a-c@./~é ,`]{0,24}|\\PC{0,24}", files in any_files()) {
        let mut session = OpenCode { configuration: Configuration::default(), ..OpenCode::default() }.session(&run());
        let mut tree = Tree::new("lead");
        tree.files = files;
        let call = task(0, &prompt, false);
        let opening = put(&tree.route(&mut session, ROOT, &call));
        prop_assert_eq!(opening[0].parts()[0].as_text(), &*prompt);
        let stored = session.prompt_of(call.key).map_or(1, |parts| parts.iter().filter(|part| part.sent().is_some()).count());
        prop_assert_eq!(stored, opening[0].parts().len());
    }
}
