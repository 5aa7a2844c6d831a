//! Small valid inputs for `fuzz/seeds`.

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ExtendedColorType, ImageEncoder as _, ImageFormat};
use mcap::{Compression, WriteOptions};
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_attack::{journal_header, message_channels};
use stereopsis_base::image::Image;
use stereopsis_calibration::{LoadOptions, Output, load, write};
use stereopsis_frame::decode_camera::PixelFormat;
use stereopsis_network::fixture::bomb;
use stereopsis_network::wire::{Content, Head};
use stereopsis_recording::fixture::{self, Recorder, taken};
use stereopsis_recording::message::{Body, CameraBody, DisparityBody, Encoding, ImageBody, Message, Mosaic};
use stereopsis_recording::{Channel, Format, PairNote, ResultNote, topic};
use stereopsis_search::{Journal, Run, Trial};
use stereopsis_stereo::{Preset, StereoParams};

const SIZE: (usize, usize) = (8, 6);

pub(crate) type Seed = (String, Vec<u8>);

/// Generates the seeds of a target, except foreign formats, which are written by hand.
pub(crate) fn of(target: &str) -> Vec<Seed> {
    match target {
        "archive" => calibration(Output::RosArchive, 0),
        "camera" => frames(),
        "journal" => journals(),
        "message" => messages(),
        "network" => network(),
        "opencv_xml" => calibration(Output::OpenCvXml, 1),
        "opencv_yaml" => calibration(Output::OpenCvYaml, 0),
        "parameters" => parameters(),
        "parts" => parts(),
        "picture" => pictures(),
        "pipe" => recordings().into_iter().map(|(name, bytes)| (name, [vec![99], bytes].concat())).collect(),
        "recording" => recordings(),
        "ros" => {
            let files: Vec<_> = calibration(Output::RosFiles, 0).into_iter().map(|(_, bytes)| bytes).collect();
            vec![("two-cameras".to_owned(), files.join(&0))]
        }
        "settings" => settings(),
        "views" => views(),
        "toml" => calibration(Output::Toml, 0)
            .into_iter()
            .map(|(name, bytes)| {
                let text = String::from_utf8(bytes).unwrap();
                (name, text.replace("format = \"stereopsis-rig-1\"\n", "").into_bytes())
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns a pair of a few bytes with a claimed size of 268 megapixels.
fn network() -> Vec<Seed> {
    let head = Head { content: Content::Pair, about: 0, boot: 1, sequence: 2, taken_ns: 3, sent_ns: 4 };
    let pair = bomb(&[topic::LEFT_RAW, topic::RIGHT_RAW]);
    vec![("claims-much".to_owned(), [&head.to_bytes()[..], &pair.to_bytes()].concat())]
}

/// Returns the example's rig without its first lines.
fn calibration(output: Output, lines: usize) -> Vec<Seed> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../calibration/example-rig.toml");
    let rig = load(&[example], &LoadOptions::default()).unwrap();
    let files = write(&rig, output, 0.0).unwrap();
    let without =
        |bytes: Vec<u8>| bytes.split_inclusive(|&byte| byte == b'\n').skip(lines).collect::<Vec<_>>().concat();
    let name = |path: &str| {
        Path::new(path).file_name().map_or("example-rig".into(), |name| name.to_string_lossy().into_owned())
    };
    files.into_iter().map(|(path, bytes)| (name(path), if lines > 0 { without(bytes) } else { bytes })).collect()
}

/// Returns journals with a start setting and some presets, truncated, and without trials.
fn journals() -> Vec<Seed> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let (mut journal, _) = Journal::open(&path, &journal_header()).unwrap();
    let empty = std::fs::read(&path).unwrap();
    let mut all = vec![StereoParams::default(); 4];
    for (params, preset) in all[1..].iter_mut().zip(Preset::ALL) {
        preset.apply(params);
        params.fill = StereoParams::default().fill;
    }
    for (k, params) in all.into_iter().enumerate() {
        let loss = Some(0.5 - 0.1 * k as f64);
        let run = Run { loss, measured_percent: 90.0, time_ms: 2.0 + k as f64, pixels: 48 };
        let trial = Trial::of(Arc::new(params), vec![run; 2]);
        journal.keep(&trial, Duration::from_secs(k as u64)).unwrap();
    }
    let whole = std::fs::read(&path).unwrap();
    let cut = whole[..whole.len() - 30].to_vec();
    let named = |name: &str, bytes| (format!("{name}.jsonl"), bytes);
    vec![named("whole", whole), named("cut", cut), named("empty", empty)]
}

fn texture(x: usize, y: usize) -> u8 {
    (x * 37 + y * 101 + x * y * 7) as u8
}

fn grey() -> DynamicImage {
    image::GrayImage::from_fn(SIZE.0 as u32, SIZE.1 as u32, |x, y| image::Luma([texture(x as usize, y as usize)]))
        .into()
}

fn colour() -> DynamicImage {
    let pixel = |x: u32, y: u32| {
        let v = texture(x as usize, y as usize);
        image::Rgb([v, 255 - v, v / 2])
    };
    image::RgbImage::from_fn(SIZE.0 as u32, SIZE.1 as u32, pixel).into()
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn pictures() -> Vec<Seed> {
    let kinds = [
        ("grey8", grey()),
        ("rgb8", colour()),
        ("grey16", DynamicImage::ImageLuma16(grey().into_luma16())),
        ("rgb16", DynamicImage::ImageRgb16(colour().into_rgb16())),
        ("greya8", DynamicImage::ImageLumaA8(grey().into_luma_alpha8())),
    ];
    let mut seeds = Vec::new();
    for (name, picture) in &kinds {
        for (ending, format) in [
            ("png", ImageFormat::Png),
            ("tif", ImageFormat::Tiff),
            ("pnm", ImageFormat::Pnm),
            ("jpg", ImageFormat::Jpeg),
        ] {
            let can = match format {
                ImageFormat::Jpeg => name.ends_with('8') && *name != "greya8",
                ImageFormat::Pnm | ImageFormat::Tiff => *name != "greya8",
                _ => true,
            };
            if can {
                seeds.push((format!("{name}.{ending}"), encoded(picture, format)));
            }
        }
    }
    seeds.push(("ascii.pgm".to_owned(), b"P2\n# two\n2 2\n255\n0 7\n128 255\n".to_vec()));
    seeds
}

/// Returns images of the common size, and one of another size.
fn views() -> Vec<Seed> {
    let larger = image::GrayImage::from_pixel(32, 24, image::Luma([90])).into();
    let of_size = |(name, _): &Seed| ["grey8.png", "rgb8.jpg"].contains(&name.as_str());
    pictures()
        .into_iter()
        .filter(of_size)
        .chain([("larger.png".to_owned(), encoded(&larger, ImageFormat::Png))])
        .collect()
}

fn jpeg(picture: &DynamicImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    let kind = if picture.color().has_color() { ExtendedColorType::Rgb8 } else { ExtendedColorType::L8 };
    let encoder = JpegEncoder::new_with_quality(&mut bytes, 80);
    encoder.write_image(picture.as_bytes(), SIZE.0 as u32, SIZE.1 as u32, kind).unwrap();
    bytes
}

fn frames() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (which, format) in PixelFormat::ALL.iter().enumerate() {
        let (width, height) = SIZE;
        let plain = |stride: usize, rows: usize| (0..stride * rows).map(|i| texture(i % stride, i / stride)).collect();
        let shots: Vec<(&str, usize, Vec<u8>)> = match format {
            PixelFormat::Yuyv | PixelFormat::Y16 => {
                vec![("tight", 2 * width, plain(2 * width, height)), ("gaps", 20, plain(20, height))]
            }
            PixelFormat::Grey => vec![("tight", width, plain(width, height)), ("gaps", 12, plain(12, height))],
            PixelFormat::Nv12 => vec![("tight", width, plain(width, height * 3 / 2))],
            PixelFormat::Mjpeg => vec![("grey", 0, jpeg(&grey())), ("colour", 0, jpeg(&colour()))],
        };
        for (name, stride, bytes) in shots {
            let numbers = [width, height, stride].map(|number| (number as u16).to_le_bytes());
            seeds.push((format!("{format}-{name}"), [&[which as u8], numbers.as_flattened(), &bytes].concat()));
        }
    }
    seeds
}

fn image(encoding: Encoding, bytes_per_pixel: usize, rows: usize) -> Body {
    let step = bytes_per_pixel * SIZE.0;
    let data: Vec<u8> = (0..step * rows).map(|i| texture(i % step, i / step)).collect();
    Body::Image(ImageBody {
        width: SIZE.0 as u32,
        height: SIZE.1 as u32,
        encoding,
        step: step as u32,
        data: data.into(),
    })
}

/// Returns a body for each packing of pixels, and all other kinds.
fn bodies() -> Vec<(&'static str, Body)> {
    let rows = SIZE.1;
    vec![
        ("mono8", image(Encoding::Mono8, 1, rows)),
        ("mono16", image(Encoding::Mono16, 2, rows)),
        ("rgb8", image(Encoding::Rgb8, 3, rows)),
        ("bgra8", image(Encoding::Bgra8, 4, rows)),
        ("bayer8", image(Encoding::Bayer8(Mosaic::Grbg), 1, rows)),
        ("bayer16", image(Encoding::Bayer16(Mosaic::Rggb), 2, rows)),
        ("yuyv", image(Encoding::Yuyv, 2, rows)),
        ("nv12", image(Encoding::Nv12, 1, rows * 3 / 2)),
        ("depth", image(Encoding::DepthMm, 2, rows)),
        ("jpeg", Body::Compressed { format: "jpeg".into(), data: jpeg(&colour()).into() }),
        ("png", Body::Compressed { format: "png".into(), data: encoded(&grey(), ImageFormat::Png).into() }),
        ("camera", Body::Camera(Box::new(camera()))),
        ("disparity", disparity()),
        (
            "transform",
            Body::Transform {
                child_frame_id: "right".into(),
                translation_m: [0.1, 0.0, 0.0],
                rotation: [0.0, 0.0, 0.0, 1.0],
            },
        ),
        ("pair", Body::Json(serde_json::to_value(note(0)).unwrap())),
        ("result", Body::Json(serde_json::to_value(result(0)).unwrap())),
        ("about", Body::Json(serde_json::to_value(fixture::about()).unwrap())),
    ]
}

fn camera() -> CameraBody {
    CameraBody {
        width: SIZE.0 as u32,
        height: SIZE.1 as u32,
        distortion_model: "plumb_bob".into(),
        d: vec![0.1, 0.0, 0.0, 0.0, 0.0],
        k: [9.0, 0.0, 4.0, 0.0, 9.0, 3.0, 0.0, 0.0, 1.0],
        r: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p: [9.0, 0.0, 4.0, 0.0, 0.0, 9.0, 3.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        ..CameraBody::default()
    }
}

fn disparity() -> Body {
    Body::Disparity(DisparityBody {
        disparity_px: Image::from_fn(SIZE.0, SIZE.1, |x, y| f32::from(texture(x, y)) / 16.0),
        focal_px: 9.0,
        baseline_m: 0.1,
        min_disparity: 0.0,
        max_disparity: 15.0,
        delta_d: 0.0625,
    })
}

fn note(k: u64) -> PairNote {
    PairNote { sequence: fixture::FIRST + k, skew_s: 0.001, name: format!("camera-{k:06}"), bits: 8, cameras: None }
}

fn result(k: u64) -> ResultNote {
    ResultNote {
        sequence: fixture::FIRST + k,
        engine: "cpu".into(),
        compute_ms: 1.5,
        measured: 0.5,
        doffs_px: 0.0,
        beyond: 0.0,
    }
}

/// Returns a message of each kind in each format after the number of its channel.
fn messages() -> Vec<Seed> {
    let channels = message_channels();
    let mut seeds = Vec::new();
    for (name, body) in bodies() {
        for &format in Format::ALL {
            let message = Message { stamp: taken(0), frame_id: "left".into(), body: body.clone() };
            let schema = format.channel("", &body).schema;
            let topic = match name {
                "depth" => topic::DEPTH,
                "result" => topic::RESULTS,
                "about" => topic::ABOUT,
                _ => "",
            };
            let fits = |on_topic: bool| {
                channels.iter().position(|channel| channel.schema == schema && (!on_topic || channel.topic == topic))
            };
            let Some(which) = fits(true).or_else(|| fits(false)) else { continue };
            seeds.push((format!("{name}.{format}"), [vec![which as u8], format.encode(&message)].concat()));
        }
    }
    let is_ros_1 = |channel: &Channel| channel.message_encoding == "ros1";
    seeds.extend(channels.iter().position(is_ros_1).map(|which| ("mono8.ros1".to_owned(), of_ros_1(which as u8))));
    let is_depthai = |channel: &Channel| channel.topic == topic::LEFT_RAW && channel.message_encoding == "protobuf";
    if let Some(which) = channels.iter().rposition(is_depthai) {
        // GRAY8 of 8x6 px with its time
        let head = [10, 4, 8, 200, 19, 16, 34, 8, 8, 30, 16, 8, 24, 6, 32, 8, 90, 48];
        let pixels = (0..SIZE.0 * SIZE.1).map(|i| texture(i % SIZE.0, i / SIZE.0)).collect();
        seeds.push(("gray8.depthai".to_owned(), [vec![which as u8], head.to_vec(), pixels].concat()));
    }
    seeds
}

/// Returns an image in ROS 1's format after the number of its channel.
fn of_ros_1(which: u8) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let (width, height) = (SIZE.0 as u32, SIZE.1 as u32);
    let head =
        [vec![which], words(&[1, 1_700_000_000, 0]), text("left"), words(&[height, width]), text("mono8"), vec![0]];
    let pixels = (0..SIZE.0 * SIZE.1).map(|i| texture(i % SIZE.0, i / SIZE.0)).collect();
    [head.concat(), words(&[width, width * height]), pixels].concat()
}

fn recordings() -> Vec<Seed> {
    let plain = || WriteOptions::new().compression(None);
    let bare = || plain().calculate_chunk_crcs(false).emit_summary_records(false).emit_message_indexes(false);
    let mut seeds = Vec::new();
    for (name, format, options) in [
        ("lz4", Format::Ros2, WriteOptions::new().compression(Some(Compression::Lz4))),
        ("zstd", Format::Foxglove, WriteOptions::new().compression(Some(Compression::Zstd))),
        ("plain", Format::Ros2, plain().calculate_chunk_crcs(false)),
        ("bare", Format::Foxglove, bare()),
        ("no-chunks", Format::Ros2, WriteOptions::new().use_chunks(false)),
    ] {
        seeds.push((format!("ours-{name}.mcap"), ours(format, options)));
    }
    seeds.push(("packed.mcap.zst".to_owned(), zstd::encode_all(&ours(Format::Ros2, bare())[..], 1).unwrap()));
    seeds.push(("others.db3".to_owned(), base()));
    seeds.push(("frames.mcap".to_owned(), frames_of_cameras(bare())));
    for (name, body) in bodies().into_iter().filter(|(name, _)| ["jpeg", "rgb8", "nv12"].contains(name)) {
        seeds.push((format!("others-{name}.mcap"), others(&body, bare())));
    }
    seeds
}

/// Returns a bag of ROS 2 in SQLite with two pairs.
fn base() -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let base = rusqlite::Connection::open(file.path()).unwrap();
    base.execute_batch(
        "PRAGMA page_size = 512; CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);
         CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, encoding TEXT, encoded_message_definition TEXT);
         CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);
         INSERT INTO topics VALUES (1, '/left/image', 'sensor_msgs/msg/Image', 'cdr'), (2, '/right/image', 'sensor_msgs/Image', 'cdr');
         INSERT INTO message_definitions VALUES (1, 'sensor_msgs/msg/Image', 'ros2msg', 'uint32 height');",
    )
    .unwrap();
    for (k, topic) in [(0, 1), (0, 2), (1, 1), (1, 2)] {
        let message = Message { stamp: taken(k), frame_id: "left".into(), body: image(Encoding::Mono8, 1, SIZE.1) };
        let values = (topic, 1_700_000_000_000_000_000 + k as i64, Format::Ros2.encode(&message));
        base.execute("INSERT INTO messages (topic_id, timestamp, data) VALUES (?1, ?2, ?3)", values).unwrap();
    }
    base.close().unwrap();
    std::fs::read(file.path()).unwrap()
}

