//! Tools as the models of 2023 were shown them: type declarations in a namespace of functions.
//!
//! The rendering and its figures were found by hmarr/openai-chat-tokens (`src/functions.ts`, b8e3b11d) by comparing many requests
//! with their bills.

use super::count::Tally;
use super::schema::{Enumerated, Schema};

/// Tokens around the rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamespaceCosts {
    /// Once, beside the rendering.
    pub namespace: i64,
    /// Where a system message shares its frame with the rendering: a correction. That message also gets a line break.
    pub shared_system: i64,
    /// The choice that forbids calls.
    pub choice_none: i64,
    /// The choice of one function, beside its name.
    pub choice_named: i64,
}

/// Below this indentation descriptions of properties are shown.
const DESCRIBED: usize = 2;

/// The declarations of some functions.
pub(super) fn render<'a>(functions: impl IntoIterator<Item = (&'a str, Option<&'a str>, &'a Schema)>, tally: &mut Tally<'_>) -> String {
    let mut text = "namespace functions {\n\n".to_owned();
    for (name, description, schema) in functions {
        if let Some(description) = description.filter(|text| !text.is_empty()) {
            text.extend(["// ", description, "\n"]);
        }
        if schema.properties.is_empty() {
            text.extend(["type ", name, " = () => any;\n\n"]);
        } else {
            text.extend(["type ", name, " = (_: {\n"]);
            properties(schema, 0, &mut text, tally);
            text.push_str("\n}) => any;\n\n");
        }
    }
    text.push_str("} // namespace functions");
    text
}

/// The properties of an object, a line each. The first line of a property is indented; what its type spans beyond it is as deep as
/// that type's own properties, and a closing brace stands at the margin.
fn properties(schema: &Schema, indent: usize, text: &mut String, tally: &mut Tally<'_>) {
    let margin = " ".repeat(indent);
    for (at, (name, required, property)) in schema.properties.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        if let Some(description) = property.description.as_deref().filter(|text| indent < DESCRIBED && !text.is_empty()) {
            text.extend([margin.as_str(), "// ", description, "\n"]);
        }
        text.extend([margin.as_str(), name.as_str(), if *required { ": " } else { "?: " }]);
        kind(property, indent, text, tally);
        text.push(',');
    }
}

/// A type.
fn kind(schema: &Schema, indent: usize, text: &mut String, tally: &mut Tally<'_>) {
    if !schema.any_of.is_empty() {
        for (at, variant) in schema.any_of.iter().enumerate() {
            text.push_str(if at > 0 { " | " } else { "" });
            kind(variant, indent, text, tally);
        }
        return;
    }
    let name = match schema.types.as_slice() {
        [name] => name.as_str(),
        _ => "",
    };
    match name {
        "string" | "number" | "integer" if !schema.values.is_empty() => {
            for (at, value) in schema.values.iter().enumerate() {
                text.push_str(if at > 0 { " | " } else { "" });
                match value {
                    Enumerated::Text(value) if name == "string" => text.extend(["\"", value, "\""]),
                    Enumerated::Text(value) | Enumerated::Other(value) => text.push_str(value),
                }
            }
        }
        "string" | "number" | "boolean" | "null" => text.push_str(name),
        "integer" => text.push_str("number"),
        "object" => {
            text.push_str("{\n");
            properties(schema, indent + 2, text, tally);
            text.push_str("\n}");
        }
        "array" => {
            match &schema.items {
                Some(items) => kind(items, indent, text, tally),
                None => text.push_str("any"),
            }
            text.push_str("[]");
        }
        _ => {
            tally.doubt("a tool's schema has a type whose rendering is not known: it is taken as any");
            text.push_str("any");
        }
    }
    if schema.more {
        tally.doubt("a tool's schema has keywords whose rendering is not known: they are left out");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{Encoding, counter};

    /// Required and optional properties are as many tokens, and so are margins: only the text tells them apart.
    #[test]
    fn declarations() {
        let schema = r#"{"type": "object", "required": ["path", "deep"], "properties": {
            "path": {"type": "string", "description": "where"},
            "deep": {"type": "object", "description": "how", "required": ["far"], "properties": {
                "far": {"type": "integer", "description": "unseen"},
                "sizes": {"type": "array", "items": {"type": "object", "properties": {"n": {"enum": [1, 2], "type": "number"}}}}}},
            "any": {"type": "array"},
            "mode": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}, {"type": "boolean"}]}}}"#;
        let expect = r#"namespace functions {

// Lists.
type ls = (_: {
// where
path: string,
// how
deep: {
  far: number,
  sizes?: {
    n?: 1 | 2,
}[],
},
any?: any[],
mode?: "a" | "b" | null | boolean,
}) => any;

type now = () => any;

} // namespace functions"#;
        let counter = counter(Encoding::Cl100kBase);
        let mut tally = Tally::new(&*counter);
        let (ls, now) = (Schema::parse(schema).unwrap(), Schema::parse("{}").unwrap());
        assert_eq!(render([("ls", Some("Lists."), &ls), ("now", None, &now)], &mut tally), expect);
        assert!(!tally.has_doubts());
    }
}
