//! Checks of the disk of recordings: whether the folder is writable, free space, write rate.

use super::report::Check;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stereopsis_base::{console, files};
use stereopsis_recording::write::{MIN_RESERVE_BYTES, free_bytes};

/// Rate of raw 1280x720 pairs at 30/s with 2 bytes per pixel (webcam), bytes/s.
const NEEDED_BYTES_PER_S: f64 = 2.0 * 1280.0 * 720.0 * 2.0 * 30.0;
/// Minimum length of a useful recording.
const MIN_TIME: Duration = Duration::from_mins(1);

/// Maximum number of bytes written by the probe.
const PROBE_BYTES: u64 = 64 << 20;
/// Time limit of the probe's writing.
const PROBE_TIME: Duration = Duration::from_secs(2);
/// Number of bytes between two syncs, which make the probe measure the disk instead of the page cache.
const SYNC_BYTES: usize = 8 << 20;

#[derive(Debug)]
pub(super) struct DiskMeasurement {
    /// Free bytes; `None` if unknown.
    pub(super) free: Option<u64>,
    /// Bytes written and their time; `None` without enough space.
    pub(super) written: io::Result<Option<(u64, Duration)>>,
}

/// Measures the disk of a folder with an unnamed file, which vanishes however the program ends.
pub(super) fn measure(folder: &Path) -> DiskMeasurement {
    let free = free_bytes(folder);
    let has_room = free.is_none_or(|free| free > MIN_RESERVE_BYTES + PROBE_BYTES);
    DiskMeasurement { free, written: write(folder, has_room) }
}

fn write(folder: &Path, has_room: bool) -> io::Result<Option<(u64, Duration)>> {
    let mut file = tempfile::tempfile_in(folder)?;
    if !has_room {
        return Ok(None);
    }
    let block = noise(SYNC_BYTES);
    let (start, mut written) = (Instant::now(), 0);
    while written < PROBE_BYTES && start.elapsed() < PROBE_TIME {
        file.write_all(&block)?;
        file.sync_data()?;
        written += block.len() as u64;
    }
    Ok(Some((written, start.elapsed())))
}

/// Returns incompressible bytes, because disks and file systems may compress.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..len / 8).flat_map(|_| next()).collect()
}

pub(super) fn checks(folder: &Path, measured: &DiskMeasurement) -> Vec<Check> {
    let shown = console::path(&absolute(folder));
    let DiskMeasurement { free, written } = measured;
    let free_text = free.map_or_else(|| "an unknown number of bytes".to_owned(), console::bytes);
    let full = |why: &str| {
        let todo = "free some space, or choose another disk: `record -o DISK/walk.mcap`";
        vec![Check::wrong("disk", format!("{shown} {why}, {free_text} free: no recording has room"), todo)]
    };
    let written = match written {
        Err(err) if matches!(err.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            return full("is full");
        }
        Err(err) => {
            let why = match err.kind() {
                io::ErrorKind::NotFound if folder.is_dir() => "its file system makes none".to_owned(),
                io::ErrorKind::NotFound => "it does not exist".to_owned(),
                io::ErrorKind::NotADirectory => "it is not a folder".to_owned(),
                _ => files::cause(err),
            };
            let todo = "choose a folder that you may write to: `record -o FOLDER/walk.mcap`, or --folder here";
            return vec![Check::wrong("disk", format!("{shown} takes no files: {why}"), todo)];
        }
        Ok(_) if free.is_some_and(|free| free < MIN_RESERVE_BYTES) => return full("is full"),
        Ok(written) => written,
    };
    let needed = format!("raw pairs of 1280x720 at 30/s need {:.0} MB/s", NEEDED_BYTES_PER_S / 1e6);
    let mut checks = Vec::new();
    let time =
        free.map(|free| Duration::from_secs_f64(free.saturating_sub(MIN_RESERVE_BYTES) as f64 / NEEDED_BYTES_PER_S));
    let room = time.map_or_else(String::new, |time| format!(", room for {} of them", minutes(time)));
    let speed = written.map(|(bytes, time)| bytes as f64 / time.as_secs_f64().max(1e-6));
    let speed_text = speed.map_or_else(String::new, |speed| format!(", writes {:.0} MB/s", speed / 1e6));
    let text = format!("{shown}: {free_text} free{speed_text}; {needed}{room}");
    if speed.is_some_and(|speed| speed < NEEDED_BYTES_PER_S) {
        let todo = "record to a faster disk, or MJPEG (--format mjpeg), smaller images or a lower rate";
        checks.push(Check::note("disk", format!("{text}. It is too slow for them"), todo));
    } else if time.is_some_and(|time| time < MIN_TIME) {
        checks.push(Check::note("disk", format!("{text}. That is little"), "free some space, or choose another disk"));
    } else {
        checks.push(Check::ok("disk", text));
    }
    checks
}

fn minutes(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..10_800 => format!("{} minutes", seconds / 60),
        seconds => format!("{} hours", seconds / 3600),
    }
}

fn absolute(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::fs::canonicalize(folder).or_else(|_| std::path::absolute(folder)).unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn check(free: u64, written: io::Result<Option<(u64, Duration)>>) -> Check {
        let folder = tempfile::tempdir().unwrap();
        let mut found = checks(folder.path(), &DiskMeasurement { free: Some(free), written });
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    fn says(check: &Check, state: State, text: &str, todo: &str) -> bool {
        check.state == state && check.text.contains(text) && check.todo.as_deref().unwrap_or_default().contains(todo)
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn fast_disk_is_ok_and_keeps_no_file() {
        let fast = check(80_000_000_000, Ok(Some((300_000_000, SECOND))));
        assert!(says(
            &fast,
            State::Ok,
            "80.0 GB free, writes 300 MB/s; raw pairs of 1280x720 at 30/s need 111 MB/s",
            ""
        ));
        assert!(fast.text.ends_with("room for 12 minutes of them"), "{fast:?}");
        let folder = tempfile::tempdir().unwrap();
        let measured = measure(folder.path());
        assert!(matches!(measured.written, Ok(Some((bytes, _))) if bytes > 0), "{measured:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_slow_disk_and_one_with_little_room_are_noted() {
        let slow = check(80_000_000_000, Ok(Some((40_000_000, SECOND))));
        assert!(says(&slow, State::Note, "writes 40 MB/s", "a faster disk"), "{slow:?}");
        let little = check(2_000_000_000, Ok(Some((300_000_000, SECOND))));
        assert!(says(&little, State::Note, "room for 17 s of them", "free some space"), "{little:?}");
    }

    #[test]
    fn a_full_disk_is_wrong() {
        for full in [check(9, Err(io::ErrorKind::StorageFull.into())), check(MIN_RESERVE_BYTES - 1, Ok(None))] {
            assert!(says(&full, State::Wrong, "no recording has room", "free some space"), "{full:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(write(folder.path(), false).unwrap().is_none(), "nothing is written into the reserve");
    }

    #[test]
    fn a_folder_that_takes_no_files_is_wrong() {
        let denied = check(80_000_000_000, Err(io::ErrorKind::PermissionDenied.into()));
        assert!(says(&denied, State::Wrong, "takes no files: there is no permission", "may write to"), "{denied:?}");
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("gone");
        let found = checks(&missing, &measure(&missing));
        assert!(says(&found[0], State::Wrong, "gone takes no files: it does not exist", "may write to"), "{found:?}");
        if cfg!(target_os = "linux") {
            // /proc is read-only even for root
            let proc = Path::new("/proc");
            assert!(says(&checks(proc, &measure(proc))[0], State::Wrong, "/proc takes no files", "may write to"));
        }
    }
}
