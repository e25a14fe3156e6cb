//! JSON schemas of the stored formats, generated from the types that write them.

use serde_json::Value;

use super::{LEDGER_FORMAT, LedgerLine, RESULTS_FORMAT, Results};

/// The schema of a results document (`run --format json`).
pub fn results_schema() -> Value {
    of::<Results>(RESULTS_FORMAT)
}

/// The schema of a line of `ledger.jsonl`.
pub fn ledger_schema() -> Value {
    of::<LedgerLine>(LEDGER_FORMAT)
}

fn of<T: schemars::JsonSchema>(title: &str) -> Value {
    let mut schema = schemars::schema_for!(T);
    schema.insert("title".into(), title.into());
    schema.to_value()
}
