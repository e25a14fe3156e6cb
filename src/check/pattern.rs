//! Globs by which a budget names cells.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};

/// Whether a text is more than a plain name.
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The glob that matches this text alone.
pub fn literal(text: &str) -> String {
    let mut glob = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '!' | '\\') {
            glob.push('\\');
        }
        glob.push(c);
    }
    glob
}

/// One glob: `*` any text, `?` a character, `[ab]`, `{one,other}`.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    /// Takes what it matches out again (`!` before it).
    negated: bool,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    Exact(Vec<String>),
    Glob(GlobMatcher),
}

impl Pattern {
    /// Reads a glob; `!` before it takes out. `names` says what a plain name stands for (a strategy without its profile
    /// stands for its default one, say).
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, names: &dyn Fn(&str) -> Result<Vec<String>, String>) -> Result<Pattern, String> {
        let (negated, bare) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        if bare.is_empty() {
            return Err("the pattern is empty".to_owned());
        }
        let matcher = if is_glob(bare) {
            let glob = GlobBuilder::new(bare).literal_separator(false).backslash_escape(true).build();
            Matcher::Glob(glob.map_err(|why| format!("`{bare}` is no glob: {}", why.kind()))?.compile_matcher())
        } else {
            Matcher::Exact(names(bare)?)
        };
        Ok(Pattern { text: text.to_owned(), negated, matcher })
    }

    /// What means one name alone, whatever characters it holds. `text`: as it was written.
    pub fn exact(text: &str, name: &str) -> Pattern {
        Pattern { text: text.to_owned(), negated: false, matcher: Matcher::Exact(vec![name.to_owned()]) }
    }

    fn is_match(&self, name: &str) -> bool {
        match &self.matcher {
            Matcher::Exact(names) => names.iter().any(|one| one == name),
            Matcher::Glob(glob) => glob.is_match(name),
        }
    }
}

/// Several globs: a name is meant if one of them matches and none with `!` does.
#[derive(Clone, Debug)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// These globs. If all take out, they take out of everything.
    pub fn new(patterns: Vec<Pattern>) -> Patterns {
        Patterns(patterns)
    }

    /// Whether a name is meant.
    pub fn is_match(&self, name: &str) -> bool {
        let wanted = self.0.iter().all(|one| one.negated) || self.0.iter().any(|one| !one.negated && one.is_match(name));
        wanted && !self.0.iter().any(|one| one.negated && one.is_match(name))
    }

    /// The patterns that match none of these names, as they were written; what takes out is none.
    pub fn idle(&self, names: &[&str]) -> Vec<&str> {
        let idle = self.0.iter().filter(|one| !one.negated && !names.iter().any(|name| one.is_match(name)));
        idle.map(|one| one.text.as_str()).collect()
    }

    /// The patterns with `!` that would take out none of these names, as they were written.
    pub fn idle_negations(&self, names: &[&str]) -> Vec<&str> {
        let is_there = |one: &Pattern| {
            // What marks a size, a brief or a fallback may be of cells that nobody asked for.
            let bare = one.text.trim_start_matches('!').split(['~', '+']).next().unwrap_or_default();
            names.iter().any(|name| one.is_match(name) || *name == bare)
        };
        self.0.iter().filter(|one| one.negated && !is_there(one)).map(|one| one.text.as_str()).collect()
    }

    /// The plain names and globs that do not take out, as they were written.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|one| !one.negated).map(|one| one.text.as_str())
    }

    /// The names that plain patterns stand for.
    pub fn exact(&self) -> impl Iterator<Item = String> {
        let names = |one: &'_ Pattern| match &one.matcher {
            Matcher::Exact(names) => names.clone(),
            Matcher::Glob(_) => vec![],
        };
        self.0.iter().filter(|one| !one.negated).flat_map(names)
    }
}

impl fmt::Display for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.0.iter().map(|one| one.text.as_str()).collect();
        f.write_str(&texts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str) -> Result<Vec<String>, String> {
        Ok(vec![name.to_owned()])
    }

    #[test]
    fn globs_name_cells() {
        let check = |patterns: &[&str], name: &str, expect: bool| {
            let patterns = Patterns::new(patterns.iter().map(|text| Pattern::parse(text, &plain).unwrap()).collect());
            assert_eq!(patterns.is_match(name), expect, "{patterns}: {name}");
        };
        check(&["*"], "auth-lookup~large+known", true);
        check(&["auth-*"], "auth-lookup", true);
        check(&["auth-*"], "tiny-task", false);
        check(&["auth"], "auth-lookup", false);
        check(&["codex-v2@*"], "codex-v2@0.160:fork_turns=3", true);
        check(&["*", "!inline@*"], "inline@1", false);
        check(&["!inline@*"], "opencode@1.18.33", true);
        check(&["!inline@*"], "inline@1", false);
        check(&["{auth,tiny}-*"], "tiny-task", true);
        check(&["*/opencode@*/reader/?"], "auth-lookup/opencode@1.18.33/reader/3", true);
        check(&["a?c"], "abc", true);
        check(&["a?c"], "abbc", false);
    }

    #[test]
    fn a_name_of_any_characters_can_be_meant_alone() {
        let check = |name: &str, others: &[&str]| {
            for pattern in [Pattern::exact(name, name), Pattern::parse(&format!("{}*", literal(name)), &plain).unwrap()] {
                assert!(pattern.is_match(name), "{name}");
                others.iter().for_each(|other| assert!(!pattern.is_match(other), "{name} is not {other}"));
            }
        };
        check("plain", &["other"]);
        check("light[ho]*use", &["lighthouse", "lighthhouse"]);
        check("a?c", &["abc"]);
        check("!not", &["not", "is"]);
        check("{a,b}", &["a", "b"]);
        check("a\\b", &["ab"]);
        check("a]b-c", &["a-c"]);
    }

    #[test]
    fn a_plain_name_stands_for_what_it_means() {
        let profiles = |name: &str| if name == "codex-v2" { Ok(vec!["codex-v2@0.171".to_owned()]) } else { Err("unknown".to_owned()) };
        let pattern = Pattern::parse("codex-v2", &profiles).unwrap();
        assert!(pattern.is_match("codex-v2@0.171") && !pattern.is_match("codex-v2"));
        assert_eq!(Pattern::parse("codex", &profiles).err().as_deref(), Some("unknown"));
        assert!(Pattern::parse("a[", &profiles).is_err());
        assert!(Pattern::parse("!", &profiles).is_err());
    }
}
