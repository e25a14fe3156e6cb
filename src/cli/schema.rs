//! `schema`: the JSON schema of a format.

use crate::check::budgets_schema;
use crate::error::Error;
use crate::model::cassette::cassette_schema;
use crate::report::{Format, check_schema};
use crate::results::{ledger_schema, results_schema};

use super::args::{Global, SchemaArgs, SchemaOf};
use super::console::Console;
use super::output::emit;

/// Prints a schema; human and JSON are the same.
pub fn schema(args: &SchemaArgs, global: &Global, console: &Console) -> Result<(), Error> {
    let schema = match args.what {
        SchemaOf::Scenario => crate::scenario::file::schema(),
        SchemaOf::Results => results_schema(),
        SchemaOf::Ledger => ledger_schema(),
        SchemaOf::Budgets => budgets_schema(),
        SchemaOf::Check => check_schema(),
        SchemaOf::Cassette => cassette_schema(),
    };
    let mut text = serde_json::to_string_pretty(&schema).map_err(|why| Error::Internal(why.to_string()))?;
    text.push('\n');
    emit("schema", global.format, &global.out, console, &|format, _| match format {
        Format::Human | Format::Json => Some(text.clone()),
        _ => None,
    })
}
