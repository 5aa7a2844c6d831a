//! Parts of encoded images that are decoded.

/// Parts of images that a reader decodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pixels {
    /// Luma, and RGB if the image has colours.
    #[default]
    Color,
    /// Luma alone.
    Luma,
    /// Nothing, for a reader that passes images on unchanged: only the two ends of a camera's JPEG are checked, and a black image
    /// represents it; images without an encoded form are decoded in colour.
    Unread,
}

impl Pixels {
    /// Whether colours of camera formats are decoded.
    pub fn has_color(self) -> bool {
        self == Self::Color
    }

    /// Whether colours of formats without an encoded form are kept.
    pub fn keeps_rgb(self) -> bool {
        self != Self::Luma
    }
}
