//! Random runs from a seed: a tree of work with tools, groups, background, continuations, failures, endless rounds and
//! odd calls, played on an odd history, under every strategy. [`super::promises`] says what holds of each of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::engine::{Ceilings, Run, UserInput, UserTime, World};
use crate::ledger::Outcome;
use crate::model::profile::FRONTIER;
use crate::model::{Agent, CallDraft, ModelError, Pending, Reply, Request, Took, ready};
use crate::strategy::{Act, RunContext, Strategy, ThreadId, ToolSpec};
use crate::transcript::{Body, CallKey, Content, Handle, Item, Origin, Outcome as State, Part, Recorded, Role, ToolCall, dangling, heard};

use super::player::intent;
use super::story::{bytes, play, two_agents};
use super::watched::{Lies, Watched};

/// SplitMix64: small, and the same everywhere.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to below the limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// True once in so many times.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// One reply of a plan.
#[derive(Clone, Debug)]
enum Beat {
    /// So many calls of ordinary tools.
    Tools(u64),
    /// These intents in one message.
    Delegate(Vec<String>, bool),
    /// One call of a tool that fails.
    Bad,
    /// Waits for every child that has only been acknowledged.
    Wait,
    /// Tells or asks the child of an earlier intent something, or closes it.
    Continue(String, bool),
    Close(String),
    Back,
    /// A call of any tool that is shown, or is not, with odd arguments.
    Odd,
    /// Text without calls that does not end the turn.
    More,
    /// Text without calls.
    Say,
    /// Nothing at all.
    Blank,
    /// Tool calls for ever.
    Endless,
    /// No reply.
    Fail,
}

/// A random run, ready to be played under any strategy.
#[derive(Clone, Debug)]
pub struct RandomWorld {
    /// Where it comes from.
    pub seed: u64,
    /// What the root's history holds before the first turn.
    pub history: Vec<Item>,
    /// The user's messages.
    pub user: Vec<UserInput>,
    /// Small ceilings: they are met now and then.
    pub ceilings: Ceilings,
    /// The model's window in bytes.
    pub window: Option<u64>,
    /// Whether strategies send what their real clients send.
    pub scaffold: bool,
    /// What the turns that an intent opened do; `/`: the root.
    plans: BTreeMap<String, Vec<Beat>>,
}

/// The world of a seed.
pub fn random_world(seed: u64) -> RandomWorld {
    let mut random = Random(seed);
    let mut plans = BTreeMap::new();
    let turns = 1 + random.below(3);
    let mut root = Vec::new();
    for _ in 0..=turns {
        root.extend(beats(&mut random, &mut plans, 0));
        root.push(Beat::Say);
    }
    plans.insert("/".to_owned(), root);
    let user = (0..turns).map(|at| {
        let when = if at > 0 && random.one_in(3) { UserTime::At(random.below(40) * 5) } else { UserTime::Settled };
        let items = (0..1 + random.below(2)).map(|part| Item::user(Origin::User, format!("user@{at}.{part}"))).collect();
        UserInput { when, items }
    });
    let user = user.collect();
    let history = if random.one_in(3) { odd_history(&mut random) } else { vec![] };
    // Met now and then, not always.
    let tight =
        |random: &mut Random, little: u64, much: u64| if random.one_in(6) { random.below(little) } else { much + random.below(much) };
    let ceilings = Ceilings {
        rounds: 1 + tight(&mut random, 6, 20) as u32,
        depth: tight(&mut random, 2, 2) as u32,
        threads: 1 + tight(&mut random, 4, 20) as u32,
        tokens: if random.one_in(12) { 2_000 + random.below(8_000) } else { 1_000_000 },
    };
    let window = random.one_in(10).then(|| 1_500 + random.below(3_000));
    let scaffold = random.one_in(2);
    RandomWorld { seed, history, user, ceilings, window, scaffold, plans }
}