/// Returns a recording of two cameras whose baseline is in their frames of reference.
fn frames_of_cameras(options: WriteOptions) -> Vec<u8> {
    let mut recorder = Recorder::new(Format::Ros2, options);
    for side in 0..2 {
        let (place, frame) = ([1, 2].map(|k| format!("/infra{k}"))[side].clone(), ["infra1", "infra2"][side]);
        let at = (0, taken(0));
        let (child_frame_id, rotation) = (frame.to_owned(), [0.0, 0.0, 0.0, 1.0]);
        let pose = Body::Transform { child_frame_id, translation_m: [0.05 * side as f64, 0.0, 0.0], rotation };
        recorder.write_in("body", topic::TRANSFORMS, at, taken(0), pose);
        let mut camera = camera();
        [camera.p[3], camera.p[7]] = [0.0; 2];
        recorder.write_in(frame, &format!("{place}/camera_info"), at, taken(0), Body::Camera(Box::new(camera)));
        recorder.write_in(frame, &format!("{place}/image"), at, taken(0), image(Encoding::Mono8, 1, SIZE.1));
    }
    recorder.finish()
}

/// Returns recordings of two files: whole, with a second file of another recording, and with one that is missing.
fn parts() -> Vec<Seed> {
    let file = |pair: u64, note: Option<(u32, bool)>| {
        let mut recorder = Recorder::new(Format::Foxglove, WriteOptions::new().compression(None));
        if let Some((number, goes_on)) = note {
            recorder.part(number, goes_on);
        }
        pair_of(&mut recorder, pair);
        recorder.finish()
    };
    let joined = |first: Vec<u8>, second: Vec<u8>| [&(first.len() as u32).to_le_bytes()[..], &first, &second].concat();
    vec![
        ("whole".to_owned(), joined(file(0, Some((1, true))), file(1, Some((2, false))))),
        ("another-recording".to_owned(), joined(file(0, Some((1, true))), file(1, None))),
        ("goes-on".to_owned(), joined(file(0, Some((1, true))), Vec::new())),
    ]
}

