//! Tests with a running pipeline: topics, messages and parameters as a Foxglove client receives and changes them.

mod client;
mod guarded;
mod hostile;

use client::{Client, named};
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_engine::OpenOptions;
use stereopsis_frame::engine::{EngineChoice, EngineSettings};
use stereopsis_frame::{CaptureError, Next, PairSource, RawPair, SourceInfo};
use stereopsis_live::{Live, LiveOptions, News, Remote};
use stereopsis_publish::{Address, Foxglove, Publication};
use stereopsis_recording::Body;
use stereopsis_recording::message::Encoding;
use stereopsis_recording::topic::{
    ABOUT, COUNTERS, DEPTH, DEPTH_CAMERA, DISPARITY, EVENTS, LEFT_RAW, LEFT_RECTIFIED, PAIRS, PARAMETERS, RESULTS,
    RIGHT_RAW, RIGHT_RECTIFIED, TRANSFORMS,
};
use stereopsis_stereo::{StereoParams, depth};

/// Returns the number before a word in the state of a publication; 0 without the word.
fn number(publication: &Publication<Foxglove>, word: &str) -> usize {
    let standing = publication.standing();
    let words: Vec<_> = standing.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|it| it.starts_with(word));
    at.map_or(0, |at| words[at - 1].parse().unwrap())
}

/// Source that repeats one pair at a fixed rate.
struct StillSource {
    pair: (Picture, Picture),
    pause: Duration,
    next: u64,
}

impl StillSource {
    fn new((width, height): (usize, usize), rate_hz: f64) -> Self {
        let noise = |x: usize, y: usize| ((x * 7919 + y * 104_729).wrapping_mul(2_654_435_761) >> 13) as u8;
        let seen =
            |shift| Picture { luma: Luma::U8(Image::from_fn(width, height, |x, y| noise(x + shift, y))), rgb: None };
        Self { pair: (seen(0), seen(7)), pause: Duration::from_secs_f64(1.0 / rate_hz), next: 0 }
    }
}

impl PairSource for StillSource {
    fn info(&self) -> SourceInfo {
        let (width, height) = self.pair.0.size();
        let geometry = Geometry::new(80.0, 0.1, 0.0, [47.5, 35.5]);
        SourceInfo {
            name: "still".into(),
            width,
            height,
            is_rectified: true,
            geometry: Some(geometry),
            ..SourceInfo::default()
        }
    }

    fn next(&mut self, _: Duration) -> Result<Next, CaptureError> {
        std::thread::sleep(self.pause);
        self.next += 1;
        Ok(Next::Pair(Box::new(RawPair::new(
            format!("still-{}", self.next),
            self.next - 1,
            SystemTime::now(),
            self.pair.0.clone(),
            self.pair.1.clone(),
        ))))
    }
}

/// Pipeline on the CPU that is published on a free port. A thread owns it, in the role of the window or the status line.
struct PublishedPipeline {
    live: Arc<Live>,
    publisher: Arc<Publication<Foxglove>>,
    news: Arc<Mutex<Vec<News>>>,
    stop: Arc<AtomicBool>,
    owner: Option<JoinHandle<()>>,
}

