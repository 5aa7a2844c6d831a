//! Tests of TIFF variants: bit depths, colours, strips, compression, and rejected ones.

use super::*;
use std::path::PathBuf;
use tiff::encoder::colortype::{self, ColorType};
use tiff::encoder::{Compression, DeflateLevel, Predictor, TiffEncoder, TiffValue};
use tiff::tags::{ExtraSamples, PhotometricInterpretation, SampleFormat};

const WIDTH: usize = 7;
const HEIGHT: usize = 5;

/// Defines a kind of pixels that the encoder lacks.
macro_rules! kind_of_pixels {
    ($name:ident, $inner:ty, $photometric:ident, $bits:expr) => {
        struct $name;

        impl ColorType for $name {
            type Inner = $inner;
            const TIFF_VALUE: PhotometricInterpretation = PhotometricInterpretation::$photometric;
            const BITS_PER_SAMPLE: &'static [u16] = &$bits;
            const SAMPLE_FORMAT: &'static [SampleFormat] = &[SampleFormat::Uint; $bits.len()];

            fn horizontal_predict(_: &[$inner], _: &mut Vec<$inner>) {}
        }
    };
}
kind_of_pixels!(WhiteIsZero8, u8, WhiteIsZero, [8]);
kind_of_pixels!(Palette8, u8, RGBPalette, [8]);

#[derive(Clone, Copy)]
struct TiffLayout {
    compression: Compression,
    predictor: Predictor,
    rows_per_strip: u32,
    /// Whether each pixel has an additional sample.
    alpha: bool,
}

const PLAIN: TiffLayout = TiffLayout {
    compression: Compression::Uncompressed,
    predictor: Predictor::None,
    rows_per_strip: HEIGHT as u32,
    alpha: false,
};
const WITH_ALPHA: TiffLayout = TiffLayout { alpha: true, ..PLAIN };

fn read<C: ColorType>(layout: TiffLayout, pixels: &[C::Inner]) -> Result<Picture, CaptureError>
where
    [C::Inner]: TiffValue,
{
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("a.tif");
    let file = std::fs::File::create(&path).unwrap();
    let mut encoder = TiffEncoder::new(file).unwrap().with_compression(layout.compression);
    encoder = encoder.with_predictor(layout.predictor);
    let mut image = encoder.new_image::<C>(WIDTH as u32, HEIGHT as u32).unwrap();
    if layout.alpha {
        image.extra_samples(&[ExtraSamples::UnassociatedAlpha]).unwrap();
    }
    image.rows_per_strip(layout.rows_per_strip).unwrap();
    image.write_data(pixels).unwrap();
    read_picture(&path, true, MaxPixels::default())
}

fn grey_levels() -> Vec<u8> {
    (0..WIDTH * HEIGHT).map(|i| (i * i * 7 % 251) as u8).collect()
}

fn deep_levels() -> Vec<u16> {
    (0..WIDTH * HEIGHT).map(|i| (i * i * 1973 % 65_521) as u16).collect()
}

fn grey(pixels: Vec<u8>) -> Picture {
    Picture { luma: Luma::U8(Image::new(WIDTH, HEIGHT, pixels)), rgb: None }
}

fn deep(pixels: Vec<u16>) -> Picture {
    Picture { luma: Luma::U16 { image: Image::new(WIDTH, HEIGHT, pixels), bits: 16 }, rgb: None }
}

#[test]
fn every_layout_gives_the_same_image() {
    for (name, compression) in [
        ("none", Compression::Uncompressed),
        ("LZW", Compression::Lzw),
        ("deflate", Compression::Deflate(DeflateLevel::default())),
        ("packed bits", Compression::Packbits),
    ] {
        for predictor in [Predictor::None, Predictor::Horizontal] {
            for rows_per_strip in [1, 2, HEIGHT as u32] {
                let layout = TiffLayout { compression, predictor, rows_per_strip, alpha: false };
                let what = format!("{name}, {predictor:?}, {rows_per_strip} rows");
                let of_8_bits = read::<colortype::Gray8>(layout, &grey_levels());
                assert_eq!(of_8_bits.unwrap(), grey(grey_levels()), "{what}");
                let of_16_bits = read::<colortype::Gray16>(layout, &deep_levels());
                assert_eq!(of_16_bits.unwrap(), deep(deep_levels()), "{what}");
            }
        }
    }
}

#[test]
fn computes_luma_of_colours_at_full_depth() {
    let strips = TiffLayout { compression: Compression::Lzw, rows_per_strip: 2, ..PLAIN };
    let rgb: Vec<u8> = grey_levels().iter().flat_map(|&v| [v, 255 - v, v / 2]).collect();
    let picture = read::<colortype::RGB8>(strips, &rgb).unwrap();
    let colors = rgb.as_chunks::<3>().0;
    let luma = colors.iter().map(|&p| stereopsis_base::image::luma_of(p)).collect();
    assert_eq!(picture.luma, grey(luma).luma);
    assert_eq!(picture.rgb.unwrap().pixels(), colors);

    let rgb: Vec<u16> = deep_levels().iter().flat_map(|&v| [v, 65_535 - v, v / 2]).collect();
    let rgba: Vec<u16> = rgb.as_chunks::<3>().0.iter().flat_map(|&[r, g, b]| [r, g, b, 9]).collect();
    let luma = Picture::of_deep_colors(&Image::new(WIDTH, HEIGHT, rgb.as_chunks::<3>().0.to_vec()), false).luma;
    assert_eq!(read::<colortype::RGB16>(strips, &rgb).unwrap().luma, luma);
    assert_eq!(read::<colortype::RGB16>(WITH_ALPHA, &rgba).unwrap().luma, luma, "transparency is passed over");
}

