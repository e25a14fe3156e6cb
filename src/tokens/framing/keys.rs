//! Tools as the cookbook's figures bill them: so many tokens a function, a property and an enumerated value, around their texts.

use super::super::CountError;
use super::count::Tally;
use super::schema::{Enumerated, Schema};

/// Tokens around the texts of tools (openai/openai-cookbook, `How_to_count_tokens_with_tiktoken.ipynb`, section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyCosts {
    /// For each function, beside its name and description.
    pub function: i64,
    /// Once for the properties of a function that has any.
    pub properties: i64,
    /// For each property, beside its name, type and description.
    pub property: i64,
    /// Once for a property with an `enum`: a correction.
    pub values: i64,
    /// For each enumerated value, beside its text.
    pub value: i64,
    /// Once behind all functions.
    pub end: i64,
}

const NESTED: &str = "a tool's schema is not flat: the figures are of flat schemas, and nested ones are counted by the same rule";

/// One function.
pub(super) fn function(
    costs: &KeyCosts,
    name: &str,
    description: Option<&str>,
    schema: &Schema,
    tally: &mut Tally<'_>,
) -> Result<(), CountError> {
    tally.add(costs.function);
    let head = line(&[name], description, tally);
    tally.text(&head)?;
    if !schema.types.iter().eq(["object"]) || schema.more || !schema.any_of.is_empty() || !schema.values.is_empty() {
        tally.doubt(NESTED);
    }
    members(costs, schema, 0, tally)
}

/// The properties of an object, of a list's items and of alternatives.
fn members(costs: &KeyCosts, schema: &Schema, depth: usize, tally: &mut Tally<'_>) -> Result<(), CountError> {
    if depth > 0 && !schema.properties.is_empty() {
        tally.doubt(NESTED);
    }
    if !schema.properties.is_empty() {
        tally.add(costs.properties);
    }
    for (name, _, property) in &schema.properties {
        tally.add(costs.property);
        values(costs, property, tally)?;
        let kind = if property.types.is_empty() { "any".to_owned() } else { property.types.join("|") };
        let head = line(&[name, &kind], property.description.as_deref(), tally);
        tally.text(&head)?;
        if property.types.len() != 1 || property.more {
            tally.doubt(NESTED);
        }
        members(costs, property, depth + 1, tally)?;
    }
    for inner in schema.items.iter().map(AsRef::as_ref).chain(&schema.any_of) {
        tally.doubt(NESTED);
        values(costs, inner, tally)?;
        members(costs, inner, depth + 1, tally)?;
    }
    Ok(())
}

fn values(costs: &KeyCosts, schema: &Schema, tally: &mut Tally<'_>) -> Result<(), CountError> {
    if schema.values.is_empty() {
        return Ok(());
    }
    tally.add(costs.values);
    for value in &schema.values {
        tally.add(costs.value);
        match value {
            Enumerated::Text(text) => tally.text(text)?,
            Enumerated::Other(text) => {
                tally.doubt(NESTED);
                tally.text(text)?;
            }
        }
    }
    Ok(())
}

/// Names and a description with colons between them; the description without its final stop.
fn line(names: &[&str], description: Option<&str>, tally: &mut Tally<'_>) -> String {
    let Some(description) = description else {
        tally.doubt("a tool or a property has no description: the figures are of described ones");
        return names.join(":");
    };
    let description = description.strip_suffix('.').unwrap_or(description);
    [&names.join(":"), ":", description].concat()
}
