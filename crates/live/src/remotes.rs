//! Several servers of clients combined into one.

use super::{News, Remote};
use std::sync::Arc;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, FrameTap, ResultTap, SourceInfo, Wake};
use stereopsis_recording::About;
use stereopsis_stereo::StereoParams;

/// Combined servers: each gets everything, and parameters may come from any.
pub struct Remotes(Vec<Arc<dyn Remote>>);

impl Remotes {
    /// Combines these servers; `None` for an empty list.
    #[must_use]
    pub fn of(mut all: Vec<Arc<dyn Remote>>) -> Option<Arc<dyn Remote>> {
        if all.len() < 2 { all.pop() } else { Some(Arc::new(Self(all))) }
    }

    fn lines(&self, separator: &str, words: impl Fn(&dyn Remote) -> String) -> String {
        self.0.iter().map(|remote| words(&**remote)).collect::<Vec<_>>().join(separator)
    }
}

impl FrameTap for Remotes {
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        self.0.iter().for_each(|remote| remote.frame(frame, source));
    }
}

impl ResultTap for Remotes {
    fn result(&self, output: &Arc<Output>) {
        self.0.iter().filter(|remote| remote.wants_results()).for_each(|remote| remote.result(output));
    }

    fn result_again(&self, output: &Arc<Output>) {
        self.0.iter().filter(|remote| remote.wants_results()).for_each(|remote| remote.result_again(output));
    }

    fn wants_results(&self) -> bool {
        self.0.iter().any(|remote| remote.wants_results())
    }
}

impl Remote for Remotes {
    /// Exchanges with one server after another: a request is in force for the next one.
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        self.0
            .iter()
            .fold(None, |requested, remote| remote.exchange(requested.as_ref().unwrap_or(in_force)).or(requested))
    }

    fn news(&self) -> Vec<News> {
        self.0.iter().flat_map(|remote| remote.news()).collect()
    }

    fn invitation(&self) -> String {
        self.lines("\n", |remote| remote.invitation())
    }

    fn standing(&self) -> String {
        self.lines(", ", |remote| remote.standing())
    }

    fn set_about(&self, about: About) {
        self.0.iter().for_each(|remote| remote.set_about(about.clone()));
    }

    fn stop(&self) {
        self.0.iter().for_each(|remote| remote.stop());
    }

    fn set_wake(&self, wake: Wake) {
        self.0.iter().for_each(|remote| remote.set_wake(Arc::clone(&wake)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    struct RequestingServer(&'static str, Mutex<Option<u32>>, Mutex<Vec<u32>>);

    impl FrameTap for RequestingServer {
        fn frame(&self, _: &Arc<Frame>, _: &SourceInfo) {}
    }

    impl ResultTap for RequestingServer {
        fn result(&self, _: &Arc<Output>) {}

        fn wants_results(&self) -> bool {
            self.0 == "wants"
        }
    }

    impl Remote for RequestingServer {
        fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
            self.2.lock().push(in_force.p1);
            self.1.lock().take().map(|p1| StereoParams { p1, ..in_force.clone() })
        }

        fn news(&self) -> Vec<News> {
            vec![News { text: self.0.to_owned(), is_error: false }]
        }

        fn invitation(&self) -> String {
            self.0.to_owned()
        }

        fn standing(&self) -> String {
            self.0.to_owned()
        }

        fn set_about(&self, _: About) {}

        fn stop(&self) {}

        fn set_wake(&self, _: Wake) {}
    }

    #[test]
    fn every_server_takes_part_and_the_last_request_holds() {
        let asks = |name, p1| Arc::new(RequestingServer(name, Mutex::new(p1), Mutex::default()));
        let (one, two, three) = (asks("one", Some(3)), asks("wants", None), asks("three", Some(5)));
        assert!(Remotes::of(Vec::new()).is_none());
        assert_eq!(Remotes::of(vec![one.clone()]).unwrap().standing(), "one");
        let all = Remotes::of(vec![one.clone(), two.clone(), three.clone()]).unwrap();
        let in_force = StereoParams { p1: 1, ..StereoParams::default() };
        assert_eq!(all.exchange(&in_force).map(|params| params.p1), Some(5));
        assert_eq!(all.exchange(&in_force), None);
        assert_eq!(
            (one.2.lock().clone(), two.2.lock().clone(), three.2.lock().clone()),
            (vec![1; 2], vec![3, 1], vec![3, 1])
        );
        assert_eq!(
            (all.standing(), all.invitation()),
            ("one, wants, three".to_owned(), "one\nwants\nthree".to_owned())
        );
        assert!(all.wants_results() && all.news().len() == 3);
    }
}
