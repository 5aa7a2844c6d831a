//! Decodes the recorded result of a pair.

use crate::error::{Damage, MessageError};
use crate::message::{Body, Encoding, ImageBody};
use crate::{Packet, ResultNote, Stream, compressed_depth, format, topic};
use stereopsis_base::image::Image;
use stereopsis_frame::{MaxPixels, Recorded};
use stereopsis_stereo::depth;
use stereopsis_stereo::map::SUBPIXEL_STEPS;

/// Depth image.
#[derive(Clone, Debug, PartialEq)]
pub enum Depth {
    /// Whole millimetres, 0 where there is none.
    Millimetres(Image<u16>),
    /// Metres, NaN where there is none.
    Metres(Image<f32>),
}

/// Recorded parts of a result.
#[derive(Debug, Default)]
pub struct UnpackedResult {
    /// Depth.
    pub depth: Option<Depth>,
    /// Disparity, px; NaN where there is none.
    pub disparity_px: Option<Image<f32>>,
    /// Note: engine, time and measured share.
    pub note: Option<ResultNote>,
    /// Log time by the wall clock, ns since 1970.
    pub log_time_ns: u64,
}

impl UnpackedResult {
    /// Decodes the packets of a result.
    ///
    /// # Errors
    /// A message is damaged or does not fit its topic.
    pub fn of(packets: &[Packet]) -> Result<Self, Damage> {
        let mut measured = Self::default();
        for packet in packets {
            let message = format::decode(&packet.channel, &packet.data)?;
            let topic = packet.channel.topic.as_str();
            match (topic, message.body) {
                (topic::DEPTH, Body::Image(body)) => {
                    let depth = depth_of(&body).ok_or_else(|| MessageError::NoNumbers(Stream::Depth).of(topic))?;
                    measured.depth = Some(depth);
                }
                (topic::COMPRESSED_DEPTH, Body::Compressed { format, data }) => {
                    let depth = compressed_depth::decode(&format, &data, MaxPixels::default());
                    measured.depth = Some(depth.map_err(|why| why.of(topic))?);
                }
                (topic::DISPARITY, Body::Disparity(body)) => measured.disparity_px = Some(body.disparity_px),
                (topic::DISPARITY, Body::Image(body)) => {
                    measured.disparity_px =
                        Some(body.floats().ok_or_else(|| MessageError::NoNumbers(Stream::Disparity).of(topic))?);
                }
                (topic::RESULTS, Body::Json(value)) => {
                    let note = serde_json::from_value(value).map_err(|err| MessageError::Json(err).of(topic))?;
                    measured.note = Some(note);
                    measured.log_time_ns = packet.log_time_ns;
                }
                _ => {}
            }
        }
        let doffs_px = measured.note.as_ref().map_or(0.0, |note| note.doffs_px);
        if let Some(disparity_px) = measured.disparity_px.as_mut().filter(|_| doffs_px != 0.0) {
            disparity_px.pixels_mut().iter_mut().for_each(|d| *d = without_doffs(*d, doffs_px));
        }
        Ok(measured)
    }

    /// Returns the depth, m; NaN where there is none.
    pub fn depth_m(&self) -> Option<Image<f32>> {
        Some(match self.depth.as_ref()? {
            Depth::Millimetres(mm) => mm.map(|&mm| if mm == 0 { f32::NAN } else { f32::from(mm) / 1000.0 }),
            Depth::Metres(z) => z.clone(),
        })
    }

    /// Returns the depth, mm; 0 where there is none and beyond 65.535 m.
    pub fn depth_mm(&self) -> Option<Image<u16>> {
        Some(match self.depth.as_ref()? {
            Depth::Millimetres(mm) => mm.clone(),
            Depth::Metres(z) => z.map(|&z| depth::millimetres(z)),
        })
    }

    /// Returns the shares of the pixels that have depth, and whose depth is beyond that of whole millimetres, 0 to 1.
    pub(crate) fn depth_shares(&self) -> [f64; 2] {
        let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
        match &self.depth {
            None => [0.0; 2],
            Some(Depth::Metres(z)) => {
                let (count, of) = (|least: f32| z.pixels().iter().filter(|z| **z > least).count(), z.pixels().len());
                [share(count(0.0), of), share(count(MAX_MILLIMETRES_M), of)]
            }
            Some(Depth::Millimetres(mm)) => {
                let beyond = self.note.as_ref().map_or(0.0, |note| note.beyond);
                let there = mm.pixels().iter().filter(|mm| **mm > 0).count();
                [share(there, mm.pixels().len()) + beyond, beyond]
            }
        }
    }

    /// Returns depth and disparity; `None` if there is neither.
    pub fn recorded(self) -> Option<Recorded> {
        let recorded = Recorded { depth_m: self.depth_m(), disparity_px: self.disparity_px };
        (recorded != Recorded::default()).then_some(recorded)
    }
}

