//! Tests of ROS 2 nodes connected through a router: published messages are received bit for bit, and invalid messages break no source.
//! `tools/ros2_peer.sh` tests the same with a third-party node.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_base::testing::found as until;
use stereopsis_calibration::{CalibrationNote, CameraInfo};
use stereopsis_engine::OpenOptions;
use stereopsis_frame::decode_camera::{Layout, PixelFormat};
use stereopsis_frame::engine::{EngineChoice, EngineSettings};
use stereopsis_frame::{
    CaptureError, EncodedImage, Next, Original, PairSource, Pixels, RawPair, SourceInfo, SourceOptions, StereoLayout,
};
use stereopsis_live::{Live, LiveOptions, Remote};
use stereopsis_network::ros2::{Node, Qos, RosEnvironment, RosSource};
use stereopsis_network::{Access, Endpoint, Network};
use stereopsis_publish::Publication;
use stereopsis_publish::ros2::Ros2;
use stereopsis_recording::format::{Kind, decode};
use stereopsis_recording::message::{Encoding, ImageBody, Point};
use stereopsis_recording::unpack::UnpackedResult;
use stereopsis_recording::{About, Body, Format, Message, Packet, topic};
use stereopsis_settings::rig::Calibrated;
use stereopsis_stereo::{INVALID, StereoParams, depth};
use zenoh::Wait as _;
use zenoh_ext::{AdvancedSubscriberBuilderExt as _, HistoryConfig};

const SIZE: (usize, usize) = (96, 72);
const GEOMETRY: Geometry = Geometry::new(80.0, 0.1, 0.0, [47.5, 35.5]);

/// Router in this process.
struct Router {
    endpoint: Endpoint,
    _network: Network,
}

impl Router {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let endpoint: Endpoint = format!("tcp/127.0.0.1:{port}").parse().unwrap();
        let network = Network::open(&Access { listen: vec![endpoint.clone()], ..Access::default() }).unwrap();
        Self { endpoint, _network: network }
    }

    fn surroundings(&self, domain: u32) -> RosEnvironment {
        surroundings(&self.endpoint, domain)
    }

    /// Opens a session without the nodes of this program.
    fn client(&self) -> Network {
        Network::open(&Access::to(self.endpoint.clone())).unwrap()
    }
}

fn surroundings(router: &Endpoint, domain: u32) -> RosEnvironment {
    let set = |key: &str, value: String| (key.to_owned(), value);
    let overrides = vec![
        set("connect/endpoints", format!("[\"{router}\"]")),
        set("listen/endpoints", "[\"tcp/127.0.0.1:0\"]".to_owned()),
    ];
    RosEnvironment { domain, config: None, overrides }
}

/// Source that repeats one pair.
struct RepeatedPair {
    pair: RawPair,
    next: u64,
}

impl RepeatedPair {
    fn grey() -> Self {
        let noise = |x: usize, y: usize| ((x * 7919 + y * 104_729).wrapping_mul(2_654_435_761) >> 13) as u8;
        let seen =
            |shift| Picture { luma: Luma::U8(Image::from_fn(SIZE.0, SIZE.1, |x, y| noise(x + shift, y))), rgb: None };
        Self { pair: RawPair::new("again", 0, SystemTime::now(), seen(0), seen(7)), next: 0 }
    }

    /// Creates a source of JPEG images, as cameras send them.
    fn jpeg() -> Self {
        let shot = |seed: usize| {
            let rgb = image::RgbImage::from_fn(SIZE.0 as u32, SIZE.1 as u32, |x, y| {
                image::Rgb([(x * 2) as u8, (y * 3) as u8, (seed * 40) as u8])
            });
            let mut bytes = std::io::Cursor::new(Vec::new());
            rgb.write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
            EncodedImage { layout: Layout::tight(PixelFormat::Mjpeg, SIZE), bytes: bytes.into_inner().into() }
        };
        let original = Original { images: vec![shot(1), shot(2)], layout: StereoLayout::default() };
        let (left, right) = original.pictures(Pixels::Color).unwrap();
        let pair = RawPair::new("jpeg", 0, SystemTime::now(), left, right);
        Self { pair: RawPair { original: Some(original), ..pair }, next: 0 }
    }
}

impl PairSource for RepeatedPair {
    fn info(&self) -> SourceInfo {
        let (width, height) = SIZE;
        let geometry = Some(GEOMETRY);
        SourceInfo { name: "again".into(), width, height, is_rectified: true, geometry, ..SourceInfo::default() }
    }

