//! Pairs that no word of their names tells: two folders with equally many images, and two groups of names with the same numbers. What was
//! paired, and which view is taken as the left one, is always said.

use super::{Entries, FilePair, FolderContent, collect, has_other_content, name, sort, stem};
use crate::error::FileError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stereopsis_base::console;
use stereopsis_base::console::foreign;
use stereopsis_base::remedy::option;

/// Minimum number of the digits of a camera's serial number; fewer digits count images.
const MIN_SERIAL_DIGITS: usize = 5;

/// Adds the pairs of a folder without pairs by name.
pub(super) fn add_pairs(folder: &Path, inside: &Entries, found: &mut FolderContent) -> Result<(), FileError> {
    // times of two clocks are named, and not paired
    if !found.remarks.is_empty() {
        return Ok(());
    }
    let order = match &found.sides[..] {
        [left, right] => Some([left.clone(), right.clone()]).map(|sides| (sides, 1)),
        [] => two_folders(inside)?.map(|sides| (sides, 2)),
        _ => None,
    };
    let paired = match order {
        Some((sides, min_count)) => by_order(&sides, min_count)?,
        None if found.sides.is_empty() => by_numbers(&inside.files),
        None => None,
    };
    if let Some((pairs, how)) = paired {
        found.unpaired.clear();
        found.remarks.push(format!(
            "{}: {how}; if the left view is the other one give {}",
            console::path(folder),
            option("swap-pictures")
        ));
        found.pairs = pairs;
    }
    Ok(())
}

/// Pairs, and how they were found.
type Paired = (Vec<FilePair>, String);

/// Returns the only two folders with images, in the order of their names.
fn two_folders(inside: &Entries) -> Result<Option<[PathBuf; 2]>, FileError> {
    let mut with_images = Vec::new();
    for folder in inside.folders.iter().filter(|folder| !has_other_content(&name(folder))) {
        if !images_of(folder)?.is_empty() {
            with_images.push(folder.clone());
        }
    }
    Ok(with_images.try_into().ok())
}

fn images_of(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut images = Vec::new();
    collect(folder, 0, &mut images)?;
    images.retain(|path| !has_other_content(&stem(path)));
    sort(&mut images);
    Ok(images)
}

/// Pairs the images of two folders: those of equal names, else by their order where there are equally many.
fn by_order([left, right]: &[PathBuf; 2], min_count: usize) -> Result<Option<Paired>, FileError> {
    let (lefts, rights) = (images_of(left)?, images_of(right)?);
    if lefts.len() != rights.len() || lefts.len() < min_count {
        return Ok(None);
    }
    let below = |folder: &Path, path: &Path| path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let is_named_alike = lefts.iter().zip(&rights).all(|(l, r)| below(left, l) == below(right, r));
    let [first, last] = [lefts.first(), lefts.last()].map(|path| path.map(|path| name(path)).unwrap_or_default());
    let [first_right, last_right] =
        [rights.first(), rights.last()].map(|path| path.map(|path| name(path)).unwrap_or_default());
    let sides = format!("{} is taken as left and {} as right", foreign(&name(left)), foreign(&name(right)));
    let how = if is_named_alike {
        format!("{sides}, and images of one name are a pair")
    } else {
        let [first, first_right, last, last_right] = [first, first_right, last, last_right].map(|name| foreign(&name));
        format!(
            "{sides}, and their images are paired by order, {first} and {first_right} to {last} and {last_right}: one that is missing in \
             either folder shifts those behind it"
        )
    };
    Ok(Some((pairs_of(lefts, rights), how)))
}

/// Pairs the files of two groups whose names differ in one part and have the same numbers.
fn by_numbers(files: &[PathBuf]) -> Option<Paired> {
    // the number of the image is the last one, or the first one: `cam_a_0001`, `0001_a`
    [true, false].into_iter().find_map(|is_last| {
        let mut groups: BTreeMap<String, BTreeMap<u64, PathBuf>> = BTreeMap::new();
        for file in files.iter().filter(|file| !has_other_content(&stem(file))) {
            let (rest, number) = without_number(&stem(file), is_last)?;
            groups.entry(rest).or_default().insert(number, file.clone());
        }
        let [(left, lefts), (right, rights)] = <[_; 2]>::try_from(groups.into_iter().collect::<Vec<_>>()).ok()?;
        let has_all = lefts.len() + rights.len() == files.len() && lefts.len() >= 2 && lefts.keys().eq(rights.keys());
        // two numbers of one digit may be those of the views
        let may_be_views = lefts.len() == 2 && lefts.values().all(|file| has_number_of_one_digit(&stem(file), is_last));
        if !has_all || may_be_views || !differ_like_cameras(&left, &right) {
            return None;
        }
        let [one, other] = [&lefts, &rights].map(|side| side.values().next().map(|path| foreign(&name(path))).unwrap_or_default());
        let how = format!(
            "images whose names have the same number are a pair, such as {one} and {other}: the first by name is taken as left"
        );
        Some((pairs_of(lefts.into_values().collect(), rights.into_values().collect()), how))
    })
}

/// Returns the runs of digits in a name.
fn numbers_in(name: &str) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in name.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end = at + 1,
            None => runs.push(at..at + 1),
        }
    }
    runs
}

fn without_number(name: &str, is_last: bool) -> Option<(String, u64)> {
    let runs = numbers_in(name);
    let run = if is_last { runs.last() } else { runs.first() }?.clone();
    let mut rest = name.to_lowercase();
    let number = name.get(run.clone())?.parse().ok()?;
    (rest.len() == name.len()).then(|| rest.replace_range(run, "*"))?;
    Some((rest, number))
}

fn has_number_of_one_digit(name: &str, is_last: bool) -> bool {
    let runs = numbers_in(name);
    let run = if is_last { runs.last() } else { runs.first() };
    run.is_some_and(|run| run.len() == 1)
}

/// Returns whether two names differ by a word, or by the serial numbers of cameras; numbers that count differ otherwise.
fn differ_like_cameras(left: &str, right: &str) -> bool {
    let words = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    if words(left) != words(right) {
        return true;
    }
    let numbers = |name: &str| numbers_in(name).into_iter().map(|run| name[run].to_owned()).collect::<Vec<_>>();
    let (left, right) = (numbers(left), numbers(right));
    let mut different = left.iter().zip(&right).filter(|(left, right)| left != right);
    left.len() == right.len()
        && different
            .all(|(left, right)| [left, right].iter().all(|n| n.len() >= MIN_SERIAL_DIGITS && !n.starts_with('0')))
}

fn pairs_of(lefts: Vec<PathBuf>, rights: Vec<PathBuf>) -> Vec<FilePair> {
    let pair = |(left, right): (PathBuf, PathBuf)| FilePair { name: stem(&left), left, right, both_views: None };
    lefts.into_iter().zip(rights).map(pair).collect()
}
