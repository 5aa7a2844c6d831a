//! The GPU engine: jobs become submissions, finished submissions become results. Nothing here waits for the device.
//!
//! A job's copies to the device, its work and the copies of its result are one submission, or several where it takes long
//! ([`super::pace`]); [`Engine::collect`] submits the pending ones. While the device works on a pair, the host writes the next one into
//! mapped memory, records its commands and decodes the result before. The submissions of one queue do not overlap, nor do the copies
//! in them: that would need a second queue, which wgpu does not offer.

use super::buffers::{Buffers, copy_to_texture};
use super::compiler::Compiler;
use super::device::Gpu;
use super::events::{Event, Events};
use super::graph::{DispatchGraph, GraphKey};
use super::in_flight::{HostResults, InFlight, JobSlot, JobState};
use super::layout::Structure;
use super::limits::Limits;
use super::need::{self, MAX_JOBS};
use super::options::GpuOptions;
use super::pace::Pace;
use super::past::Past;
use super::program::{PassGrouping, Program, all_compiled};
use super::resource::Resource;
use super::silence::{Progress, Silence};
use super::slot::{PairFormat, Slot};
use super::tuning::VariantSelector;
use super::uniforms::Params;
use super::variant::{Variant, VariantOverrides};
use crate::error::GpuError;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_frame::engine::demand::Demand;
use stereopsis_frame::engine::{Engine, EngineError, EngineInfo, Job, Output, POLL_INTERVAL};

/// Time of a pair, ms, above which one job less is in flight: transfers are short beside it, and latency falls.
const SLOW_PAIR_MS: f64 = 10.0;

/// Longest wait for the device in one call; short, because other threads cannot free buffers meanwhile.
const WAIT: Duration = Duration::from_millis(2);

/// Engine that matches pairs on a GPU.
pub struct GpuEngine {
    pub(super) gpu: Gpu,
    options: GpuOptions,
    limits: Limits,
    selector: VariantSelector,
    compiler: Compiler,
    current: Option<(GraphKey, DispatchGraph)>,
    coming: Option<(GraphKey, DispatchGraph)>,
    pub(super) buffers: Buffers,
    /// Number of changes of the buffers: programs of earlier generations are bound to freed buffers.
    generation: u64,
    pub(super) past: Past,
    in_flight: VecDeque<InFlight>,
    free: Vec<JobSlot>,
    pace: Pace,
    pub(super) silence: Silence,
    jobs: u64,
    pair_ms: f64,
    events: Events,
    last_finished: Option<Instant>,
}

impl GpuEngine {
    /// Creates an engine on this device, which a window may share. Shaders are compiled when a job first needs them.
    ///
    /// # Errors
    /// The device is lost already.
    pub fn new(gpu: Gpu) -> Result<Self, EngineError> {
        Self::with_options(gpu, GpuOptions::default())
    }

    /// Creates an engine with options that override the variant or limit memory.
    ///
    /// # Errors
    /// The device is lost already, or its kernels bind too few buffers or share too little memory.
    pub fn with_options(gpu: Gpu, options: GpuOptions) -> Result<Self, EngineError> {
        gpu.check()?;
        let mut limits = gpu.limits();
        if let Some(why) = gpu.misfit() {
            return Err(GpuError::Misfit { adapter: gpu.info.adapter.clone(), why }.into());
        }
        limits.path_bytes = options.path_bytes.unwrap_or(limits.path_bytes);
        limits.binding_bytes = limits.binding_bytes.min(options.binding_bytes.unwrap_or(u64::MAX));
        Ok(Self {
            selector: VariantSelector::new(gpu.clone(), &options),
            compiler: if options.checks { Compiler::with_checks(gpu.clone()) } else { Compiler::new(gpu.clone()) },
            pace: Pace::new(&gpu, options.max_work),
            silence: Silence::new(gpu.info.software),
            gpu,
            options,
            limits,
            current: None,
            coming: None,
            buffers: Buffers::default(),
            generation: 0,
            past: Past::default(),
            in_flight: VecDeque::new(),
            free: Vec::new(),
            jobs: 0,
            pair_ms: 0.0,
            events: Events::default(),
            last_finished: None,
        })
    }

    /// Returns the variant of the last job.
    pub fn variant(&self) -> Option<Variant> {
        self.current.as_ref().map(|(key, _)| key.variant)
    }

