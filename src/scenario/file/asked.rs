//! The records of checks: what is asked of the final answer and of returns.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::scenario::{Measure, Which};

use super::errors::Problems;
use super::node::{Located, Node, Value};
use super::record::{Form, OneOrMore, names, record};

record! {
    /// Something asked of the final answer or of a return. Exactly one of `contains`, `contains_all`, `regex`, `equals`,
    /// `number`, `json`, `json_schema`, `token_f1`, `ordered`, `recall`, `forbidden`, `citation` and `length` stands in it. Each
    /// gives a score from 0 to 1. An answer is read as it stands and with the escapes of JSON and tags undone; the best
    /// reading counts.
    pub(super) struct CheckForm {
        /// Its id.
        id: Located<String>,
        /// The intent whose return is scored too. Left out: the final answer alone.
        intent: Option<Located<String>>,
        /// Whether the final answer is scored. Default: true.
        answer: bool = true,
        /// Its weight in the mean; 0: its score on the final answer is reported and not counted. Of the checks on the final
        /// answer, and of those on an intent's return, at least one weighs more than 0. Default: 1.
        weight: Option<Located<f64>>,
        /// This text stands in the answer, or one of several that are aliases of each other; upper and lower case differ, runs
        /// of white space are one blank.
        contains: Option<OneOrMore>,
        /// The share of these things that stand in the answer. Each is a text or a list of its aliases.
        contains_all: Option<Vec<Aliases>>,
        /// The pattern matches somewhere; in the syntax of the Rust crate `regex`.
        regex: Option<Located<String>>,
        /// The whole answer is this text; white space at the ends does not count, runs of it are one blank.
        equals: Option<String>,
        /// A number stands in the answer, near enough.
        number: Option<Located<NumberOrForm>>,
        /// The answer's JSON value equals this one: keys in any order, numbers by value. The value is the whole answer if it is
        /// JSON, else the first fenced block that is, else the first object or list that stands in it.
        json: Option<JsonForm>,
        /// The answer's JSON value, found as for `json`, keeps to this JSON schema. A reference stays in the schema (`#/...`).
        json_schema: Option<Located<Value>>,
        /// Overlap of words with a text, as SQuAD measures it: 2 x words in common / (words of the answer + words of the text);
        /// in lower case, without punctuation and articles.
        token_f1: Option<Located<TextsOrForm>>,
        /// The share of these things that stand in the answer one behind the other, in this order: the longest chain of them.
        /// Each is a text or a list of its aliases.
        ordered: Option<Vec<Aliases>>,
        /// The share of these topics whose newest fact, or deliverable with the newest values, is stated.
        recall: Option<OneOrMore>,
        /// None of these stands in the answer: texts, a fact (`{fact: ID}`), what was superseded of a topic
        /// (`{superseded: TOPIC}`).
        forbidden: Option<ForbiddenList>,
        /// These places are cited (`src/a.rs:12`) and quoted, and nothing is cited that does not stand in the world's files:
        /// right ones / (required + invented ones).
        citation: Option<Vec<Located<CitationForm>>>,
        /// The answer is neither too short nor too long.
        length: Option<Located<LengthForm>>,
    }

    /// A number with how far off an answer may be.
    pub(super) struct NumberForm {
        /// The number.
        value: Located<f64>,
        /// How far off it may be; with `relative`, the larger one counts. Default: 0.
        tolerance: Option<Located<f64>>,
        /// How far off it may be, as a share of `value` (0.05: 5 %). Default: 0.
        relative: Option<Located<f64>>,
        /// Where several numbers stand in the answer: `any` of them is near enough (the default), the `first` one is, the `last`
        /// one is, or `every` one is and there is one.
        which: Which = Which::Any,
        /// Only numbers with this unit count, or with one of several spellings of it: behind or before the number, with one
        /// blank or none. Left out: every number.
        unit: Option<Located<OneOrMore>>,
    }

    /// A JSON value that is asked for.
    pub(super) struct JsonForm {
        /// The value.
        value: Value,
        /// Where it stands in the answer's JSON value: a JSON pointer (`/causes/0`). Left out: it is all of it.
        path: Option<Located<String>>,
    }

    /// A text to be near to.
    pub(super) struct TokenF1Form {
        /// The text, or several of which the nearest counts.
        text: OneOrMore,
        /// The score is 1 from this F1 on, else 0. Left out: the score is the F1.
        at_least: Option<Located<f64>>,
    }

    /// A place that must be cited.
    pub(super) struct CitationForm {
        /// A file of the world.
        path: Located<String>,
        /// The line at which the citation begins, from 1.
        line: Located<i64>,
        /// Words of that line, which stand beside the citation. Left out: the place alone is asked for.
        quote: Option<Located<String>>,
    }

    /// Bounds of a length, inclusive. At least one of `at_least` and `at_most` stands in it.
    pub(super) struct LengthForm {
        /// What is counted: `words` (between white space, the default), `characters` (in Unicode's NFC, without white space at
        /// the ends) or `lines` (that hold more than white space).
        of: Measure = Measure::Words,
        /// The least.
        at_least: Option<Located<u64>>,
        /// The most.
        at_most: Option<u64>,
    }

