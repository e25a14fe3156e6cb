//! Deliberately broken engines, for the proof that the tests would notice. In a product build nothing is ever broken.

/// One way to break the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// A wait is asked when something happens, not at the end of the instant.
    WaitsAskedAtOnce,
    /// The second of two overlapping turns replaces what the first one committed.
    OverlapOverwrites,
    /// A failed turn's items stay although the strategy said they do not.
    FailedTurnKept,
    /// Pending mail is read before the items that opened the turn were sampled.
    OpeningNotSampledFirst,
    /// Rows are written on reply: an abandoned child is free.
    OpenRowsDropped,
    /// A kept splice acts on one request only.
    KeptSpliceNotPersisted,
    /// A notice that arrives in the last sampling does not extend the turn.
    NoticeDoesNotExtend,
    /// A new turn starts ahead of queued ones.
    QueueJumped,
    /// Calls of an aborted turn stay without a result.
    AbortedCallsDangle,
    /// Results stand in reverse order.
    ResultsReversed,
    /// Strategies see the thread states of before the last change.
    ScopeStale,
    /// A turn that was shut reads mail again.
    ShutNotSticky,
    /// Serial calls are routed at once.
    SerialIgnored,
    /// An unread wake does not start a turn.
    UnreadWakeLost,
    /// The run waits for children that it should abandon.
    AbandonedDrained,
    /// A request is sent when its turn is ready, not at the end of the instant.
    SentAtOnce,
    /// The user's next message does not wait for the children that the run waits for.
    SettledEarly,
    /// Stopping a thread empties its inbox.
    StopEmptiesInbox,
    /// The reply to an aside enters the history.
    AsideKept,
    /// A kept splice before a turn's items does not move where they begin.
    OwnNotMoved,
    /// The turn that an unread wake starts is opened by no call.
    WakeCallLost,
    /// A reply of which calls were cut is not paid.
    CutRepliesFree,
    /// The ceiling of exchanges is not enforced.
    RoundsUnlimited,
}

#[cfg(test)]
thread_local! {
    static ACTIVE: std::cell::Cell<Option<Mutation>> = const { std::cell::Cell::new(None) };
}

/// Whether the engine is broken in this way.
#[inline(always)]
pub(super) fn is(_mutation: Mutation) -> bool {
    #[cfg(test)]
    {
        ACTIVE.with(|active| active.get() == Some(_mutation))
    }
    #[cfg(not(test))]
    {
        false
    }
}

/// Runs something on this thread with a broken engine.
#[cfg(test)]
pub(crate) fn with<R>(mutation: Mutation, run: impl FnOnce() -> R) -> R {
    struct Mend;
    impl Drop for Mend {
        fn drop(&mut self) {
            ACTIVE.with(|active| active.set(None));
        }
    }
    ACTIVE.with(|active| active.set(Some(mutation)));
    let _mend = Mend;
    run()
}
