//! DeerFlow's snapshot: expected blocks are those of `from_state` at f649aa8 (run), and properties on odd transcripts.

use ctxbench::strategy::deerflow::{Profile, neutralise};
use ctxbench::transcript::{Body, CallKey, Content, Item, Origin, Part, Role, ToolCall};

use crate::hand::{call, said};
use crate::transcripts::odd_transcript;

fn blocks(profile: Profile, items: &[Item]) -> Vec<String> {
    let snapshot = profile.snapshot(items);
    let texts = |item: Item| item.parts().iter().map(|part| part.as_text().to_owned()).collect();
    snapshot.map(texts).unwrap_or_default()
}

fn check(items: &[Item], expect: &[&str]) {
    assert_eq!(blocks(Profile::V2, items), expect);
}

fn result(key: u32, text: &str) -> Item {
    Item::result(CallKey(key), Origin::ToolResult, text, false)
}

fn summary(text: &str) -> Item {
    Item::new(Body::Compaction { parts: vec![text.into()] }, Origin::Compaction)
}

fn named(key: u32, id: &str, name: &str, args: &str) -> Item {
    Item::call(ToolCall { id: id.into(), ..call(key, name, args) })
}

#[test]
fn summary_history_and_a_completed_call() {
    let items = [
        Item::message(Role::System, Origin::System, "PARENT SYSTEM ONLY"),
        summary("Earlier constraint: keep the public API stable."),
        Item::user(Origin::User, "Use SQLite; do not deploy."),
        said("The first approach failed."),
        named(0, "c1", "bash", r#"{"command": "pytest"}"#),
        result(0, "2 passed"),
        named(1, "dispatch", "task", r#"{"prompt":"Current delegated task"}"#),
    ];
    check(
        &items,
        &[
            "Historical conversation summary:\nEarlier constraint: keep the public API stable.",
            "\nHistorical user:\n",
            "Use SQLite; do not deploy.",
            "\nHistorical assistant:\n",
            "The first approach failed.",
            r#"Historical tool calls (not executed by you): [{"name": "bash", "args": {"command": "pytest"}, "id": "c1", "type": "tool_call"}]"#,
            "\nHistorical tool result (bash, call c1):\n",
            "2 passed",
        ],
    );
}

#[test]
fn nothing_left_is_no_snapshot() {
    let none = |items: &[Item]| assert_eq!(Profile::V2.snapshot(items), None);
    none(&[]);
    none(&[Item::message(Role::System, Origin::System, "system only"), summary(" \n ")]);
    none(&[Item::message(Role::Developer, Origin::System, "d"), Item::user(Origin::User, "")]);
    none(&[Item::user(Origin::User, "h").hide(), summary("s").hide()]);
    none(&[named(0, "c", "task", "{}")]);
    none(&[Item::new(Body::Reasoning { parts: vec!["hmm".into()] }, Origin::Own)]);
    none(&[Item::new(Body::Context { kind: "turn".into(), parts: vec!["settings".into()] }, Origin::Own)]);
}

/// What profile 1 leaks and profile 2 does not.
#[test]
fn versions_differ() {
    let items = [
        Item::user(Origin::User, "seen"),
        Item::user(Origin::User, "hidden").hide(),
        said("reading"),
        named(0, "c1", "read", "{}"),
        named(1, "c2", "task", "{}"),
    ];
    check(&items, &["\nHistorical user:\n", "seen", "\nHistorical assistant:\n", "reading"]);
    let call = r#"Historical tool calls (not executed by you): [{"name": "read", "args": {}, "id": "c1", "type": "tool_call"}]"#;
    let leaked = ["\nHistorical user:\n", "seen", "\nHistorical user:\n", "hidden", "\nHistorical assistant:\n", "reading", call];
    assert_eq!(blocks(Profile::V1, &items), leaked);
    // An older snapshot in the history is nested by the first and not by the second.
    let older = Profile::V2.snapshot(&[Item::user(Origin::User, "old")]).expect("something is left");
    let items = [older, Item::user(Origin::User, "new")];
    check(&items, &["\nHistorical user:\n", "new"]);
    assert!(blocks(Profile::V1, &items).contains(&"old".to_owned()));
}

#[test]
fn pairs_are_of_a_message_and_an_id() {
    let listed = |items: &[Item]| -> Vec<usize> {
        let all = blocks(Profile::V2, items);
        all.iter().filter(|text| text.starts_with("Historical tool calls")).map(|text| text.matches("\"name\"").count()).collect::<Vec<_>>()
    };
    // The same id again in a later message, unanswered there: only the first is complete.
    let again = [named(0, "c", "read", "{}"), result(0, "R"), said("again"), named(1, "c", "read", "{}")];
    assert_eq!(listed(&again), [1]);
    assert_eq!(blocks(Profile::V2, &again).last().map(String::as_str), Some("again"));
    // An answer that is hidden completes nothing.
    assert_eq!(listed(&[named(0, "c", "read", "{}"), result(0, "R").hide(), said("x")]), [0_usize; 0]);
    // A hidden call takes the answer with it, but the answer's text still shows, and a second answer's too.
    let hidden = [named(0, "c", "read", "{}").hide(), result(0, "R"), result(0, "S")];
    assert_eq!(listed(&hidden), [0_usize; 0]);
    check(&hidden, &["\nHistorical tool result (read, call c):\n", "R", "\nHistorical tool result (read, call c):\n", "S"]);
    // Arguments that are no object make a call that is not listed; its answer is an orphan.
    assert_eq!(listed(&[named(0, "c", "read", "{broken"), result(0, "R")]), [0_usize; 0]);
    assert_eq!(listed(&[named(0, "c", "read", "[1]"), result(0, "R")]), [0_usize; 0]);
    // Two calls of one message in one line.
    assert_eq!(listed(&[named(0, "a", "read", "{}"), named(1, "b", "read", "{}"), result(1, "R"), result(0, "S")]), [2]);
}

#[test]
fn calls_are_spelled_as_python_spells_json() {
    let check = |args: &str, expect: &str| {
        let all = blocks(Profile::V2, &[named(0, "c", "f", args), result(0, "")]);
        let line =
            format!(r#"Historical tool calls (not executed by you): [{{"name": "f", "args": {expect}, "id": "c", "type": "tool_call"}}]"#);
        assert_eq!(all[1], line);
    };
    check("", "{}");
    check(
        r#"{"b":1,"a":[1,2.50,true,null,{}],"é":"ü\u00e9\n\"\u0001"}"#,
        r#"{"b": 1, "a": [1, 2.5, true, null, {}], "é": "üé\n\"\u0001"}"#,
    );
    check(r#"{"a":1,"b":2,"a":3}"#, r#"{"a": 3, "b": 2}"#);
    check(r#"{"html":"<b>x</b><memory>"}"#, r#"{"html": "<b>x</b>&lt;memory&gt;"}"#);
}

#[test]
fn deep_arguments_are_no_reason_to_panic() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    check(&[named(0, "c", "f", &deep), result(0, "R")], &["\nHistorical tool result (f, call c):\n", "R"]);
}

#[test]
fn content_of_many_parts() {
    let image = Part::new(Content::Image { media: "image/png".into(), bytes: 10, tokens: None });
    let opaque = Part::new(Content::Opaque { kind: "encrypted".into(), bytes: 8, tokens: None });
    let parts = vec![Part::from("look"), image.clone(), opaque.clone(), Part::from("")];
    let message = Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::User);
    let snapshot = Profile::V2.snapshot(&[message]).expect("something is left");
    assert_eq!(snapshot.parts(), ["\nHistorical user:\n".into(), "look".into(), image, "".into()]);
    let only = Item::new(Body::Message { role: Role::User, phase: None, parts: vec![opaque] }, Origin::User);
    assert_eq!(Profile::V2.snapshot(&[only]), None);
}

#[test]
fn tags_of_the_framework_are_escaped() {
    let check = |text: &str, expect: &str| assert_eq!(neutralise(text), expect);
    check("<system-reminder x='1'>do</system-reminder>", "&lt;system-reminder x='1'&gt;do&lt;/system-reminder&gt;");
    check("a <memory", "a &lt;memory");
    check("< / PROMPT >x", "&lt; / PROMPT &gt;x");
    check("<prompts> <b> </div> <systemic> a < b", "<prompts> <b> </div> <systemic> a < b");
    check("<think <b>", "&lt;think &lt;b&gt;");
    check("--- BEGIN USER INPUT ---\nx\n--- END USER INPUT ---", "[BEGIN USER INPUT]\nx\n[END USER INPUT]");
    check("  \n", "  \n");
    // All of them, whatever their place in the list.
    let names = "system-reminder system_reminder memory current_date think analysis role soul self_update thinking_style clarification_system \
                 critical_reminders response_style citations uploaded_files current_uploads subagent_system skill_system skill_index \
                 available_skills disabled_skills memory_tool_system todo_list_system durable_context_data slash_skill_activation \
                 mcp_routing_hints available-deferred-tools goal_continuation background_task_event file_editing_workflow guidelines \
                 output_format working_directory tool_restrictions system instruction important override ignore prompt";
    assert_eq!(names.split_whitespace().count(), 40);
    for name in names.split_whitespace() {
        check(&format!("<{name}>"), &format!("&lt;{name}&gt;"));
    }
    // In every text of a snapshot, labels too.
    let items = [
        Item::user(Origin::User, "<system>u</system>"),
        named(0, "<role>", "<soul>", r#"{"x":"<ignore>"}"#),
        result(0, "<think>r"),
        summary("<prompt>s"),
    ];
    let all = blocks(Profile::V2, &items);
    assert!(all.len() == 7 && all.iter().all(|text| !text.contains('<')), "{all:?}");
}

// ---- properties on odd transcripts -------------------------------------------------------------------------------------

/// A history in which every item is marked: texts by a name of their own, calls by their ids.
fn marked(seed: u64) -> Vec<Item> {
    let mark = |(at, item): (usize, Item)| {
        let text = format!("M{at}M <memory>{at}</memory> {}", item.text());
        let body = match item.body() {
            Body::Message { role, phase, .. } => Body::Message { role: *role, phase: *phase, parts: vec![text.into()] },
            Body::Reasoning { .. } => Body::Reasoning { parts: vec![text.into()] },
            Body::Result { key, failed, .. } => Body::Result { key: *key, parts: vec![text.into()], failed: *failed },
            Body::Mail { from, to, .. } => Body::Mail { from: from.clone(), to: to.clone(), parts: vec![text.into()] },
            Body::Compaction { .. } => Body::Compaction { parts: vec![text.into()] },
            Body::Context { kind, .. } => Body::Context { kind: kind.clone(), parts: vec![text.into()] },
            Body::Call(call) => Body::Call(ToolCall { args: serde_json::json!({ "mark": text }).to_string().into(), ..call.clone() }),
        };
        let mut made = Item::new(body, item.origin);
        (made.hidden, made.means) = (item.hidden, item.means);
        made
    };
    odd_transcript(seed).items.into_iter().enumerate().map(mark).collect()
}

/// What the snapshot of a marked history promises; the error names what is broken.
fn promises(items: &[Item], snapshot: &Item) -> Result<(), String> {
    if !snapshot.hidden || snapshot.origin != Origin::Inherited || snapshot.role() != Some(Role::User) || !snapshot.means.is_empty() {
        return Err("it is one hidden, inherited user message".into());
    }
    let text = snapshot.text();
    let mut shown = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let stands = text.find(&format!("M{at}M"));
        let never = item.hidden
            || matches!(item.role(), Some(Role::System | Role::Developer))
            || matches!(item.body(), Body::Reasoning { .. } | Body::Context { .. });
        let answers = |call: &ToolCall| items.iter().any(|item| item.answers() == Some(call.key) && !item.hidden);
        let unanswered = item.as_call().is_some_and(|call| {
            !answers(call) && items.iter().filter(|other| other.as_call().is_some_and(|one| one.id == call.id)).count() == 1
        });
        let always = !never && matches!(item.body(), Body::Message { .. } | Body::Mail { .. } | Body::Result { .. });
        match stands {
            Some(_) if never => return Err(format!("item {at} appears: {item:?}")),
            Some(_) if unanswered => return Err(format!("call {at} has no answer and appears")),
            None if always => return Err(format!("item {at} does not appear: {item:?}")),
            Some(place) if always => shown.push(place),
            _ => {}
        }
    }
    if !shown.is_sorted() {
        return Err("the order of messages".into());
    }
    if text.contains("<memory") || text.contains("</memory") {
        return Err("a tag is left".into());
    }
    Ok(())
}

#[test]
fn snapshots_of_odd_transcripts() {
    let mut made = 0;
    for seed in 0..600 {
        let items = marked(seed);
        let before = format!("{items:?}");
        let Some(snapshot) = Profile::V2.snapshot(&items) else { continue };
        made += 1;
        promises(&items, &snapshot).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert_eq!(Profile::V2.snapshot(&items), Some(snapshot.clone()), "seed {seed}: twice the same");
        assert_eq!(format!("{items:?}"), before, "seed {seed}: the parent's history is untouched");
        // A snapshot in a history is never part of the next one.
        let mut nested = items.clone();
        nested.insert(0, snapshot.clone());
        assert_eq!(Profile::V2.snapshot(&nested), Some(snapshot.clone()), "seed {seed}: nested");
        // What comes later in the parent does not reach it: it shares no text with it.
        let held = snapshot.clone();
        drop(items);
        assert_eq!(held, snapshot);
        assert!(nested[1..].iter().all(|item| !item.shares_body(&held)), "seed {seed}: shared");
    }
    assert!(made > 500, "{made}");
}

/// Each promise notices its breach.
#[test]
fn broken_snapshots_are_noticed() {
    let noticed = |what: &str, broken: &dyn Fn(&[Item]) -> Option<Item>| {
        let found = (0..200).any(|seed| {
            let items = marked(seed);
            broken(&items).is_some_and(|snapshot| promises(&items, &snapshot).is_err())
        });
        assert!(found, "{what}");
    };
    let rebuilt = |snapshot: Item, change: &dyn Fn(&mut Vec<Part>)| {
        let mut parts = snapshot.parts().to_vec();
        change(&mut parts);
        Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::Inherited).hide()
    };
    // The first version leaks hidden messages and unfinished calls.
    noticed("hidden", &|items| Profile::V1.snapshot(items));
    let visible = |items: &[Item]| items.iter().filter(|item| !item.hidden).cloned().collect::<Vec<_>>();
    let leaks = (0..200).any(|seed| {
        let items = visible(&marked(seed));
        // Marks are of places in the whole history, so this one is marked anew.
        let items: Vec<Item> = items
            .into_iter()
            .enumerate()
            .map(|(at, item)| match item.body() {
                Body::Call(call) => {
                    Item::call(ToolCall { args: format!("{{\"m\":\"M{at}M\"}}").into(), id: format!("u{at}"), ..call.clone() })
                }
                _ => Item::user(Origin::User, format!("M{at}M")),
            })
            .collect();
        Profile::V1.snapshot(&items).is_some_and(|snapshot| promises(&items, &snapshot).is_err_and(|why| why.contains("no answer")))
    });
    assert!(leaks, "unfinished calls");
    noticed("tags", &|items| Profile::V2.snapshot(items).map(|one| rebuilt(one, &|parts| parts.push("<memory>".into()))));
    noticed("order", &|items| Profile::V2.snapshot(items).map(|one| rebuilt(one, &|parts| parts.reverse())));
    noticed("completeness", &|items| Profile::V2.snapshot(items).map(|one| rebuilt(one, &|parts| parts.truncate(1))));
    noticed("visible", &|items| {
        Profile::V2.snapshot(items).map(|mut one| {
            one.hidden = false;
            one
        })
    });
}
