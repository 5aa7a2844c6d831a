//! Kinds of calibration files, and what the user may say about one.

use super::cameras::Cameras;
use crate::LengthUnit;
use stereopsis_base::parameter::choices;

choices! {
    /// Kind of the file of a rig.
    pub enum Kind {
        /// Stereopsis's own TOML.
        Toml = "Stereopsis TOML",
        /// OpenCV's FileStorage: YAML, XML or JSON.
        OpenCv = "OpenCV",
        /// ROS's camera_info: one file for each camera, or the archive with both.
        Ros = "ROS camera_info",
        /// Kalibr's camchain.
        Kalibr = "Kalibr camchain",
        /// Factory calibration of a ZED.
        Zed = "ZED .conf",
        /// Middlebury's calib.txt.
        Middlebury = "Middlebury calib.txt",
        /// KITTI's and DrivingStereo's projections.
        Kitti = "KITTI",
        /// Two camera files of the EuRoC data set or of Kimera.
        Euroc = "EuRoC",
        /// TOML of anipose, freemocap, Pose2Sim or caliscope.
        Anipose = "anipose TOML",
        /// JSON of an OAK camera.
        DepthAi = "DepthAI",
        /// RealSense's table, or what its tool prints.
        RealSense = "RealSense",
        /// MATLAB's stereoParameters as JSON.
        Matlab = "MATLAB stereoParameters",
        /// OpenCV's calibration of many cameras.
        Multiview = "OpenCV multiview",
        /// XML of the Digital Image Correlation Engine.
        Dice = "DICe",
        /// YAML of the Python package calibrating.
        Calibrating = "calibrating",
        /// JSON of the Argoverse data set.
        Argoverse = "Argoverse",
        /// JSON of multical.
        Multical = "multical",
        /// JSON or YAML of pycalib.
        Pycalib = "pycalib",
        /// YAML of MC-Calib.
        McCalib = "MC-Calib",
        /// YAML of the DSEC data set.
        Dsec = "DSEC",
        /// Focal length, principal points and baseline of a rectified pair, by their names.
        Rectified = "rectified pair",
        /// FoundationStereo's K.txt.
        FoundationStereo = "K.txt",
        /// Cityscapes' camera.json.
        Cityscapes = "Cityscapes",
        /// No file.
        Computed = "computed",
    }
}

impl Kind {
    /// Whether files of this kind may hold more than two cameras.
    pub(super) fn has_choice(self) -> bool {
        matches!(
            self,
            Self::Kitti
                | Self::Anipose
                | Self::DepthAi
                | Self::Multiview
                | Self::Argoverse
                | Self::Multical
                | Self::Pycalib
                | Self::McCalib
                | Self::Dsec
        )
    }
}

/// Options of the user for reading calibration files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOptions {
    /// Length of one unit; `None` for the file's own unit, or else the one with a plausible baseline.
    pub unit: Option<LengthUnit>,
    /// Whether left and right are swapped.
    pub swapped: bool,
    /// Size of the images in use, per view; a ZED's file has calibrations for several sizes.
    pub size: Option<(usize, usize)>,
    /// Cameras chosen by the user in files of several.
    pub cameras: Option<Cameras>,
    /// Numbers of the cameras by the images' folders: 2 and 3 for KITTI's `image_2` and `image_3`.
    pub camera_numbers: Option<[u32; 2]>,
}