impl PublishedPipeline {
    fn new(size: (usize, usize), rate_hz: f64) -> Self {
        let publisher = Publication::<Foxglove>::start("foxglove=:0".parse::<Address>().unwrap()).unwrap();
        let source = Box::new(StillSource::new(size, rate_hz));
        let params = StereoParams { num_disparities: 24, ..StereoParams::default() };
        let engine = OpenOptions::from(EngineSettings {
            choice: EngineChoice::Cpu,
            threads: Some(1),
            ..EngineSettings::default()
        });
        let remote: Arc<dyn Remote> = publisher.clone();
        let live =
            Live::start(source, LiveOptions { remotes: vec![remote], ..LiveOptions::new(params, engine) }).unwrap();
        let (live, stop, news) = (Arc::new(live), Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<News>>>::default());
        let owner = {
            let (live, stop, news) = (live.clone(), stop.clone(), news.clone());
            let remote = publisher.clone();
            let owner = std::thread::Builder::new().name("owner".into());
            owner.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    if let Some(params) = remote.exchange(&live.params()) {
                        live.set_params(params);
                    }
                    news.lock().extend(remote.news());
                    std::thread::sleep(Duration::from_millis(2));
                }
            })
        };
        Self { live, publisher, news, stop, owner: Some(owner.unwrap()) }
    }

    fn client(&self) -> Client {
        Client::connect(self.publisher.address().socket)
    }

    fn until(&self, what: &str, condition: impl Fn(&Live) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !condition(&self.live) {
            assert!(Instant::now() < deadline, "waited in vain until {what}: {:?}", self.live.status());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for PublishedPipeline {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let owner = self.owner.take().unwrap().join();
        assert!(owner.is_ok() || std::thread::panicking());
    }
}

#[test]
fn offers_all_topics_and_sends_the_depth_of_the_result() {
    let stage = PublishedPipeline::new((96, 72), 20.0);
    let mut client = stage.client();
    assert_eq!(client.info["name"], "Stereopsis");
    assert!(client.info["capabilities"].as_array().unwrap().contains(&json!("parameters")), "{}", client.info);
    client.until_offered(&[
        ABOUT,
        COUNTERS,
        DEPTH,
        DEPTH_CAMERA,
        DISPARITY,
        EVENTS,
        LEFT_RAW,
        LEFT_RECTIFIED,
        PAIRS,
        PARAMETERS,
        RESULTS,
        RIGHT_RAW,
        RIGHT_RECTIFIED,
        TRANSFORMS,
    ]);
    assert_eq!(client.topics[DEPTH].1.schema.as_ref().unwrap().name, "foxglove.RawImage");
    client.subscribe(&[DEPTH]);
    client.message(DEPTH);
    // while paused, the latest result and the message belong to the same pair
    stage.live.pause();
    while !client.count_messages(Duration::from_millis(200)).is_empty() {}
    let output = stage.live.latest().unwrap();
    let mut late = stage.client();
    late.subscribe(&[DEPTH, ABOUT, TRANSFORMS]);
    let (log_time_ns, message) = late.message(DEPTH);
    let Body::Image(image) = message.body else { panic!("{:?} is no image", message.body) };
    let geometry = output.job.frame.geometry.unwrap();
    let values = output.map.as_ref().unwrap().values.map(|&v| depth::millimetres(depth::depth_m(v, &geometry)));
    let expected: Vec<u8> = values.pixels().iter().flat_map(|mm| mm.to_le_bytes()).collect();
    assert_eq!((image.encoding, image.width, image.height, image.step), (Encoding::DepthMm, 96, 72, 192));
    assert!(image.data[..] == expected[..], "other pixels than those of the result");
    assert!(values.pixels().iter().filter(|&&mm| mm > 0).count() > 1000, "there is something to see");
    let shown = output.job.frame.raw.capture_time;
    assert!(message.stamp.duration_since(shown).unwrap_or_default() < Duration::from_micros(1), "{:?}", message.stamp);
    assert!(log_time_ns > 0);
}

#[test]
fn late_clients_get_descriptions_and_subscribed_topics_only() {
    let stage = PublishedPipeline::new((96, 72), 20.0);
    let mut first = stage.client();
    first.subscribe(&[ABOUT, DEPTH]);
    first.message(ABOUT);
    let mut late = stage.client();
    late.subscribe(&[ABOUT, TRANSFORMS, DEPTH_CAMERA, PARAMETERS]);
    for (topic, message) in late.one_of_each(&[ABOUT, TRANSFORMS, DEPTH_CAMERA, PARAMETERS]) {
        match (topic.as_str(), message.body) {
            (ABOUT, Body::Json(about)) => assert_eq!((&about["width"], &about["height"]), (&json!(96), &json!(72))),
            (TRANSFORMS, Body::Transform { translation_m, .. }) => assert!(translation_m[0] > 0.0, "{translation_m:?}"),
            (DEPTH_CAMERA, Body::Camera(camera)) => assert!(camera.k[0] > 10.0, "{camera:?}"),
            (PARAMETERS, Body::Json(parameters)) => assert!(parameters.to_string().contains("24"), "{parameters}"),
            (topic, body) => panic!("{topic}: {body:?}"),
        }
    }
    let heard = first.count_messages(Duration::from_millis(500));
    assert!(heard.keys().all(|topic| topic == ABOUT || topic == DEPTH) && heard[DEPTH] >= 1, "{heard:?}");
}

#[test]
fn parameters_follow_the_rules_of_flags_and_reach_followers() {
    let stage = PublishedPipeline::new((96, 72), 20.0);
    let (mut one, mut other) = (stage.client(), stage.client());
    stage.until("there is a result", |live| live.latest().is_some());
    let all = one.parameters();
    assert_eq!(all.len(), StereoParams::table().len());
    assert_eq!(
        (&all["num-disparities"], &all["p1"], &all["cost"]),
        (&json!(24), &json!(StereoParams::default().p1), &json!("census-5x5"))
    );
    assert_eq!((&all["subpixel"], &all["gating"]), (&json!("equiangular"), &json!("off")));

    other.follow(&["p1", "p2", "cost"]);
    other.parameters(); // once this is answered, the subscription is in force
    one.set(Some("mine"), "p1", &json!(17));
    let answer = named(&one.json("parameterValues", |message| message["id"] == "mine"));
    assert_eq!(answer["p1"], json!(17));
    assert_eq!(named(&other.json("parameterValues", |_| true))["p1"], json!(17));
    stage.until("it is matched so", |live| live.latest().is_some_and(|output| output.job.params.p1 == 17));

    one.set(Some("refused"), "p2", &json!(3));
    let why = one.json("status", |_| true);
    assert!(why["level"] == 2 && why["message"].as_str().unwrap().contains("p1 17 is not below p2 3"), "{why}");
    assert_eq!(one.parameters()["p2"], json!(60));
    assert_eq!(named(&other.json("parameterValues", |_| true))["p2"], json!(60), "the panel is put right");
    stage.until("its owner was told", |_| stage.news.lock().iter().any(|n| n.is_error && n.text.contains("p2 3")));

    // changes by the pipeline's owner reach clients too
    stage.live.set_params(StereoParams { p1: 7, ..(*stage.live.params()).clone() });
    assert_eq!(named(&other.json("parameterValues", |_| true))["p1"], json!(7));
    assert_eq!(one.parameters()["p1"], json!(7));
}

#[test]
fn a_paused_pair_is_matched_with_changed_parameters() {
    let stage = PublishedPipeline::new((96, 72), 20.0);
    let mut client = stage.client();
    client.subscribe(&[DEPTH]);
    client.message(DEPTH);
    stage.live.pause();
    while !client.count_messages(Duration::from_millis(200)).is_empty() {}
    client.set(None, "cost", &json!("sad"));
    let (_, message) = client.message(DEPTH);
    assert!(matches!(message.body, Body::Image(_)));
}

#[test]
fn bounds_the_renewals_of_a_client_that_keeps_subscribing() {
    let stage = PublishedPipeline::new((96, 72), 20.0);
    let mut quiet = stage.client();
    quiet.subscribe(&[ABOUT]);
    quiet.message(ABOUT);
    let mut restless = stage.client();
    restless.until_offered(&[PAIRS]);
    let channel = restless.topics[PAIRS].0;
    let start = Instant::now();
    for _ in 0..500 {
        restless.send(&json!({ "op": "subscribe", "subscriptions": [{ "id": 1, "channelId": channel }] }));
        restless.send(&json!({ "op": "unsubscribe", "subscriptionIds": [1] }));
    }
    restless.parameters(); // once this is answered, the server has read all requests
    let heard = quiet.count_messages(Duration::from_millis(300));
    // a new packer repeats the messages that are sent once, at most ten times per second
    let most = 2 + start.elapsed().as_millis() as usize / 100;
    let times = heard.get(ABOUT).copied().unwrap_or_default();
    assert!((1..=most).contains(&times), "{times} times, {most} at most");
}

#[test]
fn a_client_that_does_not_read_delays_nothing() {
    let stage = PublishedPipeline::new((640, 480), 50.0);
    let mut slow = stage.client();
    slow.subscribe(&[LEFT_RAW, RIGHT_RAW, LEFT_RECTIFIED, RIGHT_RECTIFIED]);
    slow.message(LEFT_RAW);
    // it reads nothing from now on: 50 pairs/s of more than a megabyte fill the system's buffers
    let before = stage.live.status();
    let start = Instant::now();
    let mut quick = stage.client();
    quick.subscribe(&[PAIRS]);
    std::thread::sleep(Duration::from_secs(3));
    let (after, seconds) = (stage.live.status(), start.elapsed().as_secs_f64());
    let captured = (after.capture.captured - before.capture.captured) as f64 / seconds;
    assert!(captured > 20.0, "{captured} pairs a second");
    assert!(quick.count_messages(Duration::from_millis(300)).get(PAIRS).is_some_and(|&n| n > 1), "others get theirs");
    assert_eq!(number(&stage.publisher, "client"), 2);
    let goodbye = Instant::now();
    stage.publisher.stop();
    assert!(goodbye.elapsed() < Duration::from_secs(1), "{:?}", goodbye.elapsed());
}
