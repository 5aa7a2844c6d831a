//! Low-priority work on a thread, which publishes its progress and stops when dropped.

use super::Panicked;
use crate::process;
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Progress of a task.
pub trait Progress: Send + Sync + 'static {
    /// Returns the progress with the reason for an early end.
    #[must_use]
    fn failed(&self, why: String) -> Self;
}

/// Running thread, which stops after the pair in progress when dropped, without a wait.
pub struct Task<P> {
    shared: Arc<Shared<P>>,
}

/// What the work and its owner share.
pub struct Shared<P> {
    progress: Mutex<Arc<P>>,
    stopped: AtomicBool,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl<P: Progress> Task<P> {
    /// Starts `work`, which publishes through its argument; `wake` is called after each publication and must not block.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn start(
        name: &str,
        begin: P,
        wake: Arc<dyn Fn() + Send + Sync>,
        work: impl FnOnce(&Shared<P>) + Send + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { progress: Mutex::new(Arc::new(begin)), stopped: AtomicBool::new(false), wake });
        let (own, title) = (Arc::clone(&shared), format!("the thread '{name}'"));
        let run = move || {
            process::lower_priority();
            // a panic must end the work too, because the owner waits for the end
            if catch_unwind(AssertUnwindSafe(|| work(&own))).is_err() {
                own.fail(Panicked(title).to_string());
            }
        };
        std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Self { shared })
    }

    /// Returns the progress.
    pub fn progress(&self) -> Arc<P> {
        self.shared.progress()
    }
}

impl<P> Drop for Task<P> {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
    }
}

impl<P: Progress> Shared<P> {
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
        let task = Task::start("count", Count::default(), wake, move |shared| {
            for k in 1.. {
                if shared.is_stopped() {
                    return end.store(true, Ordering::Release);
                }
                shared.publish(Count(k, None));
                std::thread::sleep(Duration::from_millis(1));
            }
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
}
