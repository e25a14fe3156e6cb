//! Odd transcripts from a seed: all that a real history may hold, and some that it should not. Equal seeds give equal
//! transcripts. Include it with `#[path]`.

use ctxbench::transcript::{Body, CallKey, Content, Handle, Item, Means, Origin, Part, Phase, Role, ToolCall};

/// A parent's history at the moment when one of its calls is routed, with what its maker knows of it.
#[derive(Clone, Debug, Default)]
pub struct OddTranscript {
    /// The items: repeated wire ids, reasoning in odd places, images, mail, hidden items, summaries, records that no
    /// model reads, calls that nobody answered, results without a call, results that come a turn late.
    pub items: Vec<Item>,
    /// Calls listed as in flight: those of the turn in progress (sometimes forgotten), sometimes an older one.
    pub in_flight: Vec<CallKey>,
    /// Where the turn in progress begins.
    pub own: usize,
    /// Which reply wrote the item (reasoning, text, call); `None`: no reply of the model.
    pub reply: Vec<Option<usize>>,
    /// For a result: the position of the call that it answers.
    pub answers: Vec<Option<usize>>,
}

impl OddTranscript {
    /// The positions of calls without a result.
    pub fn unanswered(&self) -> Vec<usize> {
        (0..self.items.len()).filter(|at| self.items[*at].as_call().is_some() && !self.answers.contains(&Some(*at))).collect()
    }
}

/// The transcript of a seed.
pub fn odd_transcript(seed: u64) -> OddTranscript {
    let mut maker = Maker { random: Random(seed), made: OddTranscript::default(), replies: 0, keys: 0, late: vec![] };
    maker.make();
    maker.made
}

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// True once in so many times.
    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

struct Maker {
    random: Random,
    made: OddTranscript,
    replies: usize,
    keys: u32,
    /// Calls whose result comes later than it should, by position.
    late: Vec<usize>,
}

impl Maker {
    fn make(&mut self) {
        if self.random.one_in(24) {
            return;
        }
        self.preface();
        for _ in 0..self.random.below(4) {
            self.finished_turn();
        }
        self.made.own = self.made.items.len();
        if self.random.one_in(16) {
            return;
        }
        self.turn_in_progress();
    }

    fn push(&mut self, item: Item, reply: Option<usize>, answers: Option<usize>) {
        let item = if self.random.one_in(6) { item.hide() } else { item };
        self.made.items.push(item);
        self.made.reply.push(reply);
        self.made.answers.push(answers);
    }

    fn text(&mut self, what: &str) -> String {
        format!("{what} {}", self.random.below(5))
    }

    fn preface(&mut self) {
        if self.random.one_in(2) {
            let text = self.text("prompt");
            let role = if self.random.one_in(2) { Role::System } else { Role::Developer };
            self.push(Item::message(role, Origin::System, text), None, None);
        }
        if self.random.one_in(3) {
            self.record();
        }
        if self.random.one_in(4) {
            let text = self.text("summary");
            self.push(Item::new(Body::Compaction { parts: vec![text.into()] }, Origin::Compaction), None, None);
        }
    }

    fn record(&mut self) {
        let text = self.text("settings");
        self.push(Item::new(Body::Context { kind: "turn".into(), parts: vec![text.into()] }, Origin::Own), None, None);
    }

