//! Writing of a calibration with its files: beside the earlier one, which it replaces when complete.

use super::session::Taken;
use super::{Board, LensKind, Outcome, View, solve};
use crate::calibration::{CalibrationError, Output, StereoRig, write};
use crate::console;
use crate::files::{self, NewFolder, WriteError};
use crate::geometry::Uncertainty;
use image::{ColorType, ImageEncoder as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Image folders of both cameras.
const SIDES: [&str; 2] = ["left", "right"];
/// File with the board in a folder of views.
pub const BOARD_FILE: &str = "board.txt";
/// Folder of the calibration's views.
const VIEWS: &str = "views";
/// Folder of a refused calibration's views.
const REFUSED_VIEWS: &str = "refused-views";
/// Files of a calibration in its folder.
const RESULTS: [&str; 7] =
    ["rig.toml", "opencv.yml", "ros/left.yaml", "ros/right.yaml", "kalibr.yaml", "report.html", BOARD_FILE];

/// Paths of a written calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// Calibration file.
    pub rig: PathBuf,
    /// Folder of the other files: formats of other programs, report, views.
    pub folder: PathBuf,
    /// Formats that cannot represent this calibration, with reasons.
    pub left_out: Vec<String>,
}

/// Returns the folder beside a calibration `rig.yml`: `rig-calibration`.
pub fn folder_of(rig: &Path) -> PathBuf {
    let stem = rig.file_stem().unwrap_or_default().to_string_lossy();
    rig.with_file_name(format!("{stem}-calibration"))
}

/// Returns the files written for a calibration; of its views, and of refused ones, only the board file.
pub fn paths_of(rig: &Path) -> Vec<PathBuf> {
    let folder = folder_of(rig);
    let views = [VIEWS, REFUSED_VIEWS].map(|views| folder.join(views).join(BOARD_FILE));
    std::iter::once(rig.to_owned()).chain(RESULTS.iter().map(|name| folder.join(name))).chain(views).collect()
}

/// Calibration being written, in its own folder `rig-calibration.unsaved-N/new`. An earlier calibration with its views is untouched
/// until the new one is complete.
#[derive(Debug)]
pub struct Draft {
    rig_file: PathBuf,
    new: NewFolder,
    /// Names of the written views.
    kept: BTreeSet<String>,
}

impl Draft {
    /// Begins a calibration for `rig_file` without writing anything. Completes a replacement that an earlier run was killed in;
    /// returns remarks on views left by such runs.
    ///
    /// # Errors
    /// The replacement cannot be completed.
    pub fn begin(rig_file: &Path) -> Result<(Self, Vec<String>), CalibrationError> {
        let folder = folder_of(rig_file);
        let left = files::settle_folder(rig_file, &folder, VIEWS, &is_replaced).map_err(unwritten)?;
        let remark = |views: PathBuf| {
            let words = views.display().to_string();
            format!(
                "{} has views of a calibration that did not come to its end: `stereopsis calibrate {}` solves them; remove the folder if \
                 you do not want them",
                console::path(&views),
                console::quoted(&words)
            )
        };
        let remarks = left.into_iter().map(|unsaved| remark(unsaved.join(VIEWS))).collect();
        let new = NewFolder::new(rig_file, &folder);
        Ok((Self { rig_file: rig_file.to_owned(), new, kept: BTreeSet::new() }, remarks))
    }

