//! Tests of image sizes: a head describes every change of its rig's size, and receivers refuse images of other sizes.

use super::cameras::show_with_other_clock;
use super::{
    FedHead, LIMIT, RunningEngine, SIZE, Viewer, client, fed_about, geometry, next, next_of, options, params, present,
    router, until,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_frame::decode_camera::{Layout, PixelFormat};
use stereopsis_frame::{
    EncodedImage, MaxPixels, Next, Orientation, Original, PairSource, Pixels, RawPair, RawTap, Side, SourceInfo,
    SourceOptions, StereoLayout,
};
use stereopsis_network::fixture::bomb;
use stereopsis_network::key::{Member, RigTopic};
use stereopsis_network::{Head, PairedHeads, RigSource, wire};
use stereopsis_recording::topic;
use zenoh::Wait as _;

/// Returns a pair of grey images of this size.
fn grey((width, height): (usize, usize)) -> RawPair {
    let view = |add: usize| {
        let image = Image::from_fn(width, height, |x, y| (7 * x + 13 * y + add) as u8);
        Picture { luma: Luma::U8(image), rgb: None }
    };
    RawPair::new("grey", 0, SystemTime::now(), view(0), view(40))
}

/// Returns the pair of a camera that sends both images side by side in one JPEG, exchanged and upside down.
fn side_by_side((width, height): (usize, usize)) -> RawPair {
    let picture =
        image::GrayImage::from_fn(2 * width as u32, height as u32, |x, y| image::Luma([(3 * x + 5 * y) as u8]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
    let layout = Layout::tight(PixelFormat::Mjpeg, (2 * width, height));
    let images = vec![EncodedImage { layout, bytes: bytes.into_inner().into() }];
    let layout = StereoLayout { side_by_side: true, swapped: true, orientation: [Orientation::HalfTurn; 2] };
    let original = Original { images, layout };
    let (left, right) = original.pictures(Pixels::Color).unwrap();
    RawPair { original: Some(original), ..RawPair::new("beside", 0, SystemTime::now(), left, right) }
}

/// Passes a pair to a head repeatedly until the source returns it.
fn pass(head: &Head, sent: &RawPair, source: &mut impl PairSource) {
    let end = Instant::now() + LIMIT;
    let info = SourceInfo { is_camera: true, ..SourceInfo::default() };
    while Instant::now() < end {
        head.pair(&Arc::new(RawPair { capture_time: SystemTime::now(), ..sent.clone() }), Some(geometry()), &info);
        if let Next::Pair(pair) = source.next(Duration::from_millis(20)).unwrap()
            && (&pair.left, &pair.right) == (&sent.left, &sent.right)
        {
            return;
        }
    }
    panic!("no such pair: {:?}", source.state());
}

#[test]
fn a_head_describes_every_change_of_its_image_size() {
    let (router, endpoint) = router(None);
    let fed = FedHead::start(&router, "pi");
    let head = Arc::clone(&fed.head);
    let mut source = RigSource::on(client(&endpoint), "pi", &options()).unwrap();
    drop(fed); // the head stays
    for sent in [grey((40, 30)), side_by_side((48, 16)), grey((4, 8)), side_by_side(SIZE), grey(SIZE)] {
        let size = sent.left.size();
        pass(&head, &sent, &mut source);
        let about = source.view().description().about;
        assert_eq!((about.width, about.height), size);
        assert_eq!((source.info().width, source.info().height), size);
    }
}

#[test]
fn refuses_images_of_another_size_and_continues() {
    let (router, endpoint) = router(None);
    let _fed = FedHead::start(&router, "pi");
    let mut source = RigSource::on(client(&endpoint), "pi", &options()).unwrap();
    let _serving = RunningEngine::start(client(&endpoint), "desk");
    let hostile = client(&endpoint);
    let received = hostile.session().declare_subscriber(RigTopic::Pair.rig("pi")).wait().unwrap();
    let head = received.recv().unwrap().attachment().unwrap().to_bytes().into_owned();
    drop(received);
    let view = source.view();
    for (pictures, own) in [(&[topic::LEFT_RAW, topic::RIGHT_RAW][..], "66x48"), (&[topic::BOTH_UNSPLIT], "132x48")] {
        let why = format!("16384x16384 px, and the images of this rig have {own}");
        until("it is refused by its size", || {
            hostile.session().put(RigTopic::Pair.rig("pi"), bomb(pictures)).attachment(head.clone()).wait().unwrap();
            assert_eq!(next(&mut source).left.size(), SIZE);
            view.counts().refusal.is_some_and(|refusal| refusal.contains(&why))
        });
        assert!(source.state().remarks.iter().any(|remark| remark.contains("were refused")));
    }
    // the engine continues too
    let mut viewer = Viewer::new(source);
    until("there is a result", || viewer.next().1.is_some());
}

#[test]
fn paired_heads_refuse_images_of_another_size() {
    let (router, endpoint) = router(None);
    let alone = |at: usize| Head::start(&router, ["left", "right"][at], Some(Side::ALL[at]), fed_about(), &params());
    let heads = [alone(0).unwrap(), alone(1).unwrap()];
    let hostile = client(&endpoint);
    let received = hostile.session().declare_subscriber(RigTopic::Pair.rig("left")).wait().unwrap();
    let (stop, is_left_silent) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let info = SourceInfo { is_camera: true, ..SourceInfo::default() };
            while !stop.load(Ordering::Acquire) {
                let pair = Arc::new(RawPair { capture_time: SystemTime::now(), ..grey(SIZE) });
                let given = &heads[usize::from(is_left_silent.load(Ordering::Acquire))..];
                for head in given {
                    head.pair(&pair, None, &info);
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let mut both = PairedHeads::on(client(&endpoint), ["left", "right"], &options()).unwrap();
        assert_eq!(next_of(&mut both).left.size(), SIZE);
        let head = wire::Head::of(&received.recv().unwrap().attachment().unwrap().to_bytes()).unwrap();
        is_left_silent.store(true, Ordering::Release);
        until("it is refused by its size", || {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
            let head = wire::Head { taken_ns: now, ..head }.to_bytes().to_vec();
            hostile
                .session()
                .put(RigTopic::Pair.rig("left"), bomb(&[topic::LEFT_RAW]))
                .attachment(head)
                .wait()
                .unwrap();
            both.next(Duration::from_millis(10)).unwrap();
            let why = "16384x16384 px, and the images of this rig have 66x48";
            both.state().remarks.iter().any(|remark| remark.contains(why))
        });
        stop.store(true, Ordering::Release);
    });
}

#[test]
fn refuses_a_rig_above_max_pixels() {
    let (router, endpoint) = router(None);
    let _fed = FedHead::start(&router, "pi");
    let small = SourceOptions { max_pixels: MaxPixels((SIZE.0 * SIZE.1) as u64 - 1), ..options() };
    let refusal = RigSource::on(client(&endpoint), "pi", &small).err().unwrap().to_string();
    assert!(refusal.contains("rig 'pi': 66x48 px are more than the 3167 of max-pixels"), "{refusal}");
}

#[test]
fn asks_a_head_again_until_it_answers() {
    let (router, endpoint) = router(None);
    let _fed = FedHead::start(&router, "pi");
    let other = client(&endpoint);
    let late = Member { name: "late".into(), ..present(&router).head("pi").unwrap().clone() };
    let _token = other.session().liveliness().declare_token(late.token()).wait().unwrap();
    let answering = super::named("answering", {
        let other = other.clone();
        move || {
            std::thread::sleep(Duration::from_millis(500));
            show_with_other_clock(&other, "pi", "late", Duration::ZERO);
        }
    });
    let source = RigSource::on(client(&endpoint), "late", &options());
    answering.join().unwrap();
    assert_eq!(source.map(|mut source| next(&mut source).left.size()).map_err(|err| err.to_string()), Ok(SIZE));
}
