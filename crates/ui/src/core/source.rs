//! Source that is read, the cameras beside it, and a source to open.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;
use stereopsis_capture::webcam::{DetectedCamera, Preview};
use stereopsis_frame::{SourceOptions, SourceSpec};
use stereopsis_settings::rig::{CalibrationChoice, RigFile};

/// Source to open with its options and calibration.
#[derive(Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) spec: SourceSpec,
    pub(crate) options: SourceOptions,
    pub(crate) choice: CalibrationChoice,
    /// Rig file of the request.
    pub(crate) file: Option<(PathBuf, RigFile)>,
}

pub(crate) struct Source {
    /// The user's source: the last one that was opened, or the first one to be opened.
    pub(crate) spec: SourceSpec,
    /// Source that is read: the user's, or the scene while that cannot be opened.
    pub(crate) running: Option<SourceSpec>,
    pub(crate) opening: Option<SourceSpec>,
    /// Recently opened sources, the newest first.
    pub(crate) recent: Vec<SourceSpec>,
    /// Cameras found, or `None` before the first search.
    pub(crate) cameras: Option<Vec<DetectedCamera>>,
    /// Time since which cameras in use are lost, by camera number.
    pub(crate) lost_since: BTreeMap<u32, Instant>,
    /// Images of unused cameras by number, while the page of cameras is open.
    pub(crate) previews: BTreeMap<u32, Preview>,
    /// Rigs of a router, while the page of cameras is open.
    #[cfg(feature = "zenoh")]
    pub(crate) rigs: Option<stereopsis_network::census::CensusWatch>,
}

const MAX_RECENT: usize = 8;

impl Source {
    /// Returns the state before the user's source is opened, with earlier sources.
    pub(crate) fn of(spec: SourceSpec, recent: Vec<SourceSpec>) -> Self {
        Self {
            spec,
            running: None,
            opening: None,
            recent,
            cameras: None,
            lost_since: BTreeMap::new(),
            previews: BTreeMap::new(),
            #[cfg(feature = "zenoh")]
            rigs: None,
        }
    }

    /// Returns whether the scene replaces the user's source, which cannot be opened.
    pub(crate) fn is_replaced(&self) -> bool {
        self.running.as_ref().is_some_and(|running| *running != self.spec)
    }

    /// Describes the camera that is lost longest, and since when; `None` while no camera is lost.
    pub(crate) fn lost_text(&self) -> Option<String> {
        let (camera, since) = self.lost_since.iter().min_by_key(|(_, since)| **since)?;
        Some(format!("camera {camera} lost {} s ago", since.elapsed().as_secs()))
    }

    /// Records an opened source, except the scene, which is always offered, and a pipe, which cannot be reopened.
    pub(crate) fn note_opened(&mut self, spec: &SourceSpec) {
        if !matches!(spec, SourceSpec::Scene | SourceSpec::Pipe) {
            // an address that was kept without its secrets is the same
            self.recent.retain(|recent| recent.to_string() != spec.to_string());
            self.recent.insert(0, spec.clone());
            self.recent.truncate(MAX_RECENT);
        }
    }
}
