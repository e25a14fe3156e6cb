//! The one list of metrics: names, units and which way is better, in the order in which every output prints them.

use crate::reason::Reason;

use super::figures::Figures;
use super::value::Value;

/// What a metric's number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Tokens of the run's encoding.
    Tokens,
    /// Model requests.
    Requests,
    /// Whole virtual milliseconds.
    Milliseconds,
    /// US dollars.
    Usd,
    /// A quotient of two figures, or a score from 0 to 1.
    Ratio,
    /// Anything else that is counted.
    Count,
}

impl Unit {
    /// Its name in every output.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Tokens => "tokens",
            Unit::Requests => "requests",
            Unit::Milliseconds => "ms",
            Unit::Usd => "usd",
            Unit::Ratio => "ratio",
            Unit::Count => "count",
        }
    }
}

/// Which way of a metric is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less of it.
    Lower,
    /// More of it.
    Higher,
    /// It describes a run and ranks nothing.
    Neither,
}

impl Better {
    /// Its name in every output.
    pub fn name(self) -> &'static str {
        match self {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "neither",
        }
    }
}

/// How a metric is read from the figures of a run.
type Read = fn(&Figures<'_>) -> Result<Value, Reason>;

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name in results, budgets and tables.
    pub name: &'static str,
    /// What its number counts.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// What it is, in a sentence.
    pub about: &'static str,
    pub(super) read: Read,
}

/// The named metric.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

const fn is(name: &'static str, unit: Unit, better: Better, read: Read, about: &'static str) -> Metric {
    Metric { name, unit, better, about, read }
}

use Better::{Higher, Lower, Neither};
use Unit::{Count, Milliseconds, Ratio, Requests, Tokens, Usd};

