//! Returns that can be told by their words alone: announcements, and pointers to what the parent cannot see.
//!
//! Lists of words, in the two languages that the built-in scenarios are written in. A text in another language is in none
//! of these classes.

/// Longer texts say something beside an announcement or a pointer.
const MOST_CHARACTERS: usize = 400;

/// Words before an announcement that add nothing to it.
const LEADS: [&str; 17] = [
    "now", "next", "first", "then", "okay", "ok", "so", "great", "good", "perfect", "alright", "right", "sure", "and", "finally", "thanks",
    "well",
];

/// How an announcement begins.
const ANNOUNCES: [&str; 28] = [
    "let me ",
    "let's ",
    "let us ",
    "i'll ",
    "i will ",
    "i'm going to ",
    "i am going to ",
    "i'm about to ",
    "i am about to ",
    "i need to ",
    "i shall ",
    "we'll ",
    "we will ",
    "going to ",
    "looking at ",
    "looking into ",
    "waiting for ",
    "让我",
    "让我们",
    "我来",
    "我将",
    "我会",
    "我先",
    "接下来",
    "下面我",
    "现在我",
    "现在开始",
    "正在",
];

/// What begins like an announcement and is a courtesy.
const COURTESIES: [&str; 2] = ["let me know", "let us know"];

/// Whether a text only announces what is to be done: a short one whose last sentence is an announcement, with at most one
/// sentence in it that is none.
pub(super) fn announces(text: &str) -> bool {
    if text.chars().count() > MOST_CHARACTERS {
        return false;
    }
    let text = plain(text);
    let sentences: Vec<&str> = sentences(&text).collect();
    let others = sentences.iter().filter(|sentence| !is_announcement(sentence)).count();
    sentences.last().is_some_and(|last| is_announcement(last)) && others <= 1
}

fn is_announcement(sentence: &str) -> bool {
    let mut rest = sentence;
    loop {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if !LEADS.contains(&word) {
            break;
        }
        rest = &rest[word.len()..];
    }
    ANNOUNCES.iter().any(|begin| rest.starts_with(begin)) && !COURTESIES.iter().any(|begin| rest.starts_with(begin))
}

/// Sentences end at a line's end, at a Chinese stop, or at a stop that white space follows (`src/main.rs` is one word).
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut begin = 0;
    let mut all = Vec::new();
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' => text[after..].chars().next().is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            all.push(&text[begin..after]);
            begin = after;
        }
    }
    all.push(&text[begin..]);
    all.into_iter().map(str::trim).filter(|sentence| sentence.chars().any(char::is_alphanumeric))
}

/// What else points back.
const POINTERS: [&str; 19] = [
    "see above",
    "see the above",
    "see earlier",
    "as above",
    "mentioned above",
    "described above",
    "reported above",
    "listed above",
    "given above",
    "as i reported",
    "as reported earlier",
    "already provided",
    "already reported",
    "already answered",
    "already delivered",
    "见上文",
    "如上所述",
    "见前文",
    "上一条消息",
];

/// Whether a short text points to something that stands elsewhere: "see my prior message".
pub(super) fn points_back(text: &str) -> bool {
    const WHEN: [&str; 5] = ["prior", "previous", "earlier", "last", "preceding"];
    const WHAT: [&str; 8] = ["message", "response", "report", "answer", "reply", "turn", "summary", "output"];
    if text.chars().count() > MOST_CHARACTERS {
        return false;
    }
    let text = plain(text);
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_named = |words: &[&str]| WHEN.contains(&words[0]) && WHAT.contains(&words[1]);
    let named = words.windows(3).any(|words| words[0] == "my" && is_named(&words[1..]))
        || words.windows(4).any(|words| ["see", "to"].contains(&words[0]) && words[1] == "the" && is_named(&words[2..]));
    let spaced = words.join(" ");
    named || POINTERS.iter().any(|pointer| spaced.contains(pointer))
}

/// In small letters, with plain apostrophes.
fn plain(text: &str) -> String {
    text.to_lowercase().replace('\u{2019}', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements() {
        #[track_caller]
        fn check(text: &str, expect: bool) {
            assert_eq!(announces(text), expect, "{text}");
        }
        check("I have what I need. Let me put the report together.", true);
        check("Now, let\u{2019}s look at the tests:", true);
        check("Okay. So now I'll read src/main.rs and report.", true);
        check("Looking at src/main.rs for the port.", true);
        check("让我先看一下代码。", true);
        check("The port is 9090.", false);
        check("Let me read it. The port is 9090.", false); // what follows the announcement is said
        check("It listens. It logs. Let me read on.", false); // two things are said
        check("The port is 9090. Let me know if you need more.", false);
        check("Letting it run costs 3 dollars.", false);
        check("", false);
        check(" \n", false);
        let padded = |words: usize| format!("{}. Let me read on.", "a".repeat(words));
        check(&padded(400 - ". Let me read on.".len()), true);
        check(&padded(401 - ". Let me read on.".len()), false);
    }

    #[test]
    fn pointers() {
        #[track_caller]
        fn check(text: &str, expect: bool) {
            assert_eq!(points_back(text), expect, "{text}");
        }
        check("See my prior message.", true);
        check("The findings stand in my *previous* report", true);
        check("Done, as described\nabove.", true);
        check("I have already reported this.", true);
        check("详见上文", true);
        check("Please refer to the previous answer.", true);
        check("The last report of the log is from 03:12.", false);
        check("See src/main.rs above line 3.", false);
        check("My next message holds it.", false);
        check("", false);
        let padded = |words: usize| format!("{} see above", "a".repeat(words));
        check(&padded(400 - " see above".len()), true);
        check(&padded(401 - " see above".len()), false);
    }
}
