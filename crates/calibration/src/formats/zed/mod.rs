//! Calibration of a ZED camera: an INI file with a section for each view and image size. Lengths are in millimetres. The lens is in
//! `LEFT_DISTO` and `RIGHT_DISTO` for all sizes, or in the section of each size. The rotation is a vector RX, CV, RZ (axis times angle,
//! left to right), and OpenCV's T is (-Baseline, TY, TZ), as zed-opencv-calibration writes them.

use super::error::{LineError, LineFault};
use super::tree::{MAX_KEYS, number};
use super::{FileError, ValueError, ValueFault};
use super::{Kind, draft::Draft};
use crate::{Camera, Distortion, LengthUnit, StereoRig};
use glam::{DMat3, DQuat, DVec3};
use std::collections::HashMap;
use stereopsis_base::console::foreign;

const MAX_LINE_BYTES: usize = 1000;
/// Names of the image sizes per view.
const SIZES: &[(&str, usize, usize)] = &[
    ("4k", 3840, 2160),
    ("qhdplus", 3200, 1800),
    ("2k", 2208, 1242),
    ("fhd", 1920, 1080),
    ("fhd1200", 1920, 1200),
    ("hd", 1280, 720),
    ("svga", 960, 600),
    ("vga", 672, 376),
];

pub(super) fn recognizes(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().to_lowercase().starts_with("[left_cam"))
}

