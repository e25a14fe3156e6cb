//! Tools and files.

use std::collections::BTreeMap;

use crate::scenario::{ScenarioWorld, ToolBehaviour, ToolOutput};
use crate::strategy::ToolSpec;

use super::super::errors::Problems;
use super::super::form::{Does, Output, Tool};
use super::super::node::{Node, Value};
use super::super::text::Sources;
use super::{Builder, Seat};

/// A tool as agents are shown it.
pub(super) fn tool_spec(name: &str, tool: &Tool, sources: &Sources, problems: &mut Problems) -> ToolSpec {
    let about = tool.about.plain(&format!("tool {name}"), sources, problems).text();
    ToolSpec::new(name, about.trim(), parameters(tool))
}

/// The JSON schema of a tool's parameters.
pub(super) fn parameters(tool: &Tool) -> serde_json::Value {
    if let Some(schema) = &tool.schema {
        return schema.to_json();
    }
    let mut properties = serde_json::Map::new();
    let mut required: Vec<&str> = vec![];
    let mut add = |name: &str, schema: serde_json::Value| properties.insert(name.to_owned(), schema);
    let text = |about: &str| serde_json::json!({"type": "string", "description": about});
    if tool.parameters.0.is_empty() {
        let usual: &[(&'static str, &str, bool)] = match tool.does {
            Does::Read => &[("path", "Path of the file, from the root of the project", true)],
            Does::Write => {
                &[("path", "Path of the file, from the root of the project", true), ("text", "The whole new text of the file", true)]
            }
            Does::List => &[("path", "Only paths that begin with this; empty for all", false)],
            Does::Search => &[("pattern", "Plain text to look for in every file", true)],
            Does::Answer => &[],
        };
        for (name, about, needed) in usual {
            add(name, text(about));
            required.extend(needed.then_some(*name));
        }
    }
    for (name, parameter) in &tool.parameters.0 {
        add(&name.value, parameter.schema.clone());
        required.extend(parameter.required.then_some(name.value.as_str()));
    }
    serde_json::json!({"type": "object", "properties": properties, "required": required})
}

/// Arguments as JSON text with sorted keys, which is also their normalised spelling.
pub(super) fn arguments(args: Option<&Node>) -> String {
    args.map_or_else(|| "{}".to_owned(), |node| node.to_json().to_string())
}

/// Reports arguments that are no mapping.
pub(super) fn check_arguments(args: Option<&Node>, problems: &mut Problems) {
    if let Some(node) = args.filter(|node| !matches!(node.value, Value::Map(_))) {
        problems.add(node.at, format!("arguments must be a mapping, not {}", node.value.kind()), "write `args: {path: src/lib.rs}`, say");
    }
}

impl Builder<'_> {
    /// Files and tools as they are when a run begins.
    pub(super) fn world(&mut self) -> ScenarioWorld {
        let file = self.file;
        let mut files = BTreeMap::new();
        for form in &file.files {
            let path = &form.path.value;
            let text = self.plain(&form.text, Seat::File(path.clone()), &format!("file {path}"));
            // A path that stands twice is reported; its first text stays.
            files.entry(path.clone()).or_insert(text);
        }
        let mut tools = BTreeMap::new();
        for (name, tool) in &file.tools.0 {
            let behaviour = self.behaviour(&name.value, tool);
            tools.insert(name.value.clone(), behaviour);
        }
        ScenarioWorld::new(files, tools)
    }

    fn behaviour(&mut self, name: &str, tool: &Tool) -> ToolBehaviour {
        let ms = tool.ms;
        if tool.does != Does::Answer {
            let declared = tool.outputs.first().map(|output| output.at).or(tool.otherwise.as_ref().map(|output| output.text.at));
            if let Some(at) = declared {
                let message = format!("the tool `{name}` answers from the files and cannot declare outputs");
                self.problems.add(at, message, "remove the outputs, or leave out `does`");
            }
        } else if tool.outputs.is_empty() && tool.otherwise.is_none() && !self.problems.incomplete {
            let at = tool.about.at;
            self.problems.add(
                at,
                format!("the tool `{name}` never answers anything"),
                "declare `outputs` or `otherwise`, or say what it `does` with files",
            );
        }
        match tool.does {
            Does::Read => ToolBehaviour::ReadFile { ms },
            Does::Write => ToolBehaviour::WriteFile { ms },
            Does::List => ToolBehaviour::ListFiles { ms },
            Does::Search => ToolBehaviour::SearchFiles { ms },
            Does::Answer => {
                let mut outputs: BTreeMap<String, ToolOutput> = BTreeMap::new();
                for output in &tool.outputs {
                    check_arguments(output.value.args.as_ref(), self.problems);
                    let args = arguments(output.value.args.as_ref());
                    let made = self.output(name, &args, tool, &output.value);
                    if outputs.insert(args.clone(), made).is_some() {
                        let message = format!("the tool `{name}` answers `{args}` twice");
                        self.problems.add(output.at, message, "one output for one set of arguments");
                    }
                }
                let otherwise = tool.otherwise.as_ref().map(|output| Box::new(self.output(name, "otherwise", tool, output)));
                if let Some(args) = tool.otherwise.as_ref().and_then(|output| output.args.as_ref()) {
                    self.problems.add(args.at, "`otherwise` answers any arguments", "remove its `args`, or move it to `outputs`");
                }
                ToolBehaviour::Declared { outputs, otherwise }
            }
        }
    }

    fn output(&mut self, name: &str, args: &str, tool: &Tool, output: &Output) -> ToolOutput {
        let text = self.plain(&output.text, Seat::Tool(name.to_owned()), &format!("tool {name} {args}"));
        ToolOutput { text, failed: output.failed, ms: output.ms.unwrap_or(tool.ms), once: output.once }
    }
}
