//! Work on the newest of many requests, on a thread or step by step, without delay for those who ask.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Work that answers requests `Q` by answers `A`.
pub trait Work<Q, A>: Send {
    /// Answers a request, any number of times.
    fn answer(&mut self, request: Q, answers: &Answers<Q, A>);

    /// Returns the time to rest after work that took so long.
    fn rest(&self, took: Duration) -> Duration {
        took
    }

    /// Returns whether this request does not wait for the end of the rest.
    fn is_urgent(&self, _request: &Q) -> bool {
        false
    }
}

/// Worker with the newest request and the newest answer. It stops after the current request when dropped.
pub struct Latest<Q, A> {
    answers: Arc<Answers<Q, A>>,
    /// Thread whose end is waited for.
    thread: Option<JoinHandle<()>>,
    /// Work without a thread.
    steps: Option<Steps<Q, A>>,
}

/// Places of the waiting request and of the newest answer.
pub struct Answers<Q, A> {
    places: Mutex<Places<Q, A>>,
    changed: Condvar,
}

struct Places<Q, A> {
    request: Option<Q>,
    answer: Option<Arc<A>>,
    /// Whether the worker has to stop.
    stopped: bool,
    /// Whether the worker has ended.
    ended: bool,
}

struct Steps<Q, A> {
    work: Box<dyn Work<Q, A>>,
    rested: Instant,
}

impl<Q: Send + 'static, A: Send + Sync + 'static> Latest<Q, A> {
    /// Starts a thread without a request. `work` computes the answer of a request, if any; `wake` is called after each answer and must not
    /// wait. The thread rests after each request for as long as it took.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        name: &str,
        wake: Arc<dyn Fn() + Send + Sync>,
        work: impl FnMut(Q) -> Option<A> + Send + 'static,
    ) -> std::io::Result<Self> {
        Self::start_work(name, Waking { work, wake })
    }

    /// Starts a thread without a request.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start_work(name: &str, work: impl Work<Q, A> + 'static) -> std::io::Result<Self> {
        let answers = Arc::<Answers<Q, A>>::default();
        let (shared, mut steps) = (Arc::clone(&answers), Steps::new(work));
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            let ends = Ends(&shared);
            while let Some(request) = ends.0.wait_for_request(&steps) {
                steps.answer(request, ends.0);
            }
        })?;
        Ok(Self { answers, thread: Some(thread), steps: None })
    }

    /// Creates a worker without a thread, whose caller calls [`Latest::step`].
    pub fn stepped(work: impl Work<Q, A> + 'static) -> Self {
        Self { answers: Arc::default(), thread: None, steps: Some(Steps::new(work)) }
    }

    /// Answers the waiting request on this thread, if there is one and the rest is over. Returns whether it did. A worker with a
    /// thread does this there.
    pub fn step(&mut self) -> bool {
        let Some(steps) = &mut self.steps else { return false };
        let Ok(request) = self.answers.places.lock().take_due(steps) else { return false };
        steps.answer(request, &self.answers);
        true
    }
}

impl<Q, A> Latest<Q, A> {
    /// Returns a worker whose thread is not waited for when it is dropped: one request takes long.
    #[must_use]
    pub fn detached(mut self) -> Self {
        self.thread = None;
        self
    }

    /// Sets the request; a waiting one is dropped.
    pub fn wish(&self, request: Q) {
        self.answers.places.lock().request = Some(request);
        self.answers.changed.notify_all();
    }

    /// Returns the newest answer.
    pub fn newest(&self) -> Option<Arc<A>> {
        self.answers.places.lock().answer.clone()
    }

    /// Takes the newest answer away.
    pub fn take(&self) -> Option<Arc<A>> {
        self.answers.places.lock().answer.take()
    }

    /// Waits for an answer, at most for this time.
    pub fn wait(&self, most: Duration) {
        let mut places = self.answers.places.lock();
        let is_missing = |places: &mut Places<Q, A>| places.answer.is_none() && !places.ended;
        self.answers.changed.wait_while_for(&mut places, is_missing, most);
    }

    /// Returns whether the thread has ended, which before the worker is dropped only a panic does.
    pub fn has_ended(&self) -> bool {
        self.answers.places.lock().ended
    }
}

impl<Q, A> Drop for Latest<Q, A> {
    fn drop(&mut self) {
        self.answers.places.lock().stopped = true;
        self.answers.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let name = thread.thread().name().unwrap_or_default().to_owned();
            if thread.join().is_err() {
                log::error!("the thread '{name}' panicked");
            }
        }
    }
}

impl<Q, A> Default for Answers<Q, A> {
    fn default() -> Self {
        let places = Places { request: None, answer: None, stopped: false, ended: false };
        Self { places: Mutex::new(places), changed: Condvar::new() }
    }
}

impl<Q, A> Answers<Q, A> {
    /// Publishes an answer.
    pub fn publish(&self, answer: A) {
        self.places.lock().answer = Some(Arc::new(answer));
        self.changed.notify_all();
    }

    /// Deletes the newest answer.
    pub fn forget(&self) {
        self.places.lock().answer = None;
    }

    /// Returns whether the worker has to stop.
    pub fn is_stopped(&self) -> bool {
        self.places.lock().stopped
    }

