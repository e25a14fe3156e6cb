//! The strategy's decisions as vectors write them: by position in the parent's file.

use crate::conformance::json::Json;
use crate::strategy::codex::rollout::{Appended, Content, Extent, Kept, KeptPart, Line, Remains, Source, Visible};

use super::given::{Config, Piece};
use super::lines::Owned;

/// How much is handed down.
pub fn extent(extent: Option<Extent>) -> Json {
    let (kind, turns) = match extent {
        None => ("none", Json::Null),
        Some(Extent::Full) => ("all", Json::Null),
        Some(Extent::Last(turns)) => ("last_n", Json::Number(turns.into())),
    };
    Json::object([("kind", kind.into()), ("n", turns)])
}

/// A line that the child gets.
pub fn kept(kept: &Kept, line: &Line<'_>, owned: &Owned) -> Json {
    let index = ("index", kept.at.into());
    match &kept.remains {
        // A checkpoint that is a legacy one has nothing to say beside its position.
        Remains::Whole if matches!(line, Line::Checkpoint(_)) => Json::object([index]),
        Remains::Whole => kept.at.into(),
        Remains::Parts(parts) => Json::object([index, ("content", texts(owned.pieces(), parts))]),
        Remains::WithoutHint => Json::object([index, ("removed_state_keys", vec![super::HINT_SECTION].into())]),
        Remains::Items(items) => {
            let items = items.iter().map(|item| match &item.parts {
                None => item.at.into(),
                Some(parts) => {
                    let pieces = owned.item(item.at).map(Owned::pieces).unwrap_or_default();
                    Json::object([("index", item.at.into()), ("content", texts(pieces, parts))])
                }
            });
            Json::object([index, ("replacement_history_kept", Json::List(items.collect()))])
        }
    }
}

/// The texts of the parts that are left.
fn texts(pieces: &[Piece], kept: &[KeptPart]) -> Json {
    let texts = kept.iter().filter_map(|part| match &part.text {
        Some(text) => Some(Json::from(text.as_text())),
        None => pieces.get(part.at).and_then(Piece::text).map(Json::from),
    });
    Json::List(texts.collect())
}

/// A developer message that the fork adds.
pub fn appended(appended: Appended, config: &Config) -> Json {
    let (name, text) = match appended {
        Appended::Instructions => ("child_developer_instructions", &config.child_developer_override),
        Appended::Hint => ("subagent_usage_hint", &config.child_usage_hint),
    };
    Json::object([("injected", name.into()), ("role", "developer".into()), ("text", text.as_deref().into())])
}

/// An item that the child's model sees.
pub fn visible(visible: &Visible, owned: &[Owned], config: &Config) -> Json {
    let content = |pieces: &[Piece]| match &visible.content {
        None => None,
        Some(Content::Parts(parts)) => Some(texts(pieces, parts)),
        Some(Content::Text(text)) => Some(vec![text.as_text()].into()),
    };
    match visible.source {
        Source::Line(at) => match content(owned.get(at).map(Owned::pieces).unwrap_or_default()) {
            None => at.into(),
            Some(content) => Json::object([("index", at.into()), ("content", content)]),
        },
        Source::Checkpoint { line, item } => {
            let pieces = owned.get(line).and_then(|line| line.item(item)).map(Owned::pieces).unwrap_or_default();
            let place = [("compacted", line.into()), ("item", item.into())];
            match content(pieces) {
                None => Json::object(place),
                Some(content) => {
                    let [compacted, item] = place;
                    Json::object([compacted, item, ("content", content)])
                }
            }
        }
        Source::Summary(at) => Json::object([("legacy_summary_of", at.into())]),
        Source::Appended(one) => appended(one, config),
    }
}
