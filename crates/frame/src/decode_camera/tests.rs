//! Tests of the decoder: every format, intact and damaged.

use super::*;
use ::image::codecs::jpeg::JpegEncoder;

/// Creates a smooth image, which JPEG preserves well.
fn ramp(width: usize, height: usize) -> Image<u8> {
    Image::from_fn(width, height, |x, y| (40 + 3 * x + 2 * y).min(255) as u8)
}

fn jpeg(picture: &Image<u8>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let rgb: Vec<u8> = picture.pixels().iter().flat_map(|&v| [v, v, v]).collect();
    let (width, height) = picture.size();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, 95);
    encoder.encode(&rgb, width as u32, height as u32, ::image::ExtendedColorType::Rgb8).expect("encodes");
    bytes
}

fn luma(picture: &Picture) -> Image<u8> {
    picture.luma.to_u8()
}

/// Removes the Huffman tables from the stream, as many cameras do.
fn without_tables(jpeg: &[u8]) -> Vec<u8> {
    let mut kept = jpeg[..2].to_vec();
    let mut at = 2;
    while jpeg[at + 1] != 0xda {
        let length = 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
        if jpeg[at + 1] != 0xc4 {
            kept.extend(&jpeg[at..at + length]);
        }
        at += length;
    }
    kept.extend(&jpeg[at..]);
    kept
}

fn differ_by_at_most(a: &Image<u8>, b: &Image<u8>, most: u8) {
    assert_eq!(a.size(), b.size());
    let worst = a.pixels().iter().zip(b.pixels()).map(|(&a, &b)| a.abs_diff(b)).max();
    assert!(worst <= Some(most), "{worst:?}");
}

#[test]
fn yuyv_luma_is_the_y_bytes() {
    let bytes = [1, 200, 2, 50, 3, 128, 4, 128, 99, 99];
    let picture = decode(Layout::tight(PixelFormat::Yuyv, (2, 2)), &bytes, Pixels::Luma).expect("decodes");
    assert_eq!(luma(&picture), Image::new(2, 2, vec![1, 2, 3, 4]));
    assert_eq!(picture.rgb, None);
}

#[test]
fn yuyv_colours_are_those_of_bt601() {
    // red, green, blue, black and white in BT.601's limited range
    let cases = [([81, 90, 240], [255, 0, 0]), ([145, 54, 34], [0, 255, 0]), ([41, 240, 110], [0, 0, 255])];
    let ends = [([16, 128, 128], [0, 0, 0]), ([235, 128, 128], [255, 255, 255])];
    for ([y, u, v], rgb) in cases.into_iter().chain(ends) {
        let picture = decode(Layout::tight(PixelFormat::Yuyv, (2, 1)), &[y, u, y, v], Pixels::Color).expect("decodes");
        let got = picture.rgb.expect("asked for").at(1, 0);
        assert!((0..3).all(|c| u8::abs_diff(got[c], rgb[c]) <= 1), "{got:?} {rgb:?}");
    }
}

#[test]
fn yuyv_of_wrong_length_is_refused() {
    let error = decode(Layout::tight(PixelFormat::Yuyv, (4, 2)), &[0; 15], Pixels::Luma).expect_err("too short");
    assert_eq!(error.to_string(), "YUYV frame of 15 bytes, 16 expected for 4x2");
    assert!(decode(Layout::tight(PixelFormat::Yuyv, (3, 2)), &[0; 12], Pixels::Luma).is_err());
}

#[test]
fn mjpeg_comes_back_nearly_as_it_was() {
    let picture = ramp(46, 30);
    for stream in [jpeg(&picture), without_tables(&jpeg(&picture))] {
        let decoded = decode(Layout::tight(PixelFormat::Mjpeg, (46, 30)), &stream, Pixels::Color).expect("decodes");
        differ_by_at_most(&luma(&decoded), &picture, 4);
        let green = decoded.rgb.expect("asked for").map(|c| c[1]);
        differ_by_at_most(&green, &picture, 6);
    }
}

