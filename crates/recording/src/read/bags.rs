//! Tests with bags of ROS 2 in SQLite: tables as rosbag2 of Foxy to Kilted and librealsense 2.59 make them, and hostile ones.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use crate::fixture::{SIZE, image, picture, taken};
use crate::unpack::Unpacker;
use crate::{Format, Message};
use rusqlite::{Connection, params};
use stereopsis_frame::{MaxPixels, Pixels};
use tempfile::TempDir;

const NAMES: [&str; 2] = ["/s/left/image", "/s/right/image"];
/// Tables of rosbag2 0.3 (Foxy).
const TABLES: &str = "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,serialization_format TEXT NOT NULL,\
     offered_qos_profiles TEXT NOT NULL);\
     CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL, data BLOB NOT NULL);\
     CREATE INDEX timestamp_idx ON messages (timestamp ASC);";
/// Table of rosbag2 0.22 (Iron) and later.
const DEFINITIONS: &str = "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY,topic_type TEXT NOT NULL,encoding TEXT NOT NULL,\
     encoded_message_definition TEXT NOT NULL,type_description_hash TEXT NOT NULL);";

/// Makes a base in a folder of its own.
fn base(tables: &str, fill: impl FnOnce(&Connection)) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk 100%_0.db3");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY").unwrap();
    connection.execute_batch(tables).unwrap();
    fill(&connection);
    connection.close().unwrap();
    (folder, path)
}

fn message(k: u64, side: usize) -> Vec<u8> {
    let body = image(SIZE.0, SIZE.1, picture(k, side).pixels());
    Format::Ros2.encode(&Message { stamp: taken(k), frame_id: "camera".into(), body })
}

/// Adds topics with the identifiers 7 and 9, and pairs.
fn fill(connection: &Connection, kind: &str, pairs: u64) {
    for (name, id) in NAMES.into_iter().zip([7, 9]) {
        connection.execute("INSERT INTO topics VALUES (?1, ?2, ?3, 'cdr', '')", params![id, name, kind]).unwrap();
    }
    for (k, side) in (0..pairs).flat_map(|k| [(k, 0), (k, 1)]) {
        let values = params![[7, 9][side], time::to_ns(taken(k)) as i64, message(k, side)];
        connection.execute("INSERT INTO messages (topic_id, timestamp, data) VALUES (?1, ?2, ?3)", values).unwrap();
    }
}

fn check_pairs(path: &Path, pairs: u64) -> Recording {
    let mut recording = Recording::open(path).unwrap();
    assert_eq!((recording.pairs().len() as u64, recording.losses()), (pairs, vec![]));
    for k in (0..pairs).rev() {
        let pair = Unpacker::of(None, Pixels::Luma, MaxPixels::default()).read(&mut recording, k).unwrap().1;
        assert_eq!((pair.left.luma.to_u8(), pair.right.luma.to_u8()), (picture(k, 0), picture(k, 1)), "{k}");
        assert_eq!(pair.capture_time, taken(k));
    }
    recording
}

#[test]
fn reads_bags_in_sqlite_of_all_distributions() {
    for kind in ["sensor_msgs/msg/Image", "sensor_msgs/Image"] {
        let (_folder, path) = base(TABLES, |connection| fill(connection, kind, 5));
        let recording = check_pairs(&path, 5);
        let schema = recording.channels()[0].schema.clone().unwrap();
        assert_eq!(schema.name, "sensor_msgs/msg/Image");
        assert!(schema.data.starts_with(ros2_definition()), "a definition for copies, which the base lacks");
        let names: Vec<_> = path.parent().unwrap().read_dir().unwrap().collect();
        assert_eq!(names.len(), 1, "nothing is written beside it: {names:?}");
    }
    let (_folder, path) = base(&[TABLES, DEFINITIONS].concat(), |connection| {
        fill(connection, "sensor_msgs/msg/Image", 2);
        let row = "INSERT INTO message_definitions VALUES (1, 'sensor_msgs/msg/Image', 'ros2msg', 'its own', '')";
        connection.execute(row, []).unwrap();
    });
    let recording = check_pairs(&path, 2);
    assert_eq!(recording.channels()[1].schema.as_ref().unwrap().data, b"its own");
}

fn ros2_definition() -> &'static [u8] {
    crate::format::ros2::definition("sensor_msgs/msg/Image").unwrap().as_bytes()
}