    fn next(&mut self, _: Duration) -> Result<Next, CaptureError> {
        std::thread::sleep(Duration::from_millis(40));
        self.next += 1;
        let (sequence, capture_time) = (self.next - 1, SystemTime::now());
        Ok(Next::Pair(Box::new(RawPair { sequence, capture_time, ..self.pair.clone() })))
    }
}

/// Pipeline that publishes to ROS 2.
struct RosPipeline {
    live: Arc<Live>,
    publisher: Arc<Publication<Ros2>>,
}

impl RosPipeline {
    fn new(router: &Router, domain: u32, source: RepeatedPair) -> Self {
        Self::of(Publication::<Ros2>::start(&router.surroundings(domain)).unwrap(), source)
    }

    fn of(publisher: Arc<Publication<Ros2>>, source: RepeatedPair) -> Self {
        let info = source.info();
        let calibration = CalibrationNote::of_rectified(GEOMETRY);
        publisher.set_about(About { calibration, ..About::of_source("again", &info, SystemTime::now()) });
        let params = StereoParams { num_disparities: 24, ..StereoParams::default() };
        let engine = OpenOptions::from(EngineSettings {
            choice: EngineChoice::Cpu,
            threads: Some(1),
            ..EngineSettings::default()
        });
        let remote: Arc<dyn Remote> = publisher.clone();
        let options = LiveOptions { remotes: vec![remote], ..LiveOptions::new(params, engine) };
        Self { live: Arc::new(Live::start(Box::new(source), options).unwrap()), publisher }
    }
}

fn next(source: &mut RosSource) -> RawPair {
    until("there is a pair", || match source.next(Duration::from_millis(100)).unwrap() {
        Next::Pair(pair) => Some(*pair),
        Next::Waiting => None,
        Next::End => panic!("it has no end"),
    })
}

fn luma(pair: &RawPair) -> [&Luma; 2] {
    [&pair.left.luma, &pair.right.luma]
}

#[test]
fn images_and_calibration_round_trip_and_a_source_waits_for_its_driver() {
    let router = Router::start();
    let sent = RepeatedPair::grey();
    let pair = sent.pair.clone();
    let stage = RosPipeline::new(&router, 3, sent);
    let topics = [topic::LEFT_RAW, topic::RIGHT_RAW];
    let mut source = RosSource::open(topics, &router.surroundings(3), &SourceOptions::default()).unwrap();
    for sequence in 0..3 {
        let back = next(&mut source);
        assert_eq!((luma(&back), back.sequence, back.skew_s), (luma(&pair), sequence, 0.0));
    }
    let info = source.info();
    assert_eq!((info.width, info.height, info.is_camera), (SIZE.0, SIZE.1, true));
    let rig = Calibrated::from_note(source.calibration().unwrap(), &info).unwrap().rig.unwrap();
    assert!((rig.baseline_m() - GEOMETRY.baseline_m).abs() < 1e-9 && (rig.focal_px() - GEOMETRY.focal_px).abs() < 1e-9);
    assert_eq!(source.state().remarks, Vec::<String>::new());
    assert!(stage.publisher.standing().starts_with("ros2 "), "{}", stage.publisher.standing());

    // the driver ends, and another one starts
    drop(stage);
    until("it is remarked on", || {
        assert!(!matches!(source.next(Duration::from_millis(10)).unwrap(), Next::End));
        source
            .state()
            .remarks
            .iter()
            .any(|remark| remark.contains("comes any more: does its driver run?"))
            .then_some(())
    });
    let _stage = RosPipeline::new(&router, 3, RepeatedPair::grey());
    assert_eq!(luma(&next(&mut source)), luma(&pair));
    until("the remark is gone", || source.state().remarks.is_empty().then_some(()));
}

