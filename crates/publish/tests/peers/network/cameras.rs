//! Tests of two heads with one camera each: their images are paired by capture time, also with different clocks.

use super::{FedHead, LIMIT, SIZE, client, fed_about, named, next, next_of, options, params, present, router, until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::rate::LatencySince;
use stereopsis_frame::{MaxPixels, PairSource, RawPair, RawTap, Side, SourceInfo};
use stereopsis_network::key::{RigTopic, Role};
use stereopsis_network::{ANSWER_TIMEOUT, Head, Network, PairedHeads, RigSource};
use zenoh::Wait as _;

/// Two heads that get images with the same numbers; those of the right head are [`SKEW`] later.
struct CameraHeads {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Returns an image of a camera; its first pixel encodes the number and the camera.
fn picture(number: u64, camera: u64) -> Picture {
    let image = Image::from_fn(SIZE.0, SIZE.1, |x, y| (6 * number + camera + x as u64 + y as u64) as u8);
    Picture { luma: Luma::U8(image), rgb: None }
}

const SKEW: Duration = Duration::from_millis(100);
const INTERVAL: Duration = Duration::from_millis(400);
/// Maximum error of both clock estimates on a busy machine, s: half the time of an exchange. With the skew it is less than half an interval.
const MAX_CLOCK_ERROR_S: f64 = 0.09;

impl CameraHeads {
    fn start(network: &Network, names: [&str; 2]) -> Self {
        let head = |at: usize| Head::start(network, names[at], Some(Side::ALL[at]), fed_about(), &params()).unwrap();
        let heads = [head(0), head(1)];
        let info = SourceInfo { width: SIZE.0, height: SIZE.1, is_camera: true, ..SourceInfo::default() };
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let work = move || {
            for number in 0.. {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                let now = SystemTime::now();
                for (head, late) in heads.iter().zip([Duration::ZERO, SKEW]) {
                    let [left, right] = [0, 1].map(|camera| picture(number, camera));
                    let pair = RawPair::new(format!("{number}"), number, now + late, left, right);
                    head.pair(&Arc::new(pair), None, &info);
                }
                std::thread::sleep(INTERVAL);
            }
        };
        Self { stop, thread: Some(named("cameras", work)) }
    }
}

impl Drop for CameraHeads {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Relays a head under another name, with the clock of its machine ahead by `ahead`.
pub(super) fn show_with_other_clock(network: &Network, head: &str, name: &str, ahead: Duration) {
    let (session, ahead_ns) = (network.session(), ahead.as_nanos() as u64);
    let to = session.declare_publisher(RigTopic::Pair.rig(name)).wait().unwrap();
    let pass = move |sample: zenoh::sample::Sample| {
        let mut attachment = sample.attachment().unwrap().to_bytes().into_owned();
        let taken_ns = u64::from_le_bytes(attachment[24..32].try_into().unwrap());
        attachment[24..32].copy_from_slice(&(taken_ns + ahead_ns).to_le_bytes());
        to.put(sample.payload().clone()).attachment(attachment).wait().unwrap();
    };
    session.declare_subscriber(RigTopic::Pair.rig(head)).callback(pass).background().wait().unwrap();
    let (about, asked, key) = (RigTopic::About.rig(head), network.clone(), RigTopic::About.rig(name));
    let relay = move |query: zenoh::query::Query| {
        let (about, asked, key) = (about.clone(), asked.clone(), key.clone());
        named("relay", move || {
            let (_, bytes) = asked.ask(&about, None, ANSWER_TIMEOUT).unwrap().remove(0).unwrap();
            query.reply(key, bytes).wait().unwrap();
        });
    };
    session.declare_queryable(RigTopic::About.rig(name)).callback(relay).background().wait().unwrap();
    let clock = RigTopic::Clock.rig(name);
    let tell = move |query: zenoh::query::Query| {
        let now = (SystemTime::now() + ahead).duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        query.reply(clock.clone(), format!(r#"{{"received_ns":{now},"sent_ns":{now}}}"#)).wait().unwrap();
    };
    session.declare_queryable(RigTopic::Clock.rig(name)).callback(tell).background().wait().unwrap();
}

/// Checks that both images of each pair have the same number, and checks their skew.
fn check(source: &mut PairedHeads) {
    for _ in 0..4 {
        let pair = next_of(source);
        let first = [&pair.left, &pair.right].map(|picture| picture.luma.to_u8().at(0, 0));
        assert!(first[0] % 2 == 0 && first[1] == first[0] + 1, "images of two moments, or exchanged: {first:?}");
        assert!((pair.skew_s - SKEW.as_secs_f64()).abs() < MAX_CLOCK_ERROR_S, "{}", pair.skew_s);
        let age = SystemTime::now().duration_since(pair.capture_time).unwrap_or_default();
        assert!(
            age < LIMIT && pair.capture_time < SystemTime::now() + Duration::from_secs(1),
            "in this machine's time"
        );
    }
}

#[test]
fn pairs_images_of_two_heads_with_different_clocks() {
    let (router, endpoint) = router(None);
    let _cameras = CameraHeads::start(&router, ["left", "right"]);
    show_with_other_clock(&client(&endpoint), "right", "right-ahead", Duration::from_secs(5));
    check(&mut PairedHeads::on(client(&endpoint), ["left", "right"], &options()).unwrap());
    let mut ahead = PairedHeads::on(client(&endpoint), ["left", "right-ahead"], &options()).unwrap();
    check(&mut ahead);
    let is_it =
        |text: &String| ["clocks differ by 500", "clocks differ by 499"].iter().any(|words| text.contains(words));
    until("it is said", || ahead.state().remarks.iter().any(is_it));
}

#[test]
fn capture_times_are_converted_to_the_local_clock() {
    let (router, endpoint) = router(None);
    let _fed = FedHead::start(&router, "pi");
    show_with_other_clock(&client(&endpoint), "pi", "pi-ahead", Duration::from_secs(5));
    for rig in ["pi", "pi-ahead"] {
        let mut source = RigSource::on(client(&endpoint), rig, &options()).unwrap();
        let mut taken = || {
            next(&mut source);
            let (taken, since) = source.latency_begin(Instant::now());
            assert_ne!(since, LatencySince::Arrival, "'{rig}' is another machine");
            (since == LatencySince::Capture).then(|| taken.elapsed())
        };
        let end = Instant::now() + LIMIT;
        let age = std::iter::repeat_with(&mut taken).find_map(|age| {
            assert!(Instant::now() < end, "the clock of '{rig}' is never known");
            age
        });
        assert!(age.unwrap() < Duration::from_secs(3), "{rig}: {age:?}, and the clock is ahead by 5 s");
    }
}

#[test]
fn refuses_heads_that_cannot_be_paired() {
    let (router, endpoint) = router(None);
    let _cameras = CameraHeads::start(&router, ["left", "right"]);
    let _both = FedHead::start(&router, "pi");
    let refusal = |names| PairedHeads::on(client(&endpoint), names, &options()).err().unwrap().to_string();
    assert!(refusal(["right", "left"]).contains("has the right camera: name the head of the left camera first"));
    assert!(refusal(["left", "pi"]).contains("has both cameras: open it alone, as zenoh:pi"));
    assert!(refusal(["left", "nothing"]).contains("there is no rig 'nothing'"));
    let alone = RigSource::on(client(&endpoint), "left", &options()).err().unwrap().to_string();
    assert!(alone.contains("has the left camera alone: open both as zenoh:LEFT,RIGHT"), "{alone}");
    let taken = Head::start(&client(&endpoint), "left", None, fed_about(), &params()).err().unwrap().to_string();
    assert!(taken.contains("already"), "{taken}");
    // a single camera is not announced as a rig, so that no engine takes it
    let there = present(&router);
    assert!(
        there.of(Role::Camera).any(|camera| camera.name == "left")
            && there.head("left").is_none()
            && there.head("pi").is_some()
    );
}

#[test]
fn a_head_returns_a_preview_of_its_newest_image() {
    let (router, endpoint) = router(None);
    let ask = |name: &str| client(&endpoint).ask(&RigTopic::Picture.rig(name), None, ANSWER_TIMEOUT).unwrap().remove(0);
    let silent = Head::start(&router, "silent", None, fed_about(), &params()).unwrap();
    assert!(ask("silent").unwrap_err().to_string().contains("no pair has come yet"));
    drop(silent);
    let _fed = FedHead::start(&router, "pi");
    let mut bytes = Vec::new();
    until("an image", || ask("pi").map(|(_, sent)| bytes = sent).is_ok());
    let picture = stereopsis_images::decode::decode_picture(&bytes, true, MaxPixels::default()).unwrap();
    assert_eq!(picture.size(), SIZE, "no larger than it is");
}