/// Reads the calibration for images of `size` per view, or of the same aspect ratio.
pub(super) fn read(text: &str, size: Option<(usize, usize)>) -> Result<Draft, FileError> {
    let ini = Ini::parse(text)?;
    let there: Vec<_> = SIZES.iter().filter(|(word, ..)| ini.has_section(&format!("left_cam_{word}"))).collect();
    let all: Vec<_> = there.iter().map(|(word, w, h)| format!("{} {w}x{h}", word.to_uppercase())).collect();
    let all = all.join(", ");
    if there.is_empty() {
        return Err(FileError::ZedSections {
            sections: ini.sections().join(", "),
            known: SIZES.iter().map(|(word, ..)| word.to_uppercase()).collect::<Vec<_>>().join(", "),
        });
    }
    let Some((width, height)) = size else {
        return Err(FileError::SeveralSizes {
            whose: "a ZED's file has calibrations",
            sizes: all,
            such_as: "1280x720",
        });
    };
    // the same aspect ratio within a row; the smallest mode that is large enough, else the largest
    let mut same_shape: Vec<_> =
        there.iter().filter(|(_, w, h)| (h * width).abs_diff(w * height) <= (*w).max(width)).collect();
    same_shape.sort_by_key(|(_, w, _)| *w);
    let Some((word, own_width, own_height)) =
        same_shape.iter().find(|(_, w, _)| *w >= width).or(same_shape.last()).map(|found| **found)
    else {
        return Err(FileError::ZedSize { sizes: all, wanted: (width, height) });
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
    let translation = DVec3::new(-ini.number("stereo", "baseline")?, along("ty")?, along("tz")?);
    let (left, left_doubt) = camera(&ini, "left", word)?;
    let (right, right_doubt) = camera(&ini, "right", word)?;
    let rig = StereoRig::new(
        left,
        right,
        DMat3::from_quat(DQuat::from_scaled_axis(rotation)),
        translation,
        Some((*own_width, *own_height)),
    );
    let doubts = left_doubt.into_iter().chain(right_doubt).collect();
    Ok(Draft { rig: StereoRig { kind: Kind::Zed, doubts, ..rig }, unit: Some(LengthUnit::Millimetre) })
}

/// Reads the camera of a side for an image size, with a doubt about its lens.
fn camera(ini: &Ini, side: &str, word: &str) -> Result<(Camera, Option<String>), ValueError> {
    let section = &format!("{side}_cam_{word}");
    let (distortion, doubt) = lens(ini, side, section)?;
    let camera = Camera {
        fx: ini.number(section, "fx")?,
        fy: ini.number(section, "fy")?,
        cx: ini.number(section, "cx")?,
        cy: ini.number(section, "cy")?,
        skew: 0.0,
        distortion,
    };
    Ok((camera, doubt))
}

/// Reads the lens of a camera, with a doubt if the file has none. The lens for all sizes comes first, as in ZED's programs; factory files
/// also have a simpler one in the section of each size.
fn lens(ini: &Ini, side: &str, section: &str) -> Result<(Distortion, Option<String>), ValueError> {
    let of_all = format!("{side}_disto");
    for section in [&of_all, section] {
        if let Some(lens) = coefficients(ini, section)? {
            return Ok((distortion(section, &lens)?, None));
        }
    }
    let doubt = format!(
        "the file has no distortion of the {side} camera (k1, k2, … in [{}] or [{}]): its lens is taken to bend no lines, and where \
         it does, rows and depth are wrong towards the rim; take the file that the camera's tool wrote",
        section.to_uppercase(),
        of_all.to_uppercase()
    );
    Ok((Distortion::default(), Some(doubt)))
}

/// Reads the coefficients of a section in OpenCV's order; `None` without any.
fn coefficients(ini: &Ini, section: &str) -> Result<Option<Vec<f64>>, ValueError> {
    let names = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"];
    let found: Vec<_> = names.iter().map(|name| ini.optional(section, name)).collect::<Result<_, _>>()?;
    let is_there = found.iter().any(Option::is_some);
    Ok(is_there.then(|| found.into_iter().map(Option::unwrap_or_default).collect()))
}

/// Returns the lens of k1 k2 p1 p2 k3 k4 k5 k6. A fisheye's k1 to k4 have the same names; ZED's tools recognise it by k3 and k4 without p1
/// and p2.
fn distortion(section: &str, lens: &[f64]) -> Result<Distortion, ValueError> {
    match *lens {
        [k1, k2, 0.0, 0.0, k3, k4, 0.0, 0.0] if k3 != 0.0 && k4 != 0.0 => {
            Distortion::from_fisheye(section, &[k1, k2, k3, k4])
        }
        _ => Distortion::from_opencv(section, lens),
    }
}

struct Ini {
    values: HashMap<(String, String), String>,
}

impl Ini {
    fn parse(text: &str) -> Result<Self, LineError> {
        let mut values = HashMap::new();
        let mut section = String::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.split(['#', ';']).next().unwrap_or_default().trim();
            let error = |fault: LineFault| Err(fault.at(n + 1));
            if values.len() > MAX_KEYS || line.len() > MAX_LINE_BYTES {
                return error(LineFault::TooMany);
            }
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']').trim().to_lowercase();
            } else if let Some((key, value)) = line.split_once('=') {
                let key = (section.clone(), key.trim().to_lowercase());
                let what = format!("[{}] {}", key.0, key.1);
                if values.insert(key, value.trim().to_owned()).is_some() {
                    return error(LineFault::Twice(what));
                }
            } else if !line.is_empty() {
                return error(LineFault::NoSection);
            }
        }
        Ok(Self { values })
    }

    /// Returns the names of the sections of cameras, in upper case as usual.
    fn sections(&self) -> Vec<String> {
        let mut names: Vec<_> = self.values.keys().map(|(name, _)| foreign(&name.to_uppercase())).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(8);
        names
    }

    fn has_section(&self, section: &str) -> bool {
        self.values.keys().any(|(name, _)| name == section)
    }

    fn optional(&self, section: &str, key: &str) -> Result<Option<f64>, ValueError> {
        let Some(text) = self.values.get(&(section.to_owned(), key.to_owned())) else { return Ok(None) };
        match number(text) {
            Some(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(ValueFault::WordOrComma(text.clone()).of(format!("[{section}] {key}"))),
        }
    }

    fn number(&self, section: &str, key: &str) -> Result<f64, ValueError> {
        self.optional(section, key)?.ok_or_else(|| ValueFault::Missing.of(format!("[{section}] {key}")))
    }
}

#[cfg(test)]
mod tests;
