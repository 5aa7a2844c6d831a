//! Flags of `calibrate`: the images, the board, and the file to write.

use crate::cli::camera_args::CameraArgs;
use crate::cli::error::refuse;
use crate::cli::source_args::{BothViewsArgs, TopicArgs};
use crate::cli::values::{Files, OVERWRITE, choice, positive, separated};
use anyhow::{Context as _, anyhow};
use std::path::{Path, PathBuf};
use stereopsis_base::console;
use stereopsis_base::files::{Outputs, plain};
use stereopsis_calibrate::{BOARD_FILE, Board, BoardKind, CalibrationRequest, LensKind, Paper, paths_of};
use stereopsis_calibration::{LoadOptions, load};
use stereopsis_frame::source::parse_size;
use stereopsis_frame::{SourceOptions, SourceSpec};

/// Arguments of `calibrate`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CalibrateArgs {
    /// Images of the board: a folder of pairs, a recording (.mcap, .db3), or the views kept by an earlier calibration
    #[arg(value_name = "PATH", conflicts_with = "source", num_args = 0..)]
    pub(super) inputs: Vec<PathBuf>,
    /// Cameras to calibrate live: webcam:0,1, or webcam:0 (one camera, side by side)
    #[arg(long, value_name = "SOURCE")]
    pub(super) source: Option<String>,
    /// Calibration file to write: .toml, or .yml, .xml of OpenCV
    ///
    /// A folder beside it gets the calibration for ROS and Kalibr, a report and the views.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Lens model: radtan (4 coefficients), pinhole (5), rational (8) or fisheye (4) [default: the one that explains views best that it has not seen]
    #[arg(long, hide_short_help = true, value_name = "MODEL")]
    pub(super) model: Option<LensKind>,
    /// Keep both cameras of this calibration and solve for their relative pose alone
    ///
    /// A few views suffice.
    #[arg(long, value_name = "FILE[,FILE]", value_parser = separated())]
    pub(super) keep_cameras: Vec<Files>,
    /// Measure how far this rig has moved, instead of writing one
    ///
    /// Without --board by the images alone.
    #[arg(long, value_name = "FILE[,FILE]", value_parser = separated(), conflicts_with_all = ["output", "keep_cameras"])]
    pub(super) check: Vec<Files>,
    /// Write a calibration that is refused, marked as an estimate
    #[arg(long)]
    pub(super) force: bool,
    #[arg(long, help = OVERWRITE)]
    pub(super) overwrite: bool,
    /// Live: end after so many views [default: when depth at 2 m is within 1 %, or at Ctrl-C]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) views: Option<u64>,
    /// The folders, or the cameras, are in the wrong order: left is right
    #[arg(long, hide_short_help = true)]
    pub(super) swap_pictures: bool,
    /// Print JSON instead of lines
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) board: BoardArgs,
    /// Size of each image, asked from cameras
    #[arg(long, hide_short_help = true, value_name = "WxH", value_parser = parse_size, help_heading = "Source")]
    pub(super) size: Option<(usize, usize)>,
    #[command(flatten)]
    pub(super) topics: TopicArgs,
    #[command(flatten)]
    pub(super) both_views: BothViewsArgs,
    #[command(flatten)]
    pub(super) cameras: CameraArgs,
}

/// Board, and how it is printed.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Board")]
pub(super) struct BoardArgs {
    /// Write a board to print: .pdf or .svg
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inputs", "source", "output", "check"])]
    pub(super) print_board: Option<PathBuf>,
    /// Sheet of the board: A4, A3, letter, or a screen's size such as 1920x1080
    #[arg(long, hide_short_help = true, value_name = "PAPER", default_value = "A4")]
    pub(super) paper: Paper,
    /// Kind of the board, where --board does not name it
    #[arg(long, hide_short_help = true, value_name = "KIND", default_value = "charuco", value_parser = choice(BoardKind::ALL, BoardKind::word, BoardKind::help))]
    pub(super) kind: BoardKind,
    /// Board: chessboard:…, charuco:…, aprilgrid:… or a target file of Kalibr [default: board.txt beside the views]
    ///
    /// chessboard:9x6:25mm has inner corners and the side of a square; charuco:11x8:30mm:23mm:DICT_5X5_100 squares, the sides of a
    /// square and of a marker, and a dictionary; aprilgrid:6x6:88mm:26.4mm tags, the side of a tag and the gap between tags.
    #[arg(long, value_name = "WORDS", value_parser = board)]
    pub(super) board: Option<Board>,
    /// Measured side of a square, or of an AprilGrid's tag, mm
    ///
    /// Measure ten squares across and down.
    #[arg(long, value_name = "MM", value_parser = positive)]
    pub(super) square_mm: Option<f64>,
}

