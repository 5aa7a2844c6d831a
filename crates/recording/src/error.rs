//! Faults of reading, playing and packing.

use crate::Stream;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};
use stereopsis_base::console::{counted, foreign};
use stereopsis_base::remedy::{Part, Remedy, option};
use stereopsis_base::{console, files};
use stereopsis_calibration::CalibrationError;
use stereopsis_frame::Cause;
use stereopsis_frame::decode_camera::DecodeError;

/// Reason why a recording, or a part of it, cannot be read. The text names the file and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all, or is no recording of pairs.
    #[error(transparent)]
    File(#[from] FileError),
    /// A part is damaged; others may be readable.
    #[error(transparent)]
    Damaged(#[from] Damage),
}

/// Reason why a recording cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be opened, or its index not be built.
    #[error("cannot read {}: {why}", console::path(.path))]
    Read { path: PathBuf, why: OpenError },
    /// A topic has fewer messages.
    #[error("{} has no message {k} of {}, but {count}", console::path(.path), foreign(.topic))]
    NoMessage { path: PathBuf, topic: String, k: u64, count: usize },
    /// There are fewer pairs.
    #[error("{} has no pair {k}, but {count}", console::path(.path))]
    NoPair { path: PathBuf, k: u64, count: usize },
    /// No topics have the images of a pair. `path` is that of a file, `unread` lists topics that look like images.
    #[error(
        "{}{why}{}",
        .path.as_ref().map_or_else(String::new, |path| format!("cannot play {}: ", console::path(path))),
        .unread.iter().map(|topic| format!("; {topic}")).collect::<Vec<_>>().concat()
    )]
    Topics { path: Option<PathBuf>, why: TopicError, unread: Vec<String> },
    /// The pipe cannot be read, or its recording exceeds a limit.
    #[error("cannot read the pipe: {0}")]
    Pipe(OpenError),
    /// The pipe goes on with something else.
    #[error("the recording in the pipe is damaged: what comes is no record")]
    NoRecord,
    /// The pipe goes on with more than is read.
    #[error(
        "the recording in the pipe is damaged: a record claims {length} bytes, and one of more than {limit} is not read"
    )]
    LongRecord { length: u64, limit: u64 },
    /// The pipe ended at once.
    #[error("nothing came through the pipe: does the program before it run, and write a recording to standard output?")]
    NothingCame,
    /// The pipe has something else.
    #[error(
        "what comes through the pipe is no MCAP recording: write one with {}",
        Remedy::Run(vec![Part::Word("record".into()), Part::Option("output"), Part::Word("-".into())])
    )]
    NoRecording,
}

/// Reason why a file is not opened, or its index not built.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system does not open the file.
    #[error("{}", files::read_cause(.path, .cause))]
    Open { path: PathBuf, cause: io::Error },
    /// The system does not read the file.
    #[error("{}", files::cause(.0))]
    Read(#[from] io::Error),
    /// The recording exceeds a limit.
    #[error(
        "it has more than {limit} {what}, which is more than is read of a recording: split it, or leave topics out of a copy"
    )]
    Exceeded { what: &'static str, limit: usize },
    /// It is of a kind that is not read.
    #[error("{0}")]
    Kind(Cause),
    /// The file has no bytes.
    #[error("the file is empty: its recording was stopped before anything was written")]
    Empty,
    /// The file is of another format.
    #[error("it is no MCAP file, and no bag in SQLite")]
    NoMcap,
    /// The build reads no bags in SQLite.
    #[error(
        "{} is a bag of ROS 2 in SQLite, which this build does not read: build it with the feature `db3` (`make run BAGS=1`), or convert it \
         with `rosbags-convert --src {} --dst {} --dst-storage mcap` (`pip install rosbags`)",
        console::path(.0),
        console::quoted(&.0.to_string_lossy()),
        console::quoted(&.0.with_extension("").to_string_lossy())
    )]
    NoDb3(PathBuf),
    /// The base of a bag in SQLite cannot be read.
    #[error(transparent)]
    Db3(#[from] Db3Error),
    /// The folder of a bag names no files.
    #[error("its metadata.yaml names no files")]
    NoFiles,
    /// None of several files can be read; this is wrong with the last one.
    #[error("{0}")]
    LastFile(Arc<Damage>),
    /// There is no room for the unpacked file.
    #[error(
        "it is compressed, and cannot be unpacked in {}: {}; set TMPDIR to a folder with more room, or unpack it with `zstd -d {}`",
        console::path(.folder),
        files::cause(.cause),
        console::quoted(&.path.to_string_lossy())
    )]
    NoRoom { path: PathBuf, folder: PathBuf, cause: io::Error },
    /// Nothing of the file can be unpacked.
    #[error("it is compressed and damaged from its start on: {}", files::cause(.0))]
    Packed(io::Error),
    /// The unpacked file is too large.
    #[error("it unpacks to more than {}", console::bytes(*.0))]
    UnpacksToMore(u64),
}

