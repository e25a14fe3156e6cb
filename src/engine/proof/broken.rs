//! Sessions that break a rule of the seam, one each: the engine names the rule; none hangs, none panics.

use std::collections::BTreeMap;

use crate::ledger::{FailureKind, Outcome};
use crate::strategy::{
    Act, AssistantTurn, Call, End, Event, New, Order, ParentView, Route, RunContext, Scope, Session, Splice, Strategy, ThreadId, To, Turn,
    View, When,
};
use crate::transcript::{Body, CallKey, Item, Origin, Part, ToolCall};

use super::listing::listing;
use super::player::Do::Tool;
use super::player::{act, say};
use super::story::under;
use crate::engine::Ceilings;

/// A strategy of four functions. Left alone it keeps the rules: its one tool `own` is answered at once.
#[derive(Clone, Copy)]
struct Faulty {
    view: fn(View, &[Item], &Scope<'_>) -> View,
    turn: fn(AssistantTurn, &Scope<'_>) -> Turn,
    route: fn(&ToolCall, &Scope<'_>) -> Vec<Order>,
    deliver: fn(Event<'_>, &Scope<'_>) -> Vec<Order>,
}

/// Answers `Input`, and nothing else.
fn quiet(event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
    match event {
        Event::Input(items) => vec![Order::input(items, When::Turn, at)],
        _ => vec![],
    }
}

impl Default for Faulty {
    fn default() -> Faulty {
        Faulty { view: |view, _, _| view, turn: |reply, _| reply.into(), route: |call, _| vec![Order::reply(call, "fine")], deliver: quiet }
    }
}

impl Strategy for Faulty {
    fn id(&self) -> String {
        "faulty@proof".into()
    }
    fn start(&self, run: &RunContext) -> Box<dyn Session> {
        Box::new(FaultySession { run: run.clone(), faulty: *self })
    }
}

struct FaultySession {
    run: RunContext,
    faulty: Faulty,
}

impl Session for FaultySession {
    fn phrase(&self, _: &Act<'_>) -> Option<Call> {
        None
    }
    fn view(&mut self, history: &[Item], at: &Scope<'_>) -> View {
        (self.faulty.view)(View::of(&at.me().agent, &self.run), history, at)
    }
    fn turn(&mut self, reply: AssistantTurn, _: &[Item], at: &Scope<'_>) -> Turn {
        (self.faulty.turn)(reply, at)
    }
    fn route(&mut self, call: &ToolCall, _: ParentView<'_>, at: &Scope<'_>) -> Route {
        if call.name == "own" { Route::Do((self.faulty.route)(call, at)) } else { Route::Tool }
    }
    fn deliver(&mut self, event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
        (self.faulty.deliver)(event, at)
    }
}

/// The root calls `own` and `look` in one reply, then `own` again, then ends; the child looks, then talks.
fn play(faulty: Faulty, ceilings: Ceilings) -> Outcome {
    let own = || Tool("own", "{}");
    let story = under(&faulty)
        .user("go")
        .ceilings(ceilings)
        .script("/", [act(10, [own(), Tool("look", "{}")]), act(10, [own()]), say(10, "end"), say(10, "more"), say(10, "most")])
        .script("/1", [act(10, [Tool("dig", "{}")]), say(10, "one"), say(10, "two"), say(10, "three")]);
    story.play().unwrap_or_else(|why| panic!("{why}"))
}

/// The run stops with this kind of failure, and the message says all of this.
fn check(rule: &str, faulty: Faulty, kind: FailureKind, says: &[&str]) {
    check_under(rule, faulty, Ceilings::default(), kind, says);
}

fn check_under(rule: &str, faulty: Faulty, ceilings: Ceilings, kind: FailureKind, says: &[&str]) {
    let outcome = play(faulty, ceilings);
    let Some(failure) = &outcome.failure else { panic!("{rule}: nothing was noticed\n{}", listing(&outcome)) };
    assert_eq!(failure.kind, kind, "{rule}: {}", failure.message);
    for word in says {
        assert!(failure.message.contains(word), "{rule}: `{word}` is not in: {}", failure.message);
    }
    assert!(!outcome.rows.is_empty(), "{rule}: the rows that were written stay");
}

fn splice(at: usize, remove: usize, keep: bool) -> Splice {
    Splice { at, remove, items: vec![], keep }
}

/// The view with these splices in the second request of a turn.
fn spliced(view: View, at: &Scope<'_>, splices: Vec<Splice>) -> View {
    View { splices: if at.exchange == 1 { splices } else { vec![] }, ..view }
}

/// A call that nobody made.
fn stray(key: u32) -> ToolCall {
    ToolCall { key: CallKey(key), id: "x".into(), name: "own".into(), args: Part::from("{}"), intent: None, recorded: None }
}

fn put(to: To, items: Vec<Item>, when: When, by: Option<CallKey>) -> Order {
    Order::Put { to, items, when, by }
}

fn note() -> Vec<Item> {
    vec![Item::user(Origin::Task, "note")]
}

/// Opens a child by each call; the replies come with the turns' ends.
fn open(call: &ToolCall, _: &Scope<'_>) -> Vec<Order> {
    vec![Order::open(call.key, New::agent("worker"), note())]
}

/// Two turns beside each other in thread 1, opened by the two calls of `own`.
fn overlap(call: &ToolCall, at: &Scope<'_>) -> Vec<Order> {
    if at.threads.len() == 1 {
        return vec![Order::open(call.key, New::agent("worker"), note()), put(To::Thread(ThreadId(1)), note(), When::Overlap, None)];
    }
    vec![Order::reply(call, "fine")]
}

/// Replies to whatever call opened a turn that has ended.
fn report(event: Event<'_>, at: &Scope<'_>) -> Vec<Order> {
    match event {
        Event::Ended(report) => report.by.map(|call| Order::reply(call, "done")).into_iter().collect(),
        other => quiet(other, at),
    }
}

#[test]
fn a_session_that_keeps_the_rules_passes() {
    let outcome = play(Faulty::default(), Ceilings::default());
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.answer(), "end");
}

#[test]
fn every_call_has_exactly_one_reply() {
    use FailureKind::{Strategy, Stuck};
    let base = Faulty::default();
    let twice = Faulty { route: |call, _| vec![Order::reply(call, "a"), Order::reply(call, "b")], ..base };
    check("twice", twice, Strategy, &["answered twice", "own", "thread /"]);
    let twice_later = Faulty { route: |call, _| vec![Order::reply(call, "a").after(5), Order::reply(call, "b").after(9)], ..base };
    check("twice, later", twice_later, Strategy, &["answered twice", "own"]);
    let never = Faulty { route: |_, _| vec![], ..base };
    check("never", never, Stuck, &["stuck", "calls without a reply: own 0 of thread /", "threads that still run: /"]);
    let stranger = Faulty { route: |_, _| vec![Order::reply(&stray(99), "a")], ..base };
    check("unknown call", stranger, Strategy, &["call 99", "nobody made"]);
    let tool = Faulty { route: |call, _| vec![Order::reply(call, "a"), Order::reply(&stray(call.key.0 + 1), "b")], ..base };
    check("the world's call", tool, Strategy, &["call 1 (look)", "the world answers"]);
}

#[test]
fn every_wait_is_answered() {
    use FailureKind::Strategy;
    let base = Faulty::default();
    let unanswered = Faulty { route: |call, _| vec![Order::Wait { call: call.key, timeout_ms: 5 }], ..base };
    check("unanswered", unanswered, Strategy, &["wait of call 0 (own)", "timed out and was not answered"]);
    let endless = Faulty { route: |call, _| vec![Order::Wait { call: call.key, timeout_ms: u64::MAX }], ..base };
    check("the longest wait", endless, Strategy, &["timed out and was not answered"]);
    let answered = Faulty { route: |call, _| vec![Order::reply(call, "a"), Order::Wait { call: call.key, timeout_ms: 5 }], ..base };
    check("answered", answered, Strategy, &["a wait on call 0", "not open"]);
    let stranger = Faulty { route: |_, _| vec![Order::Wait { call: CallKey(99), timeout_ms: 5 }], ..base };
    check("unknown call", stranger, Strategy, &["a wait on call 99", "not open"]);
}

#[test]
fn every_call_of_a_reply_is_made_or_cut() {
    use FailureKind::Strategy;
    let base = Faulty::default();
    let rule = "make or cut each call of the reply exactly once";
    let lost = Faulty { turn: |reply, _| Turn { calls: vec![], ..reply.into() }, ..base };
    check("lost", lost, Strategy, &[rule, "thread /"]);
    let invented = Faulty { turn: |reply, _| Turn { calls: [reply.calls.clone(), vec![stray(99)]].concat(), ..reply.into() }, ..base };
    check("invented", invented, Strategy, &[rule, "99"]);
    let doubled = Faulty { turn: |reply, _| Turn { cut: reply.calls.clone(), ..reply.into() }, ..base };
    check("made and cut", doubled, Strategy, &[rule]);
    let finished = Faulty { turn: |reply, _| Turn { finish: true, ..reply.into() }, ..base };
    check("finished and made", finished, Strategy, &["finished", "cut"]);
}

#[test]
fn nothing_dangles() {
    use FailureKind::Strategy;
    let base = Faulty::default();
    // At the second request the history is: user, two calls, two results.
    let kept = Faulty { view: |view, _, at| spliced(view, at, vec![splice(4, 1, true)]), ..base };
    check("kept", kept, Strategy, &["without its result", "without its call"]);
    let once = Faulty { view: |view, _, at| spliced(view, at, vec![splice(1, 1, false)]), ..base };
    check("for once", once, Strategy, &["without its result", "without its call"]);
    let opening = Faulty { route: |call, _| vec![Order::open(call.key, New::agent("worker"), vec![Item::call(stray(99))])], ..base };
    check("an opening", opening, Strategy, &["thread /1", "no result", "99"]);
    let noticed = Faulty {
        route: |call, at| {
            let notice = put(To::Thread(at.thread), vec![Item::call(stray(99))], When::Notice, None);
            vec![Order::reply(call, "fine"), notice]
        },
        ..base
    };
    check("a notice", noticed, Strategy, &["thread /", "no result", "99"]);
    let orphan = Faulty {
        route: |call, at| {
            let body = Body::Result { key: Some(CallKey(99)), parts: vec![], failed: false };
            vec![Order::reply(call, "fine"), put(To::Thread(at.thread), vec![Item::new(body, Origin::Delegated)], When::Mail, None)]
        },
        ..base
    };
    check("an orphan by mail", orphan, Strategy, &["thread /", "99"]);
}

#[test]
fn splices_are_ascending_and_disjoint() {
    use FailureKind::Strategy;
    let base = Faulty::default();
    let rule = "splices are ascending, disjoint and inside";
    let descending = Faulty { view: |view, _, at| spliced(view, at, vec![splice(3, 0, true), splice(1, 0, true)]), ..base };
    check("descending", descending, Strategy, &[rule, "a splice at 1"]);
    let overlapping = Faulty { view: |view, _, at| spliced(view, at, vec![splice(0, 2, false), splice(1, 1, false)]), ..base };
    check("overlapping", overlapping, Strategy, &[rule, "a splice at 1"]);
    let outside = Faulty { view: |view, _, at| spliced(view, at, vec![splice(4, 2, true)]), ..base };
    check("outside", outside, Strategy, &[rule, "a splice at 4 that removes 2", "5 items"]);
    let far = Faulty { view: |view, _, at| spliced(view, at, vec![splice(usize::MAX, usize::MAX, true)]), ..base };
    check("far outside", far, Strategy, &[rule]);
}

/// Two bases cannot both win, whether the other turn still runs or has ended since this one began.
#[test]
fn a_kept_splice_may_not_undo_another_turn() {
    use FailureKind::Strategy;
    let says = ["a kept splice at 0", "before this turn", "thread /1"];
    // Turn 1 leaves two items; then 2 and 3 run beside each other, and one of them rewrites what stood before both.
    let three = Faulty {
        route: |call, at| match at.threads.len() {
            1 => vec![Order::open(call.key, New::agent("worker"), note())],
            _ => vec![
                put(To::Thread(ThreadId(1)), note(), When::Overlap, None),
                put(To::Thread(ThreadId(1)), note(), When::Overlap, None),
                Order::reply(call, "fine"),
            ],
        },
        deliver: report,
        ..Faulty::default()
    };
    let rewrite = |view: View, _: &[Item], at: &Scope<'_>| {
        let now = at.thread == ThreadId(1) && at.turn == 3 && at.exchange == 0;
        View { splices: if now { vec![splice(0, 1, true)] } else { vec![] }, ..view }
    };
    check("while the other runs", Faulty { view: rewrite, ..three }, Strategy, &says);
    // Turn 2 talks and ends at once; turn 3 looks, and rewrites in its second request.
    let later = |view: View, _: &[Item], at: &Scope<'_>| {
        let now = at.thread == ThreadId(1) && at.own > 0 && at.exchange == 1;
        View { splices: if now { vec![splice(0, 1, true)] } else { vec![] }, ..view }
    };
    let outcome = {
        let faulty = Faulty { view: later, ..three };
        let own = || Tool("own", "{}");
        let story = under(&faulty)
            .user("go")
            .script("/", [act(10, [own()]), act(10, [own()]), say(1000, "end")])
            // Shared by the turns of the thread in order of sending: turn 1; 2 and 3; 3 again.
            .script("/1", [say(10, "one"), say(10, "two"), act(20, [Tool("look", "{}")]), say(10, "three")]);
        story.play().unwrap_or_else(|why| panic!("{why}"))
    };
    let Some(failure) = &outcome.failure else { panic!("nothing was noticed\n{}", listing(&outcome)) };
    assert!(says.iter().all(|word| failure.message.contains(word)), "{}", failure.message);
}

