//! Bag of ROS 2 in SQLite (`.db3`): its topics and the positions of its messages, and each message as the record that an MCAP file would
//! have. Tables are those that rosbag2 has had since Crystal, and of librealsense 2.59.
//!
//! The base is opened read-only and as one that nobody changes, so that no file is made beside it. Only real tables with plain columns are
//! read, by their row numbers: no view, trigger, virtual table, index or computed column of a hostile base is used. Rows, bytes and
//! steps are limited.

use super::index::{FileIndex, Position};
use super::limits;
use super::records::RECORD_HEADER;
use crate::error::{Damage, Db3Error, OpenError};
use crate::format::ros2;
use crate::{Channel, Schema};
use mcap::records::op;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Row, params};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// First bytes of each base.
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Largest row number of a message that is read.
pub(super) const MAX_ROW: u64 = 1 << 40;

/// Steps of SQLite's machine between two looks at their limit.
const STEPS_AT_ONCE: u64 = 1_000;
/// Maximum steps while a base is opened: 16 for each of the most messages.
const MAX_STEPS: u64 = 16 * limits::MAX_MESSAGES as u64;
/// Maximum steps for one message.
const MAX_MESSAGE_STEPS: u64 = 100_000;
/// Minimum bytes of a message's row, so that rows that a damaged tree repeats come to an end.
const MIN_ROW_BYTES: u64 = 8;

/// Open bag in SQLite.
#[derive(Debug)]
pub(super) struct Db3 {
    connection: Connection,
    /// Bytes of the file.
    bytes: u64,
    /// Number of the channel of each topic that the base numbers.
    channels: HashMap<i64, u16>,
    /// Steps that are left until a query is ended.
    steps: Arc<AtomicU64>,
}

impl Db3 {
    /// Opens the base of a file of `bytes` bytes.
    pub(super) fn open(path: &Path, bytes: u64) -> Result<Self, OpenError> {
        Ok(Self::connect(path, bytes).map_err(Db3Error::from)?)
    }