/// Returns a recording of two pairs with their results.
fn ours(format: Format, options: WriteOptions) -> Vec<u8> {
    let mut recorder = Recorder::new(format, options);
    (0..2).for_each(|k| pair_of(&mut recorder, k));
    recorder.finish()
}

/// Writes a pair with its results, the first one behind the description of the recording.
fn pair_of(recorder: &mut Recorder, k: u64) {
    if k == 0 {
        let about = Body::Json(serde_json::to_value(fixture::about()).unwrap());
        recorder.write(topic::ABOUT, (0, taken(0)), taken(0), about);
    }
    let at = ((fixture::FIRST + k) as u32, taken(k) + Duration::from_millis(7));
    recorder.write(topic::PAIRS, at, taken(k), Body::Json(serde_json::to_value(note(k)).unwrap()));
    recorder.write(topic::LEFT_RAW, at, taken(k), image(Encoding::Mono8, 1, SIZE.1));
    recorder.write(topic::RIGHT_RAW, at, taken(k), image(Encoding::Mono8, 1, SIZE.1));
    let at = (at.0, at.1 + Duration::from_millis(3));
    recorder.write(topic::RESULTS, at, taken(k), Body::Json(serde_json::to_value(result(k)).unwrap()));
    recorder.write(topic::DEPTH, at, taken(k), image(Encoding::DepthMm, 2, SIZE.1));
    recorder.write(topic::DISPARITY, at, taken(k), disparity());
}

