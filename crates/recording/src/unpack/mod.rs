//! From packets to messages to raw pairs.

mod mosaic;
pub(crate) mod picture;
mod result;
mod sizes;
#[cfg(test)]
mod tests;

pub use result::{Depth, UnpackedResult};
pub use sizes::Sizes;

use super::error::{Damage, MessageError, ReadError};
use super::read::Recording;
use super::time::later_s;
use super::{About, Body, Message, Packet, PairNote, format, topic};
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::image::Picture;
use stereopsis_frame::{Arrangement, MaxPixels, Orientation, Original, Pixels, RawPair, StereoLayout, split};

/// Converter of packets to raw pairs.
#[derive(Clone, Debug)]
pub struct Unpacker {
    layout: StereoLayout,
    arrangement: Arrangement,
    pixels: Pixels,
    max_pixels: MaxPixels,
    sizes: Sizes,
}

/// Image of a pair, as packet and message.
struct PairImage<'a> {
    packet: &'a Packet,
    message: Message,
}

impl PairImage<'_> {
    /// Returns the damage of the image.
    fn damage(&self, why: MessageError) -> Damage {
        why.of(&self.packet.channel.topic)
    }

    /// Returns whether the camera's orientation still has to be applied to the image.
    fn is_unturned(&self, side: usize) -> bool {
        topic::plain(&self.packet.channel.topic) == [topic::LEFT_UNTURNED, topic::RIGHT_UNTURNED][side]
    }

    fn capture_time(&self) -> SystemTime {
        self.packet.capture_time(self.message.stamp)
    }
}

impl Unpacker {
    /// Creates an unpacker for a recording with this description; without one, images are separate or side by side. Images
    /// larger than `max_pixels` are not read.
    pub fn of(about: Option<&About>, pixels: Pixels, max_pixels: MaxPixels) -> Self {
        let layout = about.map(|about| about.raw.clone()).unwrap_or_default();
        Self { layout, arrangement: Arrangement::SideBySide, pixels, max_pixels, sizes: Sizes::default() }
    }

    /// Sets the arrangement of images that show both views.
    #[must_use]
    pub(crate) fn with_arrangement(self, arrangement: Arrangement) -> Self {
        Self { arrangement, ..self }
    }

    /// Limits the sizes of views that are read.
    #[must_use]
    pub fn with_sizes(self, sizes: Sizes) -> Self {
        Self { sizes, ..self }
    }

    /// Reads pair `k` of a recording, and returns its packets too.
    ///
    /// # Errors
    /// Errors of [`Recording::packets_of_pair`] and [`Unpacker::pair`].
    pub fn read(&self, recording: &mut Recording, k: u64) -> Result<(Vec<Packet>, RawPair), ReadError> {
        let packets = recording.packets_of_pair(k)?;
        let mut pair = self.pair(&packets)?;
        pair.skew_s = recording.skew_of_pair(k).unwrap_or(pair.skew_s);
        pair.cameras = recording.cameras_of_pair(k).or(pair.cameras);
        Ok((packets, pair))
    }

    /// Returns the pair of a left and a right image, in this order, or of a side-by-side image, with its note where there is one; see
    /// [`Recording::packets_of_pair`].
    ///
    /// # Errors
    /// The images are damaged, do not fit each other, or are of a kind that is not read.
    pub fn pair(&self, packets: &[Packet]) -> Result<RawPair, Damage> {
        let mut note: Option<PairNote> = None;
        let mut shown = Vec::new();
        for packet in packets {
            let message = format::decode(&packet.channel, &packet.data)?;
            if let Body::Json(value) = message.body {
                let told: PairNote = serde_json::from_value(value).map_err(MessageError::Note)?;
                told.cameras.as_ref().map_or(Ok(()), |cameras| cameras.check()).map_err(MessageError::Cameras)?;
                note = Some(told);
            } else {
                shown.push(PairImage { packet, message });
            }
        }
        let bits = note.as_ref().map(|note| note.bits);
        let (left, right) = match &shown[..] {
            [both] => {
                let mut picture = self.picture(both, 2, bits)?;
                self.layout.orientation[0].turn(&mut picture);
                let (width, height) = picture.size();
                let is_halved = match self.arrangement {
                    Arrangement::SideBySide => width % 2 == 0,
                    Arrangement::TopBottom => height % 2 == 0,
                };
                if !is_halved {
                    return Err(both.damage(MessageError::Odd(width, height)));
                }
                let (left, right) = split(&picture, self.arrangement);
                if self.layout.swapped { (right, left) } else { (left, right) }
            }
            [left, right] => (self.side(left, 0, bits)?, self.side(right, 1, bits)?),
            other => return Err(MessageError::ImageCount(other.len()).into()),
        };
        if left.size() != right.size() {
            return Err(MessageError::TwoSizes([left.size(), right.size()]).into());
        }
        let bits = [&left, &right].map(|picture| picture.luma.word_bits());
        if bits[0] != bits[1] {
            return Err(MessageError::TwoDepths(bits).into());
        }
        let times = [shown[0].capture_time(), shown[shown.len() - 1].capture_time()];
        let sequence = u64::from(shown[0].packet.sequence);
        Ok(RawPair {
            skew_s: note.as_ref().map_or_else(|| later_s(times), |note| note.skew_s),
            original: self.original(&shown),
            cameras: note.as_ref().and_then(|note| note.cameras.clone()).map(|note| Arc::new(*note)),
            ..RawPair::new(
                note.as_ref().map_or_else(|| format!("{sequence:06}"), name_of),
                note.as_ref().map_or(sequence, |note| note.sequence),
                times[0],
                left,
                right,
            )
        })
    }

    /// Decodes the image of a message, which shows a number of views.
    fn picture(&self, shown: &PairImage, views: usize, bits: Option<u8>) -> Result<Picture, Damage> {
        let check = |width, height| self.sizes.check(views, width, height);
        let picture = picture::of(&shown.message.body, bits, self.pixels, self.max_pixels, check);
        picture.map_err(|why| shown.damage(why))
    }

    fn side(&self, shown: &PairImage, side: usize, bits: Option<u8>) -> Result<Picture, Damage> {
        let mut picture = self.picture(shown, 1, bits)?;
        if shown.is_unturned(side) {
            self.layout.orientation[side].turn(&mut picture);
        }
        Ok(picture)
    }

    /// Returns the images as the cameras encoded them, if they contain more than the decoded ones, so that they can be recorded unchanged.
    fn original(&self, shown: &[PairImage]) -> Option<Original> {
        if shown.len() == 1 && self.arrangement != Arrangement::SideBySide {
            return None; // recordings of this program contain both views side by side
        }
        let mut layout = self.layout.clone();
        layout.side_by_side = shown.len() == 1;
        if let [left, right] = shown {
            layout.swapped = false;
            for (side, shown) in [left, right].into_iter().enumerate() {
                if !shown.is_unturned(side) {
                    layout.orientation[side] = Orientation::default();
                }
            }
        }
        let shots = shown.iter().map(|shown| picture::encoded(&shown.message.body, !layout.is_plain()));
        Some(Original { images: shots.collect::<Option<Vec<_>>>()?, layout })
    }
}

/// Returns the name of the pair, made a valid file name.
fn name_of(note: &PairNote) -> String {
    let fits = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = note.name.chars().take(100).map(fits).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { format!("{:06}", note.sequence) } else { name.to_owned() }
}