    fn connect(path: &Path, bytes: u64) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(uri(path), flags)?;
        for (option, is_on) in [
            // a base that is cut off is refused without this; nothing can be written
            (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        ] {
            connection.set_db_config(option, is_on)?;
        }
        for (limit, most) in [
            (Limit::SQLITE_LIMIT_LENGTH, limits::MAX_CHUNK_BYTES as i32),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 32),
            (Limit::SQLITE_LIMIT_COLUMN, 64),
        ] {
            connection.set_limit(limit, most)?;
        }
        let steps = Arc::new(AtomicU64::new(MAX_STEPS));
        let left = Arc::clone(&steps);
        let is_out = move || {
            let before = left.load(Ordering::Relaxed);
            left.store(before.saturating_sub(STEPS_AT_ONCE), Ordering::Relaxed);
            before == 0
        };
        connection.progress_handler(STEPS_AT_ONCE as i32, Some(is_out))?;
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "mmap_size", 0)?;
        Ok(Self { connection, bytes, channels: HashMap::new(), steps })
    }

    /// Adds the topics, and the messages at the offset `start` and their row numbers, to an index. Damage of messages is no error.
    pub(super) fn index(&mut self, start: u64, index: &mut FileIndex) -> Result<(), OpenError> {
        self.steps.store(MAX_STEPS, Ordering::Relaxed);
        self.add_topics(index)?;
        self.check_table("messages", &["topic_id", "timestamp"], Some("data"))?;
        let mut rows = Rows { last: -1, count: 0, bytes: 0, senseless: 0 };
        if let Err(why) = self.add_messages(start, false, &mut rows, index)? {
            // behind a damaged page, what can be reached from the end
            let _same_damage = self.add_messages(start, true, &mut rows, index)?;
            index.add_damage(Damage::Db3(why));
        }
        rows.report(index);
        Ok(())
    }

    /// Checks that a table is a real one with plain columns of these names; the column `last` comes behind them.
    fn check_table(
        &self,
        table: &'static str,
        columns: &[&'static str],
        last: Option<&'static str>,
    ) -> Result<(), Db3Error> {
        if !self.has_table(table)? {
            return Err(Db3Error::NoTable(table));
        }
        let mut found = Vec::new();
        self.connection.pragma(None, "table_xinfo", table, |row| {
            found.push((row.get::<_, String>("name")?, row.get::<_, i64>("hidden")?));
            Ok(())
        })?;
        let place = |name: &str| found.iter().position(|(found, hidden)| found == name && *hidden == 0);
        let end = last.map_or(Some(found.len()), place).ok_or(Db3Error::NoTable(table))?;
        let are_plain = columns.iter().all(|name| place(name).is_some_and(|place| place < end));
        // SQLite would read a column of this name in place of the row's number
        let is_numbered = !found.iter().any(|(name, _)| name.eq_ignore_ascii_case("rowid"));
        if are_plain && is_numbered { Ok(()) } else { Err(Db3Error::NoTable(table)) }
    }

    fn has_table(&self, name: &str) -> rusqlite::Result<bool> {
        let real = "SELECT count(*) FROM sqlite_schema WHERE lower(name) = ?1 AND type = 'table' AND rootpage > 0";
        self.connection.query_row(real, [name], |row| row.get::<_, i64>(0)).map(|count| count == 1)
    }

    fn add_topics(&mut self, index: &mut FileIndex) -> Result<(), OpenError> {
        self.check_table("topics", &["id", "name", "type", "serialization_format"], None)?;
        let definitions = self.definitions()?;
        let mut schemas = HashMap::<String, Arc<Schema>>::new();
        let mut statement = self
            .connection
            .prepare("SELECT id, name, type, serialization_format FROM topics NOT INDEXED")
            .map_err(Db3Error::from)?;
        let mut rows = statement.query([]).map_err(Db3Error::from)?;
        while let Some(row) = rows.next().map_err(Db3Error::from)? {
            let id: i64 = row.get(0).map_err(Db3Error::from)?;
            let [topic, name, message_encoding] = [1, 2, 3].map(|column| text(row, column));
            let name = with_package(name?);
            if self.channels.len() == limits::MAX_CHANNELS {
                return Err(limits::exceeded("topics (channels)", limits::MAX_CHANNELS));
            }
            let schema = if let Some(schema) = schemas.get(&name) {
                Arc::clone(schema)
            } else {
                let schema = definitions.get(&name).cloned().unwrap_or_else(|| known_schema(&name));
                let bytes = schema.name.len() + schema.data.len();
                let schema = index.add_schema(schema, bytes)?;
                schemas.insert(name, Arc::clone(&schema));
                schema
            };
            let number = self.channels.len() as u16;
            let (topic, message_encoding) = (topic?, message_encoding?);
            let bytes = topic.len() + message_encoding.len();
            let channel = Channel { topic, message_encoding, schema: Some(schema), metadata: BTreeMap::new() };
            index.add_channel(number, channel, bytes)?;
            self.channels.insert(id, number);
        }
        Ok(())
    }

    /// Returns the definitions of types in the base: those of Iron and later have them.
    fn definitions(&self) -> Result<HashMap<String, Schema>, OpenError> {
        let mut definitions = HashMap::new();
        if !self.has_table("message_definitions").map_err(Db3Error::from)? {
            return Ok(definitions);
        }
        self.check_table("message_definitions", &["topic_type", "encoding", "encoded_message_definition"], None)?;
        let all = "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions NOT INDEXED";
        let mut statement = self.connection.prepare(all).map_err(Db3Error::from)?;
        let mut rows = statement.query([]).map_err(Db3Error::from)?;
        let mut bytes = 0;
        while let Some(row) = rows.next().map_err(Db3Error::from)? {
            let (name, encoding, data) = (text(row, 0)?, text(row, 1)?, text(row, 2)?);
            bytes += name.len() + data.len();
            if bytes > limits::MAX_DESCRIPTION_BYTES {
                return Err(limits::exceeded("bytes that describe its topics", limits::MAX_DESCRIPTION_BYTES));
            }
            // rosbag2 leaves a definition empty that it does not find
            if !data.is_empty() {
                definitions.insert(name.clone(), Schema { name, encoding, data: data.into_bytes() });
            }
        }
        Ok(definitions)
    }

    /// Adds the messages behind the last row in the order of recording, or `from_end`. The inner error is damage that ended it.
    fn add_messages(
        &self,
        start: u64,
        from_end: bool,
        rows: &mut Rows,
        index: &mut FileIndex,
    ) -> Result<Result<(), Db3Error>, OpenError> {
        let order = if from_end { "DESC" } else { "ASC" };
        let all = format!(
            "SELECT rowid, topic_id, timestamp, octet_length(data) FROM messages NOT INDEXED WHERE rowid > ?1 ORDER BY rowid {order}"
        );
        let (mut found, mut refused) = (Vec::new(), None);
        let mut add = |number: u16, position: Position| {
            if from_end {
                found.push((number, position));
            } else {
                refused = index.add_message(number, position).err();
            }
            refused.is_none() && found.len() <= limits::MAX_MESSAGES
        };
        let end = self
            .each_row(&all, rows, from_end, |number, id, time_ns| add(number, Position::in_file(start + id, time_ns)));
        if let Some(why) = refused {
            return Err(why);
        }
        for (number, position) in found.into_iter().rev() {
            index.add_message(number, position)?;
        }
        Ok(end)
    }

    /// Calls `add` with channel, row number and time of each message, until it returns false. The rows come in the order of recording, or
    /// `from_end`.
    fn each_row(
        &self,
        all: &str,
        rows: &mut Rows,
        from_end: bool,
        mut add: impl FnMut(u16, u64, u64) -> bool,
    ) -> Result<(), Db3Error> {
        let mut statement = self.connection.prepare(all)?;
        let mut selected = statement.query([rows.last])?;
        while let Some(row) = selected.next()? {
            let numbers = [0, 1, 2, 3].map(|column| row.get_ref(column).ok()?.as_i64().ok());
            rows.count += 1;
            if rows.count > self.bytes / MIN_ROW_BYTES {
                return Err(Db3Error::MoreThanFile);
            }
            let [Some(id), Some(topic), Some(time_ns), Some(bytes)] = numbers else {
                rows.senseless += 1;
                continue;
            };
            rows.bytes = rows.bytes.saturating_add(bytes.unsigned_abs());
            if rows.bytes > self.bytes {
                return Err(Db3Error::MoreThanFile);
            }
            if !from_end {
                rows.last = id;
            }
            match (self.channels.get(&topic), u64::try_from(id), u64::try_from(time_ns)) {
                (Some(&number), Ok(id), Ok(time_ns)) if id <= MAX_ROW => {
                    if !add(number, id, time_ns) {
                        break;
                    }
                }
                _ => rows.senseless += 1,
            }
        }
        Ok(())
    }

    /// Returns a message as the record of an MCAP file; its sequence number is 0. `None` where there is none.
    pub(super) fn record(&self, id: u64) -> Result<Option<Vec<u8>>, Db3Error> {
        self.steps.store(MAX_MESSAGE_STEPS, Ordering::Relaxed);
        let one = "SELECT topic_id, timestamp, data FROM messages NOT INDEXED WHERE rowid = ?1";
        let mut statement = self.connection.prepare(one)?;
        let mut rows = statement.query(params![id as i64])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let number = self.channels.get(&row.get(0)?).copied();
        let (Some(number), Ok(time_ns)) = (number, u64::try_from(row.get::<_, i64>(1)?)) else { return Ok(None) };
        let data = row.get_ref(2)?.as_bytes().map_err(rusqlite::Error::from)?;
        let length = super::records::MESSAGE_HEADER as usize + data.len();
        let mut record = Vec::with_capacity(RECORD_HEADER as usize + length);
        record.push(op::MESSAGE);
        record.extend((length as u64).to_le_bytes());
        record.extend(number.to_le_bytes());
        record.extend(0_u32.to_le_bytes());
        record.extend(time_ns.to_le_bytes());
        record.extend(time_ns.to_le_bytes());
        record.extend(data);
        Ok(Some(record))
    }
}

