//! What was seen, in the words of vectors.

use crate::conformance::json::Json;
use crate::strategy::opencode::{ABORTED, Model, Rule, SessionRecord, UserPart, handle};
use crate::transcript::{Item, Means, Origin, Part, Role};

use super::given::PARENT;
use super::parts;
use super::play::{Child, Outcome, Scene, WORKTREE};

/// The product's answer to a vector. Ids, paths and names of this run stand as the vector's placeholders.
pub fn answer(scene: Scene) -> Json {
    let request = scene.outcomes.iter().find_map(|outcome| outcome.child.as_ref()).map(|child| request(child, &scene));
    let results: Vec<Json> = scene.outcomes.iter().map(|outcome| result(outcome, &scene)).collect();
    let results = match <[Json; 1]>::try_from(results) {
        Ok([one]) => one,
        Err(several) => Json::List(several),
    };
    let mut masks: Vec<(String, String)> = scene.names.clone();
    masks.extend(scene.outcomes.iter().flat_map(|outcome| outcome.written.clone()).map(|path| (path, "$TOOL".to_owned())));
    masks.push((WORKTREE.to_owned(), "$WORKTREE".to_owned()));
    masked(Json::object([("expected_child_request", request.into()), ("expected_parent_result", results)]), &masks)
}

fn request(child: &Child, scene: &Scene) -> Json {
    let first = child.played.first.as_ref().unwrap_or(&child.played.history);
    let inherited = first.iter().filter(|item| item.origin == Origin::Inherited || item.origin == Origin::User).count();
    let mut sent = child.sent.iter();
    let parts: Vec<Json> = child.prompt.iter().map(|part| user_part(part, &mut sent)).collect();
    let record = child.record.as_ref();
    // What equals the caller's is the caller's.
    let own = record.and_then(|record| record.model.as_ref()).filter(|model| Some(*model) != scene.model.as_ref());
    let permission = record.map(|record| record.permission.iter().map(rule).collect::<Vec<Json>>());
    let text = |of: fn(&SessionRecord) -> &str| record.map(of);
    let mut fields = Json::object([
        ("history_from_parent", inherited.into()),
        ("user_parts", parts.into()),
        ("messages", messages(first)),
        ("model", own.map_or("inherit".into(), model)),
        ("variant", record.and_then(|record| record.variant.clone()).into()),
        ("session_permission", permission.into()),
        ("title", text(|record| &record.title).into()),
        ("parent_link", child.parent.clone()),
        ("new_session", child.is_new.into()),
        ("agent_after", text(|record| &record.agent).into()),
        ("children", scene.children.into()),
    ]);
    if let (Json::Object(fields), Some(compacted)) = (&mut fields, &child.played.compacted) {
        fields.insert("after_compaction_messages".into(), messages(compacted));
    }
    fields
}

/// A part as it is stored; what is sent of it is what the child was really sent.
fn user_part<'a>(part: &UserPart, sent: &mut impl Iterator<Item = &'a Part>) -> Json {
    let on_wire = part.sent().and_then(|_| sent.next());
    match part {
        UserPart::Text { synthetic, .. } => {
            let text = on_wire.map_or(Json::Null, |text| text.as_text().into());
            match synthetic {
                true => Json::object([("type", "text".into()), ("synthetic", true.into()), ("text", text)]),
                false => Json::object([("type", "text".into()), ("text", text)]),
            }
        }
        UserPart::File { mime, filename, .. } => Json::object([
            ("type", "file".into()),
            ("mime", mime.as_str().into()),
            ("filename", filename.as_str().into()),
            ("sent_to_model", on_wire.is_some().into()),
        ]),
        UserPart::Agent { name } => {
            Json::object([("type", "agent".into()), ("name", name.as_str().into()), ("sent_to_model", false.into())])
        }
    }
}

fn messages(items: &[Item]) -> Json {
    let message = |item: &Item| {
        let role = item.role()?;
        Some(Json::object([("role", role.name().into()), ("text", item.text().into())]))
    };
    Json::List(items.iter().filter_map(message).collect())
}

fn rule(rule: &Rule) -> Json {
    Json::object([
        ("permission", rule.permission.as_str().into()),
        ("pattern", rule.pattern.as_str().into()),
        ("action", rule.action.name().into()),
    ])
}

fn model(model: &Model) -> Json {
    Json::object([("providerID", model.provider.as_str().into()), ("modelID", model.id.as_str().into())])
}

fn result(outcome: &Outcome, scene: &Scene) -> Json {
    let mut fields = match &outcome.said {
        Some(said) if said.failed => Json::object([("status", "error".into()), ("error", said.text.as_str().into())]),
        Some(said) => Json::object([("status", "completed".into()), ("output", said.text.as_str().into())]),
        None => Json::object([("status", "running".into())]),
    };
    let Json::Object(fields) = &mut fields else { return Json::Null };
    let cut = outcome.said.as_ref().filter(|_| !outcome.written.is_empty());
    if let Some(said) = cut {
        fields.insert("output_line_count_kept".into(), parts::lines_kept(&said.text).into());
    }
    if let Some(child) = &outcome.child {
        fields.insert("metadata".into(), metadata(outcome, child, scene));
    }
    let (parent, is_aborted) = outcome.aborted;
    let child_error = if is_aborted { Some(ABORTED) } else { outcome.child_error.as_deref() };
    let later = outcome.child.as_ref().and_then(|child| scene.injected.iter().find(|item| tells_of(item, child)));
    fields.insert("injected".into(), later.map(injected).into());
    fields.insert("parent_message_error".into(), parent.then_some(ABORTED).into());
    fields.insert("child_message_error".into(), child_error.into());
    Json::Object(std::mem::take(fields))
}

/// What the product keeps beside a call that has a child.
fn metadata(outcome: &Outcome, child: &Child, scene: &Scene) -> Json {
    let id = scene.names.iter().find(|(id, _)| *id == handle(child.thread).0);
    let mut fields = Json::object([("parentSessionId", PARENT.into()), ("sessionId", id.map(|(id, _)| id.as_str()).into())]);
    let Json::Object(fields) = &mut fields else { return Json::Null };
    if let Some(one) = child.record.as_ref().and_then(|record| record.model.as_ref()) {
        fields.insert("model".into(), model(one));
    }
    if outcome.background {
        fields.insert("background".into(), true.into());
    }
    if outcome.said.as_ref().is_some_and(|said| !said.failed) {
        fields.insert("truncated".into(), (!outcome.written.is_empty()).into());
    }
    if let Some(path) = outcome.written.first() {
        fields.insert("outputPath".into(), path.as_str().into());
    }
    Json::Object(std::mem::take(fields))
}

/// Whether a notice is a child's.
fn tells_of(item: &Item, child: &Child) -> bool {
    let id = handle(child.thread);
    item.means.iter().any(|means| matches!(means, Means::Returned(Some(of)) | Means::Failed(Some(of)) if *of == id))
}

fn injected(item: &Item) -> Json {
    let role = item.role().map_or("none", Role::name);
    Json::object([("role", role.into()), ("synthetic", true.into()), ("text", item.text().into())])
}

/// The same with other texts: ids, paths and names.
fn masked(json: Json, masks: &[(String, String)]) -> Json {
    match json {
        Json::Text(text) => Json::Text(masks.iter().fold(text, |text, (made, name)| text.replace(made, name))),
        Json::List(items) => Json::List(items.into_iter().map(|item| masked(item, masks)).collect()),
        Json::Object(fields) => Json::Object(fields.into_iter().map(|(key, value)| (key, masked(value, masks))).collect()),
        other => other,
    }
}
