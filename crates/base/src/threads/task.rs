//! One work with progress that can be stopped, on a thread or step by step.

use super::Panicked;
use crate::process;
use parking_lot::Mutex;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Progress of a task.
pub trait Progress: Send + Sync + 'static {
    /// Returns the progress with the reason for an early end.
    #[must_use]
    fn failed(&self, why: String) -> Self;
}

/// Running work, which stops after the step in progress when dropped, without a wait.
pub struct Task<P> {
    running: Arc<Running<P>>,
    /// Work without a thread, until it ends.
    steps: Option<Steps<P>>,
}

/// State that the work shares with its owner: the progress, and whether to stop.
pub struct Running<P> {
    progress: Mutex<Arc<P>>,
    stopped: AtomicBool,
    wake: Arc<dyn Fn() + Send + Sync>,
}

type Step<P> = Box<dyn FnMut(&Running<P>) -> ControlFlow<()> + Send>;

struct Steps<P> {
    /// Name of the work in the error of a panic.
    title: String,
    step: Step<P>,
}

impl<P: Progress> Task<P> {
    /// Starts a thread of low priority that repeats `step` until it breaks; it publishes through its argument. `wake` is called after each
    /// publication and must not block.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start(
        name: &str,
        begin: P,
        wake: Arc<dyn Fn() + Send + Sync>,
        mut step: impl FnMut(&Running<P>) -> ControlFlow<()> + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut is_low = false;
        Self::start_awaited(name, begin, wake, move |running| {
            if !std::mem::replace(&mut is_low, true) {
                process::lower_priority();
            }
            step(running)
        })
    }

    /// Starts a thread of normal priority that repeats `step`, for work that somebody waits for.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start_awaited(
        name: &str,
        begin: P,
        wake: Arc<dyn Fn() + Send + Sync>,
        step: impl FnMut(&Running<P>) -> ControlFlow<()> + Send + 'static,
    ) -> std::io::Result<Self> {
        let running = Running::begin(begin, wake);
        let mut steps = Steps { title: format!("the thread '{name}'"), step: Box::new(step) };
        let own = Arc::clone(&running);
        let run = move || while steps.step(&own).is_continue() {};
        std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Self { running, steps: None })
    }

    /// Creates a task without a thread, whose caller calls [`Task::step`].
    pub fn stepped(
        name: &str,
        begin: P,
        wake: Arc<dyn Fn() + Send + Sync>,
        step: impl FnMut(&Running<P>) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        let steps = Steps { title: format!("the work '{name}'"), step: Box::new(step) };
        Self { running: Running::begin(begin, wake), steps: Some(steps) }
    }

    /// Runs the next step on this thread, if any is left. The thread of a task that has one does this itself.
    pub fn step(&mut self) {
        if let Some(steps) = &mut self.steps
            && steps.step(&self.running).is_break()
        {
            self.steps = None;
        }
    }

    /// Returns the progress.
    pub fn progress(&self) -> Arc<P> {
        self.running.progress()
    }
}

impl<P> Drop for Task<P> {
    fn drop(&mut self) {
        self.running.stopped.store(true, Ordering::Release);
    }
}

impl<P: Progress> Steps<P> {
    fn step(&mut self, running: &Running<P>) -> ControlFlow<()> {
        // a panic must end the work too, because the owner waits for the end
        let stepped = catch_unwind(AssertUnwindSafe(|| (self.step)(running)));
        stepped.unwrap_or_else(|_| {
            running.fail(Panicked(self.title.clone()).to_string());
            ControlFlow::Break(())
        })
    }
}

impl<P: Progress> Running<P> {
    fn begin(progress: P, wake: Arc<dyn Fn() + Send + Sync>) -> Arc<Self> {
        Arc::new(Self { progress: Mutex::new(Arc::new(progress)), stopped: AtomicBool::new(false), wake })
    }

    /// Publishes the progress with the reason for an early end.
    pub fn fail(&self, why: String) {
        let failed = self.progress().failed(why);
        self.publish(failed);
    }

    /// Returns whether the work has to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Replaces the progress.
    pub fn publish(&self, progress: P) {
        *self.progress.lock() = Arc::new(progress);
        (self.wake)();
    }

    fn progress(&self) -> Arc<P> {
        Arc::clone(&self.progress.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::until;
    use std::time::Duration;

    #[derive(Clone, Default)]
    struct Count(u32, Option<String>);

    impl Progress for Count {
        fn failed(&self, why: String) -> Self {
            Self(self.0, Some(why))
        }
    }

    #[test]
    fn task_publishes_progress_and_ends_when_dropped() {
        let (woken, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (wake, end) = (Arc::clone(&woken), Arc::clone(&ended));
        let wake = Arc::new(move || wake.store(true, Ordering::Release));
        let mut k = 0;
        let task = Task::start("count", Count::default(), wake, move |running| {
            if running.is_stopped() {
                end.store(true, Ordering::Release);
                return ControlFlow::Break(());
            }
            k += 1;
            running.publish(Count(k, None));
            std::thread::sleep(Duration::from_millis(1));
            ControlFlow::Continue(())
        });
        let task = task.unwrap();
        until("it comes", || task.progress().0 > 3 && woken.load(Ordering::Acquire));
        drop(task);
        until("it comes", || ended.load(Ordering::Acquire));
    }

    #[test]
    fn a_panic_is_an_error_of_the_progress() {
        let task = Task::start("faulty", Count(7, None), Arc::new(|| {}), |_| panic!("a fault")).unwrap();
        until("it comes", || task.progress().1.is_some());
        let progress = task.progress();
        assert!(progress.0 == 7 && progress.1.as_ref().unwrap().contains("faulty"), "{:?}", progress.1);
    }

    #[test]
    fn a_caller_steps_until_the_end() {
        let mut left = [1, 2].into_iter();
        let mut task = Task::stepped("count", Count::default(), Arc::new(|| {}), move |running| match left.next() {
            Some(k) => {
                running.publish(Count(k, None));
                ControlFlow::Continue(())
            }
            None => panic!("a fault"),
        });
        for count in [1, 2] {
            task.step();
            assert_eq!((task.progress().0, task.progress().1.is_none()), (count, true));
        }
        task.step();
        task.step();
        assert!(task.progress().0 == 2 && task.progress().1.is_some());
    }
}