/// Reason why a bag in SQLite, or a message of it, is not read.
#[derive(Debug, thiserror::Error)]
pub enum Db3Error {
    /// A table is missing, or none of a bag.
    #[error("it is a base of SQLite, and no bag of ROS 2: it has no table '{0}' of a bag")]
    NoTable(&'static str),
    /// Rows are repeated.
    #[error("its base is damaged: its messages claim more bytes than it has")]
    MoreThanFile,
    /// SQLite fails.
    #[cfg(feature = "db3")]
    #[error("SQLite says of it: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// Damage of a part of a recording.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    // records
    #[error("{what} at {place} makes no sense")]
    Senseless { what: &'static str, place: Place },
    #[error("what begins at {0} is no record")]
    NoRecord(Place),
    #[error("the record at {place} claims to have {length} bytes")]
    LongRecord { place: Place, length: u64 },
    #[error("the message at {0} is of no known topic")]
    UnknownTopic(Place),
    #[error("the chunk at {place} is lost: {why}")]
    LostChunk { place: Place, why: ChunkDamage },
    #[error("{count} records of the chunk at {place} make no sense")]
    Records { count: u64, place: Place },
    #[error("{why}; {}", .bytes.map_or("nothing behind it can be found".into(), |bytes| format!("{bytes} bytes are skipped")))]
    Skipped { why: Box<Self>, bytes: Option<u64> },
    #[error("it was not finished: it ends after {bytes} bytes{}", if *.in_record { ", within a record" } else { "" })]
    Unfinished { bytes: u64, in_record: bool },

    // files
    #[error("what comes after {} cannot be unpacked: {cause}", console::bytes(*.bytes))]
    Packed { bytes: u64, cause: io::Error },
    #[error("{file}: {why}")]
    File { file: String, why: Cause },
    #[error("{file} and what follows is left out, behind {limit} files")]
    FollowingFiles { file: String, limit: usize },
    #[error("the recording goes on in {file}, which is {}", if *.is_there { "of another recording" } else { "not there" })]
    NoFile { file: String, is_there: bool },

    #[error("messages between damaged pages are left out: {0}")]
    Db3(Db3Error),
    #[error(
        "its recorder was stopped before it joined {}, which is left out: `sqlite3 {} 'PRAGMA journal_mode=DELETE'` joins both",
        console::path(.journal),
        console::quoted(&.path.to_string_lossy())
    )]
    Journal { journal: PathBuf, path: PathBuf },

