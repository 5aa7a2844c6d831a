//! Flags that say what is wished of cameras.

use stereopsis_base::parameter::ValueError;
use stereopsis_frame::decode_camera::PixelFormat;
use stereopsis_frame::{CameraApi, CameraOptions, ControlSettings, Orientation, PowerLine, Setting};

/// Camera settings; those that are not given stay as the camera has them.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Cameras")]
pub(super) struct CameraArgs {
    /// Camera interface: system, which is V4L2 on Linux, or nokhwa
    #[arg(long, hide_short_help = true, value_name = "WORD")]
    camera_api: Option<CameraApi>,
    /// Pixel format: yuyv, nv12, grey, mjpeg or y16 [default: the one with the requested size and rate]
    #[arg(long, hide_short_help = true, value_name = "WORD")]
    format: Option<PixelFormat>,
    /// Orientation of the cameras, left and right or one word for both: upright, rotate-180, flip-x, flip-y
    #[arg(long, hide_short_help = true, value_name = "WORD[,WORD]", value_parser = orientations)]
    orientation: Option<[Orientation; 2]>,
    /// One camera side by side: the right image is in the left half of its frames
    #[arg(long, hide_short_help = true)]
    swap_halves: bool,
    /// Exposure time, ms, or auto; short times freeze motion
    #[arg(long, hide_short_help = true, value_name = "auto|MS", value_parser = exposure)]
    exposure_ms: Option<Setting<f64>>,
    /// Gain, in the driver's steps (`stereopsis devices` says which), or auto
    #[arg(long, hide_short_help = true, value_name = "auto|N")]
    gain: Option<Setting<i64>>,
    /// White balance, K, or auto
    #[arg(long, hide_short_help = true, value_name = "auto|K")]
    white_balance_k: Option<Setting<i64>>,
    /// Focus, in the driver's steps, or auto [default: as it is; fixed with a calibration]
    #[arg(long, hide_short_help = true, value_name = "auto|N")]
    focus: Option<Setting<i64>>,
    /// Flicker of lamps to filter: off, 50, 60 (the Americas), auto
    #[arg(long, hide_short_help = true, value_name = "off|50|60|auto")]
    power_line_hz: Option<PowerLine>,
    /// Lock exposure, gain and white balance of both cameras to the left one's values after 2 s
    #[arg(long, hide_short_help = true, conflicts_with_all = ["exposure_ms", "gain", "white_balance_k"])]
    equal_exposure: bool,
}

impl CameraArgs {
    /// Applies the given flags over the options.
    pub(super) fn fill(&self, options: &mut CameraOptions) {
        let controls = ControlSettings {
            exposure_ms: self.exposure_ms,
            gain: self.gain,
            white_balance_k: self.white_balance_k,
            focus: self.focus,
            power_line: self.power_line_hz,
        };
        for (i, eye) in options.views.iter_mut().enumerate() {
            eye.controls = controls.or(&eye.controls);
            eye.orientation = self.orientation.map_or(eye.orientation, |both| both[i]);
        }
        options.api = self.camera_api.unwrap_or(options.api);
        options.format = self.format.or(options.format);
        options.swapped_halves |= self.swap_halves;
        options.equal_exposure |= self.equal_exposure;
    }
}

/// Parses `rotate-180`, or `upright,rotate-180`.
fn orientations(text: &str) -> Result<[Orientation; 2], ValueError> {
    let member = |word: &str| word.trim().parse::<Orientation>();
    match text.split_once(',') {
        Some((left, right)) => Ok([member(left)?, member(right)?]),
        None => member(text).map(|both| [both; 2]),
    }
}

fn exposure(text: &str) -> Result<Setting<f64>, ValueError> {
    match text.parse::<Setting<f64>>()? {
        Setting::Fixed(ms) if !(ms > 0.0 && ms.is_finite()) => {
            Err(ValueError::Expected("auto, or milliseconds above 0"))
        }
        wish => Ok(wish),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use stereopsis_frame::ViewOptions;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        cameras: CameraArgs,
    }

    fn parse(words: &str) -> Result<CameraOptions, String> {
        let line = Line::try_parse_from(std::iter::once("x").chain(words.split_whitespace()));
        let filled = |line: Line| {
            let mut options = CameraOptions::default();
            line.cameras.fill(&mut options);
            options
        };
        line.map(filled).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_become_options_of_both_cameras() {
        let options =
            parse("--exposure-ms 8.3 --gain 20 --white-balance-k auto --focus 35 --power-line-hz 50").unwrap();
        let controls = ControlSettings {
            exposure_ms: Some(Setting::Fixed(8.3)),
            gain: Some(Setting::Fixed(20)),
            white_balance_k: Some(Setting::Auto),
            focus: Some(Setting::Fixed(35)),
            power_line: Some(PowerLine::Hz50),
        };
        assert_eq!(options.views, [controls; 2].map(|controls| ViewOptions { controls, ..ViewOptions::default() }));
        assert!(parse("--format y16").is_ok_and(|o| o.format == Some(PixelFormat::Y16)));
        assert_eq!(parse(""), Ok(CameraOptions::default()));
        assert!(parse("--equal-exposure --swap-halves").is_ok_and(|o| o.equal_exposure && o.swapped_halves));
    }

    #[test]
    fn one_orientation_applies_to_both_cameras() {
        let eyes = |words| parse(words).map(|o| o.views.map(|eye| eye.orientation));
        assert_eq!(eyes("--orientation rotate-180"), Ok([Orientation::HalfTurn; 2]));
        assert_eq!(eyes("--orientation upright,flip-y"), Ok([Orientation::Upright, Orientation::FlipY]));
    }

    #[test]
    fn impossible_flags_are_refused() {
        let refused = |words, why: &str| assert!(parse(words).is_err_and(|text| text.contains(why)), "{words}");
        refused("--format jpg", "expected one of yuyv, nv12, grey, mjpeg, y16");
        refused("--exposure-ms 0", "milliseconds above 0");
        refused("--exposure-ms NaN", "expected auto or a number");
        refused("--orientation left", "expected one of upright, rotate-180, flip-x, flip-y");
        refused("--power-line-hz 55", "expected one of off, 50, 60, auto");
        refused("--focus far", "expected auto or a number");
        refused("--equal-exposure --exposure-ms 8", "cannot be used with");
    }
}
