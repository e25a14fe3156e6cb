//! `ChatOptions.AdditionalProperties`: data for the chat client that no model reads.

use indexmap::IndexMap;

/// The properties of a child's request: its agent's own, over which those of its parent's request win (`AsAIFunction`
/// passes them on as run options, `ChatClientAgent` puts them over its own).
pub fn additional_properties<V: Clone>(parent: &IndexMap<String, V>, own: &IndexMap<String, V>) -> IndexMap<String, V> {
    let mut merged = own.clone();
    merged.extend(parent.iter().map(|(key, value)| (key.clone(), value.clone())));
    merged
}
