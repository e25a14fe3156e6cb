//! Tools as a model sees them.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::Part;

/// A tool's name: a text that is shared, since every view of every request carries its tools.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for ToolName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ToolName {
    /// As the text that it is: digests of scenarios are taken from this.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<T: AsRef<str> + ?Sized> PartialEq<T> for ToolName {
    fn eq(&self, other: &T) -> bool {
        *self.0 == *other.as_ref()
    }
}

impl PartialEq<ToolName> for String {
    fn eq(&self, other: &ToolName) -> bool {
        *self == *other.0
    }
}

impl From<&str> for ToolName {
    fn from(name: &str) -> ToolName {
        ToolName(name.into())
    }
}

impl From<String> for ToolName {
    fn from(name: String) -> ToolName {
        ToolName(name.into())
    }
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name that a call uses.
    pub name: ToolName,
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