#[test]
fn orders_name_what_exists() {
    use FailureKind::Strategy;
    let base = Faulty::default();
    let rule = "thread 7, which does not exist";
    let nowhere = Faulty { route: |call, _| vec![Order::reply(call, "a"), put(To::Thread(ThreadId(7)), note(), When::Mail, None)], ..base };
    check("put", nowhere, Strategy, &[rule]);
    check("stop", Faulty { route: |_, _| vec![Order::Stop { thread: ThreadId(7) }], ..base }, Strategy, &[rule]);
    let by = Faulty { route: |_, at| vec![put(To::Thread(at.thread), note(), When::Turn, Some(CallKey(99)))], ..base };
    check("by", by, Strategy, &["call 99", "nobody made"]);
    let deaf = Faulty { deliver: |_, _| vec![], ..base };
    let outcome = play(deaf, Ceilings::default());
    let failure = outcome.failure.unwrap_or_else(|| panic!("input that starts nothing was not noticed"));
    assert_eq!(failure.kind, Strategy);
    assert!(failure.message.contains("user input came while the root was idle"), "{}", failure.message);
}

/// A strategy that goes round without time passing is stopped, however it goes round.
#[test]
fn nothing_goes_round_within_an_instant() {
    use FailureKind::Strategy;
    let base = Faulty::default();
    let rule = "within one instant";
    let again = Faulty {
        route: |call, _| vec![Order::Wait { call: call.key, timeout_ms: 50 }],
        deliver: |event, at| match event {
            Event::Waiting { call, .. } => vec![Order::Wait { call: call.key, timeout_ms: 50 }],
            other => quiet(other, at),
        },
        ..base
    };
    check("a wait that is put off for ever", again, Strategy, &[rule]);
    let chatty = Faulty {
        route: |call, _| vec![Order::Wait { call: call.key, timeout_ms: 50 }],
        deliver: |event, at| match event {
            Event::Waiting { .. } => vec![put(To::Thread(at.thread), note(), When::Mail, None)],
            other => quiet(other, at),
        },
        ..base
    };
    check("a wait that writes mail", chatty, Strategy, &[rule]);
    let stillborn = Faulty {
        route: open,
        view: |view, _, at| View { stop: (at.me().depth > 0).then(|| End::Stopped("no".into())), ..view },
        deliver: |event, at| match event {
            Event::Ended(_) => vec![put(To::Thread(at.thread), note(), When::Turn, None)],
            other => quiet(other, at),
        },
        ..base
    };
    check("a turn that never sends", stillborn, Strategy, &[rule]);
    let stopper = Faulty {
        route: open,
        deliver: |event, at| match event {
            Event::Opened { child: Ok(thread), .. } => vec![Order::Stop { thread }],
            Event::Ended(_) => vec![put(To::Thread(at.thread), note(), When::Turn, None), Order::Stop { thread: at.thread }],
            other => quiet(other, at),
        },
        ..base
    };
    check("a turn that is stopped and started", stopper, Strategy, &[rule]);
    let stubborn = Faulty {
        route: open,
        deliver: |event, at| match event {
            Event::Opened { by: Some(call), .. } => vec![Order::open(call.key, New::agent("worker"), note())],
            other => quiet(other, at),
        },
        ..base
    };
    check("a child for every child", stubborn, Strategy, &[rule]);
}

