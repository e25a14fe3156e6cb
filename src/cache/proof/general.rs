//! What must hold of forks, siblings and waits, by hand.

use std::sync::Arc;

use crate::cache::{Cache, Kind, Lifetime, Mark, Outcome, Profile, Refusal, Request, RequestId, Segment, WholeSegments, Why};

/// Segments of one kind: `count` of `tokens` each, named from `first` on.
fn run(kind: Kind, first: u128, count: usize, tokens: u64) -> Vec<Segment> {
    (0..count).map(|n| Segment { id: first + n as u128, tokens, kind }).collect()
}

/// Ten tools of 1,000, a system prompt of 2,000, and so many turns: a user message of 100, a call of 50, a result of 450, a text of 400.
fn session(turns: usize) -> Vec<Segment> {
    let mut all = run(Kind::Tools, 1, 10, 1000);
    all.extend(run(Kind::System, 50, 1, 2000));
    for turn in 0..turns {
        let first = 1000 + 10 * turn as u128;
        all.extend(run(Kind::User, first, 1, 100));
        all.extend(run(Kind::ToolUse, first + 1, 1, 50));
        all.extend(run(Kind::ToolResult, first + 2, 1, 450));
        all.extend(run(Kind::Assistant, first + 3, 1, 400));
    }
    all
}

fn task(name: u128) -> Segment {
    Segment { id: 900_000 + name, tokens: 300, kind: Kind::User }
}

/// A cache with a profile, a model and a clock.
struct Stage {
    cache: Cache<WholeSegments>,
    profile: Arc<Profile>,
}

impl Stage {
    fn new(profile: &str) -> Stage {
        Stage { cache: Cache::new(WholeSegments), profile: Profile::builtin(profile).expect("a profile") }
    }

    /// Sends a whole request whose answer begins after a second.
    fn send(&mut self, thread: &str, at: u64, segments: &[Segment]) -> Outcome {
        let outcome = self.send_silent(thread, at, segments);
        self.cache.available(outcome.request, at + 1000);
        outcome
    }

    fn send_silent(&mut self, thread: &str, at: u64, segments: &[Segment]) -> Outcome {
        let profile = self.profile.clone();
        let outcome = self.cache.send(&Request { thread, rest: segments, ..base(&profile, at) });
        outcome.expect("a request that is one")
    }
}

#[test]
fn equal_siblings_share_all_once_the_first_has_begun() {
    for (profile, read) in
        [("anthropic", 12_300), ("openai-before-5.6", 12_288), ("vllm", 12_288), ("sglang", 12_299), ("llama-cpp", 12_299)]
    {
        let mut stage = Stage::new(profile);
        let prompt = [session(0), vec![task(1)]].concat();
        assert_eq!(stage.send("a", 0, &prompt).high.read, 0, "{profile}");
        for (n, name) in ["b", "c", "d"].into_iter().enumerate() {
            let outcome = stage.send(name, 2000 + n as u64 * 2000, &prompt);
            assert_eq!(outcome.high.read, read, "{profile}");
            assert_eq!(outcome.divergence.why, Why::Nothing, "{profile}");
        }
    }
}

#[test]
fn siblings_at_once_share_nothing() {
    for profile in ["anthropic", "openai-before-5.6", "vllm", "sglang", "deepseek"] {
        let mut stage = Stage::new(profile);
        let prompt = [session(0), vec![task(1)]].concat();
        let first = stage.send("a", 0, &prompt);
        for name in ["b", "c", "d"] {
            let outcome = stage.send(name, 0, &prompt);
            assert_eq!((outcome.high.read, outcome.low.read), (0, 0), "{profile}");
            assert_eq!(outcome.divergence.why, Why::NotYetAvailable, "{profile}");
            assert!(outcome.divergence.lost >= 12_288 - 16, "{profile}: {}", outcome.divergence.lost);
        }
        // The last millisecond before the first token, and the one of it.
        assert_eq!(stage.send("e", 999, &prompt).high.read, 0, "{profile}");
        assert!(stage.send("f", 1000, &prompt).high.read > 0, "{profile}");
        assert_eq!(stage.cache.thread(first.request), Some(("a", 0)));
    }
}

