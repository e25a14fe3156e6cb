//! `artifact-ref`: the child writes its report down, and returns where it lies with a short summary; the parent reads it
//! when it needs more than that.

use std::collections::BTreeMap;

use serde_json::json;

use crate::transcript::{Handle, Item, Means, ToolCall};

use super::super::{
    Act, Call, Event, Order, ParentView, Report, Route, RunContext, Scope, Session, Strategy, ThreadId, ToolSpec, View, When,
};
use super::TOOL;

/// The child's tool.
const WRITE: &str = "write_artifact";
/// The parent's tool.
const READ: &str = "read_artifact";

/// The baseline of a return by reference. The task goes down with a sentence that asks for the whole report in an artefact
/// and for an answer of its path and a summary. The child has `write_artifact`, the parent `read_artifact`; artefacts are
/// files of the shared world, `artifacts/N.md`. The last text comes back as the child wrote it; an artefact that it does
/// not name is named behind it.
///
/// The form is that of a multi-agent research system whose sub-agents write to external storage and hand lightweight
/// references to their lead (Anthropic, "How we built our multi-agent research system", known from secondary pages); its
/// words and figures are this project's.
#[derive(Clone, Copy, Debug)]
pub struct ArtifactRef {
    /// The most words of the summary that the child is asked for.
    pub summary_words: usize,
}

impl ArtifactRef {
    /// Two or three sentences.
    pub const WORDS: usize = 40;
}

impl Default for ArtifactRef {
    fn default() -> ArtifactRef {
        ArtifactRef { summary_words: ArtifactRef::WORDS }
    }
}

impl Strategy for ArtifactRef {
    fn id(&self) -> String {
        match self.summary_words {
            ArtifactRef::WORDS => "artifact-ref@1".into(),
            words => format!("artifact-ref@1:summary_words={words}"),
        }
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        let about = "It keeps its report in an artefact and answers with the path and a summary; `read_artifact` gives the whole report.";
        Box::new(ArtifactSession {
            summary_words: self.summary_words,
            delegate: super::tool(run, about),
            write: ToolSpec::of_strings(WRITE, "Keeps a text for whoever sent you.", &[("text", "The whole report.", true)]),
            read: ToolSpec::of_strings(READ, "Gives what a sub-agent has kept, whole.", &[("path", "As the sub-agent named it.", true)]),
            run: run.clone(),
            kept: BTreeMap::new(),
            written: 0,
        })
    }
}

struct ArtifactSession {
    summary_words: usize,
    delegate: ToolSpec,
    write: ToolSpec,
    read: ToolSpec,
    run: RunContext,
    /// What each child has kept last.
    kept: BTreeMap<ThreadId, Handle>,
    written: u32,
}

impl Session for ArtifactSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Store(text) => Some(Call { name: WRITE.into(), args: json!({ "text": text }).to_string() }),
            Act::Read(artifact) => Some(Call { name: READ.into(), args: json!({ "path": artifact.0 }).to_string() }),
            act => super::phrase(act),
        }
    }

    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let view = super::view(&self.run, at, &[TOOL, WRITE, READ]);
        match at.me().depth {
            0 => view.tool(self.delegate.clone()).tool(self.read.clone()),
            _ => view.tool(self.write.clone()),
        }
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        Route::Do(match call.name.as_str() {
            TOOL => vec![super::open(call, &self.run, at, |task| self.framed(task))],
            WRITE if at.me().depth > 0 => self.write(call, at),
            READ if at.me().depth == 0 => vec![ArtifactSession::read(call, at)],
            WRITE | READ => vec![Order::reply(call, format!("Error: `{}` is not for you.", call.name)).failed()],
            _ => return Route::Tool,
        })
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Ended(report) => report.by.map(|call| self.answer(call, at.thread, &report)).into_iter().collect(),
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}

impl ArtifactSession {
    fn framed(&self, task: &str) -> String {
        let words = self.summary_words;
        format!("{task}\n\nKeep the whole report with `{WRITE}`; then answer with its path and a summary of at most {words} words.")
    }

    fn write(&mut self, call: &ToolCall, at: &Scope<'_>) -> Vec<Order> {
        let Some(text) = super::argument(call, "text") else {
            return vec![Order::reply(call, format!("Error: `{WRITE}` needs the argument `text`, a text.")).failed()];
        };
        // A scenario may have files of that name.
        let path = loop {
            self.written += 1;
            let path = format!("artifacts/{}.md", self.written);
            if !at.files.contains_key(&path) {
                break path;
            }
        };
        self.kept.insert(at.thread, Handle(path.clone()));
        let kept = Order::reply(call, format!("Kept as {path}.")).meaning(Means::Stored(Handle(path.clone())));
        vec![Order::Write { path, text }, kept]
    }

    /// What a child has kept, to its parent: news of the delegation that was answered with this path.
    fn read(call: &ToolCall, at: &Scope<'_>) -> Order {
        let path = super::argument(call, "path").unwrap_or_default();
        match at.files.get(&path) {
            Some(text) => Order::reply(call, text.as_str()).meaning(Means::Returned(Some(Handle(path)))),
            None => Order::reply(call, format!("Error: there is no artefact `{path}`.")).failed(),
        }
    }

    fn answer(&mut self, call: &ToolCall, child: ThreadId, report: &Report<'_>) -> Order {
        let kept = self.kept.remove(&child);
        match (report.answer(), kept) {
            (Ok(text), None) => Order::reply(call, text).meaning(Means::Returned(None)),
            (Ok(text), Some(kept)) => {
                let named = if text.contains(&kept.0) { text } else { format!("{}\n\nReport: {}", text.trim_end(), kept.0) };
                Order::reply(call, named).meaning(Means::Returned(Some(kept)))
            }
            (Err(why), _) => Order::reply(call, format!("Error: {why}")).failed().meaning(Means::Failed(None)),
        }
    }
}
