//! The commands that a check prints: they work as they stand, in the folder in which the check was made.

use std::collections::BTreeSet;

use crate::check::{Checked, Row, Verdict, literal};
use crate::error::Exit;

/// The row that is looked at first: one with something to compare, else one that is wrong by itself.
pub fn looked_at<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> Option<&'a Row> {
    let is_wrong = |row: &&Row| matches!(row.worst(), Verdict::Failed | Verdict::Over | Verdict::Under);
    rows.clone().find(|row| row.accepted.is_some() && row.value.is_some()).or_else(|| rows.clone().find(is_wrong))
}

/// The command that shows a cell's difference to the lock.
pub fn look(checked: &Checked, cell: &str) -> String {
    let given = &checked.about.given;
    let name = if given.are_runs { "--run-dir" } else { "--from" };
    let mut words = options(checked, |_| true);
    words.push("--diff-lock".to_owned());
    words.extend(given.what.iter().map(|one| option(name, one)));
    command("explain", &[quoted(cell)], &words, cell.starts_with('-'))
}

/// The command that accepts cells as they are: one, or all of a scenario; all, where the lock is of another tokenizer.
pub fn accept<'a>(checked: &Checked, cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<&str> = cells.into_iter().collect();
    let scenarios: BTreeSet<&str> = cells.iter().map(|cell| cell.split('/').next().unwrap_or(cell)).collect();
    let whole = checked.troubles.iter().any(|trouble| trouble.exit == Exit::NotComparable);
    let only = match (cells.as_slice(), scenarios.first()) {
        _ if whole => None,
        ([one], _) => Some((*one).to_owned()),
        (_, Some(scenario)) if scenarios.len() == 1 => Some(format!("{}/*", literal(scenario))),
        _ => None,
    };
    // What is accepted is compared with the lock that is written, not with another revision's.
    let mut words = options(checked, |name| name != "--against");
    words.push("--accept".to_owned());
    words.extend(only.map(|only| option("--only", &only)));
    let what: Vec<String> = checked.about.given.what.iter().map(|one| plain_word(one)).collect();
    command("check", &what, &words, checked.about.given.what.iter().any(|one| one.starts_with('-')))
}

/// A command of names and options. Names that begin like options stand behind a `--`.
fn command(command: &str, names: &[String], options: &[String], behind: bool) -> String {
    let mut words = vec!["ctxbench".to_owned(), command.to_owned()];
    if behind {
        words.extend_from_slice(options);
        words.push("--".to_owned());
        words.extend_from_slice(names);
    } else {
        words.extend_from_slice(names);
        words.extend_from_slice(options);
    }
    words.join(" ")
}

/// The options of the check that a command needs again.
fn options(checked: &Checked, wanted: fn(&str) -> bool) -> Vec<String> {
    let given = checked.about.given.options.iter().filter(|(name, _)| wanted(name));
    given.map(|(name, value)| value.as_ref().map_or_else(|| name.clone(), |value| option(name, value))).collect()
}

/// An option with its value; a value that begins like an option stands behind a `=`.
fn option(name: &str, value: &str) -> String {
    let parted = if value.starts_with('-') { '=' } else { ' ' };
    format!("{name}{parted}{}", quoted(value))
}

/// A word for a shell: in quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A word for a shell: in quotes where it needs them.
fn plain_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./+:@".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{About, Given, Trouble};

    fn checked(what: &[&str], are_runs: bool, options: &[(&str, Option<&str>)]) -> Checked {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect();
        let about = About {
            tokenizer: "o200k_base".into(),
            locked: false,
            strict: false,
            budgets_file: "budgets.toml".into(),
            lock_file: "budgets.lock".into(),
            has_lock: true,
            given: Given { what: what.iter().map(|one| (*one).to_owned()).collect(), are_runs, options },
        };
        Checked { about, rows: vec![], matched: vec![], troubles: vec![] }
    }

    #[test]
    fn what_was_given_is_given_again() {
        let check = |checked: &Checked, cell: &str, expect: [&str; 2]| {
            assert_eq!([look(checked, cell), accept(checked, [cell])], expect.map(|words| format!("ctxbench {words}")));
        };
        check(&checked(&[], false, &[]), "a/b@1/m/0", ["explain 'a/b@1/m/0' --diff-lock", "check --accept --only 'a/b@1/m/0'"]);
        check(
            &checked(&["one.yaml", "two files"], false, &[]),
            "a/b@1/m/0",
            [
                "explain 'a/b@1/m/0' --diff-lock --from 'one.yaml' --from 'two files'",
                "check one.yaml 'two files' --accept --only 'a/b@1/m/0'",
            ],
        );
        check(
            &checked(&["kept", "other"], true, &[]),
            "a/b@1/m/0",
            ["explain 'a/b@1/m/0' --diff-lock --run-dir 'kept' --run-dir 'other'", "check kept other --accept --only 'a/b@1/m/0'"],
        );
        let options = [("--lock", Some("my lock")), ("--against", Some("HEAD~1")), ("--grow", Some("1%")), ("--strict", None)];
        check(
            &checked(&[], false, &options),
            "it's",
            [
                "explain 'it'\\''s' --lock 'my lock' --against 'HEAD~1' --grow '1%' --strict --diff-lock",
                "check --lock 'my lock' --grow '1%' --strict --accept --only 'it'\\''s'",
            ],
        );
        check(
            &checked(&["-s.yaml"], false, &[("--budgets", Some("-b"))]),
            "-a/b@1/m/0",
            [
                "explain --budgets='-b' --diff-lock --from='-s.yaml' -- '-a/b@1/m/0'",
                "check --budgets='-b' --accept --only='-a/b@1/m/0' -- -s.yaml",
            ],
        );
        check(&checked(&["~/x"], false, &[]), "a", ["explain 'a' --diff-lock --from '~/x'", "check '~/x' --accept --only 'a'"]);
    }

    #[test]
    fn of_several_cells_a_scenario_is_accepted_by_its_own_name_alone() {
        let check = |checked: &Checked, cells: &[&str], expect: &str| assert_eq!(accept(checked, cells.iter().copied()), expect);
        let plain = checked(&[], false, &[]);
        check(&plain, &["s/a@1/m/0", "s/b@1/m/0"], "ctxbench check --accept --only 's/*'");
        check(&plain, &["s/a@1/m/0", "t/a@1/m/0"], "ctxbench check --accept");
        check(&plain, &["s[x]*/a@1/m/0", "s[x]*/b@1/m/0"], "ctxbench check --accept --only 's\\[x\\]\\*/*'");
        check(&plain, &["-s/a@1/m/0", "-s/b@1/m/0"], "ctxbench check --accept --only='-s/*'");
        let mut other = plain;
        other.troubles.push(Trouble { exit: Exit::NotComparable, line: None, message: String::new() });
        check(&other, &["s/a@1/m/0"], "ctxbench check --accept");
    }
}