/// Largest depth that whole millimetres of 16 bits hold, m.
const MAX_MILLIMETRES_M: f32 = 65.5355;

/// Returns the disparity from before `doffs_px` was added, rounded to its sub-pixel step.
fn without_doffs(recorded_px: f32, doffs_px: f64) -> f32 {
    let steps = f64::from(SUBPIXEL_STEPS);
    (((f64::from(recorded_px) - doffs_px) * steps).round() / steps) as f32
}

/// Returns the depth in a message.
fn depth_of(body: &ImageBody) -> Option<Depth> {
    match body.encoding {
        Encoding::Float32 => {
            Some(Depth::Metres(body.floats()?.map(|&m| if m > 0.0 && m.is_finite() { m } else { f32::NAN })))
        }
        Encoding::DepthMm | Encoding::Mono16 => {
            Some(Depth::Millimetres(body.pixels()?.map(|&mm| u16::from_le_bytes(mm))))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::DisparityBody;
    use crate::{Format, Message};
    use std::sync::Arc;
    use std::time::SystemTime;

    fn recorded(packets: &[Packet]) -> Option<Recorded> {
        UnpackedResult::of(packets).unwrap().recorded()
    }

    fn body(encoding: Encoding, step: u32, data: &[u8]) -> ImageBody {
        ImageBody { width: 2, height: 2, encoding, step, data: data.into() }
    }

    #[test]
    fn removes_doffs_exactly() {
        let doffs_px = 31.086_f64;
        for step in [-40_i16, 0, 1, 1023, 4095 * 8] {
            let px = f32::from(step) / 16.0;
            let back = without_doffs((f64::from(px) + doffs_px) as f32, doffs_px);
            assert_eq!(back.to_bits(), px.to_bits());
        }
        assert!(without_doffs(f32::NAN, doffs_px).is_nan());
    }

    #[test]
    fn reads_padded_rows_and_converts_metres() {
        let millimetres = |body: &ImageBody| {
            let read = UnpackedResult { depth: depth_of(body), ..UnpackedResult::default() };
            read.depth_mm()
        };
        let padded = body(Encoding::DepthMm, 6, &[1, 0, 2, 1, 9, 9, 0, 0, 255, 255, 9, 9]);
        assert_eq!(millimetres(&padded).unwrap().pixels(), [1, 258, 0, 65_535]);
        let metres: Vec<u8> = [1.5f32, f32::NAN, 0.0004, 70.0].iter().flat_map(|m| m.to_le_bytes()).collect();
        assert_eq!(millimetres(&body(Encoding::Float32, 8, &metres)).unwrap().pixels(), [1500, 0, 0, 0]);
        assert!(millimetres(&body(Encoding::Rgb8, 6, &[0; 12])).is_none());
        assert!(millimetres(&body(Encoding::DepthMm, 6, &[0; 9])).is_none(), "too few bytes");
    }

    fn packet(topic: &str, body: Body) -> Packet {
        let channel = Arc::new(Format::Ros2.channel(topic, &body));
        let message = Message { stamp: SystemTime::UNIX_EPOCH, frame_id: "left".into(), body };
        let data = Format::Ros2.encode(&message);
        Packet { channel, sequence: 0, log_time_ns: 0, publish_time_ns: 0, data }
    }

    #[test]
    fn converts_millimetres_and_keeps_holes() {
        let data: Vec<u8> = [1284_u16, 0, 65_535, 7].iter().flat_map(|mm| mm.to_le_bytes()).collect();
        let image = ImageBody { width: 2, height: 2, encoding: Encoding::DepthMm, step: 4, data: data.into() };
        let disparity = DisparityBody {
            disparity_px: Image::new(3, 1, vec![4.5, f32::NAN, 0.0]),
            focal_px: 500.0,
            baseline_m: 0.1,
            min_disparity: 0.0,
            max_disparity: 63.0,
            delta_d: 1.0 / 16.0,
        };
        let depth = packet(topic::DEPTH, Body::Image(image));
        let recorded_maps = recorded(&[depth.clone(), packet(topic::DISPARITY, Body::Disparity(disparity))]).unwrap();
        let z = recorded_maps.depth_m.unwrap();
        let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
        assert!(near(z.at(0, 0), 1.284) && near(z.at(0, 1), 65.535) && near(z.at(1, 1), 0.007), "{z:?}");
        let d = recorded_maps.disparity_px.unwrap();
        assert!(z.at(1, 0).is_nan() && d.at(1, 0).is_nan());
        assert!(near(d.at(0, 0), 4.5) && near(d.at(2, 0), 0.0), "{d:?}");

        assert!(recorded(&[]).is_none());
        let cut = Packet { data: depth.data[..depth.data.len() / 2].to_vec(), ..depth };
        assert!(UnpackedResult::of(&[cut]).is_err());
    }
}
