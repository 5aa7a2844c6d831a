//! Calibration files: one module for each kind; the kind is detected from the content, and each reader returns a rig in the file's unit.

mod anipose;
mod archive;
mod argoverse;
mod base64;
mod calibrating;
mod cameras;
mod cityscapes;
mod depthai;
mod dialects;
mod dice;
mod draft;
mod dsec;
pub(crate) mod error;
mod euroc;
mod file;
mod foreign;
mod k_txt;
mod kalibr;
mod kind;
mod kitti;
mod matlab;
mod matrix;
mod mc_calib;
mod middlebury;
mod model;
mod multical;
mod multiview;
mod names;
mod need;
mod opencv;
mod ost;
mod own;
mod pycalib;
mod realsense;
mod rectified;
mod ros;
mod rows;
mod text;
mod tree;
mod write;
mod xml;
mod yaml;
mod zed;

use super::{CalibrationError, StereoRig};
use draft::{Draft, Pose};
use file::{Content, File, MAX_TEXT_BYTES};
use std::path::{Path, PathBuf};
use stereopsis_base::console;
use stereopsis_base::files::plain;

pub use cameras::Cameras;
pub(crate) use error::{FileError, ValueError, ValueFault, WriteError};
pub use kind::{Kind, LoadOptions};
pub use own::write as toml_of;
pub use write::{Output, write};
pub(crate) use yaml::list as yaml_list;

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
    let most = if archive::recognizes(path) { archive::MAX_BYTES } else { plain::MAX_TEXT_BYTES };
    plain::read(path, most).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::IsADirectory => CalibrationError::Folder(path.to_owned()),
        _ => CalibrationError::Unreadable { path: path.to_owned(), cause },
    })
}

/// Reads a rig from the bytes of files; their names distinguish left and right for kinds with one file per camera.
///
/// # Errors
/// See [`load`].
pub fn read(files: &[(PathBuf, Vec<u8>)], options: &LoadOptions) -> Result<StereoRig, CalibrationError> {
    read_with_pose(files, options, None)
}

/// Reads a calibration like [`read`]. `known` is the pose from the left to the right camera, for ROS's files that do not tell it.
pub(crate) fn read_with_pose(
    files: &[(PathBuf, Vec<u8>)],
    options: &LoadOptions,
    known: Option<Pose>,
) -> Result<StereoRig, CalibrationError> {
    let names: Vec<_> = files.iter().map(|(path, _)| console::path(path)).collect();
    let names = names.join(" and ");
    if files.is_empty() || files.len() > 3 {
        return Err(CalibrationError::FileCount { count: files.len(), names });
    }
    let draft = draft(files, options, known).and_then(|draft| draft.of_cameras(options));
    match draft {
        Ok(draft) => draft.finish(names, options),
        Err(cause) => Err(CalibrationError::File { names, cause: Box::new(cause) }),
    }
}

/// Reads a rig from the text of Stereopsis's TOML.
///
/// # Errors
/// The text is no rig.
pub(crate) fn read_toml(text: &str) -> Result<StereoRig, CalibrationError> {
    read(&[(PathBuf::from("calibration.toml"), text.as_bytes().to_vec())], &LoadOptions::default())
}

fn draft(files: &[(PathBuf, Vec<u8>)], options: &LoadOptions, known: Option<Pose>) -> Result<Draft, FileError> {
    let mut trees = Vec::new();
    for (path, bytes) in files {
        let shown = console::path(path);
        let in_file = |e: FileError| if files.len() > 1 { e.in_part(&shown) } else { e };
        match content(&shown, bytes, options).map_err(in_file)? {
            Content::Tree(tree) => {
                foreign::refuse_tree(&tree).map_err(in_file)?;
                trees.push(File { name: path.display().to_string(), tree });
            }
            Content::Rig(draft) if files.len() == 1 => return Ok(*draft),
            Content::Rig(_) => return Err(FileError::BothCameras(shown)),
        }
    }
    let kalibr = trees.iter().position(|file| kalibr::recognizes(&file.tree));
    match kalibr {
        Some(_) if trees.len() == 1 => kalibr::read(&trees[0].tree),
        Some(i) => Err(FileError::Camchain(trees.swap_remove(i).name)),
        None if trees.iter().all(|file| ros::recognizes(&file.tree)) => ros::read(&trees, options.size, known),
        None if trees.iter().all(|file| euroc::recognizes(&file.tree)) => euroc::read(&trees),
        None if trees.iter().all(|file| file.tree.entries().is_empty()) => Err(FileError::UnknownText),
        None => opencv::read(&trees)
            .map_err(|e| if all_names_unknown(&trees) { FileError::UnknownNames(Box::new(e)) } else { e }),
    }
}

fn all_names_unknown(files: &[File]) -> bool {
    files.iter().all(|file| file.tree.entries().iter().all(|(name, _)| names::meaning(name).is_none()))
}

/// Detects the kind of a file and reads its content; `name` is for errors.
fn content(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Content, FileError> {
    let rig = Content::rig;
    if bytes.starts_with(&archive::MAGIC) {
        return match archive::packed_text(bytes)? {
            Some(text) => content(name, &text, options),
            None => ros::read(&archive::read(bytes)?, options.size, None).map(rig),
        };
    }
    foreign::refuse_bytes(bytes)?;
    foreign::refuse_binary(name, bytes)?;
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(FileError::TooLong(MAX_TEXT_BYTES));
    }
    let Some(text) = text::decoded(bytes) else { return Err(FileError::NoTextOfKinds) };
    let text = &*text;
    if text.trim().is_empty() {
        return Err(FileError::Empty);
    }
    if text.trim_start().starts_with('<') {
        foreign::refuse_xml(text)?;
        let tree = xml::parse(text.trim_start())?;
        return if dice::recognizes(&tree) { dice::read(&tree).map(rig) } else { Ok(Content::Tree(tree)) };
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
        Err(e) if yaml::begins(text) => Err(FileError::Yaml(e)),
        Err(_) => Err(FileError::UnknownText),
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
