//! Tests of recordings of several files: each is whole, and together they are what one file would be.

use super::clock::system_clock;
use super::file::{McapFile, OpenTarget, Sink};
use super::tests::{about, frame, info, json, output, sequences};
use super::*;
use crate::{About, Channel, Event, Format, Packet, Recording, part, topic};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use stereopsis_base::testing::until as wait_until;
use stereopsis_frame::{FrameTap as _, ResultTap as _};
use stereopsis_stereo::StereoParams;

/// Pairs of a recording.
const PAIRS: u64 = 60;
/// Pairs by which results come late.
const LATE: u64 = 3;

fn options(split: Option<Split>) -> RecordOptions {
    // images are not compressed, so that there are many files
    let (format, compression) = (Format::Foxglove, Compression::None);
    RecordOptions { format, compression, split, lossless: true, queue_bytes: 200_000, ..RecordOptions::default() }
}

/// Gives pairs, and results of earlier pairs, to a recorder.
fn feed(recorder: &Recorder, pairs: std::ops::Range<u64>) {
    for k in pairs {
        recorder.frame(&frame(k), &info("test"));
        if let Some(done) = k.checked_sub(LATE) {
            recorder.result(&output(&frame(done)));
        }
        if k == 20 {
            recorder.set_params(&StereoParams { p1: 77, ..StereoParams::default() });
        }
    }
}

/// Records [`PAIRS`] pairs with results, and returns the status at the end.
fn record(path: &Path, options: RecordOptions) -> RecordStatus {
    let recorder = Recorder::start(Target::File(path.to_owned()), about("raw,disparity"), options).unwrap();
    recorder.result(&output(&frame(999)));
    feed(&recorder, 0..PAIRS);
    (PAIRS - LATE..PAIRS).for_each(|k| recorder.result(&output(&frame(k))));
    recorder.stop().unwrap()
}

/// Returns topic, sequence number and bytes of all images and results, pair by pair.
fn content(path: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut recording = Recording::open(path).unwrap();
    assert_eq!(recording.damage(), None);
    let mut content = Vec::new();
    for k in 0..recording.pairs().len() as u64 {
        let packets = [recording.packets_of_pair(k).unwrap(), recording.packets_of_result(k).unwrap()].concat();
        assert!(packets.iter().any(|packet| packet.channel.topic == topic::DISPARITY), "pair {k} has its result");
        let times_differ = |packet: &&Packet| !packet.channel.topic.ends_with("results");
        content.extend(packets.iter().filter(times_differ).map(|packet| {
            let data = if packet.channel.topic == topic::PAIRS { Vec::new() } else { pixels(packet) };
            (packet.channel.topic.clone(), packet.sequence, data)
        }));
    }
    content
}

/// Returns the bytes of a message without its time, which is that of the test.
fn pixels(packet: &Packet) -> Vec<u8> {
    packet.data[packet.data.len() - 2000..].to_vec()
}

fn files(status: &RecordStatus) -> Vec<PathBuf> {
    status.path.iter().chain(&status.further).cloned().collect()
}

/// Checks that a file is whole, and describes the recording by itself.
fn check_whole(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let messages: Vec<_> = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap).collect();
    assert_eq!(summary.stats.unwrap().message_count, messages.len() as u64);
    let at = messages.iter().position(|message| message.channel.topic == topic::ABOUT).unwrap();
    assert!(messages[..at].iter().all(|message| message.channel.topic != topic::PAIRS), "described before its pairs");
    let recording = Recording::open(path).unwrap();
    assert_eq!(recording.about().map(|about| about.source.clone()), Some("test".to_owned()));
}

fn check_all_whole(files: &[PathBuf]) {
    for file in files {
        check_whole(file);
    }
}

#[test]
fn parts_are_whole_and_together_equal_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let whole = record(&folder.path().join("whole.mcap"), options(None));
    assert_eq!((whole.further.len(), whole.counters.results), (0, PAIRS));
    let expected = content(&folder.path().join("whole.mcap"));
    for bytes in [130_000, 200_000, 500_000] {
        let path = folder.path().join(format!("{bytes}.mcap"));
        let status = record(&path, options(Some(Split::Bytes(bytes))));
        assert_eq!((status.counters, status.split.clone()), (whole.counters, None));
        let files = files(&status);
        assert!(files.len() > 2, "{files:?}");
        let sizes: Vec<u64> = files.iter().map(|file| file.metadata().unwrap().len()).collect();
        assert!(sizes.iter().all(|&size| size <= bytes), "{sizes:?} of at most {bytes}");
        assert_eq!(status.bytes, sizes.iter().sum::<u64>());
        check_all_whole(&files);
        assert_eq!(Recording::open(&path).unwrap().files(), files);
        assert!(content(&path) == expected, "the same pairs and results");
        let of_second = json::<About>(&fs::read(&files[1]).unwrap(), topic::ABOUT);
        let of_last = json::<About>(&fs::read(files.last().unwrap()).unwrap(), topic::ABOUT);
        assert_eq!((of_second.len(), of_last[0].parameters["p1"].as_str()), (1, "77"), "parameters of its beginning");
        let pairs: Vec<u32> = files.iter().flat_map(|file| sequences(&fs::read(file).unwrap(), topic::PAIRS)).collect();
        assert_eq!(pairs, (0..PAIRS as u32).collect::<Vec<_>>(), "no pair is in two files");
        let alone = Recording::open(&files[1]).unwrap();
        assert_eq!((alone.files().len(), alone.damage()), (1, None), "a later part is played alone");
    }
}

