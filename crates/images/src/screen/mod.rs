//! Images and maps as the bytes and words that the window's shaders read: all loops over pixels for the window.

mod composed;
mod float_map;

pub use composed::{anaglyph, rows};
pub use float_map::FloatMap;

use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_stereo::DisparityMap;

/// Returns the image in colour, or else its brightness, as RGBA.
pub fn rgba(picture: &Picture) -> Vec<u8> {
    let grey = |image: &Image<u8>| image.pixels().iter().map(|&v| [v, v, v, 255]).collect::<Vec<_>>().into_flattened();
    match (&picture.rgb, &picture.luma) {
        (Some(rgb), _) => with_alpha(rgb.pixels()),
        (None, Luma::U8(image)) => grey(image),
        (None, luma @ Luma::U16 { .. }) => grey(&luma.to_u8()),
    }
}

/// Returns opaque colours as RGBA.
pub fn with_alpha(colours: &[[u8; 3]]) -> Vec<u8> {
    colours.iter().map(|&[r, g, b]| [r, g, b, 255]).collect::<Vec<_>>().into_flattened()
}

/// Returns the words of [`stereopsis_frame::engine::ResultTexture`]: disparity in the low 16 bits, then reasons, then confidence.
pub fn words(map: &DisparityMap) -> Vec<u32> {
    let pack = |(&value, &reasons): (&i16, &u8)| u32::from(value as u16) | (u32::from(reasons) << 16);
    let mut words: Vec<u32> = map.values.pixels().iter().zip(map.reasons.pixels()).map(pack).collect();
    if let Some(confidence) = &map.confidence {
        words.iter_mut().zip(confidence.pixels()).for_each(|(word, &c)| *word |= u32::from(c) << 24);
    }
    words
}
