//! What holds for every request: only what is visible counts, and nothing is remembered.

use proptest::prelude::*;

use super::*;
use crate::scenario::Topic;
use crate::scenario::sample::{grouped, intent, made, read, scenario, topic, turn};

const FACTS: usize = 8;

fn marker(fact: usize) -> String {
    format!("marker number {fact}")
}

/// Four topics of two facts each, a deliverable, two intents. Statements and values come from outside.
fn world(statements: &[usize], narrate: bool) -> Scenario {
    let fact = |at: usize| (format!("Statement {} of {}.", statements[at], marker(at)), format!("value {}", statements[at]), marker(at));
    let mut topics: Vec<Topic> = (0..FACTS / 2)
        .map(|at| {
            let facts = [fact(2 * at), fact(2 * at + 1)];
            let facts: Vec<(&str, &str, &str)> = facts.iter().map(|(s, v, m)| (s.as_str(), v.as_str(), m.as_str())).collect();
            topic(&format!("label {at}"), &facts)
        })
        .collect();
    topics.push(made("the note", 0, &[0, 3]));
    let mut one = intent(
        "one",
        "do the first thing",
        &[0, 1, 4],
        vec![read("a", &[0]), grouped(read("b", &[1]), "g"), grouped(read("c", &[3]), "g")],
    );
    one.known = vec![2, 3];
    let two = intent("two", "do the second thing", &[2], vec![read("d", &[2])]);
    let mut world = scenario(topics, vec![one, two], vec![turn("lead the work", &[3], &[0, 1]), turn("and then more", &[2, 0], &[])]);
    world.conduct.narrate_findings = narrate;
    world
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => (0..FACTS).prop_map(marker),
        1 => (0..5usize).prop_map(|at| format!("unknown: label {at}")),
        1 => Just("DONE the note: guess, guess".to_owned()),
        1 => Just("do the second thing".to_owned()),
        2 => Just("nothing".to_owned()),
    ];
    proptest::collection::vec(piece, 0..3).prop_map(|pieces| pieces.join("\n"))
}

/// What a thread meets: the texts of files, and what delegations bring.
#[derive(Clone, Debug)]
struct Meets {
    opening: String,
    is_child: bool,
    files: Vec<Option<String>>,
    returns: Vec<(u8, String)>,
    more: bool,
}

fn meets() -> impl Strategy<Value = Meets> {
    let files = proptest::collection::vec(proptest::option::weighted(0.8, text()), 4);
    let returns = proptest::collection::vec((0..5u8, text()), 4);
    (text(), any::<bool>(), files, returns, any::<bool>()).prop_map(|(opening, is_child, files, returns, more)| Meets {
        opening,
        is_child,
        files,
        returns,
        more,
    })
}

/// Every thread as it stood at each request, with the reply.
fn play(bench: &Bench, agent: &mut dyn Agent, meets: &Meets) -> Vec<(Thread, String)> {
    let mut thread = match meets.is_child {
        true => Thread::task(&format!("{} Please do the first thing.", meets.opening)),
        false => Thread::user(&format!("{} Now lead the work.", meets.opening)),
    };
    let mut asked = meets.more && !meets.is_child;
    let mut returns = meets.returns.iter().cycle();
    let mut seen = Vec::new();
    for _ in 0..40 {
        let reply = bench.reply_to(agent, &thread, None);
        seen.push((thread.clone(), shown(&reply)));
        if !reply.text.is_empty() {
            thread = thread.says(&reply.text);
        }
        if reply.calls.is_empty() {
            if !asked {
                return seen;
            }
            asked = false;
            thread = thread.then_user("Now and then more.");
            continue;
        }
        for call in &reply.calls {
            thread = thread.makes(&call.name, &call.args, call.intent.as_deref());
        }
        for (nth, call) in reply.calls.iter().enumerate() {
            let ago = (reply.calls.len() - nth) as u32;
            thread = match call.name.as_str() {
                "read" => {
                    let file = ["a", "b", "c", "d"]
                        .iter()
                        .position(|path| call.args.contains(&format!("\"{path}\"")))
                        .and_then(|at| meets.files[at].as_ref());
                    thread.result(ago, file.map_or("gone", String::as_str), file.is_none())
                }
                _ => {
                    let (how, text) = returns.next().expect("it goes round");
                    let means = match how {
                        0 => Means::Refused,
                        1 => Means::Failed(None),
                        2 => Means::Returned(None),
                        _ => Means::Returned(handle("child")),
                    };
                    thread.told(ago, text, &[means])
                }
            };
        }
    }
    panic!("no end after 40 replies: {:#?}", seen.last());
}

