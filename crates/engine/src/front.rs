//! Adapter in front of every engine. It turns the images of cameras one above the other before matching and their maps back after it,
//! and decides [`Temporal::Auto`] by the source of a pair.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::geometry::Axis;
use stereopsis_base::image::QuarterTurn;
use stereopsis_frame::Frame;
use stereopsis_frame::engine::{Engine, EngineError, EngineInfo, Job, Output, StageTime};
use stereopsis_stereo::Temporal;

/// Engine for pairs of either axis; pairs of cameras side by side go through unchanged. Turned maps come to the host, because a
/// device's texture stays turned.
pub(super) struct AxisAdapter {
    engine: Box<dyn Engine>,
    /// Original jobs of the changed ones in flight, with the time of turning; `None` for an unchanged job.
    in_flight: VecDeque<Option<(Job, Option<Duration>)>>,
    /// Last pair that was turned: a job is prepared several times before it is submitted.
    turned: Option<TurnedJob>,
}

struct TurnedJob {
    upright: Arc<Frame>,
    in_rows: Arc<Frame>,
    took: Duration,
}

impl AxisAdapter {
    pub(super) fn new(engine: impl Engine + 'static) -> Self {
        Self { engine: Box::new(engine), in_flight: VecDeque::new(), turned: None }
    }

    /// Returns the job for the engine, with the time of turning; `None` where it stays as it is.
    fn changed(&mut self, job: &Job) -> Option<(Job, Option<Duration>)> {
        let turned = self.turned(job).map(|(job, took)| (job, Some(took)));
        if job.params.temporal != Temporal::Auto || !job.frame.is_camera {
            return turned;
        }
        let (turned, took) = turned.unwrap_or_else(|| (job.clone(), None));
        Some((Job { params: Arc::new(job.params.of_source(true)), ..turned }, took))
    }

    /// Returns the job with turned images and the time of turning; `None` where it needs none.
    fn turned(&mut self, job: &Job) -> Option<(Job, Duration)> {
        if job.frame.axis == Axis::Horizontal {
            return None;
        }
        let same = self.turned.take().filter(|turned| Arc::ptr_eq(&turned.upright, &job.frame));
        let turned = same.unwrap_or_else(|| {
            let start = Instant::now();
            let in_rows = job.frame.in_rows();
            TurnedJob { upright: Arc::clone(&job.frame), in_rows, took: start.elapsed() }
        });
        let job = Job { frame: Arc::clone(&turned.in_rows), read_back: true, ..job.clone() };
        let took = turned.took;
        self.turned = Some(turned);
        Some((job, took))
    }
}

impl Engine for AxisAdapter {
    fn info(&self) -> Arc<EngineInfo> {
        self.engine.info()
    }

    fn slots(&self) -> usize {
        self.engine.slots()
    }

    fn memory_bytes(&mut self) -> Option<usize> {
        self.engine.memory_bytes()
    }

    fn prepare(&mut self, job: &Job) -> bool {
        match self.changed(job) {
            Some((changed, _)) => self.engine.prepare(&changed),
            None => self.engine.prepare(job),
        }
    }

    fn forget(&mut self) {
        self.engine.forget();
    }

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        let (in_rows, given) = match self.changed(&job) {
            Some((changed, took)) => (changed, Some((job, took))),
            None => (job, None),
        };
        self.engine.submit(in_rows)?;
        self.in_flight.push_back(given);
        Ok(())
    }

    fn wait(&mut self) {
        self.engine.wait();
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let output = match self.engine.collect() {
            Ok(None) => return Ok(None),
            Ok(Some(output)) => output,
            Err(err) => {
                self.in_flight.pop_front();
                return Err(err);
            }
        };
        Ok(Some(match self.in_flight.pop_front().flatten() {
            Some((job, Some(took))) => upright(output, job, took),
            Some((job, None)) => Output { job, ..output },
            None => output,
        }))
    }
}

