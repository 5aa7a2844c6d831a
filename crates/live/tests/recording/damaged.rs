//! Recordings and images damaged at random, behind their checksums: nothing panics, hangs or takes all memory. `STEREOPSIS_ROUNDS` sets
//! the number of rounds.

use fastrand::Rng;
use mcap::{Compression, WriteOptions};
use std::io::Cursor;
use std::time::Duration;
use stereopsis_base::geometry::Geometry;
use stereopsis_calibration::CameraInfo;
use stereopsis_frame::{MaxPixels, Next, PairSource, SourceOptions, Speed};
use stereopsis_images::decode::decode_picture;
use stereopsis_recording::fixture::{Recorder, SIZE, about, file, image, picture, taken};
use stereopsis_recording::message::Body;
use stereopsis_recording::playback::{PipeSource, RecordingSource};
use stereopsis_recording::{Format, PairNote, Recording, topic};

const PAIRS: u64 = 3;

fn rounds() -> usize {
    std::env::var("STEREOPSIS_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(12)
}

/// Returns recordings of each format: ours and those of other programs with cameras, in memory and as files of images, with chunks or not.
fn recordings() -> Vec<Vec<u8>> {
    let geometry = Geometry::new(50.0, 0.1, 0.0, [19.5, 14.5]);
    let cameras = CameraInfo::of_rectified(&geometry, SIZE);
    let plain = || WriteOptions::new().calculate_chunk_crcs(false).compression(None);
    let options = [plain(), plain().use_chunks(false), plain().compression(Some(Compression::Zstd))];
    let mut all = Vec::new();
    for &format in Format::ALL {
        for options in &options {
            let mut ours = Recorder::new(format, options.clone());
            let json = |value| Body::Json(value);
            ours.write(topic::ABOUT, (0, taken(0)), taken(0), json(serde_json::to_value(about()).unwrap()));
            let mut others = Recorder::new(format, options.clone());
            for k in 0..PAIRS {
                let at = (k as u32, taken(k));
                let note = PairNote { sequence: k, skew_s: 0.0, name: format!("a-{k:06}"), bits: 8, cameras: None };
                ours.write(topic::PAIRS, at, taken(k), json(serde_json::to_value(note).unwrap()));
                for (eye, side) in ["left", "right"].into_iter().enumerate() {
                    let pixels = picture(k, eye);
                    let body = image(SIZE.0, SIZE.1, pixels.pixels());
                    ours.write([topic::LEFT_RAW, topic::RIGHT_RAW][eye], at, taken(k), body);
                    let camera = Body::Camera(Box::new(cameras[eye].clone()));
                    others.write(&format!("/{side}/camera_info"), at, taken(k), camera);
                    let (kind, name) =
                        [(image::ImageFormat::Jpeg, "jpeg"), (image::ImageFormat::Png, "png")][k as usize % 2];
                    let grey = image::GrayImage::from_raw(SIZE.0 as u32, SIZE.1 as u32, pixels.into_pixels()).unwrap();
                    let mut bytes = Cursor::new(Vec::new());
                    grey.write_to(&mut bytes, kind).unwrap();
                    let body = Body::Compressed { format: name.into(), data: bytes.into_inner().into() };
                    others.write(&format!("/{side}/image/compressed"), at, taken(k), body);
                }
            }
            all.extend([ours.finish(), others.finish()]);
        }
    }
    all
}

fn damage(bytes: &mut Vec<u8>, random: &mut Rng) {
    for _ in 0..random.usize(1..6) {
        if bytes.len() < 16 {
            return;
        }
        let at = random.usize(..bytes.len() - 8);
        let number = *random.choice(&[0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX]).unwrap();
        match random.u8(..8) {
            0 => bytes[at] ^= 1 << random.u8(..8),
            1 => bytes[at] = random.u8(..),
            2 => bytes[at..at + 8].copy_from_slice(&number.to_le_bytes()),
            3 => bytes[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes()),
            4 => bytes[at..at + 4].copy_from_slice(&(number as u32).to_be_bytes()),
            5 if random.u8(..4) == 0 => bytes.truncate(at),
            6 => {
                let end = (at + random.usize(..300)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + random.usize(..300)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = random.usize(..bytes.len());
                bytes.splice(to..to, copy);
            }
        }
    }
}

/// Plays a source to its end, which may be an error. A thread that panics would be one of ours.
fn play(source: &mut dyn PairSource) {
    for _ in 0..1000 {
        match source.next(Duration::from_secs(5)) {
            Ok(Next::Pair(pair)) => assert!(pair.left.size() == pair.right.size()),
            Ok(Next::Waiting) => panic!("nothing comes any more"),
            Ok(Next::End) => return,
            Err(err) => {
                assert!(!err.to_string().contains("has died"), "{err}");
                return;
            }
        }
    }
    panic!("it does not end");
}

#[test]
fn damaged_recordings_are_played_as_far_as_possible_or_refused() {
    let options = SourceOptions { speed: Speed::Max, ..SourceOptions::default() };
    let mut random = Rng::with_seed(rounds() as u64);
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..rounds() {
        for mut bytes in recordings() {
            damage(&mut bytes, &mut random);
            let written = file(&bytes);
            match RecordingSource::open(written.path(), &options) {
                Ok(mut source) => {
                    opened += 1;
                    play(&mut source);
                    let mut recording = Recording::open(written.path()).unwrap();
                    (0..recording.pairs().len() as u64).for_each(|k| drop(recording.packets_of_result(k)));
                }
                Err(err) => {
                    refused += 1;
                    assert!(err.to_string().len() > 30, "{err}");
                }
            }
            if let Ok(mut source) = PipeSource::open(Cursor::new(bytes), &options) {
                play(&mut source);
            }
        }
    }
    assert!(opened > rounds() && refused > rounds() / 4, "{opened} opened, {refused} refused");
    eprintln!("{opened} opened, {refused} refused");
}

#[test]
fn damaged_images_are_decoded_or_refused() {
    let picture = image::RgbImage::from_fn(31, 23, |x, y| image::Rgb([(x * 9) as u8, (y * 7) as u8, (x * y) as u8]));
    let mut random = Rng::with_seed(rounds() as u64);
    let (mut decoded, mut refused) = (0, 0);
    for kind in [image::ImageFormat::Jpeg, image::ImageFormat::Png, image::ImageFormat::Tiff, image::ImageFormat::Pnm] {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, kind).unwrap();
        for _ in 0..20 * rounds() {
            let mut bytes = bytes.get_ref().clone();
            damage(&mut bytes, &mut random);
            match decode_picture(&bytes, true, MaxPixels(1 << 22)) {
                Ok(picture) => {
                    decoded += 1;
                    assert!(picture.size().0 * picture.size().1 <= 1 << 22);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(decoded > rounds() && refused > rounds(), "{decoded} decoded, {refused} refused");
    eprintln!("{decoded} decoded, {refused} refused");
}
