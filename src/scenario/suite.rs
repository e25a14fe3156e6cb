//! The built-in suite, embedded in the binary.

/// The names of the built-in scenarios, in the order in which they run.
pub fn builtin_names() -> Vec<&'static str> {
    vec![]
}

/// The text of a built-in scenario's file.
pub fn builtin(_name: &str) -> Option<&'static str> {
    None
}
