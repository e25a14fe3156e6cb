//! Topics and the order of their facts.

use std::collections::BTreeMap;

use crate::scenario::{Fact, Made, Topic};

use super::super::form::{FactForm, File, TopicForm};
use super::super::node::Located;
use super::Builder;
use super::declared::Names;

/// The statements of all facts, by id.
pub(super) fn statements(file: &File) -> BTreeMap<String, String> {
    let facts = file.topics.iter().flat_map(|topic| &topic.value.facts);
    facts.map(|fact| (fact.value.id.value.clone(), fact.value.statement.value.clone())).collect()
}

impl Builder<'_> {
    /// The topics in the file's order.
    pub(super) fn topics(&mut self) -> Vec<Topic> {
        let file = self.file;
        let mut facts = Names::new("fact");
        let mut topics = vec![];
        for form in &file.topics {
            let TopicForm { id, label, made, .. } = &form.value;
            for fact in &form.value.facts {
                facts.insert(fact.value.id.value.clone(), fact.value.id.at, self.problems);
            }
            let none = form.value.facts.is_empty() && made.is_none();
            let both = !form.value.facts.is_empty() && made.is_some();
            if both || (none && !self.problems.incomplete) {
                let message = if none { "this topic has no facts" } else { "a deliverable has no facts of its own" };
                self.problems.add(form.at, message, "write either `facts` or `made`");
            }
            let made = made.as_ref().and_then(|made| {
                let from = self.topic_indices(&made.from);
                if made.from.iter().any(|from| from.value == id.value) {
                    self.problems.add(
                        made.intent.at,
                        format!("the deliverable `{}` is made of itself", id.value),
                        "name other topics in `from`",
                    );
                }
                Some(Made { intent: self.intent_index(&made.intent)?, from })
            });
            let label = label.as_ref().map_or_else(|| id.value.replace('-', " "), |label| label.0.clone());
            topics.push(Topic { id: id.value.clone(), label, facts: self.facts(form), made });
        }
        topics
    }

    fn facts(&mut self, topic: &Located<TopicForm>) -> Vec<Fact> {
        let order = self.order(&topic.value.facts);
        self.orders.push(order.clone());
        let fact = |form: &FactForm| {
            let markers = form.markers.0.iter().map(|marker| marker.value.clone()).collect::<Vec<_>>();
            Fact {
                id: form.id.value.clone(),
                statement: form.statement.value.trim().to_owned(),
                value: form.value.value.clone(),
                markers: if markers.is_empty() { vec![form.value.value.clone()] } else { markers },
            }
        };
        order.into_iter().filter_map(|at| topic.value.facts.get(at)).map(|form| fact(&form.value)).collect()
    }

    /// The order of a topic's facts, oldest first: as written, or along `supersedes` where any fact says so.
    fn order(&mut self, facts: &[Located<FactForm>]) -> Vec<usize> {
        let as_written: Vec<usize> = (0..facts.len()).collect();
        if facts.iter().all(|fact| fact.value.supersedes.is_none()) {
            return as_written;
        }
        // The position that each fact replaces.
        let mut replaced: Vec<Option<usize>> = Vec::new();
        let mut sound = true;
        for fact in facts {
            let older = fact.value.supersedes.as_ref().and_then(|older| {
                let found = facts.iter().position(|fact| fact.value.id.value == older.value);
                if found.is_none() {
                    let known = facts.iter().map(|fact| fact.value.id.value.as_str());
                    let message = format!("there is no fact `{}` in this topic", older.value);
                    self.problems.add(older.at, message, super::super::errors::suggest(&older.value, known));
                    sound = false;
                }
                found
            });
            if let (Some(place), Some(named)) = (older, fact.value.supersedes.as_ref())
                && let Some(twin) = replaced.iter().position(|other| *other == Some(place))
            {
                let twin = facts.get(twin).map_or("", |fact| fact.value.id.value.as_str());
                let message = format!("both `{twin}` and `{}` supersede `{}`: which is newer?", fact.value.id.value, named.value);
                self.problems.add(named.at, message, "let one of them supersede the other: the facts of a topic stand in one line");
                sound = false;
            }
            replaced.push(older);
        }
        let mut order: Vec<usize> = vec![];
        let mut first = as_written.iter().copied().filter(|&at| replaced.get(at) == Some(&None));
        let oldest = first.next();
        for second in first.filter(|_| sound).collect::<Vec<_>>() {
            let (Some(one), Some(two)) = (oldest.and_then(|at| facts.get(at)), facts.get(second)) else { continue };
            let message = format!("neither of `{}` and `{}` supersedes the other: which is newer?", one.value.id.value, two.value.id.value);
            self.problems.add(two.value.id.at, message, "write `supersedes` with the fact that this one replaces");
            sound = false;
        }
        let mut next = oldest;
        while let Some(at) = next {
            order.push(at);
            next = replaced.iter().position(|older| *older == Some(at)).filter(|_| order.len() < facts.len());
        }
        if sound && order.len() < facts.len() {
            // What the line from the oldest fact does not reach goes round in a circle.
            let circle: Vec<&Located<FactForm>> =
                as_written.iter().filter(|at| !order.contains(at)).filter_map(|&at| facts.get(at)).collect();
            if let Some(older) = circle.first().and_then(|fact| fact.value.supersedes.as_ref()) {
                let names: Vec<String> = circle.iter().map(|fact| format!("`{}`", fact.value.id.value)).collect();
                let message = format!("the facts {} supersede each other in a circle", names.join(", "));
                self.problems.add(older.at, message, "the oldest fact supersedes nothing: remove its `supersedes`");
            }
        }
        if order.len() == facts.len() { order } else { as_written }
    }
}
