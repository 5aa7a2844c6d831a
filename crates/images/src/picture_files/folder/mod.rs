//! Lists the pairs of image files in a folder, by the names of files and subfolders. Every image that is left out must appear in a
//! remark.

mod order;

use super::partners::{KeyedPicture, pair_up};
use crate::error::FileError;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use stereopsis_base::console;
use stereopsis_base::console::foreign;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_frame::picture_file::{FileOfBoth, UNREAD_EXTENSIONS, UnreadImage};
use stereopsis_frame::source::names::{
    EXTENSIONS, NamingScheme, RECTIFIED_NAMES, SECOND_EXTENSIONS, has_extension, has_other_content, view_of_file,
    view_of_folder,
};
use stereopsis_frame::{Arrangement, CaptureError};

/// Pair of image files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePair {
    /// File of the left view.
    pub left: PathBuf,
    /// File of the right view.
    pub right: PathBuf,
    /// Name for results: the stem of the left file, or the name of the folder for files that are only called left and right.
    pub name: String,
    /// Both views in one file, which is both `left` and `right`; `None` for a file per view.
    pub both_views: Option<FileOfBoth>,
}

impl FilePair {
    /// Returns whether data sets use this name for rectified pairs (`im0`, `im1`).
    pub fn is_rectified(&self) -> bool {
        let stem = self.left.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        RECTIFIED_NAMES.iter().any(|(left, _)| *left == stem)
    }

    /// Returns the numbers of the left and right camera from KITTI's names of folders: 2 and 3 for `image_02` and `image_03`.
    pub fn camera_numbers(&self) -> Option<[u32; 2]> {
        let [left, right] = [&self.left, &self.right].map(|path| {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            whole.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>()
        });
        let mut numbers =
            left.iter().zip(&right).filter_map(|(left, right)| camera_number(left).zip(camera_number(right)));
        numbers.next().map(|(left, right)| [left, right])
    }
}

fn camera_number(folder: &str) -> Option<u32> {
    match folder {
        "image_0" | "image_00" => Some(0),
        "image_1" | "image_01" => Some(1),
        "image_2" | "image_02" | "colored_0" => Some(2),
        "image_3" | "image_03" | "colored_1" => Some(3),
        _ => None,
    }
}

/// Description of the known names of pairs, for messages.
const KNOWN_NAMES: &str = "names that differ by the view alone: left* and right*, *_left and *_right, L and R as a word (1_L, imgR), top and bottom, cam0 and cam1, \
                           im0 and im1, im2 and im6, view1 and view5, 0 and 1 behind the number (img_17_0); or the same names in two folders left \
                           and right, image_left and image_right, cam0 and cam1, image_02 and image_03, also below them; or times as names there; or two folders \
                           with equally many images, or two groups of names with the same numbers";

/// Pairs of a folder and remarks on its other files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderPairs {
    /// Pairs in natural order (2 before 10).
    pub pairs: Vec<FilePair>,
    /// Remarks on files that are left out.
    pub losses: Vec<String>,
}

const MAX_NAMED_FILES: usize = 3;
/// Maximum depth of searched folders below the folder of a view: one more than Cityscapes needs.
const MAX_DEPTH_OF_VIEW: usize = 4;

