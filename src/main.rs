//! Parse, run, print the error once, exit code.

use clap::Parser as _;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let filter = env_logger::Env::default().default_filter_or("error");
    let mut log = env_logger::Builder::from_env(filter);
    // names from files and devices are in it
    log.format(|line, record| {
        let text = stereopsis::console::shown(&record.args().to_string());
        writeln!(line, "[{} {}] {text}", record.level(), record.target())
    });
    log.init();
    match stereopsis::cli::run(stereopsis::cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) if stereopsis::cli::is_closed_pipe(&err) => ExitCode::SUCCESS,
        Err(err) => {
            stereopsis::console::say(stereopsis::cli::words(&err));
            ExitCode::from(stereopsis::cli::exit_code(&err))
        }
    }
}
