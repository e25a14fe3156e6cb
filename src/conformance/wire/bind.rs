//! What a run has where the recording has masks: a recorded call that names a child must name the run's child.

use std::collections::BTreeMap;

use crate::transcript::{Body, CallKey, Item};

use super::entry::{Entry, Placed};
use super::glob;
use super::text::Text;

/// The run's values for what is masked in a recording, in order of first appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// Distinct values by mask or by recorded value.
    known: BTreeMap<String, Vec<String>>,
    /// How many of each mask's values were used.
    used: BTreeMap<String, usize>,
}

impl Values {
    /// Reads them off a recorded request and the run's request in its place.
    pub(super) fn of(recorded: &[Placed<Text>], given: &[Item]) -> Values {
        let ids: BTreeMap<CallKey, &str> = given.iter().filter_map(Item::as_call).map(|call| (call.key, call.id.as_str())).collect();
        let mut values = Values::default();
        for placed in recorded {
            let same_place = |item: &&Item| match (&placed.entry, item.body()) {
                (Entry::Result { id, .. }, Body::Result { key: Some(key), .. }) => ids.get(key) == Some(&id.as_str()),
                (Entry::Message { .. }, Body::Message { .. }) | (Entry::Mail { .. }, Body::Mail { .. }) => true,
                _ => false,
            };
            for text in placed.entry.parts().iter().filter_map(Text::plain).filter(|text| glob::is_masked(text)) {
                let parts = given.iter().filter(same_place).flat_map(Item::parts);
                if let Some(taken) = parts.map(|part| glob::same(text, part.as_text())).find_map(|taken| taken) {
                    taken.into_iter().for_each(|(mask, value)| values.learn(mask, value));
                }
            }
        }
        values
    }

    fn learn(&mut self, mask: String, value: String) {
        let known = self.known.entry(mask).or_default();
        if !known.contains(&value) {
            known.push(value);
        }
    }

    /// A recorded text with the run's values in its masked places: the first one that has a mask gets its first value,
    /// and so on; the last value stands for all that follow. A mask of which nothing is known stays.
    pub(super) fn fill(&mut self, recorded: &str) -> String {
        let (known, used) = (&self.known, &mut self.used);
        glob::filled(recorded, |mask| {
            let values = known.get(mask)?;
            let at = used.entry(mask.to_owned()).or_default();
            let value = values.get((*at).min(values.len() - 1)).cloned();
            *at += 1;
            value
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Origin, ToolCall};

    /// What a run answered to the calls `c1`, `c2`, ..., and what the recording has there.
    fn check(answers: &[(&str, &str)], recorded: &str, expect: &str) {
        let mut items = Vec::new();
        let mut entries = Vec::new();
        for (at, (told, given)) in (1..).zip(answers) {
            let call =
                ToolCall { key: CallKey(at), id: format!("c{at}"), name: "spawn".into(), args: "{}".into(), intent: None, recorded: None };
            items.push(Item::call(call));
            items.push(Item::result(CallKey(at), Origin::Delegated, *given, false));
            let entry = Entry::Result { id: format!("c{at}"), parts: vec![Text::Plain((*told).into())] };
            entries.push(Placed { at: String::new(), parts_at: vec![String::new()], entry });
        }
        assert_eq!(Values::of(&entries, &items).fill(recorded), expect);
    }

    #[test]
    fn a_recorded_call_names_the_child_of_the_run() {
        check(&[("{\"id\":\"$UUID\"}", "{\"id\":\"01-a\"}")], "[\"$UUID\"]", "[\"01-a\"]");
        let two = [("id $UUID", "id 01-a"), ("id $UUID", "id 01-b")];
        check(&two, "$UUID, $UUID", "01-a, 01-b");
        check(&two, "$UUID, $UUID, $UUID", "01-a, 01-b, 01-b");
        // An id that is not masked stands for itself.
        let named = [("agent a123456789abc", "agent a00000000000f"), ("agent a123456789abd", "agent a00000000000e")];
        check(&named, "a123456789abd then a123456789abc", "a00000000000e then a00000000000f");
        check(&[("id $UUID", "no")], "$UUID", "$UUID");
        check(&[], "$SES", "$SES");
    }
}
