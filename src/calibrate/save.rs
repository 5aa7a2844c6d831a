//! Writes a calibration and all that belongs to it.

use super::session::Taken;
use super::{Board, LensKind, Outcome, View, solve};
use crate::calibration::{CalibrationError, Output, StereoRig, write};
use crate::console;
use crate::files;
use image::{ColorType, ImageEncoder as _};
use std::path::{Path, PathBuf};

/// Folders of the pictures of both cameras.
const SIDES: [&str; 2] = ["left", "right"];
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

/// Files that are written for a calibration; of its views the one that names their board.
pub fn paths_of(rig: &Path) -> Vec<PathBuf> {
    let folder = folder_of(rig);
    let inside =
        ["rig.toml", "opencv.yml", "ros/left.yaml", "ros/right.yaml", "kalibr.yaml", "report.html", BOARD_FILE];
    let views = Path::new("views").join(BOARD_FILE);
    std::iter::once(rig.to_owned())
        .chain(inside.iter().map(|name| folder.join(name)))
        .chain(std::iter::once(folder.join(views)))
        .collect()
}

/// Writes the views of a calibration into the folder beside it: see [`folder_of`]. `stereopsis calibrate FOLDER/views` reads them again.
/// Views of an earlier calibration that lie there are replaced: the caller asks first.
///
/// # Errors
/// A file cannot be written.
pub fn save_views(rig_file: &Path, board: &Board, taken: &[Taken]) -> Result<PathBuf, CalibrationError> {
    let folder = folder_of(rig_file).join("views");
    for side in SIDES {
        make(&folder.join(side))?;
    }
    put(&folder.join(BOARD_FILE), format!("{board}\n").as_bytes())?;
    taken.iter().try_for_each(|taken| save_view(rig_file, taken))?;
    // views of two calibrations must not be solved together
    for side in SIDES {
        remove_others(&folder.join(side), taken)?;
    }
    Ok(folder)
}

/// Writes one more view into a folder that [`save_views`] has made.
///
/// # Errors
/// A file cannot be written.
pub fn save_view(rig_file: &Path, Taken { view, pictures }: &Taken) -> Result<(), CalibrationError> {
    for (side, picture) in SIDES.into_iter().zip(pictures) {
        let path = folder_of(rig_file).join("views").join(side).join(format!("{}.png", view.name));
        let mut bytes = Vec::new();
        image::codecs::png::PngEncoder::new(&mut bytes)
            .write_image(picture.pixels(), picture.width() as u32, picture.height() as u32, ColorType::L8.into())
            .map_err(|err| failed(&path, &err))?;
        put(&path, &bytes)?;
    }
    Ok(())
}

/// Removes numbered pictures that are none of these views.
fn remove_others(folder: &Path, taken: &[Taken]) -> Result<(), CalibrationError> {
    let entries = std::fs::read_dir(folder).map_err(|err| failed(folder, &err))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_numbered = path.extension().is_some_and(|ending| ending == "png")
            && name.len() >= 3
            && name.bytes().all(|byte| byte.is_ascii_digit());
        if is_numbered && taken.iter().all(|taken| taken.view.name != name) {
            std::fs::remove_file(&path).map_err(|err| failed(&path, &err))?;
        }
    }
    Ok(())
}

fn failed(path: &Path, err: &dyn std::fmt::Display) -> CalibrationError {
    CalibrationError(format!("cannot write {}: {err}", console::path(path)))
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), CalibrationError> {
    files::write(path, bytes).map_err(|err| failed(path, &err))
}

fn make(folder: &Path) -> Result<(), CalibrationError> {
    files::make_folder(folder).map_err(|err| failed(folder, &err))
}

/// Writes a calibration as its file's ending says (`.toml`, or `.yml`, `.yaml` and `.xml` of OpenCV), and beside it a folder: see
/// [`folder_of`]. The report shows the pictures of `taken`.
///
/// # Errors
/// A file cannot be written, or the ending names no kind. Files that are there are replaced: the caller asks first.
pub fn save(rig_file: &Path, outcome: &Outcome, taken: &[Taken]) -> Result<Saved, CalibrationError> {
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
    make(&folder.join("ros"))?;
    put(&folder.join(BOARD_FILE), format!("{}\n", outcome.board).as_bytes())?;
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
        let found = solve(&outcome.board, &views, outcome.size, LensKind::Radtan, None)?;
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