#[test]
fn one_differing_word_loses_what_stands_behind_the_last_breakpoint_before_it() {
    let mut stage = Stage::new("anthropic");
    let mut prompt = [session(3), vec![task(1)]].concat();
    stage.send("a", 0, &prompt);
    // The second turn's result: the fourth segment of a turn's four, after eleven of the start.
    let at = 11 + 4 + 2;
    prompt[at].id += 500_000;
    let outcome = stage.send("b", 5000, &prompt);
    assert_eq!(outcome.high.read, 12_000);
    assert_eq!(outcome.high.write_short, 3 * 1000 + 300);
    let divergence = outcome.divergence;
    assert_eq!((divergence.why, divergence.segment), (Why::Differs(Kind::ToolResult), at));
    assert_eq!((divergence.common, divergence.lost), (13_150, 3300));
    assert_eq!(divergence.nearest.and_then(|request| stage.cache.thread(request)), Some(("a", 0)));
}

#[test]
fn a_fork_with_equal_tools_reads_almost_all_and_with_one_tool_fewer_almost_nothing() {
    let mut stage = Stage::new("anthropic");
    let parent = session(20);
    stage.send("root", 0, &parent);
    let fork = [parent.clone(), vec![task(1)]].concat();
    let outcome = stage.send("root/1", 5000, &fork);
    assert_eq!((outcome.high.read, outcome.high.write_short, outcome.high.uncached), (32_000, 300, 0));
    assert_eq!((outcome.divergence.why, outcome.divergence.lost), (Why::Nothing, 0));

    let fewer: Vec<Segment> = fork.iter().copied().filter(|segment| segment.id != 10).collect();
    let outcome = stage.send("root/2", 10_000, &fewer);
    assert_eq!((outcome.high.read, outcome.high.write_short), (0, 31_300));
    let divergence = outcome.divergence;
    assert_eq!((divergence.why, divergence.segment, divergence.common), (Why::Differs(Kind::System), 9, 9000));
    assert_eq!(divergence.lost, 31_300);
    // Without breakpoints the nine tools that are left are read.
    let mut open = Stage::new("sglang");
    open.send("root", 0, &parent);
    assert_eq!(open.send("root/2", 5000, &fewer).high.read, 9000);
}

#[test]
fn a_child_that_outlives_the_lifetime_lets_the_parents_prefix_expire() {
    let mut stage = Stage::new("anthropic");
    let parent = session(5);
    stage.send("root", 0, &parent);
    // The child has its own tools and works for six minutes; the parent waits.
    let own = [run(Kind::Tools, 70, 3, 500), run(Kind::System, 80, 1, 500), vec![task(7)]].concat();
    for minute in 0..6 {
        stage.send("root/1", 1000 + minute * 60_000, &own);
    }
    let next = [parent.clone(), vec![task(2)]].concat();
    let outcome = stage.send("root", 361_000, &next);
    assert_eq!((outcome.high.read, outcome.high.write_short), (0, 17_300));
    assert_eq!((outcome.divergence.why, outcome.divergence.lost), (Why::Expired, 17_000));
    // Within the lifetime it lives, to the millisecond.
    for (at, read) in [(300_000, 17_000), (300_001, 0)] {
        let mut stage = Stage::new("anthropic");
        stage.send("root", 0, &parent);
        assert_eq!(stage.send("root", at, &next).high.read, read, "at {at}");
    }
    // A slow answer does not make it live longer: the clock runs from the start of the request.
    let mut stage = Stage::new("anthropic");
    let slow = stage.send_silent("root", 0, &parent);
    stage.cache.available(slow.request, 200_000);
    assert_eq!(stage.send("root", 300_001, &next).high.read, 0);
}

#[test]
fn a_use_a_millisecond_later_keeps_it_a_millisecond_longer() {
    let mut stage = Stage::new("anthropic");
    let parent = session(2);
    let first = stage.send_silent("root", 0, &parent);
    stage.cache.available(first.request, 0);
    for (at, read) in [(1, 14_000), (300_001, 14_000), (600_002, 0)] {
        assert_eq!(stage.send("root", at, &parent).high.read, read, "at {at}");
    }
}

#[test]
fn what_died_does_not_live_again_when_something_behind_it_is_used() {
    let mut stage = Stage::new("anthropic/automatic");
    let (short, long) = (session(1), session(2));
    stage.send("root", 0, &short);
    stage.send("root", 400_000, &long);
    stage.send("root", 410_000, &long);
    // The first entry expired at 300 s; a fork from there finds nothing, though what goes on from it lives.
    let outcome = stage.send("root/1", 420_000, &[short, vec![task(1)]].concat());
    assert_eq!(outcome.high.read, 0);
}

