//! Parse, run, print the error once, exit code.

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("error")).init();
    match stereopsis::cli::run(stereopsis::cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) if stereopsis::cli::is_closed_pipe(&err) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("stereopsis: {err:#}");
            ExitCode::from(stereopsis::cli::exit_code(&err))
        }
    }
}
