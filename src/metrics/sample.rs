//! Outcomes made by hand and outcomes made from a seed, for the tests of metrics and scores.

use std::sync::Arc;

use crate::ledger::{ByOrigin, Delegation, Failure, FailureKind, Fate, Log, Outcome, Row, Sent, Stop, ThreadRecord};
use crate::strategy::{Splice, ThreadId};
use crate::tokens::{CountError, Meter, TokenCounter};
use crate::transcript::{Body, CallKey, Content, Handle, Item, Means, Origin, Part, Role, ToolCall};

/// The root, in the words of these tests.
pub(crate) const ROOT: ThreadId = ThreadId::ROOT;

/// A meter whose tokens are bytes.
pub(crate) fn meter() -> Meter {
    struct Bytes;
    impl TokenCounter for Bytes {
        fn count(&self, text: &str) -> Result<u64, CountError> {
            Ok(text.len() as u64)
        }
        fn id(&self) -> &'static str {
            "bytes"
        }
    }
    Meter::new(Arc::new(Bytes))
}

/// An outcome that is being written down: each thread has one log, each item as many tokens as the test says.
pub(crate) struct Sample {
    pub(crate) outcome: Outcome,
}

impl Sample {
    /// A run with a root that holds nothing.
    pub(crate) fn new() -> Sample {
        let mut sample = Sample { outcome: Outcome::default() };
        sample.thread(None, None);
        sample
    }

    fn thread(&mut self, parent: Option<ThreadId>, intent: Option<&str>) -> ThreadId {
        let id = ThreadId(self.outcome.threads.len() as u32);
        let depth = parent.map_or(0, |parent| self.record(parent).depth + 1);
        self.outcome.logs.push(Log::default());
        self.outcome.threads.push(ThreadRecord {
            id,
            parent,
            path: Arc::from(format!("/{}", id.0)),
            depth,
            agent: "agent".into(),
            intent: intent.map(str::to_owned),
            opened_ms: 0,
            last: None,
            abandoned: false,
            log: self.outcome.logs.len() - 1,
            length: 0,
        });
        id
    }

    pub(crate) fn record(&mut self, thread: ThreadId) -> &mut ThreadRecord {
        &mut self.outcome.threads[thread.0 as usize]
    }

    /// One more item in a thread's history.
    pub(crate) fn push(&mut self, thread: ThreadId, tokens: u32, item: Item) {
        let log = self.record(thread).log;
        self.outcome.logs[log].items.push(item);
        self.outcome.logs[log].tokens.push(tokens);
        self.record(thread).length += 1;
    }

    /// A request with the thread's history as it stands, its reply 100 ms later.
    pub(crate) fn send(&mut self, thread: ThreadId, input: u64, output: u64) -> &mut Row {
        let seq = self.outcome.rows.len() as u32;
        let record = self.record(thread);
        let (log, length, path) = (record.log, record.length, record.path.clone());
        let intent = record.intent.as_deref().map(Into::into);
        let mut by_origin = ByOrigin::default();
        by_origin.add(Origin::User, input);
        self.outcome.rows.push(Row {
            seq,
            thread,
            path,
            agent: "agent".into(),
            intent,
            turn: 1,
            exchange: 0,
            sent_ms: u64::from(seq) * 1000,
            done_ms: Some(u64::from(seq) * 1000 + 100),
            input: by_origin,
            output,
            delegation: 0,
            moved: 0,
            unknown_parts: 0,
            cache: None,
            reported: None,
            fate: Fate::Replied,
            synthetic: false,
            aside: false,
            overflow: false,
            capped: false,
            attempt: 1,
            stop: Stop::End,
            broken_calls: 0,
            calls: 0,
            cut: 0,
            drift: 0,
            rescues: 0,
            sent: Sent { system: None, tools: Arc::from([]), log, length, splices: Arc::from([]), own: 0 },
        });
        // Just pushed.
        self.outcome.rows.last_mut().unwrap()
    }

    /// A delegating call in the parent's history and the child that it opens.
    pub(crate) fn open(&mut self, parent: ThreadId, key: u32, intent: &str) -> ThreadId {
        self.push(parent, 10, delegating_call(key, intent));
        self.open_behind(parent, key, intent)
    }

    /// The child that a call opens which stands in the parent's history already.
    pub(crate) fn open_behind(&mut self, parent: ThreadId, key: u32, intent: &str) -> ThreadId {
        let child = self.thread(Some(parent), Some(intent));
        self.delegate(parent, child, key, intent, true);
        child
    }

    /// An act that opened or continued a child.
    pub(crate) fn delegate(&mut self, parent: ThreadId, child: ThreadId, key: u32, intent: &str, opened: bool) {
        let (log, length) = (self.record(parent).log, self.record(parent).length);
        self.outcome.delegations.push(Delegation {
            call: CallKey(key),
            intent: Some(intent.into()),
            parent,
            child,
            opened,
            at_ms: 0,
            parent_history: (log, length),
        });
    }

    /// An ordinary call and its result: 7 tokens and as many as the test says.
    pub(crate) fn look(&mut self, thread: ThreadId, key: u32, args: &str, tokens: u32, result: &str) {
        self.push(thread, 7, call(key, "read", args));
        self.push(thread, tokens, Item::result(CallKey(key), Origin::ToolResult, result, false));
    }
}

/// A call of an ordinary tool.
pub(crate) fn call(key: u32, name: &str, args: &str) -> Item {
    Item::call(ToolCall { key: CallKey(key), id: format!("c{key}"), name: name.into(), args: args.into(), intent: None, recorded: None })
}

