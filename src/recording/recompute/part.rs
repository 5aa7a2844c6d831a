//! The new recording while it is not finished: how it is called, and how a run goes on where the one before stopped.

use super::{Progress, RecomputeError};
use crate::files::{Growing, WriteError};
use crate::recording::message::Body;
use crate::recording::read::{PacketStream, PairIndex};
use crate::recording::write::{Compression, McapFile};
use crate::recording::{About, Format, Packet, format, topic};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is written is in the system's hands after this time at the latest: so much is lost when the program is killed.
const FLUSH_EVERY: Duration = Duration::from_millis(250);

/// The name of the new recording until it is finished.
pub fn part_name(output: &Path) -> PathBuf {
    behind(output, ".part")
}

fn behind(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Refuses to write over anything.
///
/// # Errors
/// Both are the same file, or the new one is there already.
pub(super) fn check_names(input: &Path, output: &Path) -> Result<(), RecomputeError> {
    let shown = output.display();
    let same =
        std::fs::canonicalize(output).is_ok_and(|output| std::fs::canonicalize(input).is_ok_and(|i| i == output));
    if same {
        let text = format!("-o {shown} is the recording that is read, which stays as it is; name another file");
        return Err(RecomputeError::Refused(text));
    }
    check_is_free(output)
}

fn check_is_free(output: &Path) -> Result<(), RecomputeError> {
    if output.symlink_metadata().is_ok() {
        let text = format!("{} exists and is not overwritten; name another file with -o", output.display());
        return Err(RecomputeError::Refused(text));
    }
    Ok(())
}

/// The new recording, as far as it is written.
pub(super) struct PartFile {
    file: McapFile,
    /// Holds the lock that keeps others away.
    growing: Growing,
    written: Arc<AtomicU64>,
    flush_due: Instant,
}

/// What is finished already.
pub(super) struct Taken {
    /// Goes on behind it.
    pub(super) part: PartFile,
    /// Pairs in it.
    pub(super) pairs: u64,
    /// Results in it.
    pub(super) results: u64,
    /// The place of the next pair in the old recording.
    pub(super) next: u64,
    /// What a recording begins with is in it.
    pub(super) has_head: bool,
}

/// How the new recording is written.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) format: Format,
    pub(super) compression: Compression,
    /// Each result depends on those before it.
    pub(super) remembers: bool,
}

/// Begins the new recording, or goes on with what a run before left of the same.
///
/// # Errors
/// The part is of another command, another run is writing it, or the disk does not take it.
pub(super) fn take_up(
    output: &Path,
    pairs: &[PairIndex],
    about: &About,
    manner: Manner,
    progress: &dyn Progress,
) -> Result<Taken, RecomputeError> {
    let path = part_name(output);
    let cannot = |source| RecomputeError::Begin(WriteError::new(&path, source));
    let is_new = !path.exists();
    // whoever has this lock is the only one who writes the part and what takes its place
    let old = open_alone(&path)?;
    // the run that had the lock before may have finished it
    if let Err(refused) = check_is_free(output) {
        if old.is_empty().map_err(cannot)? {
            old.remove();
        }
        return Err(refused);
    }
    if is_new && old.is_empty().map_err(cannot)? {
        let part = PartFile::begin(old, output, manner).map_err(cannot)?;
        return Ok(Taken { part, pairs: 0, results: 0, next: 0, has_head: false });
    }
    let new = open_alone(&behind(&path, ".new"))?;
    new.clear().map_err(cannot)?;
    let mut copy = Copy {
        part: PartFile::begin(new, output, manner).map_err(cannot)?,
        pairs,
        about: serde_json::to_value(about).ok().and_then(|about| serde_json::from_value(about).ok()),
        taken: [0; 3],
        has_head: false,
    };
    let mut reader = old.handle().map_err(cannot)?;
    let is_ours = begins_as_mcap(&mut reader).map_err(cannot)?;
    let copied = if is_ours { copy.all(BufReader::new(reader), manner.remembers) } else { Err(Stopped::Other) };
    let Copy { mut part, taken: [pairs, results, next], has_head, .. } = copy;
    match copied {
        Ok(()) => {}
        Err(Stopped::Write(error)) => return Err(cannot(error)),
        Err(Stopped::Other) => {
            // what is refused stays as it was
            part.growing.remove();
            return Err(RecomputeError::Refused(format!(
                "{} was left by another command: other settings, another calibration, other streams, another recording or \
                 another version of this program. Delete it, or name another -o",
                path.display()
            )));
        }
    }
    part.file.flush().map_err(cannot)?;
    part.growing.replace(&old).map_err(cannot)?;
    progress.note(&if manner.remembers {
        format!(
            "{} has a beginning, but with these parameters a result depends on those before it: it is computed from the first pair on",
            path.display()
        )
    } else if pairs == 0 {
        format!("{} has no complete pair yet: begins with the first one", path.display())
    } else {
        format!("goes on after the {pairs} pairs that {} has", path.display())
    });
    Ok(Taken { part, pairs, results, next, has_head })
}

