//! The many names that people give to the same matrix: `K1`, `M1`, `cameraMatrix1`, `left.camera_matrix`, `mtxL`.

/// What a matrix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Camera,
    Distortion,
    /// Turns a camera into the rectified rig.
    Rectifying,
    Projection,
    /// Between the cameras.
    Rotation,
    Translation,
    Size,
}

/// Which camera a name speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// `left`, or the first of two that are counted from 1.
    Left,
    /// `right`, or the second.
    Right,
    /// 0: the first of two that are counted from 0, where 1 is the second.
    Zero,
    /// 1: see [`Side::Zero`].
    One,
    /// The name speaks of no camera.
    Unsaid,
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

const KINDS: &[(&str, Kind)] = &[
    ("k", Kind::Camera),
    ("m", Kind::Camera),
    ("cm", Kind::Camera),
    ("mtx", Kind::Camera),
    ("cameramatrix", Kind::Camera),
    ("cammatrix", Kind::Camera),
    ("intrinsic", Kind::Camera),
    ("intrinsics", Kind::Camera),
    ("intrinsicmatrix", Kind::Camera),
    ("d", Kind::Distortion),
    ("dist", Kind::Distortion),
    ("distcoef", Kind::Distortion),
    ("distcoeff", Kind::Distortion),
    ("distcoeffs", Kind::Distortion),
    ("distcoefs", Kind::Distortion),
    ("distortion", Kind::Distortion),
    ("distortioncoeffs", Kind::Distortion),
    ("distortioncoefficients", Kind::Distortion),
    ("r", Kind::Rectifying),
    ("rect", Kind::Rectifying),
    ("rectification", Kind::Rectifying),
    ("rectificationmatrix", Kind::Rectifying),
    ("p", Kind::Projection),
    ("proj", Kind::Projection),
    ("projection", Kind::Projection),
    ("projectionmatrix", Kind::Projection),
];

/// Names that speak of no camera.
const WHOLE: &[(&str, Kind)] = &[
    ("r", Kind::Rotation),
    ("rot", Kind::Rotation),
    ("rotation", Kind::Rotation),
    ("rotationmatrix", Kind::Rotation),
    ("stereor", Kind::Rotation),
    ("om", Kind::Rotation),
    ("t", Kind::Translation),
    ("trans", Kind::Translation),
    ("tvec", Kind::Translation),
    ("translation", Kind::Translation),
    ("translationvector", Kind::Translation),
    ("stereot", Kind::Translation),
    ("size", Kind::Size),
    ("imagesize", Kind::Size),
    ("imgsize", Kind::Size),
    ("resolution", Kind::Size),
];

/// The words to look for, for the error text.
pub(super) const LOOKED_FOR: &str = "K1 D1 K2 D2 (or M1, cameraMatrix1, camera_matrix_left, distCoeffs1, …), R, T, and if \
                                     there R1 R2 P1 P2";

/// What a name means, however it is spelt; groups of keys are joined by dots.
pub(super) fn meaning(name: &str) -> Option<(Kind, Side)> {
    let plain = plain(name);
    let last = self::plain(last_key(name));
    let find = |list: &[(&str, Kind)], word: &str| list.iter().find(|(w, _)| *w == word).map(|&(_, kind)| kind);
    if let Some(kind) = find(WHOLE, &plain) {
        return Some((kind, Side::Unsaid));
    }
    for &(word, side) in SIDES {
        for rest in [plain.strip_suffix(word), plain.strip_prefix(word)].into_iter().flatten() {
            if let Some(kind) = find(KINDS, rest) {
                return Some((kind, side));
            }
        }
    }
    // `cam0.K`, `left_camera.K`: the group says the camera
    if let Some((group, _)) = name.rsplit_once('.') {
        if let (Some(kind), side @ (Side::Left | Side::Right | Side::Zero | Side::One)) =
            (find(KINDS, &last), side_of(group))
        {
            return Some((kind, side));
        }
        if let Some(kind) = find(WHOLE, &last) {
            return Some((kind, side_of(group)));
        }
    }
    find(KINDS, &last).filter(|kind| *kind != Kind::Rectifying).map(|kind| (kind, Side::Unsaid))
}

/// Which camera a file or a group of keys is about, by its name.
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
        Side::Unsaid
    }
}

/// Whether a number is the width of the pictures (and not, say, of the board).
pub(super) fn is_width(name: &str) -> bool {
    matches!(plain(last_key(name)).as_str(), "width" | "imagewidth" | "imgwidth")
}

/// Whether a number is the height of the pictures.
pub(super) fn is_height(name: &str) -> bool {
    matches!(plain(last_key(name)).as_str(), "height" | "imageheight" | "imgheight")
}

fn last_key(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_met_in_the_wild_are_understood() {
        for (names, meant) in [
            ("K_L left.K LEFT.K cameraMatrixL camera_matrix_left leftCameraMatrix mtxL", (Kind::Camera, Side::Left)),
            ("K1 M1 cameraMatrix1 Camera_Matrix_1 cam1.intrinsics", (Kind::Camera, Side::One)),
            ("K2 M2 cameraMatrix2 right_camera_matrix", (Kind::Camera, Side::Right)),
            ("K0 cam0.camera_matrix", (Kind::Camera, Side::Zero)),
            ("D1 distCoeffs1 dist_coeff_1 Distortion_Coefficients_1", (Kind::Distortion, Side::One)),
            ("R1 rect_1", (Kind::Rectifying, Side::One)),
            ("P2 projection_matrix_right RIGHT.P", (Kind::Projection, Side::Right)),
            ("R rotation Rotation_Matrix stereo.R", (Kind::Rotation, Side::Unsaid)),
            ("T Tvec translation_vector", (Kind::Translation, Side::Unsaid)),
            ("K camera_matrix", (Kind::Camera, Side::Unsaid)),
            ("image_size imageSize", (Kind::Size, Side::Unsaid)),
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
