//! Lists the pairs of image files in a folder.

use crate::CaptureError;
use crate::console::{self, foreign};
use crate::files;
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The two image files of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePair {
    /// File of the left view.
    pub left: PathBuf,
    /// File of the right view.
    pub right: PathBuf,
    /// Name for results: the left file's stem, or the folder's name where the files are only called left and right.
    pub name: String,
}

impl FilePair {
    /// True for names that data sets use for rectified pairs (`im0`, `im1`).
    pub(super) fn is_rectified(&self) -> bool {
        let stem = self.left.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        RECTIFIED_NAMES.iter().any(|(left, _)| *left == stem)
    }
}

/// File names of pairs in data sets with one folder per scene.
const RECTIFIED_NAMES: &[(&str, &str)] =
    &[("im0", "im1"), ("im2", "im6"), ("view1", "view5"), ("scene1.row3.col3", "scene1.row3.col4")];
/// Names of folder pairs that hold the left and the right pictures.
const FOLDER_NAMES: &[(&str, &str)] =
    &[("left", "right"), ("cam0", "cam1"), ("image_2", "image_3"), ("image_0", "image_1"), ("colored_0", "colored_1")];
/// Extensions of image files.
pub(crate) const EXTENSIONS: &[&str] = &["png", "jpg", "jpeg", "tif", "tiff", "pgm", "ppm", "pnm"];

/// Pairs of a folder and remarks on its other files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderPairs {
    /// The pairs, in natural order (2 before 10).
    pub pairs: Vec<FilePair>,
    /// Remarks on files that are left out, in sentences.
    pub losses: Vec<String>,
}

/// Largest number of unpaired files that a remark names.
const MAX_NAMED_FILES: usize = 3;

/// The pairs of a folder: `left*` and `right*`, `*_left` and `*_right`, the same names in two subfolders (`left` and
/// `right`, `cam0` and `cam1`, KITTI's), or `im0` and `im1`; else one such pair in each subfolder.
///
/// # Errors
/// The folder cannot be read or has no pair; the text lists the names that were searched for.
pub fn list_pairs(folder: &Path) -> Result<FolderPairs, CaptureError> {
    let (files, folders) = entries(folder)?;
    let (mut pairs, mut unpaired) = pairs_in(folder, &files, &folders)?;
    let mut more = 0;
    if pairs.is_empty() && unpaired.is_empty() {
        for scene in &folders {
            let (found, without) = pair_by_name(scene, &entries(scene)?.0);
            more += found.len().saturating_sub(1);
            pairs.extend(found.into_iter().take(1));
            unpaired.extend(without);
        }
    }
    let shown = console::path(folder);
    if pairs.is_empty() {
        let why = match unpaired.first() {
            Some(one) => format!("{} has no partner", console::path(one)),
            None => format!(
                "looked for left* and right*, *_left and *_right, im0 and im1, im2 and im6, view1 and view5, and for the same names in folders left and right \
                 or cam0 and cam1, as {}",
                EXTENSIONS.join(", ")
            ),
        };
        return Err(CaptureError::File(format!("{shown} has no pair: {why}")));
    }
    pairs.sort_by(|a, b| natural(&a.left.to_string_lossy(), &b.left.to_string_lossy()));
    unpaired.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    let more = (more > 0).then(|| {
        format!("{shown}: of each folder in it the first pair is taken, and {more} others are left out: open such a folder alone")
    });
    Ok(FolderPairs { pairs, losses: unpaired_remark(&shown, folder, &unpaired).into_iter().chain(more).collect() })
}

/// Pairs of a folder without those of its scenes, and files without a partner; `files` and `folders` are its [`entries`].
pub(super) fn pairs_in(folder: &Path, files: &[PathBuf], folders: &[PathBuf]) -> Result<Found, CaptureError> {
    let subfolder = |side: &str| folders.iter().find(|folder| name(folder).eq_ignore_ascii_case(side));
    match FOLDER_NAMES.iter().find_map(|(left, right)| subfolder(left).zip(subfolder(right))) {
        Some((left, right)) => pair_by_folder(left, right),
        None => Ok(pair_by_name(folder, files)),
    }
}

/// Whether a folder holds the pictures of one side, as data sets name it.
pub(super) fn is_side(folder: &Path) -> bool {
    let name = name(folder);
    FOLDER_NAMES.iter().any(|(left, right)| [left, right].iter().any(|side| name.eq_ignore_ascii_case(side)))
}

