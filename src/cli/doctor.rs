//! `stereopsis doctor`: examines this machine and says what is wrong, for a question to others.

use crate::console;
use crate::doctor::{self, State};
use std::path::PathBuf;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Folder of recordings whose disk is examined [default: the current folder, in which `record` writes]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Print the checks as JSON
    #[arg(long)]
    json: bool,
}

/// Runs `doctor`.
///
/// # Errors
/// Something is wrong; the report says what. Standard output is closed or full.
pub(super) fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut printed = Ok(());
    let checks = doctor::examine(&folder, |check| {
        // line by line: a driver may end the program
        if !args.json && printed.is_ok() {
            printed = console::print(&doctor::line(check));
        }
    });
    printed?;
    if args.json {
        super::print_json(&doctor::json(&checks))?;
    }
    if checks.iter().any(|check| check.state == State::Wrong) {
        anyhow::bail!("{}", doctor::summary(&checks));
    }
    if !args.json {
        console::print(&format!("{}\n", doctor::summary(&checks)))?;
    }
    Ok(())
}
