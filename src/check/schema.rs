//! The JSON schema of `budgets.toml`, for editors.

use serde_json::{Map, Value, json};

use crate::metrics::METRICS;
use crate::tokens::Encoding;

use super::file::BUDGETS_VERSION;

/// The schema of a budgets file, made from the list of metrics.
pub fn budgets_schema() -> Value {
    let allowance = json!({
        "description": "From the accepted value: \"1%\" of it, \"+200\" more than it, 0 for not at all.",
        "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^\+?([0-9]+(\.[0-9]{0,6})?|\.[0-9]{1,6}) ?%?$"}],
    });
    let globs = |what: &str| {
        json!({
            "description": format!("{what}: globs (`*`, `?`, `{{a,b}}`), `!` before one takes out again; none: all."),
            "anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}],
        })
    };
    let level = json!({"description": "What exceeding a limit does.", "enum": ["error", "warn"], "default": "error"});
    let mut budget = Map::from_iter([
        ("scenario".to_owned(), globs("Scenarios, as they stand in cell ids")),
        ("strategy".to_owned(), globs("Strategies, ID[@PROFILE][:options]")),
        ("model".to_owned(), globs("Models")),
        ("why".to_owned(), json!({"description": "What the limit is for; printed when it is exceeded.", "type": "string"})),
        ("level".to_owned(), level.clone()),
    ]);
    for metric in METRICS {
        let about = format!("{} ({}, better: {}).", metric.about, metric.unit.name(), metric.better.name());
        budget.insert(metric.name.to_owned(), json!({"description": about, "$ref": "#/$defs/limits"}));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ctxbench budgets.toml",
        "type": "object",
        "additionalProperties": false,
        "required": ["version"],
        "properties": {
            "version": {"const": BUDGETS_VERSION},
            "tokenizer": {
                "description": "The encoding that every token figure must be counted in.",
                "enum": Encoding::ALL.map(Encoding::name),
                "default": Encoding::default().name(),
            },
            "defaults": {
                "description": "What holds where a budget names a metric without a relative limit.",
                "type": "object",
                "additionalProperties": false,
                "properties": {"grow": allowance, "drop": allowance},
            },
            "budget": {
                "type": "array",
                "items": {"type": "object", "additionalProperties": false, "minProperties": 1, "properties": budget},
            },
        },
        "$defs": {
            "limits": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "max": {"description": "The largest value.", "type": "number"},
                    "min": {"description": "The smallest value.", "type": "number"},
                    "grow": allowance,
                    "drop": allowance,
                    "level": level,
                },
            },
        },
    })
}