/// Parses a board from its words, or from the file that describes it to Kalibr.
fn board(words: &str) -> anyhow::Result<Board> {
    let path = Path::new(words);
    if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
        let text = plain::read_text(path).map_err(|err| anyhow!("cannot read {}: {err}", console::path(path)))?;
        return Ok(Board::from_kalibr(&text)?);
    }
    Ok(words.parse()?)
}

impl BoardArgs {
    /// Returns the board in the images; `folder` may contain its file.
    ///
    /// # Errors
    /// No board is named.
    pub(super) fn board(&self, folder: Option<&Path>) -> anyhow::Result<Board> {
        let beside = folder.map(|folder| folder.join(BOARD_FILE)).filter(|file| file.is_file());
        let board = match (self.board, beside) {
            (Some(board), _) => board,
            (None, Some(file)) => {
                let text = plain::read_text(&file)
                    .with_context(|| format!("cannot read {}", file.display()))?
                    .trim()
                    .to_owned();
                console::say(format_args!("the board is {}, by {}", console::foreign(&text), file.display()));
                text.parse()?
            }
            (None, None) => {
                return refuse(
                    "which board do the images show? Name it with --board, in the words that are printed on it, such as \
                     --board charuco:10x7:26mm:19.5mm:DICT_5X5_100 or --board chessboard:9x6:25mm (inner corners); \
                     --print-board board.pdf prints one",
                );
            }
        };
        Ok(self.square_mm.map_or(board, |mm| board.with_square_mm(mm)))
    }
}

impl CalibrateArgs {
    /// Returns the source of the images.
    ///
    /// # Errors
    /// No source that can be opened is named.
    pub(super) fn spec(&self) -> anyhow::Result<SourceSpec> {
        let spec = match &self.source {
            Some(words) => SourceSpec::parse(words)?,
            None if self.inputs.is_empty() => {
                return refuse(
                    "what shall be calibrated? Give a folder of pairs or a recording of the board, or cameras: --source webcam:0,1; \
                     first print a board: --print-board board.pdf",
                );
            }
            None => self.both_views.of_paths(&self.inputs)?,
        };
        self.both_views.check(&spec)?;
        if spec == SourceSpec::Scene {
            return refuse("the built-in scene shows no board, and is calibrated already");
        }
        spec.check_files_exist()?;
        Ok(spec)
    }

    /// Returns options for a source that is read from its start to its end; cameras with 30 pairs per second.
    pub(super) fn source_options(&self) -> SourceOptions {
        let mut options = SourceOptions { size: self.size, rate_hz: Some(30.0), ..self.topics.options() };
        self.both_views.fill(&mut options);
        options.swapped_views = self.swap_pictures;
        self.cameras.fill(&mut options.cameras);
        options
    }

    /// Returns the board, the models and other facts that the flags give.
    pub(super) fn request(&self) -> anyhow::Result<CalibrationRequest> {
        let kept = match &self.keep_cameras[..] {
            [] => None,
            files => {
                let rig = load(&Files::all(files), &LoadOptions::default())?;
                Some([rig.left, rig.right])
            }
        };
        Ok(CalibrationRequest { kind: self.model, kept })
    }

    /// Checks that the output can be written, before any work.
    pub(super) fn check_output(&self) -> anyhow::Result<()> {
        let Some(output) = &self.output else { return Ok(()) };
        let known = ["toml", "yml", "yaml", "xml"];
        if !output.extension().is_some_and(|ending| known.iter().any(|known| ending == *known)) {
            let name = output.display();
            return refuse(format!("{name} names no kind of calibration: end it with .toml, .yml or .xml"));
        }
        let mut outputs = Outputs::new(&self.inputs, self.overwrite);
        paths_of(output).iter().try_for_each(|path| outputs.add(path))?;
        Ok(())
    }
}
