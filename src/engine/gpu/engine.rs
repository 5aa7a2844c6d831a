//! The engine: jobs become pieces of work, finished pieces become results. Nothing here waits for the device.
//!
//! The queue is first come, first served: so that a window on it is not kept waiting for a whole job, only a few ms
//! of work lie there, and the rest follows from [`Engine::collect`].

use super::buffers::{JobBuffers, extent};
use super::compiler::Compiler;
use super::device::Gpu;
use super::events::{Event, Events};
use super::graph::{DispatchGraph, GraphKey};
use super::layout::{Layout, Limits, Structure};
use super::options::GpuOptions;
use super::past::Past;
use super::program::{PassGrouping, Program};
use super::slot::{Pictures, Slot};
use super::tuning::VariantSelector;
use super::uniforms::{Params, map_pitch};
use super::variant::{Variant, VariantOverrides};
use crate::engine::{Engine, EngineError, EngineInfo, Job, Output, StageTime};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Jobs in flight: one is on its way, one computes, one is read back.
const SLOTS: usize = 3;

/// Where a pair takes longer than this, its transfers are short beside it, and one job less in flight is a pair's time less
/// of latency.
const SLOW_PAIR_MS: f64 = 10.0;

/// How long a submission takes at most, as far as its dispatches can be cut, ms.
const SUBMISSION_MS: f64 = 3.0;
/// Submissions that wait on the device at least, so that it has work while the host looks elsewhere.
const MIN_BACKLOG: usize = 2;

const RUNNING: u8 = 0;
const FINISHED: u8 = 1;
const FAILED: u8 = 2;

/// Matches pairs on a GPU.
pub struct GpuEngine {
    pub(super) gpu: Gpu,
    options: GpuOptions,
    limits: Limits,
    selector: VariantSelector,
    compiler: Compiler,
    /// What the last job ran, and what that was made from.
    graph: Option<(GraphKey, DispatchGraph)>,
    /// What a coming job will run, whose pipelines are being compiled.
    coming: Option<(GraphKey, DispatchGraph)>,
    pub(super) plan: Option<JobBuffers>,
    pub(super) past: Past,
    /// How often plan or past had new buffers: tells whether a program is bound to the present ones.
    plans: u64,
    in_flight: VecDeque<InFlight>,
    free: Vec<Slot>,
    queued: Arc<Queued>,
    /// Work of a submission.
    max_work: u64,
    jobs: u64,
    /// How long the last pair took the device.
    pair_ms: f64,
    events: Events,
    last_finished: Option<Instant>,
}

/// Submissions on the device, not yet done.
#[derive(Default)]
struct Queued {
    count: AtomicUsize,
    work: AtomicU64,
}

struct InFlight {
    job: Job,
    slot: Slot,
    texture: wgpu::Texture,
    number: u64,
    /// What the device has not got yet, with its work.
    pieces: VecDeque<(wgpu::CommandBuffer, u64)>,
    /// Copies of the result, to go to the device after the pieces.
    tail: Option<wgpu::CommandBuffer>,
    has_begun: bool,
    submitted: Instant,
    state: Arc<AtomicU8>,
}

impl GpuEngine {
    /// On this device, which a window may share. Shaders are compiled when a job first needs them.
    ///
    /// # Errors
    /// The device is lost already.
    pub fn new(gpu: Gpu) -> Result<Self, EngineError> {
        Self::with_options(gpu, GpuOptions::default())
    }

    /// With parts of the variant overrides, or less memory than there is.
    ///
    /// # Errors
    /// The device is lost already.
    pub fn with_options(gpu: Gpu, options: GpuOptions) -> Result<Self, EngineError> {
        gpu.check()?;
        let mut limits = gpu.limits();
        limits.capabilities.i16 &= !options.without_i16;
        limits.path_bytes = options.path_bytes.unwrap_or(limits.path_bytes);
        limits.binding_bytes = limits.binding_bytes.min(options.binding_bytes.unwrap_or(u64::MAX));
        Ok(Self {
            selector: VariantSelector::new(gpu.clone(), &options),
            compiler: if options.checks { Compiler::with_checks(gpu.clone()) } else { Compiler::new(gpu.clone()) },
            max_work: options.max_work.unwrap_or_else(|| gpu.initial_submission_work()),
            gpu,
            options,
            limits,
            graph: None,
            coming: None,
            plan: None,
            past: Past::default(),
            plans: 0,
            in_flight: VecDeque::new(),
            free: Vec::new(),
            queued: Arc::default(),
            jobs: 0,
            pair_ms: 0.0,
            events: Events::default(),
            last_finished: None,
        })
    }

