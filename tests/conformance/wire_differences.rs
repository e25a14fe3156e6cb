//! What is changed in a recorded run is noticed, and named where it stands.

use serde_json::{Value, json};

use super::wire::{differences, items, own};

/// Changes one place of a recorded run and says which difference must be found: its place, what was expected, what came.
#[track_caller]
fn notices(file: &str, change: impl Fn(&mut Value), expect: &[(&str, &str, &str)]) {
    let mut run = own(file);
    change(&mut run);
    let found = differences(file, &run.to_string());
    assert_eq!(found.len(), expect.len(), "{}", found.join("\n"));
    for (found, (at, expected, got)) in found.iter().zip(expect) {
        let lines: Vec<&str> = found.lines().collect();
        assert!(lines[0] == *at && lines[1].contains(expected) && lines[2].contains(got), "{found}\nnot {at}: {expected} | {got}");
    }
}

#[test]
fn an_item_that_a_child_lacks_or_has_too_many() {
    // The child of the copying baseline: reasoning, text, call, result, text, user, text, task behind the first message.
    notices(
        "wire-responses-history",
        |run| drop(items(run, 3).remove(3)),
        &[
            ("request 4 (child), before items[3]", "nothing", "\"name\":\"look\""),
            ("request 4 (child), items[3].the call that it answers", "no call", "a call"),
        ],
    );
    notices(
        "wire-responses-history",
        |run| {
            items(run, 3)
                .insert(2, json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "mind the gap"}]}))
        },
        &[("request 4 (child), items[2]", "mind the gap", "nothing")],
    );
}

#[test]
fn an_item_in_another_place() {
    notices(
        "wire-responses-history",
        |run| items(run, 3).swap(1, 2),
        &[
            ("request 4 (child), items[1]", "I look at the list.", "nothing"),
            ("request 4 (child), before items[3]", "nothing", "I look at the list."),
        ],
    );
}

#[test]
fn another_role_phase_name_or_text() {
    notices(
        "wire-responses-history",
        |run| items(run, 3)[0]["role"] = "developer".into(),
        &[("request 4 (child), items[0].role", "developer", "user")],
    );
    notices(
        "wire-responses-history",
        |run| items(run, 3)[5]["phase"] = "final_answer".into(),
        &[("request 4 (child), items[5].phase", "final_answer", "(none)")],
    );
    notices(
        "wire-responses-history",
        |run| items(run, 3)[3]["name"] = "peek".into(),
        &[("request 4 (child), items[3].name", "peek", "look"), ("request 4 (child), items[4].the call that it answers", "peek", "look")],
    );
    notices(
        "wire-responses-history",
        |run| items(run, 3)[3]["arguments"] = "{\"at\": \"lists\"}".into(),
        &[
            ("request 4 (child), items[3].arguments", "lists", "list"),
            ("request 4 (child), items[4].the call that it answers", "lists", "list"),
        ],
    );
    notices(
        "wire-responses-history",
        |run| items(run, 3)[4]["output"]["sha"] = "c4a126".into(),
        &[("request 4 (child), items[4].output", "c4a126", "row one")],
    );
    notices(
        "wire-chat",
        |run| items(run, 3)[1]["content"] = "Read it.".into(),
        &[("request 4 (child), items[1].content", "Read it.", "Read letters/third.txt")],
    );
    notices(
        "wire-chat-names",
        |run| drop(items(run, 4)[2].as_object_mut().map(|item| item.remove("name"))),
        &[("request 5 (root), items[2].name", "(none)", "harbour-master")],
    );
    // Arguments are compared as JSON, so blanks and order are none of the child's business.
    notices("wire-responses-history", |run| items(run, 3)[3]["arguments"] = "{ \"at\" : \"list\" }".into(), &[]);
}

#[test]
fn what_the_root_gained() {
    notices(
        "wire-chat",
        |run| items(run, 6)[7]["content"] = "<task id=\"$SES\" state=\"completed\">\nIt is dated.\n</task>".into(),
        &[("request 8 (root), items[7].content", "It is dated", "task_result")],
    );
    // The notice stands where it was gained, not elsewhere; what it was put before came in place of it.
    notices(
        "wire-anthropic-fork",
        |run| {
            let gained = items(run, 5).remove(6);
            items(run, 5).insert(0, gained);
        },
        &[
            ("request 7 (root), items[0], its parts", "\"holds\"", "\"scaffold\":1786"),
            ("request 7 (root), at the end", "nothing", "<task-notification>"),
        ],
    );
    notices("wire-anthropic-fork", |run| drop(items(run, 5).pop()), &[("request 7 (root), at the end", "nothing", "<task-notification>")]);
}

