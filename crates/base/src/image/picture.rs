//! Images of one view: brightness of 8 to 16 bits, colour if the source has it, and ground truth.

use super::{Image, QuarterTurn};

/// Luma of one image, in the bit depth of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Luma {
    /// Values of 0 to 255.
    U8(Image<u8>),
    /// Values of 0 to `2^bits - 1`; `bits` is 9 to 16, depending on the source.
    U16 {
        /// Pixels.
        image: Image<u16>,
        /// Number of used low bits.
        bits: u8,
    },
}

/// Bit depths of sensors that deliver 16-bit words.
const DEPTHS: [u8; 4] = [9, 10, 12, 14];

impl Luma {
    /// Wraps 16-bit words of unknown depth, with the smallest depth of a sensor that holds the brightest pixel. A dark image may have
    /// too small a depth then; see [`Picture::deepen`].
    pub fn of_words(image: Image<u16>) -> Self {
        let brightest = image.pixels().iter().copied().max().unwrap_or(0);
        let bits = depth_of(brightest);
        Self::U16 { image, bits }
    }

    /// Returns `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Self::U8(image) => image.size(),
            Self::U16 { image, .. } => image.size(),
        }
    }

    /// Returns the number of used bits, 8 to 16.
    pub fn bits(&self) -> u8 {
        match self {
            Self::U8(_) => 8,
            Self::U16 { bits, .. } => *bits,
        }
    }

    /// Returns the bits of a word of memory: 8 or 16.
    pub fn word_bits(&self) -> u8 {
        match self {
            Self::U8(_) => 8,
            Self::U16 { .. } => 16,
        }
    }

    /// Returns the mirrored image.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        match self {
            Self::U8(image) => Self::U8(image.mirrored()),
            Self::U16 { image, bits } => Self::U16 { image: image.mirrored(), bits: *bits },
        }
    }

    /// Returns the image after a quarter turn.
    #[must_use]
    pub fn turned(&self, turn: QuarterTurn) -> Self {
        match self {
            Self::U8(image) => Self::U8(image.turned(turn)),
            Self::U16 { image, bits } => Self::U16 { image: image.turned(turn), bits: *bits },
        }
    }

    /// Returns the full depth in 16-bit words, as census and rank compare it.
    pub fn to_u16(&self) -> Image<u16> {
        match self {
            Self::U8(image) => image.map(|&v| u16::from(v)),
            Self::U16 { image, .. } => image.clone(),
        }
    }

    /// Returns the upper eight bits, `I8 = I16 >> (bits - 8)`, as differences, penalties and weights use them.
    pub fn to_u8(&self) -> Image<u8> {
        match self {
            Self::U8(image) => image.clone(),
            Self::U16 { image, bits } => image.map(|&v| (v >> (bits - 8)).min(255) as u8),
        }
    }
}

/// Image of one view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Luma, the input of matching.
    pub luma: Luma,
    /// Colour for display and for edges of depth, if the source has it; the same size as `luma`.
    pub rgb: Option<Image<[u8; 3]>>,
}

fn depth_of(brightest: u16) -> u8 {
    DEPTHS.into_iter().find(|&bits| brightest >> bits == 0).unwrap_or(16)
}

impl Picture {
    /// Converts colours of 16 bits a channel and unknown depth: to luma as in [`Luma::of_words`], and to eight-bit colours if requested.
    pub fn of_deep_colors(rgb: &Image<[u16; 3]>, keeps_rgb: bool) -> Self {
        let brightest = rgb.pixels().iter().flatten().copied().max().unwrap_or(0);
        let bits = depth_of(brightest);
        let colors = keeps_rgb.then(|| rgb.map(|color| color.map(|v| (v >> (bits - 8)) as u8)));
        Self { luma: Luma::U16 { image: rgb.map(|&color| luma_of_deep(color)), bits }, rgb: colors }
    }

    /// Raises the bit depth of an image with 16-bit words, so that all images of a sensor have one scale.
    pub fn deepen(&mut self, to_bits: u8) {
        let Luma::U16 { bits, .. } = &mut self.luma else { return };
        let added = to_bits.saturating_sub(*bits);
        *bits += added;
        if added > 0
            && let Some(rgb) = &mut self.rgb
        {
            *rgb = rgb.map(|color| color.map(|v| v.checked_shr(added.into()).unwrap_or(0)));
        }
    }

    /// Returns `(width, height)`.
    pub fn size(&self) -> (usize, usize) {
        self.luma.size()
    }

    /// Returns the image after a quarter turn.
    #[must_use]
    pub fn turned(&self, turn: QuarterTurn) -> Self {
        Self { luma: self.luma.turned(turn), rgb: self.rgb.as_ref().map(|rgb| rgb.turned(turn)) }
    }

