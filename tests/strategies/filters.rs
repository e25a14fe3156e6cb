//! What the in-flight filters promise, on odd transcripts, and proof that each promise is checked: deliberately broken
//! filters break it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use ctxbench::strategy::filter::{self, PLACEHOLDER, Rule};
use ctxbench::transcript::{Body, CallKey, Content, Item, Origin, Role, dangling, turns};
use proptest::prelude::*;

use crate::transcripts::{OddTranscript, odd_transcript};

type Filter<'a> = &'a dyn Fn(&[Item], &[CallKey], usize) -> Vec<Item>;

/// The positions of the calls in flight, from what the transcript's maker knows.
fn in_flight(odd: &OddTranscript) -> BTreeSet<usize> {
    let listed = |at: usize| odd.items[at].as_call().is_some_and(|call| odd.in_flight.contains(&call.key));
    odd.unanswered().into_iter().filter(|&at| at >= odd.own || listed(at)).collect()
}

/// The positions that a rule leaves out, from what the maker knows: not by the code under test.
fn left_out(rule: Rule, odd: &OddTranscript) -> BTreeSet<usize> {
    let waiting = in_flight(odd);
    let all = 0..odd.items.len();
    match rule {
        Rule::Forward | Rule::Placeholder => BTreeSet::new(),
        Rule::DropCall => waiting,
        Rule::DropTools => all.filter(|&at| matches!(odd.items[at].body(), Body::Call(_) | Body::Result { .. })).collect(),
        Rule::FinishedTurn => {
            let answered_later = |at: &usize| (odd.own..odd.items.len()).any(|result| odd.answers[result] == Some(*at));
            waiting.iter().copied().chain(all.clone().filter(answered_later)).chain(odd.own..odd.items.len()).collect()
        }
        Rule::PopMessage => {
            let popped: BTreeSet<usize> = waiting.iter().filter(|&&at| at >= odd.own).filter_map(|&at| odd.reply[at]).collect();
            let is_popped = |at: usize| odd.reply[at].is_some_and(|reply| popped.contains(&reply));
            all.filter(|&at| waiting.contains(&at) || is_popped(at) || odd.answers[at].is_some_and(is_popped)).collect()
        }
    }
}

fn count(keys: Vec<Option<CallKey>>) -> BTreeMap<Option<CallKey>, usize> {
    keys.into_iter().fold(BTreeMap::new(), |mut counts, key| {
        *counts.entry(key).or_default() += 1;
        counts
    })
}

/// What a filter does that its rule's promises forbid. Each line begins with the promise's name.
fn violations(rule: Rule, filter: Filter<'_>, odd: &OddTranscript) -> Vec<String> {
    let mut found = Vec::new();
    let waiting = in_flight(odd);
    let key_of = |at: usize| odd.items[at].as_call().map(|call| call.key);
    let waiting_keys: BTreeSet<CallKey> = waiting.iter().filter_map(|&at| key_of(at)).collect();
    let copy = filter(&odd.items, &odd.in_flight, odd.own);

    // Where each item of the copy comes from; None: made up.
    let source: Vec<Option<usize>> = copy.iter().map(|item| odd.items.iter().position(|original| original.shares_body(item))).collect();
    let kept: Vec<usize> = source.iter().flatten().copied().collect();
    if !kept.is_sorted_by(|a, b| a < b) {
        found.push(format!("order: {kept:?}"));
    }
    for (item, source) in copy.iter().zip(&source) {
        if item.origin != Origin::Inherited || !item.means.is_empty() {
            found.push(format!("inherited: {item:?}"));
        }
        match source {
            Some(at) if item.hidden != odd.items[*at].hidden => found.push(format!("hidden: {item:?}")),
            None if !rule.injects() || item.answers().is_none_or(|key| !waiting_keys.contains(&key)) => {
                found.push(format!("made up: {item:?}"));
            }
            _ => {}
        }
    }

    let expected: Vec<usize> = (0..odd.items.len()).filter(|at| !left_out(rule, odd).contains(at)).collect();
    let set: BTreeSet<usize> = kept.iter().copied().collect();
    if set != expected.iter().copied().collect() {
        found.push(format!("kept: {set:?} instead of {expected:?}"));
    }

    let before = count(dangling(&odd.items));
    for (key, times) in count(dangling(&copy)) {
        let waits = key.is_some_and(|key| waiting_keys.contains(&key));
        if times > before.get(&key).copied().unwrap_or(0) || (waits && !rule.may_dangle()) {
            found.push(format!("dangling: {key:?}"));
        }
    }
    if rule.injects() {
        found.extend(misplaced(odd, &copy, &source));
    }

    let own = source.iter().take_while(|source| source.is_none_or(|at| at < odd.own)).count();
    if filter(&copy, &odd.in_flight, own) != copy {
        found.push("idempotent: a second time changes it".into());
    }

    let mut parent = odd.items.clone();
    let fork = filter(&parent, &odd.in_flight, odd.own);
    for item in &mut parent {
        item.origin = Origin::Compaction;
        item.hidden = !item.hidden;
    }
    parent.clear();
    if fork != copy {
        found.push("value: the same history gave another copy".into());
    }
    found
}