#[test]
fn a_filtered_fork_shares_up_to_the_first_item_that_was_dropped() {
    let parent = session(10);
    // Without tool results: the first one stands at 13.
    let filtered: Vec<Segment> = parent.iter().copied().filter(|segment| segment.kind != Kind::ToolResult).chain([task(1)]).collect();
    for (profile, read) in [("sglang", 12_150), ("vllm", 12_144), ("openai-before-5.6", 12_032), ("anthropic", 12_000)] {
        let mut stage = Stage::new(profile);
        stage.send("root", 0, &parent);
        let outcome = stage.send("root/1", 5000, &filtered);
        assert_eq!(outcome.high.read, read, "{profile}");
        assert_eq!((outcome.divergence.common, outcome.divergence.segment), (12_150, 13), "{profile}");
        assert_eq!(outcome.divergence.why, Why::Differs(Kind::Assistant), "{profile}");
    }
}

#[test]
fn reasons_are_named() {
    let prompt = [session(1), vec![task(1)]].concat();
    let check = |profile: &str, change: &dyn Fn(&mut Request<'_>), expect: Why, lost: u64| {
        let mut stage = Stage::new(profile);
        stage.send("a", 0, &prompt);
        let profile = stage.profile.clone();
        let mut request = Request { rest: &prompt, ..base(&profile, 5000) };
        change(&mut request);
        let outcome = stage.cache.send(&request).expect("a request that is one");
        assert_eq!((outcome.divergence.why, outcome.divergence.lost), (expect, lost));
    };
    check("anthropic", &|request| request.model = "claude-opus-4-6", Why::Model, 13_300);
    check("anthropic", &|request| request.scope = "other", Why::Scope, 13_300);
    check("anthropic", &|request| request.key = Some("other"), Why::Nothing, 0);
    check("openai", &|request| request.key = Some("other"), Why::Key, 13_300);
    check("none", &|_| {}, Why::NoCache, 13_300);
    // No breakpoints of its own: nothing can be read, and nothing was kept for it.
    check("anthropic", &|request| request.marks = Some(&[]), Why::NotKept, 13_300);

    let mut stage = Stage::new("anthropic");
    assert_eq!(stage.send("a", 0, &prompt).divergence.why, Why::First);
    let short = run(Kind::System, 500, 1, 511);
    stage.send("a", 1000, &short);
    let outcome = stage.send("a", 5000, &short);
    assert_eq!((outcome.high.uncached, outcome.divergence.why, outcome.divergence.lost), (511, Why::BelowMinimum, 511));
}

#[test]
fn a_breakpoint_before_what_was_read_is_kept_without_a_fee() {
    // Assumed: the vendor says one entry for each breakpoint, and bills only what stands behind the highest hit.
    let mut stage = Stage::new("anthropic/automatic");
    let parent = session(2);
    stage.send("root", 0, &parent);
    let profile = Profile::builtin("anthropic/claude-code").expect("a profile");
    let mut marked = |at, rest: &[Segment]| {
        let outcome = stage.cache.send(&Request { rest, ..base(&profile, at) }).expect("a request that is one");
        stage.cache.available(outcome.request, at + 1000);
        (outcome.high.read, outcome.high.written())
    };
    assert_eq!(marked(5000, &parent), (14_000, 0));
    assert_eq!(marked(10_000, &[session(0), vec![task(1)]].concat()), (12_000, 300));
}

#[test]
fn an_entry_too_far_back_is_not_found() {
    let mut stage = Stage::new("anthropic/automatic");
    let short = session(1);
    stage.send("root", 0, &short);
    // Twenty user messages more: the entry is the twenty-first position. With nineteen it is the twentieth.
    for (count, read, why, lost) in [(20, 0, Why::OutsideLookBack, 13_000), (19, 13_000, Why::Nothing, 0)] {
        let more = [short.clone(), run(Kind::User, 7000 + count as u128 * 100, count, 10)].concat();
        let outcome = stage.send("root", 5000, &more);
        assert_eq!((outcome.high.read, outcome.divergence.why, outcome.divergence.lost), (read, why, lost), "{count}");
    }
}

#[test]
fn a_slot_holds_one_prompt() {
    let mut stage = Stage::new("llama-cpp");
    let (parent, other) = (session(4), run(Kind::System, 600, 1, 5000));
    stage.send("root", 0, &parent);
    // A fork is like enough to take the parent's slot; the parent then finds the fork's prompt there.
    let fork = [parent[..20].to_vec(), vec![task(1)]].concat();
    let common: u64 = parent[..20].iter().map(|segment| segment.tokens).sum();
    assert_eq!(stage.send("root/1", 5000, &fork).high.read, common);
    let outcome = stage.send("root", 10_000, &parent);
    assert_eq!((outcome.high.read, outcome.divergence.why), (common, Why::NotKept));
    // An unlike prompt takes another slot.
    assert_eq!(stage.send("other", 15_000, &other).high.read, 0);
    assert_eq!(stage.send("root", 20_000, &parent).high.read, 15_999);
}

