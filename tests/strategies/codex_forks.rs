//! What a Codex fork hands down: by hand for each kind of item, and properties over odd transcripts.

use ctxbench::strategy::codex::fork::{ABORTED, verbatim};
use ctxbench::strategy::codex::profile::History;
use ctxbench::strategy::codex::rollout::{Extent, Line, last_turns, opening};
use ctxbench::strategy::codex::{Profile, V1_PROFILES, V2_PROFILES};
use ctxbench::transcript::{Body, CallKey, Item, Origin, Part, Phase, Role, dangling};
use proptest::prelude::*;

use crate::hand::call;
use crate::transcripts::odd_transcript;

fn message(role: Role, text: &str) -> Item {
    Item::message(role, Origin::User, text)
}

fn mail(kind: &str) -> Item {
    let text = format!("Message Type: {kind}\nTask name: /root\nSender: /root/a\nPayload:\nM-{kind}");
    Item::new(Body::Mail { from: "/root/a".into(), to: "/root".into(), parts: vec![text.into()] }, Origin::Delegated)
}

fn result(key: Option<u32>, text: &str) -> Item {
    Item::new(Body::Result { key: key.map(CallKey), parts: vec![text.into()], failed: false }, Origin::ToolResult)
}

fn record(text: &str) -> Item {
    Item::new(Body::Context { kind: "turn_context".into(), parts: vec![text.into()] }, Origin::Own)
}

/// One item of each kind.
fn zoo() -> Vec<Item> {
    vec![
        message(Role::System, "system"),
        message(Role::Developer, "developer"),
        message(Role::User, "user"),
        message(Role::Tool, "tool"),
        Item::new(Body::Reasoning { parts: vec!["reasoning".into()] }, Origin::Own),
        Item::assistant(Some(Phase::Commentary), "commentary"),
        Item::call(call(1, "read", "{}")),
        result(Some(1), "output"),
        result(None, "call-less output"),
        Item::assistant(None, "no phase"),
        mail("NEW_TASK"),
        record("record"),
        Item::new(Body::Compaction { parts: vec!["summary".into()] }, Origin::Compaction),
        Item::assistant(Some(Phase::FinalAnswer), "final"),
    ]
}

/// What a child of a filtered fork inherits, as 0.160 does it.
fn filtered(items: &[Item], extent: Extent) -> Vec<Item> {
    opening(items, &Profile::named("0.160").expect("known").fork(extent)).items
}

/// The items of the last turns.
fn window(items: &[Item], turns: u64) -> &[Item] {
    &items[items.len() - last_turns(items.iter().rev().map(Line::of), turns)..]
}

fn texts(items: &[Item]) -> Vec<String> {
    items.iter().map(Item::text).collect()
}

#[test]
fn what_the_filter_keeps() {
    // A system message stays in the file and never enters a history; a record is read by no model.
    let expect = ["developer", "user", "call-less output", "summary", "final"];
    assert_eq!(texts(&filtered(&zoo(), Extent::Full)), expect);
    assert_eq!(texts(&filtered(&zoo(), Extent::Last(9))), expect[1..]);
}

fn check_scrub(extent: Extent, parts: &[&str], expect: &[&str]) {
    let body = Body::Message { role: Role::Developer, phase: None, parts: parts.iter().map(|text| Part::from(*text)).collect() };
    let items = [message(Role::User, "q"), Item::new(body, Origin::System).hide()];
    let kept = &filtered(&items, extent)[1..];
    let left: Vec<&str> = kept.iter().flat_map(|item| item.parts()).map(Part::as_text).collect();
    assert_eq!(left, expect);
    assert_eq!(kept.len(), usize::from(!expect.is_empty()), "an emptied message goes");
    assert!(kept.iter().all(|item| item.hidden && item.origin == Origin::Inherited));
    // The words of a person stay, whatever they look like.
    let user = Item::user(Origin::User, parts[0]);
    assert_eq!(texts(&filtered(&[user], Extent::Full)), [parts[0]]);
}

