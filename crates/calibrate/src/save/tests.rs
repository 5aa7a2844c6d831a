//! Tests of killed, refused and replaced calibrations and of the earlier ones.

use super::*;
use crate::fixture::{ImagingConditions, random_pose, random_rig, truth};
use crate::{CalibrationRequest, Pictures, calibrate};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use stereopsis_base::files::killed;
use stereopsis_base::image::Image;

/// Calibration with views, by seed.
struct Calibration {
    outcome: Outcome,
    taken: Vec<TakenView>,
}

impl Calibration {
    fn of(seed: u64, views: usize) -> Self {
        let board: Board = "charuco:10x7:26mm:19.5mm:DICT_5X5_100".parse().unwrap();
        let rig = random_rig(3);
        let mut rng = fastrand::Rng::with_seed(seed);
        let view = |number: usize| {
            let pose = random_pose(&rig, &board, &mut rng);
            View { name: format!("{:03}", number + 1), ..truth(&rig, &board, &pose, &ImagingConditions::default()) }
        };
        let views: Vec<View> = (0..views).map(view).collect();
        let request = CalibrationRequest { kind: Some(LensKind::Radtan), kept: None };
        let outcome = calibrate(&board, &views, (640, 480), &request).unwrap();
        let picture = Arc::new(Image::filled(8, 6, seed as u8));
        let taken = |view| TakenView { view, pictures: Pictures::Held([Arc::clone(&picture), Arc::clone(&picture)]) };
        Self { outcome, taken: views.into_iter().map(taken).collect() }
    }

