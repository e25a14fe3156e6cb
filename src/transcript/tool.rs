//! Tools as a model sees them.

use super::Part;

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name that a call uses.
    pub name: String,
    /// Name, description and parameter schema as compact JSON: the text that is counted.
    pub schema: Part,
}

impl ToolSpec {
    /// A tool of string parameters, each `(name, description, required)`.
    pub fn of_strings(name: &str, description: &str, parameters: &[(&str, &str, bool)]) -> ToolSpec {
        let mut properties = serde_json::Map::new();
        for (parameter, about, _) in parameters {
            properties.insert((*parameter).into(), serde_json::json!({"type": "string", "description": about}));
        }
        let required: Vec<&str> = parameters.iter().filter(|p| p.2).map(|p| p.0).collect();
        let schema = serde_json::json!({"type": "object", "properties": properties, "required": required});
        ToolSpec::new(name, description, schema)
    }

    /// A tool with any parameter schema.
    pub fn new(name: &str, description: &str, parameters: serde_json::Value) -> ToolSpec {
        let text = serde_json::json!({"name": name, "description": description, "parameters": parameters}).to_string();
        ToolSpec { name: name.into(), schema: Part::text(text) }
    }
}