    /// The variant that the last job ran.
    pub fn variant(&self) -> Option<Variant> {
        self.graph.as_ref().map(|(key, _)| key.variant)
    }

    /// Whether nothing is left to be tried for jobs as the last one.
    pub fn is_tuned(&self) -> bool {
        self.graph.as_ref().is_some_and(|(key, _)| self.selector.is_known(key))
    }

    /// How the last job's pair lies in memory.
    pub(super) fn layout(&self) -> Option<&Layout> {
        self.graph.as_ref().and_then(|(_, graph)| graph.layouts.first())
    }

    /// What the last job runs.
    pub(super) fn graph(&self) -> Option<&DispatchGraph> {
        self.graph.as_ref().map(|(_, graph)| graph)
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// What the device allows.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What decides how a job is run.
    fn key(&mut self, job: &Job) -> Result<GraphKey, EngineError> {
        self.gpu.check()?;
        let (left, right) = (&job.frame.left.luma, &job.frame.right.luma);
        let size = left.size();
        if size != right.size() || size.0 == 0 || size.1 == 0 {
            let (l, r) = (left.size(), right.size());
            return Err(EngineError::Device(format!(
                "a left picture of {}x{} and a right one of {}x{} cannot be matched",
                l.0, l.1, r.0, r.1
            )));
        }
        let levels = Structure::levels_of(size, &job.params, job.wants_right);
        let structures: Vec<_> = levels.into_iter().map(|(structure, _)| structure).collect();
        let is_compiled = |graph: &DispatchGraph| all_compiled(&self.compiler, graph);
        let is_idle = self.in_flight.is_empty();
        let measured = self.selector.variant(&structures, &self.limits, self.max_work, is_idle, is_compiled);
        GraphKey::new(structures, &self.limits, (measured, self.selector.overrides), self.max_work)
    }

    /// Runs this variant from now on.
    pub fn force(&mut self, overrides: VariantOverrides) {
        self.selector.overrides = overrides;
    }

    /// Whether every pipeline of a job is compiled; those that are not are asked for.
    fn is_prepared(&mut self, job: &Job) -> Result<bool, EngineError> {
        let key = self.key(job)?;
        if self.graph.as_ref().is_some_and(|(made_for, _)| *made_for == key) {
            return Ok(true);
        }
        let graph = match self.coming.take() {
            Some((made_for, graph)) if made_for == key => graph,
            _ => DispatchGraph::new(&key, &self.limits, &self.gpu.info.adapter)?,
        };
        let is_ready = all_compiled(&self.compiler, &graph);
        self.coming = Some((key, graph));
        is_ready
    }

    /// Makes graph and buffers anew where the last ones do not serve.
    fn hold(&mut self, key: &GraphKey) -> Result<(), EngineError> {
        let is_it =
            |made: &&mut Option<(GraphKey, DispatchGraph)>| made.as_ref().is_some_and(|(made_for, _)| made_for == key);
        let made = [&mut self.graph, &mut self.coming].into_iter().find(is_it).and_then(Option::take);
        let mut graph = match made {
            Some((_, graph)) => graph,
            None => DispatchGraph::new(key, &self.limits, &self.gpu.info.adapter)?,
        };
        while self.plan.as_ref().is_none_or(|plan| !plan.fits(&graph, key.keeps_sums)) {
            self.plan = None; // its memory first
            self.plans += 1;
            match JobBuffers::new(&self.gpu, &graph, key.keeps_sums) {
                Ok(plan) => self.plan = Some(plan),
                Err(EngineError::TooLarge(why)) if graph.path_bytes() > graph.min_path_bytes() => {
                    self.limits.path_bytes = graph.path_bytes() / 2;
                    log::info!("path costs take turns in {} MiB: {why}", self.limits.path_bytes >> 20);
                    graph = DispatchGraph::new(key, &self.limits, &self.gpu.info.adapter)?;
                }
                Err(err) => return Err(err),
            }
        }
        if self.past.hold(&self.gpu, &graph)? {
            self.plans += 1;
        }
        self.graph = Some((key.clone(), graph));
        Ok(())
    }

    /// Uploads a job and binds what it runs, which the caller submits.
    pub(super) fn start(&mut self, job: &Job, keeps_sums: bool) -> Result<Slot, EngineError> {
        crate::engine::check_counts(job.frame.size(), &job.params)?;
        let key = GraphKey { keeps_sums, ..self.key(job)? };
        let (left, right) = (&job.frame.left.luma, &job.frame.right.luma);
        let size = left.size();
        match self.hold(&key) {
            Err(EngineError::TooLarge(why)) if self.selector.give_up(&key) => {
                log::info!("{} is not tried: {why}", key.variant);
                return self.start(job, keeps_sums);
            }
            held => held?,
        }
        let (Some((_, graph)), Some(plan)) = (&self.graph, &self.plan) else {
            return Err(EngineError::Device("no plan".to_owned()));
        };
        let pictures = Pictures::of(left, right, job.wants_right);
        self.free.retain(|slot| slot.pictures == pictures && slot.is_writable());
        let mut slot = self.free.pop().unwrap_or_else(|| Slot::new(&self.gpu, pictures));
        let has_past = self.past.follow(size, &job.params);
        let levels = Structure::levels_of(size, &job.params, job.wants_right);
        let levels: Vec<_> = levels
            .iter()
            .zip(&graph.layouts)
            .map(|((_, params), layout)| Params::new(left, right, params, layout, has_past))
            .collect();
        if slot.program.as_ref().is_none_or(|(made_for, plan, _)| *made_for != key || *plan != self.plans) {
            let (gpu, compiler) = (&self.gpu, &self.compiler);
            let grouping = match (keeps_sums, self.options.sequential) {
                (true, _) => PassGrouping::Steps,
                (false, true) => PassGrouping::Directions,
                (false, false) => PassGrouping::Stages,
            };
            let program = Program::new(gpu, compiler, graph, (plan, &self.past), &slot, key.max_work, grouping)?;
            slot.program = Some((key, self.plans, program));
        }
        slot.upload(&self.gpu, left, right, &levels)?;
        Ok(slot)
    }

    /// Notes what happens to jobs from now on.
    pub fn watch(&mut self) -> Arc<Mutex<Vec<Event>>> {
        self.events.watch()
    }

    /// Hands pieces to the device, the oldest job's first, as long as little is waiting there. The copies of a result go
    /// with the first piece of the next job, if there is one: neither waits for the other, so that a GPU can do both at once.
    fn feed(&mut self) {
        let room = 2 * self.max_work;
        for i in 0..self.in_flight.len() {
            while let Some((piece, work)) = self.in_flight[i].pieces.pop_front() {
                let (count, waiting) = (&self.queued.count, &self.queued.work);
                if count.load(Ordering::Acquire) >= MIN_BACKLOG && waiting.load(Ordering::Acquire) + work > room {
                    self.in_flight[i].pieces.push_front((piece, work));
                    return;
                }
                let before = i.checked_sub(1).and_then(|before| self.in_flight[before].tail.take());
                let sends_tail = before.is_some();
                let (queue, number) = (&self.gpu.queue, self.in_flight[i].number);
                queue.submit(before.into_iter().chain([piece]));
                if !self.in_flight[i].has_begun {
                    self.in_flight[i].has_begun = true;
                    self.events.note(Event::Began(number));
                }
                count.fetch_add(1, Ordering::AcqRel);
                waiting.fetch_add(work, Ordering::AcqRel);
                let (done, events) = (Arc::clone(&self.queued), self.events.clone());
                let is_last = self.in_flight[i].pieces.is_empty();
                queue.on_submitted_work_done(move || {
                    done.work.fetch_sub(work, Ordering::AcqRel);
                    done.count.fetch_sub(1, Ordering::AcqRel);
                    if is_last {
                        events.note(Event::Computed(number));
                    }
                });
                if sends_tail {
                    self.in_flight[i - 1].request_result(&self.gpu);
                }
            }
            // where nobody comes after it, it goes alone
            let is_newest = i + 1 == self.in_flight.len();
            if let Some(tail) = self.in_flight[i].tail.take_if(|_| is_newest) {
                self.gpu.queue.submit([tail]);
                self.in_flight[i].request_result(&self.gpu);
            }
        }
    }

    /// A finished job becomes a result, and its slot is free again.
    fn finish(&mut self, flight: InFlight) -> Result<Output, EngineError> {
        let InFlight { job, slot, texture, submitted, number, .. } = flight;
        self.events.note(Event::Taken(number));
        let (mut map, mut right_map, mut times) = (None, None, Vec::<StageTime>::new());
        let program = slot.program.as_ref().map(|(_, _, program)| program);
        let stages = program.map(Program::timed_stages).unwrap_or_default();
        let work = program.map_or(0, Program::total_work);
        if job.comes_back() || slot.has_timestamps() {
            let with_map = job.read_back.then_some(job.params.confidence);
            let (ticks, [left, right]) = slot.take_read_back(&self.gpu, with_map, job.wants_right)?;
            (map, right_map) = (left.map(Arc::new), right.map(Arc::new));
            let tick_ms = f64::from(self.gpu.queue.get_timestamp_period()) * 1e-6;
            for (&name, ticks) in stages.iter().zip(ticks.chunks_exact(2)).filter(|_| slot.has_timestamps()) {
                let ms = ticks[1].saturating_sub(ticks[0]) as f64 * tick_ms;
                match times.iter_mut().find(|time| time.name == name) {
                    Some(time) => time.ms += ms,
                    None => times.push(StageTime { name, ms }),
                }
            }
        }
        let key = slot.program.as_ref().map(|(key, _, _)| key.clone());
        self.free.push(slot);
        let compute_time = submitted.elapsed();
        let timed_ms: f64 = times.iter().map(|stage| stage.ms).sum();
        let use_timestamps = timed_ms > 0.0 && !self.gpu.info.software;
        // the jobs before this one had the device first
        let alone = self.last_finished.map_or(submitted, |last| last.max(submitted)).elapsed();
        self.last_finished = Some(Instant::now());
        let ms = if use_timestamps { timed_ms } else { alone.as_secs_f64() * 1e3 };
        self.adapt(work, ms);
        self.pair_ms = ms;
        if let Some(key) = key {
            self.selector.note(&key, ms);
        }
        Ok(Output { job, engine: self.info(), map, right_map, texture: Some(texture), stages: times, compute_time })
    }

    /// Learns from a job how much work takes [`SUBMISSION_MS`]. Only large changes count, because a change means that
    /// dispatches are cut anew.
    fn adapt(&mut self, work: u64, ms: f64) {
        if self.options.max_work.is_some() {
            return;
        }
        let fitting = work as f64 / ms.max(1e-3) * SUBMISSION_MS;
        let factor = fitting / self.max_work as f64;
        if !(0.4..=4.0).contains(&factor) {
            self.max_work = (fitting as u64).max(self.gpu.min_submission_work()).next_power_of_two();
        }
    }
}

impl InFlight {
    /// Has `state` say when the copies of the result, just submitted, are done.
    fn request_result(&self, gpu: &Gpu) {
        let state = Arc::clone(&self.state);
        if self.job.comes_back() || self.slot.has_timestamps() {
            let note = move |ok| state.store(if ok { FINISHED } else { FAILED }, Ordering::Release);
            self.slot.request_read_back(note);
        } else {
            gpu.queue.on_submitted_work_done(move || state.store(FINISHED, Ordering::Release));
        }
    }
}

impl Engine for GpuEngine {
    fn info(&self) -> Arc<EngineInfo> {
        Arc::clone(&self.gpu.info)
    }

