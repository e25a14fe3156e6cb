//! The world of a scenario: files and tools, shared by all threads, mutable and versioned.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::setting::World;
use crate::transcript::{Recorded, ToolCall, normalised_arguments};

/// What a tool does when it is called.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolBehaviour {
    /// Reads the file that the argument `path` names.
    ReadFile {
        /// Duration in milliseconds.
        ms: u64,
    },
    /// Writes the argument `text` into the file that the argument `path` names.
    WriteFile {
        /// Duration in milliseconds.
        ms: u64,
    },
    /// Lists the paths that begin with the argument `path`, one a line.
    ListFiles {
        /// Duration in milliseconds.
        ms: u64,
    },
    /// Lines of all files that hold the argument `pattern` as plain text, each as `PATH:LINE: TEXT`.
    SearchFiles {
        /// Duration in milliseconds.
        ms: u64,
    },
    /// Declared outputs, by normalised arguments.
    Declared {
        /// The outputs.
        outputs: BTreeMap<String, ToolOutput>,
        /// For any other arguments; `None`: an error that names the known ones.
        otherwise: Option<Box<ToolOutput>>,
    },
}

/// A declared tool output.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// Whether it is an error.
    pub failed: bool,
    /// Duration in milliseconds.
    pub ms: u64,
    /// A source that answers `gone` the second time.
    pub once: bool,
}

/// Files and tools. A run works on a copy, which shares what the run does not change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioWorld {
    /// The files by path.
    pub files: Arc<BTreeMap<String, String>>,
    /// The tools by name.
    pub tools: Arc<BTreeMap<String, ToolBehaviour>>,
    /// How often each `once` source has answered, by tool and normalised arguments.
    answered: BTreeMap<(String, String), u32>,
    /// How often each file has been written in this run.
    versions: BTreeMap<String, u32>,
}

impl ScenarioWorld {
    /// A world of these files and tools.
    pub fn new(files: BTreeMap<String, String>, tools: BTreeMap<String, ToolBehaviour>) -> ScenarioWorld {
        ScenarioWorld { files: Arc::new(files), tools: Arc::new(tools), ..ScenarioWorld::default() }
    }

    /// A file's version: 0 as the scenario has it, then one more a write. `None`: no such file.
    pub fn version(&self, path: &str) -> Option<u32> {
        self.files.contains_key(path).then(|| self.versions.get(path).copied().unwrap_or(0))
    }
}

impl World for ScenarioWorld {
    fn call(&mut self, call: &ToolCall) -> Recorded {
        let Some(behaviour) = self.tools.get(&call.name) else {
            let known = self.tools.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            return Recorded::text(format!("Error: there is no tool `{}`. Known tools: {known}.", call.name), true, 1);
        };
        let args: serde_json::Value = match serde_json::from_str(call.args.as_text()) {
            Ok(args) => args,
            Err(why) => return Recorded::text(format!("Error: the arguments are no JSON: {why}."), true, 1),
        };
        let text_argument = |name: &str| args.get(name).and_then(|value| value.as_str()).map(str::to_owned);
        let missing = |name: &str| Recorded::text(format!("Error: `{}` needs the argument `{name}`.", call.name), true, 1);
        match behaviour {
            ToolBehaviour::ReadFile { ms } => match text_argument("path") {
                None => missing("path"),
                Some(path) => match self.files.get(&path) {
                    Some(text) => Recorded::text(text.as_str(), false, *ms),
                    None => Recorded::text(format!("Error: there is no file `{path}`."), true, *ms),
                },
            },
            ToolBehaviour::WriteFile { ms } => {
                let ms = *ms;
                match (text_argument("path"), text_argument("text")) {
                    (Some(path), Some(text)) => {
                        let said = format!("Wrote {} bytes to {path}.", text.len());
                        self.write(&path, &text);
                        Recorded::text(said, false, ms)
                    }
                    (None, _) => missing("path"),
                    (_, None) => missing("text"),
                }
            }
            ToolBehaviour::ListFiles { ms } => {
                let under = text_argument("path").unwrap_or_default();
                let found: Vec<&str> = self.files.keys().filter(|path| path.starts_with(&under)).map(String::as_str).collect();
                let text = if found.is_empty() { "No files found.".to_owned() } else { found.join("\n") };
                Recorded::text(text, false, *ms)
            }
            ToolBehaviour::SearchFiles { ms } => match text_argument("pattern") {
                None => missing("pattern"),
                Some(pattern) => {
                    let mut found = Vec::new();
                    for (path, text) in &*self.files {
                        for (at, line) in text.lines().enumerate() {
                            if line.contains(&pattern) {
                                found.push(format!("{path}:{}: {line}", at + 1));
                            }
                        }
                    }
                    let text = if found.is_empty() { "No matches.".to_owned() } else { found.join("\n") };
                    Recorded::text(text, false, *ms)
                }
            },
            ToolBehaviour::Declared { outputs, otherwise } => {
                let arguments = normalised_arguments(call.args.as_text());
                let Some(output) = outputs.get(&arguments).or(otherwise.as_deref()) else {
                    let known = outputs.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                    return Recorded::text(
                        format!("Error: `{}` has no answer to {arguments}. Known arguments: {known}.", call.name),
                        true,
                        1,
                    );
                };
                let times = self.answered.entry((call.name.clone(), arguments)).or_insert(0);
                *times += 1;
                if output.once && *times > 1 {
                    return Recorded::text("gone", true, output.ms);
                }
                Recorded::text(output.text.as_str(), output.failed, output.ms)
            }
        }
    }

    fn write(&mut self, path: &str, text: &str) {
        Arc::make_mut(&mut self.files).insert(path.to_owned(), text.to_owned());
        *self.versions.entry(path.to_owned()).or_insert(0) += 1;
    }

    fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }
}
