//! What the user asked for afterwards: who still had it, and what it cost to find out.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ledger::{ByThread, Outcome, Row};
use crate::reason::Reason;
use crate::scenario::TopicIndex;
use crate::scenario::marker::Task;
use crate::strategy::ThreadId;
use crate::transcript::{Body, CallKey, Item, Origin};

use super::super::returns::Delivered;
use super::{Facts, NO_FACTS};

/// Follow-up topics: those that a turn of the user needs by itself, behind a turn that delegated something, and that none of
/// the turn's own delegations is to bring. Each is in one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FollowUps {
    /// Some value of it stood in the first request that the root sent in that turn, or came later without being asked for.
    pub from_context: u64,
    /// A child that was continued in that turn brought it.
    pub resumed: u64,
    /// A child that was opened in that turn brought it.
    pub redelegated: u64,
    /// A tool result of the root's own brought it.
    pub itself: u64,
    /// It did not stand in the last request of that turn.
    pub lost: u64,
    /// Input and output of every exchange, of any thread, from the first request of such a turn until the next turn's.
    pub tokens: u64,
}

impl FollowUps {
    pub(crate) fn of(
        facts: &Facts<'_>,
        outcome: &Outcome,
        by_thread: &ByThread<'_>,
        delivered: &[Delivered<'_>],
    ) -> Result<FollowUps, Reason> {
        if facts.scenario.topics.is_empty() {
            return Err(NO_FACTS.into());
        }
        let asked: Vec<Vec<TopicIndex>> = (0..facts.scenario.turns.len()).map(|turn| asked_by(turn, facts)).collect();
        if asked.iter().all(Vec::is_empty) {
            return Err("no follow-up".into());
        }
        let turns = rows_by_turn(facts, outcome, by_thread);
        let mut counts = FollowUps::default();
        let mut any = false;
        for (at, (turn, rows)) in turns.iter().enumerate() {
            let (topics, Some(first), Some(last)) = (&asked[*turn], rows.first(), rows.last()) else { continue };
            if topics.is_empty() {
                continue;
            }
            any = true;
            let until = turns.get(at + 1).and_then(|(_, rows)| rows.first()).map_or(u32::MAX, |row| row.seq);
            let spent = outcome.rows.iter().filter(|row| (first.seq..until).contains(&row.seq));
            counts.tokens += spent.map(|row| row.input.total() + row.output).sum::<u64>();
            let (before, after) = (facts.visible(outcome, first), facts.visible(outcome, last));
            let moment = Moment { facts, outcome, delivered, first, last };
            for &topic in topics {
                let count = match (before.has(topic), after.has(topic)) {
                    (true, _) => &mut counts.from_context,
                    (false, false) => &mut counts.lost,
                    (false, true) => moment.brought_by(topic).count(&mut counts),
                };
                *count += 1;
            }
        }
        if any { Ok(counts) } else { Err("the run ended before the turn that asks again".into()) }
    }
}

/// The follow-up topics of a turn.
fn asked_by(turn: usize, facts: &Facts<'_>) -> Vec<TopicIndex> {
    let scenario = facts.scenario;
    let Some(work) = scenario.turns.get(turn).map(|turn| &turn.work) else { return vec![] };
    if scenario.turns[..turn].iter().all(|turn| turn.work.delegates.is_empty()) {
        return vec![];
    }
    let intents = || work.delegates.iter().filter_map(|&intent| scenario.intents.get(intent));
    let brought = |topic: &TopicIndex| intents().any(|intent| intent.work.needs.contains(topic));
    work.needs.iter().copied().filter(|topic| !brought(topic)).collect()
}

/// The root's requests by the user turn that set their work, in order: the newest message of the user that carries a
/// turn's marker. Where it stands no more (a summary took its place), the turn of the request before goes on.
fn rows_by_turn<'a>(facts: &Facts<'_>, outcome: &'a Outcome, by_thread: &ByThread<'a>) -> Vec<(usize, Vec<&'a Row>)> {
    // By log, the turn that binds after each of its items.
    let mut bound: FxHashMap<usize, Vec<Option<usize>>> = FxHashMap::default();
    let mut turns: Vec<(usize, Vec<&Row>)> = Vec::new();
    for row in by_thread.rows(ThreadId::ROOT).iter().copied().filter(|row| !row.aside) {
        let of_log = bound.entry(row.sent.log).or_insert_with(|| {
            let items = outcome.logs.get(row.sent.log).map_or(&[][..], |log| &log.items);
            let running = items.iter().scan(None, |turn, item| {
                *turn = sets(facts, item).or(*turn);
                Some(*turn)
            });
            running.collect()
        });
        let found = row.sent.length.min(of_log.len()).checked_sub(1).and_then(|last| of_log[last]);
        match (found, turns.last_mut()) {
            (Some(turn), Some((current, rows))) if turn <= *current => rows.push(row),
            (Some(turn), _) => turns.push((turn, vec![row])),
            (None, Some((_, rows))) => rows.push(row),
            (None, None) => {}
        }
    }
    turns
}

/// The turn whose work a message of the user sets.
fn sets(facts: &Facts<'_>, item: &Item) -> Option<usize> {
    if item.origin != Origin::User {
        return None;
    }
    facts.markers.tasks(item).into_iter().rev().find_map(|task| match task {
        Task::Turn(turn) => Some(turn),
        Task::Intent(_) | Task::FollowUp(..) => None,
    })
}

/// What brought a topic that was not there when the turn began.
enum Source {
    Context,
    Resumed,
    Redelegated,
    Itself,
}

impl Source {
    fn count(self, counts: &mut FollowUps) -> &mut u64 {
        match self {
            Source::Context => &mut counts.from_context,
            Source::Resumed => &mut counts.resumed,
            Source::Redelegated => &mut counts.redelegated,
            Source::Itself => &mut counts.itself,
        }
    }
}

/// A turn of the root that follows up.
struct Moment<'m, 'a> {
    facts: &'m Facts<'m>,
    outcome: &'a Outcome,
    delivered: &'m [Delivered<'a>],
    first: &'a Row,
    last: &'a Row,
}

impl Moment<'_, '_> {
    /// What first brought a topic: a tool's result, or news of a delegation of this turn. Of what repeats it in another form
    /// (a ledger of all that was delegated, say) nobody can tell where it is from.
    fn brought_by(&self, topic: TopicIndex) -> Source {
        let items = self.outcome.items_of(self.last);
        let holds = |item: &&Item| self.facts.markers.visible(None, std::slice::from_ref(item)).has(topic);
        let source = |item: &Item| match item.origin {
            Origin::ToolResult => Some(Source::Itself),
            Origin::Delegated => self.delegation_behind(item),
            _ => None,
        };
        items.iter().filter(holds).find_map(source).unwrap_or(Source::Context)
    }

    /// Of which kind the delegation was that an item tells of; one that was made before the turn brought what nobody asked.
    fn delegation_behind(&self, item: &Item) -> Option<Source> {
        let told = self.delivered.iter().find(|one| one.news.iter().any(|news| news.shares_body(item)))?;
        let delegation = self.outcome.delegations.iter().find(|delegation| delegation.call == told.call)?;
        match (self.calls_before().contains(&told.call), delegation.opened) {
            (true, _) => None,
            (false, true) => Some(Source::Redelegated),
            (false, false) => Some(Source::Resumed),
        }
    }

    fn calls_before(&self) -> FxHashSet<CallKey> {
        let items = self.outcome.items_of(self.first);
        let key = |item: &Item| match item.body() {
            Body::Call(call) => Some(call.key),
            _ => None,
        };
        items.iter().filter_map(key).collect()
    }
}
