//! From packets to chunks to a file or pipe. Each chunk is appended in one piece, so a file that is never finished stays readable.

use super::{Compression, RecordError, Target, disk, name};
use crate::files::{self, Growing, WriteError};
use crate::format::ros2::bag::{METADATA_NAME, bag_metadata};
use crate::{Channel, Format, Packet, time};
use mcap::records::{MessageHeader, Metadata};
use mcap::write::{NoSeek, WriteOptions, Writer};
use mcap::{Attachment, McapError, McapResult};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Size at which a chunk is finished, bytes.
const CHUNK_BYTES: u64 = 1 << 20;
/// Size of the buffer for small writes, which are the indexes behind a chunk.
const BUFFER_BYTES: usize = 64 << 10;

/// Destination of the bytes.
pub type Sink = Box<dyn Write + Send>;

/// File or pipe behind a [`Sink`].
pub(super) struct OpenTarget {
    /// Name of the file or pipe, for messages.
    pub(super) name: String,
    /// Name of the disk, for messages.
    pub(super) disk: String,
    /// Function that syncs the file and checks its size; `None` for a pipe.
    pub(super) sync: Option<Box<dyn Fn(u64) -> io::Result<()> + Send>>,
    /// Function that returns the free bytes on the disk; `None` if unknown.
    pub(super) free_bytes: Box<dyn Fn() -> Option<u64> + Send>,
}

impl OpenTarget {
    /// Makes a new file, or opens standard output. Fails where the file exists or cannot be made, or the disk is full.
    pub(super) fn open(target: &Target) -> Result<(Self, Sink), RecordError> {
        let name = target.to_string();
        match target {
            Target::File(path) => {
                let cannot = |err: io::Error| RecordError::Begin(WriteError::new(path, err).to_string());
                let folder = path.parent().unwrap_or(Path::new("")).to_owned();
                let disk = disk::name(&folder);
                if let Some(left) = disk::free_bytes(&folder).filter(|&free| free < disk::reserve(0.0)) {
                    let text = format!("{disk} has only {} MB left", left / 1_000_000);
                    return Err(cannot(io::Error::new(io::ErrorKind::StorageFull, text)));
                }
                let file = Growing::create_new(path).map_err(|err| {
                    if err.kind() == io::ErrorKind::AlreadyExists {
                        let free = name::free_name(path);
                        return RecordError::Begin(format!(
                            "{name} exists and is not overwritten; {} is free",
                            free.display()
                        ));
                    }
                    cannot(err)
                })?;
                let sink = file.handle().map_err(cannot)?;
                let sync: Box<dyn Fn(u64) -> _ + Send> = Box::new(move |written| file.sync(written));
                let free_bytes = Box::new(move || disk::free_bytes(&folder));
                Ok((Self { name, disk, sync: Some(sync), free_bytes }, Box::new(sink)))
            }
            Target::Stdout => {
                let cannot = |err| RecordError::Begin(format!("cannot write {name}: {}", files::cause(&err)));
                let sink = Box::new(standard_output().map_err(cannot)?);
                Ok((Self { name, disk: String::new(), sync: None, free_bytes: Box::new(|| None) }, sink))
            }
        }
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
}

impl McapFile {
    /// Begins a file. `written` counts the bytes.
    ///
    /// # Errors
    /// The file or pipe takes no more bytes.
    pub fn begin(
        sink: Sink,
        name: &str,
        format: Format,
        compression: Compression,
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
            .chunk_size(Some(CHUNK_BYTES))
            .compression(compression)
            .compression_level(level)
            .compression_threads(0)
            .disable_seeking(true);
        let sink = BufWriter::with_capacity(BUFFER_BYTES, CountingSink { sink, written });
        let writer = options.create(NoSeek::new(sink)).map_err(io_error)?;
        let bag = (format == Format::Ros2).then(|| name.to_owned());
        let mut file = Self { writer, channels: Vec::new(), times_ns: None, bag };
        // in case the file is never finished
        file.describe_bag()?;
        Ok(file)
    }

    /// Adds a message to the open chunk.
    ///
    /// # Errors
    /// The file or pipe takes no more bytes.
    pub fn write(&mut self, packet: &Packet) -> io::Result<()> {
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
        Ok(self.channels.len() - 1)
    }

    /// Finishes the chunk and passes all bytes to the system.
    ///
    /// # Errors
    /// The file or pipe takes no more bytes.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(io_error)
    }

    fn describe_bag(&mut self) -> io::Result<()> {
        let Some(file_name) = &self.bag else { return Ok(()) };
        let counts: Vec<_> = self.channels.iter().map(|(channel, _, count)| (Arc::clone(channel), *count)).collect();
        let metadata = bag_metadata(file_name, &counts, self.times_ns.unwrap_or_default());
        let metadata = Metadata { name: METADATA_NAME.to_owned(), metadata };
        self.writer.write_metadata(&metadata).map_err(io_error)
    }

    /// Ends the file with the calibration as an attachment, statistics and indexes.
    ///
    /// # Errors
    /// The file or pipe takes no more bytes.
    pub fn finish(&mut self, calibration: Option<&str>, now: SystemTime) -> io::Result<()> {
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
        self.writer.finish().map_err(io_error)?;
        Ok(())
    }
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
}

impl Write for CountingSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.sink.write(bytes)?;
        self.written.fetch_add(taken as u64, Ordering::Relaxed);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
