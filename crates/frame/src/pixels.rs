//! How much of encoded pictures is decoded.

/// What a reader needs of pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pixels {
    /// Luma, and RGB where the picture has colours.
    #[default]
    Color,
    /// Luma alone.
    Luma,
    /// What a reader needs that passes pictures on as they came: a JPEG of a camera is checked for its two ends, and stands as a black
    /// picture; what has no encoded form is decoded with its colours.
    Unread,
}

impl Pixels {
    /// Whether colours of formats of cameras are decoded.
    pub fn has_color(self) -> bool {
        self == Self::Color
    }

    /// Whether colours of formats that have no encoded form are kept.
    pub fn keeps_rgb(self) -> bool {
        self != Self::Luma
    }
}
