//! Parses the names of images and of their folders: the view, the key that the partner shares, and the time.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

/// Names of left and right images in data sets with one folder per scene.
pub const RECTIFIED_NAMES: &[(&str, &str)] =
    &[("im0", "im1"), ("im2", "im6"), ("view1", "view5"), ("scene1.row3.col3", "scene1.row3.col4")];

/// Extensions of supported image files.
pub const EXTENSIONS: &[&str] =
    &["png", "jpg", "jpeg", "tif", "tiff", "pgm", "ppm", "pnm", "bmp", "webp", "mpo", "jps"];
/// Extensions of files that are images where a folder has no others: beside them numbers are disparities, and photos are there twice.
pub const SECOND_EXTENSIONS: &[&str] = &["npy", "pfm", "dng"];

/// Schemes of addresses of streams.
pub(super) const SCHEMES: [&str; 8] = ["rtsp", "rtsps", "http", "https", "rtmp", "srt", "udp", "tcp"];

/// Words in names of files that are no image of a view: disparities, depths, masks.
const OTHER_CONTENT: &[&str] = &[
    "disp",
    "disps",
    "disparity",
    "disparities",
    "depth",
    "depths",
    "mask",
    "masks",
    "noc",
    "nocc",
    "nonocc",
    "occ",
    "occlusion",
    "occlusions",
    "seg",
    "segmentation",
    "flow",
];

/// Words before the number of a camera, in names of folders.
const CAMERA_FOLDERS: &[&str] = &["cam", "camera", "image", "img", "colored", "infra", "infrared"];
/// Words before the number of a camera, in names of files. Without `image`: `image_0` and `image_1` are successive in time.
const CAMERA_FILES: &[&str] = &["cam", "camera", "infra", "infrared"];

/// Scheme by which two names differ only by the view, in the order in which the schemes are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamingScheme {
    /// Names of rectified pairs in data sets: `im0` and `im1`.
    Rectified,
    /// Word that begins with left or right: `left01`, `frame_right_1`, `leftImg8bit`.
    Word,
    /// Word L or R: `0001_L`, `imgR`.
    Letter,
    /// Word top or upper, bottom or lower, of cameras one above the other: `top_01`.
    Height,
    /// Numbers of cameras 0 and 1, or 2 and 3: `cam0`, `image_02`.
    Camera,
    /// Numbers of cameras 1 and 2.
    CameraFromOne,
    /// Word that ends with left or right: `imgleft`.
    Ending,
    /// Last word 0 or 1, after another number: `image_00000017_0`.
    LastNumber,
}

impl NamingScheme {
    /// Schemes of files.
    pub const OF_FILES: &[Self] = &[
        Self::Rectified,
        Self::Word,
        Self::Letter,
        Self::Height,
        Self::Camera,
        Self::CameraFromOne,
        Self::Ending,
        Self::LastNumber,
    ];
    /// Schemes of folders.
    pub const OF_FOLDERS: &[Self] =
        &[Self::Word, Self::Letter, Self::Height, Self::Camera, Self::CameraFromOne, Self::Ending];

    /// Returns whether a name that fits the scheme is certainly an image of a view, even without a partner.
    pub fn is_certain(self) -> bool {
        matches!(self, Self::Rectified | Self::Word)
    }
}

/// View that a name indicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Whether it is the right view.
    pub is_right: bool,
    /// Part of the name that its partner shares: lower case, `*` in place of the view.
    pub key: String,
}

/// Returns the view that the name of a file, without its extension, indicates by a scheme.
pub fn view_of_file(stem: &str, scheme: NamingScheme) -> Option<View> {
    view(stem, scheme, CAMERA_FILES)
}

/// Returns the view that the name of a folder indicates by a scheme.
pub fn view_of_folder(name: &str, scheme: NamingScheme) -> Option<View> {
    view(name, scheme, CAMERA_FOLDERS)
}

fn view(name: &str, scheme: NamingScheme, cameras: &[&str]) -> Option<View> {
    let lower = name.to_lowercase();
    if scheme == NamingScheme::Rectified {
        let (left, right) = RECTIFIED_NAMES.iter().find(|(left, right)| lower == *left || lower == *right)?;
        return Some(View { is_right: lower == *right, key: (*left).to_owned() });
    }
    let words = words(name);
    // the last word counts: `left_turn_right` is a right view
    let (is_right, part, mark) =
        (0..words.len()).rev().find_map(|at| side_of_word(name, &words, at, scheme, cameras))?;
    let mut key = name.to_owned();
    key.replace_range(part, &mark);
    Some(View { is_right, key: key.to_lowercase() })
}

