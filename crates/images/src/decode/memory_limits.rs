//! Limits of the memory that decoders take.

use image::{ColorType, Limits};

/// Maximum number of file bytes, and of decoding memory, in addition to the pixels: colour profiles, texts, thumbnails.
pub(super) const OVERHEAD_BYTES: u64 = 64 << 20;
/// Maximum decoding memory per pixel, bytes: four floats, twice.
const MAX_MEMORY_BYTES_PER_PIXEL: u64 = 32;

/// Returns the limits for decoding an image of this number of pixels.
pub(super) fn limits(pixels: u64) -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_MEMORY_BYTES_PER_PIXEL.saturating_mul(pixels).saturating_add(OVERHEAD_BYTES));
    limits
}

/// Returns the maximum memory of an image until it is converted, bytes.
pub(super) fn taken(color: ColorType, pixels: u64) -> u64 {
    let (own, then) = match color {
        ColorType::L8 | ColorType::L16 => (u64::from(color.bytes_per_pixel()), 0),
        ColorType::La8 => (2, 1),
        ColorType::La16 => (4, 2),
        ColorType::Rgb8 | ColorType::Rgba8 => (u64::from(color.bytes_per_pixel()), 3),
        ColorType::Rgb16 | ColorType::Rgba16 => (u64::from(color.bytes_per_pixel()), 6),
        other => (u64::from(other.bytes_per_pixel()), 0),
    };
    (own + then) * pixels
}
