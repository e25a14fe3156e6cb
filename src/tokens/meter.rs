//! The memo: each unique text is counted once a run, keyed by its content.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use crate::transcript::{BodyWeight, Content, Digest, Item, Part, PartWeight, Role, ToolSpec};

use super::frame::{ITEM_FRAME, NAME_FRAME, with_call_header, with_header};
use super::{CountError, TokenCounter};

/// Tokens of something, and how many of its parts nobody can count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Tokens, frame included.
    pub tokens: u32,
    /// Parts whose tokens are unknown: counted as 0 here and named in every figure that holds them.
    pub unknown_parts: u32,
}

/// What was done, for gates on exact counters. They do not depend on the number of threads: `bytes_tokenised` is always
/// `unique_bytes + unkept_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls of the tokenizer that it answered.
    pub calls: u64,
    /// Bytes that it was given in them.
    pub bytes_tokenised: u64,
    /// Bytes of the distinct texts in the memo.
    pub unique_bytes: u64,
    /// Bytes of the texts that were counted and not kept ([`Meter::text`]).
    pub unkept_bytes: u64,
}

/// Parts of the memo that are locked on their own. More than any number of threads that a run has.
const SHARDS: usize = 64;

#[derive(Default)]
struct Shard {
    counted: FxHashMap<Digest, u32>,
    /// Texts that some thread is counting right now, and those that could not be counted.
    counting: FxHashMap<Digest, Arc<OnceLock<Result<u32, CountError>>>>,
}

struct Memo {
    shards: [Mutex<Shard>; SHARDS],
    calls: AtomicU64,
    bytes_tokenised: AtomicU64,
    unique_bytes: AtomicU64,
    unkept_bytes: AtomicU64,
}