/// Made-up results of the turn in progress stand behind their own message, before anything else, in the order of the
/// calls. (Further back two messages without any result between them cannot be told apart.)
fn misplaced(odd: &OddTranscript, copy: &[Item], source: &[Option<usize>]) -> Vec<String> {
    let mut found = Vec::new();
    let position = |key: CallKey| odd.items.iter().position(|item| item.as_call().is_some_and(|call| call.key == key));
    for (at, result) in copy.iter().enumerate().filter(|(at, _)| source[*at].is_none()) {
        let Some(call) = result.answers().and_then(position).filter(|&call| call >= odd.own) else { continue };
        let Some(called) = source.iter().position(|source| *source == Some(call)) else { continue };
        if called > at {
            found.push(format!("misplaced: {result:?} before its call"));
            continue;
        }
        let of_message = |at: usize| source[at].is_some_and(|original| odd.reply[original] == odd.reply[call]);
        if (at..copy.len()).any(of_message) {
            found.push(format!("misplaced: {result:?} inside its own message"));
        }
        let overtaken =
            |later: &Item| later.answers().and_then(position).is_some_and(|other| other < call && odd.reply[other] == odd.reply[call]);
        if copy[at..].iter().any(overtaken) {
            found.push(format!("misplaced: {result:?} before the result of an earlier call"));
        }
        for between in called + 1..at {
            let is_record = !copy[between].is_sent();
            let fits = match (source[between], copy[between].answers()) {
                (_, Some(key)) => position(key).is_none_or(|other| other < call),
                (Some(original), None) => {
                    is_record
                        || odd.reply[original].is_some() && odd.reply[original] == odd.reply[call]
                        || matches!(copy[between].body(), Body::Result { .. })
                }
                (None, None) => false,
            };
            if !fits {
                found.push(format!("misplaced: {:?} between {result:?} and its call", copy[between]));
            }
        }
    }
    found
}

proptest! {
    /// The real filters keep every promise.
    #[test]
    fn promises_hold(seed in any::<u64>()) {
        let odd = odd_transcript(seed);
        for rule in Rule::ALL {
            let filter = |items: &[Item], in_flight: &[CallKey], own: usize| filter::apply(rule, items, in_flight, own);
            prop_assert_eq!(violations(rule, &filter, &odd), Vec::<String>::new(), "{} on seed {}: {:#?}", rule, seed, odd.items);
        }
    }

    /// Positions and keys that no history has are no reason to panic or to make anything up.
    #[test]
    fn nonsense_is_survived(seed in any::<u64>(), own in 0usize..200, keys in prop::collection::vec(any::<u32>(), 0..4)) {
        let odd = odd_transcript(seed);
        let keys: Vec<CallKey> = keys.into_iter().map(CallKey).collect();
        for rule in Rule::ALL {
            let copy = filter::apply(rule, &odd.items, &keys, own);
            let extra = if rule.injects() { odd.unanswered().len() } else { 0 };
            prop_assert!(copy.len() <= odd.items.len() + extra);
        }
    }

    /// What two histories have in common up to the turn in progress, their finished turns have in common.
    #[test]
    fn finished_turns_are_a_prefix(seed in any::<u64>()) {
        let odd = odd_transcript(seed);
        let copy = filter::finished_turn(&odd.items, &[], odd.own);
        let late = |at: &usize| (odd.own..odd.items.len()).any(|result| odd.answers[result] == Some(*at));
        if !(0..odd.own).any(|at| late(&at)) {
            prop_assert_eq!(copy, odd.items[..odd.own].iter().map(Item::inherited).collect::<Vec<_>>());
        }
    }
}