    // contents
    #[error("what it says of itself cannot be read: {0}")]
    About(Box<ReadError>),
    #[error("what it says of its calibration is not used: {0}")]
    Calibration(CalibrationError),
    #[error("{} of {} cannot be read", counted(*.count, "image"), foreign(.topic))]
    Images { count: u64, topic: String },
    #[error("{} {}", .count, .one_or_more[usize::from(*.count != 1)])]
    Several { count: u64, one_or_more: [&'static str; 2] },
    #[error("the stamps of left and right are {0:.1} s apart, as of two clocks: {remedy}", remedy = by_log_time())]
    Stamps(f64),
    #[error(
        "left and right of one stamp were recorded {0:.1} s apart: if their clocks differ, these are no pairs, and {remedy}",
        remedy = by_log_time()
    )]
    Clocks(f64),

    // what is read later
    #[error("{}: the chunk at {place} is damaged: {why}", console::path(.path))]
    Chunk { path: PathBuf, place: Place, why: ChunkDamage },
    #[error(
        "{}: the message at {place} claims {length} bytes, and one of more than {limit} is not read",
        console::path(.path)
    )]
    LongMessage { path: PathBuf, place: Place, length: u64, limit: u64 },
    #[error("{}: a message is of no known topic", console::path(.0))]
    Channel(PathBuf),
    #[error("{}: there is no message where its index says", console::path(.0))]
    Index(PathBuf),
    #[error("{}: the images of pair {k} do not belong together", console::path(.path))]
    Pair { path: PathBuf, k: u64 },
    #[error("{}: {why}", foreign(.topic))]
    Topic { topic: String, why: MessageError },
    #[error(transparent)]
    Message(#[from] MessageError),
    #[error("the recording in the pipe is damaged: {0}")]
    Pipe(&'static str),
    #[error("the recording in the pipe is damaged: a chunk is lost: {0}")]
    PipeChunk(ChunkDamage),
    #[error("the recording in the pipe ends within a record: its writer was stopped")]
    PipeCut,
}

/// Returns the remedy where the clocks of both cameras differ.
fn by_log_time() -> String {
    format!("{} pairs them by the times at which they were recorded", Remedy::set("pair-by", "log-time"))
}

/// Reason why the records of a chunk are missing or not trusted.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ChunkDamage {
    #[error("it claims to hold {claimed} bytes, and a chunk of more than {limit} is not read: write smaller chunks")]
    TooLarge { claimed: u64, limit: u64 },
    #[error("it is cut off")]
    Cut,
    #[error("it holds more than the {0} bytes that it claims")]
    More(u64),
    #[error("it holds {bytes} bytes instead of {claimed}")]
    Fewer { bytes: usize, claimed: u64 },
    #[error("its checksum does not match")]
    Checksum,
    #[error("it is packed as '{}', which is not read here, only lz4 and zstd are", foreign(.0))]
    Compression(String),
    #[error("{0}")]
    Packed(Arc<io::Error>),
}

/// Place in a recording.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset in the file, bytes.
    pub byte: u64,
    /// Name of the file, where there are several.
    pub file: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.byte)?;
        self.file.as_ref().map_or(Ok(()), |file| write!(f, " of {}", foreign(file)))
    }
}

