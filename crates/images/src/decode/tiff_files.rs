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

#[test]
fn refuses_floats_wide_integers_and_palettes() {
    let floats: Vec<f32> = deep_levels().iter().map(|&v| f32::from(v)).collect();
    let colours: Vec<f32> = floats.iter().flat_map(|&v| [v; 3]).collect();
    let wide: Vec<u32> = deep_levels().iter().map(|&v| u32::from(v)).collect();
    for (kind, refused) in [
        ("grey floats", read::<colortype::Gray32Float>(PLAIN, &floats)),
        ("floats", read::<colortype::RGB32Float>(PLAIN, &colours)),
        ("32 bits", read::<colortype::Gray32>(PLAIN, &wide)),
        ("a palette", read::<Palette8>(PLAIN, &grey_levels())),
    ] {
        let text = refused.expect_err(kind).to_string();
        assert!(text.contains("a.tif") && text.contains("8 or 16 bits, grey or RGB"), "{kind}: {text}");
        assert!(!text.contains("cut off"), "{kind}: {text}");
    }
}