#[test]
fn reads_a_folder_of_compressed_bases() {
    let (folder, path) = base(TABLES, |connection| fill(connection, "sensor_msgs/msg/Image", 3));
    let packed = path.with_extension("db3.zstd");
    std::fs::write(&packed, zstd::encode_all(&std::fs::read(&path).unwrap()[..], 1).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    check_pairs(&packed, 3);
    let name = packed.file_name().unwrap().to_str().unwrap();
    let metadata = format!("rosbag2_bagfile_information:\n  relative_file_paths:\n    - {name}\n");
    std::fs::write(folder.path().join("metadata.yaml"), metadata).unwrap();
    check_pairs(folder.path(), 3);
}

#[test]
fn reads_messages_that_are_compressed_one_by_one() {
    let (_folder, path) = base(TABLES, |connection| {
        fill(connection, "sensor_msgs/msg/Image", 2);
        for id in 1..=4_u64 {
            let data = zstd::encode_all(&message((id - 1) / 2, (id as usize - 1) % 2)[..], 1).unwrap();
            connection.execute("UPDATE messages SET data = ?1 WHERE id = ?2", params![data, id as i64]).unwrap();
        }
    });
    check_pairs(&path, 2);
}

#[test]
fn reads_a_damaged_base_as_far_as_possible() {
    let (_folder, path) = base(TABLES, |connection| fill(connection, "sensor_msgs/msg/Image", 400));
    let mut bytes = std::fs::read(&path).unwrap();
    // the leaves of the table begin with 13
    let leaves: Vec<usize> =
        (0..bytes.len()).step_by(4096).skip(4).filter(|&at| bytes[at..].starts_with(&[13])).collect();
    let middle = leaves[leaves.len() / 2];
    bytes[middle..middle + 4096].fill(0xAA);
    std::fs::write(&path, &bytes).unwrap();
    let recording = Recording::open(&path).unwrap();
    let (found, losses) = (recording.pairs().len(), recording.losses().join("; "));
    assert!((300..400).contains(&found) && losses.contains("between damaged pages"), "{found}: {losses}");
}

#[test]
fn names_what_a_recorder_left_beside_the_base() {
    let (_folder, path) = base(TABLES, |connection| fill(connection, "sensor_msgs/msg/Image", 2));
    let wal = path.with_file_name("walk 100%_0.db3-wal");
    std::fs::write(&wal, "frames").unwrap();
    let losses = Recording::open(&path).unwrap().losses().join("; ");
    assert!(losses.contains("db3-wal, which is left out") && losses.contains("journal_mode=DELETE"), "{losses}");
}

#[test]
fn runs_nothing_that_a_hostile_base_holds() {
    let refusal = |tables: &str| {
        let (_folder, path) = base(tables, |_| {});
        Recording::open(&path).unwrap_err().to_string()
    };
    let [topics, messages, _] = TABLES.split_inclusive(';').collect::<Vec<_>>()[..] else { unreachable!() };
    // endless without its limits
    let view = "CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                SELECT i AS id, 7 AS topic_id, i AS timestamp, zeroblob(1000) AS data FROM n;";
    let computed = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data AS (zeroblob(500000000)));";
    let hidden = "CREATE TABLE messages(rowid, topic_id, timestamp, data);";
    let early = "CREATE TABLE messages(id INTEGER PRIMARY KEY, data, topic_id, timestamp);";
    let unnumbered = "CREATE TABLE messages(id PRIMARY KEY, topic_id, timestamp, data) WITHOUT ROWID;";
    let virtual_table = "CREATE VIRTUAL TABLE messages USING fts5(id, topic_id, timestamp, data);";
    for (tables, says) in [
        ([topics, view].concat(), "no table 'messages'"),
        ([topics, computed].concat(), "no table 'messages'"),
        ([topics, hidden].concat(), "no table 'messages'"),
        ([topics, early].concat(), "no table 'messages'"),
        ([topics, unnumbered].concat(), ""),
        ([topics, virtual_table].concat(), "no table 'messages'"),
        (["CREATE VIEW topics AS SELECT 1 AS id;", messages].concat(), "no table 'topics'"),
        (messages.to_owned(), "no table 'topics'"),
    ] {
        let text = refusal(&tables);
        assert!(text.contains(says), "{tables}: {text}");
    }
}

#[test]
fn messages_that_claim_more_than_the_file_has_come_to_an_end() {
    // rows that lack a column have its default: a megabyte each, which is stored once
    let tables = TABLES.replace(", data BLOB NOT NULL", "");
    let (_folder, path) = base(&tables, |connection| {
        let topic = "INSERT INTO topics VALUES (7, '/left/image', 'sensor_msgs/msg/Image', 'cdr', '')";
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) \
                    INSERT INTO messages SELECT i, 7, i FROM n";
        let column = format!("ALTER TABLE messages ADD COLUMN data BLOB DEFAULT x'{}'", "00".repeat(1 << 18));
        connection.execute_batch(&[topic, rows, &column].join(";")).unwrap();
    });
    let bytes = path.metadata().unwrap().len();
    let (mut file, mut index) = (RecordingFile::new(&path), FileIndex::default());
    file.open(&path).unwrap();
    file.last_db3().unwrap().index(0, &mut index).unwrap();
    assert!((index.positions("/left/image").len() as u64) << 18 <= bytes + (1 << 18));
    let damage = index.take_damage()[0].to_string();
    assert!(damage.contains("claim more bytes than it has"), "{damage}");
}

#[test]
fn a_base_that_is_cut_or_has_senseless_rows_is_answered() {
    let (_folder, path) = base(TABLES, |connection| fill(connection, "sensor_msgs/msg/Image", 9));
    let bytes = std::fs::read(&path).unwrap();
    let mut whole = 0;
    for length in (0..bytes.len()).step_by(509) {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let opened = Recording::open(&path);
        let pairs = opened.as_ref().map_or(0, |recording| recording.pairs().len());
        assert!(pairs >= whole, "{pairs} pairs of {length} bytes, and {whole} of fewer");
        whole = pairs;
        let is_told = opened.as_ref().map_or(true, |recording| !recording.losses().is_empty());
        assert!(is_told || pairs == 9, "{length} bytes");
    }
    assert!(whole > 5, "{whole}");
    for wrong in [-1, i64::MAX] {
        let (_folder, path) = base(TABLES, |connection| {
            fill(connection, "sensor_msgs/msg/Image", 3);
            connection.execute("UPDATE messages SET id = ?1, timestamp = -5 WHERE id = 3", [wrong]).unwrap();
            connection.execute("UPDATE messages SET topic_id = 'a' WHERE id = 4", []).unwrap();
        });
        let recording = Recording::open(&path).unwrap();
        assert_eq!(recording.pairs().len(), 2, "{wrong}");
        let losses = recording.losses().join("; ");
        assert!(losses.contains("make no sense") || losses.contains("makes no sense"), "{losses}");
    }
}
