//! Conformance: vectors of what real systems did, played through this crate's strategies.
//!
//! A vector (`ctxbench-conformance/1`) holds a parent's history, a call, what the child did, and what the real system made
//! of it. The product's answer is computed from the vector without its name, its reasons and its expectations
//! (`file::Vector::given`); only then is it compared. One dialect a system translates a vector into the
//! strategy's terms and its answer back; every text and decision of the answer is the strategy's own.
//!
//! A file of a client's requests (`ctxbench-wire/1`) holds one whole run.

mod codex;
mod deerflow;
mod dialect;
mod difference;
mod encoding;
mod file;
mod json;
mod learn_claude_code;
mod maf;
mod opencode;
mod stage;
mod wire;
mod words;

pub use difference::Difference;
pub use file::Refused;

use file::{File, Vector};
use json::Json;
use wire::Case;

/// What became of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// How many vectors agree.
    pub passed: usize,
    /// Those that do not, in order.
    pub failed: Vec<Failed>,
}

/// A vector that does not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its name; `#N` (from 1) where it has none.
    pub name: String,
    /// Why: a fault of the vector, or where the answer differs.
    pub why: Why,
}

/// Why a vector does not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It cannot be played: an unknown field or profile, a value of another type.
    Unplayable(String),
    /// Where the answer differs, in order.
    Differs(Vec<Difference>),
}

/// Plays every vector of a file, or the one run of a file of a client's requests.
///
/// # Errors
/// A file that is neither, or of a system or a strategy that is not built here.
pub fn verify(text: &str) -> Result<Verdicts, Refused> {
    if let Some(case) = recorded(text)? {
        let failed = |why| Verdicts { passed: 0, failed: vec![Failed { name: case.name().to_owned(), why }] };
        return Ok(match case.differences() {
            Ok(differences) if differences.is_empty() => Verdicts { passed: 1, failed: vec![] },
            Ok(differences) => failed(Why::Differs(differences)),
            Err(fault) => failed(Why::Unplayable(fault)),
        });
    }
    let file = File::read(text)?;
    let mut verdicts = Verdicts::default();
    for vector in &file.vectors {
        match verdict(&file, vector) {
            Ok(differences) if differences.is_empty() => verdicts.passed += 1,
            Ok(differences) => verdicts.failed.push(Failed { name: vector.name.clone(), why: Why::Differs(differences) }),
            Err(fault) => verdicts.failed.push(Failed { name: vector.name.clone(), why: Why::Unplayable(fault) }),
        }
    }
    Ok(verdicts)
}

/// The recorded run, if that is what a file holds.
fn recorded(text: &str) -> Result<Option<Case>, Refused> {
    // What is no JSON is told by the reader of vectors.
    let Ok(file) = serde_json::from_str::<Json>(text) else { return Ok(None) };
    if file.get("format").as_text() == Some(wire::FORMAT) { Case::read(&file).map(Some) } else { Ok(None) }
}

fn verdict(file: &File, vector: &Vector) -> Result<Vec<Difference>, String> {
    let answer = (file.dialect.answer)(&vector.given()?)?;
    (file.dialect.differences)(&vector.expected()?, &answer)
}

/// The file again, with what the product gives as each vector's `expected_*`: names, reasons and notes are left out, and
/// prose of the product stands as the placeholder that vectors use for it. A vector that cannot be played has `fault`
/// in their place. A file of a client's requests is given with the requests of the product's run instead.
///
/// # Errors
/// As [`verify`].
pub fn emit(text: &str) -> Result<String, Refused> {
    if let Some(case) = recorded(text)? {
        let emitted = case.emitted().map_err(Refused::Unreadable)?;
        // It was built as JSON.
        return Ok(serde_json::to_string_pretty(&emitted).unwrap_or_default() + "\n");
    }
    let file = File::read(text)?;
    let vectors = file.vectors.iter().map(|vector| {
        let answer = vector.given().and_then(|given| (file.dialect.answer)(&given));
        vector.emitted(answer.unwrap_or_else(|fault| Json::object([("fault", Json::Text(fault))])))
    });
    let vectors = vectors.collect();
    Ok(file.emitted(vectors))
}
