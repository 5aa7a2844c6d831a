//! Pictures of one view: brightness in 8 to 16 bits, colour where the source has it, and ground truth.

use super::Image;

/// Brightness of one picture, in the depth that its source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Luma {
    /// 0 to 255.
    U8(Image<u8>),
    /// 0 to `2^bits - 1`, `bits` from 9 to 16 as named by the source.
    U16 {
        /// The pixels.
        image: Image<u16>,
        /// How many low bits carry light.
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

    /// How many bits carry light: 8 to 16.
    pub fn bits(&self) -> u8 {
        match self {
            Self::U8(_) => 8,
            Self::U16 { bits, .. } => *bits,
        }
    }

    /// The same picture in a mirror.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        match self {
            Self::U8(image) => Self::U8(image.mirrored()),
            Self::U16 { image, bits } => Self::U16 { image: image.mirrored(), bits: *bits },
        }
    }

    /// Full depth in 16-bit words: what census and rank compare.
    pub fn to_u16(&self) -> Image<u16> {
        match self {
            Self::U8(image) => image.map(|&v| u16::from(v)),
            Self::U16 { image, .. } => image.clone(),
        }
    }

    /// The upper eight bits, `I8 = I16 >> (bits - 8)`: what differences, penalties and weights use.
    pub fn to_u8(&self) -> Image<u8> {
        match self {
            Self::U8(image) => image.clone(),
            Self::U16 { image, bits } => image.map(|&v| (v >> (bits - 8)).min(255) as u8),
        }
    }
}

/// One eye's picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What is matched.
    pub luma: Luma,
    /// What is shown, where the source has colour and somebody asked for it; the same size as `luma`.
    pub rgb: Option<Image<[u8; 3]>>,
}

impl Picture {
    /// `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        self.luma.size()
    }
}

/// Exact disparity of the left picture and what is hidden from the right eye.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Disparity of each left pixel in px; NaN where unknown.
    pub left_px: Image<f32>,
    /// Disparity of each right pixel in px; NaN where unknown.
    pub right_px: Image<f32>,
    /// True for left pixels that the right eye does not see.
    pub occluded: Image<bool>,
}