    fn save(&self, rig: &Path) -> Result<SavedCalibration, CalibrateError> {
        let (mut draft, _) = Draft::begin(rig)?;
        draft.keep(&self.outcome.board, &self.taken)?;
        draft.save(&self.outcome, &self.taken)
    }
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Reads all files below a folder except those below `but`.
fn files_in(folder: &Path, but: &str) -> Files {
    let mut found = Files::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap() == but {
        } else if path.is_dir() {
            found.extend(files_in(&path, but));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

fn all(folder: &Path) -> Files {
    files_in(folder, "")
}

fn restore(folder: &Path, files: &Files) {
    fs::remove_dir_all(folder).unwrap();
    for (path, bytes) in files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Lists names beside a calibration except its file and folder.
fn beside(place: &Path) -> Vec<String> {
    let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !["rig.toml", "rig-calibration"].contains(&name.as_str())).collect()
}

#[test]
fn a_run_killed_at_any_step_leaves_the_old_calibration_or_the_new_one() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("place");
    let (rig, folder) = (place.join("rig.toml"), place.join("rig-calibration"));
    let (old, new) = (Calibration::of(1, 9), Calibration::of(2, 8));
    old.save(&rig).unwrap();
    // files of the user remain
    fs::write(folder.join("notes.txt"), "desk").unwrap();
    fs::write(folder.join("views/left/mine.png"), "mine").unwrap();
    let before = all(&place);
    new.save(&rig).unwrap();
    let after = all(&place);
    assert!(after[&rig] != before[&rig] && beside(&place).is_empty(), "{:?}", beside(&place));
    assert!(after.contains_key(&folder.join("notes.txt")) && after.contains_key(&folder.join("views/left/mine.png")));
    assert!(before.contains_key(&folder.join("views/left/009.png")));
    assert!(!after.contains_key(&folder.join("views/left/009.png")), "views of two calibrations lie together");

    let (mut olds, mut news, mut without) = (0, 0, 0);
    for changes in 0.. {
        restore(&place, &before);
        let (_, was_killed) = killed::after(changes, || new.save(&rig));
        let is_new = fs::read(&rig).unwrap() == after[&rig];
        let wanted = if is_new { &after } else { &before };
        (olds, news) = (olds + usize::from(!is_new), news + usize::from(is_new));
        // a reader finds one complete calibration, or only the file
        let now = |place: &Path| -> Files {
            all(place).into_iter().filter(|(path, _)| *path == rig || path.starts_with(&folder)).collect()
        };
        if folder.exists() {
            assert!(now(&place) == *wanted, "after {changes} changes");
        } else {
            without += 1;
            assert_eq!(fs::read(&rig).unwrap(), wanted[&rig]);
        }
        // the next run completes the replacement
        let (_, remarks) = Draft::begin(&rig).unwrap();
        assert!(now(&place) == *wanted, "after {changes} changes and another run");
        let left = beside(&place);
        assert!(left.iter().all(|name| name.starts_with("rig-calibration.unsaved-")), "{left:?}");
        assert_eq!(remarks.len(), left.len(), "nothing is left in silence");
        if !was_killed {
            break;
        }
    }
    assert!(olds > 30 && news > 2 && without > 2, "{olds} old, {news} new, {without} without the folder");
}

#[test]
fn a_refused_calibration_leaves_the_earlier_one_byte_for_byte() {
    let root = tempfile::tempdir().unwrap();
    let (rig, folder) = (root.path().join("rig.toml"), root.path().join("rig-calibration"));
    let (old, refused) = (Calibration::of(1, 9), Calibration::of(2, 8));
    old.save(&rig).unwrap();
    let before = all(root.path());
    for views in [8, 3] {
        let (mut draft, _) = Draft::begin(&rig).unwrap();
        for count in 1..=views {
            draft.keep(&refused.outcome.board, &refused.taken[..count]).unwrap(); // one view more each time, as from cameras
        }
        let unsaved = draft.new.path();
        let is_earlier =
            |path: &PathBuf| !path.starts_with(&unsaved) && !path.starts_with(folder.join("refused-views"));
        assert!(all(root.path()).into_iter().filter(|(path, _)| is_earlier(path)).collect::<Files>() == before);
        let kept = draft.refuse().unwrap().unwrap();
        assert!(files_in(root.path(), "refused-views") == before);
        assert_eq!(kept, folder.join("refused-views"));
        let pairs = stereopsis_images::picture_files::list_pairs(&kept).unwrap().pairs;
        assert_eq!(pairs.len(), views, "views of two refused calibrations lie together, or some are lost");
        assert!(beside(root.path()).is_empty());
    }
    assert!(paths_of(&rig).contains(&folder.join("refused-views/board.txt")), "they are not replaced unasked");
    // images in a folder are not copied
    let (draft, remarks) = Draft::begin(&rig).unwrap();
    assert!(remarks.is_empty() && draft.refuse().unwrap().is_none());
    assert!(files_in(root.path(), "refused-views") == before);
}

#[test]
fn views_of_a_killed_run_are_reported_and_kept_apart() {
    let root = tempfile::tempdir().unwrap();
    let rig = root.path().join("rig.yml");
    let (first, second) = (Calibration::of(1, 9), Calibration::of(2, 8));
    let (mut draft, _) = Draft::begin(&rig).unwrap();
    draft.keep(&first.outcome.board, &first.taken).unwrap();
    let left = draft.new.path();
    drop(draft);
    fs::create_dir(root.path().join("rig-calibration.unsaved-7")).unwrap();
    for _ in 0..2 {
        let (mut draft, remarks) = Draft::begin(&rig).unwrap();
        let [remark] = &remarks[..] else { panic!("{remarks:?}") };
        assert!(
            remark.contains(&left.join("views").display().to_string()) && remark.contains("did not come"),
            "{remark}"
        );
        draft.keep(&second.outcome.board, &second.taken).unwrap();
        draft.save(&second.outcome, &second.taken).unwrap();
        let pairs = |folder: &Path| stereopsis_images::picture_files::list_pairs(folder).unwrap().pairs.len();
        assert_eq!((pairs(&left.join("views")), pairs(&root.path().join("rig-calibration/views"))), (9, 8));
    }
    assert!(!root.path().join("rig-calibration.unsaved-7").exists(), "it has no views");
}

#[test]
fn views_stay_where_a_calibration_has_none_of_its_own() {
    let root = tempfile::tempdir().unwrap();
    let rig = root.path().join("rig.toml");
    let (first, again) = (Calibration::of(1, 9), Calibration::of(2, 8));
    first.save(&rig).unwrap();
    let views = root.path().join("rig-calibration/views");
    let before = all(&views);
    Draft::begin(&rig).unwrap().0.save(&again.outcome, &[]).unwrap();
    assert!(all(&views) == before && before.len() == 19);
}

#[test]
fn a_file_that_cannot_be_written_is_named_once() {
    let root = tempfile::tempdir().unwrap();
    let rig = root.path().join("rig.toml");
    let calibration = Calibration::of(1, 8);
    for changes in 0..30 {
        let (saved, _) = killed::after(changes, || calibration.save(&rig));
        let text = saved.unwrap_err().to_string();
        assert_eq!(text.matches("cannot write ").count(), 1, "{text}");
    }
}
