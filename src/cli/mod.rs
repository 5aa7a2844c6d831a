//! The command line: one file for each subcommand. Without one, paths and flags go to `live`.

mod bench;
mod calibrate;
mod camera_args;
mod calibration;
mod calibration_args;
mod compute;
pub mod devices;
mod depth_args;
mod doctor;
#[cfg(feature = "zenoh")]
mod engine;
mod error;
mod eval;
mod examples;
mod export;
mod first_word;
#[cfg(feature = "zenoh")]
mod head;
mod input_args;
mod integrate;
mod lens_args;
mod live;
mod measure;
#[cfg(feature = "model")]
mod model;
mod negative;
#[cfg(feature = "zenoh")]
mod net;
#[cfg(feature = "zenoh")]
mod network_args;
mod optimize;
mod pair_args;
mod plan;
mod process;
mod publish_args;
mod record;
mod recompute;
#[cfg(feature = "zenoh")]
mod router;
mod settings_args;
mod short_help;
mod source_args;
mod tune;
mod values;
mod vocabulary;

use clap::{CommandFactory as _, Parser, Subcommand};
use error::{exit_code, is_closed_pipe, without_secrets, words};
use examples::examples;
use std::io::Write as _;
use std::process::ExitCode;
use stereopsis_base::{console, remedy, secrets};

/// Parts of the command line that the laboratory's has too.
pub mod command_line {
    pub use super::error::UsageError;
    pub use super::pair_args::PairArgs;
    pub use super::short_help::EXIT_CODE;
    pub use super::tune::{Study, StudyArgs};
    pub use super::values::OVERWRITE;
    pub use super::{check_variables, parse, run_program};
}

/// Two ordinary cameras in, live depth out, on any GPU and without one
#[derive(Debug, Parser)]
#[command(version, after_long_help = examples(), args_conflicts_with_subcommands = true, max_term_width = 120)]
#[command(mut_args(|arg| if arg.get_id() == "inputs" { arg } else { short_help::hidden(arg) }))]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    live: live::LiveArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show live depth in a window, or without one as a status line and a preview image
    Live(Box<live::LiveArgs>),
    /// Record pairs and depth into a file that ROS 2, Foxglove and this program open
    Record(Box<record::RecordArgs>),
    /// Compute disparity for a pair or a folder of pairs
    Compute(Box<compute::ComputeArgs>),
    /// Match every pair of a recording again, with other parameters, into a new recording
    Recompute(Box<recompute::RecomputeArgs>),
    /// Write a recording as files that every tool reads: images, depth, points, a table
    Export(Box<export::ExportArgs>),
    /// List cameras and their modes, or GPUs
    Devices(devices::DevicesArgs),
    /// Examine this machine: faults and their remedies, to paste into a question
    Doctor(doctor::DoctorArgs),
    /// Write manual pages, shell completions and a menu entry into ~/.local/share or another folder
    Integrate(integrate::IntegrateArgs),
    /// Calibrate two cameras with a printed board, and predict the error of depth
    Calibrate(Box<calibrate::CalibrateArgs>),
    /// Show or convert calibration files
    Calibration(calibration::CalibrationCommand),
    /// Measure the quality of depth: a flat surface, two points, scores without truth
    Measure(Box<measure::MeasureArgs>),
    /// Evaluate settings on pairs with truth: errors as benchmarks report them, side by side
    Eval(Box<eval::EvalArgs>),
    /// Search for the setting that suits some pairs best, with truth or without
    Optimize(Box<optimize::OptimizeArgs>),
    /// Time the engines on this machine, warm, per stage and whole
    Bench(Box<bench::BenchArgs>),
    /// Find and keep the quickest variant of the GPU engine's kernels for a size and range
    Tune(Box<tune::StudyArgs>),
    /// Test a neural network of yours for --engine model, and write its conventions
    #[cfg(feature = "model")]
    Model(model::ModelCommand),
    /// Compute the depth range and error of a rig from its lens and baseline
    Plan(plan::PlanArgs),
    /// Send the raw pairs of this machine's cameras to other machines
    #[cfg(feature = "zenoh")]
    Head(Box<head::HeadArgs>),
    /// Match the rigs of the network with this machine's engine
    #[cfg(feature = "zenoh")]
    Engine(engine::EngineArgs),
    /// Pass messages between heads, engines and programs that watch
    #[cfg(feature = "zenoh")]
    Router(router::RouterArgs),
    /// List the members of the network; show and set a rig's parameters and cameras
    #[cfg(feature = "zenoh")]
    Net(net::NetArgs),
}

