//! Cache of measurements, so that searches share the results of each setting and scene.

use std::collections::BTreeMap;
use stereopsis_search::{EngineMeter, Failure, Meter, Run, SampleResult, key};
use stereopsis_stereo::StereoParams;

pub(super) struct MeterCache {
    meter: EngineMeter,
    runs: BTreeMap<(String, usize), Run>,
}

impl MeterCache {
    pub(super) fn of(meter: EngineMeter) -> Self {
        Self { meter, runs: BTreeMap::new() }
    }

    /// Returns a meter for these scenes only, numbered from 0.
    pub(super) fn on(&mut self, scenes: Vec<usize>) -> SceneSubset<'_> {
        SceneSubset { memory: self, scenes }
    }
}

pub(super) struct SceneSubset<'a> {
    memory: &'a mut MeterCache,
    scenes: Vec<usize>,
}

impl Meter for SceneSubset<'_> {
    fn measure(
        &mut self,
        params: &StereoParams,
        sample: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<SampleResult, Failure> {
        let MeterCache { meter, runs } = &mut *self.memory;
        let scene = self.scenes[sample];
        let run = match runs.entry((key(params), scene)) {
            std::collections::btree_map::Entry::Occupied(known) => *known.get(),
            std::collections::btree_map::Entry::Vacant(new) => {
                *new.insert(meter.measure(params, scene, is_stopped)?.run)
            }
        };
        Ok(SampleResult { run, map: None })
    }
}
