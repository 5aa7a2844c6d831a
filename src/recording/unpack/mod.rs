//! Packets to messages, messages to raw pairs: pictures as they lie in memory, as cameras send them, JPEG and PNG.

mod picture;
mod result;
#[cfg(test)]
mod tests;

pub use result::Measured;

use super::{About, Body, Message, Packet, PairNote, format, time, topic};
use crate::capture::{MaxPixels, Orientation, Original, RawPair, RawRule, halves};
use crate::console::foreign;
use crate::image::Picture;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Why a pair of a recording cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnpackError(pub String);

/// Makes raw pairs of packets.
#[derive(Clone, Debug)]
pub struct Unpacker {
    rule: RawRule,
    color: bool,
    max_pixels: MaxPixels,
}

/// One picture of a pair.
struct Shown<'a> {
    packet: &'a Packet,
    message: Message,
}

impl Unpacker {
    /// Of pictures that are the eyes' as they are, or show both side by side; with RGB if `color` and they have it.
    pub fn new(color: bool) -> Self {
        Self { rule: RawRule::default(), color, max_pixels: MaxPixels::default() }
    }

    /// Of a recording that says how its raw pictures become the eyes'.
    pub fn of(about: Option<&About>, color: bool) -> Self {
        Self { rule: about.map(|about| about.raw.clone()).unwrap_or_default(), ..Self::new(color) }
    }

    /// The same, with another limit to the size of pictures.
    #[must_use]
    pub fn with_max_pixels(self, max_pixels: MaxPixels) -> Self {
        Self { max_pixels, ..self }
    }

    /// The pair of a left and a right picture, in this order, or of one of both eyes, with its note where there is one; see
    /// [`super::Recording::packets_of_pair`].
    ///
    /// # Errors
    /// The pictures are damaged, do not fit each other, or are of a kind that is not read here.
    pub fn pair(&self, packets: &[Packet]) -> Result<RawPair, UnpackError> {
        let mut note: Option<PairNote> = None;
        let mut shown = Vec::new();
        for packet in packets {
            let message = format::decode(&packet.channel, &packet.data).map_err(|err| UnpackError(err.to_string()))?;
            match message.body {
                Body::Json(value) => {
                    let wrong = |err| UnpackError(format!("the note of a pair makes no sense: {err}"));
                    note = Some(serde_json::from_value(value).map_err(wrong)?);
                }
                _ => shown.push(Shown { packet, message }),
            }
        }
        let bits = note.as_ref().map(|note| note.bits);
        let (left, right) = match &shown[..] {
            [both] => {
                let mut picture = self.picture(both, bits)?;
                self.rule.orientation[0].turn(&mut picture);
                let (width, height) = picture.size();
                if width % 2 != 0 {
                    let topic = foreign(&both.packet.channel.topic);
                    return Err(UnpackError(format!("{topic}: {width}x{height} px cannot be halved")));
                }
                halves(&picture, self.rule.swapped)
            }
            [left, right] => (self.eye(left, 0, bits)?, self.eye(right, 1, bits)?),
            other => return Err(UnpackError(format!("a pair of {} pictures", other.len()))),
        };
        if left.size() != right.size() {
            let ((wl, hl), (wr, hr)) = (left.size(), right.size());
            return Err(UnpackError(format!("the left picture has {wl}x{hl} and the right one {wr}x{hr} pixels")));
        }
        if left.luma.bits() != right.luma.bits() {
            let (left, right) = (left.luma.bits(), right.luma.bits());
            return Err(UnpackError(format!("the left picture has {left} and the right one {right} bits")));
        }
        let times = [&shown[0], &shown[shown.len() - 1]].map(taken);
        let sequence = u64::from(shown[0].packet.sequence);
        Ok(RawPair {
            left,
            right,
            sequence: note.as_ref().map_or(sequence, |note| note.sequence),
            capture_time: times[0],
            skew_s: note.as_ref().map_or_else(|| later_s(times), |note| note.skew_s),
            name: note.map_or_else(|| format!("{sequence:06}"), |note| name_of(&note)),
            original: self.original(&shown),
            recorded: None,
            truth: None,
        })
    }

    fn picture(&self, shown: &Shown, bits: Option<u8>) -> Result<Picture, UnpackError> {
        let picture = picture::of(&shown.message.body, bits, self.color, self.max_pixels);
        picture.map_err(|why| UnpackError(format!("{}: {why}", foreign(&shown.packet.channel.topic))))
    }

    /// The picture of one eye, turned where it was recorded as it came.
    fn eye(&self, shown: &Shown, eye: usize, bits: Option<u8>) -> Result<Picture, UnpackError> {
        let mut picture = self.picture(shown, bits)?;
        if is_unturned(shown, eye) {
            self.rule.orientation[eye].turn(&mut picture);
        }
        Ok(picture)
    }

    /// What cameras gave, where it is more than the pictures: so that it can be recorded again as it was.
    fn original(&self, shown: &[Shown]) -> Option<Original> {
        let mut rule = self.rule.clone();
        rule.side_by_side = shown.len() == 1;
        if let [left, right] = shown {
            rule.swapped = false;
            for (eye, shown) in [left, right].into_iter().enumerate() {
                if !is_unturned(shown, eye) {
                    rule.orientation[eye] = Orientation::default();
                }
            }
        }
        let shots = shown.iter().map(|shown| picture::shot(&shown.message.body, !rule.is_plain()));
        Some(Original { shots: shots.collect::<Option<Vec<_>>>()?, rule })
    }
}

fn is_unturned(shown: &Shown, eye: usize) -> bool {
    topic::plain(&shown.packet.channel.topic) == [topic::LEFT_UNTURNED, topic::RIGHT_UNTURNED][eye]
}

/// When a picture was taken: as it says itself, or as the file says.
fn taken(shown: &Shown) -> SystemTime {
    let told = Some(shown.message.stamp).filter(|&stamp| stamp > UNIX_EPOCH);
    told.unwrap_or_else(|| time::from_ns(shown.packet.publish_time_ns))
}

fn later_s([left, right]: [SystemTime; 2]) -> f64 {
    let later = right.duration_since(left);
    later.as_ref().map_or_else(|earlier| -earlier.duration().as_secs_f64(), Duration::as_secs_f64)
}

/// The pair's name, fit to be the name of a file whatever the recording says.
fn name_of(note: &PairNote) -> String {
    let fits = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = note.name.chars().take(100).map(fits).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { format!("{:06}", note.sequence) } else { name.to_owned() }
}
