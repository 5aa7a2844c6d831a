//! Faults of calibration files.

use super::names::EXPECTED_NAMES;
use crate::length_unit::UnitError;
use std::io;
use std::path::PathBuf;
use stereopsis_base::console::{self, foreign};
use stereopsis_base::geometry::Uncertainty;
use stereopsis_base::remedy::{Remedy, option};

const EXPECTED_KINDS: &str = "looked for a calibration of OpenCV (YAML, XML, JSON), ROS (camera_info of both cameras, or .tar.gz), \
                      Kalibr (camchain), EuRoC (two sensor.yaml), ZED (.conf), Middlebury (calib.txt), Stereopsis (.toml), KITTI, anipose (.toml), \
                      DepthAI, RealSense, MATLAB (JSON), Cityscapes, DICe (XML), Argoverse, calibrating, multical, pycalib, MC-Calib, DSEC, stereodemo, \
                      or a K.txt";
const CONVERT: &str = "to convert, write K1, D1, K2, D2, R, T, image_width and image_height into an OpenCV YAML file";

/// Two cameras, in the words of the option.
pub(super) fn two_cameras() -> Remedy {
    Remedy::set("calibration-cameras", "LEFT,RIGHT")
}

/// Reason why the content of files is no rig.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A value is not as it must be.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A line is not as it must be.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A key is not as it must be.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A part, such as one of several files, has a fault.
    #[error("{part}: {cause}")]
    In { part: String, cause: Box<Self> },
    /// A camera's file has a fault.
    #[error("the {side} camera ({}): {cause}", console::path(.file))]
    Camera { side: &'static str, file: PathBuf, cause: Box<Self> },

    // kinds
    #[error("it is empty; {}", EXPECTED_KINDS)]
    Empty,
    #[error("it is no text")]
    NoText,
    #[error("it is no text; {}", EXPECTED_KINDS)]
    NoTextOfKinds,
    #[error("it has more than {0} bytes, more than any calibration; {kinds}", kinds = EXPECTED_KINDS)]
    TooLong(usize),
    #[error("as YAML or JSON: {0}; {kinds}", kinds = EXPECTED_KINDS)]
    Yaml(LineError),
    #[error("it is a text of no kind that is known; {}; {}", EXPECTED_KINDS, CONVERT)]
    UnknownText,
    #[error("{kinds}; {convert}; as OpenCV's: {0}", kinds = EXPECTED_KINDS, convert = CONVERT)]
    UnknownNames(Box<Self>),
    #[error("it is {what}, which is not read; to convert, {advice}")]
    OtherTool { what: &'static str, advice: &'static str },
    #[error(
        "it is a camera of DSO (camera.txt), which is not read; to convert, its images are rectified already: give {} (its first number, \
         times the width of the images where it is below 1) and {} (its last line) in place of it; some files have Camera.bf / 1000 of \
         ORB-SLAM's settings on the last line, and then the baseline is 1000 times that, divided by the focal length",
        option("focal-px"),
        option("baseline-m")
    )]
    Dso,
    #[error(
        "it is settings of ORB-SLAM without LEFT.K, LEFT.D, LEFT.R, LEFT.P and those of RIGHT, by which raw images are rectified; to \
         convert, with Camera2.fx and Stereo.T_c1_c2 write the cameras as K1, D1, K2 and D2 and that pose as T_LEFT_RIGHT into an OpenCV YAML \
         file; else its images are rectified already: give {} and {} (Camera.bf / Camera.fx)",
        option("focal-px"),
        option("baseline-m")
    )]
    OrbSlam,
    #[error("it is {what}, which is not read; its images are rectified already: in place of it give {} ({lens_from}) and {} ({baseline_from})", option(*.lens), option("baseline-m"))]
    DataSet { what: &'static str, lens: &'static str, lens_from: &'static str, baseline_from: &'static str },
    #[error(
        "it does not say how the cameras stand to each other, by R and T or by poses; calibrate both together, with images that both took at the same moment"
    )]
    Alone,
    #[error("it is a rig file, which names a calibration beside other things: give it with {}", option("rig"))]
    RigFile,
    #[error("{0} holds both cameras; give it alone")]
    BothCameras(String),
    #[error("{0} is of Kalibr and holds both cameras; give it alone")]
    Camchain(String),

    // choices
    #[error("there is no camera {} in it: it has {known}; name two of them with {}", foreign(.wanted), two_cameras())]
    NoSuchCamera { wanted: String, known: String },
    #[error(
        "a calibration of the kind {kind} has two cameras and no choice of them: leave {} out; {} exchanges left and right",
        Remedy::set("calibration-cameras", .cameras), option("calibration-swap")
    )]
    NoChoice { kind: &'static str, cameras: String },
    #[error(
        "it does not say which cameras are the left and the right one: it has {0}; name two of them with {cameras}",
        cameras = two_cameras()
    )]
    UnnamedSides(String),
    #[error(
        "it has the cameras {0}, and no two of them that are known to stand side by side; name two of them with {cameras}",
        cameras = two_cameras()
    )]
    NoKnownPair(String),
    #[error(
        "by their folders the images are of the cameras {} and {}, and it has {known}; take the file of these cameras, or name two of \
         it with {}",
        .folders[0], .folders[1], two_cameras()
    )]
    OtherFolders { folders: [u32; 2], known: String },
    #[error(transparent)]
    Unit(#[from] UnitError),
    #[error("{whose} for several image sizes ({sizes}); say which with {}, such as {}", option("size"), Remedy::set("size", .such_as))]
    SeveralSizes { whose: &'static str, sizes: String, such_as: &'static str },

    // sizes
    #[error(
        "the left camera is calibrated for {}x{}, the right one for {}x{}: they are no pair; calibrate both in one mode",
        .0[0].0, .0[0].1, .0[1].0, .0[1].1
    )]
    NoPairOfSizes([(usize, usize); 2]),
    #[error(
        "it speaks of images of {}x{} and of {}x{}; left, right and rectified images must have the same size: calibrate both cameras \
         in one mode",
        .0[0].0, .0[0].1, .0[1].0, .0[1].1
    )]
    TwoSizes([(usize, usize); 2]),
    #[error(
        "S_rect of the cameras {} and {} are two sizes, {}x{} and {}x{}; take a copy of the original",
        .cameras[0], .cameras[1], .sizes[0].0, .sizes[0].1, .sizes[1].0, .sizes[1].1
    )]
    RectifiedSizes { cameras: [u32; 2], sizes: [(usize, usize); 2] },
    #[error(
        "it is of a ZED, and its sections {sections} are of none of the image sizes that are known ({known}); take the file of this \
         camera, or rename the section to the size that it is for"
    )]
    ZedSections { sections: String, known: String },
    #[error(
        "the ZED's file has calibrations for {sizes}, none of the shape of images of {}x{} per image; choose another camera mode",
        .wanted.0, .wanted.1
    )]
    ZedSize { sizes: String, wanted: (usize, usize) },
    #[error(
        "the RealSense's calibration is for {sizes}, and not for images of {}x{}; choose another mode of the camera",
        .wanted.0, .wanted.1
    )]
    RealSenseSize { sizes: String, wanted: (usize, usize) },

    // cameras that are missing, or do not belong together
    #[error("a rig has two cameras, and it has {count} of {known}: calibrate both together")]
    CameraCount { count: usize, known: String },
    #[error(
        "it is one camera of the EuRoC data set or of Kimera: give the files of both, such as cam0/sensor.yaml,cam1/sensor.yaml"
    )]
    OneOfEuroc,
    #[error(
        "this camchain of Kalibr has one camera, cam0; calibrate both together (kalibr_calibrate_cameras with two topics and two \
         models)"
    )]
    OneOfKalibr,
    #[error("a camera_info of ROS holds one camera, and {0} of them cannot be a pair; give two: LEFT,RIGHT")]
    CountOfRos(usize),
    #[error(
        "it is of a RealSense, and lacks the cameras Infrared 1 and Infrared 2; take all that rs-enumerate-devices -c prints for a \
         camera of the D400 series"
    )]
    NoInfrared,
    #[error("it has more image sizes than any such camera")]
    TooManySizes,
    #[error(
        "the pose from Infrared 1 to Infrared 2 (Extrinsic from …, with its Translation Vector) is missing; take all that \
         rs-enumerate-devices -c prints"
    )]
    NoInfraredPose,
    #[error(
        "the camchain does not say how the cameras stand to each other: looked for cam1.T_cn_cnm1, or T_cam_imu or T_imu_cam of both; \
         take the camchain that Kalibr wrote last"
    )]
    NoKalibrPose,
    #[error(
        "it does not say how the cameras {left} and {right} stand to each other (toCameraSocket); calibrate both together"
    )]
    NoDepthAiPose { left: i64, right: i64 },
    #[error("cameraData is no list of cameras with their sockets; take a copy that is whole")]
    NoSockets,
    #[error(
        "it has the pose of one camera in the world; give the pose between the cameras, camera1_rot_trans.dat, with \
         camera0_intrinsics.dat and camera1_intrinsics.dat"
    )]
    PoseInWorld,
    #[error(
        "it holds one camera matrix and no baseline; write the distance between the lenses in metres below it, such as 0.065, as in \
         FoundationStereo's K.txt"
    )]
    NoBaseline,
    #[error(
        "uncalibrated as a pair: the projection matrices P of both cameras have the same shift Tx, so the baseline is not there; \
         either each camera was calibrated alone (calibrate both together, as cameracalibrator.py does with left and right), or one \
         camera's file was given twice"
    )]
    SameShift,
    #[error("uncalibrated: its camera matrix K is all 0, as ROS says that there is no calibration; calibrate it")]
    Uncalibrated,
    #[error("uncalibrated: its projection matrix P is all 0; calibrate both cameras together")]
    NoProjection,
    #[error(
        "doffs is {doffs}, but the principal points of cam0 and cam1 are {between} px apart: they are of two scenes or two sizes; take \
         a copy of the original"
    )]
    Doffs { doffs: f64, between: f64 },
    #[error(
        "the lens model {} is not supported; calibrate again with plumb_bob (radtan), rational_polynomial or fisheye (equidistant)",
        foreign(.0)
    )]
    LensModel(String),
    #[error("its format is {}, this program reads {known}", foreign(.found))]
    Format { found: String, known: &'static str },
    #[error("it holds more than {0} values, more than any calibration")]
    TooManyValues(usize),
    #[error(
        "{what} is missing; looked for {}, found {found}; give both files (intrinsics and extrinsics) if there are two",
        EXPECTED_NAMES
    )]
    NoMatrix { what: &'static str, found: String },

    // containers
    #[error("it is a .gz that is damaged: {}; take a copy that is whole", foreign(&.0.to_string()))]
    Damaged(io::Error),
    #[error("it is a .gz in a .gz; unpack it once")]
    PackedTwice,
    #[error("{} has {bytes} bytes, more than any calibration", foreign(.name))]
    LargeFile { name: String, bytes: u64 },
    #[error(
        "it is an archive without left.yaml and right.yaml, as ROS's camera_calibration writes them for two cameras; it has {}",
        if .0.is_empty() { "nothing".to_owned() } else { .0.join(", ") }
    )]
    NoCameraFiles(Vec<String>),
    #[error("it is XML of another tool (<{}>); {}; {}", foreign(.0), EXPECTED_KINDS, CONVERT)]
    OtherXml(String),
    #[error("it is XML with {0} elements, too many for a calibration")]
    XmlElements(usize),
    #[error("it is XML with {0} attributes, too many for a calibration")]
    XmlAttributes(usize),
    #[error("it is XML that cannot be read: {}; correct it or take a copy that is whole", foreign(&.0.to_string()))]
    Xml(roxmltree::Error),
    #[error("it is XML nested too deep for a calibration")]
    XmlDepth,
}

