//! Segments of JPEG files that tell of a second view: the index of an MPO (CIPA DC-007-2009), the descriptor of JPS, and XMP.

use super::BothViews;
use super::tiff::Tiff;
use crate::Arrangement;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::ops::Range;

/// Maximum number of bytes in front of an image that are searched for segments.
const HEAD_BYTES: u64 = 2 << 20;
/// Words in the XMP, or in a name, of second images that are no views: maps of HDR gains (Adobe, Apple, ISO 21496-1), and the items of
/// Google's containers, whose kind `Semantic` names.
const NO_VIEW: [&[u8]; 4] = [b"hdrgm", b"HDRGainMap", b"21496", b"Semantic"];

/// Reads the bytes from `at` on, at most [`HEAD_BYTES`].
pub(super) fn head(file: &mut (impl Read + Seek), at: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at)).ok()?;
    file.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Reads the first bytes of a JPEG; `None` for other files.
pub(super) fn jpeg_head(file: &mut (impl Read + Seek)) -> Option<Vec<u8>> {
    let mut start = [0; 2];
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_exact(&mut start).ok()?;
    if start == [0xff, 0xd8] { head(file, 0) } else { None }
}

/// Returns the segments of a JPEG in front of its image: the marker and the place of the data.
fn segments(bytes: &[u8]) -> impl Iterator<Item = (u8, Range<usize>)> {
    const START_OF_SCAN: u8 = 0xda;
    let mut at = 2;
    let next = move || {
        let &[0xff, marker, high, low] = bytes.get(at..)?.first_chunk()? else { return None };
        let data = at + 4..at.checked_add(2 + usize::from(u16::from_be_bytes([high, low])))?;
        at = data.end;
        (marker != START_OF_SCAN && data.start <= data.end && bytes.get(data.clone()).is_some())
            .then_some((marker, data))
    };
    let is_jpeg = bytes.starts_with(&[0xff, 0xd8]);
    std::iter::from_fn(next).filter(move |_| is_jpeg)
}

/// Returns width and height of a JPEG, px.
fn size(bytes: &[u8]) -> Option<[u16; 2]> {
    let is_frame = |marker: &u8| matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
    let (_, data) = segments(bytes).find(|(marker, _)| is_frame(marker))?;
    let &[_bits, height @ .., a, b] = bytes.get(data)?.first_chunk::<5>()?;
    Some([u16::from_be_bytes([a, b]), u16::from_be_bytes(height)])
}

/// Returns whether a word stands in the segments in front of a JPEG's image.
pub(super) fn says(bytes: &[u8], word: &[u8]) -> bool {
    segments(bytes).any(|(marker, data)| {
        matches!(marker, 0xe1 | 0xe2) && bytes[data].windows(word.len()).any(|window| window == word)
    })
}

/// Image of an MPO by its index.
struct Indexed {
    kind: u32,
    bytes: Range<u64>,
}

/// Returns the images of an MPO.
fn indexed(bytes: &[u8]) -> Option<Vec<Indexed>> {
    const APP2: u8 = 0xe2;
    const NAME: &[u8] = b"MPF\0";
    const ENTRIES: u16 = 0xb002;
    const ENTRY_BYTES: usize = 16;
    const KIND: u32 = 0x00ff_ffff;
    let (_, data) = segments(bytes).find(|(marker, data)| *marker == APP2 && bytes[data.clone()].starts_with(NAME))?;
    // places count from the byte order in the index on
    let start = data.start + NAME.len();
    let index = bytes.get(start..data.end)?;
    let is_big_endian = index.starts_with(b"MM");
    let mut tiff = Tiff::open(Cursor::new(index))?;
    let first = tiff.first()?;
    let (place, length) = tiff.bytes_of(&first, ENTRIES)?;
    let entries = index.get(usize::try_from(place).ok()?..)?.get(..usize::try_from(length).ok()?)?;
    let entries = entries.chunks_exact(ENTRY_BYTES).map(|entry| {
        let number = |at: usize| {
            let bytes = [entry[at], entry[at + 1], entry[at + 2], entry[at + 3]];
            if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        // that of the first image is 0
        let begin = if number(8) == 0 { 0 } else { start as u64 + u64::from(number(8)) };
        Indexed { kind: number(0) & KIND, bytes: begin..begin + u64::from(number(4)) }
    });
    Some(entries.collect())
}

/// Returns the left and the right view of an MPO, and a sentence on it. Previews and maps of gains are no views.
pub(super) fn of_mpo(file: &mut (impl Read + Seek), bytes: &[u8]) -> Option<(BothViews, String)> {
    const DISPARITY: u32 = 0x02_0002;
    const UNDEFINED: u32 = 0;
    let images = indexed(bytes)?;
    let of_kind = images.iter().filter(|image| image.kind == DISPARITY).collect::<Vec<_>>();
    // writers such as Pillow 13.0 name no kind
    let unnamed = || {
        let [first, second, ..] = &images[..] else { return None };
        let is_first = first.bytes.start == 0 && images.len() == 2;
        (is_first && second.kind == UNDEFINED).then(|| vec![first, second])
    };
    let is_named = of_kind.len() >= 2;
    let views = if is_named { of_kind } else { unnamed()? };
    let [left, right] = [&views[0].bytes, &views[1].bytes];
    let second = head(file, right.start)?;
    let (one, other) = (size(&head(file, left.start)?)?, size(&second)?);
    let is_other = |word: &[u8]| says(bytes, word) || says(&second, word);
    if left.start == right.start || !is_named && (one != other || NO_VIEW.into_iter().any(is_other)) {
        return None;
    }
    let what = match (is_named, views.len()) {
        (true, 2) => "an MPO, the left image first".to_owned(),
        (true, count) => format!("an MPO of {count} views, of which the first two are used, the left one first"),
        (false, _) => "an MPO of two images, of which the first is taken as the left one".to_owned(),
    };
    Some((BothViews::Jpegs([left.clone(), right.clone()]), what))
}

/// Returns the arrangement of JPS. Its descriptor (VRex, segment APP3) names the layout and the eye that comes first; without one the
/// right eye's view is in the left half.
pub(super) fn of_jps(bytes: &[u8], is_named_so: bool) -> Option<(BothViews, String)> {
    const APP3: u8 = 0xe3;
    const NAME: &[u8] = b"_JPSJPS_";
    const LEFT_FIRST: u8 = 1 << 2;
    const STEREO: u8 = 1;
    let descriptor = segments(bytes).filter(|(marker, _)| *marker == APP3);
    // behind the name: length of the block, separation, flags, layout, kind
    let descriptor = descriptor.filter_map(|(_, data)| bytes[data].strip_prefix(NAME)?.first_chunk::<6>());
    let (arrangement, is_right_first, why) = match descriptor.into_iter().next() {
        Some(&[_, _, _, flags, layout @ 2..=3, STEREO]) => {
            let arrangement = if layout == 2 { Arrangement::SideBySide } else { Arrangement::TopBottom };
            (arrangement, flags & LEFT_FIRST == 0, "as its descriptor says")
        }
        Some(_) => return None,
        None if is_named_so => (Arrangement::SideBySide, true, "as is usual for JPS without a descriptor"),
        None => return None,
    };
    let [first, second] = match arrangement {
        Arrangement::SideBySide => ["left", "right"],
        Arrangement::TopBottom => ["upper", "lower"],
    };
    let half = if is_right_first { second } else { first };
    let what = format!("JPS: its {half} half is the left eye's view, {why}");
    Some((BothViews::Halves { arrangement, is_right_first }, what))
}