    /// Returns the size of the pixels, bytes.
    pub fn bytes(&self) -> u64 {
        let (width, height) = self.size();
        let colors = if self.rgb.is_some() { 3 } else { 0 };
        (width * height) as u64 * (u64::from(self.luma.word_bits() / 8) + colors)
    }

    /// Returns an image without pixels, for a frame that shows none.
    pub fn empty() -> Self {
        Luma::U8(Image::new(0, 0, Vec::new())).into()
    }

    /// Converts colours to luma, and keeps them if requested.
    pub fn of_colors(rgb: Image<[u8; 3]>, keeps_rgb: bool) -> Self {
        Self { luma: Luma::U8(rgb.map(|&color| luma_of(color))), rgb: keeps_rgb.then_some(rgb) }
    }
}

impl From<Luma> for Picture {
    /// Wraps luma without colours.
    fn from(luma: Luma) -> Self {
        Self { luma, rgb: None }
    }
}

impl From<Image<[u8; 3]>> for Picture {
    /// Converts colours to luma and keeps them.
    fn from(rgb: Image<[u8; 3]>) -> Self {
        Self::of_colors(rgb, true)
    }
}

/// Returns the luma of an RGB colour (Rec. 601 in 1/256).
pub fn luma_of([r, g, b]: [u8; 3]) -> u8 {
    ((77 * u32::from(r) + 150 * u32::from(g) + 29 * u32::from(b) + 128) >> 8) as u8
}

fn luma_of_deep([r, g, b]: [u16; 3]) -> u16 {
    ((77 * u32::from(r) + 150 * u32::from(g) + 29 * u32::from(b) + 128) >> 8) as u16
}

/// Image as matching reads it.
#[derive(Clone, Copy, Debug)]
pub struct PictureRef<'a> {
    /// Luma, which costs, penalties and weights compare.
    pub luma: &'a Luma,
    /// Colours, which separate surfaces at edges of depth; the same size as `luma`.
    pub rgb: Option<&'a Image<[u8; 3]>>,
    /// Whether every pixel of brightness 0 is no part of the scene, not only those of a black border.
    pub is_masked: bool,
}

impl<'a> From<&'a Luma> for PictureRef<'a> {
    fn from(luma: &'a Luma) -> Self {
        Self { luma, rgb: None, is_masked: false }
    }
}

impl<'a> From<&'a Picture> for PictureRef<'a> {
    fn from(picture: &'a Picture) -> Self {
        Self { luma: &picture.luma, rgb: picture.rgb.as_ref(), is_masked: false }
    }
}

impl<'a> PictureRef<'a> {
    /// Returns both images of a pair, with colours only if both have them.
    pub fn pair(left: impl Into<Self>, right: impl Into<Self>) -> [Self; 2] {
        let pair = [left.into(), right.into()];
        let has_colors = pair.iter().all(|picture| picture.rgb.is_some());
        pair.map(|picture| Self { rgb: picture.rgb.filter(|_| has_colors), ..picture })
    }

    /// Returns the guidance image.
    pub fn guide(self) -> Guide<'a> {
        self.rgb.map_or_else(|| Guide::Luma(self.luma.to_u8()), Guide::Colors)
    }
}

/// Guidance image of edge-aware filters: colours, or brightness without colours.
#[derive(Clone, Debug)]
pub enum Guide<'a> {
    /// Brightness in eight bits.
    Luma(Image<u8>),
    /// Red, green and blue.
    Colors(&'a Image<[u8; 3]>),
}

impl Guide<'_> {
    /// Returns the largest difference of a channel between two pixels, which must lie inside; 0 to 255.
    pub fn difference(&self, one: (usize, usize), other: (usize, usize)) -> u8 {
        match self {
            Self::Luma(luma) => luma.at(one.0, one.1).abs_diff(luma.at(other.0, other.1)),
            Self::Colors(rgb) => {
                let (one, other) = (rgb.at(one.0, one.1), rgb.at(other.0, other.1));
                (0..3).map(|channel| one[channel].abs_diff(other[channel])).max().unwrap_or(0)
            }
        }
    }
}

/// Ground truth of a pair: disparities of the left view and, if the source has them, those of the right view and the occlusion mask. All
/// have the pair's size.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Disparity of each left pixel, px; NaN if unknown.
    pub left_px: Image<f32>,
    /// Disparity of each right pixel, px; NaN if unknown.
    pub right_px: Option<Image<f32>>,
    /// True for left pixels that the right view does not see.
    pub occluded: Option<Image<bool>>,
    /// Number of its file's numbers that are 1 px; `None` for truth from no file.
    pub scale: Option<i32>,
}

impl Truth {
    /// Whether left pixel `(x, y)`, which must lie inside, is known to be hidden from the right view.
    pub fn is_occluded(&self, x: usize, y: usize) -> bool {
        self.occluded.as_ref().is_some_and(|occluded| occluded.at(x, y))
    }
}
