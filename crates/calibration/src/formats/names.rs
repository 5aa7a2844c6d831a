//! Aliases of matrices in calibration files: `K1`, `M1`, `cameraMatrix1`, `left.camera_matrix`, `mtxL`.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Camera,
    Distortion,
    /// Rotation from a camera to the rectified rig.
    Rectifying,
    Projection,
    /// Rotation between the cameras.
    Rotation,
    Translation,
    /// Pose of the right camera in the axes of the left one.
    RightInLeft,
    /// Rotation from the axes of a board to a camera.
    BoardRotation,
    /// Translation from the axes of a board to a camera.
    BoardTranslation,
    Size,
}

/// Camera that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Left camera: `left`, or the first of two counted from 1.
    Left,
    /// Right camera: `right`, or the second one.
    Right,
    /// Camera 0: the first of two counted from 0, where 1 is the second.
    Zero,
    /// Camera 1: see [`Side::Zero`].
    One,
    /// No camera.
    Unnamed,
}

impl Side {
    /// Returns this side, or `other` if the name refers to no camera.
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::Unnamed { other } else { self }
    }
}

const SIDES: &[(&str, Side)] = &[
    ("left", Side::Left),
    ("right", Side::Right),
    ("l", Side::Left),
    ("r", Side::Right),
    ("0", Side::Zero),
    ("1", Side::One),
    ("2", Side::Right),
];

/// Words for each meaning, in names that also refer to a camera.
const MEANINGS: &[(Meaning, &str)] = &[
    (Meaning::Camera, "k m cm mtx cameramatrix cammatrix intrinsic intrinsics intrinsicmatrix"),
    (
        Meaning::Distortion,
        "d dist distcoef distcoeff distcoeffs distcoefs distortion distortioncoeffs distortioncoefficients",
    ),
    (Meaning::Rectifying, "r rect rectification rectificationmatrix"),
    (Meaning::Projection, "p proj projection projectionmatrix"),
    (Meaning::BoardRotation, "rotmatrix"),
    (Meaning::BoardTranslation, "t"),
];

/// Words for each meaning, in names that refer to no camera.
const UNSIDED: &[(Meaning, &str)] = &[
    (Meaning::Rotation, "r rot rotation rotationmatrix stereor om"),
    (Meaning::Translation, "t trans tvec translation translationvector stereot"),
    (Meaning::RightInLeft, "tleftright"),
    (Meaning::Size, "size imagesize imgsize resolution res1 res2"),
];

/// Names in the error text.
pub(super) const EXPECTED_NAMES: &str = "K1 D1 K2 D2 (or M1, cameraMatrix1, camera_matrix_left, distCoeffs1, …), R, T, and if \
                                     there R1 R2 P1 P2, or P1 P2 alone";

/// Suffix of a fisheye's coefficients in the files of ZED's calibration tool: `D_LEFT_FE`.
const FISHEYE_END: &str = "_FE";

/// Returns the camera of a fisheye's coefficients; `None` for other names.
pub(super) fn fisheye_of(name: &str) -> Option<Side> {
    let is_lens = |(meaning, _): &(Meaning, Side)| *meaning == Meaning::Distortion;
    meaning(name).filter(is_lens).filter(|_| name.ends_with(FISHEYE_END)).map(|(_, side)| side)
}

/// Returns the meaning of a name in any spelling; groups of keys are joined by dots.
pub(super) fn meaning(name: &str) -> Option<(Meaning, Side)> {
    let name = name.strip_suffix(FISHEYE_END).unwrap_or(name);
    let plain = plain(name);
    let last = self::plain(last_key(name));
    let find = |list: &[(Meaning, &str)], word: &str| {
        list.iter().find(|(_, words)| is_one_of(word, words)).map(|&(meaning, _)| meaning)
    };
    if let Some(meaning) = find(UNSIDED, &plain) {
        return Some((meaning, Side::Unnamed));
    }
    for &(word, side) in SIDES {
        for rest in [plain.strip_suffix(word), plain.strip_prefix(word)].into_iter().flatten() {
            if let Some(meaning) = find(MEANINGS, rest) {
                return Some((meaning, side));
            }
        }
    }
    // `cam0.K`, `left_camera.K`: the group names the camera
    if let Some((group, _)) = name.rsplit_once('.') {
        if let (Some(meaning), side @ (Side::Left | Side::Right | Side::Zero | Side::One)) =
            (find(MEANINGS, &last), side_of(group))
        {
            return Some((meaning, side));
        }
        if let Some(meaning) = find(UNSIDED, &last) {
            return Some((meaning, side_of(group)));
        }
    }
    find(MEANINGS, &last).filter(|meaning| *meaning != Meaning::Rectifying).map(|meaning| (meaning, Side::Unnamed))
}

