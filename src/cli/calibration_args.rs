//! Flags that say how pairs become rectified and metric.

use super::error::refuse;
use super::lens_args::LensArgs;
use super::values::{Files, choice, existing_files, positive, separated, share};
use anyhow::Context as _;
use std::path::PathBuf;
use stereopsis_base::console;
use stereopsis_calibration::{Cameras, Crop, FocalLength, LengthUnit, ModeCrop, RowsChoice, check_readable};
use stereopsis_frame::Scale;
use stereopsis_settings::rig::{CalibrationChoice, KnownPlace, RectifyChoice, RigFile};

/// Reading of calibration files, and rectification.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ReadingArgs {
    /// Unit of the calibration's translation: m, cm, mm, or one unit in metres [default: that of the file; else m or mm,
    /// whichever gives a plausible baseline]
    #[arg(long, hide_short_help = true, value_name = "m|cm|mm|SIZE")]
    pub(super) calibration_unit: Option<LengthUnit>,
    /// The file's left camera is the right one
    #[arg(long, hide_short_help = true)]
    pub(super) calibration_swap: bool,
    /// Left and right camera of a file that holds several, by number or name, such as 0,1
    ///
    /// [default: the cameras of the images' folders, such as image_2 and image_3 of KITTI; else those that the file or its kind
    /// suggests, with a remark]
    #[arg(long, hide_short_help = true, value_name = "LEFT,RIGHT")]
    pub(super) calibration_cameras: Option<Cameras>,
    /// Where the images lie in those of the calibration, for a mode that is a crop: column and row of its corner, or centre
    ///
    /// Images of 1280x720 show the rows from 40 on of a calibration for 1280x800: --calibration-crop centre, or 0,40. Images that are
    /// larger than those of the calibration have a corner below 0.
    #[arg(long, hide_short_help = true, value_name = "X,Y|centre")]
    pub(super) calibration_crop: Option<ModeCrop>,
    /// Share of the images that rectification keeps: 0 no black border, 1 every pixel [default: 0]
    #[arg(long, hide_short_help = true, value_name = "0..1", value_parser = share)]
    pub(super) alpha: Option<f64>,
    /// Field of view of the rectified images along a row, degrees, instead of --alpha
    ///
    /// A smaller one shows the middle of a wide lens larger.
    #[arg(long, hide_short_help = true, value_name = "DEGREES", conflicts_with = "alpha", value_parser = rectified_fov)]
    pub(super) rectified_fov_deg: Option<f64>,
}

fn rectified_fov(text: &str) -> anyhow::Result<f64> {
    let fov_deg = text.parse().context("expected degrees, such as 90")?;
    Crop { rectified_fov_deg: Some(fov_deg), ..Crop::default() }.validate()?;
    Ok(fov_deg)
}

/// A rig file, and flags that win over it, for commands that match pairs of files.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct RigArgs {
    /// Use the calibration of a rig file; flags win over it
    #[arg(long, hide_short_help = true, value_name = "FILE.toml", help_heading = "Calibration")]
    pub(super) rig: Option<PathBuf>,
    #[command(flatten)]
    calibration: CalibrationArgs,
}

impl RigArgs {
    /// Reads the rig file, if one was named.
    ///
    /// # Errors
    /// The rig file cannot be used, or flags do not go together.
    pub(super) fn choice(&self) -> anyhow::Result<CalibrationChoice> {
        let rig = self.rig.as_deref().map(RigFile::read).transpose()?.unwrap_or_default();
        self.calibration.over(rig.calibration, Vec::new())
    }
}

/// Calibration of the rig.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Calibration")]
pub(super) struct CalibrationArgs {
    /// Stereo calibration: OpenCV, ROS, Kalibr, ZED, KITTI, others, or our TOML
    ///
    /// LEFT,RIGHT or INTRINSICS,EXTRINSICS for two files.
    #[arg(long, value_name = "FILE", value_parser = separated(), conflicts_with = "lens")]
    calibration: Vec<Files>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Rectification of the pairs; auto estimates it [default: calibration where there is one, else off]
    #[arg(long, hide_short_help = true, value_name = "HOW", value_parser = choice(RectifyChoice::ALL, RectifyChoice::word, RectifyChoice::help))]
    rectify: Option<RectifyChoice>,
    #[command(flatten)]
    lens: LensArgs,
    /// Distance between the lenses, m, without a calibration: by a ruler
    #[arg(long, hide_short_help = true, value_name = "METRES", conflicts_with = "calibration", value_parser = positive)]
    baseline_m: Option<f64>,
    /// Difference of the principal points of rectified images, right minus left, px
    #[arg(long, hide_short_help = true, value_name = "PX", requires = "lens")]
    doffs: Option<f64>,
    /// What the rectified left image shows at a pixel is this far from the cameras, by a ruler; repeat for more places
    ///
    /// X,Y are column and row at the working size. One place corrects how much the cameras look towards each other, with lens and baseline
    /// trusted; two, one near and one far, correct lens and baseline too. Depth stays labelled as an estimate.
    #[arg(long = "known-distance", hide_short_help = true, value_name = "X,Y:METRES")]
    known: Vec<KnownPlace>,
    /// Exchange the left and the right image
    ///
    /// --calibration-swap exchanges the sides of the calibration.
    #[arg(long, hide_short_help = true)]
    swap_pictures: bool,
    /// The cameras stand one above the other; the left image is the upper one
    ///
    /// Calibration files contain this themselves.
    #[arg(long, hide_short_help = true)]
    vertical: bool,
    /// Correction of row errors that rectification leaves, or rectified images have [default: auto]
    #[arg(long, hide_short_help = true, value_name = "HOW", value_parser = choice(RowsChoice::ALL, RowsChoice::word, RowsChoice::help))]
    rows: Option<RowsChoice>,
    /// Correct a calibrated rig that has changed since, by its own images
    ///
    /// From several different views, never from one. Cameras are corrected while they run.
    #[arg(long, hide_short_help = true)]
    self_calibrate: bool,
    /// Working size of the matching; the calibration follows [default: 1]
    #[arg(long, hide_short_help = true, value_name = "SIZE", value_parser = choice(Scale::ALL, Scale::word, Scale::help))]
    scale: Option<Scale>,
    /// Image of the size of a view, black where it shows no scene, such as a bar, a clock or dirt: nothing is matched there
    ///
    /// LEFT,RIGHT for a mask of each view. Masks lie on the images as the source has them, before rectification.
    #[arg(long, hide_short_help = true, value_name = "FILE", value_parser = existing_files())]
    mask: Vec<Files>,
}