/// Lists the pairs of a folder: names that differ only by the view, equal names in two folders that differ only by the view, or files with
/// both views. Without any, lists the pairs of each subfolder, and without these, pairs by the order of their images, with a remark. Of one
/// file with both views, lists that.
///
/// # Errors
/// The folder cannot be read or has no pair; the text contains the images found and the searched names.
pub fn list_pairs(folder: &Path) -> Result<FolderPairs, CaptureError> {
    if folder.is_file() {
        return pair_in_file(folder);
    }
    let inside = entries(folder)?;
    let mut found = pairs_in(folder, &inside)?;
    found.add_files_of_both(&inside.files);
    let (mut seen, mut more) = (inside.files.clone(), 0);
    if found.pairs.is_empty() && found.is_without_views() {
        for scene in &inside.folders {
            let inside_scene = entries(scene)?;
            let mut of_scene = pairs_in(scene, &inside_scene)?;
            of_scene.add_files_of_both(&inside_scene.files);
            seen.extend(inside_scene.files);
            if inside.folders.len() > 1 {
                more += of_scene.pairs.len().saturating_sub(1);
                of_scene.pairs.truncate(1);
            }
            found.add(of_scene);
        }
    }
    let shown = console::path(folder);
    sort(&mut found.unpaired);
    if found.pairs.is_empty() {
        order::add_pairs(folder, &inside, &mut found)?;
    }
    if found.pairs.is_empty() {
        let none = NoPair { folder: folder.to_owned(), found, seen, unread: inside.unread };
        return Err(CaptureError::File(none.into()));
    }
    found.pairs.sort_by(|a, b| natural(&a.left.to_string_lossy(), &b.left.to_string_lossy()));
    make_names_unique(folder, &mut found.pairs);
    let more = (more > 0).then(|| {
        format!("{shown}: of each folder in it the first pair is taken, and {more} others are left out: open such a folder alone")
    });
    let unpaired = left_out(&shown, folder, &found.unpaired, "no partner");
    let remarks =
        unpaired.into_iter().chain(found.other_content_remark(&shown, folder)).chain(found.remarks).chain(more);
    Ok(FolderPairs { losses: remarks.collect(), pairs: found.pairs })
}

/// Lists the pair of a file with both views.
fn pair_in_file(file: &Path) -> Result<FolderPairs, CaptureError> {
    match FileOfBoth::of_file(file) {
        Some(both) => Ok(FolderPairs { pairs: vec![FilePair::of_both(file, both)], losses: Vec::new() }),
        None => Err(match UnreadImage::of_file(file) {
            Some(kind) => FileError::Unread { path: file.to_owned(), kind },
            None => FileError::NotAFolder(file.to_owned()),
        }
        .into()),
    }
}

/// Lists one file, or the images of a folder, as images with both views.
///
/// # Errors
/// The folder cannot be read or has no image.
pub fn list_pictures_of_both(path: &Path, arrangement: Arrangement) -> Result<FolderPairs, CaptureError> {
    let (files, losses) = if path.is_file() {
        (vec![path.to_owned()], Vec::new())
    } else {
        let inside = entries(path)?;
        let (others, pictures): (Vec<_>, Vec<_>) =
            inside.files.into_iter().partition(|file| has_other_content(&stem(file)));
        let shown = console::path(path);
        let losses = left_out(&shown, path, &others, "a name of disparities, depths or masks");
        let unread = left_out(&shown, path, &inside.unread, "a format that is not read");
        (pictures, losses.into_iter().chain(unread).collect())
    };
    if files.is_empty() {
        return Err(FileError::NoneOfBothViews(path.to_owned()).into());
    }
    let both = FileOfBoth::of_halves(arrangement);
    Ok(FolderPairs { pairs: files.iter().map(|file| FilePair::of_both(file, both.clone())).collect(), losses })
}

/// Returns the pairs of folders whose names differ only by the view, left one first; the best pair is last.
fn side_folders(folders: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
    for &scheme in NamingScheme::OF_FOLDERS {
        let mut by_key: BTreeMap<String, [Option<&PathBuf>; 2]> = BTreeMap::new();
        for folder in folders.iter().filter(|folder| !has_other_content(&name(folder))) {
            if let Some(view) = view_of_folder(&name(folder), scheme) {
                by_key.entry(view.key).or_default()[usize::from(view.is_right)].get_or_insert(folder);
            }
        }
        let both = |sides: [Option<&PathBuf>; 2]| Some((sides[0]?.clone(), sides[1]?.clone()));
        let pairs: Vec<_> = by_key.into_values().filter_map(both).collect();
        if !pairs.is_empty() {
            return pairs;
        }
    }
    Vec::new()
}

/// Lists the pairs of a folder, without pairs in the subfolders of other scenes.
pub(super) fn pairs_in(folder: &Path, inside: &Entries) -> Result<FolderContent, FileError> {
    let mut sides = side_folders(&inside.folders);
    let all_sides = sides.iter().flat_map(|(left, right)| [left.clone(), right.clone()]).collect();
    // the last pair of folders wins: in KITTI the colour cameras
    let Some((left, right)) = sides.pop() else { return Ok(pair_by_name(folder, &inside.files)) };
    let mut found = pair_by_folder(&left, &right)?;
    for (left, right) in &sides {
        found.remarks.push(format!(
            "{}: {} and {} are left out: pairs of one folder are those of two cameras",
            console::path(folder),
            foreign(&name(left)),
            foreign(&name(right))
        ));
    }
    found.sides = all_sides;
    Ok(found)
}

