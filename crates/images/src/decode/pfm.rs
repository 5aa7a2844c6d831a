//! Decoder of PFM files: one float per pixel, rows from bottom to top. Middlebury, ETH3D and Scene Flow store disparities this way.

use crate::error::{FileError, PictureError};
use std::io::Read as _;
use std::path::Path;
use stereopsis_base::files::plain;
use stereopsis_base::image::Image;
use stereopsis_frame::{CaptureError, MaxPixels};

/// Maximum length of the header (`Pf`, two sizes, a factor), bytes.
const MAX_HEADER_BYTES: u64 = 256;

struct Header {
    width: usize,
    height: usize,
    /// Whether floats are little-endian, which a negative factor indicates.
    little_endian: bool,
    /// Length of the header, bytes; the pixels follow it.
    len: usize,
}

impl Header {
    fn pixel_bytes(&self) -> usize {
        4 * self.width * self.height
    }
}

/// Reads the values of a PFM file. Like all readers of disparities, it ignores the absolute value of the factor in the header.
///
/// # Errors
/// The file is missing, truncated, larger than `max_pixels`, in colour or not a PFM; the text names it.
pub(crate) fn read_pfm(path: &Path, max_pixels: MaxPixels) -> Result<Image<f32>, CaptureError> {
    let cannot = |cause| FileError::Numbers { path: path.to_owned(), cause };
    let failed = |cause| FileError::Read { path: path.to_owned(), cause };
    let mut file = plain::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    (&mut file).take(MAX_HEADER_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    let header = header(&bytes, max_pixels).map_err(cannot)?;
    let rest = (header.len + header.pixel_bytes()).saturating_sub(bytes.len());
    file.take(rest as u64).read_to_end(&mut bytes).map_err(failed)?;
    Ok(pixels(&bytes, &header).map_err(cannot)?)
}

/// Decodes the bytes of a PFM file like [`read_pfm`].
///
/// # Errors
/// The bytes are truncated, too large, in colour or not a PFM.
pub fn decode_pfm(bytes: &[u8], max_pixels: MaxPixels) -> Result<Image<f32>, PictureError> {
    pixels(bytes, &header(bytes, max_pixels)?)
}

fn header(bytes: &[u8], max_pixels: MaxPixels) -> Result<Header, PictureError> {
    let (mut words, mut at) = (Vec::new(), 0);
    while words.len() < 4 {
        let rest = bytes.get(at..).unwrap_or_default();
        let start = rest.iter().position(|byte| !byte.is_ascii_whitespace());
        let start = at + start.ok_or(PictureError::Header("is cut off"))?;
        if bytes[start] == b'#' {
            // a line of words, as in the formats of Netpbm
            let line =
                bytes[start..].iter().position(|&byte| byte == b'\n').ok_or(PictureError::Header("is cut off"))?;
            at = start + line;
            continue;
        }
        let len = bytes[start..].iter().position(u8::is_ascii_whitespace).ok_or(PictureError::Header("is cut off"))?;
        words.push(std::str::from_utf8(&bytes[start..start + len]).unwrap_or_default());
        at = start + len;
        match words[0] {
            "Pf" => {}
            "PF" => return Err(PictureError::PfmInColour),
            _ => return Err(PictureError::NoPfm),
        }
    }
    let size = |word: &str| word.parse::<u32>().ok().filter(|&size| size > 0);
    let factor = words[3].parse::<f64>().ok().filter(|factor| factor.is_finite() && *factor != 0.0);
    let (Some(width), Some(height), Some(factor)) = (size(words[1]), size(words[2]), factor) else {
        return Err(PictureError::Header("has no width, height and factor"));
    };
    max_pixels.check(width.into(), height.into())?;
    // the header ends with one byte of white space, or with the two that end each of its lines where Windows wrote it as text
    let ends_with_two = bytes[at..].starts_with(b"\r\n") && bytes[2..].starts_with(b"\r\n");
    let len = at + if ends_with_two { 2 } else { 1 };
    Ok(Header { width: width as usize, height: height as usize, little_endian: factor < 0.0, len })
}

fn pixels(bytes: &[u8], header: &Header) -> Result<Image<f32>, PictureError> {
    let data = bytes.get(header.len..).unwrap_or_default();
    let Some(data) = data.get(..header.pixel_bytes()) else {
        return Err(PictureError::Short {
            got: data.len() as u64,
            bytes: header.pixel_bytes() as u64,
            of_pixels: true,
        });
    };
    let value = if header.little_endian { f32::from_le_bytes } else { f32::from_be_bytes };
    let rows = data.chunks_exact(4 * header.width).rev();
    let pixels = rows.flat_map(|row| row.as_chunks::<4>().0.iter().map(|bytes| value(*bytes))).collect();
    Ok(Image::new(header.width, header.height, pixels))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pfm(head: &str, values: &[[u8; 4]]) -> Vec<u8> {
        [head.as_bytes(), values.as_flattened()].concat()
    }

    fn decode(bytes: &[u8]) -> Result<Image<f32>, PictureError> {
        decode_pfm(bytes, MaxPixels(6))
    }

    #[test]
    fn reads_rows_from_the_bottom_in_either_byte_order() {
        let values = [1.0_f32, 2.5, f32::INFINITY, -3.0];
        let expected = [f32::INFINITY, -3.0, 1.0, 2.5];
        let little = decode(&pfm("Pf\n2 2\n-0.003922\n", &values.map(f32::to_le_bytes))).unwrap();
        assert_eq!((little.size(), little.pixels()), ((2, 2), &expected[..]));
        let big = decode(&pfm("Pf 2 2 1.0 ", &values.map(f32::to_be_bytes))).unwrap();
        assert_eq!(big.pixels(), expected);
        let with_words = decode(&pfm("Pf\n# truth\n2 2\n-1\n", &values.map(f32::to_le_bytes))).unwrap();
        assert_eq!(with_words.pixels(), expected);
        let of_windows = decode(&pfm("Pf\r\n2 2\r\n-1\r\n", &values.map(f32::to_le_bytes))).unwrap();
        assert_eq!(of_windows.pixels(), expected);
        let ten = f32::from_le_bytes([10, 0, 0, 0]); // a first byte that looks like an end of line belongs to the number
        let first = decode(&pfm("Pf\n1 1\n-1\r", &[ten.to_le_bytes()])).unwrap();
        assert_eq!(first.pixels(), [ten]);
    }

    #[test]
    fn rejects_other_files_and_invalid_headers() {
        let values = [[0; 4]; 4];
        let text = |head: &str| decode(&pfm(head, &values)).unwrap_err().to_string();
        assert!(text("PF\n2 2\n-1\n").contains("colour"));
        assert!(text("P5\n2 2\n255\n").contains("no PFM"));
        assert!(text("Pf\n2 3\n-1\n").contains("16 of 24 bytes"), "{}", text("Pf\n2 3\n-1\n"));
        assert!(text("Pf\n4 2\n-1\n").contains("max-pixels"));
        assert!(text("Pf\n0 2\n-1\n").contains("no width"));
        assert!(text("Pf\n2 2\nnan\n").contains("factor"));
        for cut in 0..8 {
            assert!(decode(&b"Pf\n2 2\n-1"[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn errors_name_the_file_and_the_cause() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disp0.pfm");
        let text = read_pfm(&path, MaxPixels::default()).unwrap_err().to_string();
        assert!(text.contains("disp0.pfm") && text.contains("no such file"), "{text}");
        // longer than the bytes that are read for the header
        let values: Vec<_> = (0..100_u8).map(|k| f32::from(k).to_le_bytes()).collect();
        std::fs::write(&path, [&pfm("Pf\n10 10\n-1\n", &values)[..], b"behind it"].concat()).unwrap();
        let image = read_pfm(&path, MaxPixels::default()).unwrap();
        assert_eq!((image.at(0, 9), image.at(9, 0)), (0.0, 99.0));
        std::fs::write(&path, &pfm("Pf\n10 10\n-1\n", &values)[..300]).unwrap();
        let text = read_pfm(&path, MaxPixels::default()).unwrap_err().to_string();
        assert!(text.contains("disp0.pfm") && text.contains("cut off"), "{text}");
    }
}
