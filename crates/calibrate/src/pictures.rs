//! Images of views: in memory if live, otherwise read from files on demand.

use std::sync::Arc;
use stereopsis_base::image::{Image, Luma};
use stereopsis_frame::{CaptureError, MaxPixels};
use stereopsis_images::picture_files::FilePair;

/// Left and right image of a view.
#[derive(Clone, Debug)]
pub enum Pictures {
    /// Images in memory.
    Held([Arc<Image<u8>>; 2]),
    /// Images in files.
    InFiles(PairFiles),
}

/// Image files of a pair, decoded on demand.
#[derive(Clone, Debug)]
pub struct PairFiles {
    /// Name of the pair.
    pub name: String,
    pair: FilePair,
    is_swapped: bool,
    max_pixels: MaxPixels,
}

impl PairFiles {
    /// Creates the files of a pair; `is_swapped` means that the left file is the right camera's.
    pub fn of(pair: FilePair, is_swapped: bool, max_pixels: MaxPixels) -> Self {
        Self { name: pair.name.clone(), pair, is_swapped, max_pixels }
    }

    /// Reads the left (0) or right (1) image, and rejects another size than `size` before decoding.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or has another size.
    pub fn read(&self, side: usize, size: Option<(usize, usize)>) -> Result<Arc<Image<u8>>, CaptureError> {
        let is_right = (side == 1) != self.is_swapped;
        let picture = self.pair.read_view(is_right, self.max_pixels, size)?;
        Ok(Arc::new(match picture.luma {
            Luma::U8(image) => image,
            deep @ Luma::U16 { .. } => deep.to_u8(),
        }))
    }
}

impl Pictures {
    /// Returns the size, px.
    ///
    /// # Errors
    /// See [`Self::get`].
    pub fn size(&self) -> Result<(usize, usize), CaptureError> {
        match self {
            Self::Held([left, _]) => Ok(left.size()),
            Self::InFiles(files) => files.read(0, None).map(|left| left.size()),
        }
    }

    /// Returns the images, read from files if needed.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn get(&self) -> Result<[Arc<Image<u8>>; 2], CaptureError> {
        match self {
            Self::Held(pictures) => Ok(pictures.clone()),
            Self::InFiles(files) => {
                let read = |side| files.read(side, None);
                Ok([read(0)?, read(1)?])
            }
        }
    }
}
