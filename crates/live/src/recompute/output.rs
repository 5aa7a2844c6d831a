//! Packs and writes the new recording: raw images are copied with their times, results are new.

use super::error::RecomputeError;
use super::matching::PairItem;
use super::part_file::PartFile;
use super::resume::StartedRecording;
use super::summary::Summary;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_recording::pack::Packer;
use stereopsis_recording::read::Recording;
use stereopsis_recording::{About, Channel, Counters, Format, Packet, Stream, format, time, topic};

/// Topics whose packets are copied.
const COPIED_TOPICS: [&str; 6] =
    [topic::PAIRS, topic::LEFT_RAW, topic::RIGHT_RAW, topic::LEFT_UNTURNED, topic::RIGHT_UNTURNED, topic::BOTH_UNSPLIT];

/// Writer of the new recording.
pub(super) struct Output {
    part: PartFile,
    packer: Packer,
    format: Format,
    calibration: Option<String>,
    /// Whether the old recording is one of this program, so that notes and raw images are copied.
    is_ours: bool,
    has_raw: bool,
    has_head: bool,
    counters: Counters,
    /// Channels of the old recording with those of the new one.
    channels: Vec<(Arc<Channel>, Arc<Channel>)>,
    /// Log time of the last pair.
    last: SystemTime,
    /// Number of pairs of the old recording.
    pairs: u64,
}

impl Output {
    pub(super) fn new(begun: StartedRecording, about: About, format: Format, from: &Recording) -> Self {
        let StartedRecording { part, pairs, results, has_head, .. } = begun;
        let has_raw = about.streams.has(Stream::Raw);
        let last = from.pairs().last().map_or(SystemTime::UNIX_EPOCH, |pair| time::from_ns(pair.log_time_ns));
        Self {
            part,
            calibration: about.calibration.rig.clone(),
            packer: Packer::new(about, format),
            format,
            is_ours: from.about().is_some(),
            has_raw,
            has_head,
            counters: Counters { pairs, results, ..Counters::default() },
            channels: Vec::new(),
            last,
            pairs: from.pairs().len() as u64,
        }
    }

    /// Writes a pair and its result with the pair's log time.
    pub(super) fn write(
        &mut self,
        item: &PairItem,
        output: Option<&stereopsis_frame::engine::Output>,
    ) -> Result<(), RecomputeError> {
        let now = time::from_ns(item.log_time_ns);
        let made = self.packer.frame(&item.frame, now).map_err(|why| RecomputeError::Message(why.into()))?;
        let begins = made.iter().position(|packet| packet.channel.topic == topic::PAIRS).unwrap_or(0);
        let (head, made) = made.split_at(begins);
        let mut packets = Vec::new();
        if !std::mem::replace(&mut self.has_head, true) {
            packets.extend_from_slice(head);
            if let Some(output) = output {
                packets.push(self.packer.parameters(&output.job.params, now));
            }
        }
        packets.extend(self.with_recorded(made, &item.packets)?);
        if let Some(output) = output {
            packets.extend(self.packer.result(output, now).map_err(|why| RecomputeError::Message(why.into()))?);
            self.counters.results += 1;
        }
        self.counters.pairs += 1;
        let written = self.part.file.write(&packets).and_then(|()| self.part.flush_if_due());
        written.map_err(|error| self.cannot_write(error))
    }

    /// Replaces packets made for a pair by recorded packets of the same topics.
    fn with_recorded(&mut self, made: &[Packet], recorded: &[Packet]) -> Result<Vec<Packet>, RecomputeError> {
        if !self.is_ours {
            return Ok(made.to_vec());
        }
        let has_raw = self.has_raw;
        let copied =
            |packet: &&Packet| base(packet) == topic::PAIRS || (has_raw && COPIED_TOPICS.contains(&base(packet)));
        let is_copied = |made: &Packet| recorded.iter().filter(copied).any(|old| base(old) == base(made));
        let mut packets =
            recorded.iter().filter(copied).map(|packet| self.in_format(packet)).collect::<Result<Vec<_>, _>>()?;
        // a pair begins with its note
        packets.sort_by_key(|packet| packet.channel.topic != topic::PAIRS);
        let new = made.iter().filter(|packet| !is_copied(packet));
        packets.extend(new.cloned());
        Ok(packets)
    }

    /// Converts a recorded packet to the format of the new recording; unchanged if the formats are equal.
    fn in_format(&mut self, packet: &Packet) -> Result<Packet, RecomputeError> {
        let known = self.channels.iter().find(|(old, _)| Arc::ptr_eq(old, &packet.channel));
        if let Some((_, channel)) = known.filter(|(old, new)| old == new) {
            return Ok(Packet { channel: Arc::clone(channel), ..packet.clone() });
        }
        let known = known.map(|(_, new)| Arc::clone(new));
        let message =
            format::decode(&packet.channel, &packet.data).map_err(|err| RecomputeError::Message(err.into()))?;
        let channel = known.unwrap_or_else(|| {
            let new = Arc::new(self.format.channel(&packet.channel.topic, &message.body));
            self.channels.push((Arc::clone(&packet.channel), Arc::clone(&new)));
            new
        });
        let data = if channel == packet.channel { packet.data.clone() } else { self.format.encode(&message) };
        Ok(Packet { channel, data, ..packet.clone() })
    }

    /// Keeps the complete part for the next run, and returns the error that names it.
    pub(super) fn stop(mut self) -> RecomputeError {
        if let Err(error) = self.part.file.flush() {
            return self.cannot_write(error);
        }
        let part = self.part.growing.path().display().to_string();
        RecomputeError::Stopped { done: self.counters.pairs, pairs: self.pairs, part }
    }

    /// Ends the file and gives it its final name.
    pub(super) fn finish(mut self, output: &Path) -> Result<Summary, RecomputeError> {
        let left_out = self.pairs.saturating_sub(self.counters.pairs);
        self.counters.dropped_by_source = left_out;
        let packet = self.packer.counters(&self.counters, self.last);
        self.part.file.write(&[packet]).map_err(|error| self.cannot_write(error))?;
        let depth_loss = self.packer.depth_loss();
        let Self { part, calibration, counters, last, .. } = self;
        let bytes = part.finish(calibration.as_deref(), output, last);
        let bytes = bytes.map_err(RecomputeError::Write)?;
        Ok(Summary {
            pairs: counters.pairs,
            results: counters.results,
            left_out,
            bytes,
            depth_loss,
            ..Summary::default()
        })
    }

    fn cannot_write(&self, source: std::io::Error) -> RecomputeError {
        RecomputeError::write(self.part.growing.path(), source)
    }
}

fn base(packet: &Packet) -> &str {
    topic::plain(&packet.channel.topic)
}
