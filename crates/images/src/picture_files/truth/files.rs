//! Files of a truth.

use std::path::PathBuf;
use stereopsis_frame::source::DisparityFile;

/// Mask of the left pixels that the right view sees too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// Image, 255 where both views see the point (Middlebury, ETH3D).
    Visible(PathBuf),
    /// Disparities of these pixels only (KITTI's `disp_noc`).
    Disparities(DisparityFile),
}

/// Files that contain the truth of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthFiles {
    /// Name of the data set's layout, for messages.
    pub layout: &'static str,
    /// Disparities of the left view.
    pub left: DisparityFile,
    /// Disparities of the right view.
    pub right: Option<DisparityFile>,
    /// Mask of the left pixels that the right view sees too.
    pub mask: Option<Mask>,
    /// Mask image, 255 in the region `all` of a benchmark.
    pub all: Option<PathBuf>,
    /// Mask image, 255 in the region `disc` of a benchmark, near discontinuities of depth.
    pub disc: Option<PathBuf>,
}
