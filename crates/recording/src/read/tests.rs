//! Tests of reading files of this program: written with every option, cut, and damaged.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use crate::Schema;
use mcap::records::MessageHeader;
use mcap::{Compression, WriteOptions, Writer};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::{Duration, Instant};

const PAIRS: u32 = 12;

/// Writes a file with `PAIRS` pairs of a few bytes; three pairs lie in a chunk.
fn file(options: WriteOptions) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::with_options(&mut bytes, options).unwrap();
    let schema = writer.add_schema("sensor_msgs/msg/Image", "ros2msg", b"definition").unwrap();
    let note = writer.add_channel(0, topic::PAIRS, "json", &BTreeMap::new()).unwrap();
    let mut channel = |name| writer.add_channel(schema, name, "cdr", &BTreeMap::new()).unwrap();
    let (left, right) = (channel(topic::LEFT_RAW), channel(topic::RIGHT_RAW));
    for k in 0..PAIRS {
        let log_time = 1_000_000_000 + 100_000_000 * u64::from(k);
        for (channel_id, side) in [(note, 0), (left, 1), (right, 2)] {
            let header = MessageHeader { channel_id, sequence: 7 + k, log_time, publish_time: log_time - 5 };
            writer.write_to_known_channel(&header, &data(k, side)).unwrap();
        }
        if k % 3 == 2 {
            writer.flush().unwrap();
        }
    }
    writer.finish().unwrap();
    drop(writer);
    bytes.into_inner()
}

fn data(k: u32, side: u8) -> Vec<u8> {
    (0..200 + k).map(|i| (i * (k + 1)) as u8 ^ side).collect()
}

fn compressed() -> WriteOptions {
    WriteOptions::new().compression(Some(Compression::Lz4))
}

fn write(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::with_suffix(".mcap").unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}

fn open(bytes: &[u8]) -> Result<Recording, ReadError> {
    Recording::open(write(bytes).path())
}

/// Reads all pairs, and returns the numbers of those with the right bytes.
fn readable(recording: &mut Recording) -> Vec<u32> {
    let mut right = Vec::new();
    for k in 0..recording.pairs().len() as u64 {
        let Ok(packets) = recording.packets_of_pair(k) else { continue };
        let number = packets[0].sequence.wrapping_sub(7);
        let sides = [0, 1, 2].map(|side| data(number.min(1000), side));
        if packets.iter().map(|packet| &packet.data).eq(&sides) {
            right.push(number);
        }
        recording.packets_of_result(k).ok();
    }
    right
}

fn every_option() -> Vec<(&'static str, WriteOptions)> {
    let mut all = Vec::new();
    for (name, compression) in [("plain", None), ("lz4", Some(Compression::Lz4)), ("zstd", Some(Compression::Zstd))] {
        let options = WriteOptions::new().compression(compression);
        all.push((name, options.clone()));
        all.push((name, options.clone().emit_message_indexes(false)));
        all.push((name, options.clone().calculate_chunk_crcs(false).emit_summary_records(false)));
    }
    all.push(("no chunks", WriteOptions::new().use_chunks(false)));
    all
}

#[test]
fn packets_are_equal_in_any_order_and_file_layout() {
    for (name, options) in every_option() {
        let bytes = file(options);
        let mut recording = open(&bytes).unwrap();
        assert_eq!((recording.damage(), recording.pairs().len()), (None, PAIRS as usize), "{name}");
        let one_by_one: Vec<_> = (0..u64::from(PAIRS)).map(|k| recording.packets_of_pair(k).unwrap()).collect();
        for k in [11, 0, 5, 4, 3, 10, 1, 1] {
            let packets = recording.packets_of_pair(k as u64).unwrap();
            assert_eq!(packets, one_by_one[k], "{name}");
            assert_eq!((packets[1].data.clone(), packets[1].sequence), (data(k as u32, 1), 7 + k as u32));
            assert_eq!(recording.packet(topic::RIGHT_RAW, k as u64).unwrap(), packets[2]);
        }
        let schema = recording.channels()[1].schema.clone();
        let expected =
            Schema { name: "sensor_msgs/msg/Image".into(), encoding: "ros2msg".into(), data: b"definition".into() };
        assert_eq!(schema, Some(expected.into()), "{name}");
        assert_eq!(recording.len(topic::LEFT_RAW), u64::from(PAIRS));
        assert!(recording.packet(topic::LEFT_RAW, 12).unwrap_err().to_string().contains("no message 12"));
    }
}

#[test]
fn a_topic_of_two_channels_is_one_topic() {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut bytes).unwrap();
    let mut write = |name, time: u64, key: &str| {
        let metadata = [(key.to_owned(), String::new())].into();
        let channel_id = writer.add_channel(0, name, "json", &metadata).unwrap();
        let header = MessageHeader { channel_id, sequence: time as u32, log_time: time, publish_time: time };
        writer.write_to_known_channel(&header, b"{}").unwrap();
    };
    for time in 0..6 {
        write(topic::PAIRS, time, "");
        write(topic::LEFT_RAW, time, ["one writer", "another one"][time as usize % 2]);
        write(topic::RIGHT_RAW, time, "");
    }
    writer.finish().unwrap();
    drop(writer);
    let recording = open(&bytes.into_inner()).unwrap();
    assert_eq!((recording.pairs().len(), recording.len(topic::LEFT_RAW)), (6, 6));
}

