//! Directories of a TIFF or BigTIFF, and of the index of an MPO, which has the same form. Only tags are read; nothing is decoded.

use std::io::{Read, Seek, SeekFrom};

/// Maximum number of directories that are read, against chains without an end.
const MAX_DIRECTORIES: usize = 4096;
/// Maximum number of the entries of a directory.
const MAX_ENTRIES: u64 = 512;
/// Maximum number of the values of a tag: a palette has three times 256.
const MAX_VALUES: u64 = 768;

/// Number of bands whose kinds are compared.
const MAX_BANDS: u64 = 8;

const NEW_SUBFILE_TYPE: u16 = 254;
const OLD_SUBFILE_TYPE: u16 = 255;
const WIDTH: u16 = 256;
const HEIGHT: u16 = 257;
const BITS: u16 = 258;
const PACKING: u16 = 259;
const PHOTOMETRIC: u16 = 262;
const FILL_ORDER: u16 = 266;
/// Photometric number of a palette.
const PALETTE: u64 = 3;
const SAMPLE_FORMAT: u16 = 339;
const SUB_IFDS: u16 = 330;
const COLOR_MAP: u16 = 320;
/// Value for no data, as text, of GDAL.
const NO_DATA: u16 = 42_113;

/// File of directories.
pub struct Tiff<R> {
    file: R,
    is_big_endian: bool,
    /// Whether places have 8 bytes.
    is_big: bool,
}

/// Tag of a directory.
#[derive(Clone, Copy, Debug)]
struct Entry {
    tag: u16,
    kind: u16,
    count: u64,
    /// Place of the field that has the value, or where it lies.
    field: u64,
}

/// Directory with its place in the file.
#[derive(Clone, Debug)]
pub struct Directory {
    at: u64,
    entries: Vec<Entry>,
    next: u64,
}

/// Image of a TIFF by its directory.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Place of the directory in the file.
    pub at: u64,
    /// Width and height, px.
    pub size: (u64, u64),
    /// Whether it is a smaller copy of another image of the file.
    pub is_reduced: bool,
    /// Number of the colour space.
    pub photometric: u64,
    /// Number of the packing.
    pub packing: u64,
    /// Whether the first pixel is in the lowest bits of a byte (FillOrder 2).
    pub is_reversed: bool,
    /// Value that stands for no data.
    pub no_data: Option<f32>,
    /// Colours of a palette of 8 bits; none for other images.
    pub palette: Vec<[u8; 3]>,
    bits: Vec<u64>,
    formats: Vec<u64>,
}

impl Page {
    /// Returns whether it is the mosaic of a sensor, or its colours before any development.
    pub fn is_raw(&self) -> bool {
        const MOSAIC: u64 = 32_803;
        const LINEAR: u64 = 34_892;
        matches!(self.photometric, MOSAIC | LINEAR)
    }

    /// Returns what its pixels are, if these are numbers without a white level: floats, signed ones, or more than 16 bits.
    pub fn numbers(&self) -> Option<&'static str> {
        match (&self.bits[..], self.formats.first().copied().unwrap_or(1)) {
            ([_], 3) => Some("floats"),
            ([_], 2) => Some("signed numbers"),
            ([32 | 64], 1) => Some("whole numbers"),
            _ => None,
        }
    }

    /// Returns whether another image has the same size and kind of pixels.
    fn is_like(&self, other: &Self) -> bool {
        let kind = |page: &Self| (page.size, page.photometric, page.bits.clone(), page.formats.clone());
        kind(self) == kind(other)
    }
}

/// Images of a TIFF.
#[derive(Clone, Debug, PartialEq)]
pub struct Pages {
    /// Image that the file is about: the first one, or the largest whole one where the first one is reduced.
    pub main: Page,
    /// Whether that is the first one.
    pub is_first: bool,
    /// Whole images of the same size and kind, with it; masks and smaller copies do not count.
    pub alike: Vec<u64>,
}

impl<R: Read + Seek> Tiff<R> {
    /// Reads the header; `None` for other files.
    pub fn open(mut file: R) -> Option<Self> {
        let mut head = [0; 4];
        file.seek(SeekFrom::Start(0)).ok()?;
        file.read_exact(&mut head).ok()?;
        let (is_big_endian, is_big) = match &head {
            b"II*\0" => (false, false),
            b"MM\0*" => (true, false),
            b"II+\0" => (false, true),
            b"MM\0+" => (true, true),
            _ => return None,
        };
        Some(Self { file, is_big_endian, is_big })
    }

