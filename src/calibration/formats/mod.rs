//! Calibration files: one module for each kind; the kind is detected from the content.

mod archive;
mod draft;
mod foreign;
mod kalibr;
mod matrix;
mod middlebury;
mod model;
mod names;
mod opencv;
mod own;
mod ros;
mod tree;
mod write;
mod xml;
mod yaml;
mod zed;

use super::{CalibrationError, LengthUnit, StereoRig};
use crate::console::{self, foreign};
use crate::files::plain;
use draft::Draft;
use std::fmt;
use std::path::{Path, PathBuf};
use tree::Node;

pub use write::{Output, write};

/// Kind of the file of a rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Stereopsis's own TOML.
    Toml,
    /// OpenCV's FileStorage: YAML, XML or JSON.
    OpenCv,
    /// ROS's camera_info: one file for each camera, or the archive with both.
    Ros,
    /// Kalibr's camchain.
    Kalibr,
    /// Factory calibration of a ZED.
    Zed,
    /// Middlebury's calib.txt.
    Middlebury,
    /// No file.
    Computed,
}

impl Kind {
    /// Its name for messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Toml => "Stereopsis TOML",
            Self::OpenCv => "OpenCV",
            Self::Ros => "ROS camera_info",
            Self::Kalibr => "Kalibr camchain",
            Self::Zed => "ZED .conf",
            Self::Middlebury => "Middlebury calib.txt",
            Self::Computed => "computed",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// User options for reading calibration files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOptions {
    /// Length of one unit; `None` for the file's own unit, or else the one with a plausible baseline.
    pub unit: Option<LengthUnit>,
    /// Exchange left and right.
    pub swapped: bool,
    /// Size of the pictures in use, per view: a ZED's file has calibrations for several sizes.
    pub size: Option<(usize, usize)>,
}

const EXPECTED_KINDS: &str = "looked for a calibration of OpenCV (YAML, XML, JSON), ROS (camera_info of both cameras, or .tar.gz), \
                      Kalibr (camchain), ZED (.conf), Middlebury (calib.txt), or Stereopsis (.toml)";

/// Largest size of a text file.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Reads a rig from one file, or from two for left and right or intrinsics and extrinsics. A folder stands for its
/// `left.yaml` and `right.yaml`.
///
/// # Errors
/// A file is missing, unreadable, of an unknown kind, of a kind that must be converted, or without a usable rig; as text.
pub fn load(paths: &[PathBuf], options: &LoadOptions) -> Result<StereoRig, CalibrationError> {
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
    read(&files, options)
}

fn bytes(path: &Path) -> Result<Vec<u8>, CalibrationError> {
    use std::io::ErrorKind;
    let error = |text: &str| CalibrationError(format!("cannot read the calibration {}: {text}", console::path(path)));
    let most = if archive::recognizes(path) { archive::MAX_BYTES } else { plain::MAX_TEXT_BYTES };
    plain::read(path, most).map_err(|err| match err.kind() {
        ErrorKind::NotFound => error("there is no such file"),
        ErrorKind::PermissionDenied => error("no permission to read it"),
        ErrorKind::IsADirectory => error("it is a folder without left.yaml and right.yaml; give the file in it"),
        _ => error(&err.to_string()),
    })
}

/// Reads a rig from the bytes of files; names tell left from right where the kind has one file per camera.
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
    let draft = draft(files).map_err(|e| CalibrationError(format!("cannot read the calibration {names}: {e}")))?;
    let rig = match draft {
        Read::Draft(draft) => draft.finish(options),
        Read::Zed(text) => zed::read(&text, options.size).and_then(|draft| draft.finish(options)),
    };
    rig.map_err(|e| CalibrationError(format!("cannot use the calibration {names}: {e}")))
}

/// A file with a tree structure.
struct File {
    name: String,
    tree: Node,
}