fn is_visible(thread: &Thread, fact: usize) -> bool {
    thread.items.iter().any(|item| item.as_call().is_none() && item.text().contains(&marker(fact)))
}

fn protocol() -> impl Strategy<Value = Protocol> {
    prop_oneof![Just(Protocol::Inline), Just(Protocol::Fresh), Just(Protocol::Blocking)]
}

fn bench(statements: &[usize], narrate: bool, protocol: Protocol, briefing: Briefing) -> Bench {
    let mut bench = Bench::new(world(statements, narrate), protocol);
    bench.reader.briefing = briefing;
    bench
}

fn briefing() -> impl Strategy<Value = Briefing> {
    prop_oneof![Just(Briefing::Terse), Just(Briefing::Same), Just(Briefing::Known)]
}

proptest! {
    /// Statements and values of facts that never were visible to a thread do not touch what it does.
    #[test]
    fn only_what_is_visible_counts(meets in meets(), protocol in protocol(), briefing in briefing(), narrate in any::<bool>()) {
        let plain: Vec<usize> = (0..FACTS).collect();
        let one = bench(&plain, narrate, protocol, briefing);
        let played = play(&one, &mut *one.reader.start(0), &meets);
        let last = &played.last().expect("at least one reply").0;
        let shuffled: Vec<usize> = (0..FACTS).map(|fact| if is_visible(last, fact) { fact } else { 100 + FACTS - fact }).collect();
        let other = bench(&shuffled, narrate, protocol, briefing);
        let again = play(&other, &mut *other.reader.start(0), &meets);
        for ((_, before), (_, after)) in played.iter().zip(&again) {
            prop_assert_eq!(before, after);
        }
        prop_assert_eq!(played.len(), again.len());
    }

    /// A reader that played other threads replies as a fresh one, and a request answered twice is answered alike.
    #[test]
    fn nothing_is_remembered(one in meets(), two in meets(), protocol in protocol(), briefing in briefing()) {
        let plain: Vec<usize> = (0..FACTS).collect();
        let bench = bench(&plain, true, protocol, briefing);
        let mut used = bench.reader.start(0);
        let first = play(&bench, &mut *used, &one);
        play(&bench, &mut *used, &two);
        for (thread, reply) in &first {
            prop_assert_eq!(&shown(&bench.reply_to(&mut *used, thread, None)), reply);
            prop_assert_eq!(&shown(&bench.reply(thread)), reply);
        }
    }

    /// No request, however odd, makes it panic.
    #[test]
    fn any_items_can_be_read(kinds in proptest::collection::vec((0..9u8, text(), any::<bool>()), 0..14), protocol in protocol()) {
        let plain: Vec<usize> = (0..FACTS).collect();
        let bench = bench(&plain, true, protocol, Briefing::Known);
        let mut thread = Thread::default();
        for (kind, text, flag) in kinds {
            thread = match kind {
                0 => thread.then_user(&format!("{text} lead the work")),
                1 => thread.then_task(&format!("{text} do the first thing")),
                2 => thread.says(&text),
                3 => thread.makes("read", "{\"path\":\"a\"}", None),
                4 if thread.calls > 0 => thread.result(1, &text, flag),
                5 => thread.delegates(if flag { "one" } else { "nobody" }),
                6 if thread.calls > 0 => thread.told(1, &text, &[if flag { Means::Refused } else { Means::Started(Handle("h".into())) }]),
                7 => thread.notice(&text, &[if flag { Means::TimedOut } else { Means::Returned(handle("h")) }]),
                _ => thread.item(Item::user(Origin::Inherited, text)),
            };
        }
        bench.reply(&thread);
    }
}