#[test]
fn topics_and_frames_of_a_rig_have_its_name() {
    let router = Router::start();
    let stages = ["pi-4", "4th"].map(|rig| {
        RosPipeline::of(Publication::<Ros2>::of_rig(&router.surroundings(4), rig).unwrap(), RepeatedPair::grey())
    });
    for name in ["pi_4", "rig_4th"] {
        let topics = ["left", "right"].map(|side| format!("/{name}/{side}/image_raw"));
        let topics = topics.each_ref().map(String::as_str);
        let mut source = RosSource::open(topics, &router.surroundings(4), &SourceOptions::default()).unwrap();
        assert_eq!(luma(&next(&mut source)), luma(&RepeatedPair::grey().pair)); // both rigs see the same
    }
    let node = Node::open(&router.surroundings(4), "listener").unwrap();
    let frames = Arc::<parking_lot::Mutex<BTreeSet<String>>>::default();
    let heard = Arc::clone(&frames);
    let channel = Format::Ros2.channel_of(topic::TRANSFORMS, Kind::Transform);
    let take = move |bytes: &[u8], _| {
        let message = decode(&channel, bytes).unwrap();
        if let Body::Transform { child_frame_id, .. } = message.body {
            heard.lock().extend([message.frame_id, child_frame_id]);
        }
    };
    let _late = node.subscribe(topic::TRANSFORMS, Kind::Transform, Qos::LATCHED, take).unwrap();
    drop(stages);
    let _new =
        RosPipeline::of(Publication::<Ros2>::of_rig(&router.surroundings(4), "pi-4").unwrap(), RepeatedPair::grey());
    let expected = ["left", "right"].map(|side| format!("pi_4_{side}_optical_frame"));
    until("its transform comes", || expected.iter().all(|frame| frames.lock().contains(frame)).then_some(()));
}

#[test]
fn publishes_camera_images_encoded_and_decoded() {
    let router = Router::start();
    let sent = RepeatedPair::jpeg();
    let pair = sent.pair.clone();
    let _stage = RosPipeline::new(&router, 0, sent);
    let compressed = [topic::LEFT_RAW, topic::RIGHT_RAW].map(|name| format!("{name}{}", topic::COMPRESSED));
    let open = |topics: [&str; 2]| RosSource::open(topics, &router.surroundings(0), &SourceOptions::default());
    let back = next(&mut open(compressed.each_ref().map(String::as_str)).unwrap());
    assert_eq!(back.original.map(|original| original.images), pair.original.clone().map(|original| original.images));
    let back = next(&mut open([topic::LEFT_RAW, topic::RIGHT_RAW]).unwrap());
    assert_eq!(luma(&back), luma(&pair));
}

#[test]
fn replaces_a_silent_raw_topic_by_its_compressed_one() {
    let router = Router::start();
    let node = Node::open(&router.surroundings(0), "driver").unwrap();
    let original = RepeatedPair::jpeg().pair.original.unwrap();
    let publisher = |side: &str| {
        node.publisher(&format!("/{side}/image_raw/compressed"), Kind::Compressed, Qos::DEFAULT, |_| ()).unwrap()
    };
    let mut publishers = [publisher("left"), publisher("right")];
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let stamp = SystemTime::now();
                for (publisher, shot) in publishers.iter_mut().zip(&original.images) {
                    let body =
                        Body::Compressed { format: "rgb8; jpeg compressed bgr8".into(), data: shot.bytes.clone() };
                    publisher.put(Format::Ros2.encode(&Message { stamp, frame_id: "a".into(), body })).unwrap();
                }
                std::thread::sleep(Duration::from_millis(30));
            }
        });
        let topics = ["/left/image_raw", "/right/image_raw"];
        let source = RosSource::open(topics, &router.surroundings(0), &SourceOptions::default());
        stop.store(true, Ordering::Relaxed);
        let back = next(&mut source.unwrap());
        assert_eq!(back.original.unwrap().images, original.images);
    });
}

#[test]
fn a_graph_of_a_thousand_publishers_delays_no_source() {
    let router = Router::start();
    let mut config = zenoh::Config::default();
    let set = [
        ("mode", "\"peer\"".to_owned()),
        ("connect/endpoints", format!("[\"{}\"]", router.endpoint)),
        ("listen/endpoints", "[\"tcp/127.0.0.1:0\"]".to_owned()),
        ("scouting/multicast/enabled", "false".to_owned()),
    ];
    for (key, value) in set {
        config.insert_json5(key, &value).unwrap();
    }
    // ROS 2 nodes are Zenoh peers: a session that connects to one receives its tokens before it queries them
    let peer = zenoh::open(config).wait().unwrap();
    let id = peer.zid();
    let token = |k: usize| {
        let topic = format!("%topic{k}/std_msgs::msg::dds_::String_/RIHS01_x/::,:,:,:,,");
        let token = format!("@ros2_lv/0/{id}/{}/{k}/MP/%/%/node{}/{topic}", k / 20, k / 20);
        peer.liveliness().declare_token(token).wait().unwrap()
    };
    let _tokens: Vec<_> = (0..1000).map(token).collect();
    let _stage = RosPipeline::new(&router, 0, RepeatedPair::grey());
    let topics = [topic::LEFT_RAW, topic::RIGHT_RAW];
    let mut source = RosSource::open(topics, &router.surroundings(0), &SourceOptions::default()).unwrap();
    next(&mut source);
    // a new node receives the whole graph
    let node = Node::open(&router.surroundings(0), "listener").unwrap();
    until("the graph is known", || (node.publishers() > 1000).then_some(()));
}

