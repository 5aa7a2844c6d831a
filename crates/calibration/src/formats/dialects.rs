//! Detection of calibrations of data sets, cameras and other programs by their content.

use super::draft::Draft;
use super::tree::Node;
use super::{Content, File, FileError, LoadOptions};
use super::{
    anipose, argoverse, calibrating, cityscapes, depthai, dsec, k_txt, kitti, matlab, mc_calib, multical, multiview,
    ost, pycalib, realsense, rectified, ros, rows,
};

/// Reads a text that is neither YAML nor JSON nor XML; `None` if it is of no known kind. `file` is the file's name.
pub(super) fn read_text(file: &str, text: &str, options: &LoadOptions) -> Option<Result<Content, FileError>> {
    let rig = |draft: Result<Draft, FileError>| Some(draft.map(Content::rig));
    if ost::recognizes(text) {
        Some(ost::read(text).and_then(|found| cameras(found, options)))
    } else if kitti::recognizes(text) {
        rig(kitti::read(text, options))
    } else if k_txt::recognizes(text) {
        rig(k_txt::read(text))
    } else if anipose::recognizes(text) {
        rig(anipose::read(text, options))
    } else if realsense::recognizes_print(text) {
        rig(realsense::read_print(text, options))
    } else if rows::recognizes(text) {
        Some(rows::read(file, text).map(Content::Tree))
    } else {
        // TOML with OpenCV's names
        anipose::toml_tree(text).filter(|tree| !tree.entries().is_empty()).map(|tree| Ok(Content::Tree(tree)))
    }
}

fn cameras(mut cameras: Vec<File>, options: &LoadOptions) -> Result<Content, FileError> {
    match (cameras.pop(), cameras.is_empty()) {
        (Some(only), true) => Ok(Content::Tree(only.tree)),
        (last, _) => {
            cameras.extend(last);
            ros::read(&cameras, options.size, None).map(Content::rig)
        }
    }
}

/// Reads the rig of YAML or JSON that contains both cameras; `None` if it is of no known kind.
pub(super) fn read_tree(tree: &Node, options: &LoadOptions) -> Option<Result<Draft, FileError>> {
    if depthai::recognizes(tree) {
        Some(depthai::read(tree, options))
    } else if realsense::recognizes(tree) {
        Some(realsense::read(tree, options))
    } else if matlab::recognizes(tree) {
        Some(matlab::read(tree))
    } else if cityscapes::recognizes(tree) {
        Some(cityscapes::read(tree).map_err(FileError::from))
    } else if multiview::recognizes(tree) {
        Some(multiview::read(tree, options))
    } else if calibrating::recognizes(tree) {
        Some(calibrating::read(tree))
    } else if argoverse::recognizes(tree) {
        Some(argoverse::read(tree, options))
    } else if multical::recognizes(tree) {
        Some(multical::read(tree, options))
    } else if pycalib::recognizes(tree) {
        Some(pycalib::read(tree, options))
    } else if mc_calib::recognizes(tree) {
        Some(mc_calib::read(tree, options))
    } else if dsec::recognizes(tree) {
        Some(dsec::read(tree, options))
    } else if rectified::recognizes(tree) {
        Some(rectified::read(tree).map_err(FileError::from))
    } else {
        None
    }
}
