//! Background work on the newest of many requests: a thread takes requests and stores results, without delay for any pair.

use crate::newest;
use crate::newest::NewestSender;
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// Running thread: takes the newest request, and rests after each for as long as it took. Stopped after the current request when dropped.
pub struct Background<W, R> {
    wishes: Option<NewestSender<W>>,
    newest: Arc<Mutex<Option<Arc<R>>>>,
    thread: Option<JoinHandle<()>>,
}

impl<W: Send + 'static, R: Send + Sync + 'static> Background<W, R> {
    /// Starts without a request. `work` computes the result of a request, if any; `wake` is called after each result and must not wait.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        name: &str,
        wake: Arc<dyn Fn() + Send + Sync>,
        mut work: impl FnMut(W) -> Option<R> + Send + 'static,
    ) -> std::io::Result<Self> {
        let newest = Arc::<Mutex<Option<Arc<R>>>>::default();
        let (wishes, receiver) = newest::channel::<W>();
        let published = Arc::clone(&newest);
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            while let Ok(wish) = receiver.channel().recv() {
                let begin = Instant::now();
                if let Some(found) = work(wish) {
                    *published.lock() = Some(Arc::new(found));
                    wake();
                }
                std::thread::sleep(begin.elapsed());
            }
        })?;
        Ok(Self { wishes: Some(wishes), newest, thread: Some(thread) })
    }

    /// Sets the request; a waiting one is dropped.
    pub fn wish(&self, wish: W) {
        if let Some(wishes) = &self.wishes {
            // the thread ends with this handle only
            let _ = wishes.send(wish);
        }
    }

    /// Returns the result of the last finished request.
    pub fn newest(&self) -> Option<Arc<R>> {
        self.newest.lock().clone()
    }
}

impl<W, R> Drop for Background<W, R> {
    fn drop(&mut self) {
        self.wishes = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("a thread that measures panicked");
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
        let background = Background::start("test", wake, work).unwrap();
        assert!(background.newest().is_none());
        background.wish(1);
        assert_eq!(begins.recv(), Ok(1));
        background.wish(2);
        background.wish(3);
        background.wish(4);
        release.send(()).unwrap();
        wakes.recv().unwrap();
        assert_eq!(background.newest().as_deref(), Some(&10));
        assert_eq!(begins.recv(), Ok(4), "two and three are forgotten");
        background.wish(3);
        release.send(()).unwrap();
        release.send(()).unwrap();
        assert_eq!(begins.recv(), Ok(3));
        drop(background);
        assert_eq!(wakes.iter().count(), 1, "four woke the window, and three had no result");
    }
}