/// A few beats of a thread at this depth; the plans of what it delegates are written, too.
fn beats(random: &mut Random, plans: &mut BTreeMap<String, Vec<Beat>>, depth: u32) -> Vec<Beat> {
    let mut beats = Vec::new();
    let mut known: Vec<String> = Vec::new();
    for _ in 0..1 + random.below(5) {
        let earlier = (!known.is_empty()).then(|| known[random.below(known.len() as u64) as usize].clone());
        match (random.below(18), earlier) {
            (0..=5, _) if depth < 3 && plans.len() < 24 => {
                let group: Vec<String> = (0..1 + random.below(3)).map(|_| delegate(random, plans, depth)).collect();
                known.extend(group.iter().cloned());
                beats.push(Beat::Delegate(group, random.one_in(3)));
                if random.one_in(2) {
                    beats.push(Beat::Wait);
                }
            }
            (6, _) => beats.push(Beat::Wait),
            (7 | 8, Some(id)) => beats.push(Beat::Continue(id, true)),
            (9, Some(id)) => beats.push(Beat::Continue(id, false)),
            (10 | 11, Some(id)) => beats.push(Beat::Close(id)),
            (12, _) => beats.push(Beat::Odd),
            (13, _) => beats.push(Beat::More),
            (14, _) if depth == 0 => beats.push(Beat::Back),
            (15, _) if random.one_in(3) => beats.extend((0..5).map(|_| Beat::Bad)),
            _ => beats.push(Beat::Tools(1 + random.below(3))),
        }
        if random.one_in(if depth == 0 { 200 } else { 24 }) {
            beats.push(Beat::Fail);
        }
        if random.one_in(60) {
            beats.push(Beat::Endless);
        }
        if depth > 0 && random.one_in(4) {
            beats.push(if random.one_in(6) { Beat::Blank } else { Beat::Say });
        }
    }
    beats
}

fn delegate(random: &mut Random, plans: &mut BTreeMap<String, Vec<Beat>>, depth: u32) -> String {
    let id = format!("j{}", plans.len());
    plans.insert(id.clone(), vec![]);
    let plan = beats(random, plans, depth + 1);
    plans.insert(id.clone(), plan);
    id
}

/// A history as real files hold it: repeated wire ids, reasoning, images, mail, summaries, records that no model reads,
/// calls that nobody answered, results without a call.
fn odd_history(random: &mut Random) -> Vec<Item> {
    let mut items = Vec::new();
    let mut key = 0;
    for at in 0..1 + random.below(8) {
        let text = format!("old@{at}");
        match random.below(9) {
            0 => items.push(Item::new(Body::Reasoning { parts: vec![Part::from(text)] }, Origin::Own)),
            1 => {
                let image = Part::new(Content::Image { media: "image/png".into(), bytes: 9, tokens: random.one_in(2).then_some(85) });
                items.push(Item::new(Body::Message { role: Role::User, phase: None, parts: vec![text.into(), image] }, Origin::User));
            }
            2 => {
                let mail = Body::Mail { from: "/root/x".into(), to: "/root".into(), parts: vec![text.into()] };
                items.push(Item::new(mail, Origin::Delegated).hide());
            }
            3 => items.push(Item::new(Body::Compaction { parts: vec![text.into()] }, Origin::Compaction)),
            4 => items.push(Item::new(Body::Context { kind: "turn".into(), parts: vec![text.into()] }, Origin::Own)),
            5 => items.push(Item::new(Body::Result { key: None, parts: vec![text.into()], failed: true }, Origin::ToolResult)),
            6 => items.push(Item::user(Origin::User, text)),
            _ => {
                let call = CallKey(key);
                key += 1 + random.below(3) as u32;
                let name = if random.one_in(2) { "look" } else { "task" };
                let call_item = ToolCall { key: call, id: "c1".into(), name: name.into(), args: "{}".into(), intent: None, recorded: None };
                items.push(Item::call(call_item));
                if !random.one_in(3) {
                    items.push(Item::result(call, Origin::ToolResult, text, false));
                }
            }
        }
    }
    items
}