/// A call that was phrased from an intent.
pub(crate) fn delegating_call(key: u32, intent: &str) -> Item {
    let call = ToolCall {
        key: CallKey(key),
        id: format!("c{key}"),
        name: "delegate".into(),
        args: format!("{{\"task\":\"{intent}\"}}").into(),
        intent: Some(intent.into()),
        recorded: None,
    };
    Item::call(call)
}

/// A blocking delegation's result.
pub(crate) fn returned(key: u32, text: &str) -> Item {
    Item::result(CallKey(key), Origin::Delegated, text, false).meaning(Means::Returned(None))
}

/// What a child wrote.
pub(crate) fn wrote(text: &str) -> Item {
    Item::assistant(None, text)
}

/// Numbers from a seed (SplitMix64): equal seeds, equal outcomes.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64) as usize]
    }
}

/// Words of which the random texts are made: few, so that texts repeat and contain each other.
const WORDS: [&str; 6] = ["alpha", "beta \"quoted\"", "gamma\nline", "port 9090", "<tag>", "路径"];

fn random_text(dice: &mut Dice) -> String {
    (0..dice.below(4)).map(|_| dice.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}

fn random_item(dice: &mut Dice, key: &mut u32) -> Item {
    *key += 1;
    let text = random_text(dice);
    let before = CallKey(key.saturating_sub(1 + dice.below(3) as u32));
    match dice.below(10) {
        0 => Item::user(Origin::User, text),
        1 => Item::user(Origin::Inherited, text),
        2 | 3 => call(*key, dice.pick(&["read", "list"]), dice.pick(&["{\"path\":\"a\"}", "{\"path\": \"a\"}", "{}", "no json"])),
        4 | 5 => Item::result(before, Origin::ToolResult, text, dice.one_in(4)),
        6 => delegating_call(*key, dice.pick(&["first", "second"])),
        // Half of the returns stand in JSON.
        7 => Item::result(before, Origin::Delegated, if dice.one_in(2) { serde_json::Value::from(text).to_string() } else { text }, false)
            .meaning(Means::Returned(Some(Handle(format!("h{}", dice.below(3)))))),
        8 => Item::new(
            Body::Message { role: Role::User, phase: None, parts: vec![text.into(), Part::text(random_text(dice))] },
            Origin::Delegated,
        ),
        _ if dice.one_in(3) => {
            Item::new(Body::Reasoning { parts: vec![Part::new(Content::Opaque { kind: "r".into(), bytes: 9, tokens: None })] }, Origin::Own)
        }
        _ => wrote(&text),
    }
}

/// A well-formed outcome of any shape: threads at any depth, several logs a thread, request-only splices, requests
/// without reply.
pub(crate) fn random(seed: u64) -> Outcome {
    let mut dice = Dice(seed);
    let mut sample = Sample::new();
    let mut key = 0;
    for _ in 0..dice.below(40) {
        let thread = ThreadId(dice.below(sample.outcome.threads.len() as u64) as u32);
        match dice.below(12) {
            0 if sample.outcome.threads.len() < 6 => {
                key += 1;
                let intent = dice.pick(&["first", "second"]);
                sample.open(thread, key, intent);
            }
            1 => {
                // The history goes on in a new log that begins as the old one did.
                let (log, length) = (sample.record(thread).log, sample.record(thread).length);
                let kept = dice.below(length as u64 + 1) as usize;
                let old = &sample.outcome.logs[log];
                let new = Log { items: old.items[..kept].to_vec(), tokens: old.tokens[..kept].to_vec() };
                sample.outcome.logs.push(new);
                let last = sample.outcome.logs.len() - 1;
                (sample.record(thread).log, sample.record(thread).length) = (last, kept);
            }
            2..=4 => random_row(&mut dice, &mut sample, thread, &mut key),
            _ => {
                let item = random_item(&mut dice, &mut key);
                let tokens = 1 + dice.below(50) as u32;
                sample.push(thread, tokens, item);
            }
        }
    }
    let mut outcome = sample.outcome;
    outcome.refusals = dice.below(3) as u32;
    outcome.span_ms = (dice.below(5), 5 + dice.below(100_000));
    outcome.tools_ms = dice.below(10_000);
    outcome.critical_path_ms = dice.below(10_000);
    if dice.one_in(4) {
        outcome.failure = Some(Failure { kind: FailureKind::Model, message: "no reply".into() });
    }
    outcome
}

fn random_row(dice: &mut Dice, sample: &mut Sample, thread: ThreadId, key: &mut u32) {
    let length = sample.record(thread).length;
    let mut splices = Vec::new();
    if dice.one_in(3) {
        let at = dice.below(length as u64 + 1) as usize;
        let remove = dice.below((length - at) as u64 + 1) as usize;
        let items = (0..dice.below(3)).map(|_| random_item(dice, key)).collect();
        splices.push(Splice { at, remove, items, keep: false });
    }
    let mut input = ByOrigin::default();
    for origin in Origin::ALL {
        input.add(origin, dice.below(200));
    }
    let (delegation, moved, output) = (dice.below(100), dice.below(300), dice.below(90));
    let (calls, drift, rescues, unknown) = (dice.below(2) as u32, dice.below(2) as u32, dice.below(2) as u32, dice.below(2) as u32);
    let (overflow, unanswered) = (dice.one_in(5), dice.one_in(6));
    let row = sample.send(thread, 0, output);
    row.input = input;
    (row.delegation, row.moved, row.calls, row.drift, row.rescues) = (delegation, moved, calls, drift, rescues);
    (row.unknown_parts, row.overflow, row.sent.splices) = (unknown, overflow, splices.into());
    if unanswered {
        (row.done_ms, row.fate, row.output) = (None, Fate::Abandoned, 0);
    }
}
