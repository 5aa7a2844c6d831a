//! Choice of the next job's variant: a measured one, or one to be measured.

use super::{Autotuner, Record, record_key, records};
use crate::graph::{DispatchGraph, GraphKey};
use crate::layout::Structure;
use crate::limits::Limits;
use crate::variant::{Variant, VariantOverrides};
use crate::{Gpu, GpuOptions};
use std::collections::HashMap;
use stereopsis_frame::engine::cached::Measurements;
use stereopsis_frame::engine::{Autotune, EngineError};

enum TuningState {
    /// Measured variant; `None` where nothing is measured.
    Known(Option<Variant>),
    Tuning(Autotuner),
}

pub struct VariantSelector {
    gpu: Gpu,
    autotune: Autotune,
    pub overrides: VariantOverrides,
    records: Measurements,
    states: HashMap<String, TuningState>,
}

impl VariantSelector {
    pub fn new(gpu: Gpu, options: &GpuOptions) -> Self {
        let records = if options.forgets { Measurements::default() } else { records() };
        let overrides = options.overrides.clone();
        Self { gpu, autotune: options.autotune, overrides, records, states: HashMap::new() }
    }

    /// Returns the quickest known variant for a job. While tuning it is the one to measure, if that is compiled and nothing else is in
    /// flight.
    pub fn variant(
        &mut self,
        structures: &[Structure],
        limits: &Limits,
        max_work: u64,
        is_idle: bool,
        is_compiled: impl Fn(&DispatchGraph) -> Result<bool, EngineError>,
    ) -> Option<Variant> {
        if !self.overrides.is_empty() {
            return None;
        }
        let state = self.states.entry(record_key(&self.gpu, &structures[0])).or_insert_with_key(|key| {
            let tunes = match self.autotune {
                Autotune::Never => false,
                Autotune::OnHardware => !self.gpu.info.software,
                Autotune::Everywhere => true,
            };
            match self.records.get::<Record>(key) {
                None if tunes => TuningState::Tuning(Autotuner::new(*limits, structures[0].requirements())),
                record => TuningState::Known(record.map(|record| record.variant)),
            }
        });
        let autotuner = match state {
            TuningState::Known(variant) => return *variant,
            TuningState::Tuning(autotuner) => autotuner,
        };
        let Some(variant) = autotuner.candidate().filter(|_| is_idle) else { return Some(autotuner.best()) };
        let key = GraphKey { structures: structures.to_vec(), variant, max_work, keeps_sums: false };
        match DispatchGraph::new(&key, limits, &self.gpu.info.adapter).and_then(|graph| is_compiled(&graph)) {
            Ok(true) => Some(variant),
            Ok(false) => Some(autotuner.best()),
            Err(why) => {
                log::info!("{variant} is not tried: {why}");
                autotuner.skip();
                Some(autotuner.best())
            }
        }
    }

    /// Whether no measurement is left.
    pub fn is_known(&self, key: &GraphKey) -> bool {
        !matches!(self.states.get(&record_key(&self.gpu, &key.structures[0])), Some(TuningState::Tuning(_)))
    }

    /// Skips a variant for which memory is too small. Returns `false` if it is not being measured.
    pub fn give_up(&mut self, key: &GraphKey) -> bool {
        match self.states.get_mut(&record_key(&self.gpu, &key.structures[0])) {
            Some(TuningState::Tuning(autotuner)) if autotuner.candidate() == Some(key.variant) => {
                autotuner.skip();
                true
            }
            _ => false,
        }
    }

    /// Adds the time of a pair while tuning, and stores the quickest variant at the end.
    pub(crate) fn add_sample(&mut self, key: &GraphKey, ms: f64) {
        let record_key = record_key(&self.gpu, &key.structures[0]);
        let Some(TuningState::Tuning(autotuner)) = self.states.get_mut(&record_key) else { return };
        autotuner.add_sample(key.variant, ms);
        let Some((variant, ms)) = autotuner.result() else { return };
        log::info!("{} is quickest with {variant}: {ms:.2} ms ({record_key})", self.gpu.info.adapter);
        self.records.put(&record_key, &Record { variant, ms });
        self.states.insert(record_key, TuningState::Known(Some(variant)));
    }
}
