//! A small project with a scenario, budgets and a lock, checked by the real binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The scenario's id.
pub const SCENARIO: &str = "lookup";
/// A cell of it.
pub const CELL: &str = "lookup/opencode@1.18.33/reader/0";

/// Budgets of one cell: tokens and score may not move at all.
pub const BUDGETS: &str = r#"version = 1
tokenizer = "o200k_base"

[defaults]
grow = 0
drop = 0

[[budget]]
scenario = "lookup"
strategy = "opencode"
why = "a lookup stays small"
"parent.input_total" = {}
"quality" = {}
"#;

/// A folder of its own, taken away at the end.
pub struct Project {
    /// The folder.
    pub folder: tempfile::TempDir,
}

/// What a command did.
pub struct Done {
    /// Its exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code().expect("it was not killed"),
            out: String::from_utf8(output.stdout).expect("reports are UTF-8"),
            err: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    }
}

impl Done {
    /// The last line of all that was said: standard error comes last.
    pub fn last_line(&self) -> &str {
        self.err.lines().last().or(self.out.lines().last()).unwrap_or_default()
    }

    /// Expects an exit code, that the last line names it, and words.
    pub fn expect(self, code: i32, words: &[&str]) -> Done {
        let all = format!("{}\n{}", self.out, self.err);
        assert_eq!(self.code, code, "{all}");
        assert!(self.last_line().starts_with(&format!("exit {code}: ")), "the last line names the code: {all}");
        // Lines are folded for terminals.
        let folded = all.split_whitespace().collect::<Vec<_>>().join(" ");
        words.iter().for_each(|word| assert!(folded.contains(word), "it does not say `{word}`: {all}"));
        self
    }
}

impl Project {
    /// A project with the scenario and [`BUDGETS`], nothing accepted.
    pub fn new() -> Project {
        let project = Project { folder: tempfile::tempdir().expect("a folder for the test") };
        project.write("budgets.toml", BUDGETS);
        project.write(&format!("scenarios/{SCENARIO}.yaml"), &scenario(SCENARIO));
        project
    }

    /// The same, with everything accepted.
    pub fn accepted() -> Project {
        let project = Project::new();
        project.check(&["--accept"]).expect(0, &[]);
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("a folder can be made");
        fs::write(path, text).expect("the test folder is writable");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }

    /// Replaces a text that stands in a file.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} holds no `{from}`:\n{text}");
        self.write(name, &text.replacen(from, to, 1));
    }

    /// The binary in this folder, outside of any CI.
    pub fn command(&self) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ctxbench"));
        command.current_dir(self.folder.path()).env_remove("CI");
        command
    }

    pub fn run(&self, args: &[&str]) -> Done {
        self.command().args(args).output().expect("the binary runs").into()
    }

    /// Changes the accepted value of the first cell's parent's input in the lock; its first origin makes up for the difference.
    pub fn accept_input_as(&self, change: impl Fn(i64) -> i64) {
        let lock = self.read("budgets.lock");
        let line = lock.lines().find(|line| line.contains(" parent.input_total ")).expect("it was accepted");
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let value: i64 = words[2].parse().expect("a count");
        let (name, tokens) = words[4].split_once('=').expect("an origin");
        let tokens: i64 = tokens.parse().expect("tokens");
        let changed = change(value);
        words[4] = format!("{name}={}", tokens + changed - value);
        words[2] = changed.to_string();
        self.edit("budgets.lock", line, &words.join(" "));
    }

    /// A command as it is printed, in a shell.
    pub fn paste(&self, command: &str) -> Done {
        let binary = assert_cmd::cargo::cargo_bin!("ctxbench").display().to_string();
        let command = command.replacen("ctxbench", &format!("'{binary}'"), 1);
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(self.folder.path()).env_remove("CI").output().expect("a shell runs").into()
    }

    /// `check` with more arguments.
    pub fn check(&self, args: &[&str]) -> Done {
        self.command().arg("check").args(args).output().expect("the binary runs").into()
    }

    /// The same with CI set.
    pub fn check_in_ci(&self, args: &[&str]) -> Done {
        self.command().env("CI", "true").arg("check").args(args).output().expect("the binary runs").into()
    }

    /// `check --format json`.
    pub fn document(&self, args: &[&str]) -> Value {
        let done = self.command().args(["check", "--format", "json"]).args(args).output().expect("the binary runs");
        serde_json::from_slice(&done.stdout).unwrap_or_else(|why| panic!("{why}: {}", String::from_utf8_lossy(&done.stderr)))
    }

    /// A row of it.
    pub fn row(&self, cell: &str, metric: &str) -> Value {
        let document = self.document(&[]);
        let rows = document["rows"].as_array().expect("rows");
        let found = rows.iter().find(|row| row["cell"] == cell && row["metric"] == metric);
        found.unwrap_or_else(|| panic!("no row of {cell} {metric}: {document:#}")).clone()
    }
}

/// The suite's smallest scenario under another id.
pub fn scenario(id: &str) -> String {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/tiny-task.yaml");
    fs::read_to_string(suite).expect("the suite is readable").replace("id: tiny-task\n", &format!("id: {id}\n"))
}

impl Done {
    /// Expects a usage error with a word, of whatever command.
    pub fn expect_usage(self, word: &str) {
        let done = self;
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains(word), "{}", done.err);
    }
}
