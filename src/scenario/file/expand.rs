//! Parameters and repetition: turns the file's tree into a plain one, before any record is read from it.
//!
//! A text that is `$name` or `${expression}` and nothing else becomes a number; inside a longer text `${expression}`
//! becomes its digits, `${expression:03}` digits with leading zeros, `${expression:name}` a word (the same one for the
//! same number); `$$` stands for a dollar before a name or a brace. An item `{repeat: COUNT, as: i, from: 1, each: ...}`
//! of a list becomes what `each` holds, COUNT times, with `i` counting.

use super::errors::{Problems, suggest};
use super::expression::{Names, evaluate, is_name};
use super::generate;
use super::node::{Located, Node, Place, Value};

/// So many nodes may come out of a file: a repeat in a repeat is soon too much for any machine.
const MOST_NODES: usize = 100_000;

/// Expands everything under a node.
pub(super) fn expand(node: &Node, names: &Names, problems: &mut Problems) -> Node {
    let mut expander = Expander { problems, nodes: 0, full: false };
    let value = expander.value(node, names);
    Node { value, at: node.at }
}

struct Expander<'a> {
    problems: &'a mut Problems,
    nodes: usize,
    /// There are too many nodes, and it has been said.
    full: bool,
}

impl Expander<'_> {
    fn node(&mut self, node: &Node, names: &Names) -> Node {
        Node { value: self.value(node, names), at: node.at }
    }

    fn value(&mut self, node: &Node, names: &Names) -> Value {
        self.nodes += 1;
        match &node.value {
            Value::Text(text) if text.contains('$') => self.text(text, node.at, names),
            Value::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    match item.get("repeat") {
                        Some(count) => self.repeat(item, count, names, &mut list),
                        None => list.push(self.node(item, names)),
                    }
                }
                Value::List(list)
            }
            Value::Map(entries) => {
                let mut map: Vec<(Located<String>, Node)> = Vec::with_capacity(entries.len());
                for (key, node) in entries {
                    map.push((key.clone(), self.node(node, names)));
                }
                Value::Map(map)
            }
            value => value.clone(),
        }
    }

    fn text(&mut self, text: &str, at: Place, names: &Names) -> Value {
        match substitute(text, names) {
            Ok(value) => value,
            Err(message) => {
                let help = "a `$` before a name or a brace calls a parameter; write `$$` for the character itself";
                self.problems.incomplete = true;
                self.problems.add(at, message, help);
                Value::Broken
            }
        }
    }

    fn repeat(&mut self, item: &Node, count: &Node, names: &Names, list: &mut Vec<Node>) {
        let Value::Map(entries) = &item.value else { return };
        for (key, _) in entries {
            if !["repeat", "as", "from", "each"].contains(&key.value.as_str()) {
                let known = ["repeat", "as", "from", "each"];
                self.problems.incomplete = true;
                self.problems.add(key.at, format!("unknown key `{}` beside `repeat`", key.value), suggest(&key.value, known));
            }
        }
        let Some(each) = item.get("each") else {
            self.problems.incomplete = true;
            self.problems.add(item.at, "this `repeat` has no `each`", "write what is repeated under `each`: an item or a list of items");
            return;
        };
        let name = match item.get("as").map(|node| (&node.value, node.at)) {
            None => "i".to_owned(),
            Some((Value::Text(name), _)) if is_name(name) => name.clone(),
            Some((_, at)) => {
                self.problems.incomplete = true;
                self.problems.add(at, "`as` must be a name of letters, digits and `_`", "write `as: i`, say");
                return;
            }
        };
        if names.contains_key(&name) {
            let at = item.get("as").unwrap_or(count).at;
            self.problems.incomplete = true;
            self.problems.add(at, format!("the name `{name}` is taken here"), "give this `repeat` a name of its own with `as`");
            return;
        }
        let Some(count) = self.number(count, names) else { return };
        let from = match item.get("from") {
            None => 1,
            Some(node) => match self.number(node, names) {
                Some(from) => from,
                None => return,
            },
        };
        let mut names = names.clone();
        for step in 0..count.max(0) {
            if self.full {
                return;
            }
            if self.nodes > MOST_NODES {
                self.full = true;
                let message = format!("this file becomes more than {MOST_NODES} entries");
                self.problems.incomplete = true;
                self.problems.add(item.at, message, "lower the parameters that its `repeat`s count to");
                return;
            }
            let Some(index) = from.checked_add(step) else { return };
            names.insert(name.clone(), index);
            match &each.value {
                Value::List(items) => {
                    let each = self.value(&Node { value: Value::List(items.clone()), at: each.at }, &names);
                    if let Value::List(items) = each {
                        list.extend(items);
                    }
                }
                _ => list.push(self.node(each, &names)),
            }
        }
    }

    fn number(&mut self, node: &Node, names: &Names) -> Option<i64> {
        match self.value(node, names) {
            Value::Int(number) => Some(number),
            Value::Broken => None,
            other => {
                self.problems.incomplete = true;
                self.problems.add(
                    node.at,
                    format!("this must be a whole number, not {}", other.kind()),
                    "write a number or a `$parameter`",
                );
                None
            }
        }
    }
}

