//! Pictures of one view: brightness in 8 to 16 bits, colour where the source has it, and ground truth.

use super::Image;

/// Luma of one picture, in the bit depth of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Luma {
    /// 0 to 255.
    U8(Image<u8>),
    /// 0 to `2^bits - 1`, `bits` from 9 to 16 according to the source.
    U16 {
        /// The pixels.
        image: Image<u16>,
        /// Number of used low bits.
        bits: u8,
    },
}

impl Luma {
    /// `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Self::U8(image) => image.size(),
            Self::U16 { image, .. } => image.size(),
        }
    }

    /// Number of used bits: 8 to 16.
    pub fn bits(&self) -> u8 {
        match self {
            Self::U8(_) => 8,
            Self::U16 { bits, .. } => *bits,
        }
    }

    /// The picture mirrored.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        match self {
            Self::U8(image) => Self::U8(image.mirrored()),
            Self::U16 { image, bits } => Self::U16 { image: image.mirrored(), bits: *bits },
        }
    }

    /// Full depth in 16-bit words, as census and rank compare it.
    pub fn to_u16(&self) -> Image<u16> {
        match self {
            Self::U8(image) => image.map(|&v| u16::from(v)),
            Self::U16 { image, .. } => image.clone(),
        }
    }

    /// The upper eight bits, `I8 = I16 >> (bits - 8)`, as differences, penalties and weights use them.
    pub fn to_u8(&self) -> Image<u8> {
        match self {
            Self::U8(image) => image.clone(),
            Self::U16 { image, bits } => image.map(|&v| (v >> (bits - 8)).min(255) as u8),
        }
    }
}

/// Picture of one view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Luma, the input of matching.
    pub luma: Luma,
    /// Colour for display, where the source has it and it is requested; the same size as `luma`.
    pub rgb: Option<Image<[u8; 3]>>,
}

impl Picture {
    /// `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        self.luma.size()
    }
}

/// Ground truth of a pair: disparities of the left view and, where the source has them, those of the right view and the occlusion
/// mask. All have the pair's size.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Disparity of each left pixel in px; NaN where unknown.
    pub left_px: Image<f32>,
    /// Disparity of each right pixel in px; NaN where unknown.
    pub right_px: Option<Image<f32>>,
    /// True for left pixels that the right view does not see.
    pub occluded: Option<Image<bool>>,
}

impl Truth {
    /// Whether left pixel `(x, y)`, which must lie inside, is known to be hidden from the right view.
    pub fn is_occluded(&self, x: usize, y: usize) -> bool {
        self.occluded.as_ref().is_some_and(|occluded| occluded.at(x, y))
    }
}
