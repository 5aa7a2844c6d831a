//! The command line: one file for each subcommand. Without one, paths and flags go to `live`.

mod bench;
mod calibrate;
mod camera_args;
mod calibration;
mod calibration_args;
mod compute;
pub mod devices;
mod doctor;
#[cfg(feature = "zenoh")]
mod engine;
mod eval;
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

use clap::{Parser, Subcommand};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use stereopsis_base::secrets::Secrets;
use stereopsis_base::{console, files, secrets};
use stereopsis_doctor::{VARIABLES, Variable};
use stereopsis_frame::CaptureError;
use stereopsis_recording::write::RecordError;
use stereopsis_sources::OpenError;

/// Parts of the command line that the laboratory's has too.
pub mod command_line {
    pub use super::pair_args::PairArgs;
    pub use super::short_help::{EXIT_CODE, PAIRS, STUDY, Shown};
    pub use super::tune::{Study, StudyArgs};
    pub use super::values::OVERWRITE;
    pub use super::{UsageError, check_variables, parse, run_program};
}

const EXAMPLES: &str = "\
Examples:
  stereopsis                                      live depth of the built-in scene
  stereopsis left.png right.png                   open a pair of images
  stereopsis live --source webcam:0,1 --rectify auto --baseline-m 0.06    two webcams, no calibration
  stereopsis live --source webcam:0,1 --calibration stereo.yml --calibration-unit mm
  stereopsis live --rig desk.toml
  stereopsis live --publish foxglove              the same in the Foxglove app, which can tune it
  stereopsis live --publish ros2                  the same in RViz and all nodes of ROS 2 (rmw_zenoh_cpp)
  stereopsis live --source ros2:/left/image_raw,/right/image_raw    the images of a driver of ROS 2
  stereopsis live --headless --frames 300         no window: a status line, then a preview image
  stereopsis compute left.png right.png -o disparity.pfm --color disparity.png
  stereopsis compute pairs/ -o results/ --cost census-7x7 --fill
  stereopsis record --source webcam:0,1 --calibration stereo.yml --seconds 60 -o walk.mcap
  stereopsis walk.mcap                            play it: pause, step, seek, and tune on it
  stereopsis recompute walk.mcap -o walk-accurate.mcap --preset accurate
  stereopsis export walk.mcap --to walk/          images, depth, points and calibration as files
  stereopsis measure wall.mcap --region 192,144,256,192 --distance-m 1.5 --csv wall.csv
  stereopsis eval MiddEval3/trainingH/ --presets balanced,accurate --errors errors/     against truth, as benchmarks do
  stereopsis optimize walk.mcap --max-ms 33 -o walk.toml     the setting that suits its pairs best, for --settings
  stereopsis bench --size 640x480 --num-disparities 128
  stereopsis bench --presets --engine cpu         every preset side by side, with its paper
  stereopsis tune --size 1280x720 --num-disparities 128     once for each GPU and size
  stereopsis model inspect las2.onnx              test a learned matcher of yours, a neural network as ONNX
  stereopsis live --model las2.onnx               depth by it; in the window A keeps semi-global matching beside it
  stereopsis devices --gpu
  stereopsis doctor                               what this machine has and what is wrong with it, to paste into a question
  stereopsis integrate ~/.local/share             manual pages, completions and an entry in the menu, where no package brought them
  stereopsis calibrate --print-board board.pdf    print it, measure it, glue it to something flat
  stereopsis calibrate --source webcam:0,1 --board charuco:10x7:26mm:19.5mm:DICT_5X5_100 -o desk.toml
  stereopsis calibrate pairs/ --board chessboard:9x6:25mm -o rig.yml
  stereopsis calibrate --check desk.toml pairs/
  stereopsis calibration show left.yaml,right.yaml
  stereopsis head --name pi --source webcam:0,1 --listen tcp/0.0.0.0:7447 --open     raw pairs for other machines
  stereopsis engine --connect tcp/192.168.1.5:7447     this machine matches them
  stereopsis live --source zenoh:pi@192.168.1.5 --engine network     and this one shows the results
  stereopsis net --connect tcp/192.168.1.5:7447 --watch     who is there, rates, drops, clocks
  stereopsis plan --fov-deg 70 --baseline-m 0.06
  stereopsis plan --focal-mm 11 --sensor-width-mm 15.36 --size 1280x480 --baseline-m 0.456 --plot reach.svg";