    fn slots(&self) -> usize {
        if self.pair_ms > SLOW_PAIR_MS { SLOTS - 1 } else { SLOTS }
    }

    fn memory_bytes(&mut self) -> Option<usize> {
        self.graph.as_ref().map(|(_, graph)| graph.bytes() as usize)
    }

    fn prepare(&mut self, job: &Job) -> bool {
        self.is_prepared(job).unwrap_or(true)
    }

    fn forget(&mut self) {
        self.past.forget();
    }

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        if self.in_flight.len() >= SLOTS {
            return Err(EngineError::Device(format!("{SLOTS} jobs are in flight already")));
        }
        let submitted = Instant::now();
        let slot = self.start(&job, false)?;
        let (Some(plan), Some((_, _, program))) = (&mut self.plan, &slot.program) else {
            return Err(EngineError::Device("no plan".to_owned()));
        };
        let recorded = (0..program.submissions()).map(|i| (program.record(&self.gpu, &slot, i), program.work(i)));
        let pieces = recorded.map(|(encoder, work)| (encoder.finish(), work)).collect();
        let texture = plan.next_result();
        let result = plan.buffer(program.result).cloned();
        let Some(result) = result else { return Err(EngineError::Device("a job without a result".to_owned())) };
        let right_result = program.right_result.and_then(|right| plan.buffer(right));
        let mut tail =
            self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("result") });
        copy_to_texture(&mut tail, &result, &texture);
        self.past.record(&mut tail, &result);
        slot.record_read_back(
            &mut tail,
            program.timed_stages().len(),
            [job.read_back.then_some(&result), right_result],
        );
        let tail = Some(tail.finish());

        let state = Arc::new(AtomicU8::new(RUNNING));
        let (number, has_begun) = (self.jobs, false);
        self.jobs += 1;
        let events = self.events.clone();
        self.gpu.queue.on_submitted_work_done(move || events.note(Event::Uploaded(number)));
        self.past.remember();
        self.in_flight.push_back(InFlight { job, slot, texture, number, pieces, tail, has_begun, submitted, state });
        self.feed();
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let polled = self.gpu.device.poll(wgpu::PollType::Poll);
        let polled = polled.map_err(|err| EngineError::Device(format!("the GPU does not answer: {err}")));
        let checked = self.gpu.check().and(polled.map(drop));
        if checked.is_ok() {
            self.feed();
        }
        let state = self.in_flight.front().map(|flight| flight.state.load(Ordering::Acquire));
        if checked.is_ok() && matches!(state, None | Some(RUNNING)) {
            return Ok(None);
        }
        let oldest = self.in_flight.pop_front();
        checked?;
        let Some(oldest) = oldest else { return Ok(None) };
        if state == Some(FAILED) {
            // Only a device that is gone fails so, and its own callback may come later.
            return Err(self.gpu.mark_lost("a result could not be read back"));
        }
        self.finish(oldest).map(Some)
    }
}

/// Whether every pipeline of a graph is compiled; all that are not are asked for.
fn all_compiled(compiler: &Compiler, graph: &DispatchGraph) -> Result<bool, EngineError> {
    let found: Result<Vec<_>, _> = graph.requests().map(|request| compiler.get(request)).collect();
    Ok(found?.iter().all(Option::is_some))
}

fn copy_to_texture(encoder: &mut wgpu::CommandEncoder, map: &wgpu::Buffer, texture: &wgpu::Texture) {
    let (width, height) = (texture.width() as usize, texture.height() as usize);
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(4 * map_pitch(width) as u32),
        rows_per_image: None,
    };
    let source = wgpu::TexelCopyBufferInfo { buffer: map, layout };
    encoder.copy_buffer_to_texture(source, texture.as_image_copy(), extent(width, height));
}