/// Returns whether word `at` indicates the right view, its part of the name, and the replacement in the key; `None` for no view.
fn side_of_word(
    name: &str,
    words: &[Range<usize>],
    at: usize,
    scheme: NamingScheme,
    cameras: &[&str],
) -> Option<(bool, Range<usize>, String)> {
    let range = words.get(at)?.clone();
    let text = |range: &Range<usize>| name.get(range.clone()).unwrap_or_default().to_lowercase();
    let word = text(&range);
    let marked = |is_right: bool, part: Range<usize>| Some((is_right, part, "*".to_owned()));
    let camera = || {
        let before = text(words.get(at.checked_sub(1)?)?);
        if cameras.contains(&before.as_str()) { word.parse::<u32>().ok() } else { None }
    };
    match scheme {
        NamingScheme::Rectified => None,
        NamingScheme::Word if word.starts_with("left") => marked(false, range.start..range.start + 4),
        NamingScheme::Word if word.starts_with("right") => marked(true, range.start..range.start + 5),
        NamingScheme::Ending if word.ends_with("left") => marked(false, range.end - 4..range.end),
        NamingScheme::Ending if word.ends_with("right") => marked(true, range.end - 5..range.end),
        NamingScheme::Letter if word == "l" || word == "r" => marked(word == "r", range),
        NamingScheme::Height => match word.as_str() {
            "top" | "upper" => marked(false, range),
            "bottom" | "lower" => marked(true, range),
            _ => None,
        },
        NamingScheme::Camera => {
            let number = camera().filter(|number| *number < 4)?;
            Some((number % 2 == 1, range, format!("*{}", number / 2)))
        }
        NamingScheme::CameraFromOne => {
            let number = camera().filter(|number| (1..=2).contains(number))?;
            marked(number == 2, range)
        }
        NamingScheme::LastNumber if at + 1 == words.len() && (word == "0" || word == "1") => {
            let is_number = |range: &Range<usize>| text(range).starts_with(|c: char| c.is_ascii_digit());
            words.iter().rev().skip(1).any(is_number).then_some(())?;
            marked(word == "1", range)
        }
        _ => None,
    }
}

/// Splits a name into words: runs of digits, and runs of letters up to a capital after or before a small letter.
/// `leftImg8bit` has four.
fn words(name: &str) -> Vec<Range<usize>> {
    let chars: Vec<(usize, char)> = name.char_indices().collect();
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, &(start, c)) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            continue;
        }
        let end = start + c.len_utf8();
        let before = at.checked_sub(1).and_then(|at| chars.get(at)).map(|(_, c)| *c);
        let after = chars.get(at + 1).map(|(_, c)| *c);
        let goes_on = before.is_some_and(|before| {
            let begins = c.is_uppercase() && (before.is_lowercase() || after.is_some_and(char::is_lowercase));
            before.is_alphanumeric() && before.is_ascii_digit() == c.is_ascii_digit() && !begins
        });
        match words.last_mut().filter(|_| goes_on) {
            Some(word) => word.end = end,
            None => words.push(start..end),
        }
    }
    words
}

/// Returns whether a name has a word for disparities, depths or masks.
pub fn has_other_content(name: &str) -> bool {
    has_word(name, |word| OTHER_CONTENT.contains(&word))
}

/// Returns whether a name has a word for depths, and none for disparities.
pub fn is_name_of_depth(name: &str) -> bool {
    has_word(name, |word| word == "depth" || word == "depths") && !is_name_of_disparities(name)
}

/// Returns whether a name has a word for disparities.
pub(crate) fn is_name_of_disparities(name: &str) -> bool {
    has_word(name, |word| word.starts_with("disp") && OTHER_CONTENT.contains(&word))
}

/// Returns whether a file's name is that of disparities: `.pfm`, `.npy`, `disp*`, a word such as `left_disp`, or any name in a folder
/// `disp_*`. This separates the images of a pair from its truth.
pub(crate) fn is_truth_name(path: &Path) -> bool {
    let begins = |name: Option<&OsStr>, with: &str| {
        name.is_some_and(|name| name.to_string_lossy().to_lowercase().starts_with(with))
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    has_extension(path, &["npy", "pfm"])
        || is_name_of_disparities(&stem)
        || begins(path.file_name(), "disp")
        || begins(path.parent().and_then(Path::file_name), "disp_")
}

/// Returns whether a path has one of these extensions, in small or capital letters.
pub fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|ending| extensions.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Returns whether `is_wanted` accepts a word of the name, in small letters and without left or right at either end.
fn has_word(name: &str, is_wanted: impl Fn(&str) -> bool) -> bool {
    words(name).into_iter().any(|range| {
        let word = name.get(range).unwrap_or_default().to_lowercase();
        let sides = ["left", "right"];
        let rest = sides.iter().find_map(|side| word.strip_prefix(side).or_else(|| word.strip_suffix(side)));
        is_wanted(rest.unwrap_or(&word))
    })
}

/// Returns the time in a name, ns, and the rest of the name; `None` without a time or with several. A time is nanoseconds, microseconds
/// or milliseconds since 1970, by its number of digits, or seconds with a fraction.
pub fn time_in(name: &str) -> Option<(i128, String)> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let mut found = None;
    let mut at = 0;
    while let Some(start) = name.get(at..)?.find(is_part).map(|start| at + start) {
        let run = name.get(start..)?;
        let len = run.find(|c| !is_part(c)).unwrap_or(run.len());
        if let Some(time_ns) = time_ns(run.get(..len)?) {
            if found.is_some() {
                return None;
            }
            found = Some((time_ns, start..start + len));
        }
        at = start + len;
    }
    let (time_ns, part) = found?;
    let mut rest = name.to_owned();
    rest.replace_range(part, "");
    Some((time_ns, rest))
}

