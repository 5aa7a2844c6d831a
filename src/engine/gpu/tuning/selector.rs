//! Which variant the next job runs: overrides, known, or being tried.

use super::{Autotuner, Record, Records, record_key};
use crate::engine::EngineError;
use crate::engine::gpu::graph::{DispatchGraph, GraphKey};
use crate::engine::gpu::layout::{Limits, Structure};
use crate::engine::gpu::variant::{Variant, VariantOverrides};
use crate::engine::gpu::{Gpu, GpuOptions};
use std::collections::HashMap;

/// Whether variants are tried on the pairs that come along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Autotune {
    /// What was measured before is used, nothing is tried.
    #[default]
    Never,
    /// On hardware adapters, where no measurement is stored.
    OnHardware,
    /// On software too.
    Everywhere,
}

/// How far one knows which variant is quickest.
enum Tuned {
    /// As far as one will.
    Known(Option<Variant>),
    /// It is being found out.
    Exploring(Autotuner),
}

pub(in crate::engine::gpu) struct VariantSelector {
    gpu: Gpu,
    autotune: Autotune,
    /// Parts that are not left to choice.
    pub(in crate::engine::gpu) overrides: VariantOverrides,
    records: Records,
    /// What is known of each key.
    tuned: HashMap<String, Tuned>,
}

impl VariantSelector {
    pub(in crate::engine::gpu) fn new(gpu: Gpu, options: &GpuOptions) -> Self {
        let records = if options.forgets { Records::default() } else { Records::of_user() };
        Self { gpu, autotune: options.autotune, overrides: options.overrides, records, tuned: HashMap::new() }
    }

    /// The variant for a job, as far as one knows: the quickest; or while exploring, if nothing else is in flight, the one
    /// that is to be tried, as soon as `is_compiled`.
    pub(in crate::engine::gpu) fn variant(
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
        let tuned = self.tuned.entry(record_key(&self.gpu, &structures[0])).or_insert_with_key(|key| {
            let autotune = match self.autotune {
                Autotune::Never => false,
                Autotune::OnHardware => !self.gpu.info.software,
                Autotune::Everywhere => true,
            };
            match self.records.get(key) {
                None if autotune => Tuned::Exploring(Autotuner::new(limits.capabilities, structures[0].requirements())),
                record => Tuned::Known(record.map(|record| record.variant)),
            }
        });
        let autotuner = match tuned {
            Tuned::Known(variant) => return *variant,
            Tuned::Exploring(autotuner) => autotuner,
        };
        let Some(variant) = autotuner.trying().filter(|_| is_idle) else { return Some(autotuner.best()) };
        let graph_key = GraphKey { structures: structures.to_vec(), variant, max_work, keeps_sums: false };
        match DispatchGraph::new(&graph_key, limits, &self.gpu.info.adapter).and_then(|graph| is_compiled(&graph)) {
            Ok(true) => Some(variant),
            Ok(false) => Some(autotuner.best()),
            Err(why) => {
                log::info!("{variant} is not tried: {why}");
                autotuner.skip();
                Some(autotuner.best())
            }
        }
    }

    /// Whether nothing is left to be tried.
    pub(in crate::engine::gpu) fn is_known(&self, graph_key: &GraphKey) -> bool {
        !matches!(self.tuned.get(&record_key(&self.gpu, &graph_key.structures[0])), Some(Tuned::Exploring(_)))
    }

    /// Gives up trying a variant for which there is no room; false if it is not being tried.
    pub(in crate::engine::gpu) fn give_up(&mut self, graph_key: &GraphKey) -> bool {
        match self.tuned.get_mut(&record_key(&self.gpu, &graph_key.structures[0])) {
            Some(Tuned::Exploring(autotuner)) if autotuner.trying() == Some(graph_key.variant) => {
                autotuner.skip();
                true
            }
            _ => false,
        }
    }

    /// Takes a pair's time where variants are tried, and keeps the quickest when all is known.
    pub(in crate::engine::gpu) fn note(&mut self, graph_key: &GraphKey, ms: f64) {
        let key = record_key(&self.gpu, &graph_key.structures[0]);
        let Some(Tuned::Exploring(autotuner)) = self.tuned.get_mut(&key) else { return };
        autotuner.note(graph_key.variant, ms);
        let Some((variant, ms)) = autotuner.result() else { return };
        log::info!("{} is quickest with {variant}: {ms:.2} ms ({key})", self.gpu.info.adapter);
        self.records.put(&key, Record { variant, ms });
        self.tuned.insert(key, Tuned::Known(Some(variant)));
    }
}
