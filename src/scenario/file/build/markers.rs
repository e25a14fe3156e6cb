//! The rules of markers: what can be one, and that a fact can be seen where the scenario says so and nowhere else.
//!
//! Positions of topics and facts come from loops over the scenario or from its own index, so they always exist.

use std::collections::{BTreeMap, BTreeSet};

use crate::scenario::marker::{GUESS, MarkerIndex, Task, fault, stands_in};
use crate::scenario::{Fact, Scenario, Topic};

use super::super::form::{FactForm, Seen, Turn};
use super::super::node::{Located, Place};
use super::{Builder, Seat};

/// Where markers of facts were found: (topic, fact in order).
pub(super) type Facts = BTreeSet<(usize, usize)>;

impl Builder<'_> {
    /// Checks all markers.
    pub(super) fn markers(&mut self, scenario: &Scenario, index: &MarkerIndex) {
        self.task_markers(scenario, index);
        self.labels(scenario);
        for topic in 0..scenario.topics.len() {
            for order in 0..scenario.topics[topic].facts.len() {
                self.fact(scenario, index, topic, order);
            }
        }
        self.places(scenario, index);
    }

    /// The record of a compiled fact.
    fn form(&self, topic: usize, order: usize) -> Option<&FactForm> {
        let at = *self.orders.get(topic)?.get(order)?;
        Some(&self.file.topics.get(topic)?.value.facts.get(at)?.value)
    }

    fn fact(&mut self, scenario: &Scenario, index: &MarkerIndex, topic: usize, order: usize) {
        let fact = &scenario.topics[topic].facts[order];
        let Some(form) = self.form(topic, order).cloned() else { return };
        let places: Vec<Place> =
            if form.markers.0.is_empty() { vec![form.value.at] } else { form.markers.0.iter().map(|marker| marker.at).collect() };
        let of_value = if form.markers.0.is_empty() { " (without `markers`, the value is the marker)" } else { "" };
        let mut sound = true;
        for (marker, at) in fact.markers.iter().zip(places) {
            if let Some(fault) = fault(marker) {
                let help = format!("choose a text that stands in the statement and can be told from chance{of_value}");
                self.problems.add(at, format!("`{marker}` cannot be a marker: {fault}"), help);
                sound = false;
            }
            for (other, twin) in scenario.topics.iter().enumerate().filter(|(other, _)| *other != topic) {
                let holder = twin.facts.iter().flat_map(|fact| &fact.markers).find(|other| stands_in(marker, other));
                if let Some(holder) = holder.filter(|holder| *holder != marker || topic > other) {
                    let message = format!("the marker `{marker}` stands inside the marker `{holder}` of the topic `{}`", twin.id);
                    self.problems.add(at, message, "whoever sees the one would know the other: choose markers of their own");
                    sound = false;
                }
            }
            if let Some(label) = scenario.topics.iter().find(|topic| stands_in(marker, &topic.label)) {
                let message = format!("the marker `{marker}` stands in the label of the topic `{}`", label.id);
                self.problems.add(at, message, "a label names what may be unknown and never tells it: reword one of them");
                sound = false;
            }
        }
        if sound && !fact.statement.is_empty() && !fact.markers.iter().any(|marker| stands_in(marker, &fact.statement)) {
            let message = format!("the statement of `{}` does not hold its marker `{}`", fact.id, fact.markers.join("` or `"));
            self.problems.add(
                form.statement.at,
                message,
                "whoever reads the statement must know the fact: put a marker into it, word for word",
            );
        }
        self.other_facts_in(scenario, index, (topic, order), "statement", &form.statement);
        self.other_facts_in(scenario, index, (topic, order), "value", &form.value);
        if form.value.value.trim().is_empty() || form.value.value.trim() == GUESS {
            let message = format!("`{}` cannot be a value", form.value.value);
            self.problems.add(
                form.value.at,
                message,
                format!("a deliverable quotes it, and says `{GUESS}` where it knows none: write what is the case"),
            );
        }
    }

    /// A statement, or a value, tells its own fact and may name what it replaces, nothing else.
    fn other_facts_in(&mut self, scenario: &Scenario, index: &MarkerIndex, own: (usize, usize), what: &str, text: &Located<String>) {
        for (topic, order) in index.scan(&text.value).facts {
            if topic != own.0 || order > own.1 {
                let (owner, other) = (&scenario.topics[own.0].facts[own.1].id, &scenario.topics[topic].facts[order].id);
                let message = format!("the {what} of `{owner}` holds a marker of the fact `{other}`");
                self.problems.add(text.at, message, "whoever reads the one would know the other: reword it, or choose other markers");
            }
        }
    }

    /// An answer says `unknown: LABEL`: a label names one topic.
    fn labels(&mut self, scenario: &Scenario) {
        for (place, (topic, form)) in scenario.topics.iter().zip(&self.file.topics).enumerate() {
            let at = form.value.id.at;
            if topic.label == "task" {
                self.problems.add(
                    at,
                    "a topic cannot be labelled `task`",
                    "an answer without a task says `unknown: task`: give the topic another `label`",
                );
            }
            // Of two equal ones the second is reported.
            let differs = |(other, one): &(usize, &Topic)| one.id != topic.id && (one.label != topic.label || *other < place);
            let begins = |(_, other): &(usize, &Topic)| other.label.starts_with(&topic.label) && stands_in(&topic.label, &other.label);
            if let Some((_, other)) = scenario.topics.iter().enumerate().filter(differs).find(begins) {
                let message = match other.label == topic.label {
                    true => format!("the topics `{}` and `{}` have the same label", other.id, topic.id),
                    false => format!("the label of the topic `{}` begins like that of `{}`", other.id, topic.id),
                };
                self.problems.add(
                    at,
                    message,
                    "an answer says `unknown: LABEL`: give each topic a `label` that is no other one's beginning",
                );
            }
        }
    }

    /// Task markers stand in the texts that set the task, and bind to one work.
    fn task_markers(&mut self, scenario: &Scenario, index: &MarkerIndex) {
        let file = self.file;
        let turns = file.turns.iter().filter_map(|turn| Some((turn.value.marker.as_ref()?, Some(&turn.value))));
        let intents = file.intents.iter().map(|intent| (&intent.value.marker, None));
        let all: Vec<(&Located<String>, Option<&Turn>)> = turns.chain(intents).collect();
        // A turn may carry the very marker of an intent that it delegates: the root takes the turn, a child the intent.
        let delegated = |marker: &Located<String>, turn: Option<&Turn>| {
            let is_of = |id: &Located<String>| {
                file.intents.iter().any(|intent| intent.value.id.value == id.value && intent.value.marker.value == marker.value)
            };
            turn.is_some_and(|turn| turn.delegate.iter().any(is_of))
        };
        for (at, (marker, turn)) in all.iter().enumerate() {
            if let Some(fault) = fault(&marker.value) {
                self.problems.add(marker.at, format!("`{}` cannot be a marker: {fault}", marker.value), "a ticket number is a good one");
                continue;
            }
            let holder = all.iter().enumerate().find(|(other, (holder, of))| {
                // Of two equal ones the later one is reported.
                let is_later = (holder.at.line, holder.at.column) > (marker.at.line, marker.at.column);
                let belongs = turn.is_some() != of.is_some() && delegated(marker, turn.or(*of));
                let shared = marker.value == holder.value && (is_later || belongs);
                *other != at && stands_in(&marker.value, &holder.value) && !shared
            });
            if let Some((_, (holder, _))) = holder {
                let line = holder.at.line;
                let message = match marker.value == holder.value {
                    true => format!("`{}` is the task marker of line {line} already", marker.value),
                    false => format!("the task marker `{}` stands inside the task marker `{}` of line {line}", marker.value, holder.value),
                };
                self.problems.add(
                    marker.at,
                    message,
                    "each work needs a marker of its own; a turn may share that of an intent that it delegates",
                );
            }
        }
        self.follow_ups(scenario);
        for (turn, form) in scenario.turns.iter().zip(&file.turns) {
            let Some(marker) = &form.value.marker else { continue };
            let text: String = turn.items.iter().map(|item| item.text() + "\n").collect();
            if fault(&marker.value).is_none() && !stands_in(&marker.value, &text) {
                self.problems.add(
                    marker.at,
                    format!("the marker `{}` does not stand in this turn's message", marker.value),
                    "write it into what the user says, word for word",
                );
            }
            let others = file.turns.iter().filter_map(|turn| turn.value.marker.as_ref()).filter(|other| other.value != marker.value);
            for other in others {
                if fault(&other.value).is_none() && stands_in(&other.value, &text) && !stands_in(&other.value, &marker.value) {
                    let message = format!("this turn's message also holds `{}`, the marker of another turn", other.value);
                    self.problems.add(marker.at, message, "a message binds the root to one work: reword it");
                }
            }
        }
        for (at, (intent, form)) in scenario.intents.iter().zip(&file.intents).enumerate() {
            let marker = &form.value.marker;
            if fault(&marker.value).is_none() && !stands_in(&marker.value, &intent.task) {
                self.problems.add(
                    marker.at,
                    format!("the marker `{}` does not stand in the task of `{}`", marker.value, intent.id),
                    "write it into `task`, word for word",
                );
            }
            let terse = form.value.terse.as_ref().map_or(form.value.task.at, |terse| terse.at);
            for (text, at_text) in [(&intent.task, form.value.task.at), (&intent.terse, terse)] {
                let other = index.scan(text).tasks.into_iter().find_map(|task| match task {
                    Task::Turn(turn) => scenario.turns.get(turn).map(|turn| &turn.work.marker).filter(|other| **other != marker.value),
                    Task::Intent(other) if other != at => scenario.intents.get(other).map(|other| &other.work.marker),
                    _ => None,
                });
                if let Some(other) = other {
                    let message = format!("the task of `{}` also holds `{other}`, the marker of another work", intent.id);
                    self.problems.add(at_text, message, "a task binds its thread to one work: reword it");
                }
            }
        }
    }

    /// A follow-up binds by its whole text, so that no two are alike.
    fn follow_ups(&mut self, scenario: &Scenario) {
        let mut seen: Vec<&str> = vec![];
        for (intent, form) in scenario.intents.iter().zip(&self.file.intents) {
            for (follow_up, form) in intent.follow_ups.iter().zip(&form.value.follow_ups) {
                if seen.contains(&follow_up.task.as_str()) {
                    self.problems.add(
                        form.value.task.at,
                        "two follow-ups have the same text",
                        "the text binds the child to what is asked: word each of its own",
                    );
                }
                seen.push(&follow_up.task);
            }
        }
    }

    /// A marker stands where the fact says that it is seen, or where its statement is quoted, and nowhere else.
    fn places(&mut self, scenario: &Scenario, index: &MarkerIndex) {
        let file = self.file;
        let mut held: Vec<(usize, Facts)> = vec![];
        for (at, shown) in self.shown.iter().enumerate() {
            held.push((at, index.scan(&shown.text).facts.into_iter().collect()));
        }
        // What a statement tells is declared wherever the statement is quoted.
        let tells = |(id, statement): (&String, &String)| (id.clone(), index.scan(statement).facts.into_iter().collect::<Facts>());
        let told: BTreeMap<String, Facts> = self.sources.statements.iter().map(tells).collect();
        for topic in 0..file.topics.len() {
            for order in 0..scenario.topics.get(topic).map_or(0, |topic| topic.facts.len()) {
                let Some(fact) = self.form(topic, order).cloned() else { continue };
                let mut declared: Vec<(Seat, Place)> = vec![];
                for seen in &fact.seen_in {
                    declared.extend(self.seat(seen).map(|seat| (seat, seen.at)));
                }
                let mut somewhere = false;
                let mut stray = vec![];
                for (at, _) in held.iter().filter(|(_, facts)| facts.contains(&(topic, order))) {
                    let Some(shown) = self.shown.get(*at) else { continue };
                    somewhere = true;
                    let is_declared = declared.iter().any(|(seat, _)| *seat == shown.seat)
                        || shown.quotes.iter().any(|quoted| told.get(quoted).is_some_and(|facts| facts.contains(&(topic, order))));
                    if !is_declared && !shown.is_answer {
                        stray.push((shown.seat.clone(), shown.at));
                    }
                }
                for (seat, at) in stray {
                    let message = format!("a marker of the fact `{}` stands here, and the fact does not say so", fact.id.value);
                    self.problems.add(at, message, seat.how_to_declare(&fact.id.value));
                }
                for (seat, at) in &declared {
                    let stands = |(shown, facts): &(usize, Facts)| {
                        facts.contains(&(topic, order)) && self.shown.get(*shown).is_some_and(|shown| shown.seat == *seat)
                    };
                    if !held.iter().any(stands) && !self.problems.incomplete {
                        let message = format!("no marker of the fact `{}` stands in {seat}", fact.id.value);
                        self.problems.add(
                            *at,
                            message,
                            format!("put `{}` into that text, or remove this place", marker_list(&scenario.topics[topic].facts[order])),
                        );
                    }
                }
                if !somewhere && declared.is_empty() && !self.problems.incomplete {
                    let help =
                        format!("put `{{fact: {}}}` where it can be seen, or its marker, and that place under `seen_in`", fact.id.value);
                    self.problems.add(fact.id.at, format!("the fact `{}` stands nowhere in this scenario", fact.id.value), help);
                }
            }
        }
        self.names_that_tell(scenario, index);
    }

    /// Paths and titles are read by models too.
    fn names_that_tell(&mut self, scenario: &Scenario, index: &MarkerIndex) {
        let file = self.file;
        let mut names: Vec<(&str, Place)> = file.files.iter().map(|file| (file.path.value.as_str(), file.path.at)).collect();
        names.extend(file.intents.iter().map(|intent| (intent.value.title.0.as_str(), intent.value.id.at)));
        let plans = file.turns.iter().map(|turn| &turn.value.plan).chain(file.intents.iter().map(|intent| &intent.value.plan));
        let built = scenario.turns.iter().map(|turn| &turn.work.plan).chain(scenario.intents.iter().map(|intent| &intent.work.plan));
        for (steps, forms) in built.zip(plans) {
            names.extend(steps.iter().zip(forms).map(|(step, form)| (step.target.as_str(), form.at)));
        }
        for (name, at) in names {
            for (topic, order) in index.scan(name).facts {
                let fact = &scenario.topics[topic].facts[order].id;
                self.problems.add(
                    at,
                    format!("the name `{name}` holds a marker of the fact `{fact}`"),
                    "paths, titles and targets are read by models: choose another name or another marker",
                );
            }
        }
    }

    /// The place that a `seen_in` entry names; what does not exist is reported.
    fn seat(&mut self, seen: &Located<Seen>) -> Option<Seat> {
        let Seen { file, turn, history, agent, intent, tool } = &seen.value;
        let known = &self.declared;
        let named = [
            file.as_ref().map(|name| (name, &known.files, Seat::File as fn(String) -> Seat)),
            turn.as_ref().map(|name| (name, &known.turns, Seat::Turn as fn(String) -> Seat)),
            history.as_ref().map(|name| (name, &known.history, Seat::History as fn(String) -> Seat)),
            agent.as_ref().map(|name| (name, &known.agents, Seat::Agent as fn(String) -> Seat)),
            intent.as_ref().map(|name| (name, &known.intents, Seat::Intent as fn(String) -> Seat)),
            tool.as_ref().map(|name| (name, &known.tools, Seat::Tool as fn(String) -> Seat)),
        ];
        let named: Vec<_> = named.into_iter().flatten().collect();
        let [(name, names, seat)] = named[..] else {
            self.problems.add(
                seen.at,
                "a place has exactly one key",
                "write one of `file`, `turn`, `history`, `agent`, `intent` and `tool`; several places are several items",
            );
            return None;
        };
        names.check_at(name, seen.at, self.problems).then(|| seat(name.clone()))
    }
}

