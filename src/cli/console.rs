//! Messages for people on standard error, and whether colour is wanted.

use std::io::{IsTerminal, Write};

use crate::error::Error;

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Level {
    /// What ended the command.
    Error,
    /// What should be known about the results as well.
    #[default]
    Warn,
    /// What is being done as well.
    Info,
    /// All of it.
    Debug,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    /// In a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colour {
    fn wanted(self, terminal: bool) -> bool {
        match self {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                terminal && !set("NO_COLOR") && !dumb
            }
        }
    }
}

/// Where messages go.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    level: Level,
    /// Whether standard output gets colour.
    pub colour_out: bool,
    /// Whether standard error gets colour.
    pub colour_err: bool,
}

impl Console {
    /// A console; `quiet` leaves errors alone.
    pub fn new(quiet: bool, level: Level, colour: Colour) -> Console {
        Console {
            level: if quiet { Level::Error } else { level },
            colour_out: colour.wanted(std::io::stdout().is_terminal()),
            colour_err: colour.wanted(std::io::stderr().is_terminal()),
        }
    }

    /// Whether people watch standard error.
    pub fn shows_progress(&self) -> bool {
        self.level >= Level::Warn && std::io::stderr().is_terminal()
    }

    /// What ended the command.
    pub fn error(&self, error: &Error) {
        self.say(Level::Error, "error", "\x1b[1;31m", &error.to_string());
    }

    /// How the command ended, in a line without a label: it is the last one.
    pub fn last(&self, message: &str) {
        // Nobody is left to be told that it cannot be written.
        let _ = writeln!(std::io::stderr().lock(), "{message}");
    }

    /// What should be known about the results.
    pub fn warn(&self, message: &str) {
        self.say(Level::Warn, "warning", "\x1b[1;33m", message);
    }

    /// What is being done.
    pub fn info(&self, message: &str) {
        self.say(Level::Info, "info", "\x1b[1m", message);
    }

    /// All of it.
    pub fn debug(&self, message: &str) {
        self.say(Level::Debug, "debug", "\x1b[2m", message);
    }

    fn say(&self, level: Level, label: &str, style: &str, message: &str) {
        if level > self.level {
            return;
        }
        let label = if self.colour_err { format!("{style}{label}\x1b[0m") } else { label.to_owned() };
        // Nobody is left to be told that messages cannot be written.
        let _ = writeln!(std::io::stderr().lock(), "{label}: {message}");
    }
}
