//! Writer of MPO: two JPEG images one behind the other, with an index that says that they are the views of a pair (CIPA DC-007-2009,
//! Multi-Picture Format).

/// Marker of an application segment with the index.
const APP2: [u8; 2] = [0xff, 0xe2];
const NAME: &[u8] = b"MPF\0";
/// Header of the index: little-endian, the first directory behind it.
const HEADER: &[u8] = b"II*\0\x08\0\0\0";
/// Tags of the directories.
const VERSION: u16 = 0xb000;
const NUMBER_OF_IMAGES: u16 = 0xb001;
const ENTRIES: u16 = 0xb002;
const INDIVIDUAL_NUMBER: u16 = 0xb101;
/// Types of values.
const LONG: u16 = 4;
const UNDEFINED: u16 = 7;
/// Type of an image: one view of a pair (multi-view, disparity).
const DISPARITY: u32 = 0x02_0002;
/// Flag of the image that other programs show.
const REPRESENTATIVE: u32 = 1 << 29;
/// Length of the start marker, bytes.
const START: usize = 2;

/// Returns the file of two JPEG images, the left one first.
pub(crate) fn joined(left: &[u8], right: &[u8]) -> Vec<u8> {
    let second = with_segment(right, &directory(&[entry(VERSION, UNDEFINED, 4, *b"0100"), number(2)], &[]));
    let index = |first_bytes: u32, offset: u32| {
        let image = |attribute: u32, bytes: u32, offset: u32| {
            [&attribute.to_le_bytes()[..], &bytes.to_le_bytes(), &offset.to_le_bytes(), &[0; 4]].concat()
        };
        let entries =
            [image(REPRESENTATIVE | DISPARITY, first_bytes, 0), image(DISPARITY, second.len() as u32, offset)];
        let count = entry(NUMBER_OF_IMAGES, LONG, 1, 2_u32.to_le_bytes());
        // the entries lie behind the directory of three
        let at = (HEADER.len() + 2 + 3 * 12 + 4) as u32;
        let places = entry(ENTRIES, UNDEFINED, 32, at.to_le_bytes());
        directory(&[entry(VERSION, UNDEFINED, 4, *b"0100"), count, places], &entries.concat())
    };
    let bytes = with_segment(left, &index(0, 0)).len() as u32;
    // offsets count from the header of the index
    let header_at = (end_of_jfif(left) + APP2.len() + 2 + NAME.len()) as u32;
    let first = with_segment(left, &index(bytes, bytes - header_at));
    [first, second].concat()
}

fn entry(tag: u16, kind: u16, count: u32, value: [u8; 4]) -> Vec<u8> {
    [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &value].concat()
}

/// Returns the entry with the number of an image, from 1.
fn number(number: u32) -> Vec<u8> {
    entry(INDIVIDUAL_NUMBER, LONG, 1, number.to_le_bytes())
}

/// Returns the only directory of an index, with the values behind it.
fn directory(entries: &[Vec<u8>], values: &[u8]) -> Vec<u8> {
    let count = entries.len() as u16;
    [HEADER, &count.to_le_bytes(), &entries.concat(), &[0; 4], values].concat()
}

/// Returns the place behind the start marker and a JFIF segment, which has to be the first one.
fn end_of_jfif(jpeg: &[u8]) -> usize {
    match jpeg.get(START..START + 4) {
        Some(&[0xff, 0xe0, high, low]) => START + 2 + usize::from(u16::from_be_bytes([high, low])),
        _ => START,
    }
}

fn with_segment(jpeg: &[u8], index: &[u8]) -> Vec<u8> {
    let at = end_of_jfif(jpeg).min(jpeg.len());
    let length = (2 + NAME.len() + index.len()) as u16;
    [&jpeg[..at], &APP2, &length.to_be_bytes(), NAME, index, &jpeg[at..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_names_both_images() {
        let jpeg = |fill: u8| [&[0xff, 0xd8, 0xff, 0xe0, 0, 4, b'J', b'F'][..], &[fill; 5], &[0xff, 0xd9]].concat();
        let both = joined(&jpeg(1), &jpeg(2));
        let at = both.windows(4).position(|word| word == NAME).unwrap() + 4;
        let number = |at: usize| u32::from_le_bytes(both[at..at + 4].try_into().unwrap()) as usize;
        let entries = at + number(at + 8 + 2 + 2 * 12 + 8);
        assert_eq!((number(entries) as u32, number(entries + 16) as u32), (REPRESENTATIVE | DISPARITY, DISPARITY));
        let (first_bytes, second_bytes, second_at) =
            (number(entries + 4), number(entries + 20), at + number(entries + 24));
        assert_eq!((first_bytes, first_bytes + second_bytes), (second_at, both.len()));
        assert!(both[..first_bytes].ends_with(&[1, 1, 0xff, 0xd9]) && both[second_at..].starts_with(&[0xff, 0xd8]));
        assert!(both.ends_with(&[2, 2, 0xff, 0xd9]));
    }
}
