//! Tests with files made to take all memory or time, to panic, or to hide losses.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use crate::message::{Encoding, ImageBody};
use crate::{Body, Format, Message, time};
use std::fs::File;
use std::io::{Cursor, Read, Seek as _, SeekFrom, Write as _};
use std::time::{Duration, SystemTime};
use stereopsis_calibration::CameraInfo;
use tempfile::NamedTempFile;

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn record(opcode: u8, body: &[u8]) -> Vec<u8> {
    [&[opcode][..], &(body.len() as u64).to_le_bytes(), body].concat()
}

/// Returns the header of a record that claims to be longer than the bytes that follow.
fn claims(opcode: u8, length: u64) -> Vec<u8> {
    [&[opcode][..], &length.to_le_bytes()].concat()
}

fn schema(id: u16, name: &str, data: &[u8]) -> Vec<u8> {
    let data = [&(data.len() as u32).to_le_bytes()[..], data].concat();
    record(op::SCHEMA, &[&id.to_le_bytes()[..], &text(name), &text("ros2msg"), &data].concat())
}

fn channel(id: u16, schema: u16, topic: &str) -> Vec<u8> {
    let ids = [id.to_le_bytes(), schema.to_le_bytes()].concat();
    record(op::CHANNEL, &[&ids[..], &text(topic), &text("cdr"), &[0; 4]].concat())
}

fn message(channel: u16, sequence: u32, time_ns: u64, data: &[u8]) -> Vec<u8> {
    let head = [&channel.to_le_bytes()[..], &sequence.to_le_bytes(), &time_ns.to_le_bytes(), &time_ns.to_le_bytes()];
    record(op::MESSAGE, &[&head.concat()[..], data].concat())
}

/// Returns a chunk of these records that claims to unpack to `claimed` bytes.
fn chunk(records: &[u8], claimed: u64) -> Vec<u8> {
    let packed = zstd::encode_all(records, 3).unwrap();
    let head = [&[0; 16][..], &claimed.to_le_bytes(), &[0; 4], &text("zstd")].concat();
    record(op::CHUNK, &[&head[..], &(packed.len() as u64).to_le_bytes(), &packed].concat())
}

fn whole(records: &[u8]) -> Vec<u8> {
    chunk(records, records.len() as u64)
}

fn file(parts: &[&[u8]]) -> NamedTempFile {
    unended(&[parts, &[&record(op::DATA_END, &[0; 4])]].concat())
}

fn unended(parts: &[&[u8]]) -> NamedTempFile {
    let mut file = NamedTempFile::with_suffix(".mcap").unwrap();
    file.write_all(&[&[mcap::MAGIC][..], parts].concat().concat()).unwrap();
    file
}

fn refusal(file: &NamedTempFile) -> String {
    Recording::open(file.path()).unwrap_err().to_string()
}

fn stream_of(parts: &[&[u8]]) -> PacketStream<Cursor<Vec<u8>>> {
    PacketStream::new(Cursor::new([&[mcap::MAGIC][..], parts].concat().concat()))
}

const IMAGE: &str = "sensor_msgs/msg/Image";

#[test]
fn topics_share_their_schema() {
    // 2000 copies would be 8 GB
    let mut records = schema(1, IMAGE, &vec![0; 4 << 20]);
    let names = (0..1000).flat_map(|k| [format!("/{k}/left"), format!("/{k}/right")]);
    (1..).zip(names).for_each(|(id, name)| records.extend(channel(id, 1, &name)));
    records.extend([message(1, 0, 5, &[]), message(2, 0, 5, &[])].concat());
    let packed = whole(&records);
    assert!(packed.len() < 20_000, "{}", packed.len());
    let recording = Recording::open(file(&[&packed]).path()).unwrap();
    let channels = recording.channels();
    assert_eq!(channels.len(), 2000);
    let first = channels[0].schema.as_ref().unwrap();
    assert!(channels.iter().all(|channel| Arc::ptr_eq(channel.schema.as_ref().unwrap(), first)));
}

#[test]
fn rejects_more_descriptions_than_the_limits() {
    let topics: Vec<u8> = (0..=limits::MAX_CHANNELS as u16).flat_map(|id| channel(id, 0, &id.to_string())).collect();
    let schemas: Vec<u8> = (1..=limits::MAX_SCHEMAS as u16 + 1).flat_map(|id| schema(id, "a", &[])).collect();
    let large = schema(1, IMAGE, &vec![0; limits::MAX_DESCRIPTION_BYTES + 1]);
    for (records, says) in [
        (topics, "more than 8192 topics"),
        (schemas, "more than 8192 kinds of messages"),
        (large, "more than 67108864 bytes that describe"),
    ] {
        for parts in [&records, &whole(&records)] {
            let text = refusal(&file(&[parts]));
            assert!(text.contains(says) && text.contains("leave topics out"), "{text}");
            let mut stream = stream_of(&[parts]);
            let text = loop {
                if let Err(err) = stream.next_packet() {
                    break err.to_string();
                }
            };
            // a single record is refused by its length, before it is read
            assert!(text.contains(says) || text.contains("one of more than 67108864"), "{text}");
            assert!(stream.has_ended());
        }
    }
}