#[test]
fn parts_of_a_time_begin_with_a_pair_or_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.mcap");
    let split = Some(Split::Time(Duration::from_millis(300)));
    let recorder = Recorder::start(Target::File(path.clone()), about("raw"), options(split)).unwrap();
    for k in 0..8 {
        recorder.frame(&frame(k), &info("test"));
        std::thread::sleep(Duration::from_millis(100));
    }
    let status = recorder.stop().unwrap();
    assert!((2..=8).contains(&files(&status).len()), "{status:?}");
    check_all_whole(&files(&status));
    assert_eq!(Recording::open(&path).unwrap().pairs().len(), 8);
}

/// File that takes no more than some bytes, as on a disk that does not say so before.
struct Limited {
    file: fs::File,
    left: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.left);
        if taken == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.left -= taken;
        self.file.write(&bytes[..taken])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn refused_bytes_go_into_the_next_file() {
    let folder = tempfile::tempdir().unwrap();
    let whole = record(&folder.path().join("whole.mcap"), options(None));
    let expected = content(&folder.path().join("whole.mcap"));
    // within a chunk, and within the summary of a file that has all messages
    for left in [100_000, 400_001, whole.bytes as usize - 3000] {
        let path = folder.path().join(format!("{left}.mcap"));
        let (place, _) = OpenTarget::create(&path).unwrap();
        let file = place.file.as_ref().unwrap().handle().unwrap();
        let sink: Sink = Box::new(Limited { file, left });
        let (about, options) = (about("raw,disparity"), options(None));
        let recorder = Recorder::start_at(place, sink, Some(path.clone()), about, options, system_clock()).unwrap();
        recorder.result(&output(&frame(999)));
        feed(&recorder, 0..PAIRS);
        (PAIRS - LATE..PAIRS).for_each(|k| recorder.result(&output(&frame(k))));
        let status = recorder.stop().unwrap();
        assert_eq!(status.counters, whole.counters, "nothing is lost");
        let first = fs::read(&path).unwrap();
        assert!(first.len() <= left && first.ends_with(mcap::MAGIC), "{left}: {}", first.len());
        assert!(mcap::MessageStream::new(&first).unwrap().all(|message| message.is_ok()));
        assert!(content(&path) == expected, "{left}");
        let sizes = files(&status).iter().map(|file| file.metadata().unwrap().len()).sum::<u64>();
        assert_eq!(status.bytes, sizes);
        if left < 1_000_000 {
            assert!(status.split.as_ref().is_some_and(|why| why.starts_with("the disk takes no file of much more")));
            assert!(status.summary().contains(" and 1 further part (the disk takes no file"), "{}", status.summary());
        }
    }
}

/// Room for indexes and summary is kept whatever a file holds: many small messages, many topics and chunks, or one large message.
#[test]
fn no_file_is_larger_than_its_bound() {
    let mut random = fastrand::Rng::with_seed(7);
    for (count, largest, topics) in [(6000, 8, 40), (300, 20_000, 2), (1, 3_000_000, 1), (400, 300, 400)] {
        for compression in Compression::ALL.iter().copied() {
            let written = Arc::<AtomicU64>::default();
            let kind = (Format::Ros2, compression);
            let mut file = McapFile::begin(Box::new(io::sink()), "a.mcap", kind, None, Arc::clone(&written)).unwrap();
            let mut bound = 0;
            for k in 0..count {
                let topic = format!("/topic/{}", k % topics);
                let channel = Arc::new(Channel {
                    topic,
                    message_encoding: "cdr".to_owned(),
                    schema: None,
                    metadata: [("offered_qos_profiles".to_owned(), "x".repeat(300))].into(),
                });
                let size = if count == 1 { largest } else { random.usize(0..=largest) };
                let data = (0..size).map(|_| random.u8(..)).collect();
                let packet =
                    Packet { channel, sequence: k as u32, log_time_ns: k as u64, publish_time_ns: k as u64, data };
                bound = file.bytes_with(std::slice::from_ref(&packet), Some("calibration"));
                file.write(&[packet]).unwrap();
                if k % 100 == 99 {
                    file.flush().unwrap();
                }
            }
            file.finish(Some("calibration"), None, SystemTime::UNIX_EPOCH).unwrap();
            let size = written.load(Ordering::Relaxed);
            assert!(size <= bound, "{size} bytes of {count} messages, {compression:?}, at most {bound}");
        }
    }
}