/// Remark on files without a partner; `None` if there are none.
fn unpaired_remark(shown: &str, folder: &Path, unpaired: &[PathBuf]) -> Option<String> {
    let inside = |path: &PathBuf| foreign(&path.strip_prefix(folder).unwrap_or(path).to_string_lossy());
    let names: Vec<_> = unpaired.iter().take(MAX_NAMED_FILES).map(inside).collect();
    let names = match unpaired.len().checked_sub(MAX_NAMED_FILES) {
        Some(more @ 1..) => format!("{} and {more} more", names.join(", ")),
        _ => names.join(", "),
    };
    match unpaired.len() {
        0 => None,
        1 => Some(format!("{shown}: 1 picture has no partner and is left out: {names}")),
        many => Some(format!("{shown}: {many} pictures have no partner and are left out: {names}")),
    }
}

/// Images and subfolders of a folder, in natural order, without hidden ones.
pub(super) fn entries(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), CaptureError> {
    let failed = |err: std::io::Error| match err.kind() {
        std::io::ErrorKind::NotFound => {
            CaptureError::File(format!("cannot open {}: there is no such file or folder", console::path(folder)))
        }
        std::io::ErrorKind::NotADirectory => CaptureError::File(format!(
            "{} is a file: give the left and the right image as LEFT,RIGHT, or a folder",
            console::path(folder)
        )),
        _ => CaptureError::File(format!("cannot read folder {}: {}", console::path(folder), files::cause(&err))),
    };
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if name(&path).starts_with('.') {
        } else if path.is_dir() {
            folders.push(path);
        } else if EXTENSIONS.contains(&extension.as_str()) {
            files.push(path);
        }
    }
    files.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    folders.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    Ok((files, folders))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) type Found = (Vec<FilePair>, Vec<PathBuf>);

/// Pairs, and files without a partner.
fn pair_by_folder(left: &Path, right: &Path) -> Result<Found, CaptureError> {
    let (lefts, rights) = (entries(left)?.0, entries(right)?.0);
    // left/left01 and right/right01 are a pair, and so are left/1 and right/1
    let key = |path: &Path| side(&stem(path)).map_or_else(|| stem(path), |(_, key)| key);
    let mut by_key: HashMap<String, PathBuf> = HashMap::new();
    let (mut pairs, mut unpaired) = (Vec::new(), Vec::new());
    for right in rights {
        // of several files with the same name, the first one counts
        match by_key.entry(key(&right)) {
            Entry::Vacant(place) => {
                place.insert(right);
            }
            Entry::Occupied(_) => unpaired.push(right),
        }
    }
    for left in lefts {
        match by_key.remove(&key(&left)) {
            Some(right) => pairs.push(FilePair { right, name: stem(&left), left }),
            None => unpaired.push(left),
        }
    }
    unpaired.extend(by_key.into_values());
    Ok((pairs, unpaired))
}

fn pair_by_name(folder: &Path, files: &[PathBuf]) -> Found {
    let mut found: BTreeMap<String, [Option<&PathBuf>; 2]> = BTreeMap::new();
    let mut unpaired = Vec::new();
    for file in files {
        if let Some((right, key)) = side(&stem(file)) {
            match &mut found.entry(key).or_default()[usize::from(right)] {
                place @ None => *place = Some(file),
                Some(_) => unpaired.push(file.clone()),
            }
        }
    }
    let mut pairs = Vec::new();
    for (key, sides) in found {
        match sides {
            [Some(left), Some(right)] => {
                let named_by_folder = key.is_empty() || RECTIFIED_NAMES.iter().any(|(left, _)| *left == key);
                let name = if named_by_folder { name(folder) } else { stem(left) };
                pairs.push(FilePair { left: left.clone(), right: right.clone(), name });
            }
            [Some(one), None] | [None, Some(one)] => unpaired.push(one.clone()),
            [None, None] => {}
        }
    }
    (pairs, unpaired)
}

/// Whether a file's stem names a right picture, and the part of the stem that its partner shares.
fn side(stem: &str) -> Option<(bool, String)> {
    let stem = stem.to_lowercase();
    for (left, right) in RECTIFIED_NAMES {
        if stem == *left || stem == *right {
            return Some((stem == *right, (*left).into()));
        }
    }
    let cut = |side: &str| stem.strip_prefix(side).or_else(|| stem.strip_suffix(&format!("_{side}"))).map(String::from);
    cut("left").map(|key| (false, key)).or_else(|| cut("right").map(|key| (true, key)))
}

