//! Boxes of HEIC, HEIF and AVIF files (ISO/IEC 23008-12): the kind, and the group of both views.

/// Content of a HEIF file by its boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heif {
    /// Whether the images are in AV1.
    pub is_avif: bool,
    /// Whether a group `ster` names the left and the right image, and the left one comes first in the file.
    pub left_is_first: Option<bool>,
}

/// Brands of still images in files of boxes.
const BRANDS: [&[u8; 4]; 10] =
    [b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"avif", b"avis"];

impl Heif {
    /// Reads the boxes in the first bytes of a file; `None` for other files, such as videos.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (_, data) = boxes(bytes).next().filter(|(name, _)| name == b"ftyp")?;
        let brand: &[u8; 4] = data.first_chunk()?;
        if !BRANDS.contains(&brand) {
            return None;
        }
        let meta = boxes(bytes).find(|(name, _)| name == b"meta").and_then(|(_, data)| data.get(4..));
        let groups = meta.and_then(|meta| boxes(meta).find(|(name, _)| name == b"grpl"));
        let group = groups.and_then(|(_, groups)| boxes(groups).find(|(name, _)| name == b"ster"));
        // behind version, number and count: the numbers of the left and of the right image
        let numbers = group.and_then(|(_, group)| group.get(12..)?.first_chunk::<8>());
        let left_is_first = numbers.map(|numbers| numbers[..4] < numbers[4..]);
        Some(Self { is_avif: brand.starts_with(b"avi"), left_is_first })
    }
}

/// Returns the names and the data of boxes that follow each other; a box that is cut off ends with the bytes.
fn boxes(mut bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let &[a, b, c, d, ref name @ ..] = bytes.first_chunk::<8>()?;
        let (length, head) = match u32::from_be_bytes([a, b, c, d]) {
            0 => (bytes.len(), 8),
            1 => (usize::try_from(u64::from_be_bytes(*bytes.get(8..)?.first_chunk()?)).ok()?, 16),
            length => (length as usize, 8),
        };
        let whole = bytes.get(..length.min(bytes.len()))?;
        bytes = bytes.get(whole.len()..).unwrap_or_default();
        Some((*name, whole.get(head..)?))
    })
}