/// Returns a recording of images on topics with other names.
fn others(body: &Body, options: WriteOptions) -> Vec<u8> {
    let mut recorder = Recorder::new(Format::Ros2, options);
    for k in 0..2 {
        for topic in ["/stereo/left/image", "/stereo/right/image"] {
            recorder.write(topic, (k as u32, taken(k)), taken(k), body.clone());
        }
    }
    recorder.finish()
}

fn parameters() -> Vec<Seed> {
    let mut seeds: Vec<Seed> = Vec::new();
    for preset in Preset::ALL {
        let mut params = StereoParams::default();
        preset.apply(&mut params);
        let lines: Vec<String> = params.words().map(|(name, value)| format!("{name} {value}\n")).collect();
        seeds.push((preset.to_string(), lines.concat().into_bytes()));
    }
    seeds
}

fn settings() -> Vec<Seed> {
    let lines: Vec<String> =
        StereoParams::default().words().map(|(name, value)| format!("{name} = \"{value}\"\n")).collect();
    let others = "preset = \"banz2011\"\np1 = 9\nnear-m = 0.5\nengine = \"cpu\"\nthreads = 2\nadapter = \"0\"\nsubpixel = true\n";
    vec![("all.toml".to_owned(), lines.concat().into_bytes()), ("others.toml".to_owned(), others.into())]
}
