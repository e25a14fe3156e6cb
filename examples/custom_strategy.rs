//! A strategy of your own, in a crate of your own, with the whole command line of `ctxbench` around it.
//!
//! ```sh
//! cargo run --example custom_strategy -- run tiny-task -s user-words -s user-words:messages=3 -s opencode
//! cargo run --example custom_strategy -- show tiny-task/user-words/reader/0 --vs opencode
//! ```
//!
//! `user-words` sends down what the user said last, in the user's own words, and then the task. What tools said and what
//! the parent wrote stays with the parent. The child's last text comes back.

use std::process::ExitCode;

use ctxbench::cli;
use ctxbench::strategy::{
    Act, Call, End, Event, New, OptionSpec, Order, ParentView, Registered, Registry, Route, RunContext, Scope, Session, Strategy, ToolSpec,
    View, When,
};
use ctxbench::transcript::{Item, Means, Origin, Role, ToolCall};

fn main() -> ExitCode {
    cli::run(std::env::args_os(), &registry()).into()
}

/// The built-in strategies and this one.
pub fn registry() -> Registry {
    let mut registry = Registry::builtin();
    let added = registry.register(Registered {
        id: "user-words",
        profiles: &["1"],
        options: &[OptionSpec { key: "messages", words: &[], numbers: Some((1, 99)), default: "1", profiles: &[] }],
        rows: &["user-words"],
        about: "the child opens with the user's last words and the task; its last text comes back",
        down: "the user's last words, then the task",
        back: "the child's last text",
        returns: true,
        build: |choice| Box::new(UserWords { messages: choice.option("messages").parse().unwrap_or(1) }),
    });
    if let Err(why) = added {
        eprintln!("{why}");
    }
    registry
}

struct UserWords {
    messages: usize,
}

impl Strategy for UserWords {
    // Stands in cell ids: what equals the default is left out.
    fn id(&self) -> String {
        match self.messages {
            1 => "user-words@1".into(),
            many => format!("user-words@1:messages={many}"),
        }
    }

    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        let tool = ToolSpec::of_strings(
            "hand_over",
            "Hands a task to another agent, which sees the user's last words and the task, and returns its answer.",
            &[("agent", "Which agent.", true), ("task", "What it should do and report.", true)],
        );
        Box::new(UserWordsSession { messages: self.messages, run: run.clone(), tool })
    }
}

struct UserWordsSession {
    messages: usize,
    run: RunContext,
    tool: ToolSpec,
}

impl Session for UserWordsSession {
    // How a simulated or held agent writes a delegation down in this protocol.
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        let Act::Delegate(intent) = act else { return None };
        let args = serde_json::json!({"agent": intent.agent, "task": intent.task});
        Some(Call { name: self.tool.name.to_string(), args: args.to_string() })
    }

    // What every request of every thread is made of: here each agent's own prompt and tools, and the root may delegate.
    fn view(&mut self, _: &[Item], at: &Scope<'_>) -> View {
        let view = View::of(&at.me().agent, &self.run);
        if at.me().depth == 0 { view.tool(self.tool.clone()) } else { view }
    }

    // What a call does: here one opens a child, all others are the world's.
    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        if call.name != self.tool.name {
            return Route::Tool;
        }
        let args: serde_json::Value = serde_json::from_str(call.args.as_text()).unwrap_or_default();
        let text = |key| args.get(key).and_then(serde_json::Value::as_str);
        let order = match (text("agent"), text("task")) {
            _ if at.me().depth > 0 => Order::refuse(call, "Error: only the first agent hands over."),
            (Some(agent), Some(task)) if self.run.agents.contains_key(agent) => {
                let mut items = self.last_words(parent.items);
                items.push(Item::user(Origin::Task, task));
                Order::open(call.key, New::agent(agent), items)
            }
            _ => Order::refuse(call, "Error: `hand_over` needs a known `agent` and a `task`."),
        };
        Route::Do(vec![order])
    }

    // What happens between requests: the user speaks, a child's turn ends.
    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        match event {
            Event::Input(items) => vec![Order::input(items, When::Turn, at)],
            Event::Ended(report) => {
                let Some(call) = report.by else { return vec![] };
                // `means` tells the metrics what the text tells the parent.
                vec![match (report.end, report.last_text()) {
                    (End::Done, Some(text)) => Order::reply(call, text).meaning(Means::Returned(None)),
                    _ => Order::reply(call, "Error: the agent gave no answer.").failed().meaning(Means::Failed(None)),
                }]
            }
            Event::Opened { .. } | Event::Waiting { .. } | Event::Aside(_) => vec![],
        }
    }
}

impl UserWordsSession {
    fn last_words(&self, history: &[Item]) -> Vec<Item> {
        let said = history.iter().rev().filter(|item| item.role() == Some(Role::User) && item.origin == Origin::User);
        let mut words: Vec<Item> = said.take(self.messages).map(Item::inherited).collect();
        words.reverse();
        words
    }
}
