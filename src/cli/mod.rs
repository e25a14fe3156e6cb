//! The command line: what was typed, nothing more. A crate with strategies of its own gets the same binary by calling
//! [`run`] with its registry.

mod args;
mod asserted;
mod budgeted;
mod cassette;
mod check;
mod conformance;
mod console;
mod diff;
mod each_cell;
mod explain;
mod guarded;
mod import;
mod inputs;
mod interrupt;
mod list;
mod lock_file;
mod measuring;
mod metric_names;
mod output;
mod player;
mod provided;
mod recording;
mod reprice;
mod run;
mod run_folder;
mod schema;
mod show;
mod sweep;
mod validate;
mod varied;

use std::ffi::OsString;

use clap::Parser;

use crate::error::{Error, Exit};
use crate::strategy::Registry;

pub use asserted::budgets_hold;

use args::{Command, RunArgs, Typed};
use console::Console;

/// Does what was typed (the program's name first) and says how it went.
pub fn run(typed: impl IntoIterator<Item = OsString>, registry: &Registry) -> Exit {
    let words: Vec<OsString> = typed.into_iter().collect();
    let typed = match Typed::try_parse_from(&words) {
        Ok(typed) => typed,
        Err(told) => {
            let exit = told_by_clap(&told);
            // Whatever ends a check, its last line names the code.
            if exit != Exit::Fine && words.iter().skip(1).any(|word| word == "check") {
                Console::new(false, console::Level::Error, console::Colour::Never).last(&crate::report::exit_line(exit));
            }
            return exit;
        }
    };
    let global = &typed.global;
    let console = Console::new(global.quiet, global.log, global.color);
    let _watch = match guarded::Watch::begin(&global.out) {
        Ok(watch) => watch,
        Err(error) => {
            console.error(&error);
            if matches!(typed.command, Some(Command::Check(_))) {
                console.last(&crate::report::exit_line(error.exit()));
            }
            return error.exit();
        }
    };
    let done = match &typed.command {
        None => match RunArgs::bare() {
            Ok(args) => run::run(&args, registry, global, &console),
            Err(told) => return told_by_clap(&told),
        },
        Some(Command::Run(args)) => run::run(args, registry, global, &console),
        Some(Command::Record(args)) => recording::record(args, registry, global, &console),
        Some(Command::Replay(args)) => recording::replay(args, registry, global, &console),
        Some(Command::Cassette(command)) => cassette::cassette(command, global, &console),
        Some(Command::Show(args)) => show::show(args, registry, global, &console).map(|()| Exit::Fine),
        Some(Command::List(args)) => list::list(args, registry, global, &console).map(|()| Exit::Fine),
        Some(Command::Conformance(args)) => conformance::conformance(args, global, &console),
        Some(Command::Import(args)) => import::import(args, global, &console),
        Some(Command::Check(args)) => Ok(check::check(args, registry, global, &console)),
        Some(Command::Explain(args)) => explain::explain(args, registry, global, &console),
        Some(Command::Diff(args)) => diff::diff(args, registry, global, &console).map(|()| Exit::Fine),
        Some(Command::Sweep(args)) => sweep::sweep(args, registry, global, &console),
        Some(Command::Reprice(args)) => reprice::reprice(args, global, &console).map(|()| Exit::Fine),
        Some(Command::Validate(args)) => validate::validate(args, global, &console).map(|()| Exit::Fine),
        Some(Command::Schema(args)) => schema::schema(args, global, &console).map(|()| Exit::Fine),
    };
    done.unwrap_or_else(|error| {
        if !matches!(error, Error::Closed) {
            console.error(&error);
        }
        error.exit()
    })
}

/// Help and version go to standard output and are fine; everything else is a usage error.
fn told_by_clap(told: &clap::Error) -> Exit {
    // A closed pipe is no error to people, and there is nobody to tell of another.
    let _ = told.print();
    if told.use_stderr() { Exit::Usage } else { Exit::Fine }
}
