//! Every distinct beginning of a request, once: a tree of segments in which a request is one node.
//!
//! Each node can jump towards the root (E. Myers, "An applicative random-access stack", 1983), so an ancestor at any depth and the place
//! where two requests part are found in O(log n) steps. Siblings stand in the order of their texts and all nodes in preorder, so the
//! requests nearest to one another are neighbours.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::Counters;
use super::children::Children;
use super::order::Order;
use super::segment::{Kind, Segment, Texts};

/// A node: one beginning of a request.
pub(super) type NodeId = u32;

/// Children that are found by looking at each; of more, by a map.
const FEW: usize = 4;

/// Nodes that there is room for at first.
pub(super) const ROOM: usize = 32;

/// The empty beginning.
pub(super) const ROOT: NodeId = 0;

#[derive(Clone, Debug)]
struct Node {
    parent: NodeId,
    jump: NodeId,
    depth: u32,
    segment: Segment,
    tokens: u64,
    tools: NodeId,
    system: NodeId,
    message: NodeId,
    children: Children,
}

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The children of nodes that have more than a few.
    by_segment: FxHashMap<(NodeId, Segment), NodeId>,
    order: Order,
}

impl Tree {
    pub(super) fn new() -> Tree {
        let nothing = Segment { id: 0, tokens: 0, kind: Kind::Setting };
        let root = Node {
            parent: ROOT,
            jump: ROOT,
            depth: 0,
            segment: nothing,
            tokens: 0,
            tools: ROOT,
            system: ROOT,
            message: ROOT,
            children: Children::None,
        };
        // Room for a short run, so that it grows once and not five times.
        let mut nodes = Vec::with_capacity(ROOM);
        nodes.push(root);
        Tree { nodes, by_segment: FxHashMap::default(), order: Order::new() }
    }

    fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node as usize]
    }

    /// Segments up to here.
    pub(super) fn depth(&self, node: NodeId) -> usize {
        self.node(node).depth as usize
    }

    /// Tokens up to here.
    pub(super) fn tokens(&self, node: NodeId) -> u64 {
        self.node(node).tokens
    }

    /// The last segment of this beginning.
    pub(super) fn segment(&self, node: NodeId) -> &Segment {
        &self.node(node).segment
    }

    /// The beginning without its last segment; the root's is itself.
    pub(super) fn parent(&self, node: NodeId) -> NodeId {
        self.node(node).parent
    }

    /// The beginning up to the last tool definition; the root if there is none.
    pub(super) fn tools(&self, node: NodeId) -> NodeId {
        self.node(node).tools
    }

    /// The beginning up to the last system block; the root if there is none.
    pub(super) fn system(&self, node: NodeId) -> NodeId {
        self.node(node).system
    }

    /// The beginning up to the latest user message or tool result, this one included; the root if there is none.
    pub(super) fn message(&self, node: NodeId) -> NodeId {
        self.node(node).message
    }

    /// The nodes so far, and how many labels their order moved.
    pub(super) fn size(&self) -> (usize, u64) {
        (self.nodes.len(), self.order.relabelled)
    }

    /// Where the node stands in preorder.
    pub(super) fn opens(&self, node: NodeId) -> u64 {
        self.order.at(2 * node)
    }

    /// Where the last node under it is behind.
    pub(super) fn closes(&self, node: NodeId) -> u64 {
        self.order.at(2 * node + 1)
    }

    /// Whether one begins the other; a node begins itself.
    pub(super) fn begins(&self, above: NodeId, below: NodeId) -> bool {
        self.opens(above) <= self.opens(below) && self.opens(below) < self.closes(above)
    }

    /// The beginning of `node` with so many segments; `node` itself if it has no more.
    pub(super) fn at_depth(&self, mut node: NodeId, depth: usize, counters: &mut Counters) -> NodeId {
        while self.depth(node) > depth {
            counters.visited += 1;
            let jump = self.node(node).jump;
            node = if self.depth(jump) >= depth { jump } else { self.parent(node) };
        }
        node
    }

    /// The longest beginning that both have.
    pub(super) fn common(&self, a: NodeId, b: NodeId, counters: &mut Counters) -> NodeId {
        self.parting(a, b, counters).0
    }

    /// The longest beginning that both have, and the next beginning of `a`; `a` itself if `b` has all of it.
    fn parting(&self, mut a: NodeId, b: NodeId, counters: &mut Counters) -> (NodeId, NodeId) {
        let mut next = a;
        while !self.begins(a, b) {
            counters.visited += 1;
            next = a;
            let jump = self.node(a).jump;
            // A jump never lands on a common beginning, so the last step is to a parent.
            a = if self.begins(jump, b) { self.parent(a) } else { jump };
        }
        (a, next)
    }

    /// The beginning that goes on with this segment.
    pub(super) fn child(&mut self, parent: NodeId, segment: Segment, texts: &impl Texts, counters: &mut Counters) -> NodeId {
        counters.visited += 1;
        if let Some(known) = self.known(parent, &segment) {
            return known;
        }
        let place = self.place(parent, &segment, texts, counters);
        let next_sibling = self.node(parent).children.as_slice().get(place).copied();
        let behind = self.order.previous(next_sibling.map_or(2 * parent + 1, |sibling| 2 * sibling));
        self.order.insert_pair_after(behind);
        let new = self.nodes.len() as NodeId;
        let above = self.node(parent);
        let twice = self.node(above.jump).jump;
        let even = above.depth - self.node(above.jump).depth == self.node(above.jump).depth - self.node(twice).depth;
        let node = Node {
            parent,
            jump: if even { twice } else { parent },
            depth: above.depth + 1,
            segment,
            tokens: above.tokens.saturating_add(segment.tokens),
            tools: if segment.kind == Kind::Tools { new } else { above.tools },
            system: if segment.kind == Kind::System { new } else { above.system },
            message: if matches!(segment.kind, Kind::User | Kind::ToolResult) { new } else { above.message },
            children: Children::None,
        };
        self.nodes.push(node);
        self.nodes[parent as usize].children.insert(place, new);
        let children = self.nodes[parent as usize].children.as_slice();
        if children.len() == FEW + 1 {
            self.by_segment.extend(children.iter().map(|&child| ((parent, self.nodes[child as usize].segment), child)));
        } else if children.len() > FEW {
            self.by_segment.insert((parent, segment), new);
        }
        new
    }

    fn known(&self, parent: NodeId, segment: &Segment) -> Option<NodeId> {
        let children = self.node(parent).children.as_slice();
        if children.len() > FEW {
            return self.by_segment.get(&(parent, *segment)).copied();
        }
        children.iter().copied().find(|&child| self.segment(child) == segment)
    }

    /// Where a new child stands among its siblings.
    fn place(&self, parent: NodeId, segment: &Segment, texts: &impl Texts, counters: &mut Counters) -> usize {
        self.node(parent).children.as_slice().partition_point(|&sibling| {
            counters.visited += 1;
            let other = self.segment(sibling);
            let common = texts.common(other, segment);
            counters.compared_bytes += common.bytes;
            common.order.then_with(|| other.cmp(segment)) == Ordering::Less
        })
    }

    /// Tokens that two nodes have in common, and the whole segments of them.
    pub(super) fn shared(&self, a: NodeId, b: NodeId, texts: &impl Texts, counters: &mut Counters) -> (NodeId, u64) {
        let (whole, left) = self.parting(a, b, counters);
        let depth = self.depth(whole);
        let mut tokens = self.tokens(whole);
        if depth < self.depth(a) && depth < self.depth(b) {
            let right = self.at_depth(b, depth + 1, counters);
            let (left, right) = (self.segment(left), self.segment(right));
            let common = texts.common(left, right);
            counters.compared_bytes += common.bytes;
            tokens += common.tokens.min(left.tokens).min(right.tokens);
        }
        (whole, tokens)
    }
}