#[test]
fn late_subscribers_get_points_and_latched_messages() {
    let router = Router::start();
    let stage = RosPipeline::new(&router, 0, RepeatedPair::grey());
    until("there is a result", || stage.live.latest());
    stage.live.pause();
    let node = Node::open(&router.surroundings(0), "listener").unwrap();
    let received = Arc::<parking_lot::Mutex<Vec<Vec<u8>>>>::default();
    let taken = received.clone();
    let _incoming = node
        .subscribe(topic::POINTS, Kind::Points, Qos::SENSOR_DATA, move |bytes, _| taken.lock().push(bytes.to_vec()))
        .unwrap();
    let channel = Format::Ros2.channel_of(topic::POINTS, Kind::Points);
    let points: Vec<Point> = until("the points of the held pair are there", || {
        let output = stage.live.latest()?;
        let last = decode(&channel, received.lock().last()?).unwrap();
        let taken = output.job.frame.raw.capture_time;
        let age = last.stamp.duration_since(taken).unwrap_or_else(|earlier| earlier.duration());
        let Body::Points(points) = last.body else { panic!("{:?} are no points", last.body.kind()) };
        (age < Duration::from_micros(1)).then_some(points)
    });
    let output = stage.live.latest().unwrap();
    let map = output.map.as_ref().unwrap();
    let measured: Vec<[f32; 3]> = (0..SIZE.1)
        .flat_map(|y| (0..SIZE.0).map(move |x| (x, y)))
        .filter(|&(x, y)| map.values.at(x, y) != INVALID && map.reasons.at(x, y) == 0)
        .map(|(x, y)| (x, y, depth::depth_m(map.values.at(x, y), &GEOMETRY)))
        .filter(|(.., z)| z.is_finite() && *z > 0.0)
        .map(|(x, y, z)| GEOMETRY.point_m(x as f64, y as f64, f64::from(z)).map(|v| v as f32))
        .collect();
    assert!(measured.len() > 1000);
    assert_eq!(points.iter().map(|point| point.xyz_m).collect::<Vec<_>>(), measured);

    let received = Arc::<parking_lot::Mutex<Vec<Vec<u8>>>>::default();
    let taken = received.clone();
    let _incoming = node
        .subscribe(topic::COMPRESSED_DEPTH, Kind::Compressed, Qos::SENSOR_DATA, move |bytes, _| {
            taken.lock().push(bytes.to_vec());
        })
        .unwrap();
    let channel = Arc::new(Format::Ros2.channel_of(topic::COMPRESSED_DEPTH, Kind::Compressed));
    let depth_mm = until("the compressed depth of the held pair is there", || {
        let data = received.lock().last()?.clone();
        let packet = Packet { channel: channel.clone(), sequence: 0, log_time_ns: 0, publish_time_ns: 0, data };
        UnpackedResult::of(&[packet]).unwrap().depth_mm()
    });
    let expected = |(&value, &reasons): (&i16, &u8)| {
        if value == INVALID || reasons != 0 { 0 } else { depth::millimetres(depth::depth_m(value, &GEOMETRY)) }
    };
    let expected: Vec<u16> = map.values.pixels().iter().zip(map.reasons.pixels()).map(expected).collect();
    assert_eq!(depth_mm.pixels(), expected);

    let client = router.client();
    let late = client
        .session()
        .declare_subscriber("0/tf_static/tf2_msgs::msg::dds_::TFMessage_/*")
        .history(HistoryConfig::default().detect_late_publishers().max_samples(1))
        .subscriber_detection()
        .wait()
        .unwrap();
    let sample = until("the pose of the right camera is there", || late.try_recv().ok().flatten());
    let channel = Format::Ros2.channel_of(topic::TRANSFORMS, Kind::Transform);
    let message = decode(&channel, &sample.payload().to_bytes()).unwrap();
    assert!(matches!(message.body, Body::Transform { translation_m: [0.1, 0.0, 0.0], .. }), "{message:?}");
}