impl File {
    fn stem(&self) -> String {
        Path::new(&self.name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Parsed calibration; a ZED's file is evaluated when the picture size is known.
enum Read {
    Draft(Box<Draft>),
    Zed(String),
}

/// Content of one file.
enum Content {
    Tree(Node),
    Toml(String),
    Zed(String),
    Middlebury(String),
    /// ROS's archive with its files.
    Archive(Vec<File>),
}

fn draft(files: &[(PathBuf, Vec<u8>)]) -> Result<Read, CalibrationError> {
    let mut trees = Vec::new();
    for (path, bytes) in files {
        let name = path.display().to_string();
        let shown = console::path(path);
        let in_file = |e: CalibrationError| if files.len() > 1 { CalibrationError(format!("{shown}: {e}")) } else { e };
        let whole = match content(bytes).map_err(in_file)? {
            Content::Tree(tree) => {
                foreign::refuse_tree(&tree).map_err(in_file)?;
                trees.push(File { name, tree });
                continue;
            }
            Content::Toml(text) => own::read(&text).map(|draft| Read::Draft(Box::new(draft))),
            Content::Zed(text) => Ok(Read::Zed(text)),
            Content::Middlebury(text) => middlebury::read(&text).map(|draft| Read::Draft(Box::new(draft))),
            Content::Archive(pair) => ros::read(&pair).map(|draft| Read::Draft(Box::new(draft))),
        };
        if files.len() > 1 {
            return Err(CalibrationError(format!("{shown} holds both cameras; give it alone")));
        }
        return whole;
    }
    let kalibr = trees.iter().position(|file| kalibr::recognizes(&file.tree));
    let draft = match kalibr {
        Some(_) if trees.len() == 1 => kalibr::read(&trees[0].tree)?,
        Some(i) => {
            return Err(CalibrationError(format!(
                "{} is of Kalibr and holds both cameras; give it alone",
                trees[i].name
            )));
        }
        None if trees.iter().all(|file| ros::recognizes(&file.tree)) => ros::read(&trees)?,
        None => opencv::read(&trees).map_err(|e| if all_names_unknown(&trees) { unknown(&e) } else { e })?,
    };
    Ok(Read::Draft(Box::new(draft)))
}

/// Whether all names in the files are unknown.
fn all_names_unknown(files: &[File]) -> bool {
    files.iter().all(|file| file.tree.entries().iter().all(|(name, _)| names::meaning(name).is_none()))
}

fn unknown(e: &CalibrationError) -> CalibrationError {
    CalibrationError(format!("{EXPECTED_KINDS}; as OpenCV's: {e}"))
}

fn content(bytes: &[u8]) -> Result<Content, CalibrationError> {
    let error = |text: String| Err(CalibrationError(text));
    if bytes.starts_with(&archive::MAGIC) {
        return archive::read(bytes).map(Content::Archive);
    }
    foreign::refuse_bytes(bytes)?;
    if bytes.len() > MAX_TEXT_BYTES {
        return error(format!("it has more than {MAX_TEXT_BYTES} bytes, more than any calibration; {EXPECTED_KINDS}"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return error(format!("it is no text; {EXPECTED_KINDS}")) };
    if text.trim().is_empty() {
        return error(format!("it is empty; {EXPECTED_KINDS}"));
    }
    if text.trim_start().starts_with('<') {
        let (root, tree) = xml::parse(text.trim_start())?;
        if root != "opencv_storage" {
            return error(format!("it is XML of another tool (<{}>); {EXPECTED_KINDS}", foreign(&root)));
        }
        return Ok(Content::Tree(tree));
    }
    foreign::refuse_text(text)?;
    if own::recognizes(text) {
        return Ok(Content::Toml(text.to_owned()));
    }
    if zed::recognizes(text) {
        return Ok(Content::Zed(text.to_owned()));
    }
    if middlebury::recognizes(text) {
        return Ok(Content::Middlebury(text.to_owned()));
    }
    match yaml::parse(text) {
        Ok(tree) => Ok(Content::Tree(tree)),
        Err(e) => error(format!("as YAML or JSON: {e}; {EXPECTED_KINDS}")),
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