#[test]
fn what_developer_messages_lose() {
    let mode = " <multi_agent_mode>x</MULTI_AGENT_MODE>\n";
    let managed = "<managed_developer_instructions>m</managed_developer_instructions>";
    check_scrub(Extent::Full, &[mode], &[]);
    check_scrub(Extent::Full, &["rules", mode, managed], &["rules", managed]);
    check_scrub(Extent::Last(1), &["rules", mode, managed], &["rules"]);
    check_scrub(
        Extent::Full,
        &["<multi_agent_role>r</multi_agent_role>", "<current_time_reminder>t</current_time_reminder>", "  "],
        &["  "],
    );
    // Both ends must match.
    check_scrub(Extent::Full, &["<multi_agent_mode>x</multi_agent_mode> and more"], &["<multi_agent_mode>x</multi_agent_mode> and more"]);
}

/// Turn boundaries, one letter an item: `u` user, `c` contextual user, `a` answer, `t` triggering mail, `q` queued mail,
/// `d` developer, `s` summary, `h` hidden user.
fn check_turns(letters: &str, turns: u64, expect: &str) {
    let items: Vec<Item> = letters
        .chars()
        .map(|letter| match letter {
            'u' => message(Role::User, "u"),
            'h' => message(Role::User, "h").hide(),
            'c' => message(Role::User, "<environment_context>\nc\n</environment_context>"),
            't' => mail("NEW_TASK"),
            'q' => mail("MESSAGE"),
            'f' => mail("FINAL_ANSWER"),
            'd' => message(Role::Developer, "d"),
            's' => Item::new(Body::Compaction { parts: vec!["s".into()] }, Origin::Compaction),
            _ => Item::assistant(Some(Phase::FinalAnswer), "a"),
        })
        .collect();
    let kept = window(&items, turns);
    assert_eq!(&letters[letters.len() - kept.len()..], expect, "{letters} {turns}");
    assert_eq!(kept, &items[items.len() - kept.len()..]);
}

#[test]
fn where_the_last_turns_begin() {
    // Cases of the product's own tests.
    check_turns("uaqataua", 2, "taua");
    check_turns("dua", 2, "ua");
    check_turns("su", 2, "u");
    check_turns("uaua", 10, "uaua");
    // The delegating turn counts as one; no turn, or none asked for: nothing.
    check_turns("uauaua", 1, "ua");
    check_turns("daq", 3, "");
    check_turns("uaua", 0, "");
    check_turns("", 1, "");
    // Context, answers of other agents, words sent to it: no turn. A message in the midst of a turn is one.
    check_turns("cuacua", 1, "ua");
    check_turns("uafa", 1, "uafa");
    check_turns("uaua", u64::MAX, "uaua");
    check_turns("uau", 1, "u");
    check_turns("uah", 1, "h");
}

#[test]
fn which_user_messages_are_context() {
    let check = |text: &str, is_context: bool| {
        let items = [message(Role::User, "first"), message(Role::User, text)];
        assert_eq!(window(&items, 1).len(), if is_context { 2 } else { 1 }, "{text}");
    };
    check("<environment_context>x</environment_context>", true);
    check("  <ENVIRONMENT_CONTEXT>x</environment_context>\n", true);
    check("# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>", true);
    check("<subagent_notification>\n{}\n</subagent_notification>", true);
    check("<turn_aborted>x</turn_aborted>", true);
    check("<user_shell_command>ls</user_shell_command>", true);
    check("<external_mail>x</external_mail>", true);
    check("<external_mail>x</external_post>", false);
    check("<codex_internal_context source=\"a\">x</codex_internal_context>", true);
    // The older wrapper counts as a turn.
    check("<user_instructions>x</user_instructions>", false);
    check("<environment_context>x</environment_context> and a question", false);
    check("<environment_context>", false);
    check("é", false);
    check("", false);
}

