//! Suggestions for names that nobody knows.

/// The known name that is nearest to what was typed, if any is near.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let reach = (given.chars().count() / 3).max(2);
    let near = known.into_iter().map(|name| (distance(given, name), name)).filter(|(edits, _)| *edits <= reach);
    near.min_by_key(|(edits, name)| (*edits, name.chars().count())).map(|(_, name)| name)
}

/// Edits from one to the other; a name that goes on after what was typed counts as one edit.
fn distance(given: &str, name: &str) -> usize {
    let edits = strsim::damerau_levenshtein(given, name);
    if given.chars().count() > 2 && name.starts_with(given) { edits.min(1) } else { edits }
}

/// `; did you mean ...?`, or nothing: for a sentence that ends there.
pub fn suggestion<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(given, known).map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

/// `; did you mean ...?`, or a full stop: for a sentence with another behind it.
pub fn suggestion_or_stop<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(given, known).map_or(".".to_owned(), |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let known = ["auth-lookup", "tiny-task", "fan-out-3"];
        let check = |given: &str, expect: Option<&str>| assert_eq!(nearest(given, known), expect, "{given}");
        check("auth-lokup", Some("auth-lookup"));
        check("atuh-lookup", Some("auth-lookup"));
        check("tiny", Some("tiny-task"));
        check("fan-out-4", Some("fan-out-3"));
        check("something-else", None);
        check("", None);
    }
}