/// Natural order: digits compare as numbers.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    while let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) {
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let digits = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
            let ((da, ra), (db, rb)) = (a.split_at(digits(a)), b.split_at(digits(b)));
            let (na, nb) = (da.trim_start_matches('0'), db.trim_start_matches('0'));
            let order = na.len().cmp(&nb.len()).then_with(|| na.cmp(nb)).then_with(|| da.len().cmp(&db.len()));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (ra, rb);
        } else {
            if x != y {
                return x.cmp(&y);
            }
            (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
        }
    }
    a.len().cmp(&b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs found in a folder of empty files, as `name: left right`.
    fn found(files: &[&str]) -> Result<Vec<String>, String> {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("data");
        std::fs::create_dir(&folder).unwrap();
        for file in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let show = |path: &Path| path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
        let pairs = list_pairs(&folder).map_err(|err| err.to_string())?;
        Ok(pairs
            .pairs
            .iter()
            .map(|pair| format!("{}: {} {}", pair.name, show(&pair.left), show(&pair.right)))
            .collect())
    }

    #[test]
    fn pairs_by_name_in_natural_order() {
        let files = ["left10.png", "right10.png", "left9.png", "right9.png", "notes.txt", ".left1.png"];
        assert_eq!(found(&files).unwrap(), ["left9: left9.png right9.png", "left10: left10.png right10.png"]);
        let files = ["b_LEFT.tif", "b_right.tif", "a_left.pgm", "a_right.png"];
        assert_eq!(found(&files).unwrap(), ["a_left: a_left.pgm a_right.png", "b_LEFT: b_LEFT.tif b_right.tif"]);
    }

    #[test]
    fn pairs_in_two_folders() {
        let files = ["left/1.png", "right/1.png", "left/2.jpg", "right/2.png", "left/3.png"];
        assert_eq!(found(&files).unwrap(), ["1: left/1.png right/1.png", "2: left/2.jpg right/2.png"]);
        let files = ["left/left01.jpg", "right/right01.jpg", "left/left02.jpg", "right/right03.jpg"];
        assert_eq!(found(&files).unwrap(), ["left01: left/left01.jpg right/right01.jpg"]);
        assert_eq!(found(&["cam0/7.png", "cam1/7.png"]).unwrap(), ["7: cam0/7.png cam1/7.png"]);
    }

    #[test]
    fn scenes_are_called_by_their_folder() {
        assert_eq!(found(&["im0.png", "im1.png"]).unwrap(), ["data: im0.png im1.png"]);
        let files = ["tsukuba/im0.ppm", "tsukuba/im1.ppm", "art/left.png", "art/right.png", "empty/readme.md"];
        let expected = ["art: art/left.png art/right.png", "tsukuba: tsukuba/im0.ppm tsukuba/im1.ppm"];
        assert_eq!(found(&files).unwrap(), expected);
    }

    #[test]
    fn what_is_left_out_is_told_with_its_number() {
        let losses = |files: &[&str]| {
            let root = tempfile::tempdir().unwrap();
            for file in files {
                let path = root.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            list_pairs(root.path()).unwrap().losses.concat()
        };
        assert_eq!(losses(&["left1.png", "right1.png", "notes.txt", "disp1.png"]), "");
        let text = losses(&["left1.png", "right1.png", "right2\u{1b}[2J.png"]);
        assert!(text.contains(": 1 picture has no partner and is left out: right2\\u{1b}[2J.png"), "{text}");
        let text = losses(&["left/1.png", "right/1.png", "left/2.png", "left/1.jpg", "right/3.png", "right/4.png"]);
        assert!(text.contains(": 4 pictures have no partner") && text.contains("and 1 more"), "{text}");
        let text = losses(&["a/left1.png", "a/right1.png", "a/left2.png", "a/right2.png", "b/left1.png"]);
        assert!(text.contains("1 picture has no partner") && text.contains("and 1 others are left out"), "{text}");
    }

    #[test]
    fn a_folder_without_pairs_says_what_was_looked_for() {
        let text = found(&["a.png", "b.png"]).unwrap_err();
        assert!(text.contains("left*") && text.contains("im0"), "{text}");
        let text = found(&["left3.png", "right4.png"]).unwrap_err();
        assert!(text.contains("left3.png") && text.contains("partner"), "{text}");
        let text = list_pairs(Path::new("no/such/folder")).unwrap_err().to_string();
        assert!(text.contains("no/such/folder") && text.contains("no such"), "{text}");
    }
}
