//! Background jobs: work that may block, such as dialogs, cameras and files, each on a named thread.
//! A job is two closures: the work, and the change of the state by its result, which the window executes between two frames.

use super::{Waker, owner::Owner};
use parking_lot::Mutex;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use stereopsis_base::threads::{Progress, Running, Task};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    /// Name in the status line and of the thread.
    pub(crate) name: &'static str,
    /// Whether the user may cancel the job; its thread still completes the work and drops the result.
    pub(crate) can_stop: bool,
    /// Whether the status line leaves the job out, because it is repeated.
    is_hidden: bool,
}

impl Job {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, can_stop: false, is_hidden: false }
    }

    pub(crate) const fn stoppable(name: &'static str) -> Self {
        Self { name, can_stop: true, is_hidden: false }
    }

    /// Returns the job without its place in the status line.
    pub(crate) const fn hidden(name: &'static str) -> Self {
        Self { name, can_stop: false, is_hidden: true }
    }
}

/// Error of work with causes of several kinds.
pub(crate) type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Reason why a job has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobError<E> {
    #[error("{0}: no thread could be started ({1})")]
    NoThread(&'static str, io::Error),
    #[error("{0}: stopped")]
    Stopped(&'static str),
    #[error("{0}: failed unexpectedly")]
    Panicked(&'static str),
    /// The work failed.
    #[error("{0}")]
    Failed(E),
}

/// State of the work of a job.
enum Outcome<T, E> {
    Running,
    Panicked,
    /// Result until the window takes it.
    Ended(Mutex<Option<Result<T, E>>>),
}

impl<T: Send + 'static, E: Send + 'static> Progress for Outcome<T, E> {
    fn failed(&self, _: String) -> Self {
        Self::Panicked
    }
}

type Change<S> = Box<dyn FnOnce(&mut S)>;
/// Poll of a job, which returns its change once the result exists; true cancels the job, whose result is then missing.
type Poll<S> = Box<dyn FnMut(bool) -> Option<Change<S>>>;

/// Running jobs that change a state `S`.
pub(crate) struct Jobs<S> {
    running: Vec<RunningJob<S>>,
    waker: Waker,
    /// Owner of jobs started from now on.
    pub(crate) owner: Option<Owner>,
}

struct RunningJob<S> {
    job: Job,
    poll: Poll<S>,
    /// Kind of the command that started the job.
    owner: Option<Owner>,
}

impl<S: 'static> Jobs<S> {
    /// Creates an empty list whose results wake the window.
    pub(crate) fn new(waker: Waker) -> Self {
        Self { running: Vec::new(), waker, owner: None }
    }

    /// Starts `work` on a thread unless a job of this name runs; `finish` receives the result, or the reason why none exists.
    pub(crate) fn start<T: Send + 'static, E: Send + 'static>(
        &mut self,
        job: Job,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
        finish: impl FnOnce(&mut S, Result<T, JobError<E>>) + 'static,
    ) {
        if self.is_running(job) {
            return;
        }
        let (mut work, waker) = (Some(work), self.waker.clone());
        let step = move |running: &Running<_>| {
            if let Some(work) = work.take() {
                // the thread drops the result of a job that was cancelled
                running.publish(Outcome::Ended(Mutex::new(Some(work()))));
            }
            ControlFlow::Break(())
        };
        let started = Task::start_awaited(job.name, Outcome::Running, Arc::new(move || waker.wake()), step);
        let (mut task, mut finish) = (started.map_err(Some), Some(finish));
        let poll = move |is_cancelled: bool| {
            let result = match &mut task {
                Ok(task) => match &*task.progress() {
                    Outcome::Running => None,
                    Outcome::Panicked => Some(Err(JobError::Panicked(job.name))),
                    Outcome::Ended(result) => result.lock().take().map(|result| result.map_err(JobError::Failed)),
                },
                Err(err) => err.take().map(|err| Err(JobError::NoThread(job.name, err))),
            };
            let result = result.or_else(|| is_cancelled.then_some(Err(JobError::Stopped(job.name))))?;
            let finish = finish.take()?;
            Some(Box::new(move |state: &mut S| finish(state, result)) as Change<S>)
        };
        self.running.push(RunningJob { job, poll: Box::new(poll), owner: self.owner });
    }

    /// Returns the changes of the jobs finished since the last call, each with its owner.
    pub(crate) fn finished(&mut self) -> Vec<(Option<Owner>, Change<S>)> {
        let mut changes = Vec::new();
        self.running.retain_mut(|RunningJob { poll, owner, .. }| {
            let change = poll(false);
            let is_running = change.is_none();
            changes.extend(change.map(|change| (*owner, change)));
            is_running
        });
        changes
    }

    /// Cancels the job of this name; its `finish` receives an error.
    pub(crate) fn stop(&mut self, job: Job) -> Option<Change<S>> {
        let index = self.running.iter().position(|running| running.job.name == job.name)?;
        (self.running.remove(index).poll)(true)
    }

    pub(crate) fn is_running(&self, job: Job) -> bool {
        self.running.iter().any(|running| running.job.name == job.name)
    }

    /// Iterates over the running jobs that the status line shows.
    pub(crate) fn shown(&self) -> impl Iterator<Item = Job> + '_ {
        self.running.iter().map(|running| running.job).filter(|job| !job.is_hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::{RecvError, bounded};
    use std::time::{Duration, Instant};

    const COUNT: Job = Job::stoppable("counting");

    fn wait(jobs: &mut Jobs<Vec<String>>, state: &mut Vec<String>, results: usize) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while state.len() < results {
            assert!(Instant::now() < deadline, "{state:?}");
            jobs.finished().into_iter().for_each(|(_, change)| change(state));
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_job_is_started_once_seen_and_its_result_taken() {
        let (mut jobs, mut state) = (Jobs::new(Waker::default()), Vec::new());
        let (go, blocked) = bounded(1);
        for _ in 0..2 {
            let blocked = blocked.clone();
            let work = move || blocked.recv();
            jobs.start(COUNT, work, |state: &mut Vec<String>, n: Result<i32, _>| state.push(n.unwrap().to_string()));
        }
        assert!(jobs.finished().is_empty() && jobs.shown().eq([COUNT]));
        go.send(7).unwrap();
        wait(&mut jobs, &mut state, 1);
        assert_eq!((state, jobs.is_running(COUNT)), (vec!["7".to_owned()], false));
    }

    #[test]
    fn an_abandoned_job_and_one_that_panics_give_an_error() {
        let (mut jobs, mut state) = (Jobs::new(Waker::default()), Vec::new());
        let note = |state: &mut Vec<String>, result: Result<(), JobError<RecvError>>| {
            state.push(result.unwrap_err().to_string());
        };
        let (go, blocked) = bounded::<()>(1);
        jobs.start(COUNT, move || blocked.recv(), note);
        jobs.stop(COUNT).unwrap()(&mut state);
        assert!(jobs.stop(COUNT).is_none() && !jobs.is_running(COUNT));
        drop(go);
        jobs.start(COUNT, || panic!("a test"), note);
        wait(&mut jobs, &mut state, 2);
        assert_eq!(state, ["counting: stopped", "counting: failed unexpectedly"]);
    }
}
