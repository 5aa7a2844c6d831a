//! Which variant the next job runs: forced, known, or being tried.

use super::{Explorer, Record, Records, key};
use crate::engine::EngineError;
use crate::engine::gpu::layout::{Limits, Structure};
use crate::engine::gpu::recipe::{Recipe, Wanted};
use crate::engine::gpu::variant::{Forced, Variant};
use crate::engine::gpu::{Gpu, GpuOptions};
use std::collections::HashMap;

/// Whether variants are tried on the pairs that come along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Explore {
    /// What was measured before is used, nothing is tried.
    #[default]
    Never,
    /// Where nothing was measured yet, on GPUs that are none in disguise.
    OnHardware,
    /// On software too.
    Everywhere,
}

/// How far one knows which variant is quickest.
enum Tuned {
    /// As far as one will.
    Known(Option<Variant>),
    /// It is being found out.
    Exploring(Explorer),
}

pub(in crate::engine::gpu) struct Choice {
    gpu: Gpu,
    explore: Explore,
    /// Parts that are not left to choice.
    pub(in crate::engine::gpu) forced: Forced,
    records: Records,
    /// What is known of each key.
    tuned: HashMap<String, Tuned>,
}

impl Choice {
    pub(in crate::engine::gpu) fn new(gpu: Gpu, options: &GpuOptions) -> Self {
        let records = if options.forgets { Records::default() } else { Records::of_user() };
        Self { gpu, explore: options.explore, forced: options.forced, records, tuned: HashMap::new() }
    }

    /// The variant for a job, as far as one knows: the quickest; or while exploring, if nothing else is in flight, the one
    /// that is to be tried, as soon as `is_compiled`.
    pub(in crate::engine::gpu) fn variant(
        &mut self,
        structures: &[Structure],
        limits: &Limits,
        most_work: u64,
        is_idle: bool,
        is_compiled: impl Fn(&Recipe) -> Result<bool, EngineError>,
    ) -> Option<Variant> {
        if !self.forced.is_empty() {
            return None;
        }
        let tuned = self.tuned.entry(key(&self.gpu, &structures[0])).or_insert_with_key(|key| {
            let explore = match self.explore {
                Explore::Never => false,
                Explore::OnHardware => !self.gpu.info.software,
                Explore::Everywhere => true,
            };
            match self.records.get(key) {
                None if explore => Tuned::Exploring(Explorer::new(limits.abilities, structures[0].demands())),
                record => Tuned::Known(record.map(|record| record.variant)),
            }
        });
        let explorer = match tuned {
            Tuned::Known(variant) => return *variant,
            Tuned::Exploring(explorer) => explorer,
        };
        let Some(variant) = explorer.trying().filter(|_| is_idle) else { return Some(explorer.best()) };
        let wanted = Wanted { structures: structures.to_vec(), variant, most_work, keeps_sums: false };
        match Recipe::new(&wanted, limits, &self.gpu.info.adapter).and_then(|recipe| is_compiled(&recipe)) {
            Ok(true) => Some(variant),
            Ok(false) => Some(explorer.best()),
            Err(why) => {
                log::info!("{variant} is not tried: {why}");
                explorer.skip();
                Some(explorer.best())
            }
        }
    }

    /// Whether nothing is left to be tried.
    pub(in crate::engine::gpu) fn is_known(&self, wanted: &Wanted) -> bool {
        !matches!(self.tuned.get(&key(&self.gpu, &wanted.structures[0])), Some(Tuned::Exploring(_)))
    }

    /// Gives up trying a variant for which there is no room; false if it is not being tried.
    pub(in crate::engine::gpu) fn give_up(&mut self, wanted: &Wanted) -> bool {
        match self.tuned.get_mut(&key(&self.gpu, &wanted.structures[0])) {
            Some(Tuned::Exploring(explorer)) if explorer.trying() == Some(wanted.variant) => {
                explorer.skip();
                true
            }
            _ => false,
        }
    }

    /// Takes a pair's time where variants are tried, and keeps the quickest when all is known.
    pub(in crate::engine::gpu) fn note(&mut self, wanted: &Wanted, ms: f64) {
        let key = key(&self.gpu, &wanted.structures[0]);
        let Some(Tuned::Exploring(explorer)) = self.tuned.get_mut(&key) else { return };
        explorer.note(wanted.variant, ms);
        let Some((variant, ms)) = explorer.result() else { return };
        log::info!("{} is quickest with {variant}: {ms:.2} ms ({key})", self.gpu.info.adapter);
        self.records.put(&key, Record { variant, ms });
        self.tuned.insert(key, Tuned::Known(Some(variant)));
    }
}
