//! The matcher of the library: the engine that the settings name, kept from pair to pair.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use stereopsis_base::geometry::{Axis, Geometry};
use stereopsis_base::image::Picture;
use stereopsis_base::process::ProcessLocal;
use stereopsis_calibration::matches_for_range;
use stereopsis_engine::open;
use stereopsis_frame::engine::{Engine, EngineError, EngineKind, Job, run};
use stereopsis_frame::{Frame, RawPair};
use stereopsis_settings::settings::{Settings, SettingsError};
use stereopsis_stereo::DisparityMap;

/// Matcher of rectified pairs, one after the other. It keeps its engine, the engine's memory, and the state of the temporal filter.
/// [`Temporal::Auto`](stereopsis_stereo::Temporal::Auto) is off, because the pairs may not come from a camera. In a process that was forked
/// from this one the matcher continues on the CPU, with threads of that process.
pub struct Matcher {
    settings: Settings,
    geometry: Option<Geometry>,
    axis: Axis,
    engine: Option<Kept>,
}

/// Open engine, by the processes in which it can be used.
enum Kept {
    /// Engine that takes threads of each process in which it matches.
    Anywhere(Box<dyn Engine>),
    /// Engine of this process: its device, or its thread, does not follow into other processes.
    Here(ProcessLocal<Box<dyn Engine>>),
}

impl Kept {
    fn new(engine: Box<dyn Engine>) -> Self {
        match engine.info().kind {
            EngineKind::Cpu => Self::Anywhere(engine),
            _ => Self::Here(ProcessLocal::new(engine)),
        }
    }

    fn engine(&mut self) -> Result<&mut dyn Engine, EngineError> {
        match self {
            Self::Anywhere(engine) => Ok(&mut **engine),
            Self::Here(engine) => engine.get().map(|engine| &mut **engine as _).ok_or_else(|| {
                let why = "the engine belongs to the process that opened it, and this one was forked from that: make a matcher in this process";
                EngineError::Device(why.into())
            }),
        }
    }
}

/// Result of a pair.
#[derive(Clone, Debug)]
pub struct MatchResult {
    /// Disparities of the left image, with the reason of each hole.
    pub map: DisparityMap,
    /// Engine and its device: `AMD EPYC, AVX-512, 2 threads`.
    pub engine: String,
    /// Time from the call to the finished map, without the opening of the engine.
    pub compute_time: Duration,
    /// Time of each stage by its name, ms.
    pub stages_ms: BTreeMap<&'static str, f64>,
}

impl Matcher {
    /// Creates a matcher by settings, or by parameters alone for the CPU. Its engine is opened with the first pair.
    pub fn new(settings: impl Into<Settings>) -> Self {
        Self { settings: settings.into(), geometry: None, axis: Axis::Horizontal, engine: None }
    }

    /// Sets the geometry of the images, which decides how many disparities [`Settings::near_m`] needs, and whether they lie along rows or,
    /// with one camera above the other, along columns. Of cameras that look towards each other the first pair decides what the settings do
    /// not say of the search range.
    #[must_use]
    pub fn with_geometry(self, geometry: Geometry) -> Self {
        Self { geometry: Some(geometry), axis: geometry.axis, ..self }
    }