#[test]
fn ignores_transparency_and_inverts_white_is_zero() {
    let with_alpha: Vec<u8> = grey_levels().iter().flat_map(|&v| [v, 3]).collect();
    assert_eq!(read::<colortype::Gray8>(WITH_ALPHA, &with_alpha).unwrap(), grey(grey_levels()));
    let with_alpha: Vec<u16> = deep_levels().iter().flat_map(|&v| [v, 3]).collect();
    assert_eq!(read::<colortype::Gray16>(WITH_ALPHA, &with_alpha).unwrap(), deep(deep_levels()));
    let negative: Vec<u8> = grey_levels().iter().map(|&v| 255 - v).collect();
    assert_eq!(read::<WhiteIsZero8>(PLAIN, &negative).unwrap(), grey(grey_levels()));
}

/// Reads a TIFF after a change of a tag's number, which stands in the field of its value.
fn changed(tag: u16, to: u16) -> Result<Picture, CaptureError> {
    let mut bytes = io::Cursor::new(Vec::new());
    TiffEncoder::new(&mut bytes).unwrap().write_image::<colortype::Gray8>(3, 2, &[1, 2, 3, 4, 5, 6]).unwrap();
    let mut bytes = bytes.into_inner();
    let entry = bytes.windows(4).position(|window| window == [&tag.to_le_bytes()[..], &[3, 0]].concat()).unwrap();
    bytes[entry + 8..entry + 10].copy_from_slice(&to.to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("a.tif");
    std::fs::write(&path, bytes).unwrap();
    read_picture(&path, true, MaxPixels::default())
}

#[test]
fn names_packings_and_raw_photos() {
    for (packing, words) in [
        (34_887, "it is packed by LERC, which is not read: `tiffcp -c zip "),
        (34_925, "by LZMA"),
        (50_002, "by JPEG XL, which is not read: save it"),
        (12_345, "by a method with the number 12345"),
    ] {
        let text = changed(259, packing).unwrap_err().to_string();
        assert!(text.contains("a.tif") && text.contains(words) && !text.contains("8 or 16 bits"), "{text}");
    }
    let text = changed(262, 32_803).unwrap_err().to_string();
    assert!(text.contains("a raw photo") && text.contains("`dcraw "), "{text}");
}

/// TIFF of zstd with the levels 0, 9, 18 and so on in 4x2 px (tiffcp -c zstd of libtiff 4.5.0).
const ZSTD: &[u8] = b"II*\0\x1a\0\0\0\x28\xb5\x2f\xfd\0\x60\x41\0\0\0\x09\x12\x1b\x24\x2d\x36\x3f\0\x0c\0\
\0\x01\x03\0\x01\0\0\0\x04\0\0\0\x01\x01\x03\0\x01\0\0\0\x02\0\0\0\x02\x01\x03\0\x01\0\0\0\x08\0\0\0\
\x03\x01\x03\0\x01\0\0\0\x50\xc3\0\0\x06\x01\x03\0\x01\0\0\0\x01\0\0\0\x11\x01\x04\0\x01\0\0\0\x08\0\0\0\
\x12\x01\x03\0\x01\0\0\0\x01\0\0\0\x15\x01\x03\0\x01\0\0\0\x01\0\0\0\x16\x01\x03\0\x01\0\0\0\x02\0\0\0\
\x17\x01\x04\0\x01\0\0\0\x11\0\0\0\x1c\x01\x03\0\x01\0\0\0\x01\0\0\0\x53\x01\x03\0\x01\0\0\0\x01\0\0\0\0\0\0\0";

#[test]
fn reads_zstd_and_palettes() {
    let picture = decode_picture(ZSTD, true, MaxPixels::default()).unwrap();
    assert_eq!(picture.luma, Luma::U8(Image::new(4, 2, (0..8).map(|k| 9 * k).collect())));
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("a.tif");
    let mut encoder = TiffEncoder::new(std::fs::File::create(&path).unwrap()).unwrap();
    let mut image = encoder.new_image::<Palette8>(WIDTH as u32, HEIGHT as u32).unwrap();
    let channel = |step: u16| (0..256_u16).map(move |number| (number / step) << 8);
    let colors: Vec<u16> = channel(1).chain(channel(2)).chain(channel(4)).collect();
    image.encoder().write_tag(tiff::tags::Tag::ColorMap, &colors[..]).unwrap();
    image.write_data(&grey_levels()).unwrap();
    let picture = read_picture(&path, true, MaxPixels::default()).unwrap();
    let expected: Vec<_> = grey_levels().iter().map(|&v| [v, v / 2, v / 4]).collect();
    assert_eq!(picture.rgb.unwrap().pixels(), expected);
}

#[test]
fn refuses_floats_and_wide_integers_where_no_pair_gives_their_range() {
    let floats: Vec<f32> = deep_levels().iter().map(|&v| f32::from(v)).collect();
    let colours: Vec<f32> = floats.iter().flat_map(|&v| [v; 3]).collect();
    let wide: Vec<u32> = deep_levels().iter().map(|&v| u32::from(v)).collect();
    for (kind, refused) in [
        ("grey floats", read::<colortype::Gray32Float>(PLAIN, &floats)),
        ("floats", read::<colortype::RGB32Float>(PLAIN, &colours)),
        ("32 bits", read::<colortype::Gray32>(PLAIN, &wide)),
    ] {
        let text = refused.expect_err(kind).to_string();
        assert!(text.contains("a.tif") && text.contains("8 or 16 bits, grey or RGB"), "{kind}: {text}");
        assert!(!text.contains("cut off"), "{kind}: {text}");
    }
}
