//! Brightness that models expect.

use stereopsis_base::choices;

choices! {
    /// Brightness that a model expects; the most frequent ones come first.
    pub enum Brightness {
        /// 0 to 255.
        Bytes = "0..255",
        /// 0 to 1.
        Unit = "0..1",
        /// 0 to 1, less the means and over the deviations of ImageNet's channels.
        ImageNet = "imagenet",
        /// -1 to 1.
        Signed = "-1..1",
    }
}

/// Means and deviations of ImageNet's red, green and blue, of 1.
const IMAGENET: [(f32, f32); 3] = [(0.485, 0.229), (0.456, 0.224), (0.406, 0.225)];

impl Brightness {
    /// Returns factor and offset that make the brightness from a byte of red, green or blue (0, 1, 2).
    pub(crate) fn of_channel(self, channel: usize) -> (f32, f32) {
        match self {
            Self::Bytes => (1.0, 0.0),
            Self::Unit => (1.0 / 255.0, 0.0),
            Self::Signed => (2.0 / 255.0, -1.0),
            Self::ImageNet => {
                let (mean, deviation) = IMAGENET[channel];
                (1.0 / (255.0 * deviation), -mean / deviation)
            }
        }
    }
}
