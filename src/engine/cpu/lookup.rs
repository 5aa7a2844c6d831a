//! Costs that are looked up in tables, and others that have to be stored: volumes, row after row, for
//! [`super::costs::Costs::Volume`].

use super::Range;
use super::codes::Codes;
use super::costs::Costs;
use super::simd::{SimdLevel, on_level};
use crate::stereo::cost::mutual_information::Table;
use crate::stereo::cost::tables::Tables;
use crate::stereo::cost::{ad_census, gradient_census};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, u8x16};
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
            add_tables(simd, &tables, differences, out);
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
                    along_x[i] = ((u16::from(along_x[i]) + u16::from(along_y[i]) + 1) >> 1) as u8;
                }
                add_tables(simd, &tables, along_x, out);
            });
        },
    );
}

/// Hamming distances in `out` become costs.
#[inline(always)]
fn add_tables<S: Simd>(simd: S, tables: &Tables, differences: &[u8], out: &mut [u8]) {
    let len = <S::u8s as SimdBase<S>>::LEN;
    if len == 16 && cfg!(not(target_arch = "aarch64")) {
        // SSE2 looks nothing up
        for i in 0..out.len() {
            out[i] = tables.cost(differences[i], out[i].into());
        }
        return;
    }
    // all differences from 63 on cost the same, see the test
    let (of_differences, _) = tables.difference.split_at(64);
    let (by_difference, by_distance) = (blocks(simd, of_differences), blocks(simd, &tables.census));
    for (differences, out) in differences.chunks_exact(len).zip(out.chunks_exact_mut(len)) {
        let difference = look_up(simd, &by_difference, S::u8s::from_slice(simd, differences).min(63));
        let distance = look_up(simd, &by_distance, S::u8s::from_slice(simd, out).min(63));
        (difference + distance).store_slice(out);
    }
}

/// A table of 64 bytes as four of 16, each in every block of a register.
#[inline(always)]
fn blocks<S: Simd>(simd: S, table: &[u8]) -> [S::u8s; 4] {
    let mut blocks = [S::u8s::splat(simd, 0); 4];
    for n in 0..4 {
        blocks[n] = S::u8s::block_splat(u8x16::from_slice(simd, &table[16 * n..][..16]));
    }
    blocks
}

/// What a table of 64 bytes has at each of these places.
#[inline(always)]
fn look_up<S: Simd>(simd: S, blocks: &[S::u8s; 4], places: S::u8s) -> S::u8s {
    let (within, block) = (places & 15, places >> 4);
    let mut found = S::u8s::splat(simd, 0);
    for n in 0..4 {
        found = block.simd_eq(n as u8).select(blocks[n].swizzle_dyn_within_blocks(within), found);
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_and_every_distance_costs_what_the_tables_say() {
        let all = || [ad_census::tables(), gradient_census::tables()].into_iter();
        for (level, tables) in SimdLevel::all().into_iter().flat_map(|level| all().map(move |tables| (level, tables))) {
            for hamming in 0..64 {
                let differences: Vec<u8> = (0..=255).collect();
                let mut costs = vec![hamming; 256];
                on_level!(level, simd => add_tables(simd, &tables, &differences, &mut costs));
                let expected: Vec<u8> =
                    differences.iter().map(|&difference| tables.cost(difference, hamming.into())).collect();
                assert_eq!(costs, expected, "{hamming}, {}", level.name());
            }
        }
    }
}