#[test]
fn error_for_thousands_of_topics_stays_short() {
    let mut records = schema(1, IMAGE, &[]);
    for id in 0..8000 {
        let side = if id < 4000 { "left" } else { "right" };
        records.extend(channel(id, 1, &format!("/{side}/{id}")));
        records.extend(message(id, 0, 5, &[]));
    }
    let text = refusal(&file(&[&whole(&records)]));
    assert!(text.contains("no pair of image topics") && text.contains("and 7976 more"), "{text}");
    assert!(text.len() < 3000, "{}", text.len());
}

#[test]
fn a_chunk_is_unpacked_only_as_far_as_it_claims() {
    let zeros = vec![0; 64 << 20];
    let opened = |packed: &[u8]| {
        let records = [schema(1, IMAGE, &[]), channel(1, 1, "left"), channel(2, 1, "right")].concat();
        let messages = [message(1, 0, 5, &[]), message(2, 0, 5, &[])].concat();
        Recording::open(file(&[&whole(&records), packed, &whole(&messages)]).path()).unwrap().losses().concat()
    };
    let packed = chunk(&zeros, 1000);
    assert!(packed.len() < 20_000);
    let head = records::chunk_header(&packed[9..]).unwrap();
    let unpacked = chunk::unpack(&head, &packed[9..]);
    assert_eq!(unpacked.bytes.len(), 1001, "one more than it claims");
    assert!(opened(&packed).contains("holds more than the 1000 bytes"), "{}", opened(&packed));
    let text = opened(&chunk(&[], limits::MAX_CHUNK_BYTES + 1));
    assert!(text.contains("claims to hold 536870913 bytes") && text.contains("more than 536870912"), "{text}");
}

#[test]
fn messages_of_a_chunk_come_one_by_one() {
    let empty = message(1, 0, 5, &[]);
    let records = [schema(1, IMAGE, &[]), channel(1, 1, "left"), empty.repeat(100_000)].concat();
    let packed = whole(&records);
    assert!(packed.len() < 5_000, "{}", packed.len());
    let mut stream = stream_of(&[&packed]);
    let mut count = 0;
    while let Some(packet) = stream.next_packet().unwrap() {
        assert!(packet.data.is_empty());
        count += 1;
    }
    assert_eq!((count, stream.index().messages()), (100_000, 1));
}

#[test]
fn pipe_skips_unread_records_and_rejects_too_long_ones() {
    let long = 20 << 20;
    let start = [mcap::MAGIC, &claims(op::ATTACHMENT, long)[..]].concat();
    let mut stream = PacketStream::new(Cursor::new(start).chain(std::io::repeat(0).take(long)));
    assert_eq!(stream.next_packet().unwrap(), None);
    for (opcode, most) in [(op::CHUNK, "536871936"), (op::MESSAGE, "536871936"), (op::SCHEMA, "67108864")] {
        let text = stream_of(&[&claims(opcode, 1 << 40)]).next_packet().unwrap_err().to_string();
        assert!(text.contains("1099511627776 bytes") && text.contains(most), "{text}");
    }
}

