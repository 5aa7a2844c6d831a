//! Explanations of single pixels on a thread: the computation of the disparity in the newest result.
//!
//! The thread only reads finished results, so that it delays no pair. The newest request wins. A request for another pixel or other
//! parameters cancels the current work, but never twice in a row. A request for a newer pair waits until the work is done and the
//! thread has rested.

use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::threads::{Answers, Latest, Work};
use stereopsis_frame::Frame;
use stereopsis_frame::engine::Job;
use stereopsis_stereo::explain::{Finished, Unexplained, Verdict};
use stereopsis_stereo::{DisparityMap, Explainer, Explanation, INVALID, StereoParams};

/// Request to explain a pixel of a result.
#[derive(Clone)]
pub struct ExplainRequest {
    /// Pair and parameters.
    pub job: Job,
    /// Finished map, if it is on the host.
    pub map: Option<Arc<DisparityMap>>,
    /// Column and row in the left image, px.
    pub pixel: (usize, usize),
}

/// Explanation of a pixel.
pub struct PixelExplanation {
    /// Request.
    pub wish: ExplainRequest,
    /// Explanation with its verdict, or the reason why there is none.
    pub found: Result<(Arc<Explanation>, Verdict), Unexplained>,
    /// Time that the explanation took.
    pub took: Duration,
}

/// Running thread; stopped when dropped.
pub struct PixelExplainer {
    /// A request of nothing deletes the last explanation.
    worker: Latest<Option<ExplainRequest>, PixelExplanation>,
    last: Option<ExplainRequest>,
}

/// Ratio of rest to work of this thread for explanations of one pixel while pairs follow each other.
const REST_FACTOR: u32 = 3;

impl ExplainRequest {
    /// Returns whether both concern one pixel and equal parameters, even in different pairs.
    fn is_alike(&self, other: &Self) -> bool {
        self.pixel == other.pixel && *self.job.params == *other.job.params
    }

    /// Returns whether both give equal numbers.
    fn is_same(&self, other: &Self) -> bool {
        let has_same_map = self.map.as_ref().map(Arc::as_ptr) == other.map.as_ref().map(Arc::as_ptr);
        Arc::ptr_eq(&self.job.frame, &other.job.frame) && has_same_map && self.is_alike(other)
    }

    /// Returns the values of the finished map at the pixel.
    fn finished(&self) -> Option<Finished> {
        let map = self.map.as_deref()?;
        let (x, y) = self.pixel;
        let value = map.values.get(x as isize, y as isize)?;
        let disparity_16th = (value != INVALID).then(|| value.into());
        Some(Finished { reasons: map.reasons.at(x, y), disparity_16th })
    }
}

impl PixelExplainer {
    /// Starts without a request; `wake` is called after each explanation and must not wait.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(wake: Box<dyn Fn() + Send>) -> std::io::Result<Self> {
        let work = Explaining { wake, prepared: None, last: None, was_abandoned: false };
        Ok(Self { worker: Latest::start_work("explain", work)?, last: None })
    }

    /// Sets the request; `None` also deletes the last explanation. A repeated request changes nothing.
    pub fn wish(&mut self, wish: Option<ExplainRequest>) {
        let is_known = match (&self.last, &wish) {
            (None, None) => true,
            (Some(last), Some(wish)) => last.is_same(wish),
            _ => false,
        };
        if is_known {
            return;
        }
        self.last.clone_from(&wish);
        self.worker.wish(wish);
    }

    /// Returns the newest explanation.
    pub fn newest(&self) -> Option<Arc<PixelExplanation>> {
        self.worker.newest()
    }
}

/// Requests and explanations of the thread.
type Requests = Answers<Option<ExplainRequest>, PixelExplanation>;
/// Pair that was prepared for explanations.
type Prepared = (Arc<Frame>, Arc<StereoParams>, Result<Explainer, Unexplained>);

struct Explaining {
    wake: Box<dyn Fn() + Send>,
    prepared: Option<Prepared>,
    last: Option<ExplainRequest>,
    /// Whether the previous explanation was cancelled. The next one is then completed, or a moving pointer would never get one.
    was_abandoned: bool,
}

impl Work<Option<ExplainRequest>, PixelExplanation> for Explaining {
    fn answer(&mut self, request: Option<ExplainRequest>, answers: &Requests) {
        if let Some(wish) = request {
            self.explain(&wish, answers);
            self.last = Some(wish);
        } else {
            self.prepared = None;
            answers.forget();
        }
    }

    fn rest(&self, took: Duration) -> Duration {
        REST_FACTOR * took
    }