#[test]
fn publishers_have_distinct_ids_and_pack_subscribed_topics_only() {
    let router = Router::start();
    let stages = [0, 0, 9].map(|domain| RosPipeline::new(&router, domain, RepeatedPair::grey()));
    let client = router.client();
    let tokens = || -> BTreeSet<Vec<u8>> {
        let replies = client.session().liveliness().get("@ros2_lv/0/**").wait().unwrap();
        let keys = std::iter::from_fn(|| replies.recv().ok()).filter_map(|reply| reply.into_result().ok());
        let keys: Vec<_> = keys.map(|sample| sample.key_expr().to_string()).collect();
        let publishers = keys.iter().filter(|key| key.contains("/MP/%/%stereo/stereopsis/%stereo%depth%image_raw/"));
        publishers.map(|key| xxhash_rust::xxh3::xxh3_128(key.as_bytes()).to_le_bytes().to_vec()).collect()
    };
    let gids = until("both are in the graph", || Some(tokens()).filter(|tokens| tokens.len() == 2));
    let subscriber = client
        .session()
        .declare_subscriber("0/stereo/depth/image_raw/sensor_msgs::msg::dds_::Image_/*")
        .wait()
        .unwrap();
    let mut numbers = BTreeMap::<Vec<u8>, Vec<i64>>::new();
    until("both have sent ten", || {
        while let Ok(Some(sample)) = subscriber.try_recv() {
            let attachment = sample.attachment().unwrap().to_bytes().into_owned();
            assert_eq!((attachment.len(), attachment[16]), (33, 16));
            let sequence = i64::from_le_bytes(attachment[..8].try_into().unwrap());
            numbers.entry(attachment[17..].to_vec()).or_default().push(sequence);
        }
        (numbers.len() == 2 && numbers.values().all(|numbers| numbers.len() >= 10)).then_some(())
    });
    assert_eq!(numbers.keys().cloned().collect::<BTreeSet<_>>(), gids);
    for numbers in numbers.values() {
        assert!(numbers[0] == 1 && numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
    }
    // one topic has a subscription in domain 0, none in domain 9
    until("subscriptions are counted", || {
        let standing = stages.each_ref().map(|stage| stage.publisher.standing());
        let begins = ["ros2 1 topic ", "ros2 1 topic ", "ros2 0 topics "];
        standing.iter().zip(begins).all(|(words, begin)| words.starts_with(begin)).then_some(())
    });
    until("nothing is wanted there", || (!stages[2].publisher_wants()).then_some(()));
}

impl RosPipeline {
    fn publisher_wants(&self) -> bool {
        use stereopsis_frame::ResultTap as _;
        self.publisher.wants_results()
    }
}

#[test]
fn refuses_damaged_messages_and_reads_the_valid_ones() {
    let router = Router::start();
    let node = Node::open(&router.surroundings(0), "driver").unwrap();
    let publisher =
        |side: &str| node.publisher(&format!("/{side}/image"), Kind::Image, Qos::SENSOR_DATA, |_| ()).unwrap();
    let mut publishers = [publisher("left"), publisher("right")];
    let image =
        |value: u8| ImageBody { width: 8, height: 4, encoding: Encoding::Mono8, step: 8, data: vec![value; 32].into() };
    let message = |value| {
        let (stamp, frame_id) = (SystemTime::now(), "camera".to_owned());
        Format::Ros2.encode(&Message { stamp, frame_id, body: Body::Image(image(value)) })
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = fastrand::Rng::with_seed(5);
            while !stop.load(Ordering::Relaxed) {
                let stamped = [message(17), message(17)];
                for (publisher, good) in publishers.iter_mut().zip(stamped) {
                    let mut bad = good.clone();
                    match random.u8(0..3) {
                        0 => bad.truncate(random.usize(..bad.len())),
                        // after the stamp, where the sizes are
                        1 => (0..4).for_each(|_| {
                            let at = random.usize(12..48);
                            bad[at] = *random.choice(&[0, 1, 0x7F, 0xFF]).unwrap();
                        }),
                        _ => bad = (0..random.usize(..90)).map(|_| random.u8(..)).collect(),
                    }
                    let _ = publisher.put(bad);
                    let _ = publisher.put(good);
                }
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let topics = ["/left/image", "/right/image"];
        let source = RosSource::open(topics, &router.surroundings(0), &SourceOptions::default());
        let checked = source.map(|mut source| {
            let (mut good, mut refused) = (0, false);
            until("there are good pairs and refused messages", || {
                let pair = next(&mut source);
                good += usize::from(pair.left.luma == Luma::U8(Image::filled(8, 4, 17)));
                refused |= source.state().remarks.iter().any(|remark| remark.contains("from ROS 2 refused: "));
                (good > 20 && refused).then_some(())
            });
        });
        stop.store(true, Ordering::Relaxed);
        checked.unwrap();
    });
}

#[test]
fn refuses_images_larger_than_the_rig_by_their_headers() {
    let router = Router::start();
    let node = Node::open(&router.surroundings(0), "driver").unwrap();
    let publisher = |name: &str, kind| node.publisher(name, kind, Qos::SENSOR_DATA, |_| ()).unwrap();
    let mut pictures = ["left", "right"].map(|side| publisher(&format!("/{side}/image/compressed"), Kind::Compressed));
    let mut cameras = ["left", "right"].map(|side| publisher(&format!("/{side}/camera_info"), Kind::Camera));
    let compressed = |data: &[u8]| Body::Compressed { format: "png".into(), data: data.into() };
    let described = AtomicBool::new(false);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let message = |body| Message { stamp: SystemTime::now(), frame_id: "a".into(), body };
                if described.load(Ordering::Relaxed) {
                    let [camera, _] = CameraInfo::of_rectified(&GEOMETRY, (8, 4));
                    let camera = Format::Ros2.encode(&message(Body::Camera(Box::new(camera))));
                    for it in &mut cameras {
                        it.put(camera.clone()).unwrap();
                    }
                }
                // two headers of huge images, and two small images, of which the first received sets the rig's size
                for bytes in [
                    &b"P5 16384 16384 255\n7"[..],
                    b"P5 2 2 255\n7777",
                    b"P5 16384 4097 255\n7",
                    b"P5 4 2 255\n77777777",
                ] {
                    let picture = Format::Ros2.encode(&message(compressed(bytes)));
                    for it in &mut pictures {
                        it.put(picture.clone()).unwrap();
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        });
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let topics = ["/left/image/compressed", "/right/image/compressed"];
            let mut source = RosSource::open(topics, &router.surroundings(0), &SourceOptions::default()).unwrap();
            let first = next(&mut source).left.size();
            let other = if first == (4, 2) { "2x2" } else { "4x2" };
            let refused = |source: &mut RosSource, why: &str| {
                let mut seen = BTreeSet::new();
                until(why, || {
                    if let Next::Pair(pair) = source.next(Duration::from_millis(1)).unwrap() {
                        seen.insert(pair.left.size());
                    }
                    source.state().remarks.iter().any(|remark| remark.contains(why)).then_some(())
                });
                seen
            };
            let (width, height) = first;
            for size in ["16384x16384", "16384x4097", other] {
                let why = format!("{size} px, and the images of this rig have {width}x{height}");
                assert!(refused(&mut source, &why).is_subset(&BTreeSet::from([first])));
            }
            described.store(true, Ordering::Relaxed);
            until("smaller images come too", || (next(&mut source).left.size() != first).then_some(()));
            refused(&mut source, "16384x16384 px, and by its camera_info the camera has 8x4");
        }));
        stop.store(true, Ordering::Relaxed);
        checked.unwrap();
    });
}

#[test]
fn names_the_missing_router() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nowhere = surroundings(&format!("tcp/127.0.0.1:{port}").parse().unwrap(), 0);
    let publisher = Publication::<Ros2>::start(&nowhere).unwrap();
    let words = publisher.invitation();
    assert!(
        words.contains("no router answers at tcp/127.0.0.1:") && words.contains("start router or `ros2 run"),
        "{words}"
    );
    assert_eq!(publisher.standing(), "ros2 no router");
    let opened = RosSource::open(["/left/image", "/right/image"], &nowhere, &SourceOptions::default());
    let why = opened.err().unwrap().to_string();
    assert!(why.contains("cannot read /left/image and /right/image") && why.contains("rmw_zenohd"), "{why}");
}
