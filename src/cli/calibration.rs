//! `stereopsis calibration`: show a calibration file, or convert it.

use super::calibration_args::ReadingArgs;
use super::error::refuse;
use super::short_help::shown;
use super::values::{Files, OVERWRITE, existing_files, print_json};
use std::path::{Path, PathBuf};
use stereopsis_base::files::Outputs;
use stereopsis_base::{console, files};
use stereopsis_calibration::{Crop, LoadOptions, Output, StereoRig};
use stereopsis_frame::source::parse_size;

/// Arguments of `calibration`.
#[derive(Debug, clap::Args)]
pub(super) struct CalibrationCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say what a calibration means: cameras, fields of view, angles, what rectification keeps, and doubts
    Show(ShowArgs),
    /// Write a calibration as our TOML, as OpenCV's YAML or XML, as ROS's camera_info, or as Kalibr's camchain
    Convert(ConvertArgs),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Print the same for programs
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ConvertArgs {
    #[command(flatten)]
    file: FileArgs,
    /// File to write: .toml; .yml, .yaml or .xml of OpenCV, or with --to kalibr a camchain; for ROS a .tar.gz, or a folder
    /// for left.yaml and right.yaml
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Kind to write, where the name of OUT does not say it
    #[arg(long, value_enum)]
    to: Option<Target>,
    #[arg(long, help = OVERWRITE, visible_alias = "force")]
    overwrite: bool,
}

/// Calibration file to read, and its format.
#[derive(Debug, clap::Args)]
#[command(mut_args(shown))]
struct FileArgs {
    /// Calibration of OpenCV, ROS, Kalibr, ZED, Middlebury, KITTI and others, or our own TOML; two files as LEFT,RIGHT or
    /// INTRINSICS,EXTRINSICS
    #[arg(value_name = "FILE[,FILE]", required = true, num_args = 1..=3, value_parser = existing_files())]
    files: Vec<Files>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Size of the images per image, for files that name none or several
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<(usize, usize)>,
}

/// Kinds that are written.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Target {
    Toml,
    Opencv,
    Ros,
    Kalibr,
}

impl FileArgs {
    fn crop(&self) -> Crop {
        let ReadingArgs { alpha, rectified_fov_deg, .. } = self.reading;
        Crop { alpha: alpha.unwrap_or(0.0), rectified_fov_deg }
    }

    fn load(&self) -> anyhow::Result<StereoRig> {
        let ReadingArgs { calibration_unit: unit, calibration_swap: swapped, ref calibration_cameras, .. } =
            self.reading;
        let cameras = calibration_cameras.clone();
        let options = LoadOptions { unit, swapped, size: self.size, cameras, camera_numbers: None };
        let rig = stereopsis_calibration::load(&Files::all(&self.files), &options)?;
        match (rig.size, self.size, self.reading.calibration_crop) {
            (_, Some(size), Some(crop)) => Ok(rig.cropped(crop, size)?),
            (_, None, Some(_)) => refuse("--calibration-crop needs the size of the images: give --size"),
            (None, Some(size), None) => Ok(rig.with_size(size)?),
            _ => Ok(rig),
        }
    }
}

/// Runs `calibration`.
///
/// # Errors
/// A file cannot be read, is no calibration, or cannot be written.
pub(super) fn run(command: &CalibrationCommand) -> anyhow::Result<()> {
    match &command.command {
        Command::Show(args) => show(args),
        Command::Convert(args) => convert(args),
    }
}

fn show(args: &ShowArgs) -> anyhow::Result<()> {
    let told = args.file.load()?.describe(args.file.crop());
    if args.json {
        return print_json(&serde_json::to_value(told)?);
    }
    Ok(console::print(&told.to_string())?)
}

fn convert(args: &ConvertArgs) -> anyhow::Result<()> {
    let output = output_of(&args.output, args.to)?;
    let rig = args.file.load()?;
    let files = stereopsis_calibration::write(&rig, output, args.file.crop())?;
    let paths: Vec<_> = files
        .iter()
        .map(|(name, _)| if name.is_empty() { args.output.clone() } else { args.output.join(name) })
        .collect();
    let mut outputs = Outputs::new(Files::all(&args.file.files), args.overwrite);
    paths.iter().try_for_each(|path| outputs.add(path))?;
    if output == Output::RosFiles {
        files::make_folder(&args.output)?;
    }
    for (path, (_, bytes)) in paths.iter().zip(&files) {
        files::write(path, bytes)?;
    }
    let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    console::print(&format!("{}\nwrote {}\n", rig.summary(), names.join(" and ")))?;
    let is_of_opencv = matches!(output, Output::OpenCvYaml | Output::OpenCvXml);
    if let Some(problem) = rig.describe(args.file.crop()).problem.filter(|_| is_of_opencv) {
        console::print(&format!(
            "note: R1, R2, P1, P2 and Q are not in the file, because there is no rectification: {problem}\n"
        ))?;
    }
    if rig.left.skew.abs() + rig.right.skew.abs() > 0.0 && output != Output::Toml {
        console::print(
            "note: OpenCV and ROS leave the axis skew of a camera matrix out when they rectify: with them rows and depth are \
             wrong towards the rim\n",
        )?;
    }
    if rig.estimated && output != Output::Toml {
        console::print("note: that the rig is an estimate is said in our own .toml only\n")?;
    }
    if rig.rectification.is_some() && output == Output::Kalibr {
        console::print("note: the rectification of the calibration is not in a camchain; readers compute their own\n")?;
    }
    Ok(())
}

/// Returns the output for a path, in the format that `to` or else the file's name gives.
fn output_of(path: &Path, to: Option<Target>) -> anyhow::Result<Output> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let kinds = [
        (".tar.gz", Target::Ros, Output::RosArchive),
        (".tgz", Target::Ros, Output::RosArchive),
        (".toml", Target::Toml, Output::Toml),
        (".yml", Target::Opencv, Output::OpenCvYaml),
        (".yaml", Target::Opencv, Output::OpenCvYaml),
        (".xml", Target::Opencv, Output::OpenCvXml),
    ];
    let of_file =
        kinds.into_iter().find(|(ending, ..)| name.ends_with(ending)).map(|(_, target, output)| (target, output));
    let by_name = if path.is_dir() { Some((Target::Ros, Output::RosFiles)) } else { of_file };
    let path = path.display();
    match (by_name, to) {
        (None | Some((_, Output::OpenCvYaml)), Some(Target::Kalibr)) => Ok(Output::Kalibr),
        (Some((target, output)), to) if to.is_none_or(|to| to == target) => Ok(output),
        (Some(_), _) => refuse(format!("the name {path} is of another kind than --to says")),
        (None, Some(Target::Toml)) => Ok(Output::Toml),
        (None, Some(Target::Opencv)) => Ok(Output::OpenCvYaml),
        (None, Some(Target::Ros)) => Ok(Output::RosFiles),
        (None, None) => refuse(format!(
            "cannot tell what to write from the name {path}: end it in .toml, .yml, .xml or .tar.gz, or give --to toml, \
             opencv, ros or kalibr"
        )),
    }
}
