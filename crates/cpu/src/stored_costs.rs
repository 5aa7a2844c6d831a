//! Costs that are stored in a volume: costs from tables, and costs that a weighted aggregation reads several times.

use super::codes::Codes;
use super::costs::Costs;
use super::input::Range;
use super::simd::{SimdLevel, looks_up, on_level};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, u8x16};
use rayon::prelude::*;
use stereopsis_stereo::cost::mutual_information::Table;
use stereopsis_stereo::cost::tables::{Scale, Tables};

pub(super) fn copy(level: SimdLevel, costs: Costs<'_>, width: usize, range: Range, volume: &mut [u8]) {
    volume.par_chunks_exact_mut(width * range.stride).enumerate().for_each(|(y, out)| {
        on_level!(level, simd => {
            costs.row(simd, width, y, range, out);
        });
    });
}

/// Stores sums of two table entries: of the difference of the channels, and of the Hamming distance of the census strings. The
/// difference of two channels is half their sum, rounded up.
pub(super) fn tables(
    level: SimdLevel,
    census: Costs<'_>,
    channels: &[Codes],
    scale: Scale,
    width: usize,
    range: Range,
    volume: &mut [u8],
) {
    let tables = scale.tables();
    let scratch = || [vec![0; width * range.stride], vec![0; width * range.stride]];
    volume.par_chunks_exact_mut(width * range.stride).enumerate().for_each_init(
        scratch,
        |[first, second], (y, out)| {
            on_level!(level, simd => {
                census.row(simd, width, y, range, out);
                Costs::Differences(&channels[0]).row(simd, width, y, range, first);
                if let Some(channel) = channels.get(1) {
                    Costs::Differences(channel).row(simd, width, y, range, second);
                    for i in 0..out.len() {
                        first[i] = ((u16::from(first[i]) + u16::from(second[i]) + 1) >> 1) as u8;
                    }
                }
                add_tables(simd, &tables, first, out);
            });
        },
    );
}

#[inline(always)]
fn add_tables<S: Simd>(simd: S, tables: &Tables, differences: &[u8], out: &mut [u8]) {
    let len = <S::u8s as SimdBase<S>>::LEN;
    if !looks_up(simd) {
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

/// Splits a table of 64 bytes into four of 16, each in every block of a register.
#[inline(always)]
fn blocks<S: Simd>(simd: S, table: &[u8]) -> [S::u8s; 4] {
    let mut blocks = [S::u8s::splat(simd, 0); 4];
    for n in 0..4 {
        blocks[n] = S::u8s::block_splat(u8x16::from_slice(simd, &table[16 * n..][..16]));
    }
    blocks
}

#[inline(always)]
fn look_up<S: Simd>(simd: S, blocks: &[S::u8s; 4], places: S::u8s) -> S::u8s {
    let (within, block) = (places & 15, places >> 4);
    let mut found = S::u8s::splat(simd, 0);
    for n in 0..4 {
        found = block.simd_eq(n as u8).select(blocks[n].swizzle_dyn_within_blocks(within), found);
    }
    found
}

/// Stores entries of a learned table, by the brightness of both pixels.
pub(super) fn learned(
    level: SimdLevel,
    brightness: &Codes,
    table: &Table,
    width: usize,
    range: Range,
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
    use stereopsis_stereo::CostKind;
    use stereopsis_stereo::cost::Comparison;

    #[test]
    fn vector_look_up_matches_the_tables() {
        let scale = |cost: &CostKind| match cost.comparison() {
            Comparison::Tables { scale, .. } => Some(scale),
            _ => None,
        };
        let all = || CostKind::ALL.iter().filter_map(scale).map(Scale::tables);
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