impl FileError {
    /// Returns the error of a part, such as one of several files.
    pub(super) fn in_part(self, part: impl Into<String>) -> Self {
        Self::In { part: part.into(), cause: Box::new(self) }
    }

    /// Returns the options with which the user can do something about the error.
    pub(crate) fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::In { cause, .. } | Self::Camera { cause, .. } => cause.remedies(),
            Self::Dso | Self::OrbSlam => vec![option("focal-px"), option("baseline-m")],
            Self::DataSet { lens, .. } => vec![option(*lens), option("baseline-m")],
            Self::RigFile => vec![option("rig")],
            Self::NoSuchCamera { .. } | Self::UnnamedSides(_) | Self::NoKnownPair(_) | Self::OtherFolders { .. } => {
                vec![two_cameras()]
            }
            Self::NoChoice { .. } => vec![option("calibration-cameras"), option("calibration-swap")],
            Self::SeveralSizes { .. } => vec![option("size")],
            _ => Vec::new(),
        }
    }
}

/// Fault of a value, with the value's name.
#[derive(Debug, thiserror::Error)]
#[error("{} {fault}", foreign(.name))]
pub struct ValueError {
    name: String,
    fault: ValueFault,
}

/// Fault of a value.
#[derive(Debug, thiserror::Error)]
pub enum ValueFault {
    #[error("is missing; take a copy that is whole")]
    Missing,
    #[error("is missing; looked for K, D, R and P")]
    MissingOfRos,
    #[error("is missing")]
    Absent,
    #[error("is missing or no size")]
    NoSize,
    #[error("is no list of numbers; the file is damaged")]
    NoList,
    #[error("is no number; take a copy that is whole")]
    NoNumber,
    #[error("is '{}', no number; take a copy that is whole", foreign(.0))]
    Word(String),
    #[error("is '{}', no number; numbers are written with a point: take a copy that is whole", foreign(.0))]
    WordOrComma(String),
    #[error("holds a word that is no number; take a copy that is whole")]
    HoldsWord,
    #[error("is '{}', no matrix; take a copy that is whole", foreign(.0))]
    NoMatrix(String),
    #[error(
        "has no data that can be read: looked for numbers, and for numbers that OpenCV packed in base64; take a copy that is whole, or \
         write it without base64"
    )]
    NoData,
    #[error("is {0}, no size of an image")]
    NoImageSize(f64),
    #[error(
        "is {} {count} values, expected {}; the file is damaged or of another tool",
        .shape.map_or("a list of".to_owned(), |(rows, columns)| format!("{rows}x{columns} with")),
        .wanted.iter().map(|(rows, columns)| format!("{rows}x{columns}")).collect::<Vec<_>>().join(" or ")
    )]
    Shape { shape: Option<(usize, usize)>, count: usize, wanted: &'static [(usize, usize)] },
    #[error("has {0} values, expected 2 or 3")]
    RadialCount(usize),
    #[error("has {0} distortion coefficients, expected 4, 5, 8, 12 or 14")]
    LensCount(usize),
    #[error("has {0} distortion coefficients, a fisheye has 4")]
    FisheyeCount(usize),
    #[error("is of a fisheye, but its four coefficients are missing")]
    NoFisheye,
    #[error("has a sensor that is tilted by {} and {} rad (tau_x, tau_y), a right angle or more: calibrate again", .0[0], .0[1])]
    Tilted([f64; 2]),
    #[error("holds {value} at place {place}: the calibration failed or the file is damaged; calibrate again")]
    NotFinite { value: f64, place: usize },
    #[error(
        "is transposed, as MATLAB stores it: its principal point ({0}, {1}) is in the third row; transpose it and the other camera's, \
         and R too where R is of the same tool, while T stays"
    )]
    Transposed(f64, f64),
    #[error(
        "has its principal point in the last column, and MATLAB's has it in the last row: it was changed on its way; write \
         jsonencode(stereoParams.toStruct) into the file"
    )]
    NotTransposed,
    #[error(
        "is no camera matrix, which is [fx skew cx; 0 fy cy; 0 0 1]: its second row begins with {below}, its third is {} {} {}; take the \
         matrix that the calibration wrote",
        .third[0], .third[1], .third[2]
    )]
    NoCamera { below: f64, third: [f64; 3] },
    #[error(
        "is of no rectified camera, which has [fx 0 cx; 0 fy cy; 0 0 1] and a shift: its second row begins with {below}, its third with \
         {} {} {}; leave it out, give K, D, R and T, and it is computed",
        .third[0], .third[1], .third[2]
    )]
    NoRectifiedCamera { below: f64, third: [f64; 3] },
    #[error("is singular: its focal lengths are {fx} and {fy} px; calibrate again, or leave it out and it is computed")]
    Singular { fx: f64, fy: f64 },
    #[error("is no rotation; the file is damaged, take a copy or calibrate again")]
    NoRotation,
    #[error("is no rotation; the file is damaged")]
    DamagedRotation,
    #[error("is no rotation with a translation; the file is damaged, take a copy or calibrate again")]
    NoPose,
    #[error("is {0:?}: per cent from 0 to 100 are wanted")]
    NoPercentages(Uncertainty),
    #[error(
        "is no distribution: deviations of 0 to 100 and a correlation of -1 to 1 are wanted; estimate the rig again"
    )]
    NoSpread,
    #[error("is {said}, but the rest of the file says {is}; change both, or give the file as it was written")]
    Disagreement { said: f64, is: f64 },
    #[error("is {}, which is not supported; calibrate again with pinhole-radtan or pinhole-equi", foreign(.0))]
    KalibrModel(String),
    #[error("has the lens model {} of DepthAI, which is not supported; calibrate again as perspective (0) or fisheye (1)", foreign(.0))]
    DepthAiModel(String),
    #[error("is {}, which is no unit of DepthAI (0 m, 1 cm, 2 mm, 3 inch, 4 foot); write it with DepthAI's own tools", foreign(.0))]
    DepthAiUnit(String),
    #[error(
        "has lens coefficients: its images are not rectified by the camera; calibrate with these images, or use those of the format Y8"
    )]
    NotRectified,
    #[error("has two calibrations for {0}x{1}: keep the part of one device and of one format")]
    TwoCalibrations(usize, usize),
}

