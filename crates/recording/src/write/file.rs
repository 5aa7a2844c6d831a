//! From packets to chunks to a file or pipe. Each chunk is appended in one piece, so a file that is never finished stays readable.

use super::error::NearlyFull;
use super::{Compression, RecordError, Target, disk, name};
use crate::format::ros2::bag::{METADATA_NAME, bag_metadata};
use crate::part::PartNote;
use crate::{Channel, Format, Packet, time};
use mcap::records::{MessageHeader, Metadata, op};
use mcap::write::{NoSeek, WriteOptions, Writer};
use mcap::{Attachment, McapError, McapResult};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;
use stereopsis_base::files::{Growing, WriteError};

/// Size at which a chunk is finished behind an item, bytes.
const CHUNK_BYTES: u64 = 1 << 20;
/// Size at which it is finished within an item, bytes.
const MAX_CHUNK_BYTES: u64 = 32 << 20;
/// Size of the buffer for small writes, which are the indexes behind a chunk.
const BUFFER_BYTES: usize = 64 << 10;
/// Largest bytes of a message's record without its data, and of its entry in the index behind its chunk.
const MESSAGE_BYTES: u64 = 9 + 22 + 16;
/// Largest bytes of a chunk's fields, and of its entry in the summary.
const CHUNK_FIELDS: u64 = 256;
/// Largest bytes of a channel in the indexes of a chunk: its own index, and an entry in the summary.
const CHUNK_CHANNEL: u64 = 32;
/// Largest bytes of a channel without its texts, where it is described: itself, statistics, metadata for `ros2 bag`.
const CHANNEL_FIELDS: u64 = 1024;
/// Largest bytes of the last event and counters, of metadata, and of what else the end of a file has.
const END_BYTES: u64 = 8 << 10;

/// Destination of the bytes.
pub type Sink = Box<dyn Write + Send>;

/// File or pipe behind a [`Sink`].
pub(super) struct OpenTarget {
    /// Name of the file or pipe, for messages.
    pub(super) name: String,
    /// Name of the disk, for messages.
    pub(super) disk: String,
    /// File; `None` for a pipe.
    pub(super) file: Option<Growing>,
    /// Largest size that the file may reach, bytes; `None` if unknown.
    pub(super) max_bytes: Option<u64>,
    /// Function that returns the free bytes on the disk; `None` if unknown.
    pub(super) free_bytes: Box<dyn Fn() -> Option<u64> + Send>,
}

impl OpenTarget {
    /// Makes a new file, or opens standard output. Fails where the file exists or cannot be made, or the disk is full.
    pub(super) fn open(target: &Target) -> Result<(Self, Sink), RecordError> {
        match target {
            Target::File(path) => Self::create(path).map_err(|err| match err.source.kind() {
                io::ErrorKind::AlreadyExists => RecordError::Exists { path: path.clone(), free: name::free_name(path) },
                _ => RecordError::Create(err.into()),
            }),
            Target::Stdout => {
                let name = target.to_string();
                let cannot = |err: io::Error| RecordError::Stdout { target: name.clone(), error: err.into() };
                let sink = Box::new(standard_output().map_err(cannot)?);
                let (disk, free_bytes) = (String::new(), Box::new(|| None));
                Ok((Self { name, disk, file: None, max_bytes: None, free_bytes }, sink))
            }
        }
    }

    /// Makes a new file.
    pub(super) fn create(path: &Path) -> Result<(Self, Sink), WriteError> {
        let cannot = |err: io::Error| WriteError::new(path, err);
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let (name, disk) = (path.display().to_string(), disk::name(&folder));
        if let Some(left_bytes) = disk::free_bytes(&folder).filter(|&free| free < disk::reserve(0.0)) {
            return Err(cannot(io::Error::new(io::ErrorKind::StorageFull, NearlyFull { disk, left_bytes })));
        }
        let file = Growing::create_new(path).map_err(cannot)?;
        let sink = file.handle().map_err(cannot)?;
        let max_bytes = disk::max_file_bytes(&folder);
        let free_bytes = Box::new(move || disk::free_bytes(&folder));
        Ok((Self { name, disk, file: Some(file), max_bytes, free_bytes }, Box::new(sink)))
    }
}

/// Opens standard output without line buffering.
fn standard_output() -> io::Result<File> {
    #[cfg(windows)]
    let handle = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    #[cfg(not(windows))]
    let handle = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    Ok(File::from(handle))
}