/// Examples that this build can run, environment variables and exit codes.
fn examples() -> String {
    let known = |line: &&str| {
        let is_network = ["zenoh:", "ros2", "--listen"].iter().any(|word| line.contains(word));
        let is_model = line.contains(".onnx");
        (cfg!(feature = "publish") || !line.contains("--publish"))
            && (cfg!(feature = "zenoh") || !is_network)
            && (cfg!(feature = "model") || !is_model)
    };
    let is_read = |variable: &&Variable| match variable.name {
        "STEREOPSIS_NETWORK_PASSWORD" => cfg!(feature = "zenoh"),
        "STEREOPSIS_PUBLISH_TOKEN" => cfg!(feature = "publish"),
        "STEREOPSIS_DATA" => false,
        _ => true,
    };
    let variables = VARIABLES.iter().filter(is_read).map(|own| format!("  {}: {}", own.name, own.effect));
    let variables = variables.collect::<Vec<_>>().join("\n");
    let examples = EXAMPLES.lines().filter(known).collect::<Vec<_>>().join("\n");
    format!("{examples}\n\nEnvironment:\n{variables}\n\n{}", short_help::EXIT_CODE)
}

/// Two ordinary cameras in, live depth out, on any GPU and without one
#[derive(Debug, Parser)]
#[command(version, after_long_help = examples(), args_conflicts_with_subcommands = true, max_term_width = 120)]
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
        first_word::check(std::env::args_os().skip(1))?;
        run(parse(short_help::SHOWN))
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
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) if is_closed_pipe(&err) => ExitCode::SUCCESS,
        Err(err) => {
            console::say(without_secrets(&words(&err)));
            ExitCode::from(exit_code(&err))
        }
    }
}

/// Parses the command line, with these flags in the short help; ends the program where it is wrong, or requests help.
pub fn parse<C: Parser>(shown: &[short_help::Shown]) -> C {
    let mut command = short_help::shorten(C::command(), shown);
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
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

/// Removes the secrets of addresses from a message: of all in the command line, which messages repeat, and of those in the message.
fn without_secrets(text: &str) -> String {
    let given = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    given.fold(secrets::hidden(text), |text, arg| {
        let flag = arg.split_once('=').filter(|(flag, _)| flag.starts_with("--"));
        let words = flag.map_or(&*arg, |(_, value)| value);
        if Path::new(words).exists() { text } else { Secrets::of_words(words).removed_from(&text) }
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
        Some(Command::Integrate(args)) => integrate::run(&args),
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

/// Error of a command line that requests something impossible; exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Returns the exit code of an error: 2 for a wrong command line, else 1.
pub fn exit_code(err: &anyhow::Error) -> u8 {
    let wrong_flag = err.chain().any(|cause| {
        cause.is::<UsageError>()
            || matches!(cause.downcast_ref(), Some(stereopsis_settings::settings::SettingsError::Flag(_)))
            || matches!(cause.downcast_ref(), Some(CaptureError::Grammar(_)))
            || matches!(cause.downcast_ref(), Some(OpenError::Capture(CaptureError::Grammar(_))))
    });
    if wrong_flag { 2 } else { 1 }
}

/// Returns the text of an error and its causes, without a cause that the preceding text contains.
pub fn words(err: &anyhow::Error) -> String {
    // all files have errors with their names
    if let Some(of_output) = err.chain().next().and_then(|first| first.downcast_ref()) {
        return format!("cannot write to standard output: {}", files::cause(of_output));
    }
    let texts = err.chain().map(|cause| match cause.downcast_ref() {
        Some(of_system) => files::cause(of_system),
        None => cause.to_string(),
    });
    let joined = texts.reduce(|text, cause| if text.contains(&cause) { text } else { format!("{text}: {cause}") });
    joined.unwrap_or_default()
}

/// Whether the reader of the standard output has closed it, as `head` does. That is no error.
pub fn is_closed_pipe(err: &anyhow::Error) -> bool {
    let closed = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    let recording = |cause: &RecordError| cause.is_closed_pipe();
    err.chain().any(|cause| cause.downcast_ref().is_some_and(closed) || cause.downcast_ref().is_some_and(recording))
}

/// Prints a value for other programs.
fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    Ok(console::print(&format!("{}\n", console::json(value)?))?)
}
