//! Changes of files, as version control shows them.

use super::words::{AREAS, NOUNS};
use super::{Language, Random, source};

/// The change of one file: its head and some hunks.
pub(super) fn file(language: Language, random: &mut Random) -> String {
    let path = format!("src/{}/{}.rs", random.pick(&AREAS), random.pick(&NOUNS));
    let (before, after) = (random.below(1 << 28), random.below(1 << 28));
    let mut out = format!("diff --git a/{path} b/{path}\nindex {before:07x}..{after:07x} 100644\n--- a/{path}\n+++ b/{path}\n");
    let (mut old, mut new) = (0, 0);
    for _ in 0..1 + random.below(3) {
        let between = 1 + random.below(60);
        (old, new) = (old + between, new + between);
        let hunk = hunk(language, random);
        let count = |not: char| hunk.iter().filter(|line| !line.starts_with(not)).count() as u64;
        let (removed, added) = (count('+'), count('-'));
        out.push_str(&format!("@@ -{old},{removed} +{new},{added} @@\n"));
        (old, new) = (old + removed, new + added);
        hunk.iter().for_each(|line| {
            out.push_str(line);
            out.push('\n');
        });
    }
    out
}

/// Lines that stay, go and come, each with its mark.
fn hunk(language: Language, random: &mut Random) -> Vec<String> {
    let [old, new] = [0, 1].map(|_| source::block(language, random));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.trim_end().lines().collect(), new.trim_end().lines().collect());
    let mut hunk = Vec::new();
    for (at, line) in old.iter().enumerate() {
        match random.below(4) {
            0 => {
                hunk.push(format!("-{line}"));
                hunk.extend(new.get(at).map(|line| format!("+{line}")));
            }
            1 => hunk.push(format!("+{}", new.get(at).unwrap_or(line))),
            _ => hunk.push(format!(" {line}")),
        }
    }
    hunk
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The heads of hunks count their lines, and the new places go on where the old ones and what came and went lead.
    #[test]
    fn heads_of_hunks_say_what_follows() {
        for seed in 0..200 {
            let text = file(if seed % 2 == 0 { Language::Rust } else { Language::Chinese }, &mut Random(seed));
            let mut lines = text.lines().skip(4).peekable();
            let mut shift = 0;
            while let Some(head) = lines.next() {
                let numbers: Vec<i64> = head.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
                let [old, removed, new, added] = numbers[..] else { panic!("{head}") };
                assert_eq!(new - old, shift, "{text}");
                let mut seen = [0, 0];
                while let Some(line) = lines.next_if(|line| !line.starts_with("@@")) {
                    seen[0] += i64::from(!line.starts_with('+'));
                    seen[1] += i64::from(!line.starts_with('-'));
                }
                assert_eq!(seen, [removed, added], "{text}");
                shift += added - removed;
            }
        }
    }
}