// with and without whole blocks; the expected RGB comes from the decoder's own conversion
#[test]
fn luma_and_colours_of_one_pass_are_those_of_two() {
    use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};
    let mut random = fastrand::Rng::with_seed(2);
    for (width, height) in [(64, 48), (1, 1), (23, 7), (200, 3)] {
        let pixels: Vec<u8> = (0..3 * width * height).map(|_| random.u8(..)).collect();
        let mut stream = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut stream, 90);
        encoder.encode(&pixels, width as u32, height as u32, ::image::ExtendedColorType::Rgb8).expect("encodes");
        let layout = Layout::tight(PixelFormat::Mjpeg, (width, height));
        let color = decode(layout, &stream, Pixels::Color).expect("decodes");
        assert_eq!(color.luma, decode(layout, &stream, Pixels::Luma).expect("decodes").luma);
        let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
        let expected =
            zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(&stream), options).decode().expect("decodes");
        assert!(color.rgb.expect("asked for").pixels().as_flattened() == expected, "{width}x{height}");
    }
}

#[test]
fn a_real_cameras_frame_is_decoded() {
    let Some(data) = std::env::var_os("STEREOPSIS_DATA") else {
        eprintln!("skipped: STEREOPSIS_DATA is not set");
        return;
    };
    let folder = std::path::Path::new(&data).join("uvc/mjpeg_no_dht");
    let frame = std::fs::read(folder.join("mjpeg.jpg")).expect("is there");
    let truth = ::image::open(folder.join("mjpeg.png")).expect("is there").to_rgb8();
    let size = (truth.width() as usize, truth.height() as usize);
    let decoded = decode(Layout::tight(PixelFormat::Mjpeg, size), &frame, Pixels::Color)
        .expect("decodes")
        .rgb
        .expect("asked for");
    let truth = truth.into_raw();
    let off: u64 = decoded.pixels().as_flattened().iter().zip(&truth).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    assert!((off as f64) < 2.0 * truth.len() as f64, "{off}");
}

#[test]
fn bytes_after_the_end_are_ignored() {
    let mut stream = jpeg(&ramp(32, 32));
    stream.extend([0; 1000]);
    assert!(decode(Layout::tight(PixelFormat::Mjpeg, (32, 32)), &stream, Pixels::Luma).is_ok());
}

#[test]
fn damaged_mjpeg_is_refused_and_never_a_panic() {
    let whole = jpeg(&ramp(64, 48));
    let header = whole.windows(2).position(|m| m == [0xff, 0xda]).expect("has a scan");
    let most = header + (whole.len() - header) * 3 / 4;
    for length in 0..most {
        let cut = &whole[..length];
        // the rest of a driver's buffer: nothing or zeros; or an end marker all the same
        for behind in [&[], &[0; 2000][..], &[0xff, 0xd9]] {
            let stream = [cut, behind].concat();
            let decoded = decode(Layout::tight(PixelFormat::Mjpeg, (64, 48)), &stream, Pixels::Color);
            assert!(decoded.is_err(), "{length} bytes and {} behind", behind.len());
        }
    }
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..500 {
        let mut broken = whole.clone();
        for _ in 0..8 {
            let at = random.usize(..broken.len());
            broken[at] = random.u8(..);
        }
        let _ = decode(Layout::tight(PixelFormat::Mjpeg, (64, 48)), &broken, Pixels::Color);
    }
}

#[test]
fn mjpeg_with_finer_colours_than_brightness_is_refused() {
    let mut stream = jpeg(&ramp(8, 6));
    let header = stream.windows(2).position(|m| m == [0xff, 0xc0]).expect("has a frame header");
    for third_factors in [0x12, 0x21, 0x13] {
        stream[header + 17] = third_factors;
        let error = decode(Layout::tight(PixelFormat::Mjpeg, (8, 6)), &stream, Pixels::Luma).expect_err("refused");
        assert_eq!(error.to_string(), "MJPEG frame with finer colours than brightness");
    }
}

#[test]
fn mjpeg_of_another_size_is_refused() {
    let stream = jpeg(&ramp(32, 16));
    let error = decode(Layout::tight(PixelFormat::Mjpeg, (32, 32)), &stream, Pixels::Luma).expect_err("32x16");
    assert_eq!(error.to_string(), "MJPEG frame of 32x16, 32x32 expected");
    assert!(decode(Layout::tight(PixelFormat::Mjpeg, (16, 16)), &stream, Pixels::Luma).is_err());
}