#[test]
fn a_file_of_holes_takes_no_memory() {
    const LENGTH: u64 = 200 << 30;
    let topics = [schema(1, IMAGE, &[]), channel(1, 1, "left"), channel(2, 1, "right")].concat();
    let messages = [message(1, 0, 5, &[]), message(2, 0, 5, &[])].concat();
    let half = LENGTH / 2;
    // a chunk that would be read, and behind it 100 GB of message index
    let indexed = [whole(&messages), claims(op::MESSAGE_INDEX, half)].concat();
    let packed = [&[0; 16][..], &half.to_le_bytes(), &[0; 4], &text("zstd"), &half.to_le_bytes()].concat();
    let packed = [claims(op::CHUNK, packed.len() as u64 + half), packed].concat();
    let outside = [claims(op::MESSAGE, half), message(1, 0, 7, &[])[9..].to_vec()].concat();
    let footer = [record(op::FOOTER, &[&8_u64.to_le_bytes()[..], &[0; 12]].concat()), mcap::MAGIC.to_vec()].concat();
    for (part, says) in [
        (claims(op::SCHEMA, half), "bytes that describe its topics"),
        (claims(op::CHANNEL, half), "bytes that describe its topics"),
        (indexed, "is no record"),
        (packed, "claims to hold 107374182400 bytes"),
        (outside, "is no record"),
        (claims(op::ATTACHMENT, half), "is no record"),
        (claims(op::CHUNK_INDEX, half), "is no record"),
        (vec![], "is no record"),
        (footer, "is no record"),
    ] {
        let is_end = part.ends_with(mcap::MAGIC);
        let file = unended(&[&topics, &messages, if is_end { &[] } else { &part }]);
        file.as_file().set_len(LENGTH).unwrap();
        if is_end {
            // the end of a finished file, which claims that its summary is all of it
            let at = LENGTH - part.len() as u64;
            file.as_file().seek(SeekFrom::Start(at)).unwrap();
            file.as_file().write_all(&part).unwrap();
        }
        let said = match Recording::open(file.path()) {
            Err(err) => err.to_string(),
            Ok(mut recording) => {
                let pairs = recording.pairs().len() as u64;
                (0..pairs).for_each(|k| assert!(recording.packets_of_pair(k).is_ok()));
                for k in 0..recording.len("left") {
                    if let Err(err) = recording.packet("left", k) {
                        assert!(err.to_string().contains("claims 107374182400 bytes"), "{err}");
                    }
                }
                recording.losses().concat()
            }
        };
        assert!(said.contains(says), "{says}: {said}");
    }
}

/// Writes a recording of another program with the stamp and the log time of each pair.
fn others(format: Format, times: &[(SystemTime, u64)]) -> NamedTempFile {
    let image = ImageBody { width: 1, height: 1, encoding: Encoding::Mono8, step: 1, data: [7].as_slice().into() };
    let mut records = Vec::new();
    for (id, topic) in [(1_u16, "/left/image"), (2, "/right/image")] {
        let described = format.channel(topic, &Body::Image(image.clone()));
        let kind = described.schema.as_ref().unwrap();
        let described_by = [&id.to_le_bytes()[..], &text(&kind.name), &text(&kind.encoding), &[0; 4]].concat();
        records.extend(record(op::SCHEMA, &described_by));
        let ids = [id.to_le_bytes(), id.to_le_bytes()].concat();
        let body = [&ids[..], &text(topic), &text(&described.message_encoding), &[0; 4]].concat();
        records.extend(record(op::CHANNEL, &body));
    }
    for &(stamp, time_ns) in times {
        let message_of = Message { stamp, frame_id: String::new(), body: Body::Image(image.clone()) };
        let data = format.encode(&message_of);
        (1..=2).for_each(|id| records.extend(message(id, 0, time_ns, &data)));
    }
    file(&[&records])
}

#[test]
fn pairs_of_far_dates_are_not_lost() {
    let ms = Duration::from_millis;
    let year_2500 = time::from_ns(16_725_225_600_000_000_000);
    let now = time::from_ns(1_700_000_000_000_000_000);
    for &format in Format::ALL {
        // stamps of the images, and log times of the file; a clock that stands still is not used
        for (stamp, file_ns) in [
            (SystemTime::UNIX_EPOCH, Some(1_700_000_000_000_000_000)),
            (SystemTime::UNIX_EPOCH, Some(0)),
            (year_2500, Some(16_725_225_600_000_000_000)),
            (year_2500, Some(u64::MAX - 9_000_000_000)),
            (now, Some(0)),
            (now, None),
        ] {
            let times: Vec<_> = (0..90)
                .map(|k| (stamp + ms(33 * k), file_ns.map_or(u64::MAX, |ns: u64| ns + 33_000_000 * k)))
                .collect();
            let recording = Recording::open(others(format, &times).path()).unwrap();
            let (pairs, damage) = (recording.pairs().len(), recording.damage());
            assert_eq!((pairs, damage), (90, None), "{format} {stamp:?} {file_ns:?}");
        }
    }
}

#[test]
fn pairs_of_a_clock_that_stands_still_are_not_lost() {
    let mut records = schema(1, IMAGE, &[]);
    for (id, topic) in [(1, topic::LEFT_RAW), (2, topic::RIGHT_RAW), (3, topic::PAIRS)] {
        records.extend(channel(id, 1, topic));
    }
    for k in 0..20 {
        (1..=3).for_each(|id| records.extend(message(id, k, u64::MAX, &[id as u8, k as u8])));
    }
    let mut recording = Recording::open(file(&[&records]).path()).unwrap();
    assert_eq!((recording.pairs().len(), recording.damage()), (20, None));
    for k in 0..20 {
        let packets = recording.packets_of_pair(k).unwrap();
        let data: Vec<_> = packets.iter().map(|packet| packet.data.clone()).collect();
        assert_eq!(data, [[3, k as u8], [1, k as u8], [2, k as u8]]);
    }
}

