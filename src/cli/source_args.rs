//! Flags that say where pairs come from and how the rig is calibrated.

use super::camera_args::CameraArgs;
use crate::calibration::{self, LengthUnit, LoadOptions, Rectifier, StereoRig};
use crate::capture::scene::SceneOptions;
use crate::capture::{Rectify, Scale, SourceInfo, SourceOptions};
use crate::frame::Geometry;
use anyhow::Context as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Where pairs come from.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Source")]
pub(super) struct SourceArgs {
    /// Size of each eye: of the scene to render, or asked from cameras
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub(super) size: Option<(usize, usize)>,
    /// Pairs per second, or max for as fast as they are matched [default: 30, files in `compute`: max]
    #[arg(long, value_name = "HZ|max", value_parser = rate)]
    pub(super) rate: Option<Rate>,
    /// Play files once instead of again and again
    #[arg(long)]
    pub(super) once: bool,
    /// Seed of the scene's textures and noise
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) scene_seed: u32,
    /// Noise of the scene's cameras, grey levels (standard deviation)
    #[arg(long, value_name = "LEVELS", default_value_t = 0.0)]
    pub(super) scene_noise: f64,
    /// Brightness of the scene's right picture relative to the left one
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(super) scene_exposure: f64,
    /// Vertical misalignment of the scene's right camera, px
    #[arg(long, value_name = "PX", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(super) scene_vertical_px: f64,
    /// Baseline of the scene's rig, m
    #[arg(long, value_name = "METRES")]
    pub(super) scene_baseline_m: Option<f64>,
    #[command(flatten)]
    pub(super) cameras: CameraArgs,
}

/// How a rate was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rate {
    /// Pairs per second.
    Hz(f64),
    /// As fast as they are taken.
    Max,
}

impl SourceArgs {
    /// Options for opening the source; `default_rate_hz` where `--rate` was not given.
    pub(super) fn options(&self, default_rate_hz: Option<f64>, looped: bool, color: bool) -> SourceOptions {
        let rate_hz = match self.rate {
            Some(Rate::Hz(hz)) => Some(hz),
            Some(Rate::Max) => None,
            None => default_rate_hz,
        };
        let scene = SceneOptions {
            seed: self.scene_seed,
            noise: self.scene_noise,
            exposure: self.scene_exposure,
            vertical_px: self.scene_vertical_px,
            ..SceneOptions::default()
        };
        let baseline_m = self.scene_baseline_m.unwrap_or(scene.baseline_m);
        let scene = SceneOptions { baseline_m, ..scene };
        SourceOptions {
            size: self.size,
            rate_hz,
            looped: looped && !self.once,
            color,
            cameras: self.cameras.options(),
            scene,
        }
    }
}

/// How the rig is calibrated.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Calibration")]
pub(super) struct CalibrationArgs {
    /// Stereo calibration of OpenCV, ROS, Kalibr, ZED, Middlebury or our own TOML; two files as LEFT,RIGHT or
    /// INTRINSICS,EXTRINSICS
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    pub(super) calibration: Vec<PathBuf>,
    /// Unit of the calibration's lengths: m, cm, mm, or the length of one unit in metres [default: what the file says,
    /// else what makes a plausible baseline]
    #[arg(long, value_name = "m|cm|mm|SIZE", requires = "calibration")]
    pub(super) calibration_unit: Option<LengthUnit>,
    /// Exchange left and right of the calibration
    #[arg(long, requires = "calibration")]
    pub(super) calibration_swap: bool,
    /// Working size of the matching; the calibration follows
    #[arg(long, default_value = "1", value_name = "1|1/2|1/4", value_parser = scale)]
    pub(super) scale: Scale,
    /// The pictures are rectified already: use the calibration for depth only
    #[arg(long)]
    pub(super) rectified: bool,
    /// Focal length of rectified pictures, px, where there is no calibration file
    #[arg(long, value_name = "PX", requires = "baseline_m", conflicts_with = "calibration", value_parser = positive)]
    pub(super) focal_px: Option<f64>,
    /// Distance between the cameras, m
    #[arg(long, value_name = "METRES", requires = "focal_px", value_parser = positive)]
    pub(super) baseline_m: Option<f64>,
    /// Difference of the principal points, right minus left, px
    #[arg(long, value_name = "PX", default_value_t = 0.0, requires = "focal_px", allow_negative_numbers = true)]
    pub(super) doffs: f64,
}