#[test]
fn a_verbatim_fork_keeps_everything_and_answers_every_call() {
    let mut items = zoo();
    items.extend([
        Item::assistant(Some(Phase::Commentary), "handing on"),
        Item::call(call(2, "spawn_agent", "spawn")),
        Item::call(call(3, "read", "beside")),
        result(Some(3), "beside's output"),
        result(Some(9), "stray"),
    ]);
    let copy = verbatim(&items);
    let mut expect = texts(&zoo());
    expect.extend(["handing on", "spawn", ABORTED, "beside", "beside's output"].map(String::from));
    assert_eq!(texts(&copy), expect);
    assert_eq!(dangling(&copy), [None], "the call-less output alone");
    assert_eq!(copy[16].answers(), Some(CallKey(2)));
    assert!(copy.iter().all(|item| item.origin == Origin::Inherited && item.means.is_empty()));
}

// ---- properties ---------------------------------------------------------------------------------------------------------

/// Whether `copy` is `items` with some left out and nothing added, as inherited ones; `declared` items are passed over.
fn is_subsequence(copy: &[Item], items: &[Item], declared: impl Fn(&Item) -> bool) -> Result<(), String> {
    let mut rest = items.iter();
    for item in copy {
        if !rest.clone().any(|one| one.inherited() == *item) && declared(item) {
            continue;
        }
        if !rest.by_ref().any(|one| one.shares_body(item) && one.inherited() == *item) {
            return Err(format!("{item:?} does not stand there, or not in this order"));
        }
    }
    Ok(())
}

/// A filtered fork never holds these.
fn forbidden(item: &Item) -> bool {
    match item.body() {
        Body::Message { role: Role::Assistant, phase, .. } => *phase != Some(Phase::FinalAnswer),
        Body::Message { role, .. } => matches!(role, Role::Tool | Role::System),
        Body::Reasoning { .. } | Body::Call(_) | Body::Mail { .. } | Body::Context { .. } | Body::Result { key: Some(_), .. } => true,
        Body::Result { key: None, .. } | Body::Compaction { .. } => false,
    }
}

type Filter<'a> = &'a dyn Fn(&[Item]) -> Vec<Item>;

fn filter_holds(filter: Filter<'_>, items: &[Item]) -> Result<(), String> {
    let copy = filter(items);
    is_subsequence(&copy, items, |_| false)?;
    if let Some(item) = copy.iter().find(|item| forbidden(item)) {
        return Err(format!("{item:?} is handed down"));
    }
    let answers = |items: &[Item]| {
        let is_final = |item: &&Item| matches!(item.body(), Body::Message { phase: Some(Phase::FinalAnswer), .. });
        let is_said = |item: &&Item| item.role() == Some(Role::User) || is_final(item);
        items.iter().filter(is_said).count()
    };
    if answers(&copy) != answers(items) {
        return Err("a message of a person or a final answer is lost".into());
    }
    if dangling(&copy).iter().any(Option::is_some) {
        return Err("it dangles".into());
    }
    if filter(&copy) != copy { Err("twice is not once".into()) } else { Ok(()) }
}

type Last<'a> = &'a dyn Fn(&[Item], u64) -> Vec<Item>;

fn last_holds(last: Last<'_>, items: &[Item]) -> Result<(), String> {
    let mut shorter: Vec<Item> = vec![];
    for turns in 0..8 {
        let kept = last(items, turns);
        if !items.ends_with(&kept) {
            return Err(format!("the last {turns} turns are no suffix"));
        }
        if kept.len() < shorter.len() {
            return Err(format!("the last {turns} turns are fewer items than one turn less"));
        }
        if last(&kept, turns) != kept {
            return Err(format!("the last {turns} turns of the last {turns} are others"));
        }
        shorter = kept;
    }
    Ok(())
}