/// Returns the camera of a file or a group of keys, by its name.
pub(super) fn side_of(name: &str) -> Side {
    let plain = plain(name);
    let ends = |words: &[&str]| words.iter().any(|word| plain.ends_with(word));
    if plain.contains("left") || ends(&["caml"]) {
        Side::Left
    } else if plain.contains("right") || ends(&["camr"]) {
        Side::Right
    } else if ends(&["0"]) {
        Side::Zero
    } else if ends(&["1"]) {
        Side::One
    } else if ends(&["2"]) {
        Side::Right
    } else {
        Side::Unnamed
    }
}

/// Whether a number is the width of the images (and not, for example, of the board).
pub(super) fn is_width(name: &str) -> bool {
    matches!(plain(last_key(name)).as_str(), "width" | "imagewidth" | "imgwidth")
}

pub(super) fn is_height(name: &str) -> bool {
    matches!(plain(last_key(name)).as_str(), "height" | "imageheight" | "imgheight")
}

pub(super) fn is_model(name: &str) -> bool {
    let plain = plain(last_key(name));
    ["distortionmodel", "cameramodel", "lensmodel"].iter().any(|word| plain.contains(word)) || plain == "model"
}

/// Whether a number marks a fisheye lens, as in OpenCV's calibration sample.
pub(super) fn is_fisheye_switch(name: &str) -> bool {
    plain(last_key(name)).contains("fisheye")
}

pub(super) fn is_unit(name: &str) -> bool {
    plain(last_key(name)) == "lengthunit"
}

fn last_key(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

pub(super) fn is_one_of(word: &str, words: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Returns letters and digits of a name, in lower case.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_met_in_the_wild_are_understood() {
        for (names, meant) in [
            ("K_L left.K LEFT.K cameraMatrixL camera_matrix_left leftCameraMatrix mtxL", (Meaning::Camera, Side::Left)),
            ("K1 M1 cameraMatrix1 Camera_Matrix_1 cam1.intrinsics", (Meaning::Camera, Side::One)),
            ("K2 M2 cameraMatrix2 right_camera_matrix", (Meaning::Camera, Side::Right)),
            ("K0 cam0.camera_matrix", (Meaning::Camera, Side::Zero)),
            ("D_LEFT_FE D_LEFT", (Meaning::Distortion, Side::Left)),
            ("D1 distCoeffs1 dist_coeff_1 Distortion_Coefficients_1", (Meaning::Distortion, Side::One)),
            ("R1 rect_1", (Meaning::Rectifying, Side::One)),
            ("P2 projection_matrix_right RIGHT.P", (Meaning::Projection, Side::Right)),
            ("R rotation Rotation_Matrix stereo.R", (Meaning::Rotation, Side::Unnamed)),
            ("T Tvec translation_vector", (Meaning::Translation, Side::Unnamed)),
            ("K camera_matrix", (Meaning::Camera, Side::Unnamed)),
            ("T_LEFT_RIGHT", (Meaning::RightInLeft, Side::Unnamed)),
            ("rot_matrix_left", (Meaning::BoardRotation, Side::Left)),
            ("t_left", (Meaning::BoardTranslation, Side::Left)),
            ("image_size imageSize res1", (Meaning::Size, Side::Unnamed)),
        ] {
            for name in names.split(' ') {
                let found = meaning(name);
                let same = found == Some(meant) || (meant.1 == Side::Right && found == Some((meant.0, Side::Right)));
                assert!(same, "{name} is {found:?}, not {meant:?}");
            }
        }
        for name in ["E", "F", "Q", "validRoi1", "rms", "per_view_errors"] {
            assert_eq!(meaning(name), None, "{name}");
        }
    }
}
