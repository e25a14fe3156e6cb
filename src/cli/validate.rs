//! `validate`: everything that is wrong with scenario files.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::Error;
use crate::report::Format;
use crate::scenario::Size;
use crate::scenario::file::{ScenarioErrors, ScenarioFile};

use super::args::{Global, ValidateArgs};
use super::console::Console;
use super::inputs::{read_text, scenario_file};
use super::output::emit;

/// What was found in one file.
#[derive(Serialize)]
struct Checked {
    file: String,
    scenarios: Vec<String>,
    sizes: Vec<Size>,
    problems: Vec<Problem>,
    #[serde(skip)]
    shown: String,
}

#[derive(Serialize)]
struct Problem {
    line: u64,
    column: u64,
    message: String,
    help: String,
}

/// Checks every file in every size that it offers. Files with problems end the command with all of them.
pub fn validate(args: &ValidateArgs, global: &Global, console: &Console) -> Result<(), Error> {
    let mut checked = Vec::new();
    for path in &args.files {
        let name = path.display().to_string();
        checked.push(check(&name, scenario_file(&read_text(path)?, path), console.colour_err));
    }
    let wrong: Vec<&Checked> = checked.iter().filter(|one| !one.problems.is_empty()).collect();
    emit("validate", global.format, &global.out, console, &|format, _| match format {
        Format::Human => Some(checked.iter().filter(|one| one.problems.is_empty()).map(fine).collect()),
        Format::Json => serde_json::to_string_pretty(&serde_json::json!({"format": "ctxbench-validate/1", "files": checked}))
            .ok()
            .map(|text| text + "\n"),
        _ => None,
    })?;
    if wrong.is_empty() {
        return Ok(());
    }
    let shown: Vec<&str> = wrong.iter().map(|one| one.shown.as_str()).collect();
    Err(Error::Input(format!("{} of {} files have problems\n\n{}", wrong.len(), checked.len(), shown.join("\n\n"))))
}

fn fine(one: &Checked) -> String {
    let sizes: Vec<&str> = one.sizes.iter().map(|size| size.name()).collect();
    format!("{}: fine: {} ({})\n", one.file, one.scenarios.join(", "), sizes.join(", "))
}

fn check(name: &str, file: Result<ScenarioFile, ScenarioErrors>, colour: bool) -> Checked {
    let mut checked = Checked { file: name.to_owned(), scenarios: vec![], sizes: vec![], problems: vec![], shown: String::new() };
    let mut found = Vec::new();
    match file {
        Err(errors) => found.push(errors),
        Ok(file) => {
            checked.scenarios = file.ids().to_vec();
            checked.sizes = file.sizes().to_vec();
            for id in file.ids() {
                found.extend(file.sizes().iter().filter_map(|&size| file.compile(id, size, &BTreeMap::new()).err()));
            }
        }
    }
    // What is wrong in every size and variant is said once.
    let mut seen = Vec::new();
    for errors in found {
        let shown = errors.render(colour);
        if !checked.shown.contains(&shown) {
            checked.shown += &format!("{}{shown}", if checked.shown.is_empty() { "" } else { "\n\n" });
        }
        for error in errors.errors {
            if !seen.contains(&error) {
                seen.push(error);
            }
        }
    }
    let problem = |error: crate::scenario::file::ScenarioError| Problem {
        line: error.line,
        column: error.column,
        message: error.message,
        help: error.help,
    };
    checked.problems = seen.into_iter().map(problem).collect();
    checked
}
