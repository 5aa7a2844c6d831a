//! Pair on which settings are tried.

use std::sync::Arc;
use stereopsis_base::image::{Luma, Picture};
use stereopsis_frame::Frame;
use stereopsis_stereo::StereoParams;

/// Pair on which settings are tried.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Pair, with its truth if the source has it.
    pub frame: Arc<Frame>,
    /// Previous pair, which is matched first for filters over time.
    pub previous: Option<Arc<Frame>>,
    /// Number of disparities for this pair; `None` for the setting's.
    pub num_disparities: Option<u32>,
}

impl Sample {
    /// Creates a sample without a previous pair and with the setting's search range.
    pub fn of(frame: Arc<Frame>) -> Self {
        Self { frame, previous: None, num_disparities: None }
    }

    /// Computes a checksum of images, truth and search range, equal for equal samples.
    pub fn checksum(&self) -> u32 {
        let mut crc = flate2::Crc::new();
        for frame in std::iter::once(&self.frame).chain(&self.previous) {
            let pictures: [&Picture; 2] = [&frame.left, &frame.right];
            for picture in pictures {
                match &picture.luma {
                    Luma::U8(image) => crc.update(image.pixels()),
                    Luma::U16 { image, .. } => crc.update(bytemuck::cast_slice(image.pixels())),
                }
                if let Some(rgb) = &picture.rgb {
                    crc.update(rgb.pixels().as_flattened());
                }
            }
        }
        if let Some(truth) = &self.frame.truth {
            for image in std::iter::once(&truth.left_px).chain(&truth.right_px) {
                crc.update(bytemuck::cast_slice(image.pixels()));
            }
            if let Some(occluded) = &truth.occluded {
                crc.update(bytemuck::cast_slice(occluded.pixels()));
            }
        }
        crc.update(&self.num_disparities.unwrap_or(0).to_le_bytes());
        crc.sum()
    }

    pub(super) fn params(&self, params: &StereoParams) -> StereoParams {
        StereoParams { num_disparities: self.num_disparities.unwrap_or(params.num_disparities), ..params.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;
    use stereopsis_base::image::{Image, Truth};
    use stereopsis_frame::RawPair;

    fn frame(value: u8, rgb: Option<[u8; 3]>, truth_px: Option<f32>) -> Arc<Frame> {
        let picture = |value: u8| Picture {
            luma: Luma::U8(Image::from_fn(4, 3, |x, y| value ^ (x * y) as u8)),
            rgb: rgb.map(|rgb| Image::filled(4, 3, rgb)),
        };
        let raw = RawPair::new("a", 0, UNIX_EPOCH, picture(7), picture(value));
        let truth = truth_px.map(|px| {
            Arc::new(Truth { left_px: Image::filled(4, 3, px), right_px: None, occluded: None, scale: None })
        });
        Arc::new(Frame { truth, ..Frame::of_raw(Arc::new(raw)) })
    }

    #[test]
    fn every_input_of_a_judgement_changes_the_checksum() {
        let plain = Sample::of(frame(9, None, None));
        assert_eq!(plain.checksum(), Sample::of(frame(9, None, None)).checksum());
        let others = [
            Sample::of(frame(8, None, None)),
            Sample::of(frame(9, Some([1, 2, 3]), None)),
            Sample::of(frame(9, None, Some(2.0))),
            Sample::of(frame(9, None, Some(3.0))),
            Sample { previous: Some(frame(9, None, None)), ..plain.clone() },
            Sample { num_disparities: Some(64), ..plain.clone() },
        ];
        let sums: std::collections::BTreeSet<u32> = others.iter().chain([&plain]).map(Sample::checksum).collect();
        assert_eq!(sums.len(), others.len() + 1);
    }
}
