//! Timed pairs, read or rendered before any clock runs.

use super::setup::OpenSource;
use anyhow::bail;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::files::Outputs;
use stereopsis_base::{console, files};
use stereopsis_frame::engine::Job;
use stereopsis_frame::{Frame, FramePreparation, Next, RawPair, SourceOptions, SourceSpec};
use stereopsis_images::write_picture;
use stereopsis_stereo::StereoParams;

/// Number of different pairs, matched in turn so that caches do not distort the times.
const NUM_PAIRS: usize = 4;
/// Time limit of one wait for a decoded file.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the first pairs of a source as jobs.
///
/// # Errors
/// The source cannot be opened, or has no pair.
pub fn jobs(
    open: OpenSource,
    spec: &SourceSpec,
    options: &SourceOptions,
    params: &StereoParams,
) -> anyhow::Result<Vec<Job>> {
    let mut source = open(spec, options)?;
    source.state().remarks.iter().for_each(console::say);
    let params = Arc::new(params.clone());
    let mut jobs: Vec<Job> = Vec::new();
    while jobs.len() < NUM_PAIRS {
        let raw = match source.next(READ_TIMEOUT)? {
            Next::Pair(raw) => raw,
            Next::Waiting => continue,
            Next::End => break,
        };
        // the truth is not used and takes memory
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

/// Writes the pairs as grey images into a folder named after their size.
pub(super) fn write(folder: &Path, jobs: &[Job], outputs: &mut Outputs) -> anyhow::Result<()> {
    for (number, job) in jobs.iter().enumerate() {
        let (width, height) = job.frame.size();
        let folder = folder.join(format!("{width}x{height}"));
        files::make_folder(&folder)?;
        for (side, picture) in [("left", &job.frame.left), ("right", &job.frame.right)] {
            let path = folder.join(format!("{side}{number}.png"));
            outputs.add(&path)?;
            write_picture(&path, picture)?;
        }
    }
    Ok(())
}
