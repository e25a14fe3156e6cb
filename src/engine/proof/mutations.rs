//! Would the scenarios notice a broken engine? Each way to break it is caught, and the table names by whom.

use crate::engine::mutation::{Mutation, with};

use super::scenarios;

/// What breaks, and the scenario that is there for it.
const CAUGHT: &[(Mutation, &str)] = &[
    (Mutation::WaitsAskedAtOnce, "codex v1: completion wins over the timeout"),
    (Mutation::OverlapOverwrites, "maf: overlap commits in completion order"),
    (Mutation::FailedTurnKept, "maf: a failed turn is not kept"),
    (Mutation::OpeningNotSampledFirst, "codex v2: mail after the final text"),
    (Mutation::OpenRowsDropped, "opencode: undrained children are abandoned"),
    (Mutation::KeptSpliceNotPersisted, "hand-off: the filter reaches earlier turns"),
    (Mutation::NoticeDoesNotExtend, "codex v1: a notice extends the turn"),
    (Mutation::QueueJumped, "grace: the last turn queues behind the others"),
    (Mutation::AbortedCallsDangle, "codex v1: close aborts"),
    (Mutation::ResultsReversed, "deerflow: three at once, polled"),
    (Mutation::ScopeStale, "codex v2: running turns are limited"),
    (Mutation::ShutNotSticky, "codex v2: shut stays shut"),
    (Mutation::SerialIgnored, "maf: serial runs in call order"),
    (Mutation::UnreadWakeLost, "codex v2: unread follow-up opens a turn"),
    (Mutation::AbandonedDrained, "opencode: undrained children are abandoned"),
    (Mutation::SentAtOnce, "codex v2: mail of the same millisecond is read"),
    (Mutation::SettledEarly, "opencode: the user waits for the children"),
    (Mutation::StopEmptiesInbox, "codex v2: interrupted is silent"),
    (Mutation::AsideKept, "grace: a summary is an aside"),
    (Mutation::OwnNotMoved, "hand-off: the filter reaches earlier turns"),
    (Mutation::WakeCallLost, "codex v2: unread follow-up opens a turn"),
    (Mutation::CutRepliesFree, "deerflow: three at once, polled"),
    (Mutation::RoundsUnlimited, "codex v1: a ceiling is an error"),
];

/// Has no wildcard on purpose: a new mutation does not compile until somebody has thought of who catches it.
fn is_in_the_table(mutation: Mutation) -> bool {
    match mutation {
        Mutation::WaitsAskedAtOnce
        | Mutation::OverlapOverwrites
        | Mutation::FailedTurnKept
        | Mutation::OpeningNotSampledFirst
        | Mutation::OpenRowsDropped
        | Mutation::KeptSpliceNotPersisted
        | Mutation::NoticeDoesNotExtend
        | Mutation::QueueJumped
        | Mutation::AbortedCallsDangle
        | Mutation::ResultsReversed
        | Mutation::ScopeStale
        | Mutation::ShutNotSticky
        | Mutation::SerialIgnored
        | Mutation::UnreadWakeLost
        | Mutation::AbandonedDrained
        | Mutation::SentAtOnce
        | Mutation::SettledEarly
        | Mutation::StopEmptiesInbox
        | Mutation::AsideKept
        | Mutation::OwnNotMoved
        | Mutation::WakeCallLost
        | Mutation::CutRepliesFree
        | Mutation::RoundsUnlimited => CAUGHT.iter().any(|(one, _)| *one == mutation),
    }
}

#[test]
fn every_mutation_is_caught() {
    let mut missed = Vec::new();
    for (mutation, by) in CAUGHT {
        assert!(is_in_the_table(*mutation));
        let Some((_, scenario)) = scenarios::all().into_iter().find(|(name, _)| name == by) else { panic!("no scenario `{by}`") };
        assert_eq!(scenario(), Ok(()), "`{by}` fails on the whole engine");
        if with(*mutation, scenario).is_ok() {
            missed.push(format!("{mutation:?} is not noticed by `{by}`"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