/// Writer of an MCAP file.
pub struct McapFile {
    writer: Writer<NoSeek<BufWriter<CountingSink>>>,
    /// Channels in the file with their ids and numbers of messages.
    channels: Vec<(Arc<Channel>, u16, u64)>,
    /// Smallest and largest log time, ns since 1970.
    times_ns: Option<(u64, u64)>,
    /// Name of the file, if it gets metadata for `ros2 bag`.
    bag: Option<String>,
    /// Number of bytes that the file, and others before it, have.
    written: Arc<AtomicU64>,
    /// [`Self::written`] at the start of this file.
    start: u64,
    is_abandoned: Arc<AtomicBool>,
    /// Bytes of the file at the last flush.
    pub(super) settled: u64,
    /// Largest bytes of the messages since then; 0 where all are with the system.
    pub(super) open: u64,
    /// Largest number of chunks until then.
    chunks: u64,
    /// Largest bytes of all descriptions of topics at one place.
    descriptions: u64,
}

impl McapFile {
    /// Begins a file. `written` counts the bytes; `part` is its place in a recording of several files.
    ///
    /// # Errors
    /// The file or pipe takes no more bytes.
    pub fn begin(
        sink: Sink,
        name: &str,
        (format, compression): (Format, Compression),
        part: Option<&PartNote>,
        written: Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let (compression, level) = match compression {
            Compression::None => (None, 0),
            Compression::Lz4 => (Some(mcap::Compression::Lz4), 0),
            Compression::Zstd => (Some(mcap::Compression::Zstd), 1),
        };
        let options = WriteOptions::new()
            .profile(format.profile())
            .library(concat!("stereopsis ", env!("CARGO_PKG_VERSION")))
            .chunk_size(Some(MAX_CHUNK_BYTES))
            .compression(compression)
            .compression_level(level)
            .compression_threads(0)
            .disable_seeking(true);
        let start = written.load(Ordering::Relaxed);
        let is_abandoned = Arc::<AtomicBool>::default();
        let counting = CountingSink { sink, written: Arc::clone(&written), is_abandoned: Arc::clone(&is_abandoned) };
        let sink = BufWriter::with_capacity(BUFFER_BYTES, counting);
        let writer = options.create(NoSeek::new(sink)).map_err(io_error)?;
        let bag = (format == Format::Ros2).then(|| name.to_owned());
        let (channels, times_ns, settled, open, chunks, descriptions) = (Vec::new(), None, 0, 0, 0, 0);
        let mut file =
            Self { writer, channels, times_ns, bag, written, start, is_abandoned, settled, open, chunks, descriptions };
        // in case the file is never finished
        file.describe_bag()?;
        if let Some(part) = part {
            file.writer.write_metadata(&part.to_metadata()).map_err(io_error)?;
            file.flush()?;
        }
        Ok(file)
    }

