//! Factory calibration of a ZED camera: an INI file with a section for each view and picture size. Lengths are in
//! millimetres. The rotation is a vector RX, CV, RZ (axis times angle, left to right); the baseline is counted from left to
//! right, so OpenCV's T is its negative.

use super::tree::{MAX_KEYS, number};
use super::{Kind, draft::Draft};
use crate::console::foreign;
use crate::{CalibrationError, Camera, Distortion, LengthUnit, StereoRig};
use glam::{DMat3, DQuat, DVec3};
use std::collections::HashMap;

/// Longest line, bytes.
const MAX_LINE_BYTES: usize = 1000;
/// ZED's names of its picture sizes, per view.
const SIZES: &[(&str, usize, usize)] = &[
    ("2k", 2208, 1242),
    ("fhd", 1920, 1080),
    ("fhd1200", 1920, 1200),
    ("hd", 1280, 720),
    ("svga", 960, 600),
    ("vga", 672, 376),
];

/// Whether a text is a ZED calibration.
pub(super) fn recognizes(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().to_lowercase().starts_with("[left_cam"))
}

/// Reads the calibration for pictures of `size` per view, or of the same aspect ratio.
pub(super) fn read(text: &str, size: Option<(usize, usize)>) -> Result<Draft, CalibrationError> {
    let ini = Ini::parse(text)?;
    let there: Vec<_> = SIZES.iter().filter(|(word, ..)| ini.has_section(&format!("left_cam_{word}"))).collect();
    let all: Vec<_> = there.iter().map(|(word, w, h)| format!("{} {w}x{h}", word.to_uppercase())).collect();
    let all = all.join(", ");
    let Some((width, height)) = size else {
        return Err(CalibrationError(format!(
            "a ZED's file has calibrations for several picture sizes ({all}); say which with --size, such as --size 1280x720"
        )));
    };
    // the same aspect ratio up to a row; the smallest that is large enough, else the largest
    let mut same_shape: Vec<_> =
        there.iter().filter(|(_, w, h)| (h * width).abs_diff(w * height) <= (*w).max(width)).collect();
    same_shape.sort_by_key(|(_, w, _)| *w);
    let Some((word, own_width, own_height)) =
        same_shape.iter().find(|(_, w, _)| *w >= width).or(same_shape.last()).map(|found| **found)
    else {
        return Err(CalibrationError(format!(
            "the ZED's file has calibrations for {all}, none of the shape of pictures of {width}x{height} per eye; choose \
             another camera mode"
        )));
    };
    let rotation = DVec3::new(
        ini.number("stereo", &format!("rx_{word}"))?,
        ini.number("stereo", &format!("cv_{word}"))?,
        ini.number("stereo", &format!("rz_{word}"))?,
    );
    let along = |name: &str| match ini.optional("stereo", &format!("{name}_{word}"))? {
        Some(value) => Ok(value),
        None => ini.optional("stereo", name).map(Option::unwrap_or_default),
    };
    let translation = -DVec3::new(ini.number("stereo", "baseline")?, along("ty")?, along("tz")?);
    let rig = StereoRig::new(
        camera(&ini, &format!("left_cam_{word}"))?,
        camera(&ini, &format!("right_cam_{word}"))?,
        DMat3::from_quat(DQuat::from_scaled_axis(rotation)),
        translation,
        Some((*own_width, *own_height)),
    );
    Ok(Draft { rig: StereoRig { kind: Kind::Zed, ..rig }, unit: Some(LengthUnit::Millimetre) })
}

fn camera(ini: &Ini, section: &str) -> Result<Camera, CalibrationError> {
    let mut lens = Vec::new();
    for name in ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"] {
        lens.push(ini.optional(section, name)?.unwrap_or_default());
    }
    Ok(Camera {
        fx: ini.number(section, "fx")?,
        fy: ini.number(section, "fy")?,
        cx: ini.number(section, "cx")?,
        cy: ini.number(section, "cy")?,
        distortion: Distortion::from_opencv(section, &lens)?,
    })
}

/// Values by section and key, both in lower case.
struct Ini {
    values: HashMap<(String, String), String>,
}

impl Ini {
    fn parse(text: &str) -> Result<Self, CalibrationError> {
        let mut values = HashMap::new();
        let mut section = String::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.split(['#', ';']).next().unwrap_or_default().trim();
            let error = |text: &str| Err(CalibrationError(format!("line {}: {text}", n + 1)));
            if values.len() > MAX_KEYS || line.len() > MAX_LINE_BYTES {
                return error("is too long, or one of more than any such file has");
            }
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']').trim().to_lowercase();
            } else if let Some((key, value)) = line.split_once('=') {
                let key = (section.clone(), key.trim().to_lowercase());
                let what = format!("[{}] {}", key.0, key.1);
                if values.insert(key, value.trim().to_owned()).is_some() {
                    return error(&format!("{} is there twice; keep the one that is meant", foreign(&what)));
                }
            } else if !line.is_empty() {
                return error("is neither [SECTION] nor key=value; take a copy that is whole");
            }
        }
        Ok(Self { values })
    }

    fn has_section(&self, section: &str) -> bool {
        self.values.keys().any(|(name, _)| name == section)
    }

    fn optional(&self, section: &str, key: &str) -> Result<Option<f64>, CalibrationError> {
        let Some(text) = self.values.get(&(section.to_owned(), key.to_owned())) else { return Ok(None) };
        match number(text) {
            Some(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(CalibrationError(format!(
                "[{section}] {key} is '{}', no number; numbers are written with a point: take a copy that is whole",
                foreign(text)
            ))),
        }
    }

    fn number(&self, section: &str, key: &str) -> Result<f64, CalibrationError> {
        self.optional(section, key)?
            .ok_or_else(|| CalibrationError(format!("[{section}] {key} is missing; take a copy that is whole")))
    }
}
