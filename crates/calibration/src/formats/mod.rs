//! Calibration files: one module for each kind; the kind is detected from the content, and each reader returns a rig in the file's unit.

mod anipose;
mod archive;
mod base64;
mod cameras;
mod cityscapes;
mod depthai;
mod dialects;
mod draft;
mod euroc;
mod file;
mod foreign;
mod k_txt;
mod kalibr;
mod kind;
mod kitti;
mod matlab;
mod matrix;
mod middlebury;
mod model;
mod names;
mod need;
mod opencv;
mod ost;
mod own;
mod realsense;
mod ros;
mod rows;
mod text;
mod tree;
mod write;
mod xml;
mod yaml;
mod zed;

use super::{CalibrationError, StereoRig};
use draft::Draft;
use file::{Content, File, MAX_TEXT_BYTES};
use std::path::{Path, PathBuf};
use stereopsis_base::console::foreign;
use stereopsis_base::files::plain;
use stereopsis_base::{console, files};

pub use cameras::Cameras;
pub use kind::{Kind, LoadOptions};
pub use own::write as toml_of;
pub use write::{Output, write};
pub(crate) use yaml::list as yaml_list;

const EXPECTED_KINDS: &str = "looked for a calibration of OpenCV (YAML, XML, JSON), ROS (camera_info of both cameras, or .tar.gz), \
                      Kalibr (camchain), EuRoC (two sensor.yaml), ZED (.conf), Middlebury (calib.txt), Stereopsis (.toml), KITTI, anipose (.toml), \
                      DepthAI, RealSense, MATLAB (JSON), Cityscapes, or a K.txt";
const CONVERT: &str = "to convert, write K1, D1, K2, D2, R, T, image_width and image_height into an OpenCV YAML file";

/// Reads a rig from one file, or from two for left and right or for intrinsics and extrinsics. A folder stands for its `left.yaml` and
/// `right.yaml`.
///
/// # Errors
/// A file is missing, unreadable, of an unknown kind, of a kind that must be converted, or without a usable rig.
pub fn load(paths: &[PathBuf], options: &LoadOptions) -> Result<StereoRig, CalibrationError> {
    read(&contents(paths)?, options)
}

/// Checks that files exist and can be read, without a look at their content.
///
/// # Errors
/// A file does not exist or cannot be read.
pub fn check_readable(paths: &[PathBuf]) -> Result<(), CalibrationError> {
    contents(paths).map(drop)
}

/// Reads the bytes of files; a folder stands for two.
fn contents(paths: &[PathBuf]) -> Result<Vec<(PathBuf, Vec<u8>)>, CalibrationError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() && path.join("left.yaml").is_file() && path.join("right.yaml").is_file() {
            for name in ["left.yaml", "right.yaml"] {
                files.push((path.join(name), bytes(&path.join(name))?));
            }
        } else {
            files.push((path.clone(), bytes(path)?));
        }
    }
    Ok(files)
}

fn bytes(path: &Path) -> Result<Vec<u8>, CalibrationError> {
    use std::io::ErrorKind;
    let error = |text: &str| CalibrationError(format!("cannot read the calibration {}: {text}", console::path(path)));
    let most = if archive::recognizes(path) { archive::MAX_BYTES } else { plain::MAX_TEXT_BYTES };
    plain::read(path, most).map_err(|err| match err.kind() {
        ErrorKind::IsADirectory => error("it is a folder without left.yaml and right.yaml; give the file in it"),
        _ => error(&files::read_cause(path, &err)),
    })
}

/// Reads a rig from the bytes of files; their names distinguish left and right for kinds with one file per camera.
///
/// # Errors
/// See [`load`].
pub fn read(files: &[(PathBuf, Vec<u8>)], options: &LoadOptions) -> Result<StereoRig, CalibrationError> {
    let names: Vec<_> = files.iter().map(|(path, _)| console::path(path)).collect();
    let names = names.join(" and ");
    if files.is_empty() || files.len() > 3 {
        return Err(CalibrationError(format!(
            "{} calibration files were given ({names}); give one, or two: left and right, or intrinsics and extrinsics",
            files.len()
        )));
    }
    let draft = draft(files, options).and_then(|draft| draft.of_cameras(options));
    let draft = draft.map_err(|e| CalibrationError(format!("cannot read the calibration {names}: {e}")))?;
    draft.finish(options).map_err(|e| CalibrationError(format!("cannot use the calibration {names}: {e}")))
}

