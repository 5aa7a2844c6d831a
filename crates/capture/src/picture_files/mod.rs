//! Image files as a source: one pair, or a folder of pairs in natural order. Watched, one pair is given once, and a folder is held at
//! its start and played, stepped and sought like a recording; otherwise the pairs are given once or looped, at a fixed rate or without
//! a limit, and the first one that cannot be read ends the source.

pub(super) mod folder;
mod source;
pub mod truth;

pub use folder::{FilePair, FolderPairs, list_pairs};
pub use source::FileSource;

use self::truth::{DisparityFile, TruthFiles, truth_beside};
use super::decode::read_picture;
use super::{CaptureError, MaxPixels};
use crate::RawPair;
use crate::console;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

impl FilePair {
    /// Reads both pictures, without truth; `color` keeps RGB where the files have it.
    ///
    /// # Errors
    /// One of them cannot be read, or their sizes differ.
    pub fn read(&self, color: bool, max_pixels: MaxPixels) -> Result<RawPair, CaptureError> {
        let read = |path: &Path| read_picture(path, color, max_pixels);
        let (left, right) = (read(&self.left)?, read(&self.right)?);
        if left.size() != right.size() {
            let ((wl, hl), (wr, hr)) = (left.size(), right.size());
            return Err(CaptureError::File(format!(
                "the pictures of a pair have one size, but {} has {wl}x{hl} and {} has {wr}x{hr} pixels",
                console::path(&self.left),
                console::path(&self.right)
            )));
        }
        if left.luma.word_bits() != right.luma.word_bits() {
            return Err(CaptureError::File(format!(
                "the pictures of a pair have one depth, but {} has {} and {} has {} bits",
                console::path(&self.left),
                left.luma.word_bits(),
                console::path(&self.right),
                right.luma.word_bits()
            )));
        }
        let capture_time = SystemTime::now();
        Ok(RawPair::new(self.name.clone(), 0, capture_time, left, right))
    }

    /// Reads the truth of this pair into it: from the file that the user names, or from beside the pair. Truth beside it that cannot be
    /// used is left out, and returned as a remark.
    ///
    /// # Errors
    /// The named file cannot be read or has another size.
    pub(crate) fn read_truth(
        &self,
        pair: &mut RawPair,
        named: Option<&DisparityFile>,
        max_pixels: MaxPixels,
    ) -> Result<Option<String>, CaptureError> {
        let size = pair.left.size();
        let beside = truth_beside(&self.left, size);
        if let Some(named) = named {
            // a file of the layout brings its scale, mask and right view
            let is_named = |files: &TruthFiles| files.left.path == named.path && named.scale.is_none();
            let files = beside.ok().flatten().filter(is_named);
            let files = files.unwrap_or_else(|| TruthFiles::of_left(named.clone()));
            pair.truth = Some(Arc::new(files.read(size, max_pixels)?));
            return Ok(None);
        }
        let truth = match beside {
            Ok(None) => return Ok(None),
            Ok(Some(files)) => files.read(size, max_pixels).map_err(|err| format!("{err}; it is left out")),
            Err(why) => Err(why),
        };
        Ok(match truth {
            Ok(truth) => {
                pair.truth = Some(Arc::new(truth));
                None
            }
            Err(why) => Some(why),
        })
    }
}