    /// Returns the variant of a coming job: a measured one, where there are measurements.
    pub fn variant_of(&mut self, job: &Job) -> Option<Variant> {
        self.graph_key(job).ok().map(|key| key.variant)
    }

    /// Whether no measurement is left for jobs like the last one.
    pub fn is_tuned(&self) -> bool {
        self.current.as_ref().is_some_and(|(key, _)| self.selector.is_known(key))
    }

    pub(super) fn key(&self) -> Option<&GraphKey> {
        self.current.as_ref().map(|(key, _)| key)
    }

    /// Returns the dispatch graph of the last job; `None` before the first one.
    pub fn graph(&self) -> Option<&DispatchGraph> {
        self.current.as_ref().map(|(_, graph)| graph)
    }

    /// Returns the device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Returns the limits of the device.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Overrides the variant from now on.
    pub fn override_variant(&mut self, overrides: VariantOverrides) {
        self.selector.overrides = overrides;
    }

    /// Records the events of jobs from now on.
    pub fn watch(&mut self) -> Arc<parking_lot::Mutex<Vec<Event>>> {
        self.events.watch()
    }

    fn graph_key(&mut self, job: &Job) -> Result<GraphKey, EngineError> {
        self.gpu.check()?;
        let (left, right) = (&job.frame.left.luma, &job.frame.right.luma);
        let size = left.size();
        if size != right.size() || size.0 == 0 || size.1 == 0 {
            return Err(GpuError::Sizes { left: size, right: right.size() }.into());
        }
        let structures = need::structures(&Demand::of(job));
        let is_compiled = |graph: &DispatchGraph| all_compiled(&self.compiler, graph);
        let is_idle = self.in_flight.is_empty();
        let measured = self.selector.variant(&structures, &self.limits, self.pace.max_work(), is_idle, is_compiled);
        GraphKey::new(structures, &self.limits, measured, &self.selector.overrides, self.pace.max_work())
    }

    /// Whether every pipeline of a job is compiled; the others are requested.
    fn is_prepared(&mut self, job: &Job) -> Result<bool, EngineError> {
        let key = self.graph_key(job)?;
        if self.current.as_ref().is_some_and(|(current, _)| *current == key) {
            return Ok(true);
        }
        let graph = match self.coming.take() {
            Some((coming, graph)) if coming == key => graph,
            _ => DispatchGraph::new(&key, &self.limits, &self.gpu.info.adapter)?,
        };
        let is_ready = all_compiled(&self.compiler, &graph);
        self.coming = Some((key, graph));
        is_ready
    }

    /// Refuses a graph for whose buffers and pairs the machine has no memory.
    fn check_memory(&self, demand: &Demand, key: &GraphKey, graph: &DispatchGraph) -> Result<(), EngineError> {
        let shares_memory = self.gpu.shares_memory();
        let (limits, overrides) = (&self.limits, &self.selector.overrides);
        let device = need::DeviceProperties { limits, overrides, max_work: self.pace.max_work(), shares_memory };
        let slots = self.free.iter().chain(self.in_flight.iter().map(|job| &job.slot));
        let held: u64 = slots.map(|slot| slot.slot.format.slot_bytes(shares_memory)).sum();
        let held = held + if shares_memory { self.buffers.bytes() } else { 0 };
        need::check(demand, (key, graph), device, held, self.options.free)
    }

    /// Makes the graph of a job the current one, and allocates its buffers.
    fn set_graph(&mut self, demand: &Demand, key: &GraphKey) -> Result<(), EngineError> {
        if self.current.as_ref().is_some_and(|(current, _)| current == key) {
            return Ok(());
        }
        let adapter = &self.gpu.info.adapter;
        let path_bytes = self.limits.path_bytes;
        self.current = None;
        let mut graph = match self.coming.take_if(|(coming, _)| coming == key) {
            Some((_, graph)) => graph,
            None => DispatchGraph::new(key, &self.limits, adapter)?,
        };
        loop {
            let is_free = self.check_memory(demand, key, &graph);
            match is_free.and_then(|()| self.buffers.fit(&self.gpu, &graph)) {
                Ok(is_changed) => {
                    self.generation += u64::from(is_changed);
                    break;
                }
                Err(EngineError::TooLarge(why)) if graph.path_bytes() > graph.min_path_bytes() => {
                    self.generation += 1;
                    self.limits.path_bytes = graph.path_bytes() / 2;
                    log::info!("path costs of all directions share {} MiB: {why}", self.limits.path_bytes >> 20);
                    graph = DispatchGraph::new(key, &self.limits, adapter)?;
                }
                Err(err) => {
                    self.generation += 1;
                    // a limit that is too small even for the fewest directions must not remain for other jobs
                    self.limits.path_bytes = path_bytes;
                    return Err(err);
                }
            }
        }
        self.current = Some((key.clone(), graph));
        Ok(())
    }

