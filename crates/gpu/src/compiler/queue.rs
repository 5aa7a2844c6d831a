//! State of the compiler: finished pipelines, those in progress, and the queue of requests.

use super::compile::{CompileError, Module};
use super::request::{Pipeline, Request, Source};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// Capacity of the finished pipelines, several times the number of a job; and of the queue.
pub(super) const CAPACITY: usize = 256;

pub(super) type Outcome = Result<Pipeline, CompileError>;

/// Module, compiled on first use.
type SharedModule = Arc<OnceLock<Result<Module, CompileError>>>;

#[derive(Default)]
pub(super) struct QueueState {
    /// Outcomes with the time of their last use.
    done: HashMap<Request, (Outcome, u64)>,
    /// Requests with the time at which they were last made.
    waiting: HashMap<Request, u64>,
    in_progress: HashSet<Request>,
    modules: HashMap<Arc<Source>, SharedModule>,
    /// Logical clock: the number of requests.
    time: u64,
    pub(super) stop: bool,
    /// Whether something was compiled since the cache was saved.
    pub(super) has_unsaved: bool,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl QueueState {
    pub(super) fn outcome(&mut self, request: &Request) -> Option<Outcome> {
        self.time += 1;
        let (outcome, used) = self.done.get_mut(request)?;
        *used = self.time;
        Some(outcome.clone())
    }

    /// Puts a request first in the queue. Returns `false` if it is in progress.
    pub(super) fn enqueue(&mut self, request: &Request) -> bool {
        if self.in_progress.contains(request) {
            return false;
        }
        self.time += 1;
        self.waiting.insert(request.clone(), self.time);
        if self.waiting.len() > CAPACITY
            && let Some(oldest) = self.waiting.iter().min_by_key(|(_, asked)| **asked).map(|(r, _)| r.clone())
        {
            self.waiting.remove(&oldest); // whoever still needs it requests it again
        }
        true
    }

    /// Assigns this request to the caller. Returns `false` if another thread compiles it.
    pub(super) fn begin(&mut self, request: &Request) -> bool {
        self.waiting.remove(request);
        self.in_progress.insert(request.clone())
    }

    pub(super) fn begin_next(&mut self) -> Option<Request> {
        let (next, _) = self.waiting.iter().max_by_key(|(_, asked)| **asked)?;
        let next = next.clone();
        self.begin(&next);
        Some(next)
    }

    pub(super) fn module(&mut self, source: &Arc<Source>) -> SharedModule {
        Arc::clone(self.modules.entry(Arc::clone(source)).or_default())
    }

    pub(super) fn finish(&mut self, request: &Request, outcome: Outcome) {
        self.in_progress.remove(request);
        self.has_unsaved |= outcome.is_ok();
        self.time += 1;
        self.done.insert(request.clone(), (outcome, self.time));
        if self.done.len() > CAPACITY
            && let Some(oldest) = self.done.iter().min_by_key(|(_, (_, used))| *used).map(|(r, _)| r.clone())
        {
            self.done.remove(&oldest);
            let needed: HashSet<_> = self.done.keys().chain(&self.in_progress).map(|r| Arc::clone(&r.source)).collect();
            self.modules.retain(|source, _| needed.contains(source));
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_progress.is_empty()
    }

    #[cfg(test)]
    pub(super) fn sizes(&self) -> [usize; 3] {
        [self.done.len(), self.waiting.len(), self.modules.len()]
    }
}
