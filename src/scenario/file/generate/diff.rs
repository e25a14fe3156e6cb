//! Changes of files, as version control shows them.

use super::words::{AREAS, NOUNS};
use super::{Language, Random, source};

/// The change of one file: its head and some hunks.
pub(super) fn file(language: Language, random: &mut Random) -> String {
    let path = format!("src/{}/{}.rs", random.pick(&AREAS), random.pick(&NOUNS));
    let (before, after) = (random.below(1 << 28), random.below(1 << 28));
    let mut out = format!("diff --git a/{path} b/{path}\nindex {before:07x}..{after:07x} 100644\n--- a/{path}\n+++ b/{path}\n");
    let mut line = 1 + random.below(60);
    for _ in 0..1 + random.below(3) {
        let hunk = hunk(language, random);
        let count = |not: char| hunk.iter().filter(|line| !line.starts_with(not)).count() as u64;
        out.push_str(&format!("@@ -{line},{} +{line},{} @@\n", count('+'), count('-')));
        line += count('+') + 5 + random.below(80);
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
