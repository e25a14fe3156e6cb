//! `inline`: no delegation at all.

use std::collections::BTreeSet;

use crate::transcript::{Item, ToolCall, ToolName};

use super::{Act, Call, ParentView, Route, RunContext, Scope, Session, Strategy, View};

/// The baseline without delegation: no tool for it is shown, the parent has every agent's tools and does the work itself.
#[derive(Clone, Debug, Default)]
pub struct Inline;

impl Strategy for Inline {
    fn id(&self) -> String {
        "inline@1".into()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        let mut view = View::of(&run.root, run);
        let mut seen: BTreeSet<ToolName> = view.tools.iter().map(|tool| tool.name.clone()).collect();
        for spec in run.agents.values() {
            for tool in &spec.tools {
                if seen.insert(tool.name.clone()) {
                    view.tools.push(tool.clone());
                }
            }
        }
        Box::new(InlineSession { view })
    }
}

struct InlineSession {
    view: View,
}

impl Session for InlineSession {
    fn phrase(&self, _: &Act<'_>) -> Option<Call> {
        None
    }
    fn view(&mut self, _: &[Item], _: &Scope<'_>) -> View {
        self.view.clone()
    }
    fn route(&mut self, _: &ToolCall, _: ParentView<'_>, _: &Scope<'_>) -> Route {
        Route::Tool
    }
}
