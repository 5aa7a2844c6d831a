//! Saved state on the disk: one file, written atomically and by one window at a time, and the calibration of its rig. What cannot be used
//! of the file is set aside before it is replaced.
//! An open window locks a marker beside the file. The system releases the lock however the program ends, so that an unlocked marker
//! belongs to a window that was not closed.

use super::error::FileError;
use super::saved::SavedState;
use super::source::Request;
use parking_lot::Mutex;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::files;
use stereopsis_base::files::{Growing, WriteError, plain};
use stereopsis_calibration::StereoRig;
use stereopsis_recording::write::free_name;
use stereopsis_settings::rig::{CalibrationChoice, RectifyChoice, RigFile};

/// Time limit for another window that writes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const MARKER: &str = "running";
/// Prefix of the file names of estimated calibrations.
const ESTIMATE: &str = "last-rig-calibration";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedContent {
    pub(crate) state: SavedState,
    pub(crate) rig: RigFile,
    /// Estimated rig, which becomes the calibration file of the saved one.
    pub(crate) estimate: Option<StereoRig>,
}

/// Saved state that cannot be used, and the path under which it is kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SetAside {
    pub(crate) why: String,
    pub(crate) path: PathBuf,
}

pub(crate) struct Store {
    path: PathBuf,
    /// Number of the newest written state.
    newest: Mutex<u64>,
    marker: Mutex<Option<Growing>>,
    was_not_closed: bool,
}

/// Store, and the state that this window has written.
pub(super) struct StateWriter {
    pub(super) store: Option<Arc<Store>>,
    pub(super) written: Option<SavedContent>,
    /// Number of the newest state; 0 until the window has drawn a frame.
    pub(super) number: u64,
    pub(super) due: Instant,
    /// Message about a failure to write.
    pub(super) failing: Option<String>,
    pub(super) fresh: Request,
}

impl StateWriter {
    pub(super) fn new(store: Option<Store>, fresh: Request) -> Self {
        Self { store: store.map(Arc::new), written: None, number: 0, due: Instant::now(), failing: None, fresh }
    }
}

impl Store {
    /// Opens the store; an unwritable folder is reported at the first write.
    pub(crate) fn open(path: &Path) -> Self {
        let (path_here, marker) = (path.to_owned(), Mutex::new(None));
        let mut store = Self { path: path_here, newest: Mutex::new(0), marker, was_not_closed: false };
        if let Err(why) = store.mark() {
            log::info!("{}: {why}", path.display());
        }
        store
    }

    /// Returns whether an earlier window ended without being closed.
    pub(crate) fn was_not_closed(&self) -> bool {
        self.was_not_closed
    }

    /// Removes the marker, because the window is closed.
    pub(crate) fn close(&self) {
        if let Some(marker) = self.marker.lock().take() {
            marker.remove();
        }
    }

    /// Writes a state unless it or a newer one of this window was written. What is in its place and cannot be read is set aside, and so is,
    /// at the first time, a state with wrong values: this window did not take them over.
    ///
    /// # Errors
    /// The folder or a file cannot be written, or another window holds the lock too long.
    pub(crate) fn write(&self, number: u64, kept: &SavedContent) -> Result<Option<SetAside>, FileError> {
        let mut newest = self.newest.lock();
        if number <= *newest {
            return Ok(None);
        }
        let _lock = self.lock()?;
        let folder = self.folder();
        let mut rig = kept.rig.clone();
        if let Some(estimate) = &kept.estimate {
            rig.calibration = self.write_estimate(estimate, &rig.calibration)?;
        }
        let there = SavedState::read(&self.path);
        let wrong = there.as_ref().map(|there| there.wrong(folder)).unwrap_or_default();
        let table = kept.state.table(&rig, folder, there.as_ref().ok())?;
        let mut aside = None;
        if !there.as_ref().is_ok_and(|there| there.is(&table)) {
            let text = toml::to_string(&table)?;
            let why = match there {
                Err(why) => Some(format!("the saved state of the window cannot be read: {why}")),
                Ok(_) if wrong.is_empty() || *newest > 0 => None,
                Ok(_) => Some(format!("the saved state of the window has wrong values: {}", wrong.join(", "))),
            };
            aside = why.map(|why| Ok::<_, FileError>(SetAside { why, path: self.move_aside()? })).transpose()?;
            if let Err(err) = files::write_synced(&self.path, text.as_bytes()) {
                if let Some(SetAside { path, .. }) = aside {
                    files::rename_new(&path, &self.path).map_err(|err| WriteError::new(&self.path, err))?;
                }
                return Err(err.into());
            }
        }
        *newest = number;
        Ok(aside)
    }

