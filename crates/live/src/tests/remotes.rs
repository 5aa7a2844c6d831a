//! Tests of several servers of remote clients.

use super::*;
use parking_lot::Mutex;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, FrameTap};
use stereopsis_recording::About;

/// Server with its name, the request of a client, and the values that were in force.
struct RequestingServer(&'static str, Mutex<Option<u32>>, Mutex<Vec<u32>>);

impl FrameTap for RequestingServer {
    fn frame(&self, _: &Arc<Frame>, _: &SourceInfo) {}
}

impl ResultTap for RequestingServer {
    fn result(&self, _: &Arc<Output>) {}
}

impl Remote for RequestingServer {
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        self.2.lock().push(in_force.p1);
        self.1.lock().take().map(|p1| StereoParams { p1, ..in_force.clone() })
    }

    fn news(&self) -> Vec<News> {
        Vec::new()
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
    let (one, two, three) = (asks("one", Some(3)), asks("two", None), asks("three", Some(5)));
    let remotes: Vec<Arc<dyn Remote>> = vec![one.clone(), two.clone(), three.clone()];
    let params = StereoParams { p1: 1, num_disparities: 16, ..StereoParams::default() };
    let live = Live::start(Box::new(Shifted::new(3, 1)), LiveOptions { params, remotes, ..options() }).unwrap();
    assert_eq!((live.params().p1, live.exchange()), (5, None));
    *two.1.lock() = Some(7);
    assert_eq!(live.exchange().map(|params| params.p1), Some(7));
    let seen = [one, two, three].map(|server| server.2.lock().clone());
    assert_eq!(seen, [vec![1, 5, 5], vec![3, 5, 5], vec![3, 5, 7]]);
    assert_eq!(live.standing(), "one, two, three");
}
