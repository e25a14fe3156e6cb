//! The `ctxbench` binary. Everything is in the library: see [`ctxbench::cli`].

use std::process::ExitCode;

use ctxbench::cli;
use ctxbench::strategy::Registry;

fn main() -> ExitCode {
    cli::run(std::env::args_os(), &Registry::builtin()).into()
}
