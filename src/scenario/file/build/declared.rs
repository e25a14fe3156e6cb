//! What a file declares, by name, read from the tree: a record with a problem of its own is still there to refer to.

use std::collections::BTreeMap;

use super::super::errors::{Problems, suggest};
use super::super::node::{Located, Node, Place, Value};

/// The names of one kind of thing.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    what: &'static str,
    places: BTreeMap<String, Place>,
    order: Vec<String>,
    /// Some names could not be read: any name may be one of them.
    open: bool,
}

/// Every name that something in the file can refer to.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    pub agents: Names,
    pub tools: Names,
    pub files: Names,
    pub topics: Names,
    pub intents: Names,
    pub turns: Names,
    pub history: Names,
}

impl Names {
    /// Whether it is declared.
    pub(super) fn has(&self, name: &str) -> bool {
        self.open || self.places.contains_key(name)
    }

    /// Reports a name that is not declared. True: it is.
    pub(super) fn check(&self, name: &Located<String>, problems: &mut Problems) -> bool {
        self.check_at(&name.value, name.at, problems)
    }

    /// The same with the place apart.
    pub(super) fn check_at(&self, name: &str, at: Place, problems: &mut Problems) -> bool {
        if self.has(name) {
            return true;
        }
        problems.add(at, format!("there is no {} `{name}`", self.what), suggest(name, self.order.iter().map(String::as_str)));
        false
    }

    fn of_list(what: &'static str, root: &Node, list: &str, key: &str, problems: &mut Problems) -> Names {
        let mut names = Names { what, ..Names::default() };
        let items = match root.get(list).map(|node| &node.value) {
            Some(Value::List(items)) => items,
            other => {
                names.open = other.is_some();
                return names;
            }
        };
        for node in items.iter().filter_map(|item| item.get(key)) {
            let name = match &node.value {
                Value::Text(name) => name.clone(),
                Value::Int(number) => number.to_string(),
                _ => {
                    names.open = true;
                    continue;
                }
            };
            names.insert(name, node.at, problems);
        }
        names
    }

    fn of_map(what: &'static str, root: &Node, map: &str) -> Names {
        let mut names = Names { what, ..Names::default() };
        let entries = match root.get(map).map(|node| &node.value) {
            Some(Value::Map(entries)) => entries,
            other => {
                names.open = other.is_some();
                return names;
            }
        };
        for (key, _) in entries {
            // The parser's tree has each key once.
            names.places.insert(key.value.clone(), key.at);
            names.order.push(key.value.clone());
        }
        names
    }

    /// Adds a name; one that stands twice is reported.
    pub(super) fn insert(&mut self, name: String, at: Place, problems: &mut Problems) {
        match self.places.get(&name) {
            Some(first) => {
                let help = format!("the first stands in line {}: give each its own", first.line);
                problems.add(at, format!("the {} `{name}` is declared twice", self.what), help);
            }
            None => {
                self.places.insert(name.clone(), at);
                self.order.push(name);
            }
        }
    }

    /// An empty list of names.
    pub(super) fn new(what: &'static str) -> Names {
        Names { what, ..Names::default() }
    }
}

impl Declared {
    /// Reads the names; those that stand twice are reported.
    pub(super) fn read(root: &Node, problems: &mut Problems) -> Declared {
        Declared {
            agents: Names::of_map("agent", root, "agents"),
            tools: Names::of_map("tool", root, "tools"),
            files: Names::of_list("file", root, "files", "path", problems),
            topics: Names::of_list("topic", root, "topics", "id", problems),
            intents: Names::of_list("intent", root, "intents", "id", problems),
            turns: Names::of_list("turn", root, "turns", "id", problems),
            history: Names::of_list("history entry", root, "history", "id", problems),
        }
    }
}