impl Memo {
    fn shard(&self, digest: Digest) -> MutexGuard<'_, Shard> {
        // No step between a lock and its release can leave a shard half changed, so a panic elsewhere does not matter.
        self.shards[digest.0 as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts parts, items and tools in one encoding; shared by all cells and threads of a run.
///
/// A text is counted by the first thread that asks for it; others that ask meanwhile wait for that count, and nobody
/// else waits.
#[derive(Clone)]
pub struct Meter {
    counter: Arc<dyn TokenCounter>,
    memo: Arc<Memo>,
    /// What the weights that it leaves with items are known by.
    number: u64,
}

/// How many meters there were: two never share a number, so that none takes another's weights.
static METERS: AtomicU64 = AtomicU64::new(0);

impl Meter {
    /// A meter with an empty memo. The memo belongs to this counter: one encoding, one meter.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Meter {
        let memo = Memo {
            shards: std::array::from_fn(|_| Mutex::default()),
            calls: AtomicU64::new(0),
            bytes_tokenised: AtomicU64::new(0),
            unique_bytes: AtomicU64::new(0),
            unkept_bytes: AtomicU64::new(0),
        };
        Meter { counter, memo: Arc::new(memo), number: METERS.fetch_add(1, Relaxed) }
    }

    /// What was done so far. Exact once the threads that count have ended.
    pub fn counters(&self) -> Counters {
        let Memo { calls, bytes_tokenised, unique_bytes, unkept_bytes, .. } = &*self.memo;
        Counters {
            calls: calls.load(Relaxed),
            bytes_tokenised: bytes_tokenised.load(Relaxed),
            unique_bytes: unique_bytes.load(Relaxed),
            unkept_bytes: unkept_bytes.load(Relaxed),
        }
    }

    fn count(&self, text: &str) -> Result<u32, CountError> {
        let tokens = self.counter.count(text)?;
        self.memo.calls.fetch_add(1, Relaxed);
        self.memo.bytes_tokenised.fetch_add(text.len() as u64, Relaxed);
        u32::try_from(tokens).map_err(|_| CountError::Overflow { what: format!("a text of {} bytes", text.len()) })
    }

    fn memoised(&self, digest: Digest, text: &str) -> Result<u32, CountError> {
        if text.is_empty() {
            return Ok(0);
        }
        let cell = {
            let mut shard = self.memo.shard(digest);
            if let Some(&tokens) = shard.counted.get(&digest) {
                return Ok(tokens);
            }
            shard.counting.entry(digest).or_default().clone()
        };
        let tokens = cell.get_or_init(|| self.count(text)).clone()?;
        let mut shard = self.memo.shard(digest);
        // Of the threads that had the cell, the first to come here writes it down.
        if shard.counting.remove(&digest).is_some() {
            shard.counted.insert(digest, tokens);
            self.memo.unique_bytes.fetch_add(text.len() as u64, Relaxed);
        }
        Ok(tokens)
    }

    /// Tokens of a text that stands nowhere else: counted, not kept.
    pub fn text(&self, text: &str) -> Result<u32, CountError> {
        if text.is_empty() {
            return Ok(0);
        }
        let tokens = self.count(text)?;
        self.memo.unkept_bytes.fetch_add(text.len() as u64, Relaxed);
        Ok(tokens)
    }

    /// Tokens of a part; `None`: unknown.
    pub fn part(&self, part: &Part) -> Result<Option<u32>, CountError> {
        match part.content() {
            Content::Text(text) => {
                let weight = part.weight();
                if let Some(known) = weight.get().filter(|known| known.by == self.number) {
                    return Ok(Some(known.tokens));
                }
                let tokens = self.memoised(part.digest(), text)?;
                // Another meter may have been first: it keeps its place.
                weight.get_or_init(|| PartWeight { by: self.number, tokens });
                Ok(Some(tokens))
            }
            Content::Image { tokens, .. } | Content::File { tokens, .. } | Content::Opaque { tokens, .. } => Ok(*tokens),
        }
    }

    /// Tokens of an item as it is sent; an item that no model reads weighs nothing. What a body weighs stays with it, so that whoever
    /// shares it (a fork) asks nobody.
    pub fn item(&self, item: &Item) -> Result<Weight, CountError> {
        let weight = item.weight();
        let body = match weight.get() {
            Some(&known) if known.by == self.number => known,
            Some(_) => self.body(item)?,
            None => {
                let counted = self.body(item)?;
                // Another thread may have been first: a weight of the same body.
                weight.get_or_init(|| counted);
                counted
            }
        };
        let BodyWeight { mut tokens, unknown_parts, .. } = body;
        if let Some(name) = item.name().filter(|_| item.is_sent()) {
            tokens = tokens.checked_add(self.name(name)?).ok_or_else(|| item_overflow(item))?;
        }
        Ok(Weight { tokens, unknown_parts })
    }

    fn body(&self, item: &Item) -> Result<BodyWeight, CountError> {
        if !item.is_sent() {
            return Ok(BodyWeight { by: self.number, tokens: 0, unknown_parts: 0 });
        }
        let header = with_header(item, |header| self.memoised(Digest::of(header), header))?;
        let mut tokens = u64::from(ITEM_FRAME) + u64::from(header);
        let mut unknown_parts = 0_u64;
        for part in item.parts() {
            match self.part(part)? {
                Some(more) => tokens += u64::from(more),
                None => unknown_parts += 1,
            }
        }
        let narrow = |sum: u64| u32::try_from(sum).map_err(|_| item_overflow(item));
        Ok(BodyWeight { by: self.number, tokens: narrow(tokens)?, unknown_parts: narrow(unknown_parts)? })
    }

    /// What an item weighs beside its parts: its frame, its header and a name.
    pub fn frame(&self, item: &Item) -> Result<u32, CountError> {
        let header = with_header(item, |header| self.memoised(Digest::of(header), header))?;
        let name = item.name().map_or(Ok(0), |name| self.name(name))?;
        Ok(ITEM_FRAME.saturating_add(header).saturating_add(name))
    }

    /// What a name beside a role weighs.
    pub fn name(&self, name: &str) -> Result<u32, CountError> {
        Ok(NAME_FRAME.saturating_add(self.memoised(Digest::of(name), name)?))
    }

    /// What a message of one text will weigh as an item.
    pub fn assistant(&self, text: &str) -> Result<u32, CountError> {
        let header = Role::Assistant.name();
        self.segment(self.memoised(Digest::of(header), header)?, text)
    }

    /// What a call with these arguments will weigh as an item.
    pub fn call(&self, tool: &str, args: &str) -> Result<u32, CountError> {
        self.segment(with_call_header(tool, |header| self.memoised(Digest::of(header), header))?, args)
    }

    fn segment(&self, header: u32, text: &str) -> Result<u32, CountError> {
        let content = self.memoised(Digest::of(text), text)?;
        let sum = ITEM_FRAME.checked_add(header).and_then(|sum| sum.checked_add(content));
        sum.ok_or_else(|| CountError::Overflow { what: format!("a text of {} bytes", text.len()) })
    }

    /// Tokens of a tool's schema as it is sent.
    pub fn tool(&self, tool: &ToolSpec) -> Result<u32, CountError> {
        self.framed("tool", &tool.schema, || format!("the schema of the tool `{}`", tool.name))
    }

    /// Tokens of a system text as it is sent.
    pub fn system(&self, system: &Part) -> Result<u32, CountError> {
        self.framed("system", system, || "the system text".to_owned())
    }

    fn framed(&self, header: &str, part: &Part, what: impl Fn() -> String) -> Result<u32, CountError> {
        let header = self.memoised(Digest::of(header), header)?;
        let content = self.part(part)?.ok_or_else(|| CountError::Unknown { what: what() })?;
        let sum = ITEM_FRAME.checked_add(header).and_then(|sum| sum.checked_add(content));
        sum.ok_or_else(|| CountError::Overflow { what: what() })
    }
}

fn item_overflow(item: &Item) -> CountError {
    CountError::Overflow { what: format!("an item of {} parts", item.parts().len()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Barrier;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use proptest::prelude::*;

    use super::super::{Encoding, counter};
    use super::*;
    use crate::transcript::{Body, CallKey, Origin, Role, ToolCall};

    /// Counts bytes.
    struct Bytes;

    impl TokenCounter for Bytes {
        fn count(&self, text: &str) -> Result<u64, CountError> {
            Ok(text.len() as u64)
        }
        fn id(&self) -> &'static str {
            "bytes"
        }
    }

    fn meter() -> Meter {
        Meter::new(Arc::new(Bytes))
    }

    fn message(parts: Vec<Part>) -> Item {
        Item::new(Body::Message { role: Role::User, phase: None, parts }, Origin::User)
    }

    fn image(tokens: Option<u32>) -> Part {
        Part::new(Content::Image { media: "image/png".into(), bytes: 9, tokens })
    }

    #[test]
    fn an_item_weighs_its_frame_its_header_and_its_parts() {
        fn check(item: Item, tokens: u32, unknown_parts: u32) {
            assert_eq!(meter().item(&item), Ok(Weight { tokens, unknown_parts }), "{item:?}");
        }
        let (frame, user) = (3, 4);
        check(message(vec![]), frame + user, 0);
        check(message(vec!["".into()]), frame + user, 0);
        check(message(vec!["12345".into(), "678".into()]), frame + user + 8, 0);
        check(message(vec![image(Some(85)), "1".into()]), frame + user + 86, 0);
        check(message(vec![image(None), "1".into(), image(None)]), frame + user + 1, 2);
        check(Item::new(Body::Context { kind: "settings".into(), parts: vec!["never sent".into()] }, Origin::Own), 0, 0);
    }

    #[test]
    fn what_cannot_be_summed_or_counted_is_an_error_and_not_a_wrong_number() {
        let huge = message(vec![image(Some(u32::MAX)), "1".into()]);
        assert_eq!(
            meter().item(&huge).unwrap_err().to_string(),
            "the tokens of an item of 2 parts are more than 4294967295 together: check the tokens that its parts declare"
        );
        assert_eq!(meter().system(&image(Some(u32::MAX))), Err(CountError::Overflow { what: "the system text".into() }));
        let tool = |schema| ToolSpec { name: "look".into(), schema };
        assert_eq!(meter().tool(&tool("12".into())), Ok(3 + 4 + 2));
        assert_eq!(meter().tool(&tool(image(Some(7)))), Ok(3 + 4 + 7));
        assert_eq!(
            meter().tool(&tool(image(None))).unwrap_err().to_string(),
            "the tokens of the schema of the tool `look` are unknown: it is no text and declares none; declare them, or give it as text"
        );
    }

    /// A counter that refuses, and counts how often it was asked.
    struct Refuses(AtomicU64);

    impl TokenCounter for Refuses {
        fn count(&self, text: &str) -> Result<u64, CountError> {
            self.0.fetch_add(1, Relaxed);
            Err(CountError::TooLarge { bytes: text.len(), limit: 1 })
        }
        fn id(&self) -> &'static str {
            "refuses"
        }
    }

    #[test]
    fn a_refusal_reaches_whoever_asks_and_is_remembered() {
        let counter = Arc::new(Refuses(AtomicU64::new(0)));
        let meter = Meter::new(counter.clone());
        let expect = Err(CountError::TooLarge { bytes: 2, limit: 1 });
        assert_eq!((meter.part(&"ab".into()), meter.part(&"ab".into())), (expect.clone(), expect));
        assert!(meter.item(&Item::user(Origin::User, "ab")).is_err());
        assert_eq!(counter.0.load(Relaxed), 2, "once for the part, once for the header");
        assert_eq!(meter.counters(), Counters::default());
    }

    #[test]
    fn a_text_that_is_not_kept_is_counted_each_time() {
        let meter = meter();
        assert_eq!((meter.text("abc"), meter.text("abc"), meter.text("")), (Ok(3), Ok(3), Ok(0)));
        assert_eq!(meter.counters(), Counters { calls: 2, bytes_tokenised: 6, unique_bytes: 0, unkept_bytes: 6 });
    }

    /// A counter whose first call says that it has begun, and then waits until it may go on.
    struct Waits {
        begun: Mutex<Option<Sender<()>>>,
        go_on: Mutex<Receiver<()>>,
    }

    impl TokenCounter for Waits {
        fn count(&self, text: &str) -> Result<u64, CountError> {
            let first = self.begun.lock().unwrap().take();
            if let Some(begun) = first {
                begun.send(()).unwrap();
                self.go_on.lock().unwrap().recv_timeout(Duration::from_secs(60)).expect("the others were kept waiting");
            }
            Ok(text.len() as u64)
        }
        fn id(&self) -> &'static str {
            "waits"
        }
    }