/// What goes on for ever in time ends at a ceiling.
#[test]
fn nothing_goes_on_for_ever() {
    use FailureKind::Limit;
    let base = Faulty::default();
    let few = Ceilings { rounds: 3, ..Ceilings::default() };
    let aside = Faulty { view: |view, _, _| View { aside: true, ..view }, ..base };
    check_under("asides", aside, few, Limit, &["ceiling of 3 exchanges", "thread /"]);
    let grace = Faulty {
        route: open,
        deliver: |event, at| match event {
            Event::Ended(_) => vec![put(To::Thread(at.thread), note(), When::Turn, None)],
            other => quiet(other, at),
        },
        ..base
    };
    let tokens = Ceilings { tokens: 5_000, ..Ceilings::default() };
    check_under("one more turn, always", grace, tokens, Limit, &["ceiling of 5000 tokens"]);
    // A request that would pass the ceiling is not sent, so it is not paid.
    let paid: u64 = play(grace, tokens).rows.iter().map(|row| row.input.total() + row.output).sum();
    assert!(paid <= 5_000, "{paid} tokens under a ceiling of 5000");
}

/// Not against a rule, however odd: these runs go on.
#[test]
fn odd_orders_are_carried_out() {
    let base = Faulty::default();
    let passes = |what: &str, faulty: Faulty| {
        let outcome = play(faulty, Ceilings::default());
        assert_eq!(outcome.failure, None, "{what}\n{}", listing(&outcome));
        outcome
    };
    // Two turns dig beside each other; the `Ended` of the first one stops the thread once more.
    let stop_twice = Faulty {
        route: |call, at| match at.threads.len() {
            1 => overlap(call, at),
            _ => vec![Order::reply(call, "fine"), Order::Stop { thread: ThreadId(1) }],
        },
        deliver: |event, at| match event {
            Event::Ended(_) => vec![Order::Stop { thread: at.thread }],
            Event::Opened { by: Some(call), .. } => vec![Order::reply(call, "open")],
            other => quiet(other, at),
        },
        ..base
    };
    let (own, dig) = (|| act(10, [Tool("own", "{}")]), || act(10, [Tool("dig", "{}")]));
    let story = under(&stop_twice).user("go").script("/", [own(), own(), say(10, "end")]).script("/1", [dig(), dig()]);
    let outcome = story.play().unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((&outcome.failure, &outcome.threads[1].last), (&None, &Some(End::Aborted)));
    assert_eq!(outcome.rows_of(ThreadId(1)).count(), 2);
    // The caller's own turn is stopped by its call.
    let suicide =
        Faulty { route: |call, at| vec![Order::Stop { thread: at.thread }, Order::Wait { call: call.key, timeout_ms: 5 }], ..base };
    let outcome = passes("the caller stops itself", suicide);
    assert_eq!(outcome.threads[0].last, Some(End::Aborted));
    // A stopped thread that is idle.
    let idle = Faulty {
        route: |call, at| match at.threads.len() {
            1 => open(call, at),
            _ => vec![Order::Stop { thread: ThreadId(1) }, Order::reply(call, "fine")],
        },
        deliver: report,
        ..base
    };
    assert_eq!(passes("an idle thread is stopped", idle).threads[1].last, Some(End::Done));
    let serial = Faulty { turn: |reply, _| Turn { serial: true, ..reply.into() }, ..base };
    let many: [super::player::Do; 500] = std::array::from_fn(|_| Tool("own", "{}"));
    let story = under(&serial).user("go").script("/", [act(10, many), say(10, "end")]);
    let outcome = story.play().unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((outcome.failure, outcome.rows[1].sent_ms), (None, 10));
    let late = Faulty { route: |call, _| vec![Order::reply(call, "fine").after(u64::MAX)], ..base };
    assert_eq!(passes("the latest reply", late).span_ms.1, u64::MAX);
}