/// Opens a file that no other run writes.
fn open_alone(path: &Path) -> Result<Growing, RecomputeError> {
    Growing::open(path).map_err(|err| match err.kind() {
        io::ErrorKind::WouldBlock => RecomputeError::Refused(format!(
            "{} is being written by another run; wait for it, or name another -o",
            path.display()
        )),
        _ => RecomputeError::Begin(WriteError::new(path, err)),
    })
}

/// Whether this is a recording, or the first bytes of one.
fn begins_as_mcap(file: &mut File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(mcap::MAGIC.len() as u64).read_to_end(&mut start)?;
    file.seek(io::SeekFrom::Start(0))?;
    Ok(mcap::MAGIC.starts_with(&start))
}

/// Copies what is complete.
struct Copy<'a> {
    part: PartFile,
    pairs: &'a [PairIndex],
    /// What the file must say of itself, as it comes back from a file.
    about: Option<About>,
    /// Pairs, results, and the place of the next pair in the old recording.
    taken: [u64; 3],
    has_head: bool,
}

enum Stopped {
    /// It is of another command.
    Other,
    /// The disk does not take it.
    Write(io::Error),
}

impl Copy<'_> {
    /// Everything but the last pair, of which something may be missing.
    fn all(&mut self, file: BufReader<File>, remembers: bool) -> Result<(), Stopped> {
        let mut stream = PacketStream::new(file);
        let mut waiting: Vec<Packet> = Vec::new();
        let mut is_known = false;
        loop {
            let packet = match stream.next_packet() {
                Ok(Some(packet)) => packet,
                // what was cut off is whole up to there
                Err(_) if stream.has_ended() => continue,
                Ok(None) | Err(_) => return Ok(()),
            };
            if packet.channel.topic == topic::ABOUT {
                is_known = about_of(&packet).is_some() && about_of(&packet) == self.about;
            }
            if !is_known {
                return Err(Stopped::Other);
            }
            if packet.channel.topic == topic::PAIRS {
                if remembers {
                    return Ok(());
                }
                self.take(&waiting)?;
                waiting.clear();
            }
            waiting.push(packet);
        }
    }

    /// Copies what the file begins with, or a pair with its result.
    fn take(&mut self, packets: &[Packet]) -> Result<(), Stopped> {
        if let Some(note) = packets.iter().find(|packet| packet.channel.topic == topic::PAIRS) {
            let [pairs, results, next] = &mut self.taken;
            let behind = self.pairs.get(*next as usize..).unwrap_or_default();
            let found = behind.iter().position(|pair| pair.log_time_ns == note.log_time_ns).ok_or(Stopped::Other)?;
            *next += found as u64 + 1;
            *pairs += 1;
            *results += u64::from(packets.iter().any(|packet| packet.channel.topic == topic::RESULTS));
        }
        self.has_head = true;
        packets.iter().try_for_each(|packet| self.part.write(packet)).map_err(Stopped::Write)
    }
}

/// What a file says of itself.
fn about_of(packet: &Packet) -> Option<About> {
    match format::decode(&packet.channel, &packet.data).ok()?.body {
        Body::Json(value) => serde_json::from_value(value).ok(),
        _ => None,
    }
}

impl PartFile {
    /// Begins an empty file that will be called as `output`.
    fn begin(growing: Growing, output: &Path, manner: Manner) -> io::Result<Self> {
        let written = Arc::<AtomicU64>::default();
        let sink = Box::new(growing.handle()?);
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let file = McapFile::begin(sink, &name, manner.format, manner.compression, Arc::clone(&written))?;
        Ok(Self { file, growing, written, flush_due: Instant::now() + FLUSH_EVERY })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.growing.path()
    }

    /// Adds a message.
    ///
    /// # Errors
    /// The disk does not take it.
    pub(super) fn write(&mut self, packet: &Packet) -> io::Result<()> {
        self.file.write(packet)
    }

    /// Now and then, hands what is written to the system.
    ///
    /// # Errors
    /// The disk does not take it.
    pub(super) fn look(&mut self) -> io::Result<()> {
        if Instant::now() < self.flush_due {
            return Ok(());
        }
        self.flush_due = Instant::now() + FLUSH_EVERY;
        self.file.flush()
    }

    /// Ends it, gives it its name, and returns its size.
    ///
    /// # Errors
    /// The disk does not take it.
    pub(super) fn finish(
        mut self,
        calibration: Option<&str>,
        output: &Path,
        now: std::time::SystemTime,
    ) -> Result<u64, WriteError> {
        let path = self.growing.path().to_owned();
        let cannot = |err| WriteError::new(&path, err);
        if let Some(calibration) = calibration {
            self.file.attach("calibration.toml", "application/toml", calibration.as_bytes(), now).map_err(cannot)?;
        }
        self.file.finish().map_err(cannot)?;
        let written = self.written.load(Ordering::Relaxed);
        self.growing.finish(output, written)?;
        Ok(written)
    }
}
