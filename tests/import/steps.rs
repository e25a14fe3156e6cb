//! The steps of the fixtures, read by hand from the files.

use ctxbench::import::{Response, Session, Step};
use ctxbench::transcript::{Body, Content, Item, Origin};

use crate::expect::{fixture, imported};

fn describe(session: &Session) -> Vec<String> {
    let item = |item: &Item| {
        let body = match item.body() {
            Body::Message { .. } => "message",
            Body::Compaction { .. } => "compaction",
            Body::Context { .. } => "context",
            _ => "other",
        };
        format!("{body}/{}{}:{}", item.origin, if item.hidden { "/hidden" } else { "" }, item.text())
    };
    let response = |response: &Response| {
        let call = |call: &ctxbench::import::Call| {
            let result = call.result.as_ref().map_or("none".to_owned(), |result| {
                let text: String = result.parts.iter().map(|part| part.as_text()).collect();
                format!("{text}{}@{:?}", if result.failed { "!" } else { "" }, result.ms)
            });
            let task = call.delegation.map(|at| format!("#{at}")).unwrap_or_default();
            format!(" {}{task}={result}", call.name)
        };
        let calls: String = response.calls.iter().map(call).collect();
        format!("[{:?}] {}{calls}", response.duration_ms, response.text)
    };
    session
        .steps
        .iter()
        .map(|step| match step {
            Step::Input(items) => items.iter().map(item).collect::<Vec<_>>().join(" + "),
            Step::Notice { delegation, .. } => format!("notice#{delegation}"),
            Step::Response(one) => response(one),
        })
        .collect()
}

#[test]
fn steps_are_what_the_model_saw() {
    let check = |name: &str, at: usize, expect: &[&str]| {
        let imported = imported(&fixture(name));
        assert_eq!(describe(&imported.sessions[at]), expect, "{name}");
    };
    check(
        "inline-two-children.jsonl",
        0,
        &[
            "message/user:Check lamp and lens.",
            // The reply is complete at 5.0 s, the refusal there 0.1 s later.
            "[Some(5000)] I will send two scouts. Task#0=<tool_use_error>no agent of that kind</tool_use_error>!@Some(100)",
            "[Some(4900)]  Task#1=The lamp is lit.@Some(4200) Task#2=The lens is clean.@Some(4300)",
            "[Some(2700)] Lamp and lens are fine.",
        ],
    );
    check(
        "inline-two-children.jsonl",
        1,
        &["message/task:Check the lamp.", "[Some(1900)]  Read=lit@Some(500)", "[Some(1500)] The lamp is lit."],
    );
    check(
        "folder",
        0,
        &[
            "message/user/hidden:<system-reminder>Be brief.</system-reminder> + message/user:Count the boats.",
            "[Some(2000)]  Agent#0=Seven boats.agentId: boats-7@Some(6000)",
            "[Some(2000)] There are seven boats.",
        ],
    );
    // The last response of the child was not written: its text is the parent's copy.
    check(
        "progress-copies.jsonl",
        1,
        &["message/task:Read the log.", "[Some(2400)]  Read=calm@Some(500) Read=storm@Some(700)", "[None] Storm at ten."],
    );
    check(
        "fork",
        0,
        &[
            "message/user:When is high tide?",
            "[Some(2000)]  Read=see the table@Some(500)",
            "[Some(2000)] I fork. Agent#0=started@Some(100)",
            "[Some(1400)] Waiting.",
            "notice#0",
            "[Some(900)] High tide is at nine.",
        ],
    );
    check("fork", 1, &["message/task:Your directive: Find the tide.", "[Some(2450)]  Bash=09:00@Some(500)", "[Some(1000)] Tide at nine."]);
    check(
        "compaction.jsonl",
        0,
        &[
            "message/user:Long story.",
            "[Some(2000)] Yes.",
            "compaction/compaction:Summary: a long story. + message/user:Go on.",
            "[Some(2000)] On we go.",
        ],
    );
    // The blue branch was rewound; the two results hang from two blocks of one response, under one id.
    check(
        "rewind.jsonl",
        0,
        &[
            "message/user:Paint it.",
            "[Some(2000)] Red?",
            "message/user:No, green.",
            "[Some(2500)]  Paint=north is green@Some(500) Paint=south is green@Some(1500)",
            "[Some(2000)] Green.",
        ],
    );
    // Time goes back and then is no time: unknown, not 0.
    check("damage/times.jsonl", 0, &["message/user:Hello.", "[None] Hi.", "message/user:More.", "[None] Yes."]);
}

#[test]
fn pictures_documents_and_hidden_reasoning_keep_their_size() {
    let imported = imported(&fixture("usage-odds.jsonl"));
    let session = &imported.sessions[0];
    let mut found = Vec::new();
    for step in &session.steps {
        let parts: Vec<_> = match step {
            Step::Input(items) | Step::Notice { items, .. } => items.iter().flat_map(Item::parts).cloned().collect(),
            Step::Response(response) => response.reasoning.clone(),
        };
        found.extend(parts.into_iter().filter_map(|part| match part.content() {
            Content::Image { media, bytes, tokens } | Content::File { media, bytes, tokens } => Some((media.clone(), *bytes, *tokens)),
            Content::Opaque { kind, bytes, tokens } => Some((kind.clone(), *bytes, *tokens)),
            Content::Text(_) => None,
        }));
    }
    // 12 base64 digits, two of them padding: 7 bytes. 4 without padding: 3.
    let expect = [("image/png", 7), ("application/pdf", 3), ("redacted_thinking", 5), ("hologram", 28)];
    assert_eq!(found, expect.map(|(what, bytes)| (what.to_owned(), bytes, None)));
}

#[test]
fn a_fork_has_its_parents_history() {
    let imported = imported(&fixture("fork"));
    let items: Vec<String> = imported.sessions[1].inherited.iter().map(Item::text).collect();
    let task = r#"{"description":"look","prompt":"Find the tide.","subagent_type":"fork"}"#;
    assert_eq!(items, ["When is high tide?", r#"{"file_path":"/notes"}"#, "see the table", task, "fork started"]);
    assert!(imported.sessions[1].inherited.iter().all(|item| item.origin == Origin::Inherited));
    assert!(ctxbench::transcript::dangling(&imported.sessions[1].inherited).is_empty());
}