#[test]
fn shrinking_file_loses_only_pairs() {
    // opening reads only the index of these records
    let topics = [topic::LEFT_RAW, topic::RIGHT_RAW, topic::PAIRS].into_iter().zip(1..);
    let topics = topics.map(|(name, id)| channel(id, 1, name)).collect::<Vec<_>>().concat();
    let topics = [schema(1, IMAGE, &[]), topics].concat();
    let parts: Vec<_> = (0..4)
        .map(|k| {
            whole(
                &[
                    message(1, k, 1_000_000_000 * u64::from(k + 1), &[1; 50]),
                    message(2, k, 1_000_000_000 * u64::from(k + 1), &[2; 50]),
                ]
                .concat(),
            )
        })
        .collect();
    let all = [&[&topics[..]][..], &parts.iter().map(Vec::as_slice).collect::<Vec<_>>()].concat();
    for length in 0..unended(&all).as_file().metadata().unwrap().len() {
        let written = unended(&all);
        let mut recording = Recording::open(written.path()).unwrap();
        assert_eq!(recording.pairs().len(), 4);
        File::options().write(true).open(written.path()).unwrap().set_len(length).unwrap();
        let read: Vec<_> = (0..4).map(|k| recording.packets_of_pair(k)).collect();
        assert!(read.iter().any(Result::is_err), "{length}");
        assert!(read.iter().flatten().all(|packets| packets.len() == 2 && packets[0].data == [1; 50]), "{length}");
    }
}

#[test]
fn reports_impossible_cameras() {
    let geometry = stereopsis_base::geometry::Geometry::new(50.0, 0.1, 0.0, [9.5, 9.5]);
    let cameras = CameraInfo::of_rectified(&geometry, (20, 20));
    let losses = |change: fn(&mut CameraInfo), cut: usize, count: usize| {
        let mut bytes = others(Format::Ros2, &[(time::from_ns(1 << 60), 5)]).into_file();
        let mut before = Vec::new();
        bytes.seek(SeekFrom::Start(8)).unwrap();
        bytes.read_to_end(&mut before).unwrap();
        let mut records = schema(7, "sensor_msgs/msg/CameraInfo", &[]);
        for (id, side, camera) in [(3, "left", &cameras[0]), (4, "right", &cameras[1])].into_iter().take(count) {
            records.extend(channel(id, 7, &format!("/{side}/camera_info")));
            let mut camera = camera.clone();
            change(&mut camera);
            let body = Body::Camera(Box::new(camera));
            let message_of = Message { stamp: time::from_ns(1 << 60), frame_id: String::new(), body };
            let mut data = Format::Ros2.encode(&message_of);
            data.truncate(data.len() - cut);
            records.extend(message(id, 0, 5, &data));
        }
        let recording = Recording::open(unended(&[&records, &before]).path()).unwrap();
        (recording.losses().concat(), recording.calibration().is_some())
    };
    assert_eq!(losses(|_| {}, 0, 2), (String::new(), true));
    assert_eq!(losses(|camera| camera.k = [0.0; 9], 0, 2), (String::new(), false), "ROS says so");
    let of_nan = losses(|camera| camera.k[2] = f64::NAN, 0, 2);
    assert!(of_nan.0.contains("/left/image: it holds NaN") && !of_nan.1, "{of_nan:?}");
    assert!(losses(|camera| camera.p[0] = f64::INFINITY, 0, 2).0.contains("it holds inf"));
    assert!(losses(|camera| camera.k[0] = -5.0, 0, 2).0.contains("focal lengths are -5"));
    assert!(losses(|camera| camera.d = vec![0.0; 1000], 0, 2).0.contains("1000 coefficients"));
    assert!(losses(|_| {}, 90, 2).0.contains("damaged"), "cut");
    assert!(losses(|_| {}, 0, 1).0.contains("only one of the two cameras"));
}

#[test]
fn names_are_escaped_for_the_terminal() {
    let records = [schema(1, IMAGE, &[]), channel(1, 1, "/a\u{1b}[2J"), message(1, 0, 5, &[])].concat();
    let text = refusal(&file(&[&records]));
    assert!(text.contains("/a\\u{1b}[2J") && !text.contains('\u{1b}'), "{text}");
}