/// Rows of messages that were read so far.
struct Rows {
    /// Row number of the last one in the order of recording.
    last: i64,
    count: u64,
    /// Bytes of their messages.
    bytes: u64,
    /// Number of those that are no messages.
    senseless: u64,
}

impl Rows {
    fn report(&self, index: &mut FileIndex) {
        let one_or_more =
            ["message makes no sense or is of no known topic", "messages make no sense or are of no known topic"];
        if self.senseless > 0 {
            index.add_damage(Damage::Several { count: self.senseless, one_or_more });
        }
    }
}

fn text(row: &Row, column: usize) -> Result<String, Db3Error> {
    let bytes = row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// Returns the name of a type as ROS 2 has it since Dashing: Crystal wrote `sensor_msgs/Image`.
fn with_package(name: String) -> String {
    match name.split_once('/') {
        Some((package, kind)) if !kind.contains('/') => format!("{package}/msg/{kind}"),
        _ => name,
    }
}

/// Returns the schema of a type whose definition the base lacks: the definition that this program writes, or none.
fn known_schema(name: &str) -> Schema {
    let data = ros2::definition(name).unwrap_or_default().into();
    Schema { name: name.to_owned(), encoding: "ros2msg".to_owned(), data }
}

/// Returns the address by which SQLite opens a file that does not change while it is open.
fn uri(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut bytes = path.as_os_str().as_encoded_bytes().to_vec();
    if cfg!(windows) {
        bytes.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
        bytes.insert(0, b'/');
    }
    let encoded = bytes.into_iter().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b':' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    format!("file://{}?immutable=1", encoded.collect::<String>())
}