fn time_ns(text: &str) -> Option<i128> {
    match text.split_once('.') {
        // leading zeros indicate the number of an image
        None if text.starts_with('0') => None,
        None => {
            let unit_ns = match text.len() {
                13 => 1_000_000,
                16 => 1000,
                19 => 1,
                _ => return None,
            };
            Some(text.parse::<i128>().ok()? * unit_ns)
        }
        Some((whole, fraction)) if (1..=10).contains(&whole.len()) && (3..=9).contains(&fraction.len()) => {
            let fraction_ns = fraction.parse::<i128>().ok()? * 10_i128.pow(9 - fraction.len() as u32);
            Some(whole.parse::<i128>().ok()? * 1_000_000_000 + fraction_ns)
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_of_digits() {
        let split = |name: &str| words(name).into_iter().map(|range| name[range].to_owned()).collect::<Vec<_>>();
        assert_eq!(split("leftImg8bit"), ["left", "Img", "8", "bit"]);
        assert_eq!(split("IMGLeft_01-übR"), ["IMG", "Left", "01", "üb", "R"]);
        assert_eq!(split("_"), Vec::<String>::new());
    }

    #[test]
    fn finds_view_and_key_of_a_name() {
        let file = |stem: &str| {
            let found = NamingScheme::OF_FILES.iter().find_map(|&scheme| Some((scheme, view_of_file(stem, scheme)?)));
            found.map(|(scheme, view)| (scheme, view.is_right, view.key))
        };
        for (left, right, scheme, key) in [
            ("left7", "RIGHT7", NamingScheme::Word, "*7"),
            ("leftimg_7", "rightimg_7", NamingScheme::Word, "*img_7"),
            ("left_turn_left", "left_turn_right", NamingScheme::Word, "left_turn_*"),
            ("7_left_a", "7_right_a", NamingScheme::Word, "7_*_a"),
            ("bright_L", "bright_R", NamingScheme::Letter, "bright_*"),
            ("imgL02", "imgR02", NamingScheme::Letter, "img*02"),
            ("top_5", "bottom_5", NamingScheme::Height, "*_5"),
            ("rig-upper", "rig-lower", NamingScheme::Height, "rig-*"),
            ("desk_top_left", "desk_top_right", NamingScheme::Word, "desk_top_*"),
            ("cam0_5", "cam1_5", NamingScheme::Camera, "cam*0_5"),
            ("imgleft", "imgright", NamingScheme::Ending, "img*"),
            ("im_17_0", "im_17_1", NamingScheme::LastNumber, "im_17_*"),
            ("im2", "im6", NamingScheme::Rectified, "im2"),
        ] {
            assert_eq!(file(left), Some((scheme, false, key.to_owned())), "{left}");
            assert_eq!(file(right), Some((scheme, true, key.to_owned())), "{right}");
        }
        for name in ["image_0", "frame_1", "000000_10", "sharp", "im_17_2"] {
            assert_eq!(file(name), None, "{name}");
        }
    }

    #[test]
    fn times_are_read_in_each_unit() {
        assert_eq!(time_in("1700000000000007113"), Some((1_700_000_000_000_007_113, String::new())));
        assert_eq!(time_in("a-1700000000000.x"), None, "a dot at the end");
        assert_eq!(time_in("f_1700000000000_x"), Some((1_700_000_000_000_000_000, "f__x".to_owned())));
        assert_eq!(time_in("12.0305"), Some((12_030_500_000, String::new())));
        for name in ["000017", "0000000000000000012", "scene1.row3.col3", "1700000000000_1700000000001", "1.2"] {
            assert_eq!(time_in(name), None, "{name}");
        }
    }

    #[test]
    fn recognizes_names_of_disparities_depths_and_masks() {
        for name in ["left_disp", "rightDisparity", "leftdepth", "000_left_mask", "disp0GT", "Depth.L", "left_nocc"] {
            assert!(has_other_content(name), "{name}");
        }
        for name in ["left", "dispatch_left", "display_left", "depthcam_left", "masked_left"] {
            assert!(!has_other_content(name), "{name}");
        }
    }
}