#[test]
fn cut_file_keeps_the_pairs_before_the_cut() {
    for options in [compressed(), WriteOptions::new().compression(None), WriteOptions::new().use_chunks(false)] {
        let bytes = file(options);
        let whole = file(compressed()).len();
        let mut before = 0;
        let mut seen = std::collections::BTreeSet::new();
        // a step of 5 cuts through each kind of record, at each of its bytes in one record or another
        for length in (0..bytes.len()).step_by(5).chain([bytes.len() - 1]) {
            let Ok(mut recording) = open(&bytes[..length]) else {
                assert!(before == 0, "{length} of {whole}");
                continue;
            };
            let pairs = readable(&mut recording);
            assert_eq!(pairs, (0..pairs.len() as u32).collect::<Vec<_>>(), "{length}");
            assert!(pairs.len() >= before, "{length}: {} after {before}", pairs.len());
            assert!(pairs.len() == PAIRS as usize || recording.damage().is_some(), "{length}");
            before = pairs.len();
            seen.insert(before);
        }
        assert_eq!(before, PAIRS as usize);
        // an lz4 chunk is one piece, and so complete or absent
        assert!(seen.len() >= 4, "{seen:?}");
    }
}

#[test]
fn flipped_bits_neither_hang_nor_reorder_pairs() {
    let options = every_option();
    std::thread::scope(|scope| {
        for part in 0..4_u64 {
            let options = &options;
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(part);
                for (name, options) in options {
                    let original = file(options.clone());
                    for _ in 0..50 {
                        let mut bytes = original.clone();
                        for _ in 0..random.usize(1..4) {
                            let at = random.usize(..bytes.len());
                            bytes[at] ^= 1 << random.u32(..8);
                        }
                        let start = Instant::now();
                        if let Ok(mut recording) = open(&bytes) {
                            let pairs = readable(&mut recording);
                            assert!(pairs.windows(2).all(|two| two[0] < two[1]), "{name}: {pairs:?}");
                        }
                        let mut stream = PairStream::new(Cursor::new(bytes), TopicChoice::default());
                        while !matches!(stream.next_pair(), Ok(None) | Err(ReadError::File(_))) {}
                        assert!(start.elapsed() < Duration::from_secs(5), "{name}: {:?}", start.elapsed());
                    }
                }
            });
        }
    });
}

#[test]
fn leaves_out_and_names_a_chunk_with_wrong_checksum() {
    let mut bytes = file(WriteOptions::new().compression(None));
    // damage one byte of the left image of pair 4, in the second chunk
    let picture = data(4, 1);
    let at = bytes.windows(picture.len()).position(|window| window == picture).unwrap();
    bytes[at + 50] ^= 4;
    let mut recording = open(&bytes).unwrap();
    assert_eq!(readable(&mut recording), [0, 1, 2, 6, 7, 8, 9, 10, 11]);
    let text = recording.packets_of_pair(4).unwrap_err().to_string();
    assert!(text.contains("checksum") && text.contains("chunk at byte"), "{text}");
}

#[test]
fn a_damaged_length_costs_one_chunk_of_a_finished_file() {
    let bytes = file(compressed());
    let lengths = fields_of_chunks(&bytes);
    assert_eq!(lengths.len(), 4);
    let mut damaged = bytes.clone();
    damaged[lengths[1] + 5] = 0x7f;
    let mut recording = open(&damaged).unwrap();
    let pairs = readable(&mut recording);
    assert!(pairs.ends_with(&[6, 7, 8, 9, 10, 11]) && pairs.starts_with(&[0, 1, 2]), "{pairs:?}");
    assert!(recording.damage().unwrap().contains("bytes are skipped"), "{:?}", recording.damage());
    // the first chunk defines the topics, and so does the summary
    let mut damaged = bytes;
    damaged[lengths[0] + 60] ^= 0xff;
    let mut recording = open(&damaged).unwrap();
    assert_eq!(readable(&mut recording), (3..12).collect::<Vec<_>>());
}

/// Returns the offsets of the lengths of chunks.
fn fields_of_chunks(bytes: &[u8]) -> Vec<usize> {
    let mut at = 8;
    let mut lengths = Vec::new();
    while let Some((opcode, length)) = records::record_header(&bytes[at..]) {
        if opcode == op::CHUNK {
            lengths.push(at + 1);
        }
        if opcode == op::DATA_END {
            break;
        }
        at += 9 + length as usize;
    }
    lengths
}

#[test]
fn rejects_files_that_are_no_recording() {
    let text = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
    assert!(text(b"").contains("empty"));
    assert!(text(b"a photograph of a cat").contains("no MCAP file"));
    assert!(text(mcap::MAGIC).contains("no images"));
    let gone = Recording::open(Path::new("gone.mcap")).unwrap_err().to_string();
    assert!(gone.contains("gone.mcap") && gone.contains("no such file"), "{gone}");
}

#[test]
fn channel_defined_at_chunk_end_serves_the_next_chunk() {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut bytes).unwrap();
    let header = |channel_id| MessageHeader { channel_id, sequence: 7, log_time: 1000, publish_time: 5 };
    let schema = writer.add_schema("sensor_msgs/msg/Image", "ros2msg", b"definition").unwrap();
    let note = writer.add_channel(0, topic::PAIRS, "json", &BTreeMap::new()).unwrap();
    writer.flush().unwrap(); // a chunk of nothing but topics is read in any case
    writer.write_to_known_channel(&header(note), &data(0, 0)).unwrap();
    let mut add = |name| writer.add_channel(schema, name, "cdr", &BTreeMap::new()).unwrap();
    let sides = [add(topic::LEFT_RAW), add(topic::RIGHT_RAW)];
    writer.flush().unwrap();
    for (side, channel) in (1..).zip(sides) {
        writer.write_to_known_channel(&header(channel), &data(0, side)).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    let mut recording = open(&bytes.into_inner()).unwrap();
    assert_eq!((readable(&mut recording), recording.damage()), (vec![0], None));
}