/// One request as the agent saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Whose it was.
    pub thread: ThreadId,
    /// Who spoke.
    pub agent: String,
    /// The items, as rendered.
    pub items: Vec<Item>,
    /// The tools.
    pub tools: Vec<ToolSpec>,
    /// When.
    pub now_ms: u64,
}

/// What the outside of a run noticed.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Every request that reached the agent.
    pub seen: Vec<Seen>,
    /// How long the tools said that they took.
    pub tools_ms: u64,
    /// What the strategy was shown that was not so.
    pub lies: Vec<String>,
}

struct Walker {
    world: RandomWorld,
    notes: Rc<RefCell<Notes>>,
    places: BTreeMap<(ThreadId, String), usize>,
    said: u64,
}

impl Agent for Walker {
    fn reply(&mut self, request: &Request<'_>) -> Pending {
        let seen = Seen {
            thread: request.thread,
            agent: request.agent.into(),
            items: request.items.to_vec(),
            tools: request.tools.to_vec(),
            now_ms: request.now_ms,
        };
        self.notes.borrow_mut().seen.push(seen);
        ready(self.walk(request))
    }
}

impl Walker {
    fn walk(&mut self, request: &Request<'_>) -> Result<Reply, ModelError> {
        // What is decided here depends on the world and on how much was said so far: nothing else.
        let mut random = Random(self.world.seed ^ (self.said << 20));
        self.said += 1;
        // A text names its author, so that it can be seen where it turns up.
        let text = format!("own@{}#{}", request.path, self.said);
        let took = Took::Ms(random.below(12) * 5);
        let mut reply = Reply { text, took, ..Reply::default() };
        if random.one_in(6) {
            reply.reasoning = vec![Part::from(format!("own@{}#reasoning", request.path))];
        }
        if request.aside {
            return Ok(reply);
        }
        let key = request.intent.filter(|id| self.world.plans.contains_key(*id)).unwrap_or(request.path).to_owned();
        let place = self.places.entry((request.thread, key.clone())).or_default();
        let beat = self.world.plans.get(&key).and_then(|plan| plan.get(*place)).cloned().unwrap_or(Beat::Say);
        if !matches!(beat, Beat::Endless) {
            *place += 1;
        }
        match beat {
            Beat::Say => {}
            Beat::Blank => reply.text = if random.one_in(2) { String::new() } else { " \n".into() },
            Beat::More => {
                reply.more = true;
                if random.one_in(3) {
                    reply.text.clear();
                }
            }
            Beat::Fail => return Err(ModelError::of_turn("the model is gone")),
            other => {
                reply.calls = calls(&other, request, &mut random);
                if random.one_in(3) {
                    reply.text.clear();
                }
                if request.thread == ThreadId::ROOT && random.one_in(12) {
                    reply.then_user = vec![Item::user(Origin::User, "user@then")];
                }
                if random.one_in(4) {
                    reply.calls.iter_mut().for_each(|call| call.id = "c1".into());
                }
            }
        }
        Ok(reply)
    }
}

/// The calls of a beat; what this protocol cannot say becomes a look.
fn calls(beat: &Beat, request: &Request<'_>, random: &mut Random) -> Vec<CallDraft> {
    let look = || CallDraft::tool("look", "{}");
    let told = heard(request.items);
    let child = |id: &str| told.iter().rev().find(|one| one.intent == id).and_then(|one| one.handle.clone());
    let speak = |act: Act<'_>, id: Option<&str>| (request.speak)(&act).map_or_else(look, |call| CallDraft::phrased(call, id));
    match beat {
        Beat::Tools(count) => {
            let tools = ["look", "dig", "bad", "look"];
            (0..*count).map(|_| CallDraft::tool(tools[random.below(4) as usize], "{}")).collect()
        }
        Beat::Delegate(group, background) => group.iter().map(|id| speak(Act::Delegate(&intent(id, *background)), Some(id))).collect(),
        Beat::Wait => {
            let open: Vec<Handle> = told.iter().filter(|one| one.outcome == State::Started).filter_map(|one| one.handle.clone()).collect();
            vec![if open.is_empty() { look() } else { speak(Act::Wait(&open), None) }]
        }
        Beat::Continue(id, wake) => vec![child(id).map_or_else(look, |child| {
            speak(Act::Continue { child: &child, intent: &intent(id, false), text: "told more", wake: *wake }, Some(id))
        })],
        Beat::Close(id) => vec![child(id).map_or_else(look, |child| speak(Act::Close(&child), None))],
        Beat::Back => vec![speak(Act::Back, None)],
        Beat::Odd => vec![odd_call(request, random)],
        _ => vec![look()],
    }
}