#[test]
fn nv12_is_a_plane_of_luma_and_one_of_colour() {
    let bytes = [81, 81, 145, 145, 81, 81, 145, 145, 90, 240, 54, 34];
    let picture = decode(Layout::tight(PixelFormat::Nv12, (4, 2)), &bytes, Pixels::Color).expect("decodes");
    assert_eq!(luma(&picture), Image::new(4, 2, bytes[..8].to_vec()));
    let rgb = picture.rgb.expect("asked for");
    for y in 0..2 {
        assert!(rgb.at(1, y)[0] > 250 && rgb.at(1, y)[1] < 5, "red {:?}", rgb.at(1, y));
        assert!(rgb.at(2, y)[1] > 250 && rgb.at(2, y)[0] < 5, "green {:?}", rgb.at(2, y));
    }
    assert!(
        decode(Layout::tight(PixelFormat::Nv12, (4, 2)), &bytes[..11], Pixels::Luma).is_err(),
        "half the colour is lost"
    );
    assert!(decode(Layout::tight(PixelFormat::Nv12, (4, 3)), &[0; 30], Pixels::Luma).is_err(), "odd height");
}

#[test]
fn rows_may_lie_apart() {
    let layout = Layout::tight(PixelFormat::Grey, (3, 2)).with_stride(4);
    let picture = decode(layout, &[1, 2, 3, 99, 4, 5, 6], Pixels::Color).expect("decodes");
    assert_eq!(picture, Picture { luma: Luma::U8(Image::new(3, 2, vec![1, 2, 3, 4, 5, 6])), rgb: None });
    assert!(decode(layout, &[0; 6], Pixels::Luma).is_err());
    let layout = Layout::tight(PixelFormat::Yuyv, (2, 2)).with_stride(6);
    let picture = decode(layout, &[1, 0, 2, 0, 99, 99, 3, 0, 4, 0], Pixels::Luma).expect("decodes");
    assert_eq!(luma(&picture), Image::new(2, 2, vec![1, 2, 3, 4]));
}

#[test]
fn y16_keeps_its_depth() {
    for (brightest, bits) in [(1023_u16, 10), (1024, 12), (4095, 12), (16383, 14), (16384, 16), (65535, 16)] {
        let bytes: Vec<u8> = [7, brightest].into_iter().flat_map(u16::to_le_bytes).collect();
        let picture = decode(Layout::tight(PixelFormat::Y16, (2, 1)), &bytes, Pixels::Color).expect("decodes");
        assert_eq!(picture.luma, Luma::U16 { image: Image::new(2, 1, vec![7, brightest]), bits });
    }
}

#[test]
fn no_layout_panics() {
    const MOST: usize = usize::MAX;
    let picture = jpeg(&ramp(16, 16));
    for &format in PixelFormat::ALL {
        for width in [0, 2, 16, 1 << 31, MOST / 2, MOST - 1, MOST] {
            for height in [0, 2, 16, 1 << 31, MOST - 1, MOST] {
                for stride in [0, 1, 16, MOST / 2, MOST] {
                    let layout = Layout { format, width, height, stride };
                    for bytes in [&[][..], &[7; 64], &picture] {
                        let _ = layout.cut(bytes);
                        let _ = decode(layout, bytes, Pixels::Color);
                    }
                }
            }
        }
    }
}

#[test]
fn causes_of_damage_are_told_apart() {
    let damage = |format, bytes: &[u8]| {
        decode(Layout::tight(format, (16, 16)), bytes, Pixels::Luma).expect_err("damaged").damage()
    };
    let whole = jpeg(&ramp(16, 16));
    assert_eq!(damage(PixelFormat::Grey, &[0; 255]), Damage::Short);
    assert_eq!(damage(PixelFormat::Mjpeg, &[]), Damage::Short);
    assert_eq!(damage(PixelFormat::Mjpeg, &whole[..whole.len() / 2]), Damage::Jpeg);
    assert_eq!(damage(PixelFormat::Mjpeg, &jpeg(&ramp(32, 16))), Damage::Size);
    let odd = decode(Layout::tight(PixelFormat::Yuyv, (3, 1)), &[0; 99], Pixels::Luma).expect_err("odd");
    assert_eq!(odd.damage(), Damage::Size);
}

#[test]
fn no_size_panics() {
    for &format in PixelFormat::ALL {
        for size in [(0, 0), (0, 4), (4, 0), (1, 1), (2, 2)] {
            for length in 0..20 {
                let _ = decode(Layout::tight(format, size), &vec![0; length], Pixels::Color);
            }
        }
    }
}
