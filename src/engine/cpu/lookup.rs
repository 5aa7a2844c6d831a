//! Costs that are looked up in tables, and others that have to be stored: volumes, row after row, for
//! [`super::costs::Costs::Volume`].

use super::Range;
use super::codes::Codes;
use super::costs::Costs;
use super::simd::{SimdLevel, on_level};
use crate::stereo::cost::mutual_information::Table;
use crate::stereo::cost::{ad_census, gradient_census};
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

/// AD-census, from the census of both pictures and their brightness.
pub(super) fn ad_census(
    level: SimdLevel,
    census: Costs<'_>,
    brightness: &Codes,
    ((width, _), range): Size,
    volume: &mut [u8],
) {
    let tables = ad_census::tables();
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

/// Gradient-census, from the census of both pictures and their gradients along x and y.
pub(super) fn gradient_census(
    level: SimdLevel,
    census: Costs<'_>,
    gradients: &[Codes; 2],
    ((width, _), range): Size,
    volume: &mut [u8],
) {
    let tables = gradient_census::tables();
    let scratch = || [vec![0; width * range.stride], vec![0; width * range.stride]];
    volume.par_chunks_exact_mut(width * range.stride).enumerate().for_each_init(
        scratch,
        |[along_x, along_y], (y, out)| {
            on_level!(level, simd => {
                census.row(simd, (width, y), range, out);
                Costs::Differences(&gradients[0]).row(simd, (width, y), range, along_x);
                Costs::Differences(&gradients[1]).row(simd, (width, y), range, along_y);
                for i in 0..out.len() {
                    let difference = (u32::from(along_x[i]) + u32::from(along_y[i]) + 1) >> 1;
                    let hamming = usize::from(out[i] & 63);
                    out[i] = tables.difference[(difference & 255) as usize] + tables.census[hamming];
                }
            });
        },
    );
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