fn odd_call(request: &Request<'_>, random: &mut Random) -> CallDraft {
    const ARGS: [&str; 14] = [
        "",
        "{}",
        "null",
        "[1]",
        "{\"targets\":[\"a1\",\"nobody\"],\"timeout_ms\":1}",
        "{\"targets\":[],\"timeout_ms\":-5}",
        "{\"id\":\"a1\"}",
        "{\"id\":\"a9\",\"target\":\"/root/nobody\",\"message\":\"x\"}",
        "{\"target\":\"/root\",\"message\":\"x\"}",
        "{\"message\":\"odd\",\"agent_type\":\"worker\",\"task_name\":\"odd\"}",
        "{\"prompt\":\"odd\",\"description\":\"odd\",\"subagent_type\":\"worker\",\"task_id\":\"ses_1\"}",
        "{\"prompt\":\"odd\",\"description\":\"odd\",\"subagent_type\":\"nobody\",\"background\":true}",
        "{\"task\":\"odd\",\"agent\":\"nobody\"}",
        "{\"timeout_ms\":4000000}",
    ];
    let args = ARGS[random.below(ARGS.len() as u64) as usize];
    let at = random.below(request.tools.len() as u64 + 1) as usize;
    let name = request.tools.get(at).map_or("nowhere", |tool| tool.name.as_str());
    CallDraft::tool(name, args)
}

/// Tools that take their time by how often they were called: ties are frequent.
struct Bench {
    seed: u64,
    calls: u64,
    notes: Rc<RefCell<Notes>>,
}

impl World for Bench {
    fn call(&mut self, call: &ToolCall) -> Recorded {
        self.calls += 1;
        let ms = Random(self.seed ^ (self.calls << 40)).below(10) * 5;
        self.notes.borrow_mut().tools_ms += ms.max(1);
        Recorded::text(format!("tool#{}", self.calls), call.name == "bad", ms)
    }
    fn write(&mut self, _: &str, _: &str) {}
}

/// Plays a world under a strategy; `Err` only if the engine waited for something.
pub fn walk(world: &RandomWorld, strategy: &dyn Strategy) -> Result<(Outcome, Notes), String> {
    let notes = Rc::new(RefCell::new(Notes::default()));
    let lies = Lies::default();
    let watched = Watched { strategy, tolerated: dangling(&world.history).into_iter().collect(), lies: lies.clone() };
    let outcome = play(Run {
        strategy: &watched,
        agent: Box::new(Walker { world: world.clone(), notes: notes.clone(), places: BTreeMap::new(), said: 0 }),
        context: RunContext { scaffold: world.scaffold, ..two_agents() },
        history: world.history.clone(),
        user: world.user.clone(),
        world: Box::new(Bench { seed: world.seed, calls: 0, notes: notes.clone() }),
        meter: bytes(),
        ceilings: world.ceilings,
        window: world.window,
        latency: FRONTIER,
        cache: None,
        children: None,
    })?;
    let mut notes = notes.borrow().clone();
    notes.lies = lies.lock().map(|lies| lies.clone()).unwrap_or_default();
    Ok((outcome, notes))
}
