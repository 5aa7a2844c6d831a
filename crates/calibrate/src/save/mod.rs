//! Writing of a calibration with its files beside the earlier one, which it replaces when complete.

use super::session::TakenView;
use super::{Board, CalibrateError, LensKind, Outcome, View, solve};
use image::{ColorType, ImageEncoder as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use stereopsis_base::files::{NewFolder, WriteError};
use stereopsis_base::geometry::Uncertainty;
use stereopsis_base::remedy::{Part, Remedy};
use stereopsis_base::{console, files};
use stereopsis_calibration::{Output, StereoRig, write};

const SIDES: [&str; 2] = ["left", "right"];
/// File with the board in a folder of views.
pub const BOARD_FILE: &str = "board.txt";
const VIEWS: &str = "views";
const REFUSED_VIEWS: &str = "refused-views";
const RESULTS: [&str; 7] =
    ["rig.toml", "opencv.yml", "ros/left.yaml", "ros/right.yaml", "kalibr.yaml", "report.html", BOARD_FILE];

/// Paths of a written calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedCalibration {
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

/// Returns the files that a calibration writes, with only the board file of its views and of refused ones.
pub fn paths_of(rig: &Path) -> Vec<PathBuf> {
    let folder = folder_of(rig);
    let views = [VIEWS, REFUSED_VIEWS].map(|views| folder.join(views).join(BOARD_FILE));
    std::iter::once(rig.to_owned()).chain(RESULTS.iter().map(|name| folder.join(name))).chain(views).collect()
}

/// Calibration being written in its own folder `rig-calibration.unsaved-N/new`; an earlier one is untouched until it is complete.
#[derive(Debug)]
pub struct Draft {
    rig_file: PathBuf,
    new: NewFolder,
    kept: BTreeSet<String>,
}

impl Draft {
    /// Begins a calibration for `rig_file` without writing, and returns remarks on views left by killed runs.
    ///
    /// A replacement that an earlier run did not finish is completed.
    ///
    /// # Errors
    /// The replacement cannot be completed.
    pub fn begin(rig_file: &Path) -> Result<(Self, Vec<String>), CalibrateError> {
        let folder = folder_of(rig_file);
        let left = files::settle_folder(rig_file, &folder, VIEWS, &is_replaced)?;
        let remark = |views: PathBuf| {
            let folder = console::quoted(&views.display().to_string());
            format!(
                "{} has views of a calibration that did not come to its end: {} solves them; remove the folder if you do not want them",
                console::path(&views),
                Remedy::Run(vec![Part::Word("calibrate".into()), Part::Word(folder)])
            )
        };
        let remarks = left.into_iter().map(|unsaved| remark(unsaved.join(VIEWS))).collect();
        let new = NewFolder::new(rig_file, &folder);
        Ok((Self { rig_file: rig_file.to_owned(), new, kept: BTreeSet::new() }, remarks))
    }

    /// Returns whether views were written.
    pub fn has_views(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Writes the views not written yet, which makes them survive a crash.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep(&mut self, board: &Board, taken: &[TakenView]) -> Result<(), CalibrateError> {
        let folder = self.new.path().join(VIEWS);
        if self.kept.is_empty() {
            for side in SIDES {
                files::make_folder(&folder.join(side))?;
            }
            put(&folder.join(BOARD_FILE), format!("{board}\n").as_bytes())?;
        }
        for TakenView { view, pictures } in
            taken.iter().filter(|taken| !self.kept.contains(&taken.view.name)).collect::<Vec<_>>()
        {
            for (side, picture) in SIDES.into_iter().zip(pictures.get()?) {
                let path = folder.join(side).join(format!("{}.png", view.name));
                let mut bytes = Vec::new();
                let (width, height) = (picture.width() as u32, picture.height() as u32);
                image::codecs::png::PngEncoder::new(&mut bytes)
                    .write_image(picture.pixels(), width, height, ColorType::L8.into())
                    .map_err(|cause| CalibrateError::View { path: path.clone(), cause })?;
                put(&path, &bytes)?;
            }
            self.kept.insert(view.name.clone());
        }
        Ok(())
    }

    /// Writes the calibration and replaces the folder of the other files ([`folder_of`]), with the images of `taken` in the report.
    ///
    /// The file ending determines the format: `.toml`, or `.yml`, `.yaml` and `.xml` of OpenCV. Existing files are replaced without a
    /// question. Views of the earlier calibration remain if this one has none.
    ///
    /// # Errors
    /// A file cannot be written, or the ending is unknown. The earlier calibration then stays complete; see [`Self::refuse`].
    pub fn save(&self, outcome: &Outcome, taken: &[TakenView]) -> Result<SavedCalibration, CalibrateError> {
        let rig_file = &self.rig_file;
        let rig = &marked(outcome);
        let output = match rig_file.extension().and_then(|ending| ending.to_str()) {
            Some("toml") => Output::Toml,
            Some("yml" | "yaml") => Output::OpenCvYaml,
            Some("xml") => Output::OpenCvXml,
            _ => return Err(CalibrateError::NoKind(rig_file.clone())),
        };
        let folder = self.new.path();
        files::make_folder(&folder.join("ros"))?;
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
        if let Some(why) = self.new.finish(&bytes, &is_replaced)? {
            left_out.push(format!(
                "{}: {why}; the next calibration of this name does it",
                console::path(&folder_of(rig_file))
            ));
        }
        Ok(SavedCalibration { rig: rig_file.clone(), folder: folder_of(rig_file), left_out })
    }

    /// Ends a refused calibration and returns the folder of its views, which replaces that of the last refused one.
    ///
    /// # Errors
    /// The views cannot be moved; the text has their folder.
    pub fn refuse(self) -> Result<Option<PathBuf>, CalibrateError> {
        if self.kept.is_empty() {
            self.new.remove()?;
            return Ok(None);
        }
        self.new
            .keep_only(VIEWS, REFUSED_VIEWS)
            .map(Some)
            .map_err(|cause| CalibrateError::Refused { cause, views: self.new.path().join(VIEWS) })
    }
}

/// Whether a new calibration replaces a file in an earlier one's folder: results, views and unfinished files, but not the user's files.
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

fn put(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    files::write(path, bytes)
}

/// Returns the rig, marked as an estimate if refused.
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

/// Returns the camchain, with a separate solution for the four coefficients of Kalibr's pinholes.
fn kalibr(outcome: &Outcome) -> Result<Vec<u8>, CalibrateError> {
    let solution = &outcome.solution;
    let mut rig = marked(outcome);
    if solution.kind == LensKind::Pinhole {
        let views: Vec<View> = solution.views.iter().map(|fit| fit.view.clone()).collect();
        let found = solve(&outcome.board, &views, outcome.size, LensKind::Radtan, None)?;
        if found.sigma_px > MAX_KALIBR_ERROR_RATIO * solution.sigma_px {
            return Err(CalibrateError::FourCoefficients { four_px: found.sigma_px, five_px: solution.sigma_px });
        }
        rig = found.rig;
    }
    Ok(write(&rig, Output::Kalibr, 0.0)?.into_iter().flat_map(|(_, bytes)| bytes).collect())
}

#[cfg(test)]
mod tests;