fn verbatim_holds(fork: Filter<'_>, items: &[Item]) -> Result<(), String> {
    let copy = fork(items);
    let is_aborted = |item: &Item| item.text() == ABORTED && item.answers().is_some();
    is_subsequence(&copy, items, is_aborted)?;
    if dangling(&copy).iter().any(Option::is_some) {
        return Err("it dangles".into());
    }
    let gone = items.iter().filter(|item| !copy.iter().any(|kept| kept.shares_body(item)));
    if let Some(item) = gone.into_iter().find(|item| item.answers().is_none()) {
        return Err(format!("{item:?} is lost"));
    }
    let unanswered =
        dangling(items).into_iter().flatten().filter(|key| items.iter().any(|item| item.as_call().is_some_and(|c| c.key == *key)));
    let aborted = copy.iter().filter(|item| is_aborted(item)).count();
    if unanswered.count() < aborted {
        return Err("an answered call is aborted".into());
    }
    if fork(&copy) != copy { Err("twice is not once".into()) } else { Ok(()) }
}

fn full(items: &[Item]) -> Vec<Item> {
    filtered(items, Extent::Full)
}

fn last(items: &[Item], turns: u64) -> Vec<Item> {
    window(items, turns).to_vec()
}

proptest! {
    #[test]
    fn forks_of_odd_transcripts(seed in any::<u64>()) {
        let items = odd_transcript(seed).items;
        prop_assert_eq!(last_holds(&last, &items), Ok(()));
        prop_assert_eq!(verbatim_holds(&verbatim, &items), Ok(()));
        for profile in V1_PROFILES.iter().chain(&V2_PROFILES).filter(|profile| profile.history == History::Filtered) {
            let fork = |items: &[Item]| opening(items, &profile.fork(Extent::Full)).items;
            prop_assert_eq!(filter_holds(&fork, &items), Ok(()), "{}", profile.name);
            // The last turns are the end of what the whole history gives, and more turns are never less.
            let whole = fork(&items);
            let mut shorter = 0;
            for turns in 0..6 {
                let last = opening(&items, &profile.fork(Extent::Last(turns))).items;
                prop_assert!(whole.ends_with(&last) && last.len() >= shorter, "{}: {turns} turns", profile.name);
                prop_assert_eq!(&last, &opening(&items, &profile.fork(Extent::Last(turns))).items);
                shorter = last.len();
            }
        }
    }
}

/// Each property fails on a fork that is wrong in one way, for some of the first transcripts.
#[test]
fn the_properties_see_broken_forks() {
    let seen = |what: &str, holds: &dyn Fn(&[Item]) -> Result<(), String>, why: &str| {
        let found = (0..300).filter_map(|seed| holds(&odd_transcript(seed).items).err()).any(|said| said.contains(why));
        assert!(found, "{what} is not seen");
    };
    let filter = |broken: fn(&[Item]) -> Vec<Item>, what: &str, why: &str| seen(what, &|items| filter_holds(&broken, items), why);
    filter(|items| full(items).into_iter().rev().collect(), "the order", "order");
    filter(|items| items.iter().map(Item::inherited).collect(), "no filter", "handed down");
    filter(|items| full(items).into_iter().skip(1).collect(), "a lost message", "lost");
    filter(|items| full(items).into_iter().chain([message(Role::Developer, "hint").inherited()]).collect(), "an addition", "stand there");
    filter(
        |items| full(items).into_iter().filter(|item| !matches!(item.body(), Body::Message { phase: Some(_), .. })).collect(),
        "lost answers",
        "lost",
    );
    let cut = |broken: fn(&[Item], u64) -> Vec<Item>, what: &str, why: &str| seen(what, &|items| last_holds(&broken, items), why);
    cut(|items, turns| items[..items.len() - window(items, turns).len()].to_vec(), "the first turns", "suffix");
    cut(|items, turns| last(items, if turns == 3 { 1 } else { turns }), "a step down", "fewer");
    cut(|items, turns| last(items, turns).into_iter().skip(1).collect(), "a cut behind the boundary", "others");
    let fork = |broken: fn(&[Item]) -> Vec<Item>, what: &str, why: &str| seen(what, &|items| verbatim_holds(&broken, items), why);
    fork(|items| items.iter().map(Item::inherited).collect(), "calls in flight", "dangles");
    fork(full, "a filter", "lost");
    fork(|items| verbatim(items).into_iter().rev().collect(), "the order of a verbatim fork", "order");
}