/// The generator makes each oddity, so the promises are not kept for want of trials.
#[test]
fn the_transcripts_are_odd() {
    let all: Vec<OddTranscript> = (0..400).map(odd_transcript).collect();
    let check = |what: &str, odd: &dyn Fn(&OddTranscript) -> bool| {
        let times = all.iter().filter(|one| odd(one)).count();
        assert!(times >= 10, "{what}: {times} times in 400");
    };
    let any = |one: &OddTranscript, odd: &dyn Fn(&Item) -> bool| one.items.iter().any(odd);
    let own_waiting = |one: &OddTranscript| in_flight(one).into_iter().filter(|&at| at >= one.own).count();
    let has_part = |item: &Item, part: &dyn Fn(&Content) -> bool| item.parts().iter().any(|one| part(one.content()));
    check("nothing at all", &|one| one.items.is_empty());
    check("no turn in progress", &|one| !one.items.is_empty() && one.own == one.items.len());
    check("several calls in flight", &|one| own_waiting(one) > 1);
    check("a call of the same reply is answered", &|one| {
        let reply = one.reply.last().copied().flatten();
        own_waiting(one) > 0
            && (one.own..one.items.len()).rev().any(|at| one.answers[at].is_some_and(|call| one.reply[call] == reply || reply.is_none()))
    });
    check("a call of an earlier turn that nobody answered", &|one| one.unanswered().iter().any(|&at| at < one.own));
    check("such a call, listed as in flight", &|one| in_flight(one).iter().any(|&at| at < one.own));
    check("a result that comes a turn late", &|one| {
        (one.own..one.items.len()).any(|at| one.answers[at].is_some_and(|call| call < one.own))
    });
    check("a result of no call", &|one| any(one, &|item| matches!(item.body(), Body::Result { key: None, .. })));
    check("a second result", &|one| {
        let keys: Vec<CallKey> = one.items.iter().filter_map(Item::answers).collect();
        keys.iter().collect::<BTreeSet<_>>().len() < keys.len()
    });
    check("one wire id twice", &|one| {
        let ids: Vec<&str> = one.items.iter().filter_map(Item::as_call).map(|call| call.id.as_str()).collect();
        ids.iter().collect::<BTreeSet<_>>().len() < ids.len()
    });
    check("hidden", &|one| any(one, &|item| item.hidden));
    check("an image", &|one| any(one, &|item| has_part(item, &|part| matches!(part, Content::Image { .. }))));
    check("opaque reasoning", &|one| any(one, &|item| has_part(item, &|part| matches!(part, Content::Opaque { .. }))));
    check("mail", &|one| any(one, &|item| matches!(item.body(), Body::Mail { .. })));
    check("a summary", &|one| any(one, &|item| matches!(item.body(), Body::Compaction { .. })));
    check("a record", &|one| any(one, &|item| !item.is_sent()));
    check("several turns", &|one| turns(&one.items).len() > 2);
}

#[test]
fn the_rule_that_may_dangle_does() {
    let dangles = |rule: Rule| {
        (0..64).map(odd_transcript).any(|odd| {
            let keys: Vec<CallKey> = in_flight(&odd).iter().filter_map(|&at| odd.items[at].as_call().map(|call| call.key)).collect();
            let copy = filter::apply(rule, &odd.items, &odd.in_flight, odd.own);
            dangling(&copy).into_iter().flatten().any(|key| keys.contains(&key))
        })
    };
    for rule in Rule::ALL {
        assert_eq!(dangles(rule), rule.may_dangle(), "{rule}");
    }
}

/// A broken filter is noticed, by the promise that it breaks.
fn check_broken(rule: Rule, promise: &str, what: &str, filter: Filter<'_>) {
    let noticed = (0..400).map(odd_transcript).find_map(|odd| {
        let found = violations(rule, filter, &odd);
        found.into_iter().find(|line| line.starts_with(promise))
    });
    assert!(noticed.is_some(), "{rule}: nobody notices under `{promise}` that it {what}");
}

fn wrote(item: &Item) -> bool {
    matches!(item.body(), Body::Reasoning { .. } | Body::Call(_)) || item.role() == Some(Role::Assistant)
}