#[test]
fn answers_are_kept_where_the_provider_keeps_them() {
    for (profile, kept) in [("sglang", true), ("deepseek", true), ("anthropic", false)] {
        let mut stage = Stage::new(profile);
        let prompt = session(0);
        let first = stage.send("root", 0, &prompt);
        let answer = run(Kind::Assistant, 700, 1, 500);
        stage.cache.replied(first.request, &answer, 3000);
        let next = [prompt, answer, vec![task(1)]].concat();
        let outcome = stage.send("root", 5000, &next);
        assert_eq!(outcome.low.read, if kept { 12_500 } else { 12_000 }, "{profile}");
    }
}

#[test]
fn the_longer_lifetime_is_billed_apart_and_lives_longer() {
    let mut stage = Stage::new("anthropic/claude-code-1h");
    let parent = session(2);
    let first = stage.send("root", 0, &parent);
    assert_eq!((first.high.write_long, first.high.write_short), (14_000, 0));
    assert_eq!(stage.send("root", 3_600_000, &parent).high.read, 14_000);
    assert_eq!(stage.send("root", 7_200_001, &parent).high.read, 0);
}

#[test]
fn a_request_may_ask_for_another_lifetime_than_its_client() {
    for (profile, short, long) in [("anthropic", 0, 12_300), ("openai", 0, 12_300), ("qwen-explicit", 12_300, 0)] {
        let profile = Profile::builtin(profile).expect("a profile");
        let prompt = [session(0), vec![task(1)]].concat();
        let mut cache = Cache::new(WholeSegments);
        let request = Request { key: Some("k"), rest: &prompt, lifetime: Some(Lifetime::Long), ..base(&profile, 0) };
        let outcome = cache.send(&request).expect("a request that is one");
        assert_eq!((outcome.high.write_short, outcome.high.write_long), (short, long), "{}", profile.name);
    }
}

#[test]
fn without_a_key_where_it_is_part_of_the_match_it_is_a_range() {
    let mut stage = Stage::new("openai");
    let prompt = session(1);
    stage.send("a", 0, &prompt);
    let outcome = stage.send("a", 5000, &prompt);
    assert_eq!((outcome.low.read, outcome.high.read), (0, 12_600));
    assert!(outcome.range.is_some_and(|why| why.contains("routing key")));
    // The implicit breakpoint is the latest result; the text behind it is plain.
    assert_eq!((outcome.high.uncached, outcome.low.write_short), (400, 12_600));
}

#[test]
fn a_breakpoint_behind_the_instructions_is_read_by_siblings_with_other_tasks() {
    for (profile, read, written) in [("openai/explicit", 12_000, 0), ("openai/implicit", 0, 12_300), ("openai-12h/implicit", 0, 12_300)] {
        let profile = Profile::builtin(profile).expect("a profile");
        let mut cache = Cache::new(WholeSegments);
        let mut last = None;
        for n in 0..3 {
            let prompt = [session(0), vec![task(n)]].concat();
            let at = n as u64 * 5000;
            let outcome = cache.send(&Request { key: Some("k"), rest: &prompt, ..base(&profile, at) }).expect("a request that is one");
            cache.available(outcome.request, at + 1000);
            last = Some(outcome.high);
        }
        let last = last.expect("three were sent");
        assert_eq!((last.read, last.written()), (read, written), "{}", profile.name);
        assert_eq!(last.write_long > 0, profile.name == "openai-12h");
        assert_eq!(last.uncached, 12_300 - read - written);
    }
}

#[test]
fn between_fifty_and_eighty_read_points_two_sources_disagree() {
    for (messages, low, high) in [(49, 2000, 2000), (50, 0, 2000), (79, 0, 2000), (80, 0, 0)] {
        let mut stage = Stage::new("openai");
        let profile = stage.profile.clone();
        let start = run(Kind::User, 1, 1, 2000);
        let more = [start.clone(), run(Kind::User, 100, messages, 10)].concat();
        let mut read = (0, 0);
        for (at, segments) in [(0, &start), (5000, &more)] {
            let outcome = stage.cache.send(&Request { key: Some("k"), profile: &profile, rest: segments, ..base(&profile, at) });
            let outcome = outcome.expect("a request that is one");
            stage.cache.available(outcome.request, at + 1000);
            read = (outcome.low.read, outcome.high.read);
        }
        assert_eq!(read, (low, high), "{messages} messages behind the entry");
    }
}

