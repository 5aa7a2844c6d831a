//! The pairs that are timed: read or rendered before any clock runs.

use crate::capture::{Frame, FramePreparation, Next, RawPair, SourceOptions, SourceSpec};
use crate::console;
use crate::engine::Job;
use crate::export::write_picture;
use crate::files::{self, Outputs};
use crate::sources::open;
use crate::stereo::StereoParams;
use anyhow::bail;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pairs that differ, taken in turn, so that nothing is quick because it has just been done.
const PAIRS: usize = 4;
/// How long a file may take to be decoded before somebody asks again.
const PATIENCE: Duration = Duration::from_secs(1);

/// The first pairs of a source, as jobs.
///
/// # Errors
/// The source cannot be opened, or has no pair.
pub fn jobs(spec: &SourceSpec, options: &SourceOptions, params: &StereoParams) -> anyhow::Result<Vec<Job>> {
    let mut source = open(spec, options)?;
    source.state().remarks.iter().for_each(console::say);
    let params = Arc::new(params.clone());
    let mut jobs: Vec<Job> = Vec::new();
    while jobs.len() < PAIRS {
        let raw = match source.next(PATIENCE)? {
            Next::Pair(raw) => raw,
            Next::Waiting => continue,
            Next::End => break,
        };
        // nobody compares with the truth here, and it takes memory
        let raw = Arc::new(RawPair { truth: None, ..*raw });
        let frame: Frame = FramePreparation::default().prepare(&raw, &source.info(), Instant::now())?;
        if let Some(first) = jobs.first()
            && first.frame.size() != frame.size()
        {
            let ((w, h), (other_w, other_h)) = (first.frame.size(), frame.size());
            bail!(
                "{} has {w}x{h} and {} has {other_w}x{other_h} pixels: bench needs pairs of one size",
                first.frame.raw.name,
                raw.name
            );
        }
        jobs.push(Job { frame: Arc::new(frame), params: Arc::clone(&params), read_back: true, wants_right: false });
    }
    if jobs.is_empty() {
        bail!("{spec} has no pair");
    }
    Ok(jobs)
}

/// Writes the pairs as grey pictures into a folder that is called after their size.
pub(super) fn write(folder: &Path, jobs: &[Job], outputs: &mut Outputs) -> anyhow::Result<()> {
    for (number, job) in jobs.iter().enumerate() {
        let (width, height) = job.frame.size();
        let folder = folder.join(format!("{width}x{height}"));
        files::make_folder(&folder)?;
        for (side, picture) in [("left", &job.frame.left), ("right", &job.frame.right)] {
            let path = folder.join(format!("{side}{number}.png"));
            outputs.file_in_folder(&path)?;
            write_picture(&path, picture)?;
        }
    }
    Ok(())
}
