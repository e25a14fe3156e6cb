//! Rollouts of any lines: what a fork keeps and what a replay shows, held against a slow reading of the same rules that goes
//! forward and keeps everything in lists.

use ctxbench::strategy::codex::rollout::{
    Appended, Checkpoint, Extent, Fork, Forked, Generation, Instructions, Line, Remains, Response, Source, envelope, fork, last_turns,
    replay,
};
use ctxbench::transcript::{Part, Phase, Role};
use proptest::prelude::*;

/// A line of a random file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Word {
    User,
    Context,
    System,
    Developer,
    Settings,
    Mode,
    Hint,
    Instructions,
    Final,
    Commentary,
    Mail(bool),
    Envelope(bool),
    Delivery(bool),
    AgentMessage,
    Notification,
    Call,
    Unrecorded,
    TurnContext,
    World,
    Meta,
    Score,
    Started,
    Complete,
    UserEvent,
    Paged,
    RolledBack(u64),
    Legacy,
    Checkpoint(u8),
}

fn words() -> impl Strategy<Value = Vec<Word>> {
    use Word::*;
    let word = prop_oneof![
        8 => Just(User),
        4 => prop::sample::select(vec![Context, System, Developer, Settings, Mode, Hint, Instructions]),
        4 => prop::sample::select(vec![Final, Commentary, Notification, Call, Unrecorded, AgentMessage]),
        3 => any::<bool>().prop_flat_map(|triggers| prop::sample::select(vec![Mail(triggers), Envelope(triggers), Delivery(triggers)])),
        6 => prop::sample::select(vec![TurnContext, World, Meta, Score, Started, Started, Started, Complete, UserEvent, Paged]),
        2 => (0..4_u64).prop_map(RolledBack),
        1 => Just(RolledBack(u64::MAX)),
        2 => (0..4_u8).prop_map(Checkpoint),
        1 => Just(Legacy),
    ];
    // A delivery is mostly followed by its message.
    let delivered = any::<bool>().prop_map(|triggers| vec![Delivery(triggers), AgentMessage]);
    let some = prop_oneof![8 => word.prop_map(|word| vec![word]), 1 => delivered];
    prop::collection::vec(some, 0..40).prop_map(|words| words.concat())
}

/// Everything that lines refer to.
struct Texts {
    user: Vec<Part>,
    context: Vec<Part>,
    plain: Vec<Part>,
    settings: Vec<Part>,
    mode: Vec<Part>,
    hint: Vec<Part>,
    instructions: Vec<Part>,
}

impl Texts {
    fn new() -> Texts {
        let parts = |texts: &[&str]| texts.iter().map(|text| Part::from(*text)).collect();
        Texts {
            user: parts(&["what ", "now?"]),
            context: parts(&["<environment_context>x</environment_context>"]),
            plain: parts(&["plain"]),
            settings: parts(&["<permissions instructions>x"]),
            mode: parts(&["<multi_agent_mode>x</multi_agent_mode>", "kept"]),
            hint: parts(&["HINT"]),
            instructions: parts(&["be BRIEF"]),
        }
    }