/// A text with its parameters put in.
pub(super) fn substitute(text: &str, names: &Names) -> Result<Value, String> {
    if let Some(name) = text.strip_prefix('$').filter(|name| is_name(name)) {
        return evaluate(name, names).map(Value::Int);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        // `from` begins with the dollar.
        let after = from.get(1..).unwrap_or_default();
        let escaped = after.strip_prefix('$').filter(|text| text.starts_with(|c: char| c == '{' || c.is_ascii_alphabetic()));
        if let Some(literal) = escaped {
            out.push('$');
            // What the escaped dollar stands before is plain text up to the next dollar.
            let end = literal.find('$').unwrap_or(literal.len());
            out.push_str(literal.get(..end).unwrap_or_default());
            rest = literal.get(end..).unwrap_or_default();
        } else if let Some(inner) = after.strip_prefix('{') {
            let Some(end) = inner.find('}') else { return Err("a `}` is missing after `${`".to_owned()) };
            let (body, tail) = inner.split_at(end);
            rest = tail.get(1..).unwrap_or_default();
            let (expression, form) = body.split_once(':').unwrap_or((body, ""));
            let value = evaluate(expression, names)?;
            if form.is_empty() && out.is_empty() && rest.is_empty() {
                return Ok(Value::Int(value));
            }
            out.push_str(&formatted(value, form.trim())?);
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    Ok(Value::Text(out))
}

fn formatted(value: i64, form: &str) -> Result<String, String> {
    match form {
        "" => Ok(value.to_string()),
        "name" => Ok(generate::name(value)),
        _ => match form.strip_prefix('0').and_then(|width| width.parse::<usize>().ok()) {
            Some(width) if width <= 20 => Ok(format!("{value:0width$}")),
            _ => Err(format!("`{form}` is no form of a number: leave it out, or write `name`, or `03` for three digits")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<Value, &str>) {
        let names = Names::from([("files".to_owned(), 20), ("i".to_owned(), 3)]);
        assert_eq!(substitute(text, &names), expect.map_err(str::to_owned), "{text}");
    }

    fn text(text: &str) -> Result<Value, &'static str> {
        Ok(Value::Text(text.to_owned()))
    }

    #[test]
    fn numbers_and_texts() {
        check("$files", Ok(Value::Int(20)));
        check("${files - i}", Ok(Value::Int(17)));
        check("src/part_${i}.rs", text("src/part_3.rs"));
        check("src/part_${i:03}.rs of ${files}", text("src/part_003.rs of 20"));
        check("${i:04}", text("0003"));
        check("costs 5 $ or $5, $files here", text("costs 5 $ or $5, $files here"));
        check("echo $${HOME} $$files $$", text("echo ${HOME} $files $$"));
        check("$$files", text("$files"));
        check("${i}${i}", text("33"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        check("$fils", Err("there is no parameter `fils`: did you mean `files`?"));
        check("a ${i", Err("a `}` is missing after `${`"));
        check("a ${i:x}", Err("`x` is no form of a number: leave it out, or write `name`, or `03` for three digits"));
    }
}
