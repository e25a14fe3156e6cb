//! The children of a node: mostly one, since a request goes on where one ended.

use super::tree::NodeId;

/// Nodes in the order of their texts.
#[derive(Clone, Debug, Default)]
pub(super) enum Children {
    /// None.
    #[default]
    None,
    /// One, which needs no memory of its own.
    One(NodeId),
    /// Several.
    Many(Vec<NodeId>),
}

impl Children {
    pub(super) fn as_slice(&self) -> &[NodeId] {
        match self {
            Children::None => &[],
            Children::One(node) => std::slice::from_ref(node),
            Children::Many(nodes) => nodes,
        }
    }

    /// Puts a node at a place, which is at most the number of those that are there.
    pub(super) fn insert(&mut self, place: usize, node: NodeId) {
        match self {
            Children::None => *self = Children::One(node),
            Children::One(only) => *self = Children::Many(if place == 0 { vec![node, *only] } else { vec![*only, node] }),
            Children::Many(nodes) => nodes.insert(place.min(nodes.len()), node),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_a_list(places in proptest::collection::vec(0_usize..9, 0..9)) {
            let (mut children, mut list) = (Children::default(), Vec::new());
            for (node, place) in places.into_iter().enumerate() {
                let place = place.min(list.len());
                children.insert(place, node as NodeId);
                list.insert(place, node as NodeId);
                prop_assert_eq!(children.as_slice(), &list[..]);
            }
        }
    }
}
