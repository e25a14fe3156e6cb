//! What the look-ups cost: new segments and O(log n), counted.

use std::sync::Arc;

use super::world::{Pieces, segment as piece_segment};
use crate::cache::{Cache, Counters, Kind, Profile, Request, RequestId, Segment, WholeSegments};

fn segment(id: u128, kind: Kind) -> Segment {
    Segment { id, tokens: 200, kind }
}

/// A parent of so many turns, five segments each, and at every turn a child of three requests that forks all of it, and one that forks a third of it. Returns the
/// counters, the requests and the segments that were said to be new.
fn forks(turns: usize, profile: &str) -> (Counters, u64, u64) {
    let profile: Arc<Profile> = Profile::builtin(profile).expect("a profile");
    let mut cache = Cache::new(WholeSegments);
    let (mut next, mut clock, mut requests, mut new) = (1_u128, 0_u64, 0_u64, 0_u64);
    let mut fresh = |kind| {
        next += 1;
        segment(next, kind)
    };
    let mut send = |thread: &str, after: Option<RequestId>, same: usize, rest: &[Segment]| {
        clock += 20_000;
        let request = Request {
            profile: &profile,
            model: "claude-opus-5",
            scope: "org",
            key: Some("k"),
            thread,
            start_ms: clock,
            after,
            same,
            rest,
            marks: None,
            lifetime: None,
        };
        let outcome = cache.send(&request).expect("a request that is one");
        cache.available(outcome.request, clock + 1000);
        requests += 1;
        new += rest.len() as u64;
        outcome.request
    };
    let start: Vec<Segment> = (0..20).map(|_| fresh(Kind::Tools)).chain([segment(1, Kind::System)]).collect();
    let (mut parent, mut held) = (send("root", None, 0, &start), start.len());
    for turn in 0..turns {
        let turns_items = [Kind::User, Kind::Assistant, Kind::ToolUse, Kind::ToolResult, Kind::User].map(&mut fresh);
        parent = send("root", Some(parent), held, &turns_items);
        held += turns_items.len();
        let name = format!("root/{turn}");
        let (mut child, mut child_held) = (parent, held);
        for _ in 0..3 {
            let items = [Kind::User, Kind::ToolResult].map(&mut fresh);
            child = send(&name, Some(child), child_held, &items);
            child_held += items.len();
        }
        send("rewound", Some(parent), held / 3, &[fresh(Kind::User)]);
    }
    (cache.counters(), requests, new)
}

#[test]
fn visited_parts_are_new_parts_and_log_n() {
    for profile in ["anthropic", "openai", "openai-before-5.6", "deepseek", "vllm", "none"] {
        for turns in [30, 300] {
            let (counters, requests, new) = forks(turns, profile);
            let nodes = new as f64 + 1.0;
            let beyond = (counters.visited - new) as f64 / requests as f64;
            // Three breakpoints look back over twenty positions each: a number that does not grow.
            let bound = 12.0 * nodes.log2() + 60.0;
            assert!(beyond <= bound, "{profile}, {turns} turns: {beyond:.1} a request beyond the new, {bound:.1} allowed");
            let moved = counters.relabelled as f64 / new as f64;
            assert!(moved <= 4.0 * nodes.log2(), "{profile}, {turns} turns: {moved:.1} labels moved a segment");
            if std::env::var_os("CTXBENCH_PRINT").is_some() {
                println!(
                    "{profile:18} {turns:4} turns: {requests} requests, {new} new, {beyond:.1} visited beyond, {moved:.1} labels moved a segment"
                );
            }
        }
    }
}

/// Texts are compared only where requests part: once to place the new one, once for the explanation, once for what is kept.
#[test]
fn texts_are_compared_only_where_requests_part() {
    let profile = Profile::builtin("sglang").expect("a profile");
    let mut cache = Cache::new(Pieces);
    let mut compared = |at: u64, pieces: &[usize]| {
        let rest: Vec<Segment> = pieces.iter().map(|&piece| piece_segment(piece)).collect();
        let before = cache.counters().compared_bytes;
        let request = Request {
            profile: &profile,
            model: "m",
            scope: "org",
            key: None,
            thread: "t",
            start_ms: at,
            after: None,
            same: 0,
            rest: &rest,
            marks: None,
            lifetime: None,
        };
        let outcome = cache.send(&request).expect("a request that is one");
        cache.available(outcome.request, at);
        (outcome.high.read, cache.counters().compared_bytes - before)
    };
    // Users' texts `aba`, then more, then `abab`, which has its header and three letters in common with the first: five looks each.
    assert_eq!(compared(0, &[19]), (0, 0));
    assert_eq!(compared(1, &[19, 6, 7]), (5, 0));
    assert_eq!(compared(2, &[20, 6]), (4, 15));
}

/// A fan-out of equal starts and different tasks: what one more sibling costs does not grow with their number.
#[test]
fn siblings_cost_log_n() {
    let profile = Profile::builtin("sglang").expect("a profile");
    let visited = |siblings: u128| {
        let mut cache = Cache::new(WholeSegments);
        let mut last = 0;
        for n in 0..siblings {
            // Not in the order of their names.
            let rest = [segment(1, Kind::System), segment(2 + n * 7_919 % 10_007, Kind::User)];
            let before = cache.counters().visited;
            let request = Request {
                profile: &profile,
                model: "m",
                scope: "org",
                key: None,
                thread: "t",
                start_ms: n as u64,
                after: None,
                same: 0,
                rest: &rest,
                marks: None,
                lifetime: None,
            };
            let outcome = cache.send(&request).expect("a request that is one");
            cache.available(outcome.request, n as u64);
            last = cache.counters().visited - before;
        }
        last
    };
    assert!(visited(100) <= 90 && visited(5000) <= 140, "{} and {}", visited(100), visited(5000));
}