    /// Returns whether a request waits for which `is_other` holds.
    pub fn is_overtaken(&self, is_other: impl Fn(&Q) -> bool) -> bool {
        self.places.lock().request.as_ref().is_some_and(is_other)
    }

    /// Waits for a request that is due; `None` when the worker has to stop.
    fn wait_for_request(&self, steps: &Steps<Q, A>) -> Option<Q> {
        let mut places = self.places.lock();
        loop {
            if places.stopped {
                return None;
            }
            match places.take_due(steps) {
                Ok(request) => return Some(request),
                Err(Some(due)) => {
                    self.changed.wait_until(&mut places, due);
                }
                Err(None) => self.changed.wait(&mut places),
            }
        }
    }
}

impl<Q, A> Places<Q, A> {
    /// Takes the request if it is due; else returns the time at which it will be, if there is one.
    fn take_due(&mut self, steps: &Steps<Q, A>) -> Result<Q, Option<Instant>> {
        let request = self.request.take().ok_or(None)?;
        if Instant::now() >= steps.rested || steps.work.is_urgent(&request) {
            return Ok(request);
        }
        self.request = Some(request);
        Err(Some(steps.rested))
    }
}

impl<Q, A> Steps<Q, A> {
    fn new(work: impl Work<Q, A> + 'static) -> Self {
        Self { work: Box::new(work), rested: Instant::now() }
    }

    fn answer(&mut self, request: Q, answers: &Answers<Q, A>) {
        let begin = Instant::now();
        self.work.answer(request, answers);
        self.rested = Instant::now() + self.work.rest(begin.elapsed());
    }
}

/// Guard that notes the end of the thread, also by a panic.
struct Ends<'a, Q, A>(&'a Answers<Q, A>);

impl<Q, A> Drop for Ends<'_, Q, A> {
    fn drop(&mut self) {
        self.0.places.lock().ended = true;
        self.0.changed.notify_all();
    }
}

/// Work by a function that returns the answer, with the owner woken after each.
struct Waking<F> {
    work: F,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl<Q, A, F: FnMut(Q) -> Option<A> + Send> Work<Q, A> for Waking<F> {
    fn answer(&mut self, request: Q, answers: &Answers<Q, A>) {
        if let Some(answer) = (self.work)(request) {
            answers.publish(answer);
            (self.wake)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::bounded;

    #[test]
    fn newest_request_wins_and_each_result_wakes() {
        let (begun, begins) = bounded(8);
        let (release, released) = bounded::<()>(8);
        let (woken, wakes) = bounded(8);
        let work = move |wish: u32| {
            begun.send(wish).ok()?;
            released.recv().ok()?;
            (wish != 3).then_some(10 * wish)
        };
        let wake = Arc::new(move || woken.send(()).unwrap());
        let latest = Latest::start("test", wake, work).unwrap();
        assert!(latest.newest().is_none());
        latest.wish(1);
        assert_eq!(begins.recv(), Ok(1));
        latest.wish(2);
        latest.wish(3);
        latest.wish(4);
        release.send(()).unwrap();
        wakes.recv().unwrap();
        assert_eq!(latest.newest().as_deref(), Some(&10));
        assert_eq!(begins.recv(), Ok(4), "two and three are forgotten");
        latest.wish(3);
        release.send(()).unwrap();
        release.send(()).unwrap();
        assert_eq!(begins.recv(), Ok(3));
        drop(latest);
        assert_eq!(wakes.iter().count(), 1, "four woke the window, and three had no result");
    }

    /// Adds up requests; those above 9 are urgent.
    struct Sum(u32);

    impl Work<u32, u32> for Sum {
        fn answer(&mut self, request: u32, answers: &Answers<u32, u32>) {
            assert!(!answers.is_stopped() && !answers.is_overtaken(|_| true));
            self.0 += request;
            answers.publish(self.0);
        }

        fn rest(&self, _: Duration) -> Duration {
            Duration::from_hours(1)
        }

        fn is_urgent(&self, request: &u32) -> bool {
            *request > 9
        }
    }

    #[test]
    fn a_caller_steps_and_only_urgent_requests_come_before_the_rest_is_over() {
        let mut latest = Latest::stepped(Sum(0));
        assert!(!latest.step());
        latest.wish(1);
        latest.wish(2);
        assert!(latest.step() && !latest.step());
        assert_eq!(latest.take().as_deref(), Some(&2));
        latest.wish(3);
        assert!(!latest.step() && latest.newest().is_none());
        latest.wish(10);
        assert!(latest.step());
        assert_eq!(latest.newest().as_deref(), Some(&12));
    }

    #[test]
    fn a_panic_ends_the_wait_and_a_detached_worker_is_not_waited_for() {
        let (release, released) = bounded::<()>(0);
        let work = move |fails: bool| (!fails).then(|| released.recv());
        let latest = Latest::start("test", Arc::new(|| {}), work).unwrap().detached();
        latest.wish(false);
        drop(latest);
        drop(release);
        let faulty = |(): ()| -> Option<()> { panic!("a fault") };
        let latest = Latest::start("faulty", Arc::new(|| {}), faulty).unwrap();
        assert!(!latest.has_ended());
        latest.wish(());
        latest.wait(Duration::from_mins(1));
        assert!(latest.has_ended() && latest.take().is_none());
    }
}