/// Reason why a message is not read, or is no part of a pair.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    // encoding
    #[error("messages of type '{}', written as '{}', are not read here", foreign(.schema), foreign(.encoding))]
    Type { schema: String, encoding: String },
    #[error("a message of {bytes} bytes, and of those without pixels none of more than {limit} is read")]
    Long { bytes: usize, limit: usize },
    #[error("it was compressed by itself and cannot be unpacked: {0}")]
    Packed(ChunkDamage),
    #[error("it was compressed by itself and unpacks to more than {0} bytes")]
    UnpacksToMore(u64),
    #[error("{0} bytes are no CDR message")]
    NoCdr(usize),
    #[error("CDR of kind {0:02x} {1:02x} is not read here, only classic CDR (00 00 and 00 01)")]
    CdrKind(u8, u8),
    #[error("damaged, or not what its schema says: {0}")]
    Schema(Cause),
    #[error("damaged, or not what its schema says: {left} bytes are left where {wanted} should be")]
    Cut { left: usize, wanted: usize },
    #[error("no JSON: {0}")]
    NoJson(serde_json::Error),
    #[error("it is no JSON")]
    OtherThanJson,
    #[error("{0}")]
    Json(serde_json::Error),

    // content
    #[error("{0}")]
    Content(&'static str),
    #[error("the cameras in the note of the pair: {0}")]
    Cameras(CalibrationError),
    #[error("{name} has {found} numbers instead of {wanted}")]
    Matrix { name: &'static str, found: usize, wanted: usize },
    #[error("it holds {0} transforms, and only messages of one are read here")]
    Transforms(usize),

    // pixels
    #[error(
        "its pixels are packed as '{}', which is not read here; these are: {}. Convert the topic first",
        foreign(.name), .known.join(", ")
    )]
    Encoding { name: String, known: Vec<&'static str> },
    #[error("an image of {0}x{1} px has no pixels")]
    NoPixels(u32, u32),
    #[error("a row of {width} px takes {bytes} bytes, and its step says {step}")]
    Step { width: u32, bytes: u64, step: u32 },
    #[error("an image of {}x{} px with {step} bytes a row takes {wanted} bytes, and it has {found}", .size.0, .size.1)]
    ImageBytes { size: (u32, u32), step: u32, wanted: u64, found: usize },
    #[error(
        "an image compressed as '{}' is not read here, only JPEG, PNG, WebP, TIFF, BMP and PNM: {}. Convert the topic first",
        foreign(.format),
        if *.is_empty { "it has no bytes" } else { "its bytes are none of these" }
    )]
    Compression { format: String, is_empty: bool },
    #[error("{0} bytes are too few for {1}x{2} pixels")]
    FewBytes(usize, u32, u32),
    #[error("a mosaic of {0}x{1} pixels lacks a colour")]
    Mosaic(usize, usize),
    #[error("an image of {0}x{1} pixels")]
    EmptyImage(usize, usize),
    #[error("{0} is no image")]
    NoImage(String),
    #[error("{0}")]
    Picture(Cause),
    #[error("its pixels are no {0}")]
    NoNumbers(Stream),

    // points
    #[error("a number of its points lies behind their {0} bytes")]
    PointStep(usize),
    #[error("its points of {step} bytes take more than the {found} bytes that it has")]
    PointBytes { step: usize, found: usize },
    #[error("the field {} of its points is of a type that is not read here", foreign(.0))]
    PointField(String),

    // pairs
    #[error("the note of a pair makes no sense: {0}")]
    Note(serde_json::Error),
    #[error("a pair of {0} images")]
    ImageCount(usize),
    #[error("{0}x{1} px cannot be halved")]
    Odd(usize, usize),
    #[error("the left image has {}x{} and the right one {}x{} pixels", .0[0].0, .0[0].1, .0[1].0, .0[1].1)]
    TwoSizes([(usize, usize); 2]),
    #[error("the left image has {} and the right one {} bits", .0[0], .0[1])]
    TwoDepths([u8; 2]),
    #[error("{0}x{1} px, and the images of this rig have {2}x{3}")]
    OtherSize(u64, u64, u64, u64),
    #[error("{0}x{1} px, and by its camera_info the camera has {2}x{3}: is that of another one?")]
    LargerThanCamera(u64, u64, u64, u64),
    #[error("{width}x{height} px are more than {limit} px: a larger camera needs its camera_info")]
    TooManyPixels { width: u64, height: u64, limit: u64 },
}

impl MessageError {
    /// Returns the damage of a message of this topic.
    pub(crate) fn of(self, topic: &str) -> Damage {
        Damage::Topic { topic: topic.to_owned(), why: self }
    }
}

