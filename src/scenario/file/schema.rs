//! The JSON schema of the file format, made from the records that read it.

use serde_json::{Map, Value, json};

use super::form::File;

/// The JSON schema of a scenario file, as `scenarios/schema.json` holds it: for editors, and for tools that write
/// scenarios. What it accepts may still break a rule that only compiling checks.
pub fn schema() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<File>().to_value();
    let mut repeats = Map::new();
    as_written(&mut schema, &mut repeats);
    repeats.insert(
        "Expression".to_owned(),
        json!({"type": "string", "pattern": "^\\$", "description": "`$parameter` or `${expression}`: becomes a number."}),
    );
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        definitions.extend(repeats);
    }
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), "ctxbench scenario".into());
    }
    schema
}

/// The records describe a file whose parameters are put in and whose repeats are written out. In the file itself an
/// expression may stand for a number and a repeat for an item.
fn as_written(schema: &mut Value, repeats: &mut Map<String, Value>) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(|value| as_written(value, repeats));
            let is_number = object.get("type").is_some_and(|kind| ["integer", "number", "boolean"].iter().any(|number| kind == number));
            if is_number {
                let description = object.remove("description");
                let number = Value::Object(std::mem::take(object));
                object.insert("anyOf".to_owned(), json!([number, {"$ref": "#/$defs/Expression"}]));
                object.extend(description.map(|text| ("description".to_owned(), text)));
            }
            if let Some(items) = object.remove("items") {
                let name = items.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()).unwrap_or("String");
                let name = format!("{name}Item");
                let this = json!({"$ref": format!("#/$defs/{name}")});
                let item = json!({"anyOf": [items, {
                    "type": "object",
                    "description": "Becomes what `each` holds, `repeat` times, with the name `as` counting from `from`.",
                    "properties": {
                        "repeat": {"type": ["integer", "string"]},
                        "as": {"type": "string", "default": "i"},
                        "from": {"type": ["integer", "string"], "default": 1},
                        "each": {"anyOf": [this, {"type": "array", "items": this}]}
                    },
                    "required": ["repeat", "each"],
                    "additionalProperties": false
                }]});
                repeats.insert(name, item);
                object.insert("items".to_owned(), this);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| as_written(value, repeats)),
        _ => {}
    }
}