impl CalibrationArgs {
    /// Applies the flags, or calibration files among the paths, to the calibration of a rig file. Another calibration replaces all of the
    /// rig's.
    ///
    /// # Errors
    /// They cannot be combined, or a file is missing or cannot be read, even if the source will not need it.
    pub(super) fn over(&self, rig: CalibrationChoice, paths: Vec<PathBuf>) -> anyhow::Result<CalibrationChoice> {
        let focal = self.lens.focal();
        if let Some(path) = paths.first()
            && (!self.calibration.is_empty() || focal.is_some() || self.baseline_m.is_some())
        {
            let text = "is a calibration: leave it out, or --calibration, the lens and --baseline-m";
            return refuse(format!("{} {text}", console::path(path)));
        }
        let files = if paths.is_empty() { Files::all(&self.calibration) } else { paths };
        let of_files = !rig.files.is_empty();
        let own = !files.is_empty() || self.rectify == Some(RectifyChoice::Auto) || (focal.is_some() && of_files);
        let mut base = if own {
            // a kept field corrects only its own calibration
            let rows = rig.rows.filter(|rows| *rows != RowsChoice::Field);
            let CalibrationChoice { scale, swap_pictures, vertical, mask, .. } = rig;
            CalibrationChoice { rows, scale, swap_pictures, vertical, mask, ..CalibrationChoice::default() }
        } else {
            rig
        };
        if focal.is_some() {
            base.set_focal(focal);
            base.depth_fit = None; // belongs to another lens
        }
        if !self.known.is_empty() {
            base.depth_fit = None; // is made anew
        }
        let choice = CalibrationChoice {
            files: if files.is_empty() { base.files } else { files },
            unit: self.reading.calibration_unit.or(base.unit),
            swapped: self.reading.calibration_swap || base.swapped,
            cameras: self.reading.calibration_cameras.clone().or(base.cameras),
            mode_crop: self.reading.calibration_crop.or(base.mode_crop),
            swap_pictures: self.swap_pictures || base.swap_pictures,
            vertical: self.vertical || base.vertical,
            alpha: self.reading.alpha.unwrap_or(if self.reading.rectified_fov_deg.is_some() {
                0.0
            } else {
                base.alpha
            }),
            rectified_fov_deg: self
                .reading
                .rectified_fov_deg
                .or(base.rectified_fov_deg.filter(|_| self.reading.alpha.is_none())),
            rectify: self.rectify.or(base.rectify),
            baseline_m: self.baseline_m.or(base.baseline_m),
            doffs_px: self.doffs.unwrap_or(base.doffs_px),
            known: self.known.clone(),
            rows: self.rows.or(base.rows),
            scale: self.scale.unwrap_or(base.scale),
            mask: if self.mask.is_empty() { base.mask } else { Files::all(&self.mask) },
            self_calibrate: self.self_calibrate || base.self_calibrate,
            ..base
        };
        check(&choice)?;
        check_readable(&choice.files)?;
        Ok(choice)
    }
}

/// Checks whether a choice is consistent; the error describes what is missing or contradictory.
fn check(choice: &CalibrationChoice) -> anyhow::Result<()> {
    let auto = choice.rectify() == RectifyChoice::Auto;
    match (choice.focal(), choice.baseline_m) {
        (Some(focal), None) if !auto => refuse(format!(
            "{} needs --baseline-m: both make metres of disparities; or --rectify auto, which needs neither",
            flag(focal)
        )),
        _ if choice.rows == Some(RowsChoice::Field) && choice.row_field.is_none() => refuse(
            "--rows field needs a rig file that keeps a field (--rig; the window saves one: Rig, Keep these rows)",
        ),
        (None, Some(_)) if !auto => {
            refuse("--baseline-m needs the lens (--fov-deg, --focal-px or --focal-mm), or --rectify auto")
        }
        _ if choice.mode_crop.is_some() && choice.files.is_empty() => {
            refuse("--calibration-crop needs --calibration: it says where the images lie in those of the calibration")
        }
        _ if choice.self_calibrate && choice.files.is_empty() => refuse(
            "--self-calibrate needs --calibration: it corrects a calibrated rig by its images; without one take --rectify auto",
        ),
        _ if auto && !choice.files.is_empty() => {
            refuse("--rectify auto finds out what --calibration says; give one of them")
        }
        _ => Ok(()),
    }
}

/// Returns the flag of a kind of lens.
fn flag(focal: FocalLength) -> &'static str {
    match focal {
        FocalLength::FovDeg(_) => "--fov-deg",
        FocalLength::Px(_) => "--focal-px",
        FocalLength::Lens { .. } => "--focal-mm",
    }
}
