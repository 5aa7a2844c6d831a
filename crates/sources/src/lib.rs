//! Opens sources of every kind by their specification, alone ([`open`]) or together with the preparation of their frames by a
//! calibration ([`open_calibrated`]).

mod calibrated;
mod known_distances;
mod masked;
mod no_scene;
mod recorded;

pub use calibrated::{
    CalibratedSource, ESTIMATE_PAIRS, OpenError, PAIR_INTERVAL, open_calibrated, open_corrected, open_in_any_case,
    open_to_match,
};
pub use recorded::{open_as_recorded, open_recording};

use stereopsis_capture::picture_files::FileSource;
use stereopsis_capture::scene::SceneSource;
use stereopsis_capture::webcam;
use stereopsis_capture::webcam::{CameraViews, ModeRequest};
use stereopsis_frame::{CameraOptions, CaptureError, PairSource, SourceOptions, SourceSpec};
use stereopsis_recording::playback::{PipeSource, RecordingSource};

/// Opens a source.
///
/// # Errors
/// The source is missing or unusable, or its two images differ in size; the text gives advice.
pub fn open(spec: &SourceSpec, options: &SourceOptions) -> Result<Box<dyn PairSource>, CaptureError> {
    spec.check_right_shift(options.right_shift_s)?;
    Ok(match spec {
        SourceSpec::Scene => {
            let mut scene = options.scene;
            (scene.width, scene.height) = options.size.unwrap_or((scene.width, scene.height));
            Box::new(SceneSource::new(scene, options.rate_hz, options.pixels.keeps_rgb())?)
        }
        SourceSpec::Files { left, right, truth } => Box::new(FileSource::pair(left, right, truth.as_ref(), options)?),
        SourceSpec::Folder(folder) => Box::new(FileSource::folder(folder, options)?),
        SourceSpec::WebcamPair(..) | SourceSpec::WebcamSideBySide(_) => {
            let one_camera = if options.one_view { CameraViews::OneView } else { CameraViews::BothViews };
            webcam::open(spec, one_camera, &camera_mode(options), &options.cameras)?
        }
        SourceSpec::Recording(file) => Box::new(RecordingSource::open(file, options)?),
        SourceSpec::Video(inputs) => stereopsis_capture::video::open(inputs, options)?,
        SourceSpec::Pipe => Box::new(PipeSource::open(std::io::stdin(), options)?),
        #[cfg(feature = "network")]
        SourceSpec::Rig { name, router } => {
            Box::new(stereopsis_network::RigSource::open(name, router.as_deref(), options)?)
        }
        #[cfg(feature = "network")]
        SourceSpec::RigPair { left, right, router } => {
            Box::new(stereopsis_network::PairedHeads::open([left, right], router.as_deref(), options)?)
        }
        #[cfg(feature = "network")]
        SourceSpec::Ros2 { left, right } => {
            use stereopsis_network::ros2::{RosEnvironment, RosSource};
            Box::new(RosSource::open([left, right], &RosEnvironment::of_environment()?, options)?)
        }
        #[cfg(not(feature = "network"))]
        SourceSpec::Rig { .. } | SourceSpec::RigPair { .. } | SourceSpec::Ros2 { .. } => {
            return Err(CaptureError::Grammar(NoNetwork(spec.clone()).into()));
        }
    })
}

/// Source of the network in a build without it.
#[cfg(not(feature = "network"))]
#[derive(Debug, thiserror::Error)]
#[error("'{}' {}", .0, stereopsis_base::console::NO_NETWORK)]
struct NoNetwork(SourceSpec);

fn camera_mode(options: &SourceOptions) -> ModeRequest {
    let rate_hz = options.rate_hz.map(|rate| rate.round().max(1.0) as u32);
    let CameraOptions { api, format, .. } = options.cameras;
    ModeRequest { size: options.size, rate_hz, api, format, pixels: options.pixels }
}