#[test]
fn prose_is_what_it_was_and_holds_what_it_held() {
    // The child's skills are the parent's: another digest would be another text.
    notices(
        "wire-anthropic",
        |run| items(run, 2)[0]["content"][0]["text"]["sha"] = "6f".into(),
        &[("request 3 (child), items[0].content[0]", "6f: another part than where 6b stood", "skills")],
    );
    // And the same digest is the same text.
    notices(
        "wire-anthropic",
        |run| items(run, 2)[0]["content"][1]["text"]["sha"] = "6a".into(),
        &[("request 3 (child), items[0].content[1]", "the same part as where 6a stood before", "date")],
    );
    notices(
        "wire-anthropic-fork",
        |run| items(run, 2)[4]["content"][1]["text"]["holds"] = json!(["Try one key."]),
        &[("request 3 (child), items[4].content[1]", "Try one key.", "fork-boilerplate")],
    );
    notices(
        "wire-anthropic",
        |run| items(run, 2)[0]["content"][0]["text"]["is"] = "base".into(),
        &[("request 3 (child), items[0].content[0]", "base", "skills")],
    );
    notices("wire-anthropic", |run| items(run, 2)[0]["content"][0]["text"]["is"] = "skills".into(), &[]);
    // The child's prompt is not its parent's.
    notices(
        "wire-anthropic",
        |run| run["requests"][2]["system"] = run["requests"][0]["system"].clone(),
        &[("request 3 (child), system", "the same part as where 5a 5b 5c stood before", "system")],
    );
}

#[test]
fn results_of_several_blocks() {
    notices(
        "wire-anthropic",
        |run| drop(items(run, 4)[4]["content"][0]["text"].as_array_mut().map(Vec::pop)),
        &[("request 6 (root), items[4].content[0], its parts", "Key B opens it", "agentId")],
    );
    notices(
        "wire-anthropic",
        |run| {
            let text = items(run, 4)[4]["content"][0]["text"][1]["text"].as_str().map(|text| text.replace("tool_uses: 1", "tool_uses: 2"));
            items(run, 4)[4]["content"][0]["text"][1]["text"] = text.into();
        },
        &[("request 6 (root), items[4].content[0].text[1]", "tool_uses: 2", "tool_uses: 1")],
    );
}

#[test]
fn numbers_of_tools() {
    notices("wire-chat", |run| run["requests"][3]["tools"]["count"] = 10.into(), &[("request 4 (child), tools.count", "10", "9")]);
    notices("wire-chat", |run| run["requests"][6]["tools"]["count"] = 9.into(), &[("request 8 (root), tools.count", "9", "10")]);
    // A library shows the application's tools. Some may never have been called: then the root shows as many more in every
    // request, and its children may have such, too.
    let more = |run: &mut Value, of_child: u64| {
        for request in run["requests"].as_array_mut().expect("a list") {
            let more = if request["thread"] == "root" { 2 } else { of_child };
            request["tools"]["count"] = (1 + more).into();
        }
    };
    notices("wire-chat-names", |run| more(run, 0), &[]);
    notices("wire-chat-names", |run| more(run, 7), &[]);
    notices("wire-chat-names", |run| run["requests"][4]["tools"]["count"] = 2.into(), &[("request 5 (root), tools.count", "2", "1")]);
    notices("wire-chat-names", |run| run["requests"][1]["tools"]["count"] = 3.into(), &[("request 2 (child), tools.count", "3", "1")]);
    notices("wire-chat-names", |run| run["requests"][1]["tools"]["count"] = 0.into(), &[("request 2 (child), tools.count", "0", "1")]);
}

#[test]
fn a_request_that_is_not_sent_and_one_that_is() {
    // Without its result the second child's call is open, so the root cannot have gone on.
    notices(
        "wire-chat-names",
        |run| {
            let first = run["requests"][1].clone();
            let mut second = first.clone();
            second["n"] = 10.into();
            second["items"][1]["content"] = "Nobody asked for this.".into();
            run["requests"].as_array_mut().expect("a list").push(second);
        },
        &[("request 10 (child)", "Nobody asked for this.", "nothing")],
    );
    notices(
        "wire-responses-history",
        |run| {
            run["requests"].as_array_mut().expect("a list").remove(3);
        },
        &[("a further child", "nothing", "Count the chairs in the hall.")],
    );
}