    /// Writes a job into a slot and binds its program. The caller submits first the returned copies to the device, then the program.
    pub(super) fn start(&mut self, job: &Job, keeps_sums: bool) -> Result<(JobSlot, wgpu::CommandBuffer), EngineError> {
        stereopsis_frame::engine::check_counts(job.frame.size(), &job.params)?;
        let key = GraphKey { keeps_sums, ..self.graph_key(job)? };
        let pair = job.frame.pictures();
        let demand = Demand::of(job);
        match self.set_graph(&demand, &key) {
            Err(EngineError::TooLarge(why)) if self.selector.give_up(&key) => {
                log::info!("{} is not tried: {why}", key.variant);
                return self.start(job, keeps_sums);
            }
            result => result?,
        }
        let (left, right) = (&job.frame.left.luma, &job.frame.right.luma);
        let colors = pair.map(|picture| picture.rgb.filter(|_| key.structures[0].colored));
        let format = need::format(&demand, &key);
        let mut slot = self.bind(key, format)?;
        let has_past = self.past.follow(left.size(), &job.params);
        let levels = Structure::levels_of(left.size(), &job.params, job.wants_right);
        let layouts = self.graph().map(|graph| &graph.layouts[..]).unwrap_or_default();
        let params: Vec<_> = levels
            .iter()
            .zip(layouts)
            .enumerate()
            // the coarser levels, of other sizes, are not masked
            .map(|(level, ((_, params), layout))| {
                Params::new([left, right], job.frame.is_masked && level == 0, params, layout, has_past)
            })
            .collect();
        let upload = slot.slot.write(&self.gpu, [left, right], colors, &params)?;
        Ok((slot, upload))
    }

    /// Returns a free slot, or a new one, with the current graph bound to it.
    fn bind(&mut self, key: GraphKey, format: PairFormat) -> Result<JobSlot, EngineError> {
        self.free.retain(|free| free.slot.format == format && free.slot.is_writable());
        let free = self.free.pop();
        let slot = match free {
            Some(free) if free.key == key && free.generation == self.generation => return Ok(free),
            Some(free) => free.slot,
            None => Slot::new(&self.gpu, format),
        };
        let grouping = match (key.keeps_sums, self.options.sequential) {
            (true, _) => PassGrouping::Steps,
            (false, true) => PassGrouping::Directions,
            (false, false) => PassGrouping::Stages,
        };
        let Some((_, graph)) = &self.current else {
            return Err(GpuError::Missing("a job without its graph").into());
        };
        let program = Program::new(&self.gpu, &self.compiler, graph, &self.buffers, &slot, key.max_work, grouping)?;
        Ok(JobSlot { slot, key, generation: self.generation, program })
    }

    /// Submits pending work, the oldest job's first, while the backlog is short.
    fn submit_pending(&mut self) {
        let Self { gpu, pace, events, in_flight, .. } = self;
        for flight in in_flight {
            if !flight.submit(gpu, pace, events) {
                return;
            }
        }
    }

