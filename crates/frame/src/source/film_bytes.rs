//! Films by their first bytes, whatever their names are.

use std::io::Read as _;
use std::path::Path;
use stereopsis_base::files::plain;

/// Number of bytes that are read: three packets of an M2TS file.
const FIRST_BYTES: u64 = 3 * 192;
/// Brands of still images in the container of MP4 (ISO/IEC 23008-12, AVIF 1.1), and of Canon's raw images.
const IMAGE_BRANDS: [&[u8]; 11] =
    [b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis", b"crx "];
/// First bytes of ASF (WMV).
const ASF: &[u8] = &[0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11];
/// First bytes of MXF (SMPTE ST 377-1).
const MXF: &[u8] = &[0x06, 0x0e, 0x2b, 0x34, 0x02, 0x05, 0x01, 0x01, 0x0d, 0x01, 0x02];
/// Boxes with which films of older cameras begin.
const BOXES: [&[u8]; 4] = [b"moov", b"mdat", b"wide", b"skip"];

/// Kind of film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilmBytes {
    /// Film for ffmpeg.
    Coded,
    /// YUV4MPEG2.
    Y4m,
}

/// Returns the kind of a plain file that begins as a film does.
pub(super) fn film_bytes(path: &Path) -> Option<FilmBytes> {
    let mut bytes = Vec::new();
    plain::open(path).ok()?.take(FIRST_BYTES).read_to_end(&mut bytes).ok()?;
    if bytes.starts_with(b"YUV4MPEG2 ") {
        return Some(FilmBytes::Y4m);
    }
    is_coded(&bytes).then_some(FilmBytes::Coded)
}

fn is_coded(bytes: &[u8]) -> bool {
    let at = |place: usize, len: usize| bytes.get(place..place + len).unwrap_or_default();
    let is_mp4 = match at(4, 4) {
        b"ftyp" => !IMAGE_BRANDS.contains(&at(8, 4)),
        name => BOXES.contains(&name) && at(0, 1) == [0],
    };
    // transport streams have a byte of synchronization in each packet
    let is_stream = |first: usize, packet: usize| (0..3).all(|number| at(first + number * packet, 1) == [0x47]);
    is_mp4
        || bytes.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) // Matroska, WebM
        || bytes.starts_with(b"RIFF") && at(8, 4) == b"AVI "
        || is_stream(0, 188)
        || is_stream(4, 192)
        || bytes.starts_with(b"FLV\x01")
        || bytes.starts_with(b"OggS")
        || bytes.starts_with(b"DKIF") // IVF
        || bytes.starts_with(b"nut/multimedia container\0")
        || bytes.starts_with(&[0x1f, 0x07, 0x00]) // DV
        || bytes.starts_with(ASF)
        || bytes.starts_with(MXF)
        || bytes.strip_prefix(&[0, 0, 1]).or_else(|| bytes.strip_prefix(&[0, 0, 0, 1])).is_some_and(is_bare)
}

/// Returns whether a stream of MPEG begins with a code after its first mark.
fn is_bare(bytes: &[u8]) -> bool {
    match *bytes {
        // a pack, MPEG-1 and MPEG-2, MPEG-4
        [0xba | 0xb3 | 0xb0, ..] => true,
        // H.264: a sequence, or its delimiter
        [0x27 | 0x47 | 0x67 | 0x09, ..] => true,
        // H.265: its parameters, or its delimiter
        [0x40 | 0x46, 0x01, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn films_are_told_by_their_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("take");
        let kind = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            film_bytes(&path)
        };
        let packets = |first: usize, packet: usize| {
            let mut bytes = vec![0; first + 3 * packet];
            (0..3).for_each(|number| bytes[first + number * packet] = 0x47);
            bytes
        };
        for bytes in [
            b"\0\0\0\x20ftypisom".as_slice(),
            b"\0\0\0\x08wide\0\0",
            b"\x1a\x45\xdf\xa3\x01",
            b"RIFF\0\0\0\0AVI LIST",
            &packets(0, 188),
            &packets(4, 192),
            b"\0\0\x01\xba\x44",
            b"\0\0\0\x01\x67\x64",
            b"\0\0\0\x01\x40\x01",
        ] {
            assert_eq!(kind(bytes), Some(FilmBytes::Coded), "{bytes:?}");
        }
        assert_eq!(kind(b"YUV4MPEG2 W4 H4\n"), Some(FilmBytes::Y4m));
        for bytes in [
            b"\0\0\0\x20ftypheic".as_slice(),
            b"RIFF\0\0\0\0WEBPVP8 ",
            b"\xff\xd8\xff\xe0",
            b"\x89PNG\r\n\x1a\n",
            b"\x89MCAP0\r\n",
            b"Good morning",
            b"\0\0\x01\0",
            b"",
        ] {
            assert_eq!(kind(bytes), None, "{bytes:?}");
        }
        assert_eq!(film_bytes(folder.path()), None);
    }
}