    fn response(&self, word: Word) -> Option<Response<'_>> {
        let message = |role, phase, parts, envelope| Some(Response::Message { role, phase, parts, envelope });
        match word {
            Word::User => message(Role::User, None, &self.user[..], None),
            Word::Context => message(Role::User, None, &self.context[..], None),
            Word::System => message(Role::System, None, &self.plain[..], None),
            Word::Developer => message(Role::Developer, None, &self.plain[..], None),
            Word::Settings => message(Role::Developer, None, &self.settings[..], None),
            Word::Mode => message(Role::Developer, None, &self.mode[..], None),
            Word::Hint => message(Role::Developer, None, &self.hint[..], None),
            Word::Instructions => message(Role::Developer, None, &self.instructions[..], None),
            Word::Final => message(Role::Assistant, Some(Phase::FinalAnswer), &self.plain[..], None),
            Word::Commentary => message(Role::Assistant, Some(Phase::Commentary), &self.plain[..], None),
            Word::Envelope(triggers) => message(Role::Assistant, Some(Phase::FinalAnswer), &self.plain[..], Some(triggers)),
            Word::AgentMessage => Some(Response::AgentMessage),
            Word::Notification => Some(Response::Notification),
            Word::Call => Some(Response::Other),
            Word::Unrecorded => Some(Response::Unrecorded),
            _ => None,
        }
    }

    /// The items of a checkpoint.
    fn items(&self, word: Word) -> Vec<Response<'_>> {
        let all = [Word::User, Word::System, Word::Settings, Word::Instructions, Word::AgentMessage, Word::Mode, Word::User];
        match word {
            Word::Checkpoint(number) => {
                all.iter().skip(usize::from(number)).step_by(usize::from(number % 2 + 1)).filter_map(|&word| self.response(word)).collect()
            }
            _ => vec![],
        }
    }

    fn line<'a>(&'a self, word: Word, items: &'a [Response<'a>]) -> Line<'a> {
        match word {
            Word::Mail(triggers) => Line::Communication { triggers },
            Word::Delivery(triggers) => Line::Delivery { triggers },
            Word::TurnContext => Line::TurnContext,
            Word::World => Line::WorldState { hint: true },
            Word::Meta => Line::SessionMeta,
            Word::Score => Line::RiskScore,
            Word::Started => Line::TurnStarted,
            Word::Complete => Line::TurnComplete,
            Word::UserEvent => Line::UserMessage,
            Word::Paged => Line::Paged,
            Word::RolledBack(turns) => Line::RolledBack(turns),
            Word::Legacy => Line::Checkpoint(Checkpoint { message: "sum", replacement: None }),
            Word::Checkpoint(_) => Line::Checkpoint(Checkpoint { message: "", replacement: Some(items) }),
            word => self.response(word).map_or(Line::Event, Line::Response),
        }
    }
}

fn with_lines<T>(words: &[Word], check: impl FnOnce(&[Line<'_>]) -> T) -> T {
    let texts = Texts::new();
    let items: Vec<Vec<Response<'_>>> = words.iter().map(|&word| texts.items(word)).collect();
    let lines: Vec<Line<'_>> = words.iter().zip(&items).map(|(&word, items)| texts.line(word, items)).collect();
    check(&lines)
}

fn rule<'a>(extent: Extent, hint: &'a Part) -> Fork<'a> {
    Fork {
        generation: Generation::V2,
        extent,
        paginated: false,
        keeps_mode: false,
        hints: std::slice::from_ref(hint),
        child_hint: Some(hint),
        instructions: Instructions { parent: Some("BRIEF"), child: Some("EXACT"), reference: true },
    }
}

/// Where turns begin, forward: two lists of positions, from which rollbacks take what they undo.
fn turns_forward(words: &[Word]) -> Vec<usize> {
    let (mut instructions, mut turns): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::User | Word::Mail(true) | Word::Delivery(true) | Word::Envelope(true) => {
                instructions.push(at);
                turns.push(at);
            }
            Word::Mail(false) | Word::Delivery(false) | Word::Envelope(false) => instructions.push(at),
            Word::AgentMessage if at == 0 || !matches!(words[at - 1], Word::Delivery(_)) => instructions.push(at),
            Word::RolledBack(undone) if *undone > 0 => {
                let left = instructions.len().saturating_sub(usize::try_from(*undone).unwrap_or(usize::MAX));
                if let Some(&from) = instructions.get(left) {
                    instructions.truncate(left);
                    turns.retain(|&turn| turn < from);
                }
            }
            _ => {}
        }
    }
    turns
}

/// What the model sees of words without checkpoints, forward: markers undo turns of the list.
fn seen_forward(words: &[Word], kept: &Forked) -> Vec<usize> {
    let mut seen: Vec<usize> = vec![];
    for kept in &kept.kept {
        match words[kept.at] {
            Word::RolledBack(turns) if turns > 0 => {
                let is_turn = |at: &usize| matches!(words[seen[*at]], Word::User | Word::Envelope(_));
                let turns_at: Vec<usize> = (0..seen.len()).filter(is_turn).collect();
                let Some(&first) = turns_at.first() else { continue };
                let left = turns_at.len().saturating_sub(usize::try_from(turns).unwrap_or(usize::MAX));
                let mut cut = turns_at.get(left).copied().unwrap_or(first);
                while cut > first && matches!(words[seen[cut - 1]], Word::Context | Word::Settings) {
                    cut -= 1;
                }
                seen.truncate(cut);
            }
            word => {
                let shown = [
                    Word::User,
                    Word::Context,
                    Word::Developer,
                    Word::Settings,
                    Word::Mode,
                    Word::Instructions,
                    Word::Final,
                    Word::Notification,
                    Word::Envelope(true),
                    Word::Envelope(false),
                ];
                if shown.contains(&word) {
                    seen.push(kept.at);
                }
            }
        }
    }
    seen
}