#[test]
fn broken_filters_are_noticed() {
    use Rule::{DropCall, DropTools, FinishedTurn, Forward, Placeholder, PopMessage};
    let keep = |items: &[Item], keep: &dyn Fn(usize, &Item) -> bool| -> Vec<Item> {
        items.iter().enumerate().filter(|(at, item)| keep(*at, item)).map(|(_, item)| item.inherited()).collect()
    };
    let is_call = |item: &Item| item.as_call().is_some();

    // Promises of all rules.
    check_broken(DropCall, "order", "reverses", &|i, f, o| filter::drop_call(i, f, o).into_iter().rev().collect());
    check_broken(DropCall, "made up", "adds a note", &|i, f, o| {
        let mut copy = filter::drop_call(i, f, o);
        copy.push(Item::user(Origin::Inherited, "copied"));
        copy
    });
    check_broken(Forward, "made up", "copies bodies instead of pointers", &|i, _, _| {
        i.iter().map(|item| hidden(Item::new(item.body().clone(), Origin::Inherited), item.hidden)).collect()
    });
    check_broken(Forward, "inherited", "keeps origins and news", &|i, _, _| i.to_vec());
    check_broken(DropCall, "hidden", "forgets what is hidden", &|i, f, o| {
        filter::drop_call(i, f, o).into_iter().map(|item| hidden(item, false)).collect()
    });
    let times = Cell::new(0);
    check_broken(Forward, "value", "depends on how often it was called", &|i, _, _| {
        times.set(times.get() + 1);
        filter::forward(&i[..i.len() - usize::from(times.get() % 3 == 0 && !i.is_empty())])
    });
    check_broken(DropCall, "idempotent", "drops the last item as well", &|i, _, _| keep(i, &|at, _| at + 1 < i.len()));

    // Promises of one rule.
    check_broken(DropCall, "dangling", "forwards", &|i, _, _| filter::forward(i));
    check_broken(DropCall, "dangling", "drops listed calls only, also answered ones", &|i, f, _| {
        keep(i, &|_, item| item.as_call().is_none_or(|call| call.key.0 % 2 == 0 && !f.contains(&call.key)))
    });
    check_broken(DropCall, "kept", "drops the text beside the call", &filter::pop_message);
    check_broken(DropCall, "kept", "drops hidden items", &|i, f, o| {
        filter::drop_call(i, f, o).into_iter().filter(|item| !item.hidden).collect()
    });
    check_broken(PopMessage, "kept", "keeps the text", &filter::drop_call);
    check_broken(PopMessage, "dangling", "keeps results of popped calls", &|i, f, o| {
        let popped = filter::pop_message(i, f, o);
        keep(i, &|_, item| item.answers().is_some() || popped.iter().any(|kept| kept.shares_body(item)))
    });
    check_broken(PopMessage, "kept", "keeps reasoning", &|i, f, o| {
        let popped = filter::pop_message(i, f, o);
        let reasons = |item: &Item| matches!(item.body(), Body::Reasoning { .. });
        keep(i, &|_, item| reasons(item) || popped.iter().any(|kept| kept.shares_body(item)))
    });
    check_broken(PopMessage, "idempotent", "pops a message each time", &|i, _, _| {
        let last = i.iter().rposition(|item| !wrote(item)).map_or(0, |at| at + 1);
        let start = i[..last].iter().rposition(wrote).unwrap_or(0);
        keep(i, &|at, item| !(wrote(item) && at >= start))
    });
    check_broken(FinishedTurn, "kept", "keeps what opened the turn", &|i, f, o| filter::finished_turn(i, f, o + 1));
    check_broken(FinishedTurn, "kept", "cuts one item too many", &|i, f, o| filter::finished_turn(i, f, o.saturating_sub(1)));
    check_broken(FinishedTurn, "dangling", "cuts late results off their calls", &|i, _, o| keep(i, &|at, _| at < o));
    check_broken(Placeholder, "kept", "drops calls", &filter::drop_call);
    check_broken(Placeholder, "dangling", "answers listed calls only, answered or not", &|i, f, _| {
        let made = f.iter().map(|&key| Item::result(key, Origin::Inherited, PLACEHOLDER, false));
        filter::forward(i).into_iter().chain(made).collect()
    });
    check_broken(Placeholder, "misplaced", "answers at the end", &|i, f, o| {
        let (made, rest): (Vec<Item>, Vec<Item>) = filter::placeholder(i, f, o).into_iter().partition(|item| item.text() == PLACEHOLDER);
        rest.into_iter().chain(made).collect()
    });
    check_broken(Placeholder, "misplaced", "answers right behind each call", &|i, f, o| {
        let answered = filter::placeholder(i, f, o);
        let made = |item: &Item| answered.iter().find(|a| a.text() == PLACEHOLDER && a.answers() == item.as_call().map(|c| c.key)).cloned();
        i.iter().flat_map(|item| [Some(item.inherited()), made(item)]).flatten().collect()
    });
    check_broken(DropTools, "kept", "keeps results", &|i, _, _| keep(i, &|_, item| !is_call(item)));
    check_broken(DropTools, "dangling", "drops calls and keeps their results", &|i, _, _| keep(i, &|_, item| !is_call(item)));
    check_broken(DropTools, "kept", "drops reasoning too", &|i, _, _| {
        filter::drop_tools(i).into_iter().filter(|item| !matches!(item.body(), Body::Reasoning { .. })).collect()
    });
    check_broken(Forward, "kept", "drops calls in flight", &filter::drop_call);
}

