//! Begins the new recording, or continues that of a run that was stopped.

use super::error::RecomputeError;
use super::part_file::{PartFile, check_is_free, open_locked, part_name, with_suffix};
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};
use std::path::Path;
use stereopsis_base::console::counted;
use stereopsis_base::files::{Growing, WriteError};
use stereopsis_recording::Progress;
use stereopsis_recording::read::{PacketStream, PairIndex};
use stereopsis_recording::{About, Packet, format, topic};

/// New recording with the pairs that are finished.
pub(super) struct StartedRecording {
    pub(super) part: PartFile,
    /// Number of pairs in the new recording.
    pub(super) pairs: u64,
    /// Number of results in the new recording.
    pub(super) results: u64,
    /// Number of the next pair in the old recording.
    pub(super) next: u64,
    /// Whether the new recording contains its description.
    pub(super) has_head: bool,
}

/// Begins the new recording, or continues an unfinished one of the same command. With `remembers`, a result depends on earlier ones,
/// so no pair is kept. Fails where the unfinished recording is of another command, or locked by another run.
pub(super) fn begin(
    output: &Path,
    pairs: &[PairIndex],
    about: &About,
    begin_part: impl Fn(Growing) -> io::Result<PartFile>,
    remembers: bool,
    progress: &Progress,
) -> Result<StartedRecording, RecomputeError> {
    let path = part_name(output);
    let cannot = |source| RecomputeError::Begin(WriteError::new(&path, source));
    let is_new = !path.exists();
    // only the run with this lock writes the part and its replacement
    let old = open_locked(&path)?;
    // the run that had the lock before may have finished the recording
    if let Err(refused) = check_is_free(output) {
        if old.is_empty().map_err(cannot)? {
            old.remove();
        }
        return Err(refused);
    }
    let begun = |growing| {
        let part = begin_part(growing).map_err(cannot)?;
        Ok(StartedRecording { part, pairs: 0, results: 0, next: 0, has_head: false })
    };
    if is_new && old.is_empty().map_err(cannot)? {
        return begun(old);
    }
    let new = open_locked(&with_suffix(&path, ".new"))?;
    new.clear().map_err(cannot)?;
    let mut copy = begun(new)?;
    let mut reader = old.handle().map_err(cannot)?;
    // a JSON round trip, as for a description that is read from a file
    let about = serde_json::to_value(about).ok().and_then(|about| serde_json::from_value(about).ok());
    let is_same = begins_as_mcap(&mut reader).map_err(cannot)?
        && copy.take_complete(BufReader::new(reader), pairs, about.as_ref(), remembers).map_err(cannot)?;
    if !is_same {
        copy.part.growing.remove();
        return Err(RecomputeError::OtherCommand(path));
    }
    copy.part.replace(&old).map_err(cannot)?;
    let shown = path.display();
    progress.note(&match copy.pairs {
        _ if remembers => format!(
            "{shown} has a beginning, but with these parameters a result depends on those before it: it is computed from the first pair on"
        ),
        0 => format!("{shown} has no complete pair yet: begins with the first one"),
        pairs => format!("goes on after the {} that {shown} has", counted(pairs, "pair")),
    });
    Ok(copy)
}

/// Returns whether a file is a recording, or the first bytes of one.
fn begins_as_mcap(file: &mut File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(mcap::MAGIC.len() as u64).read_to_end(&mut start)?;
    file.seek(io::SeekFrom::Start(0))?;
    Ok(mcap::MAGIC.starts_with(&start))
}

impl StartedRecording {
    /// Copies all but the last pair of an unfinished recording, which may be incomplete. Returns false if it is of another command.
    fn take_complete(
        &mut self,
        file: BufReader<File>,
        pairs: &[PairIndex],
        about: Option<&About>,
        remembers: bool,
    ) -> io::Result<bool> {
        let mut stream = PacketStream::new(file);
        let mut pending: Vec<Packet> = Vec::new();
        let mut is_same = false;
        loop {
            let packet = match stream.next_packet() {
                Ok(Some(packet)) => packet,
                // the records before a cut are complete
                Err(_) if stream.has_ended() => continue,
                Ok(None) | Err(_) => return Ok(true),
            };
            if packet.channel.topic == topic::ABOUT {
                is_same = format::decode_json::<About>(&packet).is_ok_and(|found| Some(&found) == about);
            }
            let begins_pair = packet.channel.topic == topic::PAIRS;
            if is_same && begins_pair && remembers {
                return Ok(true);
            }
            if !is_same || (begins_pair && !self.take(&pending, pairs)?) {
                return Ok(false);
            }
            if begins_pair {
                pending.clear();
            }
            pending.push(packet);
        }
    }

    /// Copies the head of the recording, or a pair with its result. Returns false if the old recording has no such pair.
    fn take(&mut self, packets: &[Packet], pairs: &[PairIndex]) -> io::Result<bool> {
        if let Some(note) = packets.iter().find(|packet| packet.channel.topic == topic::PAIRS) {
            let left = pairs.get(self.next as usize..).unwrap_or_default();
            let Some(found) = left.iter().position(|pair| pair.log_time_ns == note.log_time_ns) else {
                return Ok(false);
            };
            self.next += found as u64 + 1;
            self.pairs += 1;
            self.results += u64::from(packets.iter().any(|packet| packet.channel.topic == topic::RESULTS));
        }
        self.has_head = true;
        self.part.file.write(packets)?;
        Ok(true)
    }
}