    /// Returns the number of `count` bytes at `at`, no more than 8.
    fn number(&mut self, at: u64, count: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        let bytes = bytes.get_mut(..count)?;
        self.file.seek(SeekFrom::Start(at)).ok()?;
        self.file.read_exact(bytes).ok()?;
        Some(self.joined(bytes))
    }

    fn joined(&self, bytes: &[u8]) -> u64 {
        let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        if self.is_big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    }

    /// Returns where the place of the first directory is written, and the number of its bytes.
    fn first_field(&self) -> (u64, usize) {
        if self.is_big { (8, 8) } else { (4, 4) }
    }

    /// Reads the first directory.
    pub fn first(&mut self) -> Option<Directory> {
        let (field, bytes) = self.first_field();
        let at = self.number(field, bytes)?;
        self.directory(at)
    }

    fn directory(&mut self, at: u64) -> Option<Directory> {
        let (count_bytes, entry_bytes, place_bytes) = if self.is_big { (8, 20, 8) } else { (2, 12, 4) };
        let count = self.number(at, count_bytes)?.min(MAX_ENTRIES);
        let start = at.checked_add(count_bytes as u64)?;
        let mut bytes = vec![0; (count * entry_bytes) as usize];
        self.file.seek(SeekFrom::Start(start)).ok()?;
        self.file.read_exact(&mut bytes).ok()?;
        let entry = |(index, entry): (usize, &[u8])| Entry {
            tag: self.joined(&entry[..2]) as u16,
            kind: self.joined(&entry[2..4]) as u16,
            count: self.joined(&entry[4..4 + place_bytes]),
            field: start + index as u64 * entry_bytes + 4 + place_bytes as u64,
        };
        let entries = bytes.chunks_exact(entry_bytes as usize).enumerate().map(entry).collect();
        let next = self.number(start.checked_add(count * entry_bytes)?, place_bytes).unwrap_or(0);
        Some(Directory { at, entries, next })
    }

    /// Returns the place and the number of bytes of a tag's values.
    pub fn bytes_of(&mut self, directory: &Directory, tag: u16) -> Option<(u64, u64)> {
        let entry = *directory.entries.iter().find(|entry| entry.tag == tag)?;
        let bytes = entry.count.checked_mul(size_of_kind(entry.kind)?)?;
        let place_bytes = if self.is_big { 8 } else { 4 };
        let place = if bytes <= place_bytes as u64 { entry.field } else { self.number(entry.field, place_bytes)? };
        Some((place, bytes))
    }

    /// Returns the first whole numbers of a tag, at most `most`; none for a tag that is not there.
    fn numbers(&mut self, directory: &Directory, tag: u16, most: u64) -> Vec<u64> {
        let Some(entry) = directory.entries.iter().find(|entry| entry.tag == tag).copied() else { return Vec::new() };
        let Some((place, _)) = self.bytes_of(directory, tag) else { return Vec::new() };
        let size = size_of_kind(entry.kind).unwrap_or(0);
        let count = entry.count.min(most);
        (0..count).map_while(|k| self.number(place.checked_add(k * size)?, size as usize)).collect()
    }

    /// Returns a short text of a tag.
    fn text(&mut self, directory: &Directory, tag: u16) -> Option<String> {
        const MAX_BYTES: u64 = 64;
        let (place, bytes) = self.bytes_of(directory, tag)?;
        let text = (0..bytes.min(MAX_BYTES)).map_while(|k| self.number(place.checked_add(k)?, 1));
        Some(text.map(|byte| byte as u8 as char).take_while(|c| *c != '\0').collect())
    }

    /// Returns the colours of a palette, which has all reds of 16 bits, then all greens, then all blues.
    fn palette(&mut self, directory: &Directory) -> Vec<[u8; 3]> {
        let words = self.numbers(directory, COLOR_MAP, MAX_VALUES);
        let count = words.len() / 3;
        let level = |at: usize| (words[at] >> 8) as u8;
        (0..count).map(|color| [level(color), level(count + color), level(2 * count + color)]).collect()
    }

