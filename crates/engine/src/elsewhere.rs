//! Engine on another machine: each pair from the network comes with its own result, which this module returns.

use std::sync::Arc;
use stereopsis_frame::engine::{Engine, EngineError, EngineInfo, EngineKind, Job, Output, StageTime};

/// Engine that returns the results that arrived with the pairs.
#[derive(Default)]
pub(super) struct RemoteResults {
    job: Option<Job>,
    info: Option<Arc<EngineInfo>>,
}

impl Engine for RemoteResults {
    fn info(&self) -> Arc<EngineInfo> {
        let unknown =
            || EngineInfo { kind: EngineKind::Network, adapter: "another machine".to_owned(), software: false };
        self.info.clone().unwrap_or_else(|| Arc::new(unknown()))
    }

    fn slots(&self) -> usize {
        1
    }

    fn forget(&mut self) {}

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        self.job = Some(job);
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let Some(job) = self.job.take() else { return Ok(None) };
        let raw = &job.frame.raw;
        let Some(matched) = raw.matched.clone() else {
            return Err(EngineError::Unsupported(match &raw.rig {
                Some(rig) => format!(
                    "no engine on the network has matched this pair of rig '{rig}' yet: `stereopsis net` shows which engine has it; where \
                     there is none, start `stereopsis engine`, or choose another --engine here",
                ),
                None => "--engine network shows the results of a rig's engine, and this source is no rig on the network: open \
                         zenoh:NAME, or choose another engine"
                    .to_owned(),
            }));
        };
        if job.wants_right {
            let text = "the right image's map does not come over the network: choose another engine for it";
            return Err(EngineError::Unsupported(text.to_owned()));
        }
        if matched.map.size() != job.frame.size() {
            let ((w, h), (width, height)) = (matched.map.size(), job.frame.size());
            return Err(EngineError::Unsupported(format!(
                "the rig's engine matches at {w}x{h} px, and here the pair has {width}x{height}: use the rig's own calibration and --scale"
            )));
        }
        if self.info.as_ref().is_none_or(|info| info.adapter != matched.engine || info.software != matched.software) {
            let (adapter, software) = (matched.engine.clone(), matched.software);
            self.info = Some(Arc::new(EngineInfo { kind: EngineKind::Network, adapter, software }));
        }
        let ms = matched.compute_time.as_secs_f64() * 1e3;
        Ok(Some(Output {
            engine: self.info(),
            map: Some(Arc::clone(&matched.map)),
            right_map: None,
            texture: None,
            stages: vec![StageTime { name: "elsewhere", ms }],
            compute_time: matched.compute_time,
            job: Job { params: Arc::clone(&matched.params), ..job },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use stereopsis_frame::engine::run;
    use stereopsis_frame::{Frame, Matched, RawPair};
    use stereopsis_stereo::{StereoParams, match_pair};

    #[test]
    fn returns_the_result_of_a_pair_or_the_reason_for_none() {
        let options =
            stereopsis_frame::SceneOptions { width: 64, height: 48, ..stereopsis_frame::SceneOptions::default() };
        let raw = stereopsis_scene::render(&options, 0, false);
        let there = StereoParams { num_disparities: 16, p1: 3, ..StereoParams::default() };
        let map = Arc::new(match_pair(&raw.left.luma, &raw.right.luma, &there));
        let matched = Matched {
            map: Arc::clone(&map),
            params: Arc::new(there.clone()),
            engine: "gpu of the rack".into(),
            software: false,
            compute_time: Duration::from_millis(7),
        };
        let job = |matched: Option<Matched>, rig: Option<&str>| {
            let raw = RawPair { matched: matched.map(Arc::new), rig: rig.map(Arc::from), ..raw.clone() };
            let params = Arc::new(StereoParams::default());
            Job { frame: Arc::new(Frame::of_raw(Arc::new(raw))), params, read_back: true, wants_right: false }
        };
        let mut engine = RemoteResults::default();
        let no_rig = run(&mut engine, job(None, None)).unwrap_err().to_string();
        assert!(no_rig.contains("no rig on the network"), "{no_rig}");
        let none_yet = run(&mut engine, job(None, Some("pi"))).unwrap_err().to_string();
        assert!(none_yet.contains("rig 'pi'"), "{none_yet}");
        let output = run(&mut engine, job(Some(matched), Some("pi"))).unwrap();
        assert_eq!((output.map.unwrap(), &*output.job.params), (map, &there));
        assert_eq!((output.engine.kind, output.engine.adapter.as_str()), (EngineKind::Network, "gpu of the rack"));
    }
}