/// A calibration applied to a source.
#[derive(Clone, Default)]
pub(super) struct Rig {
    /// Rectifies raw pairs; `None` where they are rectified already.
    pub(super) rectifier: Option<Arc<dyn Rectify>>,
    /// Depth at the source's size, where there is no rectifier.
    pub(super) geometry: Option<Geometry>,
    /// What a person should confirm: baseline, unit, scaling.
    pub(super) note: Option<String>,
}

impl CalibrationArgs {
    /// The same as words of a command line, without those at their defaults.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |flag: &str, value: String| words.extend([format!("--{flag}"), value]);
        if !self.calibration.is_empty() {
            let files: Vec<_> = self.calibration.iter().map(|path| path.display().to_string()).collect();
            add("calibration", files.join(","));
            if let Some(unit) = self.calibration_unit {
                add("calibration-unit", unit.to_string());
            }
        }
        if self.scale != Scale::One {
            add("scale", self.scale.to_string());
        }
        if let (Some(focal_px), Some(baseline_m)) = (self.focal_px, self.baseline_m) {
            add("focal-px", focal_px.to_string());
            add("baseline-m", baseline_m.to_string());
            add("doffs", self.doffs.to_string());
        }
        if self.calibration_swap {
            words.push("--calibration-swap".to_owned());
        }
        if self.rectified {
            words.push("--rectified".to_owned());
        }
        words
    }

    /// Loads the calibration for pictures of the source's size.
    ///
    /// # Errors
    /// A file that cannot be used, or one for another shape of picture.
    pub(super) fn rig(&self, source: &SourceInfo) -> anyhow::Result<Rig> {
        if let (Some(focal_px), Some(baseline_m)) = (self.focal_px, self.baseline_m) {
            let (cx_px, cy_px) = ((source.width as f64 - 1.0) / 2.0, (source.height as f64 - 1.0) / 2.0);
            let geometry = Geometry { focal_px, baseline_m, doffs_px: self.doffs, cx_px, cy_px, estimated: false };
            return Ok(Rig { geometry: Some(geometry), ..Rig::default() });
        }
        if self.calibration.is_empty() {
            return Ok(Rig::default());
        }
        let size = Some((source.width, source.height));
        let options = LoadOptions { unit: self.calibration_unit, swapped: self.calibration_swap, size };
        let rig: StereoRig = calibration::load(&self.calibration, &options)?;
        let rectifier: Rectifier = rig
            .rectifier(source.width, source.height, 0.0)
            .with_context(|| format!("the calibration does not fit source '{}'", source.name))?;
        let mut note = rig.summary();
        if let Some(scaling) = rectifier.note() {
            note = format!("{note}; {scaling}");
        }
        let note = Some(note);
        if self.rectified {
            return Ok(Rig { rectifier: None, geometry: Some(rectifier.geometry()), note });
        }
        Ok(Rig { geometry: None, rectifier: Some(Arc::new(rectifier)), note })
    }
}

fn scale(text: &str) -> Result<Scale, String> {
    Scale::from_word(text).ok_or_else(|| "expected 1, 1/2 or 1/4".to_owned())
}

/// `640x480`.
pub(super) fn size(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    parsed
        .filter(|&(w, h): &(usize, usize)| (1..=16_384).contains(&w) && (1..=16_384).contains(&h))
        .ok_or_else(|| "expected WIDTHxHEIGHT, each from 1 to 16384, such as 640x480".to_owned())
}

fn rate(text: &str) -> Result<Rate, String> {
    if text == "max" {
        return Ok(Rate::Max);
    }
    let hz = text.parse().ok().filter(|hz: &f64| hz.is_finite() && *hz > 0.0 && *hz <= 1000.0);
    hz.map(Rate::Hz).ok_or_else(|| "expected pairs per second above 0, or max".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0).ok_or_else(|| "expected a number above 0".to_owned())
}
