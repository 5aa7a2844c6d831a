//! Raw pairs as a source gives them, and frames as the capture thread prepares them for matching.
//!
//! "Left" is as seen from behind the cameras; sizes are per view. A frame never changes after it was made, so that threads share
//! it by `Arc`.

use super::Original;
use crate::geometry::Geometry;
use crate::image::{Image, Picture, Truth};
use crate::stereo::{DisparityMap, StereoParams};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// A raw pair of a source, not rectified.
#[derive(Clone, Debug)]
pub struct RawPair {
    /// The left view, as seen from behind the cameras.
    pub left: Picture,
    /// The right view; the same size as the left one.
    pub right: Picture,
    /// Number of the pair at its source, from 0; a gap means that the source dropped pairs.
    pub sequence: u64,
    /// Capture time of the left picture, by the wall clock.
    pub capture_time: SystemTime,
    /// Skew: capture time of the right picture minus that of the left one, s; 0 where both are one picture.
    pub skew_s: f64,
    /// Name of the pair for results: a file's stem, `scene-000012`.
    pub name: String,
    /// The encoded camera pictures before decoding, splitting and turning; `None` where the source has no encoded pictures.
    pub original: Option<Original>,
    /// The recorded result of the pair, where the recording has one and the source options request it.
    pub recorded: Option<Arc<Recorded>>,
    /// Exact disparity, where the source knows it.
    pub truth: Option<Arc<Truth>>,
    /// Its result by an engine on the network, where that is wanted and has come.
    pub matched: Option<Arc<Matched>>,
    /// The rig on the network that it is of.
    pub elsewhere: Option<Arc<Elsewhere>>,
}

/// A result that another machine has computed.
#[derive(Clone, Debug)]
pub struct Matched {
    /// The disparity map.
    pub map: Arc<DisparityMap>,
    /// The parameters that were used.
    pub params: Arc<StereoParams>,
    /// The engine and its device.
    pub engine: String,
    /// True for a software adapter.
    pub software: bool,
    /// From submission to the finished result, there.
    pub compute_time: Duration,
}

/// A rig on the network that an engine may match. Its pairs wait for their results while these are wanted, and its parameters follow
/// those of whatever shows the results, and the other way round.
#[derive(Debug)]
pub struct Elsewhere {
    /// Name of the rig.
    pub rig: String,
    state: Mutex<ElsewhereState>,
}

#[derive(Debug, Default)]
struct ElsewhereState {
    /// When results were wanted last.
    wanted: Option<Instant>,
    /// The rig's parameters.
    there: Option<StereoParams>,
    /// The parameters that were the same here and there last.
    agreed: Option<StereoParams>,
    /// Parameters that the rig is to take.
    requested: Option<StereoParams>,
}

/// For so long a result stays wanted.
const WANTED: Duration = Duration::from_secs(2);

impl Elsewhere {
    /// Of this rig; nothing is wanted.
    pub fn of(rig: impl Into<String>) -> Self {
        Self { rig: rig.into(), state: Mutex::default() }
    }

    /// Wants results for the next two seconds.
    pub fn want(&self) {
        self.state.lock().wanted = Some(Instant::now());
    }

    /// Whether results are wanted now.
    pub fn is_wanted(&self) -> bool {
        self.state.lock().wanted.is_some_and(|since| since.elapsed() < WANTED)
    }

    /// Notes the rig's parameters.
    pub fn set_there(&self, params: StereoParams) {
        self.state.lock().there = Some(params);
    }

    /// The rig's parameters, where they were changed by others: whatever shows its results takes them. Where they were changed here,
    /// the rig is to take those. At first the rig's hold.
    pub fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        let mut state = self.state.lock();
        let there = state.there.clone()?;
        if state.agreed.as_ref() != Some(&there) {
            state.agreed = Some(there.clone());
            return (there != *in_force).then_some(there);
        }
        if there != *in_force {
            // what the rig will say next is no change by others
            (state.agreed, state.there) = (Some(in_force.clone()), Some(in_force.clone()));
            state.requested = Some(in_force.clone());
        }
        None
    }

    /// Parameters that the rig is to take, once.
    pub fn take_request(&self) -> Option<StereoParams> {
        self.state.lock().requested.take()
    }
}

impl RawPair {
    /// A pair without skew, encoded pictures, recorded result and ground truth.
    pub fn new(
        name: impl Into<String>,
        sequence: u64,
        capture_time: SystemTime,
        left: Picture,
        right: Picture,
    ) -> Self {
        let name = name.into();
        Self {
            left,
            right,
            sequence,
            capture_time,
            skew_s: 0.0,
            name,
            original: None,
            recorded: None,
            truth: None,
            matched: None,
            elsewhere: None,
        }
    }
}

/// Recorded result of a pair, at its own size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Depth of each left pixel, m; NaN where it is unknown.
    pub depth_m: Option<Image<f32>>,
    /// Disparity of each left pixel, px; NaN where it is unknown.
    pub disparity_px: Option<Image<f32>>,
}

/// A rectified pair, ready to be matched.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Left picture, rectified and at working size.
    pub left: Arc<Picture>,
    /// Right picture, rectified, the same size as the left one.
    pub right: Arc<Picture>,
    /// Its raw pair.
    pub raw: Arc<RawPair>,
    /// Ground truth at working size, where the source has it.
    pub truth: Option<Arc<Truth>>,
    /// Geometry that converts disparity to metres at working size; `None` without a calibration.
    pub geometry: Option<Geometry>,
    /// Arrival time of the raw pair at the capture thread; latency counts from here.
    pub arrived: Instant,
    /// Time spent on rectification and scaling.
    pub rectify_time: Duration,
}

impl Frame {
    /// `(width, height)` of each view at working size.
    pub fn size(&self) -> (usize, usize) {
        self.left.size()
    }

    /// The same frame without pictures, for consumers of the result only.
    #[must_use]
    pub fn without_pictures(&self) -> Self {
        let raw = RawPair {
            left: Picture::empty(),
            right: Picture::empty(),
            name: self.raw.name.clone(),
            original: None,
            recorded: None,
            truth: None,
            matched: None,
            elsewhere: None,
            ..*self.raw
        };
        let (left, right) = (Arc::new(Picture::empty()), Arc::new(Picture::empty()));
        Self { left, right, raw: Arc::new(raw), truth: None, ..*self }
    }

    /// An unprepared frame of a rectified pair, without a calibration and without truth.
    pub fn of_raw(raw: Arc<RawPair>) -> Self {
        Self {
            left: Arc::new(raw.left.clone()),
            right: Arc::new(raw.right.clone()),
            raw,
            truth: None,
            geometry: None,
            arrived: Instant::now(),
            rectify_time: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_rig_and_of_its_viewer_follow_each_other() {
        let rig = Elsewhere::of("pi");
        let of = |p1| StereoParams { p1, ..StereoParams::default() };
        assert_eq!((rig.exchange(&of(5)), rig.take_request()), (None, None), "the rig has said nothing yet");
        rig.set_there(of(7));
        assert_eq!((rig.exchange(&of(5)), rig.take_request()), (Some(of(7)), None), "the rig's hold at first");
        assert_eq!((rig.exchange(&of(7)), rig.take_request()), (None, None));
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (None, Some(of(9))), "changed here");
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (None, None), "once");
        rig.set_there(of(9));
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (None, None));
        rig.set_there(of(11));
        assert_eq!((rig.exchange(&of(9)), rig.take_request()), (Some(of(11)), None), "changed by others");
        assert!(!rig.is_wanted());
        rig.want();
        assert!(rig.is_wanted());
    }
}
