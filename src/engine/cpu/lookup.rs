//! Costs that are looked up in tables, and others that have to be stored: volumes, row after row, for
//! [`super::costs::Costs::Volume`].

use super::Range;
use super::codes::Codes;
use super::costs::Costs;
use super::simd::{SimdLevel, on_level};
use crate::stereo::cost::ad_census::Tables;
use crate::stereo::cost::mutual_information::Table;
use rayon::prelude::*;

/// The size of the pictures, and their candidates.
type Size = ((usize, usize), Range);

/// Stores costs as they are.
pub(super) fn copy(level: SimdLevel, costs: Costs<'_>, ((width, _), range): Size, volume: &mut [u8]) {
    volume.par_chunks_exact_mut(width * range.stride).enumerate().for_each(|(y, out)| {
        on_level!(level, simd => {
            costs.row(simd, (width, y), range, out);
        });
    });
}

/// AD-census, after [`Tables::cost`], from the census of both pictures and their brightness.
pub(super) fn ad_census(
    level: SimdLevel,
    census: Costs<'_>,
    brightness: &Codes,
    ((width, _), range): Size,
    volume: &mut [u8],
) {
    let tables = Tables::new();
    let scratch = || vec![0; width * range.stride];
    volume.par_chunks_exact_mut(width * range.stride).enumerate().for_each_init(scratch, |differences, (y, out)| {
        on_level!(level, simd => {
            census.row(simd, (width, y), range, out);
            Costs::Differences(brightness).row(simd, (width, y), range, differences);
            for i in 0..out.len() {
                let hamming = usize::from(out[i] & 63);
                out[i] = tables.difference[usize::from(differences[i])] + tables.census[hamming];
            }
        });
    });
}

/// Mutual information, from the brightness of both pictures.
pub(super) fn mutual_information(
    level: SimdLevel,
    brightness: &Codes,
    table: &Table,
    ((width, _), range): Size,
    volume: &mut [u8],
) {
    let lines = table.0.as_chunks::<256>().0;
    volume.par_chunks_exact_mut(width * range.stride).enumerate().for_each(|(y, out)| {
        let (left, right) = brightness.bytes_of_row(y);
        on_level!(level, _ => {
            for (x, out) in out.chunks_exact_mut(range.stride).enumerate() {
                let costs = &lines[usize::from(left[x])];
                let partners = &right[width - 1 - x..][..range.stride];
                for i in 0..range.stride {
                    out[i] = costs[usize::from(partners[i])];
                }
            }
        });
    });
}