/// Images and subfolders of a folder, in natural order, without hidden ones.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) files: Vec<PathBuf>,
    pub(super) folders: Vec<PathBuf>,
    unread: Vec<PathBuf>,
}

pub(super) fn entries(folder: &Path) -> Result<Entries, FileError> {
    let failed = |cause: std::io::Error| match cause.kind() {
        std::io::ErrorKind::NotFound => FileError::NoFolder(folder.to_owned()),
        std::io::ErrorKind::NotADirectory => FileError::NotAFolder(folder.to_owned()),
        _ => FileError::Folder { path: folder.to_owned(), cause },
    };
    let mut inside = Entries::default();
    let mut second = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if name(&path).starts_with('.') {
        } else if path.is_dir() {
            inside.folders.push(path);
        } else if EXTENSIONS.contains(&extension.as_str()) {
            inside.files.push(path);
        } else if SECOND_EXTENSIONS.contains(&extension.as_str()) {
            second.push(path);
        } else if UNREAD_EXTENSIONS.contains(&extension.as_str()) {
            inside.unread.push(path);
        }
    }
    if inside.files.is_empty() {
        inside.files = second;
    }
    for list in [&mut inside.files, &mut inside.folders, &mut inside.unread] {
        sort(list);
    }
    Ok(inside)
}

