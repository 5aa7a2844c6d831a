//! Each setting is matched once on each scene, though many searches try it.

use crate::search::{EngineMeter, Failure, Meter, Run, SampleResult, key};
use crate::stereo::StereoParams;
use std::collections::BTreeMap;

/// Measures on all scenes, and remembers.
pub(super) struct Memory {
    meter: EngineMeter,
    runs: BTreeMap<(String, usize), Run>,
}

impl Memory {
    pub(super) fn of(meter: EngineMeter) -> Self {
        Self { meter, runs: BTreeMap::new() }
    }

    /// Measures on these scenes alone, numbered from 0.
    pub(super) fn on(&mut self, scenes: Vec<usize>) -> Part<'_> {
        Part { memory: self, scenes }
    }
}

/// Some of the scenes.
pub(super) struct Part<'a> {
    memory: &'a mut Memory,
    scenes: Vec<usize>,
}

impl Meter for Part<'_> {
    fn measure(
        &mut self,
        params: &StereoParams,
        sample: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<SampleResult, Failure> {
        let Memory { meter, runs } = &mut *self.memory;
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
