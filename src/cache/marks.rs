//! Where a request's breakpoints stand.

use smallvec::SmallVec;

use super::Counters;
use super::profile::{Place, Profile, Rule};
use super::request::{Refusal, Request};
use super::tree::{NodeId, ROOT, Tree};
use super::usage::Lifetime;

/// A breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) node: NodeId,
    pub(super) lifetime: Lifetime,
}

/// Breakpoints, in order: requests have few.
pub(super) type Marks = SmallVec<[Marked; 2]>;

/// A request's breakpoints in order: its own, or those of the profile's client.
pub(super) fn marks(request: &Request<'_>, node: NodeId, tree: &Tree, counters: &mut Counters) -> Result<Marks, Refusal> {
    let mut marks = match request.marks {
        Some(_) => own(request, node, tree, counters)?,
        None => the_clients(request, node, tree, counters),
    };
    for mark in &mut marks {
        mark.lifetime = known(mark.lifetime, request.profile);
    }
    marks.sort_by_key(|mark| tree.depth(mark.node));
    marks.dedup_by_key(|mark| mark.node);
    if let Rule::Breakpoints { at_most, .. } = request.profile.rule {
        if marks.len() > at_most {
            return Err(Refusal::TooManyMarks { sent: marks.len(), taken: at_most });
        }
        if !marks.is_sorted_by(|before, behind| before.lifetime >= behind.lifetime) {
            return Err(Refusal::MarkOrder);
        }
    }
    Ok(marks)
}

fn own(request: &Request<'_>, node: NodeId, tree: &Tree, counters: &mut Counters) -> Result<Marks, Refusal> {
    let marks = request.marks.unwrap_or_default().iter().map(|mark| {
        if mark.at >= tree.depth(node) {
            return Err(Refusal::Mark(mark.at));
        }
        let node = tree.at_depth(node, mark.at + 1, counters);
        if tree.segment(node).kind.can_be_marked() { Ok(Marked { node, lifetime: mark.lifetime }) } else { Err(Refusal::Mark(mark.at)) }
    });
    marks.collect()
}

fn the_clients(request: &Request<'_>, node: NodeId, tree: &Tree, counters: &mut Counters) -> Marks {
    let Some(client) = request.profile.simulated() else { return Marks::new() };
    let lifetime = lifetime(request);
    let places = client.marks.iter().map(|place| match place {
        Place::Tools => tree.tools(node),
        Place::System => tree.system(node),
        Place::Last => last(node, tree, counters),
    });
    places.filter(|&node| node != ROOT).map(|node| Marked { node, lifetime }).collect()
}

/// How long what is written without a mark of the request's own lives.
pub(super) fn lifetime(request: &Request<'_>) -> Lifetime {
    let asked = request.lifetime.or(request.profile.simulated().map(|client| client.lifetime));
    known(asked.unwrap_or(Lifetime::Short), request.profile)
}

/// A provider with one lifetime has no longer one.
fn known(lifetime: Lifetime, profile: &Profile) -> Lifetime {
    if profile.lifetimes.len() < 2 { Lifetime::Short } else { lifetime }
}

/// The last segment that can carry a breakpoint: automatic caching walks back to it.
fn last(mut node: NodeId, tree: &Tree, counters: &mut Counters) -> NodeId {
    while node != ROOT && !tree.segment(node).kind.can_be_marked() {
        counters.visited += 1;
        node = tree.parent(node);
    }
    node
}

/// Whether the provider's own breakpoint at the latest message is on.
pub(super) fn implicit(profile: &Profile) -> bool {
    profile.simulated().is_none_or(|client| client.implicit)
}