    /// Something forbidden that is no text. Exactly one key stands in it.
    struct ForbiddenForm {
        /// A fact, by id: none of its markers stands in the answer.
        fact: Option<Located<String>>,
        /// A topic, by id: none of its facts but the newest.
        superseded: Option<Located<String>>,
    }
}

names!(Which: "any" => Which::Any, "first" => Which::First, "last" => Which::Last, "every" => Which::Every);
names!(Measure: "words" => Measure::Words, "characters" => Measure::Characters, "lines" => Measure::Lines);

/// The names of an enum's values in the schema.
macro_rules! named_schema {
    ($type:ty: $($name:literal),+) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"enum": [$($name),+]})
            }
        }
    };
}
named_schema!(Which: "any", "first", "last", "every");
named_schema!(Measure: "words", "characters", "lines");

/// A number alone, or with tolerances.
#[derive(Clone, Debug)]
pub(super) struct NumberOrForm(pub NumberForm);

impl Form for NumberOrForm {
    fn read(node: &Node, problems: &mut Problems) -> Option<NumberOrForm> {
        if matches!(node.value, Value::Map(_)) {
            return NumberForm::read(node, problems).map(NumberOrForm);
        }
        let value = Located::read(node, problems)?;
        Some(NumberOrForm(NumberForm { value, tolerance: None, relative: None, which: Which::Any, unit: None }))
    }
}

impl JsonSchema for NumberOrForm {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NumberOrForm".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let form = generator.subschema_for::<NumberForm>();
        json_schema!({"anyOf": [{"type": "number"}, form]})
    }
}

/// Texts alone, or with a threshold.
#[derive(Clone, Debug)]
pub(super) struct TextsOrForm(pub TokenF1Form);

impl Form for TextsOrForm {
    fn read(node: &Node, problems: &mut Problems) -> Option<TextsOrForm> {
        if matches!(node.value, Value::Map(_)) {
            return TokenF1Form::read(node, problems).map(TextsOrForm);
        }
        OneOrMore::read(node, problems).map(|text| TextsOrForm(TokenF1Form { text, at_least: None }))
    }
}

impl JsonSchema for TextsOrForm {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TextsOrForm".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let texts = generator.subschema_for::<OneOrMore>();
        let form = generator.subschema_for::<TokenF1Form>();
        json_schema!({"anyOf": [texts, form]})
    }
}

/// One of several things: a text or a list of its aliases.
#[derive(Clone, Debug)]
pub(super) struct Aliases(pub OneOrMore);

impl Form for Aliases {
    fn read(node: &Node, problems: &mut Problems) -> Option<Aliases> {
        OneOrMore::read(node, problems).map(Aliases)
    }
}

impl JsonSchema for Aliases {
    // A definition of its own: items of lists are known by the name of theirs.
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Aliases".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = OneOrMore::json_schema(generator);
        schema.insert("description".to_owned(), "A text, or a list of aliases.".into());
        schema
    }
}

/// Something forbidden.
#[derive(Clone, Debug)]
pub(super) enum ForbiddenItem {
    Text(String),
    Fact(Located<String>),
    Superseded(Located<String>),
}

impl Form for ForbiddenItem {
    fn read(node: &Node, problems: &mut Problems) -> Option<ForbiddenItem> {
        if !matches!(node.value, Value::Map(_)) {
            return String::read(node, problems).map(ForbiddenItem::Text);
        }
        match ForbiddenForm::read(node, problems)? {
            ForbiddenForm { fact: Some(fact), superseded: None } => Some(ForbiddenItem::Fact(fact)),
            ForbiddenForm { fact: None, superseded: Some(topic) } => Some(ForbiddenItem::Superseded(topic)),
            _ => {
                problems.incomplete = true;
                problems.add(node.at, "this forbids nothing, or several things", "write either `fact` or `superseded`");
                None
            }
        }
    }
}

impl JsonSchema for ForbiddenItem {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Forbidden".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let form = generator.subschema_for::<ForbiddenForm>();
        json_schema!({"description": "A text, or what is forbidden beside texts.", "anyOf": [{"type": ["string", "integer"]}, form]})
    }
}

/// One thing or a list of them.
#[derive(Clone, Debug)]
pub(super) struct ForbiddenList(pub Vec<ForbiddenItem>);

impl Form for ForbiddenList {
    fn read(node: &Node, problems: &mut Problems) -> Option<ForbiddenList> {
        match &node.value {
            Value::List(_) => Vec::read(node, problems).map(ForbiddenList),
            _ => ForbiddenItem::read(node, problems).map(|one| ForbiddenList(vec![one])),
        }
    }
}

impl JsonSchema for ForbiddenList {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ForbiddenList".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<ForbiddenItem>();
        json_schema!({"anyOf": [item, {"type": "array", "items": item}]})
    }
}