#[test]
fn file_ends_before_a_known_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.mcap");
    let (mut place, sink) = OpenTarget::create(&path).unwrap();
    place.max_bytes = Some(300_000);
    let recorder =
        Recorder::start_at(place, sink, Some(path.clone()), about("raw"), options(None), system_clock()).unwrap();
    feed(&recorder, 0..PAIRS);
    let status = recorder.stop().unwrap();
    assert_eq!(status.split.as_deref(), Some("a file here can have 300.0 kB at most"));
    let size = path.metadata().unwrap().len();
    assert!((200_000..=300_000).contains(&size), "{size}");
    check_all_whole(&files(&status));
    assert_eq!(Recording::open(&path).unwrap().pairs().len() as u64, PAIRS);
}

#[test]
fn parts_never_replace_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.mcap");
    let there = part::name(&path, 3);
    fs::write(&there, "mine").unwrap();
    let start = |options| Recorder::start(Target::File(path.clone()), about("raw,disparity"), options);
    let refused = start(options(Some(Split::Bytes(200_000)))).err().unwrap().to_string();
    assert!(refused.contains("desk_part003.mcap exists, which has the name of a part of"), "{refused}");
    assert!(refused.ends_with("desk_2.mcap is free") && !path.exists(), "{refused}");
    fs::remove_file(&there).unwrap();

    // one that appears meanwhile ends the recording with all that it has taken
    let recorder = start(options(Some(Split::Bytes(200_000)))).unwrap();
    recorder.result(&output(&frame(999)));
    feed(&recorder, 0..1);
    fs::write(&there, "mine").unwrap();
    feed(&recorder, 1..PAIRS);
    wait_until("the end", || recorder.status().ended.is_some());
    let err = recorder.stop().unwrap_err();
    assert!(
        matches!(&err, RecordError::Split(why) if why.to_string().contains("desk_part003.mcap: it exists")),
        "{err}"
    );
    let status = recorder.status();
    assert_eq!((files(&status).len(), status.counters.dropped_by_disk), (2, 0), "{status:?}");
    check_all_whole(&files(&status));
    let recording = Recording::open(&path).unwrap();
    assert_eq!((recording.pairs().len() as u64, recording.damage()), (status.counters.pairs, None));
    let events = json::<Event>(&fs::read(part::name(&path, 2)).unwrap(), topic::EVENTS);
    assert!(events.last().unwrap().text.contains("desk_part003.mcap"), "{events:?}");
    assert_eq!(fs::read(&there).unwrap(), b"mine");
}

#[test]
fn missing_cut_and_foreign_parts_are_damage_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.mcap");
    let files = files(&record(&path, options(Some(Split::Bytes(200_000)))));
    let pairs: Vec<u64> = files.iter().map(|file| Recording::open(file).unwrap().pairs().len() as u64).collect();
    let pairs =
        [sequences(&fs::read(&path).unwrap(), topic::PAIRS).len() as u64].into_iter().chain(pairs[1..].to_vec());
    let pairs: Vec<u64> = pairs.collect();
    assert!(files.len() > 4, "{files:?}");
    let kept: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let opened = || {
        let recording = Recording::open(&path).unwrap();
        (recording.pairs().len() as u64, recording.damage().unwrap_or_default())
    };
    let restore = |number: usize| fs::write(&files[number], &kept[number]).unwrap();
    assert_eq!(opened(), (PAIRS, String::new()));

    fs::remove_file(&files[2]).unwrap();
    let missing = "the recording goes on in desk_part003.mcap, which is not there".to_owned();
    assert_eq!(opened(), (PAIRS - pairs[2], missing));
    restore(2);
    let last = files.len() - 1;
    fs::remove_file(&files[last]).unwrap();
    let (found, damage) = opened();
    assert!(found == PAIRS - pairs[last] && damage.ends_with("which is not there"), "{found}: {damage}");
    // an empty file of a recorder that was killed
    fs::write(&files[last], "").unwrap();
    assert!(opened().1.contains(": the file is empty: "), "{}", opened().1);
    restore(last);
    fs::write(&files[last], &kept[last][..kept[last].len() / 2]).unwrap();
    let (_, damage) = opened();
    let name = files[last].file_name().unwrap().to_string_lossy().into_owned();
    assert!(damage.starts_with(&format!("{name}: it was not finished")), "{damage}");
    restore(last);

    // parts of another recording, in the place of one and behind the last one
    let other = folder.path().join("other.mcap");
    record(&other, options(Some(Split::Bytes(200_000))));
    fs::copy(part::name(&other, 2), part::name(&path, last as u32 + 2)).unwrap();
    assert_eq!(opened(), (PAIRS, String::new()), "it is no part of this one");
    fs::copy(part::name(&other, 2), &files[1]).unwrap();
    let foreign = "the recording goes on in desk_part002.mcap, which is of another recording".to_owned();
    assert_eq!(opened(), (PAIRS - pairs[1], foreign));
    restore(1);

    // renamed, and without its parts
    let alone = folder.path().join("alone.mcap");
    fs::copy(&path, &alone).unwrap();
    let recording = Recording::open(&alone).unwrap();
    assert!(recording.damage().unwrap().contains("goes on in alone_part002.mcap"), "{:?}", recording.damage());
}