impl Seat {
    fn how_to_declare(&self, fact: &str) -> String {
        let place = match self {
            Seat::Agent(name) => format!("{{agent: {name}}}"),
            Seat::Tool(name) => format!("{{tool: {name}}}"),
            Seat::File(path) => format!("{{file: {path}}}"),
            Seat::Intent(id) => format!("{{intent: {id}}}"),
            Seat::History(id) | Seat::Turn(id) if id.is_empty() => {
                let (what, key) = if matches!(self, Seat::Turn(_)) { ("turn", "turn") } else { ("entry", "history") };
                return format!("give this {what} an `id` and add `{{{key}: ID}}` to `seen_in` of `{fact}`, or reword it");
            }
            Seat::History(id) => format!("{{history: {id}}}"),
            Seat::Turn(id) => format!("{{turn: {id}}}"),
        };
        format!("add `{place}` to `seen_in` of `{fact}`, or reword this text")
    }
}

impl std::fmt::Display for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Seat::Agent(name) => write!(f, "the prompt of the agent `{name}`"),
            Seat::Tool(name) => write!(f, "the outputs of the tool `{name}`"),
            Seat::File(path) => write!(f, "the file `{path}`"),
            Seat::Intent(id) => write!(f, "the tasks of the intent `{id}`"),
            Seat::History(id) => write!(f, "the history entry `{id}`"),
            Seat::Turn(id) => write!(f, "the turn `{id}`"),
        }
    }
}

fn marker_list(fact: &Fact) -> String {
    fact.markers.join("` or `")
}