/// Sorts paths in natural order.
fn sort(paths: &mut [PathBuf]) {
    paths.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the name of a folder, and of `.` the name of the current folder.
fn name_of_folder(folder: &Path) -> String {
    let whole = folder.file_name().is_none().then(|| folder.canonicalize().ok()).flatten();
    let name = name(whole.as_deref().unwrap_or(folder));
    if name.is_empty() { "pair".to_owned() } else { name }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Folder without a pair.
#[derive(Debug, thiserror::Error)]
#[error("{} has no pair: {}", console::path(.folder), .found.why_none(.folder, .seen, .unread))]
struct NoPair {
    folder: PathBuf,
    found: FolderContent,
    /// Images that were found.
    seen: Vec<PathBuf>,
    /// Images of formats that are not read.
    unread: Vec<PathBuf>,
}

/// Content of a folder, classified.
#[derive(Debug, Default)]
pub(super) struct FolderContent {
    pub(super) pairs: Vec<FilePair>,
    pub(super) unpaired: Vec<PathBuf>,
    /// Folders with the images of one view.
    pub(super) sides: Vec<PathBuf>,
    /// Files whose names indicate something else than an image of a view.
    other_content: Vec<PathBuf>,
    remarks: Vec<String>,
}

impl FolderContent {
    fn is_without_views(&self) -> bool {
        self.unpaired.is_empty() && self.sides.is_empty()
    }

    /// Adds the files that hold both views: those whose name says so, and without other pairs all that do.
    fn add_files_of_both(&mut self, files: &[PathBuf]) {
        let endings: &[&str] =
            if self.pairs.is_empty() { &["mpo", "jps", "jpg", "jpeg", "tif", "tiff"] } else { &["mpo", "jps"] };
        let is_used = |file: &PathBuf| self.pairs.iter().any(|pair| [&pair.left, &pair.right].contains(&file));
        let candidates = files.iter().filter(|file| has_extension(file, endings) && !is_used(file));
        let found: Vec<_> =
            candidates.filter_map(|file| Some(FilePair::of_both(file, FileOfBoth::of_file(file)?))).collect();
        self.unpaired.retain(|file| !found.iter().any(|pair| pair.left == *file));
        self.pairs.extend(found);
    }

    fn add(&mut self, other: Self) {
        self.pairs.extend(other.pairs);
        self.unpaired.extend(other.unpaired);
        self.sides.extend(other.sides);
        self.other_content.extend(other.other_content);
        self.remarks.extend(other.remarks);
    }

    /// Returns why there is no pair; `seen` are the images found.
    fn why_none(&self, folder: &Path, seen: &[PathBuf], unread: &[PathBuf]) -> String {
        let inside = |path: &PathBuf| foreign(&path.strip_prefix(folder).unwrap_or(path).to_string_lossy());
        let first = |paths: &[PathBuf]| paths.iter().take(2).map(inside).collect::<Vec<_>>().join(" and ");
        let mut reasons = self.remarks.clone();
        match &self.unpaired[..] {
            [] => {}
            [one] => reasons.push(format!("{} has no partner", inside(one))),
            many => reasons.push(format!("{} images have no partner, such as {}", many.len(), ends(many, inside))),
        }
        reasons.extend(self.other_content_remark("there", folder).filter(|_| self.unpaired.is_empty()));
        if !unread.is_empty() {
            let kind = UnreadImage::of_file(&unread[0]);
            let what = kind.map_or_else(|| "of a format that is not read".to_owned(), |kind| kind.words(&unread[0]));
            let ending = unread[0].extension().unwrap_or_default().to_string_lossy();
            let all = kind.filter(|_| unread.len() > 1).and_then(|kind| kind.command_of_all(&ending));
            let all = all.map(|command| format!("; in its folder {command} converts all")).unwrap_or_default();
            reasons.push(format!("{} is {what}{all}", first(&unread[..1])));
        }
        if reasons.is_empty() && !seen.is_empty() {
            let [beside, above] = [Arrangement::SideBySide, Arrangement::TopBottom].map(|both| option(both.word()));
            let images = first(seen);
            reasons.push(format!(
                "there are images such as {images}: put those of each camera into a folder of its own, left and right, which are paired by \
                 name or order; where each image shows both views give {beside} or {above}"
            ));
        }
        let looked = format!("looked for {KNOWN_NAMES}; as {}", EXTENSIONS.join(", "));
        reasons.into_iter().chain([looked]).collect::<Vec<_>>().join("; ")
    }

    fn other_content_remark(&self, shown: &str, folder: &Path) -> Option<String> {
        let out = left_out(shown, folder, &self.other_content, "a name of disparities, depths or masks")?;
        Some(format!(
            "{out}: rename images; name disparities of a pair that is opened alone with {}, with {} where they are no pixels \
             (InStereo2K: 100)",
            Remedy::set("truth", "FILE"),
            Remedy::set("truth-scale", "N")
        ))
    }
}

fn ends(paths: &[PathBuf], shown: impl Fn(&PathBuf) -> String) -> String {
    let both = [paths.first(), paths.last()];
    both.into_iter().flatten().map(shown).collect::<Vec<_>>().join(" and ")
}

/// Returns a remark on files that are left out for this reason; `None` without any.
fn left_out(shown: &str, folder: &Path, paths: &[PathBuf], what: &str) -> Option<String> {
    let inside = |path: &PathBuf| foreign(&path.strip_prefix(folder).unwrap_or(path).to_string_lossy());
    let names: Vec<_> = paths.iter().take(MAX_NAMED_FILES).map(inside).collect();
    let names = match paths.len().checked_sub(MAX_NAMED_FILES) {
        Some(more @ 1..) => format!("{} and {more} more", names.join(", ")),
        _ => names.join(", "),
    };
    match paths.len() {
        0 => None,
        1 => Some(format!("{shown}: 1 image has {what} and is left out: {names}")),
        many => Some(format!("{shown}: {many} images have {what} and are left out: {names}")),
    }
}

/// Pairs the files of two folders whose paths below them are equal, except for words for the view.
fn pair_by_folder(left: &Path, right: &Path) -> Result<FolderContent, FileError> {
    let mut found = FolderContent::default();
    let mut of_side = |folder: &Path, is_right: bool| -> Result<Vec<KeyedPicture>, FileError> {
        let mut images = Vec::new();
        collect(folder, 0, &mut images)?;
        let (others, pictures): (Vec<_>, Vec<_>) = images.into_iter().partition(|path| {
            path.strip_prefix(folder).unwrap_or(path).iter().any(|part| has_other_content(&part.to_string_lossy()))
        });
        found.other_content.extend(others);
        let named = |path: PathBuf| KeyedPicture { key: key_below(folder, &path, is_right), path };
        Ok(pictures.into_iter().map(named).collect())
    };
    let (lefts, rights) = (of_side(left, false)?, of_side(right, true)?);
    let partners = pair_up(lefts, rights);
    found.pairs.extend(partners.pairs.into_iter().map(|(left, right)| FilePair {
        name: stem(&left),
        left,
        right,
        both_views: None,
    }));
    found.unpaired = partners.unpaired;
    found.remarks.extend(partners.remark);
    Ok(found)
}

fn collect(folder: &Path, depth: usize, images: &mut Vec<PathBuf>) -> Result<(), FileError> {
    let inside = entries(folder)?;
    images.extend(inside.files);
    if depth < MAX_DEPTH_OF_VIEW {
        inside.folders.iter().try_for_each(|below| collect(below, depth + 1, images))?;
    }
    Ok(())
}

/// Returns the key of a file, which its partner in the other folder shares: `left/left01` and `right/right01` are a pair, as are
/// `left/1` and `right/1`.
fn key_below(folder: &Path, path: &Path, is_right: bool) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let part = |part: &std::ffi::OsStr| {
        let part = part.to_string_lossy();
        let view = [NamingScheme::Word, NamingScheme::Letter].iter().find_map(|&scheme| view_of_file(&part, scheme));
        view.filter(|view| view.is_right == is_right)
            .map_or_else(|| part.to_lowercase(), |view| view.key.replace('*', ""))
    };
    below.iter().map(part).collect::<Vec<_>>().join("/")
}

fn pair_by_name(folder: &Path, files: &[PathBuf]) -> FolderContent {
    let mut found = FolderContent::default();
    let shows_view =
        |file: &PathBuf| NamingScheme::OF_FILES.iter().any(|&scheme| view_of_file(&stem(file), scheme).is_some());
    let (others, mut rest): (Vec<_>, Vec<_>) = files.iter().cloned().partition(|file| has_other_content(&stem(file)));
    found.other_content = others.into_iter().filter(shows_view).collect();
    let mut schemes = Vec::new();
    for &scheme in NamingScheme::OF_FILES {
        let (mut sides, mut without) = ([Vec::new(), Vec::new()], Vec::new());
        for file in rest {
            match view_of_file(&stem(&file), scheme) {
                Some(view) => sides[usize::from(view.is_right)].push(KeyedPicture { key: view.key, path: file }),
                None => without.push(file),
            }
        }
        let [lefts, rights] = sides;
        let partners = pair_up(lefts, rights);
        if scheme.is_certain() || !partners.pairs.is_empty() {
            schemes.push(scheme);
        }
        found.remarks.extend(partners.remark);
        found.pairs.extend(partners.pairs.into_iter().map(|(left, right)| {
            let is_named_by_folder = scheme == NamingScheme::Rectified || stem(&left).eq_ignore_ascii_case("left");
            let name = if is_named_by_folder { name_of_folder(folder) } else { stem(&left) };
            FilePair { left, right, name, both_views: None }
        }));
        rest = without.into_iter().chain(partners.unpaired).collect();
        sort(&mut rest);
    }
    let has_view = |file: &PathBuf| schemes.iter().any(|&scheme| view_of_file(&stem(file), scheme).is_some());
    found.unpaired = rest.into_iter().filter(has_view).collect();
    found
}

/// Adds the path below `root` to names that several pairs share, because their results would replace each other.
fn make_names_unique(root: &Path, pairs: &mut [FilePair]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for pair in &*pairs {
        *counts.entry(pair.name.clone()).or_default() += 1;
    }
    for pair in pairs.iter_mut().filter(|pair| counts.get(&pair.name).is_some_and(|&count| count > 1)) {
        let folder = pair.left.parent().unwrap_or(root);
        let above = folder.strip_prefix(root).unwrap_or(folder).iter().map(|part| part.to_string_lossy());
        let parts: Vec<_> = above.chain([stem(&pair.left).into()]).collect();
        pair.name = parts.join("-");
    }
}

/// Compares in natural order: runs of digits compare as numbers.
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
mod tests;