proptest! {
    #[test]
    fn the_cut_from_the_end_is_the_cut_from_the_start(words in words(), turns in 0..12_u64) {
        let starts = turns_forward(&words);
        let from = starts.get(starts.len().saturating_sub(turns as usize)).copied().filter(|_| turns > 0);
        let kept = with_lines(&words, |lines| last_turns(lines.iter().rev().copied(), turns));
        prop_assert_eq!(kept, from.map_or(0, |from| words.len() - from), "{:?}", words);
    }

    #[test]
    fn a_replay_without_checkpoints_is_a_list_that_rollbacks_shorten(words in words()) {
        let words: Vec<Word> = words.into_iter().filter(|word| !matches!(word, Word::Checkpoint(_) | Word::Legacy)).collect();
        let hint = Part::from("HINT");
        let (forked, seen) = with_lines(&words, |lines| {
            let forked = fork(lines, &rule(Extent::Full, &hint));
            let seen: Vec<Source> = replay(lines, &forked).visible.into_iter().map(|one| one.source).collect();
            (forked, seen)
        });
        let mut expect: Vec<Source> = seen_forward(&words, &forked).into_iter().map(Source::Line).collect();
        expect.extend(forked.appended.iter().map(|&one| Source::Appended(one)));
        prop_assert_eq!(seen, expect, "{:?}", words);
    }

    #[test]
    fn forks_of_any_lines(words in words(), turns in 1..9_u64) {
        let hint = Part::from("HINT");
        with_lines(&words, |lines| {
            let mut kept_before = 0;
            let extents = (0..turns).map(Extent::Last).chain([Extent::Full]);
            for extent in extents {
                let rule = rule(extent, &hint);
                let forked = fork(lines, &rule);
                prop_assert_eq!(&forked, &fork(lines, &rule));
                // In order, each line once, and never fewer with more turns.
                prop_assert!(forked.kept.windows(2).all(|pair| pair[0].at < pair[1].at));
                prop_assert!(forked.kept.len() >= kept_before, "{:?} {:?}", words, extent);
                kept_before = forked.kept.len();
                prop_assert!(forked.appended.is_empty() || extent == Extent::Full);
                let replayed = replay(lines, &forked);
                prop_assert_eq!(&replayed, &replay(lines, &forked));
                // What is seen was kept, in order, and no last turns go on from their parent's settings.
                let places: Vec<(usize, usize)> = replayed.visible.iter().filter_map(|one| match one.source {
                    Source::Line(at) | Source::Summary(at) => Some((at, 0)),
                    Source::Checkpoint { line, item } => Some((line, item)),
                    Source::Appended(_) => None,
                }).collect();
                prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", replayed);
                prop_assert!(places.iter().all(|(at, _)| forked.kept.iter().any(|one| one.at == *at)));
                prop_assert!(extent == Extent::Full || !replayed.reference);
                // The hint stands last of what is appended, and nothing of the parent's is left.
                prop_assert!(forked.appended.iter().position(|one| *one == Appended::Hint).is_none_or(|at| at + 1 == forked.appended.len()));
                let hinted = |one: &ctxbench::strategy::codex::rollout::Kept| words[one.at] == Word::Hint;
                prop_assert!(!forked.kept.iter().any(hinted));
                let emptied = |one: &ctxbench::strategy::codex::rollout::Kept| matches!(&one.remains, Remains::Parts(parts) if parts.is_empty());
                prop_assert!(!forked.kept.iter().any(emptied));
            }
            Ok(())
        })?;
    }

    #[test]
    fn any_text_may_be_mail(text in "\\PC{0,40}|\\{\"author\":\"/root\",\"recipient\":\"[a-z/]{0,9}\",\"content\":\"x\",\"trigger_turn\":(true|false|1)\\}") {
        let _ = envelope(&[text.as_str().into()]);
    }
}

#[test]
fn of_the_last_turns_nothing_older_is_looked_at() {
    let words: Vec<Word> = std::iter::repeat_n([Word::User, Word::Call, Word::Final], 1_000).flatten().collect();
    let mut looked_at = 0;
    let kept = with_lines(&words, |lines| last_turns(lines.iter().rev().copied().inspect(|_| looked_at += 1), 3));
    // The line before the boundary may say that it was delivered.
    assert!((kept, looked_at) == (9, 10), "{kept} lines kept, {looked_at} looked at");
}
