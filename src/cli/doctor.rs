//! `stereopsis doctor`: examines this machine and reports faults, for a question to others.

use super::values::print_json;
use std::path::PathBuf;
use stereopsis_base::console;
use stereopsis_doctor::State;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Folder of recordings whose disk is examined [default: the current folder, in which `record` writes]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Print the checks as JSON
    #[arg(long)]
    json: bool,
    /// Only ask the drivers of GPUs, with a line of JSON for each check: the process that `doctor` starts for that
    #[arg(long, hide = true, conflicts_with_all = ["folder", "json"])]
    drivers: bool,
}

/// Runs `doctor`.
///
/// # Errors
/// A check failed; the report contains which. Standard output is closed or full.
pub(super) fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    if args.drivers {
        return print_drivers();
    }
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut printed = Ok(());
    let program = std::env::current_exe().ok();
    let checks = stereopsis_doctor::examine(&folder, program.as_deref(), |check| {
        if !args.json && printed.is_ok() {
            printed = console::print(&stereopsis_doctor::line(check));
        }
    });
    printed?;
    if args.json {
        print_json(&stereopsis_doctor::json(&checks))?;
    }
    if checks.iter().any(|check| check.state == State::Wrong) {
        anyhow::bail!("{}", stereopsis_doctor::summary(&checks));
    }
    if !args.json {
        console::print(&format!("{}\n", stereopsis_doctor::summary(&checks)))?;
    }
    Ok(())
}

/// Prints the answers of the GPU drivers line by line, because the next driver may end this process.
fn print_drivers() -> anyhow::Result<()> {
    let mut printed = Ok(());
    stereopsis_doctor::drivers::ask(|check| {
        if printed.is_ok() {
            printed = console::print(&format!("{}\n", serde_json::json!(check)));
        }
    });
    Ok(printed?)
}
