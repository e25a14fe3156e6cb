//! Strategies that do one thing wrong: which scenarios show it, as said beforehand.

use ctxbench::strategy::{Act, AssistantTurn, Call, Event, Order, ParentView, Route, RunContext, Scope, Session, Strategy, Turn, View};
use ctxbench::transcript::{Means, ToolCall};

use super::*;

/// What it does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// Nothing.
    Right,
    /// The history that it hands down ends before the last message of the user.
    DropsTheLastTurn,
    /// Messages that people do not see look to it like any other.
    LeaksHidden,
    /// Not a child's last text comes back, but all that it read and said.
    ReturnsEverything,
}

struct Mutated {
    of: Arc<dyn Strategy>,
    how: How,
}

impl Strategy for Mutated {
    fn id(&self) -> String {
        "mutated@1".into()
    }
    fn hands_history_down(&self) -> bool {
        self.of.hands_history_down()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(MutatedSession { of: self.of.start(run), how: self.how })
    }
}

struct MutatedSession {
    of: Box<dyn Session>,
    how: How,
}

impl Session for MutatedSession {
    fn phrase(&self, act: &Act<'_>) -> Option<Call> {
        self.of.phrase(act)
    }
    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        self.of.view(history, at)
    }
    fn turn(&mut self, reply: AssistantTurn, history: &[Item], at: &Scope<'_>) -> Turn {
        self.of.turn(reply, history, at)
    }
    fn route(&mut self, call: &ToolCall, parent: ParentView<'_>, at: &Scope<'_>) -> Route {
        let mut items = parent.items.to_vec();
        match self.how {
            How::DropsTheLastTurn => {
                let last = items.iter().rposition(|item| item.origin == Origin::User).unwrap_or(0);
                items.truncate(last);
            }
            How::LeaksHidden => items.iter_mut().for_each(|item| item.hidden = false),
            How::Right | How::ReturnsEverything => return self.of.route(call, parent, at),
        }
        let kept = |key: &&ctxbench::transcript::CallKey| items.iter().any(|item| item.as_call().is_some_and(|call| call.key == **key));
        let in_flight: Vec<_> = parent.in_flight.iter().filter(kept).copied().collect();
        let at = Scope { own: at.own.min(items.len()), ..*at };
        self.of.route(call, ParentView { items: &items, in_flight: &in_flight }, &at)
    }
    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        let all: Option<String> = match &event {
            Event::Ended(report) => Some(report.items.iter().map(Item::text).collect::<Vec<_>>().join("\n")),
            _ => None,
        };
        let mut orders = self.of.deliver(event, at);
        if let (How::ReturnsEverything, Some(all)) = (self.how, all) {
            for order in &mut orders {
                if let Order::Reply { text, means, failed, .. } = order {
                    (*text, *means, *failed) = (Part::text(all.as_str()), vec![Means::Returned(None)], false);
                }
            }
        }
        orders
    }
}

/// A strategy and the same one with a fault, on one scenario.
fn both(bench: &Bench, spec: &str, how: How) -> [Played; 2] {
    [How::Right, how].map(|how| play(&bench.reader, &Mutated { of: strategy(spec), how }, &bench.meter))
}

#[test]
fn nothing_wrong_is_no_difference() {
    let bench = Bench::new("stale-decision", Size::Small);
    for spec in ["full-copy", "opencode", "deerflow:context_mode=snapshot"] {
        let [wrapped, _] = both(&bench, spec, How::Right);
        assert_eq!(format!("{:?}", wrapped.outcome.rows), format!("{:?}", bench.play(spec).outcome.rows), "{spec}");
    }
}

/// Shown where the turn in progress says what is meant, or where it was decided; not where an earlier one did.
#[test]
fn a_dropped_last_turn_shows_in_vague_briefs_and_decisions_of_the_turn_itself() {
    for (name, right, wrong, drift) in [
        ("vague-brief", 1.0, 0.0, 1.0),
        ("recent-decision-beside-call", 1.0, 0.0, 0.0),
        ("recent-decision", 1.0, 1.0, 0.0),
        ("stale-decision", 1.0, 1.0, 0.0),
        ("continue-debugging", 1.0, 1.0, 0.0),
    ] {
        let bench = Bench::new(name, Size::Small);
        let [whole, mutated] = both(&bench, "full-copy", How::DropsTheLastTurn);
        assert_eq!(figures(&whole, ["child.quality", "drift"]), [right, 0.0], "{name}");
        assert_eq!(figures(&mutated, ["child.quality", "drift"]), [wrong, drift], "{name}");
    }
}

/// Shown where a hidden message decides, and where it must not come back.
#[test]
fn a_leak_of_hidden_messages_shows_where_one_decides_and_where_one_must_not_come_back() {
    for (name, right, wrong) in
        [("stale-decision-hidden", 0.0, 1.0), ("noisy-history", 1.0, 0.75), ("stale-decision", 1.0, 1.0), ("old-decision", 1.0, 1.0)]
    {
        let bench = Bench::new(name, Size::Small);
        let [kept, leaked] = both(&bench, "deerflow:context_mode=snapshot", How::LeaksHidden);
        assert_eq!(figure(&kept, "child.quality"), right, "{name}");
        assert_eq!(figure(&leaked, "child.quality"), wrong, "{name}");
    }
}

/// Shown where a child reads much, and where it says nothing: what it read is taken for its answer.
#[test]
fn returning_everything_shows_in_the_parent_and_in_children_that_fail() {
    for name in ["test-log-triage", "code-review-diff", "auth-lookup", "test-framework"] {
        let bench = Bench::new(name, Size::Medium);
        let [text, everything] = both(&bench, "opencode", How::ReturnsEverything).map(|run| figure(&run, "parent.final_context"));
        assert!(everything > 2.0 * text, "{name}: {text} and {everything}");
    }
    let bench = Bench::new("child-fails-empty", Size::Small);
    let [text, everything] = both(&bench, "opencode", How::ReturnsEverything).map(|run| figures(&run, ["child.quality", "rescues"]));
    assert_eq!((text, everything), ([0.0, 1.0], [1.0, 0.0]));
    // A record that a child may read and its parent may not comes back either way: it was in the report.
    let bench = Bench::new("permission-narrowing", Size::Small);
    let [text, everything] = both(&bench, "opencode", How::ReturnsEverything).map(|run| figure(&run, "child.quality"));
    assert_eq!((text, everything), (0.5, 0.5));
}