    /// Sets the axis of the cameras.
    #[must_use]
    pub fn with_axis(self, axis: Axis) -> Self {
        Self { axis, ..self }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Matches a rectified pair: images of the same size and bit depth, from 1x1 px. Colours count where both have them.
    ///
    /// # Errors
    /// The images do not fit each other or the range of disparities, or the engine cannot be opened or has failed. After the loss of its
    /// device the next call opens the engine again. A GPU that another process opened before it forked this one stays with that process.
    pub fn match_pair(
        &mut self,
        left: impl Into<Picture>,
        right: impl Into<Picture>,
    ) -> Result<MatchResult, EngineError> {
        let (left, right) = (left.into(), right.into());
        check_pair(&left, &right)?;
        let extent_px = self.axis.extent(left.size());
        let frame = Arc::new(Frame { axis: self.axis, ..frame(left, right) });
        let refused = |err: SettingsError| EngineError::Unsupported(err.to_string().into());
        if let Some(geometry) = &self.geometry
            && self.engine.is_none()
            && self.settings.awaits_range(extent_px, geometry)
        {
            let Frame { left, right, .. } = &*frame.in_rows();
            let found = matches_for_range(&left.luma, &right.luma, -geometry.doffs_px);
            self.settings.take_range(&found, extent_px, geometry).map_err(refused)?;
        }
        let params = self.settings.params_for(extent_px, self.geometry.as_ref()).map_err(refused)?;
        let job = Job { frame, params: Arc::new(params), read_back: true, wants_right: false };
        let mut kept = self.engine.take().map_or_else(|| self.open(&job).map(Kept::new), Ok)?;
        let output = kept.engine().and_then(|engine| run(engine, job));
        if !matches!(output, Err(EngineError::DeviceLost(_))) {
            self.engine = Some(kept);
        }
        let output = output?;
        let (engine, stages_ms) = (output.engine.adapter.clone(), output.stages_ms());
        let map = output.map.ok_or_else(|| EngineError::Device("the engine gave no map".into()))?;
        Ok(MatchResult { map: Arc::unwrap_or_clone(map), engine, compute_time: output.compute_time, stages_ms })
    }

    fn open(&self, job: &Job) -> Result<Box<dyn Engine>, EngineError> {
        let mut engine = open(&self.settings.engine_options().into(), Some(job))?.engine;
        engine.forget(); // the failed attempt may have used the pair
        Ok(engine)
    }

    /// Begins a new sequence with the next pair: nothing of earlier pairs is used.
    pub fn forget(&mut self) {
        if let Some(Ok(engine)) = self.engine.as_mut().map(Kept::engine) {
            engine.forget();
        }
    }
}

fn check_pair(left: &Picture, right: &Picture) -> Result<(), EngineError> {
    let text = |picture: &Picture| {
        let (width, height) = picture.size();
        format!("{width}x{height} px of {} bits", picture.luma.bits())
    };
    if left.size() != right.size() || left.luma.bits() != right.luma.bits() {
        let (left, right) = (text(left), text(right));
        let why = format!("both images must have the same size and bit depth: left has {left}, right has {right}");
        return Err(EngineError::Unsupported(why.into()));
    }
    if left.size().0 == 0 || left.size().1 == 0 {
        return Err(EngineError::Unsupported(format!("the images are empty: {}", text(left)).into()));
    }
    for (side, picture) in [("left", left), ("right", right)] {
        if let Some(rgb) = picture.rgb.as_ref().filter(|rgb| rgb.size() != picture.size()) {
            let (width, height) = rgb.size();
            let why = format!("the {side} image's colours are {width}x{height} px, its brightness {}", text(picture));
            return Err(EngineError::Unsupported(why.into()));
        }
    }
    Ok(())
}

/// Returns a frame of a pair for an engine alone: its raw pair has no pixels.
fn frame(left: Picture, right: Picture) -> Frame {
    let raw = RawPair::new("pair", 0, SystemTime::now(), Picture::empty(), Picture::empty());
    Frame { left: left.into(), right: right.into(), ..Frame::of_raw(Arc::new(raw)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_base::image::{Image, Luma};
    use stereopsis_cpu::CpuEngine;
    use stereopsis_stereo::StereoParams;

    #[test]
    fn the_range_of_cameras_that_look_towards_each_other_is_found() {
        let mut random = fastrand::Rng::with_seed(3);
        let texture: Vec<u8> = (0..240 * 120).map(|_| random.u8(..)).collect();
        let view = |shift: i32| {
            let at = |x: usize, y: usize| texture[y * 240 + (x as i32 + 40 + shift) as usize];
            Luma::U8(Image::from_fn(160, 120, at))
        };
        let geometry = Geometry::centred(200.0, 0.1, 80.0, (160, 120));
        let settings = Settings::of_words(&[("engine", "cpu")]).unwrap();
        let mut matcher = Matcher::new(settings).with_geometry(geometry);
        let map = matcher.match_pair(view(0), view(-20)).unwrap().map;
        assert_eq!(map.median_around_px((80, 60), 2), Some(-20.0));
        // what is said stays
        let settings = Settings::of_words(&[("engine", "cpu"), ("min-disparity", "0"), ("num-disparities", "64")]);
        let mut matcher = Matcher::new(settings.unwrap()).with_geometry(geometry);
        matcher.match_pair(view(0), view(-20)).unwrap();
        assert_eq!(matcher.settings().params.min_disparity, 0);
    }

    #[test]
    fn a_device_of_another_process_is_refused_in_words_and_left_to_it() {
        let picture = || Luma::U8(Image::from_fn(20, 10, |x, y| (x * 7 + y * 13) as u8));
        let mut matcher = Matcher::new(StereoParams { num_disparities: 8, ..StereoParams::default() });
        matcher.engine = Some(Kept::Here(ProcessLocal::elsewhere(Box::new(CpuEngine::new(Some(1))))));
        for _ in 0..2 {
            let why = matcher.match_pair(picture(), picture()).unwrap_err().to_string();
            assert!(why.contains("this one was forked") && why.contains("make a matcher in this process"), "{why}");
            matcher.forget();
        }
    }
}
