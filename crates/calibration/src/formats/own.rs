//! Stereopsis's own TOML: complete, exact and readable. Files of earlier versions must stay readable.

use super::error::{LineError, LineFault};
use super::matrix::{Matrix, nearest_rotation};
use super::{FileError, ValueError, ValueFault};
use super::{Kind, draft::Draft, model};
use crate::projection::longer_axis;
use crate::{Camera, LengthUnit, Projection, Rectification, StereoRig};
use glam::{DMat3, DVec3};
use serde::Deserialize;
use std::fmt::Write as _;
use stereopsis_base::geometry::{DepthSpread, Uncertainty};

/// Value of the first key of every file.
const FORMAT: &str = "stereopsis-rig-1";

pub(super) fn recognizes(text: &str) -> bool {
    text.lines().any(|line| {
        line.split_once('=').is_some_and(|(key, value)| key.trim() == "format" && value.contains("stereopsis-rig"))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RigFile {
    format: String,
    size_px: Option<[usize; 2]>,
    right_size_px: Option<[usize; 2]>,
    focal_px: f64,
    baseline_m: f64,
    #[serde(default)]
    estimated: bool,
    uncertainty: Option<Uncertainty>,
    depth_spread: Option<DepthSpread>,
    left: CameraFile,
    right: CameraFile,
    right_from_left: PoseFile,
    rectification: Option<RectificationFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CameraFile {
    fx_px: f64,
    fy_px: f64,
    cx_px: f64,
    cy_px: f64,
    #[serde(default)]
    axis_skew_px: f64,
    model: String,
    distortion: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PoseFile {
    rotation: [[f64; 3]; 3],
    translation_m: [f64; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RectificationFile {
    baseline_m: f64,
    left: RectifiedFile,
    right: RectifiedFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RectifiedFile {
    fx_px: f64,
    fy_px: f64,
    cx_px: f64,
    cy_px: f64,
    rotation: [[f64; 3]; 3],
}

pub(super) fn in_line(text: &str, err: &toml::de::Error, fault: fn(String) -> LineFault) -> LineError {
    let line = err.span().map_or(0, |span| text.get(..span.start).map_or(0, |before| before.lines().count().max(1)));
    fault(err.message().to_owned()).at(line)
}

pub(super) fn read(text: &str) -> Result<Draft, FileError> {
    let file: RigFile = toml::from_str(text).map_err(|err| in_line(text, &err, LineFault::OwnToml))?;
    if file.format != FORMAT {
        return Err(FileError::Format { found: file.format, known: FORMAT });
    }
    if let Some(wrong) = file.uncertainty.filter(|told| !told.is_plausible()) {
        return Err(ValueFault::NoPercentages(wrong).of("uncertainty").into());
    }
    if file.depth_spread.is_some_and(|spread| !spread.is_plausible()) {
        return Err(ValueFault::NoSpread.of("depth_spread").into());
    }
    let rig = StereoRig {
        kind: Kind::Toml,
        rectification: file
            .rectification
            .as_ref()
            .map(|found| rectification(found, file.right_from_left.translation_m))
            .transpose()?,
        estimated: file.estimated,
        uncertainty: file.uncertainty,
        spread: file.depth_spread,
        ..StereoRig::new(
            camera("left", &file.left)?,
            camera("right", &file.right)?,
            rotation("right_from_left.rotation", &file.right_from_left.rotation)?,
            file.right_from_left.translation_m.into(),
            file.size_px.map(|[width, height]| (width, height)),
        )
    };
    let rig = match file.right_size_px {
        Some([width, height]) => rig.with_right_size((width, height)),
        None => rig,
    };
    // files have both numbers for readers; a manual change of only one is an error
    for (name, said, is) in
        [("focal_px", file.focal_px, rig.focal_px()), ("baseline_m", file.baseline_m, rig.baseline_m())]
    {
        if (said - is).abs() > 1e-6 * is.abs() || !said.is_finite() {
            return Err(ValueFault::Disagreement { said, is }.of(name).into());
        }
    }
    Ok(Draft { rig, unit: Some(LengthUnit::Metre) })
}

fn rotation(name: &str, rows: &[[f64; 3]; 3]) -> Result<DMat3, ValueError> {
    let data = rows.concat();
    let matrix = Matrix { name: name.to_owned(), shape: Some((3, 3)), data };
    matrix.finite()?;
    let plain = DMat3::from_cols_array_2d(rows).transpose();
    // an exact rotation keeps every bit
    let exact = (plain * plain.transpose()).abs_diff_eq(DMat3::IDENTITY, 1e-14) && plain.determinant() > 0.0;
    let found = if exact { Some(plain) } else { nearest_rotation(plain) };
    found.ok_or_else(|| ValueFault::DamagedRotation.of(name))
}

fn camera(side: &str, file: &CameraFile) -> Result<Camera, FileError> {
    let CameraFile { fx_px: fx, fy_px: fy, cx_px: cx, cy_px: cy, axis_skew_px: skew, ref model, ref distortion } =
        *file;
    let name = format!("{side}.distortion");
    Ok(Camera { fx, fy, cx, cy, skew, distortion: model::lens(model, &name, distortion)? })
}

fn rectification(file: &RectificationFile, translation_m: [f64; 3]) -> Result<Rectification, ValueError> {
    let projection = |r: &RectifiedFile| Projection { fx: r.fx_px, fy: r.fy_px, cx: r.cx_px, cy: r.cy_px };
    let rotation_right = rotation("rectification.right.rotation", &file.right.rotation)?;
    let along = rotation_right * DVec3::from(translation_m);
    Ok(Rectification {
        rotation_left: rotation("rectification.left.rotation", &file.left.rotation)?,
        rotation_right,
        left: projection(&file.left),
        right: projection(&file.right),
        baseline_m: file.baseline_m,
        axis: longer_axis(along.x, along.y),
    })
}

/// Returns the text of a rig's file; reading it gives the same numbers to the last bit.
pub fn write(rig: &StereoRig) -> String {
    let mut text = format!(
        "# A stereo rig: two cameras and how they stand to each other. Lengths are in m, images in px, pixel centres at\n\
         # whole numbers; x right, y down, z forward; left is left as seen from behind the cameras.\n\
         format = \"{FORMAT}\"\n"
    );
    let mut line = |args: std::fmt::Arguments| {
        let _ = writeln!(text, "{args}");
    };
    if let Some((width, height)) = rig.size {
        let whose = if rig.right_size.is_some() { "the left image" } else { "each image" };
        line(format_args!("size_px = [{width}, {height}] # of {whose}"));
    }
    if let Some((width, height)) = rig.right_size {
        line(format_args!("right_size_px = [{width}, {height}]"));
    }
    line(format_args!("focal_px = {:?} # of the rectification, else of the left camera", rig.focal_px()));
    line(format_args!("baseline_m = {:?} # between the two lenses: check it with a ruler", rig.baseline_m()));
    if rig.estimated {
        line(format_args!("estimated = true # from images: depth is known within bounds at best"));
    }
    if let Some(Uncertainty { focal_percent, baseline_percent }) = rig.uncertainty {
        line(format_args!(
            "# bounds that 95 of 100 calibrations of this quality keep\n\
             uncertainty = {{ focal_percent = {focal_percent:?}, baseline_percent = {baseline_percent:?} }}"
        ));
    }
    if let Some(DepthSpread { mean, deviation, correlation, rest, farthest, middle }) = rig.spread {
        line(format_args!(
            "# what the images leave open: where these cameras have baseline / depth = p, the true one is p + offset + slope * p;\n\
             # mean and deviation are those of offset and slope, farthest and middle the p of the scene\n\
             depth_spread = {{ mean = {mean:?}, deviation = {deviation:?}, correlation = {correlation:?}, rest = {rest:?}, \
             farthest = {farthest:?}, middle = {middle:?} }}"
        ));
    }
    for (side, camera) in [("left", &rig.left), ("right", &rig.right)] {
        let Camera { fx, fy, cx, cy, skew, distortion } = camera;
        line(format_args!("\n[{side}]\nfx_px = {fx:?}\nfy_px = {fy:?}\ncx_px = {cx:?}\ncy_px = {cy:?}"));
        if *skew != 0.0 {
            line(format_args!("axis_skew_px = {skew:?}"));
        }
        let order = match distortion.coefficients().len() {
            4 => "k1 k2 k3 k4 of the angle",
            5 => "k1 k2 p1 p2 k3",
            8 => "k1 k2 p1 p2 k3 k4 k5 k6",
            12 => "k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4",
            _ => "k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4 tau_x tau_y",
        };
        line(format_args!("model = \"{}\"\ndistortion = {:?} # {order}", distortion.name(), distortion.coefficients()));
    }
    line(format_args!(
        "\n# a point at X in the left camera is at rotation * X + translation_m in the right one\n[right_from_left]\n\
         rotation = {}\ntranslation_m = {:?}",
        rows(rig.rotation),
        rig.translation_m.to_array()
    ));
    if let Some(r) = &rig.rectification {
        line(format_args!(
            "\n# the rectification that came with the calibration: each camera's rotation and new camera\n[rectification]\n\
             baseline_m = {:?}",
            r.baseline_m
        ));
        for (side, camera, rotation) in [("left", r.left, r.rotation_left), ("right", r.right, r.rotation_right)] {
            let Projection { fx, fy, cx, cy } = camera;
            line(format_args!(
                "\n[rectification.{side}]\nfx_px = {fx:?}\nfy_px = {fy:?}\ncx_px = {cx:?}\ncy_px = {cy:?}\nrotation = {}",
                rows(rotation)
            ));
        }
    }
    text
}

fn rows(matrix: DMat3) -> String {
    let rows: Vec<_> = matrix.transpose().to_cols_array_2d().iter().map(|row| format!("    {row:?},\n")).collect();
    format!("[\n{}]", rows.concat())
}