    /// Returns the texture for a job's result, and records the copies into it and to the host.
    fn record_result(
        &mut self,
        job: &Job,
        slot: &JobSlot,
    ) -> Result<(wgpu::Texture, wgpu::CommandBuffer), EngineError> {
        let texture = self.buffers.next_result();
        let results = self.graph().map(|graph| &graph.results[..]).unwrap_or_default();
        let Some(result) = results.first().and_then(|&result| self.buffers.buffer(result)) else {
            return Err(GpuError::Missing("a job without a result").into());
        };
        let label = Some("result");
        let mut copies = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
        copy_to_texture(&mut copies, result, &texture);
        if let Some(last) = self.buffers.buffer(Resource::Last) {
            copies.copy_buffer_to_buffer(result, 0, last, 0, last.size());
        }
        let wanted = [(0, job.read_back, job.params.confidence), (1, job.wants_right, false)];
        let mut packed = Vec::new();
        for (number, _, with_confidence) in wanted.into_iter().filter(|(_, is_wanted, _)| *is_wanted) {
            slot.program.record_packing(&mut copies, number);
            packed.extend(self.buffers.buffer(Resource::HostMap(number)).map(|map| (number, map, with_confidence)));
        }
        slot.slot.record_read_back(&mut copies, slot.program.timed_stages().len(), packed);
        Ok((texture, copies.finish()))
    }

    /// Returns the result of a finished job, and frees its slot.
    fn finish(&mut self, flight: InFlight) -> Result<Output, EngineError> {
        self.events.note(Event::Taken(flight.number));
        let HostResults { map, right_map, times } = flight.take(&self.gpu)?;
        let InFlight { job, slot, texture, submitted, .. } = flight;
        let compute_time = submitted.elapsed();
        let timed_ms: f64 = times.iter().map(|stage| stage.ms).sum();
        let use_timestamps = timed_ms > 0.0 && !self.gpu.info.software;
        // without the time during which earlier jobs had the device
        let alone = self.last_finished.map_or(submitted, |last| last.max(submitted)).elapsed();
        self.last_finished = Some(Instant::now());
        self.pair_ms = if use_timestamps { timed_ms } else { alone.as_secs_f64() * 1e3 };
        self.pace.adapt(slot.program.total_work(), self.pair_ms);
        self.selector.add_sample(&slot.key, self.pair_ms);
        self.free.push(slot);
        Ok(Output { job, engine: self.info(), map, right_map, texture: Some(texture), stages: times, compute_time })
    }
}

impl Engine for GpuEngine {
    fn info(&self) -> Arc<EngineInfo> {
        Arc::clone(&self.gpu.info)
    }

    fn slots(&self) -> usize {
        if self.pair_ms > SLOW_PAIR_MS { MAX_JOBS - 1 } else { MAX_JOBS }
    }

    fn memory_bytes(&mut self) -> Option<usize> {
        self.graph().map(|graph| graph.bytes() as usize)
    }

    fn prepare(&mut self, job: &Job) -> bool {
        self.is_prepared(job).unwrap_or(true)
    }

    fn forget(&mut self) {
        self.past.forget();
    }

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        if self.in_flight.len() >= MAX_JOBS {
            return Err(GpuError::Busy(MAX_JOBS).into());
        }
        let submitted = Instant::now();
        let (slot, upload) = self.start(&job, false)?;
        let result = self.record_result(&job, &slot)?;
        let number = self.jobs;
        self.jobs += 1;
        self.in_flight.push_back(InFlight::new(&self.gpu, (number, submitted), job, slot, upload, result));
        self.events.note(Event::Written(number));
        self.past.remember();
        self.submit_pending();
        Ok(())
    }

    fn wait(&mut self) {
        if self.in_flight.front().is_some_and(InFlight::is_queued) {
            // `collect` reports errors
            let _ = self.gpu.device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(WAIT) });
        } else {
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let polled = self.gpu.device.poll(wgpu::PollType::Poll);
        let mut checked = self.gpu.check().and(polled.map(drop).map_err(|err| GpuError::from(err).into()));
        if checked.is_ok() {
            self.submit_pending();
        }
        let state = self.in_flight.front().map(InFlight::state);
        if let (Ok(()), Some(JobState::Running), Some(flight)) = (&checked, state, self.in_flight.front()) {
            let progress = Progress { job: flight.number, submissions: self.pace.finished() };
            checked = self.silence.check(&self.gpu, flight.job.frame.size(), progress);
        }
        if checked.is_ok() && matches!(state, None | Some(JobState::Running)) {
            return Ok(None);
        }
        let oldest = self.in_flight.pop_front();
        checked?;
        let Some(oldest) = oldest else { return Ok(None) };
        if state == Some(JobState::Failed) {
            // only a lost device fails in this way; its own callback may come later
            return Err(self.gpu.mark_lost("a result could not be read back"));
        }
        self.finish(oldest).map(Some)
    }
}
