//! Comparison of a job's memory with the free memory before the job begins, because the system would end a program that takes more.

use super::{EngineError, Job, MemoryError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stereopsis_base::image::PictureRef;
use stereopsis_base::process::memory::{FreeMemory, Places};
use stereopsis_base::remedy::Remedy;
use stereopsis_stereo::{Preset, StereoParams};

/// Properties of a job that determine its memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Size of the images: columns and rows, px.
    pub size: (usize, usize),
    /// Valid parameters.
    pub params: Arc<StereoParams>,
    /// Whether the right image's map is computed too.
    pub wants_right: bool,
    /// Whether brightness has more than 8 bits.
    pub deep: bool,
    /// Whether both images have colours.
    pub colored: bool,
}

impl Demand {
    /// Returns the demand of a job.
    pub fn of(job: &Job) -> Self {
        let pair = job.frame.pictures();
        Self::of_pair(pair, Arc::clone(&job.params), job.wants_right)
    }

    /// Returns the demand of a pair.
    pub fn of_pair([left, right]: [PictureRef<'_>; 2], params: Arc<StereoParams>, wants_right: bool) -> Self {
        let deep = left.luma.bits().max(right.luma.bits()) > 8;
        Self { size: left.luma.size(), params, wants_right, deep, colored: left.rgb.is_some() }
    }

    /// Returns smaller demands, each with the change that leads to it.
    fn smaller(&self) -> Vec<(Remedy, Self)> {
        let with = |params| Self { params: Arc::new(params), ..self.clone() };
        let (width, height) = self.size;
        let half = Self { size: (width.div_ceil(2), height.div_ceil(2)), ..self.clone() };
        let num_disparities = self.params.num_disparities / 2;
        let mut fast = (*self.params).clone();
        Preset::Fast.apply(&mut fast);
        let mut smaller = vec![(Remedy::set("scale", "1/2"), half)];
        if num_disparities > 0 {
            let params = StereoParams { num_disparities, ..(*self.params).clone() };
            smaller.push((Remedy::set("num-disparities", num_disparities), with(params)));
        }
        if fast != *self.params {
            smaller.push((Remedy::set("preset", "fast"), with(fast)));
        }
        smaller
    }
}

/// Memory that engines of this process are about to allocate, bytes; the system counts it only after use.
static PROMISED: AtomicU64 = AtomicU64::new(0);

/// Reservation of memory that an engine is about to allocate, until it is dropped.
pub struct Promise(u64);

impl Promise {
    /// Reserves this number of bytes.
    pub fn of(bytes: u64) -> Self {
        PROMISED.fetch_add(bytes, Ordering::AcqRel);
        Self(bytes)
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        PROMISED.fetch_sub(self.0, Ordering::AcqRel);
    }
}

/// Returns the memory that is free and not reserved by an engine; `None` if the system does not report it. Tests pass `given`.
pub fn free(given: Option<FreeMemory>) -> Option<FreeMemory> {
    let now = || {
        let free = Places::usual().free()?;
        Some(FreeMemory { bytes: free.bytes.saturating_sub(PROMISED.load(Ordering::Acquire)), ..free })
    };
    given.or_else(now)
}

/// Refuses a demand above `free` plus the memory `held` by the previous engine, and names settings that fit. `need` computes the bytes of
/// any demand; `None` for one that is impossible for other reasons.
///
/// # Errors
/// The demand does not fit.
pub fn check(
    demand: &Demand,
    free: Option<FreeMemory>,
    held: u64,
    need: impl Fn(&Demand) -> Option<u64>,
) -> Result<(), EngineError> {
    let (Some(needed), Some(free)) = (need(demand), free) else { return Ok(()) };
    let most = free.bytes.saturating_add(held);
    if needed <= most {
        return Ok(());
    }
    let fits = |demand: &Demand| need(demand).filter(|&needed| needed <= most);
    let fitting = demand.smaller().into_iter().filter_map(|(how, smaller)| Some((how, fits(&smaller)?))).collect();
    let (size, num_disparities) = (demand.size, demand.params.num_disparities);
    Err(EngineError::TooLarge(MemoryError { size, num_disparities, needed, free, held, fitting }.into()))
}
