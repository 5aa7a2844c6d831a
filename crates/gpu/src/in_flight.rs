//! One job in flight: its submissions, and its result once the device is done.

use super::device::Gpu;
use super::events::{Event, Events};
use super::graph::GraphKey;
use super::pace::Pace;
use super::program::Program;
use super::slot::Slot;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;
use stereopsis_frame::engine::{EngineError, Job, StageTime};
use stereopsis_stereo::DisparityMap;

pub(super) struct JobSlot {
    pub(super) slot: Slot,
    pub(super) key: GraphKey,
    pub(super) generation: u64,
    pub(super) program: Program,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum JobState {
    Running,
    Finished,
    /// The result could not be mapped.
    Failed,
}

pub(super) struct InFlight {
    pub(super) job: Job,
    pub(super) slot: JobSlot,
    pub(super) texture: wgpu::Texture,
    pub(super) number: u64,
    pub(super) submitted: Instant,
    pending: VecDeque<Submission>,
    has_begun: bool,
    state: Arc<AtomicU8>,
}

struct Submission {
    commands: Vec<wgpu::CommandBuffer>,
    work: u64,
}

/// Results on the host, and the time of each stage where the device times them.
pub(super) struct HostResults {
    pub(super) map: Option<Arc<DisparityMap>>,
    pub(super) right_map: Option<Arc<DisparityMap>>,
    pub(super) times: Vec<StageTime>,
}

impl InFlight {
    /// Records the submissions of a job in its slot: the copies to the device, the program, the copies of the result.
    pub(super) fn new(
        gpu: &Gpu,
        (number, submitted): (u64, Instant),
        job: Job,
        slot: JobSlot,
        upload: wgpu::CommandBuffer,
        (texture, result): (wgpu::Texture, wgpu::CommandBuffer),
    ) -> Self {
        let program = &slot.program;
        let mut pending: VecDeque<_> = (0..program.submissions())
            .map(|i| Submission { commands: vec![program.record(gpu, &slot.slot, i).finish()], work: program.work(i) })
            .collect();
        if let Some(first) = pending.front_mut() {
            first.commands.insert(0, upload);
        }
        if let Some(last) = pending.back_mut() {
            last.commands.push(result);
        }
        let state = Arc::new(AtomicU8::new(JobState::Running as u8));
        Self { job, slot, texture, number, submitted, pending, has_begun: false, state }
    }

    /// Submits pending work while the backlog is short. Returns whether all of it is on the queue.
    pub(super) fn submit(&mut self, gpu: &Gpu, pace: &Pace, events: &Events) -> bool {
        while let Some(Submission { commands, work }) = self.pending.pop_front_if(|next| pace.has_room(next.work)) {
            gpu.queue.submit(commands);
            if !self.has_begun {
                self.has_begun = true;
                self.slot.slot.return_staging();
                events.note(Event::Began(self.number));
            }
            let is_last = self.is_queued();
            let (done, events, number) = (pace.count(work), events.clone(), self.number);
            gpu.queue.on_submitted_work_done(move || {
                done();
                if is_last {
                    events.note(Event::Computed(number));
                }
            });
            if is_last {
                self.request_result(gpu);
            }
        }
        self.is_queued()
    }

    pub(super) fn is_queued(&self) -> bool {
        self.pending.is_empty()
    }

    pub(super) fn state(&self) -> JobState {
        match self.state.load(Ordering::Acquire) {
            state if state == JobState::Finished as u8 => JobState::Finished,
            state if state == JobState::Failed as u8 => JobState::Failed,
            _ => JobState::Running,
        }
    }

    fn comes_back(&self) -> bool {
        self.job.comes_back() || self.slot.slot.has_timestamps()
    }

    /// Requests the result, which updates the state when the last submission is done; that one is on the queue.
    fn request_result(&self, gpu: &Gpu) {
        let state = Arc::clone(&self.state);
        let note =
            move |ok| state.store(if ok { JobState::Finished } else { JobState::Failed } as u8, Ordering::Release);
        if self.comes_back() {
            self.slot.slot.request_read_back(note);
        } else {
            gpu.queue.on_submitted_work_done(move || note(true));
        }
    }

    pub(super) fn take(&self, gpu: &Gpu) -> Result<HostResults, EngineError> {
        let mut times = Vec::<StageTime>::new();
        if !self.comes_back() {
            return Ok(HostResults { map: None, right_map: None, times });
        }
        let JobSlot { slot, program, .. } = &self.slot;
        let with_map = self.job.read_back.then_some(self.job.params.confidence);
        let (ticks, [map, right_map]) = slot.take_read_back(gpu, with_map, self.job.wants_right)?;
        if slot.has_timestamps() {
            let tick_ms = f64::from(gpu.queue.get_timestamp_period()) * 1e-6;
            for (name, ticks) in program.timed_stages().into_iter().zip(ticks.chunks_exact(2)) {
                let ms = ticks[1].saturating_sub(ticks[0]) as f64 * tick_ms;
                match times.iter_mut().find(|time| time.name == name) {
                    Some(time) => time.ms += ms,
                    None => times.push(StageTime { name, ms }),
                }
            }
        }
        Ok(HostResults { map: map.map(Arc::new), right_map: right_map.map(Arc::new), times })
    }
}