/// Reason why no two topics have the images of pairs. `topics` are all with images.
#[derive(Debug, thiserror::Error)]
pub enum TopicError {
    #[error("topic {} has no images that can be read; {}", foreign(.name), images(.topics))]
    NoImages { name: String, topics: Vec<String> },
    #[error("no topic is the {side} side of {}: give {}; {}", foreign(.name), option(format!("{side}-topic")), images(.topics))]
    NoOther { side: &'static str, name: String, topics: Vec<String> },
    #[error("{topics}", topics = images(.0))]
    None(Vec<String>),
    #[error(
        "no pair of image topics whose names differ only by left and right, or by the numbers 1 and 2 or 0 and 1: give {} and {}, or {} for images that hold both views; {}",
        option("left-topic"), option("right-topic"), option("topic"), images(.0)
    )]
    NoPair(Vec<String>),
    #[error(
        "more than one pair of image topics whose names differ only by left and right: give {}{}",
        .pairs.iter().map(chosen).collect::<Vec<_>>().join("; or "),
        if *.more > 0 { format!("; and {} more", .more) } else { String::new() }
    )]
    Several { pairs: Vec<[String; 2]>, more: usize },
}

/// Returns the options that choose a pair of topics.
fn chosen([left, right]: &[String; 2]) -> String {
    format!("{} {}", Remedy::set("left-topic", foreign(left)), Remedy::set("right-topic", foreign(right)))
}

/// Returns the image topics of a file, with their types and numbers of messages.
fn images(topics: &[String]) -> String {
    if topics.is_empty() {
        return "the file has no images that can be read".to_owned();
    }
    format!("image topics are {}", topics.join(", "))
}

/// Reason why the cameras that a recording describes are not used.
#[derive(Debug, thiserror::Error)]
pub enum RecordedCameraError {
    /// There is one camera.
    #[error("only one of the two cameras is described")]
    One,
    /// A message is damaged, or cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The message on this topic is of another kind.
    #[error("{} describes no camera", foreign(.0))]
    NoCamera(String),
    /// A camera has impossible numbers.
    #[error("the camera of {}: {cause}", foreign(.topic))]
    Numbers {
        /// Topic of the images.
        topic: String,
        /// Fault.
        cause: CalibrationError,
    },
    /// The cameras of rectified images have no common geometry.
    #[error("its numbers are those of no rectified pair")]
    NotRectified,
    /// The cameras are no rig.
    #[error(transparent)]
    Rig(#[from] CalibrationError),
}

/// Reason why a recording is not played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error("{} needs the topic whose images show both views: give {}", option(*.0), option("topic"))]
    NoTopic(&'static str),
    #[error("{} has no pair that can be played: {why}", console::path(.path))]
    NoPair { path: PathBuf, why: Cause },
    #[error("it holds no images, which {} would have recorded", Remedy::set("streams", "raw, eyes or rectified"))]
    NoImages,
    #[error("it holds none")]
    NoPairs,
    #[error("cannot read a recording from standard input: {0}")]
    Pipe(Cause),
    #[error("no thread: {}", files::cause(.0))]
    NoThread(io::Error),
    #[error("no pair came within {0} s: does the program before it run?")]
    Late(u64),
    #[error("it ended before its first pair")]
    Ended,
    #[error("it has no pairs")]
    PipeWithoutPairs,
}

/// Reason why a pair or result cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// Raw images have another layout than before, from this pair on.
    #[error(
        "from pair {0} on raw images are split or turned in another way than before: end this recording and begin another"
    )]
    Layout(u64),
    /// A result was not read back from its device.
    #[error("the result of pair {0} has no numbers")]
    NoNumbers(u64),
    /// Depth of a pair without a calibration.
    #[error("pair {0} has no calibration, and depth needs one")]
    NoCalibration(u64),
    /// A camera's image cannot be decoded.
    #[error("an image cannot be recorded: {0}")]
    Decode(#[from] DecodeError),
    /// An image cannot be encoded.
    #[error("an image cannot be recorded: {0}")]
    Encode(#[from] image::ImageError),
}
