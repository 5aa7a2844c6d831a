//! Attacks on image files and camera frames.

use super::inputs::MOST_PIXELS;
use stereopsis_base::image::Picture;
use stereopsis_frame::Pixels;
use stereopsis_frame::decode_camera::{Layout, PixelFormat, decode};
use stereopsis_frame::picture_file::{BothViews, FileOfBoth, UnreadImage};
use stereopsis_images::decode::{decode_pfm, decode_picture};
use stereopsis_images::picture_files::FilePair;

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

/// Attacks a file of both views, whose index names the places of its images; both views have one size.
pub(crate) fn both(input: &[u8]) {
    let path = super::inputs::file("both.jpg", input);
    let kind = UnreadImage::of_bytes(input).map(|kind| kind.words(&path));
    assert!(kind.is_none_or(|words| words.contains("not read")));
    let Some(both) = FileOfBoth::of_file(&path) else { return };
    if let BothViews::Jpegs([left, right]) = &both.views {
        assert!(right.start < input.len() as u64 && left != right, "each view has bytes of its own");
    }
    let pair = FilePair::of_both(&path, both);
    let views = [false, true].map(|is_right| pair.read_view(is_right, MOST_PIXELS, None));
    if let Ok(read) = pair.read(true, MOST_PIXELS) {
        assert_eq!(read.left.size(), read.right.size());
        // a view of numbers may have none by itself
        let sizes = views.into_iter().flatten().map(|view| view.size());
        assert!(sizes.into_iter().all(|size| size == read.left.size()), "a pair is its two views");
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
