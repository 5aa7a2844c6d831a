//! Chooses the engine's next job: the newest pair, or the last one again where its frame, its parameters or the engine have
//! changed.

use super::Control;
use crate::Job;
use crate::newest::NewestReceiver;
use crossbeam_channel::{Receiver, TryRecvError};
use std::sync::Arc;
use stereopsis_frame::Frame;

pub(super) struct Feeder {
    frames: NewestReceiver<Arc<Frame>>,
    /// Taken from `frames`, before the engine was prepared for it.
    held: Option<Arc<Frame>>,
    /// `frames` is closed.
    ended: bool,
    /// The last job that was submitted.
    last: Option<Job>,
    /// The last pair has to be matched again whatever the parameters: its frame has changed, or its engine is replaced.
    repeat: bool,
    steps_taken: u64,
}

/// A job with the wanted parameters.
pub(super) struct Work {
    pub(super) job: Job,
    /// The pair was matched before.
    pub(super) again: bool,
    /// The pair is matched even if the engine is prepared for older parameters only.
    pub(super) with_older: bool,
}

impl Feeder {
    pub(super) fn new(frames: NewestReceiver<Arc<Frame>>, steps_taken: u64) -> Self {
        Self { frames, held: None, ended: false, last: None, repeat: false, steps_taken }
    }

    /// Takes frames of another source; what is held of the old one is dropped.
    pub(super) fn set_frames(&mut self, frames: NewestReceiver<Arc<Frame>>) {
        *self = Self::new(frames, self.steps_taken);
    }

    /// The last job that was submitted.
    pub(super) fn last(&self) -> Option<&Job> {
        self.last.as_ref()
    }

    /// Has the last pair matched again.
    pub(super) fn repeat_last(&mut self) {
        self.repeat = true;
    }

    /// Replaces the frames of the last pair, which is matched again, and of one that waits to be taken.
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

    /// The next job: a new pair, or the last one where something else has changed. A job brings its numbers to the host if
    /// `read_back` says so, a new pair also where `figures_due`.
    pub(super) fn next(&mut self, control: &Control, read_back: bool, figures_due: bool) -> Option<Work> {
        let job = |frame, read_back| Job { frame, params: Arc::clone(&control.params), read_back, wants_right: false };
        if let Some(frame) = self.next_frame(control) {
            return Some(Work { job: job(frame, read_back || figures_due), again: false, with_older: true });
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
            // a step asks for the newest pair, not for one that was taken before the pause
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

    /// Takes back work that the engine is not prepared for.
    pub(super) fn hold(&mut self, work: Work) {
        if !work.again {
            self.held = Some(work.job.frame);
        }
    }

    /// Notes that this job is being submitted.
    pub(super) fn note_submitted(&mut self, job: &Job, again: bool, control: &Control) {
        if !again {
            self.steps_taken = control.steps;
        }
        self.last = Some(job.clone());
        self.repeat = false;
    }

    /// The channel whose next frame would be taken now.
    pub(super) fn awaited(&self, control: &Control) -> Option<&Receiver<Arc<Frame>>> {
        (!self.ended && self.held.is_none() && self.takes_new(control)).then(|| self.frames.channel())
    }

    /// Whether the source has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }
}