fn base(profile: &Arc<Profile>, at: u64) -> Request<'_> {
    Request {
        profile,
        model: "claude-opus-5",
        scope: "org",
        key: None,
        thread: "t",
        start_ms: at,
        after: None,
        same: 0,
        rest: &[],
        marks: None,
        lifetime: None,
    }
}

#[test]
fn what_is_no_request_is_refused_with_the_reason() {
    let profile = Profile::builtin("anthropic").expect("a profile");
    let segments = [run(Kind::User, 1, 6, 1000), run(Kind::Thinking, 50, 1, 10)].concat();
    let check = |change: &dyn Fn(&mut Request<'_>), expect: &str| {
        let mut cache = Cache::new(WholeSegments);
        let mut request = Request { rest: &segments, ..base(&profile, 0) };
        change(&mut request);
        let why = cache.send(&request).expect_err("no request");
        assert!(why.to_string().contains(expect), "{why}");
    };
    const fn short(at: usize) -> Mark {
        Mark { at, lifetime: Lifetime::Short }
    }
    const FIVE: [Mark; 5] = [short(0), short(1), short(2), short(3), short(4)];
    check(&|request| request.marks = Some(&FIVE), "5 breakpoints, and the provider takes 4");
    check(&|request| request.marks = Some(&[Mark { at: 7, lifetime: Lifetime::Short }]), "segment 7");
    check(&|request| request.marks = Some(&[Mark { at: 6, lifetime: Lifetime::Short }]), "segment 6");
    check(
        &|request| request.marks = Some(&[Mark { at: 0, lifetime: Lifetime::Short }, Mark { at: 1, lifetime: Lifetime::Long }]),
        "longer lifetime stands behind",
    );
    check(&|request| request.same = 1, "claims 1 segments of an earlier one that has 0");
    check(&|request| request.after = Some(RequestId(3)), "never sent");
    const HUGE: [Segment; 2] = [Segment { id: 1, tokens: u64::MAX, kind: Kind::User }, Segment { id: 2, tokens: 1, kind: Kind::User }];
    check(&|request| request.rest = &HUGE, "more tokens than can be counted");
    assert_eq!(Refusal::Mark(3).to_string(), "segment 3 cannot carry a breakpoint");
}

#[test]
fn every_built_in_profile_reads_and_says_its_day() {
    for name in Profile::names() {
        let profile = Profile::builtin(name).expect("it reads");
        assert_eq!(profile.name, name);
        assert_eq!(profile.dated.len(), 10, "{name}");
        for client in profile.clients.keys() {
            let with = Profile::builtin(&format!("{name}/{client}")).expect("its clients too");
            assert_eq!(with.client.as_ref(), Some(client));
        }
    }
    let why = Profile::builtin("antropic").expect_err("no such").to_string();
    assert!(why.contains("no cache rules `antropic`") && why.contains("anthropic"), "{why}");
    let why = Profile::builtin("anthropic/cursor").expect_err("no such").to_string();
    assert!(why.contains("anthropic/claude-code"), "{why}");
}

#[test]
fn minimums_go_by_the_longest_name() {
    let profile = Profile::builtin("anthropic").expect("a profile");
    let check = |model: &str, expect: u64| assert_eq!(profile.minimum_of(model), expect, "{model}");
    check("claude-opus-5-5", 512);
    check("claude-opus-5", 512);
    check("claude-sonnet-5", 1024);
    check("claude-sonnet-5-5", 512);
    check("claude-opus-4-6", 4096);
    check("claude-opus-4-7", 2048);
    check("claude-opus-4-1-20250805", 1024);
    check("claude-haiku-4-5-20251001", 4096);
    check("something-else", 1024);
}

#[test]
fn a_profile_that_is_none_is_answered() {
    let good = "name='x'\ndated='2026-12-01'\nkey='ignored'\nlifetimes=[]\n[minimum]\ndefault=0\n[rule]\nkind='none'\n";
    assert!(Profile::parse(good).is_ok());
    let check = |text: &str, expect: &str| {
        let why = Profile::parse(text).expect_err("no profile").to_string();
        assert!(why.contains(expect), "{why}");
    };
    check("name = ", "line 1");
    check(&good.replace("key=", "keys="), "unknown field `keys`");
    check(&good.replace("lifetimes=[]", "lifetimes=[2, 1]"), "the shorter first");
    check(&good.replace("kind='none'", "kind='units'"), "two lifetimes");
    check(&good.replace("key='ignored'", "key='ignored'\nclient='c'"), "none of the clients");
    check(&good.replace("kind='none'", "kind='longest-prefix'\nstep=0\ncertain=true\nlast-recomputed=true"), "at least one token");
}