/// Every metric, in the order of every output.
pub static METRICS: &[Metric] = &[
    is("parent.final_context", Tokens, Lower, |f| f.root_context(|c| c.last), "input and output of the root's last exchange"),
    is("parent.peak_context", Tokens, Lower, |f| f.root_context(|c| c.peak), "the largest input and output of one exchange of the root"),
    is(
        "parent.input_total",
        Tokens,
        Lower,
        |f| count(f.parent.input.total()),
        "input of all exchanges of the root, history re-sent each time",
    ),
    is("parent.output_total", Tokens, Lower, |f| count(f.parent.output), "output of all exchanges of the root"),
    is("child.opening", Tokens, Lower, |f| f.child_context(|c| c.opening), "the largest input that a child began with"),
    is("child.opening_sum", Tokens, Lower, |f| f.child_context(|c| c.opening_sum), "what all children together began with"),
    is("child.peak_context", Tokens, Lower, |f| f.child_context(|c| c.peak), "the largest input and output of one exchange of any child"),
    is("child.input_total", Tokens, Lower, |f| f.child_count(f.child.input.total()), "input of all exchanges of all child threads"),
    is("child.output_total", Tokens, Lower, |f| f.child_count(f.child.output), "output of all exchanges of all child threads"),
    is(
        "delegation.footprint",
        Tokens,
        Lower,
        |f| Ok(Value::Difference(f.footprint)),
        "what delegation left in the root's context: delegated items and delegating calls, less what they replaced",
    ),
    is(
        "delegation.moved",
        Tokens,
        Lower,
        |f| count(f.moved),
        "tokens from the first changed place on, in those requests of the root in which delegation changed anything",
    ),
    is(
        "delegation.absorbed",
        Tokens,
        Neither,
        |f| f.of_children(f.absorbed),
        "what children wrote and read that their parents never got to see",
    ),
    is("delegation.compression", Ratio, Higher, |f| f.compression(), "tokens absorbed for each token of footprint"),
    is(
        "reexplored",
        Tokens,
        Lower,
        |f| f.of_children(f.reexplored),
        "tool results that a child fetched although its parent already held them",
    ),
    is(
        "parent.reread",
        Tokens,
        Lower,
        |f| f.of_children(f.reread),
        "results of the root's calls that hold, whole, what a child had written down",
    ),
    is(
        "redundancy.down",
        Ratio,
        Neither,
        |f| f.redundant(|r| r.down),
        "of what children began with, in runs of eight words, the share that their parents' histories held word for word",
    ),
    is(
        "redundancy.siblings",
        Ratio,
        Lower,
        |f| f.redundant(|r| r.siblings),
        "of what children wrote and read, the share that an earlier child of the same parent had written or read",
    ),
    is(
        "redundancy.up",
        Ratio,
        Neither,
        |f| f.redundant(|r| r.up),
        "of what came back from children, the share that the child had written or read in these words",
    ),
    is("input.billed", Tokens, Lower, |f| f.of_children(f.parent.input.total() + f.child.input.total()), "input of every request, whole"),
    is("input.new", Tokens, Lower, |f| f.totals(|t| t.new), "input that its thread had not sent before"),
    is("input.unique", Tokens, Lower, |f| f.totals(|t| t.unique), "input counted once for each distinct text of the whole tree"),
    is(
        "input.inherited",
        Tokens,
        Neither,
        |f| f.totals(|t| t.inherited),
        "the part of the children's openings that is their parents' history",
    ),
    is("cache.read", Tokens, Neither, |f| f.cached(|u| u.read), "input that a prompt cache held"),
    is(
        "cache.read.low",
        Tokens,
        Neither,
        |f| f.cached_end(|u| u.read, u64::min),
        "the same in the worst case that the provider's rules allow",
    ),
    is("cache.read.high", Tokens, Neither, |f| f.cached_end(|u| u.read, u64::max), "the same in the best case"),
    is("cache.write", Tokens, Lower, |f| f.cached(|u| u.write_short + u.write_long), "input written into a prompt cache"),
    is("cache.uncached", Tokens, Lower, |f| f.cached(|u| u.uncached), "input that no prompt cache held or took"),
    is(
        "cache.opening_read",
        Tokens,
        Higher,
        |f| f.forked(|u| u.opening_read),
        "of what children began with, the part that a prompt cache held, since another thread had sent it",
    ),
    is(
        "cache.opening_lost",
        Tokens,
        Lower,
        |f| f.forked(|u| u.opening_lost),
        "of what children began with, what would have been read but for the first place that differs from earlier requests",
    ),
    is(
        "cache.return_lost",
        Tokens,
        Lower,
        |f| f.forked(|u| u.return_lost),
        "of a parent's next request after its children worked, what had been cached and was not read: expired, or changed in the middle",
    ),
    is(
        "total.input",
        Tokens,
        Lower,
        |f| f.of_children(f.parent.input.total() + f.child.input.total()),
        "input of all exchanges of all threads",
    ),
    is("total.output", Tokens, Lower, |f| f.of_children(f.parent.output + f.child.output), "output of all exchanges of all threads"),
    is("overflow", Requests, Lower, |f| f.of_children(f.overflow), "exchanges whose input was above the model's window"),
    is(
        "amplification",
        Ratio,
        Lower,
        |f| f.amplification(),
        "all tokens spent for each token of the statements that came from a child and stand in the final answer",
    ),
    is(
        "tokens.per_fact",
        Ratio,
        Lower,
        |f| f.tokens_per_fact(),
        "all tokens spent for each needed fact that the final answer states in its newest form, whoever found it",
    ),
    is("requests", Requests, Lower, |f| f.of_children(f.requests()), "exchanges of all threads, unanswered ones too"),
    is("delegations", Count, Neither, |f| count(f.delegations), "acts that opened or continued a child"),
    is("refusals", Count, Lower, |f| count(f.refusals), "delegating calls that opened no child"),
    is("children.abandoned", Count, Lower, |f| count(f.abandoned), "children that were still at work when the run ended"),
    is("children.zero_action", Count, Lower, |f| f.of_children(f.zero_action), "children that answered without a single call"),
    is("cost.usd", Usd, Lower, |f| f.cost(), "price of all exchanges, by what the prompt cache made of each"),
    is("cost.usd.low", Usd, Lower, |f| f.cost_end(std::cmp::Ord::min), "the same in the cheapest case that the cache's rules allow"),
    is("cost.usd.high", Usd, Lower, |f| f.cost_end(std::cmp::Ord::max), "the same in the dearest case"),
    is(
        "cost.next_turn",
        Usd,
        Lower,
        |f| f.next_turn(),
        "price of the root's final context in one more request: at the cached price if this run's requests read from a cache, else as new",
    ),
    is("latency.end_to_end", Milliseconds, Lower, |f| count(f.end_to_end_ms), "from the first user turn to the end of the run"),
    is("latency.model", Milliseconds, Lower, |f| f.of_children(f.model_ms), "durations of all exchanges, added up"),
    is("latency.tools", Milliseconds, Lower, |f| f.of_children(f.tools_ms), "durations of all tool calls, added up"),
    is(
        "latency.critical_path",
        Milliseconds,
        Lower,
        |f| f.of_children(f.critical_path_ms),
        "the longest chain of things that had to wait for each other",
    ),
    is("quality", Ratio, Higher, |f| f.scored(|s| s.quality.clone()), "weighted mean of the checks on the final answer"),
    is("rescues", Count, Lower, |f| count(f.rescues), "times that a parent did the work itself after a delegation failed"),
    is(
        "child.quality",
        Ratio,
        Higher,
        |f| f.scored_children(|s| s.child_quality.clone()),
        "what came back, scored as it entered the parent",
    ),
    is(
        "child.coverage",
        Ratio,
        Higher,
        |f| f.scored_children(|s| s.child_coverage.clone()),
        "share of the needed facts that a child could see at its last request",
    ),
    is(
        "survival.seen",
        Count,
        Higher,
        |f| f.survived(|s| s.seen),
        "needed facts, each once an intent, that stood in their newest form in the last request of a child of that intent",
    ),
    is(
        "survival.returned",
        Count,
        Higher,
        |f| f.survived(|s| s.returned),
        "of those, stated in the return as it entered the child's parent",
    ),
    is("survival.kept", Count, Higher, |f| f.survived(|s| s.kept), "of those, still before the root in its last request"),
    is("survival.answered", Count, Higher, |f| f.survived(|s| s.answered), "of those, stated in the final answer"),
    is("survival", Ratio, Higher, |f| f.survival_share(), "share of the facts that children saw which the final answer states"),
    is("used", Count, Higher, |f| f.uses(|u| u.used), "needed facts that the root could see and its final answer states"),
    is("ignored", Count, Lower, |f| f.uses(|u| u.ignored), "needed facts that the root could see and its final answer does not state"),
    is(
        "stale",
        Count,
        Lower,
        |f| f.uses(|u| u.stale),
        "needed facts of which the root saw something and its final answer states a superseded value",
    ),
    is(
        "invented",
        Count,
        Lower,
        |f| f.uses(|u| u.invented),
        "needed facts that the root could not see and of which its final answer states a value all the same",
    ),
    is(
        "admitted",
        Count,
        Neither,
        |f| f.uses(|u| u.admitted),
        "needed facts that the root could not see and its final answer says are unknown or guessed",
    ),
    is(
        "followups.from_context",
        Count,
        Neither,
        |f| f.follow_ups(|u| u.from_context),
        "topics that the user asked for after a delegation and that stood in the parent's context already",
    ),
    is("followups.resumed", Count, Neither, |f| f.follow_ups(|u| u.resumed), "such topics that a child brought which was continued"),
    is("followups.redelegated", Count, Neither, |f| f.follow_ups(|u| u.redelegated), "such topics that a new child brought"),
    is("followups.self", Count, Neither, |f| f.follow_ups(|u| u.itself), "such topics that the parent looked up with its own tools"),
    is("followups.lost", Count, Lower, |f| f.follow_ups(|u| u.lost), "such topics that were not there when the turn was answered"),
    is(
        "followups.tokens",
        Tokens,
        Lower,
        |f| f.follow_ups(|u| u.tokens),
        "input and output of all threads in the turns that asked for them, from a turn's first request to the next turn's",
    ),
    is("failures", Count, Lower, |f| count(f.failures), "1 for a run that ended in an error, else 0"),
    // The first three part the returns; those below are marks on returns that are ok, but where they say otherwise.
    is("returns.ok", Count, Higher, |f| count(f.returns.ok), "returns that hold a text and are reported as done"),
    is(
        "returns.empty",
        Count,
        Lower,
        |f| count(f.returns.empty),
        "returns reported as done although the child's last message says nothing",
    ),
    is("returns.failed", Count, Lower, |f| count(f.returns.failed), "returns reported as an error"),
    is(
        "returns.preamble",
        Count,
        Lower,
        |f| count(f.returns.preamble),
        "of returns that are ok, those that only announce what is to be done",
    ),
    is(
        "returns.see_earlier",
        Count,
        Lower,
        |f| count(f.returns.see_earlier),
        "of returns that are ok, those that point to something the parent cannot see",
    ),
    is(
        "returns.stub",
        Count,
        Lower,
        |f| f.fact_returns(|r| r.stub),
        "of returns that are ok, those that state nothing of what was needed and do not say so",
    ),
    is(
        "returns.truncated",
        Count,
        Lower,
        |f| f.of_children(f.returns.truncated),
        "of returns that are ok, those that hold the child's last words in part",
    ),
    is("returns.capped", Count, Lower, |f| f.of_children(f.returns.capped), "returns of any kind whose child met a limit of rounds"),
    is(
        "returns.error_as_success",
        Count,
        Lower,
        |f| f.of_children(f.returns.error_as_success),
        "returns that are ok or empty although the child's turn failed",
    ),
    is("returns.overlong", Count, Lower, |f| f.overlong(), "of returns that are ok, those with more words than the task allows"),
    is(
        "returns.stale",
        Count,
        Lower,
        |f| f.fact_returns(|r| r.stale),
        "of returns that are ok, those that state a superseded value of a needed topic and not the newest",
    ),
    is(
        "returns.invented",
        Count,
        Lower,
        |f| f.fact_returns(|r| r.invented),
        "of returns that are ok, those that state a value of a needed topic which nobody gave",
    ),
    is("drift", Count, Lower, |f| f.of_children(f.drift), "times that a thread followed a task that was finished or another's"),
];

fn count(value: u64) -> Result<Value, Reason> {
    Ok(Value::Count(value))
}