fn hidden(mut item: Item, hidden: bool) -> Item {
    item.hidden = hidden;
    item
}

/// One history by hand, and what each rule makes of it.
fn check(rule: Rule, expect: &str) {
    let call = |key: u32, name: &str| {
        Item::call(ctxbench::transcript::ToolCall {
            key: CallKey(key),
            id: "same".into(),
            name: name.into(),
            args: "{}".into(),
            intent: None,
            recorded: None,
        })
    };
    let result = |key: u32, text: &str| Item::result(CallKey(key), Origin::ToolResult, text, false);
    let items = [
        Item::user(Origin::User, "U1"),
        Item::assistant(None, "T1"),
        call(0, "old"),
        result(0, "R0"),
        Item::assistant(None, "A1"),
        Item::user(Origin::User, "U2"),
        Item::new(Body::Reasoning { parts: vec!["why".into()] }, Origin::Own),
        Item::assistant(None, "T2"),
        call(1, "a"),
        call(2, "b"),
        call(3, "c"),
        result(2, "R2"),
    ];
    let copy = filter::apply(rule, &items, &[CallKey(1), CallKey(3)], 5);
    let short = |item: &Item| match item.body() {
        Body::Call(call) => call.name.clone(),
        _ if item.text() == PLACEHOLDER => format!("P{}", item.answers().map_or(0, |key| key.0)),
        _ => item.text(),
    };
    assert_eq!(copy.iter().map(short).collect::<Vec<_>>().join(" "), expect, "{rule}");
}

#[test]
fn each_rule_on_one_history() {
    check(Rule::DropCall, "U1 T1 old R0 A1 U2 why T2 b R2");
    check(Rule::PopMessage, "U1 T1 old R0 A1 U2");
    check(Rule::FinishedTurn, "U1 T1 old R0 A1");
    check(Rule::Placeholder, "U1 T1 old R0 A1 U2 why T2 a b c P1 R2 P3");
    check(Rule::DropTools, "U1 T1 A1 U2 why T2");
    check(Rule::Forward, "U1 T1 old R0 A1 U2 why T2 a b c R2");
}

/// A call that opens the turn in progress is in flight also if nobody lists it.
#[test]
fn the_turn_in_progress_begins_at_own() {
    let call = Item::call(crate::hand::call(0, "a", "{}"));
    let items = [Item::assistant(None, "before"), call];
    let lengths = |own: usize| Rule::ALL.map(|rule| filter::apply(rule, &items, &[], own).len());
    assert_eq!(lengths(1), [1, 1, 1, 3, 1, 2]);
    assert_eq!(lengths(0), [1, 0, 0, 3, 1, 2]);
    // Before the turn in progress it is the parent's own loose end.
    assert_eq!(lengths(2), [2, 2, 2, 2, 1, 2]);
}

#[test]
fn names() {
    let names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names, ["drop-call", "pop-message", "finished-turn", "placeholder", "drop-tools", "forward"]);
    assert!(Rule::ALL.iter().all(|rule| Rule::named(rule.name()) == Some(*rule)));
    assert_eq!((Rule::default(), Rule::named("drop")), (Rule::DropCall, None));
}