    /// Renames the file, whose new path is returned; `None` without a file.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub(crate) fn set_aside(&self) -> Result<Option<PathBuf>, FileError> {
        let _newest = self.newest.lock();
        let _lock = self.lock()?;
        self.path.symlink_metadata().is_ok().then(|| self.move_aside()).transpose()
    }

    /// Renames what is in the place of the file: thus nothing has to be read of it, be it a file, a folder, a link or a pipe.
    fn move_aside(&self) -> Result<PathBuf, FileError> {
        let aside = free_name(&self.path.with_file_name(format!("{}-before.toml", self.stem())));
        match files::rename_new(&self.path, &aside) {
            Ok(()) => Ok(aside),
            Err(cause) => Err(FileError::Rename { from: self.path.clone(), to: aside, cause }),
        }
    }

    /// Writes an estimate under a name derived from its content, so that a state always finds its own one.
    fn write_estimate(&self, rig: &StereoRig, choice: &CalibrationChoice) -> Result<CalibrationChoice, FileError> {
        let written = stereopsis_calibration::write(rig, stereopsis_calibration::Output::Toml, choice.crop())?;
        let bytes: Vec<u8> = written.into_iter().flat_map(|(_, bytes)| bytes).collect();
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let path = self.folder().join(format!("{ESTIMATE}-{:016x}.toml", hasher.finish()));
        if !plain::read(&path, plain::MAX_TEXT_BYTES).is_ok_and(|there| there == bytes) {
            files::write_synced(&path, &bytes)?;
        }
        Ok(estimated(choice, path))
    }

    /// Checks for windows that were not closed, and marks this one as open.
    fn mark(&mut self) -> Result<(), FileError> {
        let _lock = self.lock()?;
        let mut others = 0;
        for path in self.siblings(|name| name.ends_with(&format!(".{MARKER}")))? {
            match Growing::open(&path) {
                Ok(left) => {
                    left.remove();
                    self.was_not_closed = true;
                }
                Err(_) => others += 1,
            }
        }
        if others == 0 {
            self.remove_estimates()?;
            files::remove_drafts(self.folder())?;
        }
        let marker =
            |n: usize| self.path.with_file_name(format!("{}-{}-{n}.{MARKER}", self.stem(), std::process::id()));
        let marked = (0..).map(marker).find_map(|path| match Growing::create_new(&path) {
            Err(err) if err.kind() == ErrorKind::AlreadyExists => None,
            marked => Some(marked),
        });
        *self.marker.lock() = marked.transpose()?;
        Ok(())
    }

    /// Removes estimates that no saved state names, while no other window is open; none if a state cannot be read, which may name them.
    fn remove_estimates(&self) -> io::Result<()> {
        let begin = format!("{ESTIMATE}-");
        let states = self.siblings(|name| name.strip_suffix(".toml").is_some_and(|stem| !stem.starts_with(&begin)))?;
        let read = states.iter().filter(|path| path.is_file()).map(|path| plain::read(path, plain::MAX_TEXT_BYTES));
        let Ok(texts) = read.collect::<io::Result<Vec<_>>>() else { return Ok(()) };
        // a state with bytes that are no text may name some too
        let texts: Vec<_> = texts.iter().map(|bytes| String::from_utf8_lossy(bytes)).collect();
        for path in self.siblings(|name| name.starts_with(&begin))? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !texts.iter().any(|text| text.contains(&*name))
                && let Err(err) = std::fs::remove_file(&path)
            {
                log::info!("cannot remove {}: {err}", path.display());
            }
        }
        Ok(())
    }

    fn siblings(&self, is_one: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(self.folder())?.flatten();
        let are = entries.filter(|entry| entry.file_name().to_str().is_some_and(&is_one));
        Ok(are.map(|entry| entry.path()).collect())
    }

    /// Locks out other windows until the guard is dropped.
    fn lock(&self) -> Result<Growing, FileError> {
        files::make_folder(self.folder())?;
        let path = self.path.with_extension("lock");
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match Growing::open(&path) {
                Err(err) if err.kind() == ErrorKind::WouldBlock && Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(err) if err.kind() == ErrorKind::WouldBlock => {
                    return Err(FileError::Locked { path, seconds: LOCK_TIMEOUT.as_secs() });
                }
                Err(err) => return Err(WriteError::new(&path, err).into()),
                Ok(lock) => return Ok(lock),
            }
        }
    }

    fn folder(&self) -> &Path {
        files::folder_of(&self.path)
    }

    fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Drop for Store {
    /// Removes the marker unless the window ends by a panic.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.close();
        }
    }
}