impl ValueFault {
    /// Returns the error of the value with this name.
    pub(crate) fn of(self, name: impl Into<String>) -> ValueError {
        ValueError { name: name.into(), fault: self }
    }
}

/// Fault of a line, with its number from 1.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct LineError {
    line: usize,
    fault: LineFault,
}

/// Fault of a line.
#[derive(Debug, thiserror::Error)]
pub enum LineFault {
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("is no key=value; take a copy that is whole")]
    NoKeyValue,
    #[error("is neither [SECTION] nor key=value; take a copy that is whole")]
    NoSection,
    #[error("{} is neither [SECTION] nor a name nor its numbers; take a copy that is whole", foreign(.0))]
    NoSectionNorName(String),
    #[error("{} is neither a name nor numbers; take a copy that is whole", foreign(.0))]
    NoName(String),
    #[error("is one of more cameras than any such file has")]
    TooManyCameras,
    #[error("is too long, or one of more than any such file has")]
    TooMany,
    #[error("{} is there twice; keep the one that is meant", foreign(.0))]
    Twice(String),
    #[error("{0}")]
    Toml(String),
    #[error("{0}; calibration/example-rig.toml shows what is wanted")]
    OwnToml(String),
    #[error("{0}; correct it or take a copy that is whole")]
    Yaml(String),
    #[error("it is nested too deep for a calibration")]
    TooDeep,
    #[error("a key is no word, as in no calibration")]
    KeyNoWord,
    #[error("aliases (*name) are not supported; write the value out")]
    Alias,
    #[error("it ends too early; take a copy that is whole")]
    Incomplete,
}