    fn opening(&mut self) {
        match self.random.below(6) {
            0 => self.mail(),
            1 => {
                let image = Part::new(Content::Image { media: "image/png".into(), bytes: 10, tokens: None });
                let parts = vec![Part::from("look"), image];
                self.push(Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::User), None, None);
            }
            n => {
                for _ in 0..1 + n / 5 {
                    let text = self.text("question");
                    self.push(Item::user(Origin::User, text), None, None);
                }
            }
        }
        for call in std::mem::take(&mut self.late) {
            self.result(call);
        }
    }

    fn mail(&mut self) {
        let text = self.text("news");
        let mail = Body::Mail { from: "/root/a".into(), to: "/root".into(), parts: vec![text.into()] };
        let child = Means::Returned(Some(Handle("/root/a".into())));
        self.push(Item::new(mail, Origin::Delegated).meaning(child), None, None);
    }

    /// A reply with so many calls; their positions.
    fn reply(&mut self, calls: u64) -> Vec<usize> {
        self.replies += 1;
        let reply = Some(self.replies);
        if self.random.one_in(3) {
            self.reasoning(reply);
        }
        if calls == 0 || self.random.one_in(2) {
            let text = self.text("word");
            let phase = if calls == 0 { Phase::FinalAnswer } else { Phase::Commentary };
            self.push(Item::assistant(Some(phase), text), reply, None);
        }
        let mut positions = Vec::new();
        for _ in 0..calls {
            if self.random.one_in(6) {
                self.reasoning(reply);
            }
            if self.random.one_in(10) {
                self.record();
            }
            positions.push(self.made.items.len());
            let call = ToolCall {
                key: CallKey(self.keys),
                id: format!("call_{}", self.random.below(3)),
                name: ["read", "search", "delegate"][self.random.below(3) as usize].into(),
                args: Part::from("{}"),
                intent: None,
                recorded: None,
            };
            self.keys += 1;
            self.push(Item::call(call), reply, None);
        }
        positions
    }

    fn reasoning(&mut self, reply: Option<usize>) {
        let part = Part::new(Content::Opaque { kind: "encrypted".into(), bytes: 8, tokens: None });
        let part = if self.random.one_in(2) { part } else { Part::from("thinking") };
        self.push(Item::new(Body::Reasoning { parts: vec![part] }, Origin::Own), reply, None);
    }

    fn result(&mut self, call: usize) {
        let key = self.made.items[call].as_call().map(|call| call.key);
        let delegated = self.random.one_in(3);
        let text = self.text("result");
        let item = Item::new(Body::Result { key, parts: vec![text.into()], failed: self.random.one_in(5) }, Origin::ToolResult);
        let item = if delegated { item.meaning(Means::Returned(None)) } else { item };
        self.push(item, None, Some(call));
    }

    /// A result that answers nothing: of no call, of a call that nobody made, or of one that is answered already.
    fn stray(&mut self) {
        let answered = self.made.answers.iter().flatten().next().and_then(|&at| self.made.items[at].as_call()).map(|call| call.key);
        let key = match self.random.below(3) {
            0 => None,
            1 => Some(CallKey(1_000_000)),
            _ => answered,
        };
        self.push(Item::new(Body::Result { key, parts: vec!["stray".into()], failed: false }, Origin::ToolResult), None, None);
    }

    fn finished_turn(&mut self) {
        self.opening();
        for _ in 0..self.random.below(3) {
            let calls = 1 + self.random.below(3);
            let mut calls = self.reply(calls);
            if self.random.one_in(3) {
                calls.reverse();
            }
            for call in calls {
                match self.random.below(12) {
                    0 => {} // Nobody ever answers it.
                    1 => self.late.push(call),
                    _ => self.result(call),
                }
            }
            if self.random.one_in(8) {
                self.stray();
            }
            if self.random.one_in(8) {
                self.mail();
            }
        }
        if !self.random.one_in(8) {
            self.reply(0);
        }
        if self.random.one_in(5) {
            self.record();
        }
    }

    fn turn_in_progress(&mut self) {
        if !self.random.one_in(12) {
            self.opening();
        }
        for _ in 0..self.random.below(3) {
            let calls = 1 + self.random.below(3);
            for call in self.reply(calls) {
                self.result(call);
            }
            if self.random.one_in(8) {
                self.stray();
            }
        }
        let left_over = self.made.unanswered();
        let calls = 1 + self.random.below(4);
        let calls = self.reply(calls);
        let routed = calls[self.random.below(calls.len() as u64) as usize];
        if self.random.one_in(8) {
            self.stray();
        }
        let mut listed = Vec::new();
        for call in calls {
            if call != routed && self.random.one_in(2) {
                self.result(call);
            } else {
                listed.push(call);
            }
            if self.random.one_in(10) {
                self.record();
            }
        }
        if let Some(&old) = left_over.first()
            && self.random.one_in(3)
        {
            listed.insert(0, old);
        }
        if !self.random.one_in(16) {
            self.made.in_flight = listed.iter().filter_map(|&at| self.made.items[at].as_call()).map(|call| call.key).collect();
        }
    }
}