/// Returns the choice of an estimate stored in this file.
pub(crate) fn estimated(choice: &CalibrationChoice, file: PathBuf) -> CalibrationChoice {
    let CalibrationChoice { swap_pictures, alpha, rectified_fov_deg, depth_fit, scale, .. } = *choice;
    // the file has lens and baseline; the choice has only given ones, and no lens without a baseline
    let mut said = CalibrationChoice::default();
    if choice.baseline_m.is_some() && choice.focal().is_some() {
        said.baseline_m = choice.baseline_m;
        said.set_focal(choice.focal());
    }
    let mask = choice.mask.clone();
    CalibrationChoice { files: vec![file], swap_pictures, alpha, rectified_fov_deg, depth_fit, scale, mask, ..said }
}

/// Returns whether the rig was estimated in this run or in the run of the state in this folder.
pub(crate) fn is_estimate(choice: &CalibrationChoice, folder: Option<&Path>) -> bool {
    let is_kept = |file: &PathBuf| {
        file.parent() == folder && file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(ESTIMATE))
    };
    choice.rectify() == RectifyChoice::Auto || matches!(&choice.files[..], [file] if folder.is_some() && is_kept(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{RecordingChoices, ViewSettings};
    use stereopsis_base::geometry::Geometry;
    use stereopsis_frame::SourceSpec;

    fn kept(source: &str, estimate: Option<StereoRig>) -> SavedContent {
        let (view, recording) = (ViewSettings::default(), RecordingChoices::default());
        let state = SavedState::of(
            source,
            &[SourceSpec::Scene],
            &view,
            (&recording, &crate::core::PictureChoices::default()),
            None,
            Vec::new(),
        );
        let calibration = CalibrationChoice { rectify: Some(RectifyChoice::Auto), ..CalibrationChoice::default() };
        let calibration = if estimate.is_some() { calibration } else { CalibrationChoice::default() };
        SavedContent { state, rig: RigFile { calibration, ..RigFile::default() }, estimate }
    }

    fn rig(baseline_m: f64) -> StereoRig {
        let geometry = Geometry { baseline_m, ..stereopsis_frame::SceneOptions::default().geometry() };
        StereoRig::of_rectified(&geometry, (64, 48))
    }

    fn names(folder: &Path, part: &str) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains(part)).collect()
    }

    #[test]
    fn an_older_state_never_replaces_a_newer_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/window.toml");
        let store = Store::open(&path);
        store.write(2, &kept("webcam:1,0", None)).unwrap();
        store.write(1, &kept("scene", None)).unwrap();
        assert_eq!(SavedState::read(&path).unwrap().source().unwrap(), "webcam:1,0");
        let written = path.metadata().unwrap().modified().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        store.write(3, &kept("webcam:1,0", None)).unwrap();
        assert_eq!(path.metadata().unwrap().modified().unwrap(), written, "what is there is not written again");
    }

    #[test]
    fn last_of_two_windows_keeps_state_and_calibration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.toml");
        let stores = [Store::open(&path), Store::open(&path)];
        assert!(stores.iter().all(|store| !store.was_not_closed()));
        std::thread::scope(|scope| {
            for (store, baseline_m) in stores.iter().zip([0.06, 0.12]) {
                scope.spawn(move || {
                    for number in 1..30 {
                        store.write(number, &kept(&format!("{baseline_m}.png"), Some(rig(baseline_m)))).unwrap();
                        // the file is complete at any moment
                        let there = SavedState::read(&store.path).unwrap();
                        let calibration = there.rig(store.folder()).unwrap().calibration.files[0].clone();
                        let text = std::fs::read_to_string(calibration).unwrap();
                        let of_source = there.source().unwrap().replace(".png", "");
                        assert!(text.contains(&of_source), "{of_source}: {text}");
                    }
                });
            }
        });
        assert_eq!(names(folder.path(), ".stereopsis-").len(), 0, "no parts");
    }

    /// Puts something that is no saved state at a path.
    fn unusable(kind: &str, path: &Path) {
        let good = "source = \"a.mcap\"\n[settings]\np1 = 20\n";
        let bytes = match kind {
            "cut" => b"source = \"a.mc".to_vec(),
            "no UTF-8" => [good.as_bytes(), b"record-folder = \"andr\xe9\"\n"].concat(),
            "large" => vec![b'#'; plain::MAX_TEXT_BYTES as usize + 1],
            "wrong value" => format!("theme = 5\n{good}").into_bytes(),
            "folder" => return std::fs::create_dir_all(path.join("inside")).unwrap(),
            #[cfg(unix)]
            "pipe" => {
                return assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
            }
            #[cfg(unix)]
            link => return std::os::unix::fs::symlink(link, path).unwrap(),
            #[cfg(not(unix))]
            _ => unreachable!(),
        };
        std::fs::write(path, bytes).unwrap();
    }

    const UNUSABLE: &[(&str, &str)] = &[
        ("cut", "line 1: "),
        ("no UTF-8", "no text in UTF-8"),
        ("large", "more than the 16777216"),
        ("wrong value", "wrong values: theme"),
        ("folder", "it is a folder"),
        #[cfg(unix)]
        ("pipe", "it is a pipe"),
        #[cfg(unix)]
        ("/dev/null", "it is a device"),
        #[cfg(unix)]
        ("gone", "a link to something that does not exist"),
    ];

    /// Describes what is at a path, without opening anything but files.
    fn there(path: &Path) -> String {
        let meta = path.symlink_metadata().unwrap();
        let bytes = meta.is_file().then(|| std::fs::read(path).unwrap());
        format!("{:?} {:?} {bytes:?} {}", meta.file_type(), path.read_link().ok(), path.join("inside").exists())
    }

    #[test]
    fn unusable_state_is_set_aside_once_and_whole() {
        for (kind, wanted) in UNUSABLE {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("window.toml");
            unusable(kind, &path);
            let before = there(&path);
            let store = Store::open(&path);
            assert_eq!(there(&path), before, "{kind}: opening changes nothing");
            let SetAside { why, path: aside } = store.write(1, &kept("scene", None)).unwrap().unwrap();
            assert!(why.contains(wanted), "{kind}: {why}");
            assert_eq!((there(&aside), aside), (before, folder.path().join("window-before.toml")), "{kind}");
            assert_eq!(SavedState::read(&path).unwrap().source().unwrap(), "scene");
            // the same can come while the window is open
            std::fs::remove_file(&path).unwrap();
            unusable(kind, &path);
            let again = store.write(2, &kept("webcam:1,0", None)).unwrap().map(|aside| aside.path);
            let wanted = (*kind != "wrong value").then(|| folder.path().join("window-before_2.toml"));
            assert_eq!(again, wanted, "{kind}");
            assert_eq!(store.write(3, &kept("scene", None)).unwrap(), None, "{kind}");
            assert_eq!(names(folder.path(), "before").len(), 1 + usize::from(again.is_some()), "{kind}");
        }
    }

    #[test]
    fn failed_write_leaves_unusable_state_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.toml");
        for (kind, _) in UNUSABLE {
            unusable(kind, &path);
            let before = there(&path);
            let store = Store::open(&path);
            // the first change is the folder, the second a temporary file
            let (written, _) = files::killed::after(1, || store.write(1, &kept("scene", None)));
            assert!(written.unwrap_err().to_string().contains("cannot write"), "{kind}");
            assert_eq!((&there(&path), names(folder.path(), "before").len()), (&before, 0), "{kind}");
            let aside = store.set_aside().unwrap().unwrap();
            assert_eq!((there(&aside), path.is_symlink() || path.exists()), (before, false), "{kind}");
            std::fs::rename(aside, folder.path().join(kind.replace('/', ""))).unwrap();
        }
    }

    #[test]
    fn only_a_crashed_window_is_reported_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.toml");
        let open = Store::open(&path);
        let closed = Store::open(&path);
        drop(closed);
        assert!(!Store::open(&path).was_not_closed());
        // marker of a killed program, with any process number
        std::fs::write(folder.path().join(format!("window-{}-7.running", std::process::id())), "").unwrap();
        assert!(Store::open(&path).was_not_closed());
        assert!(!Store::open(&path).was_not_closed());
        assert_eq!(names(folder.path(), "running").len(), 1, "of the window that is open");
        let panics = std::thread::Builder::new().name("panics".into()).spawn(move || {
            let _open = open;
            panic!("a test");
        });
        panics.unwrap().join().unwrap_err();
        assert!(Store::open(&path).was_not_closed(), "a panic closes no window");
    }

    #[test]
    fn unused_estimates_are_removed_while_no_window_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.toml");
        let store = Store::open(&path);
        store.write(1, &kept("scene", Some(rig(0.06)))).unwrap();
        let aside = store.set_aside().unwrap().unwrap();
        for (number, baseline_m) in (2..).zip([0.07, 0.08]) {
            store.write(number, &kept("scene", Some(rig(baseline_m)))).unwrap();
        }
        drop(Store::open(&path));
        assert_eq!(names(folder.path(), ESTIMATE).len(), 3, "another window is open");
        drop(store);
        drop(Store::open(&path));
        assert_eq!(names(folder.path(), ESTIMATE).len(), 2);
        for state in [path, aside] {
            let calibration = SavedState::read(&state).unwrap().rig(folder.path()).unwrap().calibration;
            assert!(calibration.files[0].exists(), "{state:?}");
        }
    }

    #[test]
    fn estimate_of_a_damaged_state_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.toml");
        Store::open(&path).write(1, &kept("scene", Some(rig(0.06)))).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, [b"# \xe9\n", &bytes[..]].concat()).unwrap();
        drop(Store::open(&path));
        assert_eq!(names(folder.path(), ESTIMATE).len(), 1);
    }

    #[test]
    fn unwritable_folder_is_reported_by_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let store = Store::open(&folder.path().join("file/window.toml"));
        let why = store.write(1, &kept("scene", None)).unwrap_err().to_string();
        assert!(why.starts_with("cannot write ") && why.contains("file"), "{why}");
        assert!(!store.was_not_closed());
    }
}