/// Turns the result of a turned pair back, and assigns it to the original job.
fn upright(output: Output, job: Job, took: Duration) -> Output {
    let start = Instant::now();
    let [map, right_map] =
        [output.map, output.right_map].map(|map| map.map(|map| Arc::new(map.turned(QuarterTurn::Right))));
    let turning = took + start.elapsed();
    let mut stages = output.stages;
    stages.push(StageTime { name: "turning", ms: turning.as_secs_f64() * 1e3 });
    Output {
        job,
        engine: output.engine,
        map,
        right_map,
        texture: None,
        stages,
        compute_time: output.compute_time + turning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpenOptions, open};
    use stereopsis_cpu::CpuEngine;
    use stereopsis_frame::SceneOptions;
    use stereopsis_frame::engine::{EngineChoice, EngineSettings, run};
    use stereopsis_scene::render;
    use stereopsis_stereo::{DisparityMap, StereoParams};

    #[test]
    fn vertical_pairs_are_matched_along_columns_on_every_engine() {
        let options = SceneOptions { width: 90, height: 61, ..SceneOptions::default() };
        let side_by_side = [0, 1].map(|number| render(&options, number, false));
        let params = Arc::new(StereoParams {
            num_disparities: 24,
            temporal: stereopsis_stereo::Temporal::On,
            ..StereoParams::default()
        });
        for choice in [EngineChoice::Cpu, EngineChoice::Gpu] {
            let mut engine =
                open(&OpenOptions::from(EngineSettings { choice, ..EngineSettings::default() }), None).unwrap().engine;
            let mut reference =
                open(&OpenOptions::from(EngineSettings { choice, ..EngineSettings::default() }), None).unwrap().engine;
            for raw in &side_by_side {
                let job = |frame: Frame, read_back: bool| Job {
                    frame: Arc::new(frame),
                    params: Arc::clone(&params),
                    read_back,
                    wants_right: true,
                };
                let expected = run(&mut *reference, job(Frame::of_raw(Arc::new(raw.clone())), true)).unwrap();
                let mut turned = raw.clone();
                for picture in [&mut turned.left, &mut turned.right] {
                    *picture = picture.turned(QuarterTurn::Right);
                }
                let frame = Frame { axis: Axis::Vertical, ..Frame::of_raw(Arc::new(turned)) };
                let found = run(&mut *engine, job(frame, false)).unwrap();
                assert_eq!(found.map.as_ref().unwrap().size(), (61, 90), "{choice}");
                let turned_back =
                    |map: &Option<Arc<DisparityMap>>| map.as_ref().map(|map| map.turned(QuarterTurn::Left));
                let plain = |map: &Option<Arc<DisparityMap>>| map.as_deref().cloned();
                assert_eq!(turned_back(&found.right_map), plain(&expected.right_map), "{choice}");
                assert_eq!(turned_back(&found.map), plain(&expected.map), "{choice}");
                assert!(found.texture.is_none() && found.stages_ms().contains_key("turning"), "{choice}");
                assert_eq!(found.job.frame.size(), (61, 90));
            }
        }
    }
    #[test]
    fn temporal_auto_is_on_for_cameras_alone_and_stays_auto_in_results() {
        let options = SceneOptions { width: 90, height: 61, noise: 3.0, ..SceneOptions::default() };
        let pairs = [0, 1, 2].map(|number| Arc::new(render(&options, number, false)));
        let last = |temporal: Temporal, is_camera: bool| {
            let params = Arc::new(StereoParams { num_disparities: 24, temporal, ..StereoParams::default() });
            let mut engine = AxisAdapter::new(CpuEngine::new(Some(1)));
            let outputs = pairs.each_ref().map(|raw| {
                let frame = Arc::new(Frame { is_camera, ..Frame::of_raw(Arc::clone(raw)) });
                run(&mut engine, Job { frame, params: Arc::clone(&params), read_back: true, wants_right: false })
                    .unwrap()
            });
            assert!(outputs.iter().all(|output| output.job.params == params));
            outputs[2].map.clone()
        };
        let [off, on] = [Temporal::Off, Temporal::On].map(|temporal| last(temporal, false));
        assert!(off != on);
        assert!(last(Temporal::Auto, true) == on && last(Temporal::Auto, false) == off);
        assert!(last(Temporal::Off, true) == off);
    }
}