    /// Passes no more bytes to the system, neither now nor when it is dropped.
    pub(super) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }

    /// Returns the largest size, bytes, that the file has if it ends behind these packets, with such a calibration.
    pub(super) fn bytes_with(&self, packets: &[Packet], calibration: Option<&str>) -> u64 {
        let is_new = |packet: &&Packet| !self.channels.iter().any(|(channel, ..)| *channel == packet.channel);
        let mut new: Vec<&Arc<Channel>> = packets.iter().filter(is_new).map(|packet| &packet.channel).collect();
        new.dedup_by_key(|channel| Arc::as_ptr(channel));
        let channels = (self.channels.len() + new.len() + 1) as u64;
        let described = self.descriptions + new.iter().map(|channel| described_bytes(channel)).sum::<u64>();
        let data: u64 = packets.iter().map(|packet| MESSAGE_BYTES + packet.data.len() as u64).sum();
        // what cannot be compressed becomes a little larger
        let open = (self.open + data + described) / 100 * 101 + 100;
        let chunks = self.chunks + chunks_of(self.open + data);
        let calibration = calibration.map_or(0, |text| text.len() as u64);
        self.settled
            + open
            + chunks * (CHUNK_FIELDS + channels * CHUNK_CHANNEL)
            + 2 * described
            + calibration
            + END_BYTES
    }

    /// Adds the messages of an item to the open chunk, and finishes it behind them if it is large.
    ///
    /// # Errors
    /// The file or pipe takes no more bytes.
    pub fn write(&mut self, packets: &[Packet]) -> io::Result<()> {
        packets.iter().try_for_each(|packet| self.write_packet(packet))?;
        if self.open < CHUNK_BYTES { Ok(()) } else { self.flush() }
    }

    fn write_packet(&mut self, packet: &Packet) -> io::Result<()> {
        let known = self.channels.iter().position(|(channel, ..)| *channel == packet.channel);
        let index = match known {
            Some(index) => index,
            None => self.add(&packet.channel).map_err(io_error)?,
        };
        let (_, channel_id, count) = &mut self.channels[index];
        let channel_id = *channel_id;
        *count += 1;
        let time_ns = packet.log_time_ns;
        let (first, last) = self.times_ns.unwrap_or((time_ns, time_ns));
        self.times_ns = Some((first.min(time_ns), last.max(time_ns)));
        self.open += MESSAGE_BYTES + packet.data.len() as u64;
        let header = MessageHeader {
            channel_id,
            sequence: packet.sequence,
            log_time: packet.log_time_ns,
            publish_time: packet.publish_time_ns,
        };
        self.writer.write_to_known_channel(&header, &packet.data).map_err(io_error)
    }

    fn add(&mut self, channel: &Arc<Channel>) -> McapResult<usize> {
        let schema = match &channel.schema {
            Some(schema) => self.writer.add_schema(&schema.name, &schema.encoding, &schema.data)?,
            None => 0,
        };
        let id = self.writer.add_channel(schema, &channel.topic, &channel.message_encoding, &channel.metadata)?;
        self.channels.push((Arc::clone(channel), id, 0));
        self.descriptions += described_bytes(channel);
        self.open += described_bytes(channel);
        Ok(self.channels.len() - 1)
    }

    /// Finishes the chunk and passes all bytes to the system.
    ///
    /// # Errors
    /// The file or pipe takes no more bytes.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(io_error)?;
        self.chunks += chunks_of(self.open);
        self.open = 0;
        self.settled = self.written.load(Ordering::Relaxed) - self.start;
        Ok(())
    }

    fn describe_bag(&mut self) -> io::Result<()> {
        let Some(file_name) = &self.bag else { return Ok(()) };
        let counts: Vec<_> = self.channels.iter().map(|(channel, _, count)| (Arc::clone(channel), *count)).collect();
        let metadata = bag_metadata(file_name, &counts, self.times_ns.unwrap_or_default());
        let metadata = Metadata { name: METADATA_NAME.to_owned(), metadata };
        self.writer.write_metadata(&metadata).map_err(io_error)
    }

    /// Ends the file with the calibration as an attachment, statistics and indexes. `part` is the file's place in a recording of several, where
    /// another one follows.
    ///
    /// # Errors
    /// The file or pipe takes no more bytes.
    pub fn finish(&mut self, calibration: Option<&str>, part: Option<&PartNote>, now: SystemTime) -> io::Result<()> {
        if let Some(calibration) = calibration {
            let attachment = Attachment {
                log_time: time::to_ns(now),
                create_time: time::to_ns(now),
                name: "calibration.toml".to_owned(),
                media_type: "application/toml".to_owned(),
                data: Cow::Borrowed(calibration.as_bytes()),
            };
            self.writer.attach(&attachment).map_err(io_error)?;
        }
        self.describe_bag()?;
        if let Some(part) = part {
            self.writer.write_metadata(&part.to_metadata()).map_err(io_error)?;
        }
        self.writer.finish().map_err(io_error)?;
        self.settled = self.written.load(Ordering::Relaxed) - self.start;
        Ok(())
    }
}

/// Returns the largest number of chunks between two flushes with these bytes of messages.
fn chunks_of(bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { bytes / MAX_CHUNK_BYTES + 1 }
}

/// Returns the largest bytes of a channel's description at one place.
fn described_bytes(channel: &Channel) -> u64 {
    let schema =
        channel.schema.as_ref().map_or(0, |schema| schema.name.len() + schema.encoding.len() + schema.data.len());
    // metadata for `ros2 bag` repeats them, quoted
    let metadata: usize = channel.metadata.iter().map(|(key, value)| 3 * (key.len() + value.len())).sum();
    CHANNEL_FIELDS + (schema + metadata + 3 * channel.topic.len()) as u64
}

/// Ends an MCAP file behind its last whole record, without a summary.
pub(super) fn end_without_summary(mut file: &File) -> io::Result<()> {
    let data_end = [&[op::DATA_END][..], &4_u64.to_le_bytes(), &[0; 4]].concat();
    let footer = [&[op::FOOTER][..], &20_u64.to_le_bytes(), &[0; 20]].concat();
    file.write_all(&[&data_end[..], &footer, mcap::MAGIC].concat())
}

fn io_error(err: McapError) -> io::Error {
    match err {
        McapError::Io(err) => err,
        other => io::Error::other(other),
    }
}

struct CountingSink {
    sink: Sink,
    written: Arc<AtomicU64>,
    is_abandoned: Arc<AtomicBool>,
}

impl Write for CountingSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_abandoned.load(Ordering::Relaxed) {
            return Ok(bytes.len());
        }
        let taken = self.sink.write(bytes)?;
        self.written.fetch_add(taken as u64, Ordering::Relaxed);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