    /// A repeated request waits for its turn.
    fn is_urgent(&self, request: &Option<ExplainRequest>) -> bool {
        let both = self.last.as_ref().zip(request.as_ref());
        !both.is_some_and(|(last, wish)| last.is_alike(wish))
    }
}

impl Explaining {
    /// Publishes the explanation, and again with the numbers of the left-right check where they differ.
    fn explain(&mut self, wish: &ExplainRequest, answers: &Requests) {
        let begin = Instant::now();
        self.prepare(&wish.job);
        let publish = |found| {
            let explained = PixelExplanation { wish: wish.clone(), found, took: begin.elapsed() };
            answers.publish(explained);
            (self.wake)();
        };
        let is_open = || !answers.is_stopped();
        let is_other = |newer: &Option<ExplainRequest>| newer.as_ref().is_none_or(|newer| !newer.is_alike(wish));
        let goes_on = || is_open() && !answers.is_overtaken(is_other);
        let may_abandon = !std::mem::replace(&mut self.was_abandoned, false);
        let explainer = match &self.prepared {
            Some((.., Ok(explainer))) => explainer,
            Some((.., Err(why))) => return publish(Err(why.clone())),
            None => return,
        };
        let explanation = match explainer
            .explain(wish.job.frame.pixel_in_rows(wish.pixel), if may_abandon { &goes_on } else { &is_open })
        {
            Ok(explanation) => Arc::new(explanation),
            Err(Unexplained::Abandoned) => {
                self.was_abandoned = true;
                return;
            }
            Err(why) => return publish(Err(why)),
        };
        let finished = wish.finished();
        publish(Ok((Arc::clone(&explanation), explanation.verdict(finished, None))));
        if explanation.needs_check(finished)
            && let Ok(Some(checked)) = explainer.check(&explanation, &goes_on)
        {
            let verdict = explanation.verdict(finished, Some(&checked));
            publish(Ok((explanation, verdict)));
        }
    }

    /// Prepares a pair, unless it is the previous one.
    fn prepare(&mut self, job: &Job) {
        let Job { frame, params, .. } = job;
        let is_prepared =
            self.prepared.as_ref().is_some_and(|(of, with, _)| Arc::ptr_eq(of, frame) && **with == **params);
        if !is_prepared {
            let in_rows = frame.in_rows();
            let [left, right] = in_rows.pictures();
            let explainer = Explainer::new(left, right, params);
            self.prepared = Some((Arc::clone(frame), Arc::clone(params), explainer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_frame::SceneOptions;
    use stereopsis_stereo::match_pair;

    fn wish(pair: u64, pixel: (usize, usize), params: &StereoParams) -> ExplainRequest {
        let options = SceneOptions { width: 64, height: 48, ..SceneOptions::default() };
        let frame = Arc::new(Frame::of_raw(Arc::new(stereopsis_scene::render(&options, pair, false))));
        let map = match_pair(&*frame.left, &*frame.right, params);
        let job = Job { frame, params: Arc::new(params.clone()), read_back: true, wants_right: false };
        ExplainRequest { job, map: Some(Arc::new(map)), pixel }
    }

    fn wait(explainer: &PixelExplainer, fits: impl Fn(&PixelExplanation) -> bool) -> Arc<PixelExplanation> {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(explained) = explainer.newest().filter(|explained| fits(explained)) {
                return explained;
            }
            assert!(Instant::now() < deadline, "waited in vain");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn newest_request_is_explained_with_the_reasons_of_its_map() {
        let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
        let mut explainer = PixelExplainer::start(Box::new(|| {})).unwrap();
        for pixel in [(5, 5), (30, 20), (63, 47)] {
            explainer.wish(Some(wish(0, pixel, &params)));
        }
        let explained = wait(&explainer, |explained| explained.wish.pixel == (63, 47));
        let (explanation, verdict) = explained.found.as_ref().unwrap();
        assert_eq!(explanation.pixel, (63, 47));
        assert_eq!(verdict.reasons, explained.wish.map.as_ref().unwrap().reasons.at(63, 47));

        let next = wish(1, (63, 47), &params);
        explainer.wish(Some(next.clone()));
        wait(&explainer, |explained| explained.wish.is_same(&next));
        explainer.wish(Some(wish(0, (64, 0), &params)));
        let explained = wait(&explainer, |explained| explained.wish.pixel == (64, 0));
        assert!(explained.found.as_ref().is_err_and(|why| why.to_string().contains("lies outside")));
        explainer.wish(None);
        let deadline = Instant::now() + Duration::from_secs(20);
        while explainer.newest().is_some() {
            assert!(Instant::now() < deadline, "it is not forgotten");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