fn draft(files: &[(PathBuf, Vec<u8>)], options: &LoadOptions) -> Result<Draft, CalibrationError> {
    let mut trees = Vec::new();
    for (path, bytes) in files {
        let shown = console::path(path);
        let in_file = |e: CalibrationError| if files.len() > 1 { CalibrationError(format!("{shown}: {e}")) } else { e };
        match content(&shown, bytes, options).map_err(in_file)? {
            Content::Tree(tree) => {
                foreign::refuse_tree(&tree).map_err(in_file)?;
                trees.push(File { name: path.display().to_string(), tree });
            }
            Content::Rig(draft) if files.len() == 1 => return Ok(*draft),
            Content::Rig(_) => return Err(CalibrationError(format!("{shown} holds both cameras; give it alone"))),
        }
    }
    let kalibr = trees.iter().position(|file| kalibr::recognizes(&file.tree));
    match kalibr {
        Some(_) if trees.len() == 1 => kalibr::read(&trees[0].tree),
        Some(i) => {
            Err(CalibrationError(format!("{} is of Kalibr and holds both cameras; give it alone", trees[i].name)))
        }
        None if trees.iter().all(|file| ros::recognizes(&file.tree)) => ros::read(&trees),
        None if trees.iter().all(|file| euroc::recognizes(&file.tree)) => euroc::read(&trees),
        None if trees.iter().all(|file| file.tree.entries().is_empty()) => Err(unknown_text()),
        None => opencv::read(&trees).map_err(|e| if all_names_unknown(&trees) { unknown(&e) } else { e }),
    }
}

fn all_names_unknown(files: &[File]) -> bool {
    files.iter().all(|file| file.tree.entries().iter().all(|(name, _)| names::meaning(name).is_none()))
}

fn unknown(e: &CalibrationError) -> CalibrationError {
    CalibrationError(format!("{EXPECTED_KINDS}; {CONVERT}; as OpenCV's: {e}"))
}

fn unknown_text() -> CalibrationError {
    CalibrationError(format!("it is a text of no kind that is known; {EXPECTED_KINDS}; {CONVERT}"))
}

/// Detects the kind of a file and reads its content; `name` is for errors.
fn content(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Content, CalibrationError> {
    let rig = Content::rig;
    let error = |text: String| Err(CalibrationError(text));
    if bytes.starts_with(&archive::MAGIC) {
        return match archive::packed_text(bytes)? {
            Some(text) => content(name, &text, options),
            None => ros::read(&archive::read(bytes)?).map(rig),
        };
    }
    foreign::refuse_bytes(bytes)?;
    if bytes.len() > MAX_TEXT_BYTES {
        return error(format!("it has more than {MAX_TEXT_BYTES} bytes, more than any calibration; {EXPECTED_KINDS}"));
    }
    let Some(text) = text::decoded(bytes) else { return error(format!("it is no text; {EXPECTED_KINDS}")) };
    let text = &*text;
    if text.trim().is_empty() {
        return error(format!("it is empty; {EXPECTED_KINDS}"));
    }
    if text.trim_start().starts_with('<') {
        let (root, tree) = xml::parse(text.trim_start())?;
        if root != "opencv_storage" {
            return error(format!("it is XML of another tool (<{}>); {EXPECTED_KINDS}; {CONVERT}", foreign(&root)));
        }
        return Ok(Content::Tree(tree));
    }
    foreign::refuse_text(text)?;
    if own::recognizes(text) {
        return own::read(text).map(rig);
    }
    if zed::recognizes(text) {
        return zed::read(text, options.size).map(rig);
    }
    if middlebury::recognizes(text) {
        return middlebury::read(text).map(rig);
    }
    if let Some(content) = dialects::read_text(name, text, options) {
        return content;
    }
    match yaml::parse(text) {
        Ok(tree) => dialects::read_tree(&tree, options).map_or(Ok(Content::Tree(tree)), |draft| draft.map(rig)),
        Err(e) if yaml::begins(text) => error(format!("as YAML or JSON: {e}; {EXPECTED_KINDS}")),
        Err(_) => Err(unknown_text()),
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