    /// Whether views were written.
    pub fn has_views(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Writes the views not written yet, so that they survive a crash.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep(&mut self, board: &Board, taken: &[Taken]) -> Result<(), CalibrationError> {
        let folder = self.new.path().join(VIEWS);
        if self.kept.is_empty() {
            for side in SIDES {
                files::make_folder(&folder.join(side)).map_err(unwritten)?;
            }
            put(&folder.join(BOARD_FILE), format!("{board}\n").as_bytes())?;
        }
        for Taken { view, pictures } in
            taken.iter().filter(|taken| !self.kept.contains(&taken.view.name)).collect::<Vec<_>>()
        {
            for (side, picture) in SIDES.into_iter().zip(pictures.get()?) {
                let path = folder.join(side).join(format!("{}.png", view.name));
                let mut bytes = Vec::new();
                let (width, height) = (picture.width() as u32, picture.height() as u32);
                image::codecs::png::PngEncoder::new(&mut bytes)
                    .write_image(picture.pixels(), width, height, ColorType::L8.into())
                    .map_err(|err| CalibrationError(format!("cannot write {}: {err}", console::path(&path))))?;
                put(&path, &bytes)?;
            }
            self.kept.insert(view.name.clone());
        }
        Ok(())
    }

    /// Writes the calibration in its file ending's format (`.toml`, or `.yml`, `.yaml` and `.xml` of OpenCV), and replaces the
    /// folder of the other files: see [`folder_of`]. The report shows the images of `taken`. Existing files are replaced; the
    /// caller asks first. Views of the earlier calibration remain if this one has none.
    ///
    /// # Errors
    /// A file cannot be written, or the ending is unknown. The earlier calibration then stays complete; see [`Self::refuse`].
    pub fn save(&self, outcome: &Outcome, taken: &[Taken]) -> Result<Saved, CalibrationError> {
        let rig_file = &self.rig_file;
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
        let folder = self.new.path();
        files::make_folder(&folder.join("ros")).map_err(unwritten)?;
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
        let bytes: Vec<u8> = write(rig, output, 0.0)?.into_iter().flat_map(|(_, bytes)| bytes).collect();
        if let Some(why) = self.new.finish(&bytes, &is_replaced).map_err(unwritten)? {
            left_out.push(format!(
                "{}: {why}; the next calibration of this name does it",
                console::path(&folder_of(rig_file))
            ));
        }
        Ok(Saved { rig: rig_file.clone(), folder: folder_of(rig_file), left_out })
    }

    /// Ends a refused calibration. Its views move to a separate folder, which is returned and replaces that of the last refused
    /// one.
    ///
    /// # Errors
    /// The views cannot be moved; the text has their folder.
    pub fn refuse(self) -> Result<Option<PathBuf>, CalibrationError> {
        if self.kept.is_empty() {
            return self.new.remove().map(|()| None).map_err(unwritten);
        }
        self.new.keep_only(VIEWS, REFUSED_VIEWS).map(Some).map_err(|err| {
            CalibrationError(format!("{err}; the views are in {}", console::path(&self.new.path().join(VIEWS))))
        })
    }
}

/// Whether a new calibration replaces a file in an earlier one's folder: its results, its views, and unfinished files. All others
/// are the user's.
fn is_replaced(inside: &Path) -> bool {
    let name = inside.file_name().unwrap_or_default().to_string_lossy();
    let is_view = || {
        let is_in = SIDES.iter().any(|side| inside.parent() == Some(&Path::new(VIEWS).join(side)));
        let number = name.strip_suffix(".png").unwrap_or_default();
        is_in && number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    RESULTS.iter().any(|result| inside == Path::new(result))
        || inside == Path::new(VIEWS).join(BOARD_FILE)
        || is_view()
        || files::is_draft(&name)
}

fn unwritten(err: WriteError) -> CalibrationError {
    CalibrationError(err.to_string())
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), CalibrationError> {
    files::write(path, bytes).map_err(unwritten)
}

/// Returns the rig, marked as an estimate if it is refused.
fn marked(outcome: &Outcome) -> StereoRig {
    let uncertainty = outcome.judgement.as_ref().map(|judgement| Uncertainty {
        focal_percent: judgement.focal_percent,
        baseline_percent: judgement.baseline_percent,
    });
    let uncertainty = uncertainty.filter(Uncertainty::is_plausible);
    StereoRig { estimated: !outcome.refusals.is_empty(), uncertainty, ..outcome.solution.rig.clone() }
}

/// Largest error ratio of four coefficients to the solved five.
const MAX_KALIBR_ERROR_RATIO: f64 = 1.05;

/// Returns the camchain. Kalibr's pinholes have four coefficients, which are solved for separately.
fn kalibr(outcome: &Outcome) -> Result<Vec<u8>, CalibrationError> {
    let solution = &outcome.solution;
    let mut rig = marked(outcome);
    if solution.kind == LensKind::Pinhole {
        let views: Vec<View> = solution.views.iter().map(|fit| fit.view.clone()).collect();
        let found = solve(&outcome.board, &views, outcome.size, LensKind::Radtan, None)?;
        if found.sigma_px > MAX_KALIBR_ERROR_RATIO * solution.sigma_px {
            return Err(CalibrationError(format!(
                "with the four coefficients that Kalibr knows the errors are {:.2} px, with five {:.2} px",
                found.sigma_px, solution.sigma_px
            )));
        }
        rig = found.rig;
    }
    Ok(write(&rig, Output::Kalibr, 0.0)?.into_iter().flat_map(|(_, bytes)| bytes).collect())
}

#[cfg(test)]
mod tests;
