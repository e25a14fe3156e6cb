//! The wildcards of permission rules.

/// Whether a text matches a pattern: `*` is any run, `?` one UTF-16 unit, and a final ` *` may be missing as a whole
/// (`rm *` matches `rm`). Backslashes count as slashes on both sides. Read in `util/wildcard.ts` of several sources around
/// 1.18.33, which agree.
pub(super) fn matches(text: &str, pattern: &str) -> bool {
    let units = |text: &str| text.replace('\\', "/").encode_utf16().collect::<Vec<u16>>();
    let text = units(text);
    let pattern = pattern.replace('\\', "/");
    let whole = glob(&text, &units(&pattern));
    whole || pattern.strip_suffix(" *").is_some_and(|stem| glob(&text, &units(stem)))
}

/// `*` and `?` alone, from left to right; after a mismatch the last `*` takes one unit more.
fn glob(text: &[u16], pattern: &[u16]) -> bool {
    const STAR: u16 = b'*' as u16;
    const ONE: u16 = b'?' as u16;
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(from) {
            Some(&STAR) => {
                star = Some((from + 1, at));
                from += 1;
            }
            Some(&unit) if unit == ONE || unit == text[at] => (at, from) = (at + 1, from + 1),
            _ => match star {
                Some((behind, taken)) => {
                    star = Some((behind, taken + 1));
                    (at, from) = (taken + 1, behind);
                }
                None => return false,
            },
        }
    }
    pattern.get(from..).unwrap_or_default().iter().all(|&unit| unit == STAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, pattern: &str, expect: bool) {
        assert_eq!(matches(text, pattern), expect, "{text:?} against {pattern:?}");
    }

    #[test]
    fn stars_and_question_marks() {
        check("task", "*", true);
        check("", "*", true);
        check("", "", true);
        check("task", "", false);
        check("task", "task", true);
        check("task", "Task", false);
        check("task", "t*k", true);
        check("task", "t?sk", true);
        check("tsk", "t?sk", false);
        check("tasks", "t*k", false);
        check("todowrite", "to*w*e", true);
        check("aab", "*ab", true);
        check("a.b", "a?b", true);
        check("axb", "a.b", false);
        check("(x)+", "(*)+", true);
        check("a\nb", "a*b", true);
        // An emoji is two UTF-16 units.
        check("😀", "?", false);
        check("😀", "??", true);
    }

    #[test]
    fn a_final_blank_and_star_may_be_missing() {
        check("rm", "rm *", true);
        check("rm ", "rm *", true);
        check("rm -r x", "rm *", true);
        check("rmdir", "rm *", false);
        check("rm", "rm  *", false);
        check("a/b", "a\\b", true);
    }
}