impl LineFault {
    /// Returns the error of the line with this number, from 1.
    pub(super) fn at(self, line: usize) -> LineError {
        LineError { line, fault: self }
    }
}

/// Fault of a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("the name {} has {} bytes, more than those of any calibration", foreign(.0), .0.len())]
    TooLong(String),
    #[error("it has more keys than any calibration")]
    TooMany,
    #[error("the key {} is there twice; keep the one that is meant", foreign(.0))]
    Twice(String),
}

/// Reason why a format cannot hold a rig.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("{0} names the image size, which this calibration does not: say it with {size}", size = option("size"))]
    NoSize(&'static str),
    #[error(
        "the {side} camera has an axis skew of {skew:?} px, which a camchain cannot hold: calibrate again with the axis skew fixed at 0, \
         or write OpenCV's, ROS's or our own"
    )]
    Skew { side: &'static str, skew: f64 },
    #[error(
        "the {side} camera's lens has {name} = {value:?}, and Kalibr's radtan has k1 k2 p1 p2 alone: calibrate again with these four \
         (OpenCV's CALIB_FIX_K3) or as a fisheye, or write OpenCV's, ROS's or our own"
    )]
    KalibrLens { side: &'static str, name: &'static str, value: f64 },
    #[error(
        "the {0} camera has coefficients of thin prisms or of a tilted sensor, which ROS's camera_info cannot hold; write OpenCV's or our own"
    )]
    RosLens(&'static str),
    #[error("cannot pack the archive: {0}")]
    Archive(io::Error),
}
