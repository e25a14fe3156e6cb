//! What a real client sends beside history: base prompts, reminders, tool schemas. As sizes, never as text.
//!
//! A strategy with a measured scaffold ([`Strategy::has_scaffold`](super::Strategy::has_scaffold)) holds these as data.
//! The sizes come from requests that the real client sent to a local server: characters as sent, tokens in `o200k_base`.
//! The text itself is the vendor's; it is not here, and nothing here is made from it but its sizes.
//!
//! The ledger counts an opaque system text and opaque tool schemas under [`Origin::Scaffold`], frames included.

use std::collections::BTreeSet;

use crate::transcript::{Body, Content, Item, Origin, Part, Role};

use super::ToolSpec;

/// One text of a real client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is: `base`, `environment`. Two pieces of one kind and one size are the same text.
    pub kind: &'static str,
    /// Its characters.
    pub chars: u32,
    /// Its tokens in `o200k_base`, without any frame.
    pub tokens: u32,
}

impl Piece {
    /// A content part of that size, which nobody can read.
    pub fn part(&self) -> Part {
        Part::new(Content::Opaque { kind: self.kind.into(), bytes: self.chars.into(), tokens: Some(self.tokens) })
    }

    /// A message of these pieces, one part each.
    pub fn message(role: Role, pieces: &[Piece]) -> Item {
        Item::new(Body::Message { role, phase: None, parts: pieces.iter().map(Piece::part).collect() }, Origin::Scaffold)
    }
}

/// The tools of one kind of thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tools {
    /// How many a request showed.
    pub count: u32,
    /// Tokens of their JSON in `o200k_base`, all together, without frames.
    pub tokens: u32,
}

/// Bytes of tool JSON a token: between 4.1 and 4.2 in every client that was measured.
const BYTES: u32 = 4;

impl Tools {
    /// The tools of a request as the real client shows them: the names stay, so that an agent still knows them; the
    /// schemas become opaque, and their tokens add up to the measured total. Where there are fewer than measured, opaque
    /// ones fill up the count; where there are more, all stay and share the total.
    pub fn measured(&self, tools: Vec<ToolSpec>) -> Vec<ToolSpec> {
        let mut names: Vec<String> = tools.into_iter().map(|tool| tool.name.to_string()).collect();
        let taken: BTreeSet<String> = names.iter().cloned().collect();
        let missing = (self.count as usize).saturating_sub(names.len());
        names.extend((1..).map(|number| format!("scaffold_{number}")).filter(|name| !taken.contains(name)).take(missing));
        // Few enough for a request, so the number fits.
        let count = names.len() as u32;
        let share = |at: u32| self.tokens / count + u32::from(at < self.tokens % count);
        let schema = |name: &str, tokens: u32| {
            let bytes = u64::from(tokens) * u64::from(BYTES);
            Part::new(Content::Opaque { kind: format!("tool {name}"), bytes, tokens: Some(tokens) })
        };
        let tool = |(name, at): (String, u32)| ToolSpec { schema: schema(&name, share(at)), name: name.into() };
        names.into_iter().zip(0..).map(tool).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: Tools = Tools { count: 3, tokens: 100 };

    fn check(given: &[&str], expect: &[(&str, u32)]) {
        let given = given.iter().map(|name| ToolSpec::of_strings(name, "It does a thing.", &[])).collect();
        let shown: Vec<(String, u32)> = MEASURED
            .measured(given)
            .into_iter()
            .map(|tool| match tool.schema.content() {
                Content::Opaque { tokens: Some(tokens), .. } => (tool.name.to_string(), *tokens),
                other => panic!("{} is {other:?}", tool.name),
            })
            .collect();
        let expect: Vec<(String, u32)> = expect.iter().map(|(name, tokens)| ((*name).to_owned(), *tokens)).collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn tools_add_up_to_what_was_measured() {
        check(&[], &[("scaffold_1", 34), ("scaffold_2", 33), ("scaffold_3", 33)]);
        check(&["read", "task"], &[("read", 34), ("task", 33), ("scaffold_1", 33)]);
        check(&["a", "b", "c", "d"], &[("a", 25), ("b", 25), ("c", 25), ("d", 25)]);
        check(&["scaffold_1"], &[("scaffold_1", 34), ("scaffold_2", 33), ("scaffold_3", 33)]);
        assert_eq!(Tools { count: 0, tokens: 0 }.measured(vec![]), vec![]);
    }

    #[test]
    fn a_piece_is_opaque_and_has_its_size() {
        let base = Piece { kind: "base", chars: 400, tokens: 90 };
        assert_eq!(base.part().content(), &Content::Opaque { kind: "base".into(), bytes: 400, tokens: Some(90) });
        let item = Piece::message(Role::Developer, &[base, base]);
        assert_eq!((item.origin, item.role(), item.parts().len()), (Origin::Scaffold, Some(Role::Developer), 2));
    }
}
