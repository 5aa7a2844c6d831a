//! Writes a calibration and all that belongs to it.

use super::session::Taken;
use super::{LensKind, Options, Outcome, View, solve};
use crate::calibration::{CalibrationError, Output, StereoRig, write};
use crate::console;
use crate::files;
use image::{ColorType, ImageEncoder as _};
use std::path::{Path, PathBuf};

/// The file in a folder of views that names their board.
pub const BOARD_FILE: &str = "board.txt";

/// Where a calibration was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The calibration itself.
    pub rig: PathBuf,
    /// The folder with everything else: the same calibration for other programs, the report, the views.
    pub folder: PathBuf,
    /// Kinds that cannot hold this calibration: why.
    pub left_out: Vec<String>,
}

/// The folder beside a calibration `rig.yml`: `rig-calibration`.
pub fn folder_of(rig: &Path) -> PathBuf {
    let stem = rig.file_stem().unwrap_or_default().to_string_lossy();
    rig.with_file_name(format!("{stem}-calibration"))
}

/// Files that are written for a calibration, besides its views.
pub fn paths_of(rig: &Path) -> Vec<PathBuf> {
    let folder = folder_of(rig);
    let inside =
        ["rig.toml", "opencv.yml", "ros/left.yaml", "ros/right.yaml", "kalibr.yaml", "report.html", BOARD_FILE];
    std::iter::once(rig.to_owned()).chain(inside.iter().map(|name| folder.join(name))).collect()
}

/// Writes a calibration as its file's ending says (`.toml`, or `.yml`, `.yaml` and `.xml` of OpenCV), and beside it a folder: see [`folder_of`].
/// The report shows the pictures of `taken`; with `keeps_views` they are written too, and read again by
/// `stereopsis calibrate FOLDER/views`.
///
/// # Errors
/// A file cannot be written, or the ending names no kind. Files that are there are replaced: the caller asks first.
pub fn save(rig_file: &Path, outcome: &Outcome, taken: &[Taken], keeps_views: bool) -> Result<Saved, CalibrationError> {
    let failed = |path: &Path, err: &dyn std::fmt::Display| {
        CalibrationError(format!("cannot write {}: {err}", console::path(path)))
    };
    let rig = &marked(outcome);
    let output = match rig_file.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => Output::Toml,
        Some("yml" | "yaml") => Output::OpenCvYaml,
        Some("xml") => Output::OpenCvXml,
        _ => {
            let name = console::path(rig_file);
            return Err(CalibrationError(format!(
                "{name} names no kind of calibration: end it with .toml, .yml or .xml"
            )));
        }
    };
    let folder = folder_of(rig_file);
    let put = |path: &Path, bytes: &[u8]| files::write(path, bytes).map_err(|err| failed(path, &err));
    let make = |path: &Path| files::make_folder(path).map_err(|err| failed(path, &err));
    for place in ["", "ros", "views/left", "views/right"] {
        if !place.starts_with("views") || keeps_views {
            make(&folder.join(place))?;
        }
    }
    // pictures first: they cannot be made again
    for Taken { view, pictures } in taken.iter().filter(|_| keeps_views) {
        for (side, picture) in ["left", "right"].into_iter().zip(pictures) {
            let path = folder.join("views").join(side).join(format!("{}.png", view.name));
            let mut bytes = Vec::new();
            image::codecs::png::PngEncoder::new(&mut bytes)
                .write_image(picture.pixels(), picture.width() as u32, picture.height() as u32, ColorType::L8.into())
                .map_err(|err| failed(&path, &err))?;
            put(&path, &bytes)?;
        }
    }
    let board = format!("{}\n", outcome.board);
    put(&folder.join(BOARD_FILE), board.as_bytes())?;
    if keeps_views {
        put(&folder.join("views").join(BOARD_FILE), board.as_bytes())?;
    }
    let mut left_out = Vec::new();
    let kinds = [(Output::Toml, "rig.toml"), (Output::OpenCvYaml, "opencv.yml"), (Output::RosFiles, "ros")];
    for (kind, name) in kinds {
        match write(rig, kind, 0.0) {
            Ok(written) => {
                for (part, bytes) in written {
                    put(&if part.is_empty() { folder.join(name) } else { folder.join(name).join(part) }, &bytes)?;
                }
            }
            Err(why) => left_out.push(format!("{name}: {why}")),
        }
    }
    match kalibr(outcome) {
        Ok(bytes) => put(&folder.join("kalibr.yaml"), &bytes)?,
        Err(why) => left_out.push(format!("kalibr.yaml: {why}")),
    }
    put(&folder.join("report.html"), super::report::html(outcome, taken).as_bytes())?;
    let whole = write(rig, output, 0.0)?;
    for (_, bytes) in whole {
        put(rig_file, &bytes)?;
    }
    Ok(Saved { rig: rig_file.to_owned(), folder, left_out })
}

/// The rig; one that is refused is marked as an estimate.
fn marked(outcome: &Outcome) -> StereoRig {
    StereoRig { estimated: !outcome.refusals.is_empty(), ..outcome.solution.rig.clone() }
}

/// More error of four coefficients than of the five that were solved for.
const WORSE: f64 = 1.05;

/// The camchain. Kalibr knows pinholes with four coefficients: they are solved for on their own.
fn kalibr(outcome: &Outcome) -> Result<Vec<u8>, CalibrationError> {
    let solution = &outcome.solution;
    let mut rig = marked(outcome);
    if solution.kind == LensKind::Pinhole {
        let views: Vec<View> = solution.views.iter().map(|fit| fit.view.clone()).collect();
        let found = solve(&outcome.board, &views, outcome.size, &Options { kind: LensKind::Radtan, kept: None })?;
        if found.sigma_px > WORSE * solution.sigma_px {
            return Err(CalibrationError(format!(
                "with the four coefficients that Kalibr knows the errors are {:.2} px, with five {:.2} px",
                found.sigma_px, solution.sigma_px
            )));
        }
        rig = found.rig;
    }
    Ok(write(&rig, Output::Kalibr, 0.0)?.into_iter().flat_map(|(_, bytes)| bytes).collect())
}
