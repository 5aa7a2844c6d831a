//! Tests of the winners of both images against their definition.

use super::*;
use crate::simd::{SimdLevel, on_level};
use fastrand::Rng;

/// Computes both rows of disparities by the definition: the smallest total, of equal ones the smaller disparity.
fn expected(totals: &[Vec<Option<u32>>], min: i32) -> [Vec<i16>; 2] {
    let width = totals.len() as i32;
    let winner = |candidates: &mut dyn Iterator<Item = (Option<u32>, i32)>| {
        let found = candidates.filter_map(|(total, i)| Some((total?, i))).min();
        found.map_or(INVALID, |(_, i)| (SUBPIXEL_STEPS * (min + i)) as i16)
    };
    let left = totals.iter().map(|pixel| winner(&mut pixel.iter().copied().zip(0..)));
    let right = (0..width).map(|x| {
        let partners = (0..totals[0].len() as i32).filter(|i| (0..width).contains(&(x + min + i)));
        winner(&mut partners.map(|i| (totals[(x + min + i) as usize][i as usize], i)))
    });
    [left.collect(), right.collect()]
}

fn computed<S: Vector>(
    simd: S,
    totals: &[Vec<Option<u32>>],
    min: i32,
    form: TotalForm,
    mirrored: bool,
) -> [Vec<i16>; 2] {
    let (width, candidates) = (totals.len(), totals[0].len());
    let params = StereoParams { min_disparity: min, subpixel: Subpixel::Off, ..StereoParams::default() };
    let range = Range { min, candidates, stride: candidates };
    let (mut block, mut right) = (BlockTotals::default(), RightWinners::default());
    block.restart(candidates, form);
    right.restart(width, range, form);
    let [mut values, mut of_right] = [(); 2].map(|()| vec![0; width]);
    let mut starts: Vec<_> = (0..width).step_by(BLOCK).collect();
    if mirrored {
        starts.reverse();
    }
    for first in starts {
        let pixels = BLOCK.min(width - first);
        let (places, pitch) = block.begin(DisparityWindow { first: 0, len: candidates });
        for t in 0..pixels {
            for (i, total) in totals[first + t].iter().enumerate() {
                let key = |total: u32| ((total << form.bits) as u16) | form.number(t);
                places[t * pitch + i] = total.map_or(form.none, key);
            }
        }
        let values = &mut values[first..first + pixels];
        let row = MapRow { values, reasons: &mut vec![0; pixels], confidence: &mut [], right: &mut [] };
        block.left(simd, &params, None, row);
        right.update(simd, &block, first, pixels, mirrored);
    }
    right.finish(simd, min, &mut of_right);
    [values, of_right]
}

#[test]
fn winners_match_the_definition_up_to_the_largest_total() {
    let rng = &mut Rng::with_seed(8);
    for level in SimdLevel::all() {
        for (largest, bits) in [(60, 5), (1021, 5), (1022, 4), (2045, 4), (2046, 0), (65534, 0)] {
            let candidates = level.bytes() * rng.usize(1..=128 / level.bytes());
            let form = TotalForm::of(largest, candidates);
            assert_eq!(form.bits, bits, "{largest}, {candidates} candidates");
            let (width, min) = (rng.usize(1..100), rng.i32(-40..40));
            let total = |rng: &mut Rng| if rng.u8(..3) == 0 { largest } else { rng.u32(largest - 20..=largest) };
            let mut totals: Vec<Vec<_>> = Vec::new();
            totals.resize_with(width, || (0..candidates).map(|_| (rng.u8(..4) > 0).then(|| total(rng))).collect());
            for pixel in &mut totals {
                pixel[rng.usize(..candidates)] = Some(largest); // one exists
            }
            for mirrored in [false, true] {
                let found = on_level!(level, simd => computed(simd, &totals, min, form, mirrored));
                assert_eq!(found, expected(&totals, min), "{}, {largest}, {mirrored}", level.name());
            }
        }
    }
}
