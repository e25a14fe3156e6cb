//! No system of record: what none of the six does. A child whose turn was stopped gets one more turn by the same call,
//! and a long history is summarised by a request of its own.

use serde_json::json;

use crate::strategy::{
    Act, Call, End, Event, New, Order, ParentView, Route, RunContext, Scope, Session, Splice, Strategy, ThreadId, To, View, When,
};
use crate::transcript::{Body, Handle, Item, Means, Origin, Part, ToolCall};

use super::{call, task, text, tool};

/// The strategy.
pub struct Grace {
    /// Requests of a child's turn.
    pub rounds: u32,
    /// The root's history is summarised from so many items on; 0: never.
    pub compact_at: usize,
}

impl Strategy for Grace {
    fn id(&self) -> String {
        format!("grace@stub:compact_at={},rounds={}", self.compact_at, self.rounds)
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(Last { run: run.clone(), rounds: self.rounds, compact_at: self.compact_at, child: None, shown: 0, summary: None })
    }
}

struct Last {
    run: RunContext,
    rounds: u32,
    compact_at: usize,
    /// The one child: all tasks queue up for it.
    child: Option<ThreadId>,
    /// How many items the last aside was shown.
    shown: usize,
    summary: Option<String>,
}

impl Session for Last {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        match act {
            Act::Delegate(intent) => call("delegate", json!({"agent": intent.agent, "task": intent.task})),
            _ => None,
        }
    }

    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        let view = View::of(&at.me().agent, &self.run);
        if at.me().depth > 0 {
            let stop = (at.exchange >= self.rounds).then(|| End::Stopped(format!("{} rounds", self.rounds)));
            return View { stop, ..view };
        }
        let view = view.tool(tool("delegate"));
        if let Some(summary) = self.summary.take() {
            let items = vec![Item::new(Body::Compaction { parts: vec![Part::text(summary)] }, Origin::Compaction)];
            // The first message stays; a call or a result never stays without the other.
            let at = usize::from(history.first().is_some_and(|first| first.role().is_some()));
            return View { splices: vec![Splice { at, remove: self.shown - at, items, keep: true }], ..view };
        }
        if self.compact_at > 0 && history.len() >= self.compact_at {
            let ask = Item::user(Origin::Compaction, "Summarise.");
            self.shown = history.len();
            let splices = vec![Splice { at: history.len(), remove: 0, items: vec![ask], keep: false }];
            return View { splices, aside: true, ..view };
        }
        view
    }

    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, _: &Scope<'_>) -> Route {
        if call.name != "delegate" {
            return Route::Tool;
        }
        let items = vec![task(text(call, "task"))];
        Route::Do(vec![match self.child {
            Some(thread) => Order::Put { to: To::Thread(thread), items, when: When::Turn, by: Some(call.key) },
            None => Order::open(call.key, New::agent(text(call, "agent")), items),
        }])
    }

    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Opened { child: Ok(thread), .. } => {
                self.child = Some(thread);
                vec![]
            }
            Event::Opened { by: Some(call), child: Err(why) } => vec![Order::refuse(call, why)],
            Event::Aside(reply) => {
                self.summary = Some(reply.text);
                vec![]
            }
            Event::Ended(report) => {
                let Some(call) = report.by else { return vec![] };
                let graced = report.items[report.own..].iter().any(|item| item.text() == "Wrap up.");
                vec![match report.end {
                    End::Stopped(_) if !graced => {
                        Order::Put { to: To::Thread(at.thread), items: vec![task("Wrap up.")], when: When::Turn, by: Some(call.key) }
                    }
                    End::Done => Order::reply(call, report.last_text().unwrap_or_default()).meaning(Means::Returned(None)),
                    _ => Order::reply(call, "no answer").failed().meaning(Means::Failed(None::<Handle>)),
                }]
            }
            _ => vec![],
        }
    }
}
