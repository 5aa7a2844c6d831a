//! Attacks on image files and camera frames.

use super::inputs::MOST_PIXELS;
use stereopsis_base::image::Picture;
use stereopsis_frame::Pixels;
use stereopsis_frame::decode_camera::{Layout, PixelFormat, decode};
use stereopsis_images::decode::{decode_pfm, decode_picture};

/// Attacks an image file; its brightness must not depend on colour decoding.
pub(crate) fn picture(input: &[u8]) {
    let [grey, colour] = [false, true].map(|color| decode_picture(input, color, MOST_PIXELS));
    same(grey.ok(), colour.ok());
}

pub(crate) fn pfm(input: &[u8]) {
    if let Ok(image) = decode_pfm(input, MOST_PIXELS) {
        assert!(4 * image.pixels().len() <= input.len(), "every pixel is in the file");
    }
}

/// Attacks a camera frame: a format byte, then width, height and stride in two bytes each.
pub(crate) fn camera(input: &[u8]) {
    let Some((&[format, w, w_high, h, h_high, stride, stride_high], bytes)) = input.split_first_chunk() else { return };
    let format = PixelFormat::ALL[usize::from(format) % PixelFormat::ALL.len()];
    let [width, height, stride] =
        [[w, w_high], [h, h_high], [stride, stride_high]].map(|bytes| usize::from(u16::from_le_bytes(bytes)));
    let layout = Layout::tight(format, (width, height)).with_stride(stride);
    let cut = layout.cut(bytes);
    let [grey, colour] = [Pixels::Luma, Pixels::Color].map(|pixels| decode(layout, bytes, pixels).ok());
    assert_eq!(decode(layout, cut, Pixels::Color).ok(), colour, "what lies behind the image does not count");
    if let Some(picture) = &colour {
        assert_eq!(picture.size(), (width, height));
    }
    same(grey, colour);
}

fn same(grey: Option<Picture>, colour: Option<Picture>) {
    // the colour may be damaged even if the brightness is valid
    let (Some(grey), Some(colour)) = (grey, colour) else { return };
    assert!(grey.rgb.is_none());
    assert!(grey.luma == colour.luma, "the brightness of {:?} and {:?} px differs", grey.size(), colour.size());
    assert!(colour.rgb.is_none_or(|rgb| rgb.size() == colour.luma.size()));
}