    #[test]
    fn while_one_text_is_counted_others_are_looked_up_and_counted() {
        let ((begun, has_begun), (go, go_on)) = (channel(), channel());
        let meter = Meter::new(Arc::new(Waits { begun: Mutex::new(Some(begun)), go_on: Mutex::new(go_on) }));
        std::thread::scope(|scope| {
            let large = scope.spawn(|| meter.part(&"large".into()));
            has_begun.recv().unwrap();
            // Enough of them to come by every shard.
            for _ in 0..2 {
                for number in 0..2_000 {
                    assert_eq!(meter.part(&number.to_string().into()), Ok(Some(number.to_string().len() as u32)));
                }
            }
            go.send(()).unwrap();
            assert_eq!(large.join().unwrap(), Ok(Some(5)));
        });
        assert_eq!(meter.counters().calls, 2_001);
    }

    #[test]
    fn a_panic_while_counting_stays_with_the_thread_that_had_it() {
        struct PanicsOnce(AtomicU64);
        impl TokenCounter for PanicsOnce {
            fn count(&self, _: &str) -> Result<u64, CountError> {
                assert_ne!(self.0.fetch_add(1, Relaxed), 0, "the first call panics: this is what the test wants");
                Ok(1)
            }
            fn id(&self) -> &'static str {
                "panics once"
            }
        }
        let meter = Meter::new(Arc::new(PanicsOnce(AtomicU64::new(0))));
        let other = meter.clone();
        assert!(std::thread::spawn(move || other.part(&"a".into())).join().is_err());
        assert_eq!(meter.part(&"a".into()), Ok(Some(1)));
    }

    fn any_world() -> impl Strategy<Value = Vec<Item>> {
        // Few texts, so that most of them come again, some of them as a header too.
        let text = proptest::sample::select(vec!["", "a", "user", "tool", "assistant to=functions.read", "one two", "one two three", "\n"]);
        let name = proptest::sample::select(vec!["read", "write", "a"]);
        let item = prop_oneof![
            proptest::collection::vec(text.clone(), 0..3).prop_map(|texts| message(texts.into_iter().map(Part::from).collect())),
            (text.clone(), name).prop_map(|(args, name)| {
                Item::call(ToolCall { key: CallKey(0), id: "1".into(), name: name.into(), args: args.into(), intent: None, recorded: None })
            }),
            text.prop_map(|text| Item::result(CallKey(0), Origin::ToolResult, text, false)),
        ];
        proptest::collection::vec(item, 0..30)
    }

    proptest! {
        #[test]
        fn every_text_is_counted_once_by_however_many_threads(items in any_world(), threads in 1_usize..4) {
            let mut texts = BTreeSet::new();
            for item in &items {
                texts.insert(super::super::header(item).into_owned());
                texts.extend(item.parts().iter().map(|part| part.as_text().to_owned()));
            }
            texts.remove("");
            let unique_bytes = texts.iter().map(|text| text.len() as u64).sum();

            let meter = Meter::new(counter(Encoding::O200kBase));
            let start = Barrier::new(threads);
            let sums: Vec<u32> = std::thread::scope(|scope| {
                let sum = || {
                    start.wait();
                    items.iter().map(|item| meter.item(item).unwrap().tokens).sum()
                };
                let running: Vec<_> = (0..threads).map(|_| scope.spawn(sum)).collect();
                running.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            prop_assert!(sums.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", sums);
            let expect = Counters { calls: texts.len() as u64, bytes_tokenised: unique_bytes, unique_bytes, unkept_bytes: 0 };
            prop_assert_eq!(meter.counters(), expect);
        }
    }
}
