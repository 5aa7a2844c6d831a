//! Pairs of a search: from a folder of pairs or of scenes, from a recording, or from the built-in scene.

use crossbeam_channel::RecvTimeoutError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_base::newest::Policy;
use stereopsis_frame::{Frame, SourceOptions, SourceSpec};
use stereopsis_images::picture_files::list_pairs;
use stereopsis_live::capture::{Capture, CaptureOptions};
use stereopsis_search::Sample;
use stereopsis_settings::rig::CalibrationChoice;
use stereopsis_settings::settings::Settings;
use stereopsis_sources::CalibratedSource;

/// Pairs, with the files that were read for them.
pub(super) struct Pairs {
    pub(super) samples: Vec<Sample>,
    /// Files that were read.
    pub(super) inputs: Vec<PathBuf>,
    /// Remarks for the user.
    pub(super) notes: Vec<String>,
}

/// Distance of the numbers of two pairs of the built-in scene: it moves slowly.
const SCENE_STEP: u64 = 15;

const RECEIVE_TIMEOUT: Duration = Duration::from_millis(100);

impl Pairs {
    /// Reads `count` pairs of each source, spread over it. A folder without pairs of its own may have folders with pairs.
    ///
    /// # Errors
    /// A source cannot be opened, or there is no pair; a search range that matches nowhere.
    pub(super) fn read(
        spec: &SourceSpec,
        options: &SourceOptions,
        calibration: &CalibrationChoice,
        settings: &Settings,
        wanted: usize,
        interrupt: &AtomicBool,
    ) -> anyhow::Result<Self> {
        let mut pairs = Self { samples: Vec::new(), inputs: Vec::new(), notes: Vec::new() };
        for source in sources_of(spec, options.both_views.is_some()) {
            let opened = stereopsis_sources::open_corrected(&source, options, calibration)?;
            pairs.notes.extend(opened.calibrated.remarks());
            pairs.inputs.extend(opened.inputs.iter().cloned());
            let (frames, notes) = frames(opened, wanted, interrupt)?;
            pairs.notes.extend(notes);
            for (previous, frame) in frames {
                let params = settings.params_for(frame.extent_px(), frame.geometry.as_ref())?;
                let num_disparities = settings.near_m.map(|_| params.num_disparities);
                pairs.samples.push(Sample { previous, num_disparities, ..Sample::of(frame) });
            }
        }
        anyhow::ensure!(!pairs.samples.is_empty(), "{spec} has no pair");
        Ok(pairs)
    }
}

/// Returns the source, or the folders below it that have pairs.
fn sources_of(spec: &SourceSpec, shows_both: bool) -> Vec<SourceSpec> {
    let has_pairs = |folder: &Path| list_pairs(folder).is_ok_and(|found| !found.pairs.is_empty());
    let SourceSpec::Folder(folder) = spec else { return vec![spec.clone()] };
    if shows_both || has_pairs(folder) {
        return vec![spec.clone()];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut scenes: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir() && has_pairs(path)).collect();
    scenes.sort();
    // the folder's own error contains why it has no pairs
    if scenes.is_empty() { vec![spec.clone()] } else { scenes.into_iter().map(SourceSpec::Folder).collect() }
}

/// Pair with the one before it.
type Followed = (Option<Arc<Frame>>, Arc<Frame>);

/// Reads the chosen pairs of a source, and returns remarks.
fn frames(
    opened: CalibratedSource,
    wanted: usize,
    interrupt: &AtomicBool,
) -> anyhow::Result<(Vec<Followed>, Vec<String>)> {
    let info = opened.source.info();
    let chosen = spread(info.num_pairs, wanted);
    let max_pairs = chosen.last().map(|last| last + 1);
    let options =
        CaptureOptions { policy: Policy::Lossless, max_pairs, ..CaptureOptions::from(opened.calibrated.preparation) };
    let mut capture = Capture::start(opened.source, options);
    let (mut frames, mut previous) = (Vec::new(), None);
    let mut place = 0;
    loop {
        let frame = match capture.frames.recv_timeout(RECEIVE_TIMEOUT) {
            Ok(frame) => frame,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if interrupt.load(Ordering::Acquire) => anyhow::bail!("interrupted"),
            Err(RecvTimeoutError::Timeout) => continue,
        };
        if chosen.contains(&place) {
            frames.push((previous.take(), Arc::clone(&frame)));
        }
        previous = Some(frame);
        place += 1;
    }
    let (remarks, error) = (capture.state().remarks, capture.stats().last_error);
    capture.stop();
    if let Some(error) = error {
        anyhow::bail!("{}: {error}", console::foreign(&info.name));
    }
    Ok((frames, remarks))
}

/// Returns numbers of pairs, spread evenly from the first to the last.
fn spread(num_pairs: Option<u64>, wanted: usize) -> BTreeSet<u64> {
    let wanted = wanted as u64;
    match num_pairs {
        None => (0..wanted).map(|k| k * SCENE_STEP).collect(),
        Some(pairs) if pairs <= wanted => (0..pairs).collect(),
        Some(pairs) => (0..wanted).map(|k| k * (pairs - 1) / (wanted - 1).max(1)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_spread_from_the_first_to_the_last() {
        let of = |pairs, wanted| spread(pairs, wanted).into_iter().collect::<Vec<_>>();
        assert_eq!(of(Some(101), 5), [0, 25, 50, 75, 100]);
        assert_eq!(of(Some(3), 8), [0, 1, 2]);
        assert_eq!(of(Some(9), 1), [0]);
        assert_eq!(of(None, 3), [0, 15, 30]);
    }
}