/// Runs the program: parses the command line, runs the command, and prints an error once.
pub fn main() -> ExitCode {
    run_program(|| {
        first_word::check(std::env::args_os().skip(1), Cli::command())?;
        run(parse())
    })
}

/// Runs a program of this project: prepares process and log, and prints an error once.
pub fn run_program(run: impl FnOnce() -> anyhow::Result<()>) -> ExitCode {
    process::prepare();
    let filter = env_logger::Env::default().default_filter_or("error");
    let mut log = env_logger::Builder::from_env(filter);
    // messages contain names from files and devices
    log.format(|line, record| {
        let text = console::shown(&secrets::hidden(&record.args().to_string()));
        writeln!(line, "[{} {}] {text}", record.level(), record.target())
    });
    log.init();
    remedy::speak(&vocabulary::CommandLine);
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) if is_closed_pipe(&err) => ExitCode::SUCCESS,
        Err(err) => {
            // a window may have spoken last
            remedy::speak(&vocabulary::CommandLine);
            console::say(without_secrets(&words(&err)));
            ExitCode::from(exit_code(&err))
        }
    }
}

/// Parses the command line; ends the program where it is wrong, or requests help.
pub fn parse<C: Parser>() -> C {
    let mut command = short_help::refer_to_help(C::command());
    let parsed = command.try_get_matches_from_mut(negative::joined(std::env::args_os()));
    let parsed = parsed.and_then(|matches| C::from_arg_matches(&matches).map_err(|err| err.format(&mut command)));
    parsed.unwrap_or_else(|err| {
        let text = err.render().to_string();
        let shown = if err.use_stderr() { without_secrets(&text) } else { text.clone() };
        if shown == text {
            err.exit();
        }
        console::line(shown.trim_end());
        std::process::exit(err.exit_code())
    })
}

/// Runs a command.
///
/// # Errors
/// The text contains what was tried, on what, and what to do next.
fn run(cli: Cli) -> anyhow::Result<()> {
    // before anything starts with other variables than intended; `doctor` reports these faults among all others
    if !matches!(cli.command, Some(Command::Doctor(_))) {
        check_variables()?;
    }
    #[cfg(feature = "model")]
    if let Ok(program) = std::env::current_exe() {
        stereopsis_model::Trial::set_program(program, model::TRIAL_WORDS);
    }
    match cli.command {
        None => live::run(&cli.live),
        Some(Command::Live(args)) => live::run(&args),
        Some(Command::Record(args)) => record::run(&args),
        Some(Command::Devices(args)) => devices::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Integrate(args)) => integrate::run(&args, &Cli::command()),
        Some(Command::Measure(args)) => measure::run(&args),
        Some(Command::Eval(args)) => eval::run(&args),
        Some(Command::Optimize(args)) => optimize::run(&args),
        Some(Command::Bench(args)) => bench::run_args(&args),
        Some(Command::Tune(args)) => tune::run(&args),
        #[cfg(feature = "model")]
        Some(Command::Model(args)) => model::run(&args),
        Some(Command::Calibrate(args)) => calibrate::run(&args),
        Some(Command::Calibration(args)) => calibration::run(&args),
        Some(Command::Plan(args)) => plan::run(&args),
        Some(Command::Compute(args)) => compute::run(&args),
        Some(Command::Recompute(args)) => recompute::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        #[cfg(feature = "zenoh")]
        Some(Command::Head(args)) => head::run(&args),
        #[cfg(feature = "zenoh")]
        Some(Command::Engine(args)) => engine::run(&args),
        #[cfg(feature = "zenoh")]
        Some(Command::Router(args)) => router::run(&args),
        #[cfg(feature = "zenoh")]
        Some(Command::Net(args)) => net::run(&args),
    }
}

/// Checks the environment variables that change an engine.
///
/// # Errors
/// One has a word that is not known.
pub fn check_variables() -> anyhow::Result<()> {
    stereopsis_cpu::simd::SimdLevel::chosen()?;
    stereopsis_gpu::variant::VariantOverrides::from_env()?;
    Ok(())
}