/// If the strategy says nothing about a refused child, the harness does, in its own words; the run goes on.
#[test]
fn ceilings_refuse_children() {
    let open_all = Faulty { route: open, deliver: report, ..Faulty::default() };
    let refusal = |ceilings: Ceilings| {
        let outcome = play(open_all, ceilings);
        assert_eq!(outcome.failure, None);
        let results: Vec<String> =
            outcome.history_of(ThreadId::ROOT).iter().filter(|item| item.origin == Origin::Delegated).map(Item::text).collect();
        (outcome.refusals, outcome.threads.len(), results)
    };
    let words = |text: &str| text.to_owned();
    let threads = refusal(Ceilings { threads: 2, ..Ceilings::default() });
    assert_eq!(threads, (1, 2, vec![words("done"), words("Refused: the harness allows 2 threads in a run.")]));
    let depth = refusal(Ceilings { depth: 0, ..Ceilings::default() });
    let no = words("Refused: the harness allows children down to depth 0.");
    assert_eq!(depth, (2, 1, vec![no.clone(), no]));
}

/// A child that meets the ceiling of exchanges ends its turn; its parent goes on. The root's ends the run.
#[test]
fn a_ceiling_of_exchanges_ends_a_turn() {
    let strategy = Faulty { route: open, deliver: report, ..Faulty::default() };
    let look = || act(10, [Tool("look", "{}")]);
    let story = under(&strategy)
        .user("go")
        .ceilings(Ceilings { rounds: 2, ..Ceilings::default() })
        .script("/", [act(10, [Tool("own", "{}")]), say(10, "end")])
        .script("/1", [look(), look(), say(10, "never")]);
    let outcome = story.play().unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(outcome.failure, None);
    assert!(
        matches!(&outcome.threads[1].last, Some(End::Ceiling(why)) if why.contains("thread /1: turn 1") && why.contains("2 exchanges"))
    );
    let by_thread: BTreeMap<u32, usize> = outcome.rows.iter().fold(BTreeMap::new(), |mut all, row| {
        *all.entry(row.thread.0).or_default() += 1;
        all
    });
    assert_eq!(by_thread, BTreeMap::from([(0, 2), (1, 2)]));
}