    fn page(&mut self, directory: &Directory) -> Page {
        const REDUCED_OR_MASK: u64 = 1 | 4;
        let mut one = |tag, otherwise| self.numbers(directory, tag, 1).first().copied().unwrap_or(otherwise);
        let size = (one(WIDTH, 0), one(HEIGHT, 0));
        let is_reduced = one(NEW_SUBFILE_TYPE, 0) & REDUCED_OR_MASK != 0 || one(OLD_SUBFILE_TYPE, 1) == 2;
        let (photometric, packing, is_reversed) = (one(PHOTOMETRIC, 1), one(PACKING, 1), one(FILL_ORDER, 1) == 2);
        let (bits, formats) =
            (self.numbers(directory, BITS, MAX_BANDS), self.numbers(directory, SAMPLE_FORMAT, MAX_BANDS));
        let no_data = self.text(directory, NO_DATA).and_then(|text| text.trim().parse().ok());
        let is_palette = (photometric, &bits[..]) == (PALETTE, &[8]);
        let palette = if is_palette { self.palette(directory) } else { Vec::new() };
        Page { at: directory.at, size, is_reduced, photometric, packing, is_reversed, no_data, palette, bits, formats }
    }

    /// Reads the directories of all images; `None` where the first one cannot be read.
    pub fn pages(&mut self) -> Option<Pages> {
        let mut directories = vec![self.first()?];
        let mut seen = vec![directories[0].at];
        while let Some(next) = directories.last().map(|last| last.next).filter(|next| *next != 0) {
            if seen.contains(&next) || directories.len() == MAX_DIRECTORIES {
                break;
            }
            let Some(directory) = self.directory(next) else { break };
            seen.push(next);
            directories.push(directory);
        }
        let pages: Vec<_> = directories.iter().map(|directory| self.page(directory)).collect();
        let first = pages[0].clone();
        if !first.is_reduced {
            let alike =
                pages.iter().filter(|page| !page.is_reduced && page.is_like(&first)).map(|page| page.at).collect();
            return Some(Pages { main: first, is_first: true, alike });
        }
        let below: Vec<u64> =
            directories.iter().flat_map(|directory| self.numbers(directory, SUB_IFDS, MAX_VALUES)).collect();
        let below = below.into_iter().take(MAX_DIRECTORIES).filter_map(|at| {
            let directory = self.directory(at)?;
            Some(self.page(&directory))
        });
        let all: Vec<_> = pages.iter().cloned().chain(below.collect::<Vec<_>>()).collect();
        let whole = all.iter().filter(|page| !page.is_reduced);
        let Some(main) = whole.max_by_key(|page| u128::from(page.size.0) * u128::from(page.size.1)).cloned() else {
            return Some(Pages { main: first, is_first: true, alike: Vec::new() });
        };
        let alike = all.iter().filter(|page| !page.is_reduced && page.is_like(&main)).map(|page| page.at).collect();
        Some(Pages { main, is_first: false, alike })
    }
}

/// Makes the directory at this place the first one of a file, as decoders read only that.
pub fn begin_with(bytes: &mut [u8], at: u64) {
    let Some(tiff) = Tiff::open(std::io::Cursor::new(&*bytes)) else { return };
    let ((field, count), is_big_endian) = (tiff.first_field(), tiff.is_big_endian);
    let place = if is_big_endian { at.to_be_bytes()[8 - count..].to_vec() } else { at.to_le_bytes()[..count].to_vec() };
    if let Some(field) = bytes.get_mut(field as usize..field as usize + count) {
        field.copy_from_slice(&place);
    }
}

/// Makes a palette's numbers the grey levels of the first image, as decoders do not read palettes.
pub fn make_grey(bytes: &mut [u8]) {
    let Some(mut tiff) = Tiff::open(std::io::Cursor::new(&*bytes)) else { return };
    let field =
        tiff.first().and_then(|first| first.entries.iter().find(|entry| entry.tag == PHOTOMETRIC).map(|e| e.field));
    let grey = if tiff.is_big_endian { 1_u16.to_be_bytes() } else { 1_u16.to_le_bytes() };
    if let Some(field) = field.and_then(|field| bytes.get_mut(field as usize..field as usize + 2)) {
        field.copy_from_slice(&grey);
    }
}

/// Returns the number of bytes of a value of this type.
fn size_of_kind(kind: u16) -> Option<u64> {
    Some(match kind {
        1 | 2 | 6 | 7 => 1,
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16 | 17 | 18 => 8,
        _ => return None,
    })
}
