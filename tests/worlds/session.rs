//! A long session of any length, played on the real engine: user turns that read and answer, some of which hand work to a child. Include
//! it with `#[path]`.

use std::collections::BTreeMap;

use ctxbench::engine;
use ctxbench::ledger::Outcome;
use ctxbench::model::profile::FRONTIER;
use ctxbench::model::{Agent, CallDraft, Pending, Reply, Request, ready};
use ctxbench::setting::{Ceilings, PromptCache, UserInput, UserTime, World};
use ctxbench::strategy::{Act, AgentSpec, Intent, RunContext, Strategy};
use ctxbench::tokens::Meter;
use ctxbench::transcript::{Item, Means, Origin, Part, Recorded, ToolCall};
use futures_util::FutureExt;

/// Eight strategies, one of each kind: none, copies, blank children, the last turns, a document, names that are written anew.
pub const EIGHT: [&str; 8] = [
    "inline",
    "full-copy",
    "opencode",
    "codex-v2@0.171",
    "codex-v2@0.160:fork_turns=3",
    "deerflow@v2:context_mode=snapshot",
    "maf-python",
    "claude-code:mode=fork",
];

/// How long a session is, and what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// User turns of the root.
    pub turns: u32,
    /// Children: as many turns, evenly spread, hand work to one.
    pub children: u32,
    /// Words of a tool's result.
    pub words: u32,
}

impl Session {
    fn delegates(&self, turn: u32) -> bool {
        let before = |turn: u32| u64::from(turn) * u64::from(self.children) / u64::from(self.turns.max(1));
        before(turn) > before(turn - 1)
    }

    /// Plays it.
    pub fn play(&self, strategy: &dyn Strategy, meter: &Meter, cache: Option<PromptCache>) -> Outcome {
        self.play_behind(vec![], strategy, meter, cache)
    }

    /// Plays it behind a history.
    pub fn play_behind(&self, history: Vec<Item>, strategy: &dyn Strategy, meter: &Meter, cache: Option<PromptCache>) -> Outcome {
        let agent = AgentSpec { system: Some(Part::from("You work in a repository.")), tools: vec![], ..AgentSpec::default() };
        let context = RunContext {
            root: "lead".into(),
            agents: ["lead", "worker"].map(|name| (name.to_owned(), agent.clone())).into(),
            ..RunContext::default()
        };
        let user = |turn: u32| {
            let question = format!("Question {turn}: {}", prose(turn, 12));
            UserInput { when: UserTime::Settled, items: vec![Item::user(Origin::User, question)] }
        };
        let outcome = engine::run(engine::Run {
            strategy,
            agent: Box::new(Player { session: *self, turn: 0, opened: 0 }),
            context,
            history,
            user: (1..=self.turns).map(user).collect(),
            world: Box::new(Nothing(BTreeMap::new())),
            meter: meter.clone(),
            ceilings: Ceilings { threads: u32::MAX, tokens: u64::MAX / 2, ..Ceilings::default() },
            window: None,
            latency: FRONTIER,
            cache,
            children: None,
        });
        let outcome = outcome.now_or_never().expect("the player answers at once");
        assert_eq!(outcome.failure, None, "{self:?} under {}", strategy.id());
        outcome
    }
}

/// Plays every thread: two reads and an answer; in some turns of the root the second read is a child's work.
struct Player {
    session: Session,
    turn: u32,
    /// Children so far. News of one may begin a turn of its own, so turns are no measure of them.
    opened: u32,
}

impl Agent for Player {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        let is_root = request.path == "/";
        if is_root {
            self.turn = request.turn;
        }
        let number = request.turn * 8 + request.exchange;
        let mut reply = Reply::default();
        let last_means = request.items.last().map_or(&[][..], |item| &item.means);
        let started: Vec<_> =
            last_means.iter().filter_map(|means| if let Means::Started(child) = means { Some(child.clone()) } else { None }).collect();
        if is_root && !started.is_empty() {
            match (request.speak)(&Act::Wait(&started)) {
                Some(wait) => reply.calls.push(CallDraft::phrased(wait, None)),
                None => reply.text = "I go on when it is done.".into(),
            }
        } else if is_root && request.exchange == 1 && self.opened < self.session.children && self.session.delegates(request.turn) {
            self.opened += 1;
            let task = format!("Look into question {}: {}", request.turn, prose(request.turn + 7, 40));
            let intent = Intent { id: "look".into(), agent: "worker".into(), title: "a look".into(), task, background: false };
            match request.delegate(&intent) {
                Some(call) => reply.calls.push(CallDraft::phrased(call, Some("look"))),
                None => reply.calls.push(self.read(number)),
            }
        } else if request.exchange < 2 && !(request.aside) {
            let place = if is_root { number } else { number + self.turn * 8 + 500_000_000 };
            reply.calls.push(self.read(place));
        } else {
            reply.text = format!("Answer {number} of {}: {}", request.turn, prose(number + 3, 30));
        }
        ready(Ok(reply))
    }
}

impl Player {
    fn read(&self, number: u32) -> CallDraft {
        let recorded = Recorded::text(prose(number, self.session.words), false, 20);
        CallDraft { recorded: Some(recorded), ..CallDraft::tool("read_file", format!("{{\"path\":\"src/part_{number}.rs\"}}")) }
    }
}

/// So many words that no other number has.
pub fn prose(number: u32, words: u32) -> String {
    const WORDS: [&str; 16] = [
        "token",
        "request",
        "header",
        "signature",
        "reads",
        "the",
        "a",
        "verify",
        "key",
        "cache",
        "returns",
        "parser",
        "when",
        "it",
        "fails",
        "session",
    ];
    let mut state = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = format!("[{number}]");
    for _ in 0..words {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push(' ');
        text.push_str(WORDS[(state >> 60) as usize]);
    }
    text
}

/// A world in which there is nothing: what is read is recorded.
struct Nothing(BTreeMap<String, String>);

impl World for Nothing {
    fn call(&mut self, call: &ToolCall) -> Recorded {
        panic!("`{}` was not recorded", call.name)
    }
    fn write(&mut self, path: &str, text: &str) {
        self.0.insert(path.to_owned(), text.to_owned());
    }
    fn files(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}
