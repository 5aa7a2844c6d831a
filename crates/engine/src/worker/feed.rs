//! Choice of the engine's next job: the newest pair, or the last one again if its frame, its parameters or the engine have changed.

use super::control::Control;
use crossbeam_channel::{Receiver, TryRecvError};
use std::sync::Arc;
use stereopsis_base::newest::NewestReceiver;
use stereopsis_frame::Frame;
use stereopsis_frame::engine::Job;

pub(super) struct Feeder {
    frames: NewestReceiver<Arc<Frame>>,
    /// Frame that was taken from `frames` before the engine was prepared for it.
    held: Option<Arc<Frame>>,
    ended: bool,
    last: Option<Job>,
    /// Whether the last pair has to be matched again with any parameters, because its frame or its engine was replaced.
    repeat: bool,
    steps_taken: u64,
}

pub(super) struct Work {
    pub(super) job: Job,
    /// Whether the pair was matched before.
    pub(super) again: bool,
    /// Whether the pair may be matched with older parameters, where the engine is prepared only for these.
    pub(super) with_older: bool,
}

impl Feeder {
    pub(super) fn new(frames: NewestReceiver<Arc<Frame>>, steps_taken: u64) -> Self {
        Self { frames, held: None, ended: false, last: None, repeat: false, steps_taken }
    }

    /// Takes frames of another source, and drops a held one.
    pub(super) fn set_frames(&mut self, frames: NewestReceiver<Arc<Frame>>) {
        *self = Self::new(frames, self.steps_taken);
    }

    pub(super) fn last(&self) -> Option<&Job> {
        self.last.as_ref()
    }

    pub(super) fn repeat_last(&mut self) {
        self.repeat = true;
    }

    /// Replaces the frames of the last pair, which is matched again, and of a held one.
    pub(super) fn replace(&mut self, control: &Control, replace: impl Fn(&Frame) -> Option<Frame>) {
        self.held = match self.held.take() {
            Some(held) => Some(self.frames.newest(held)),
            None if self.takes_new(control) => self.frames.try_recv().ok(),
            None => None,
        };
        if let Some(held) = &mut self.held
            && let Some(frame) = replace(held)
        {
            *held = Arc::new(frame);
        }
        if let Some(last) = &mut self.last
            && let Some(frame) = replace(&last.frame)
        {
            last.frame = Arc::new(frame);
            self.repeat = true;
        }
    }

    /// Returns the next job: a new pair, or the last one if something else has changed. Its map is copied to
    /// the host if `read_back` is set; the map of a new pair also if `map_due` is set.
    pub(super) fn next(&mut self, control: &Control, read_back: bool, map_due: bool) -> Option<Work> {
        let job = |frame, read_back| Job { frame, params: Arc::clone(&control.params), read_back, wants_right: false };
        if let Some(frame) = self.next_frame(control) {
            return Some(Work { job: job(frame, read_back || map_due), again: false, with_older: true });
        }
        let last = self.last.as_ref()?;
        let with_older = self.repeat || (read_back && !last.read_back);
        let changed = with_older || last.params != control.params;
        changed.then(|| Work { job: job(Arc::clone(&last.frame), true), again: true, with_older })
    }

    fn next_frame(&mut self, control: &Control) -> Option<Arc<Frame>> {
        if !self.takes_new(control) {
            return None;
        }
        if let Some(held) = self.held.take() {
            // a step takes the newest pair, not one from before the pause
            return Some(if control.paused { self.frames.newest(held) } else { held });
        }
        let frame = self.frames.try_recv();
        self.ended |= matches!(frame, Err(TryRecvError::Disconnected));
        frame.ok()
    }

    /// Whether new pairs are taken: not while paused or suspended, apart from a first one and from steps.
    fn takes_new(&self, control: &Control) -> bool {
        !(control.paused || control.suspended) || control.steps != self.steps_taken || self.last.is_none()
    }

    /// Keeps the frame of work for which the engine is not prepared.
    pub(super) fn hold(&mut self, work: Work) {
        if !work.again {
            self.held = Some(work.job.frame);
        }
    }

    pub(super) fn note_submitted(&mut self, job: &Job, again: bool, control: &Control) {
        if !again {
            self.steps_taken = control.steps;
        }
        self.last = Some(job.clone());
        self.repeat = false;
    }

    /// Returns the channel from which the next frame would be taken now.
    pub(super) fn awaited(&self, control: &Control) -> Option<&Receiver<Arc<Frame>>> {
        (!self.ended && self.held.is_none() && self.takes_new(control)).then(|| self.frames.channel())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }
}
