//! Tests of tuning with invented times.

use super::*;
use crate::limits::Limits;
use crate::variant::{CostSource, Requirements, Variant};

const LIMITS: Limits = Limits {
    subgroup: 32,
    workgroup: 1024,
    has_f16: true,
    has_i16: true,
    packs_i16: true,
    discrete: true,
    integrated: false,
    binding_bytes: 1 << 30,
    storage_buffers: 32,
    side_px: 16384,
    path_bytes: 1 << 30,
};
const REQUIREMENTS: Requirements = Requirements { candidates: 128, wide: false, has_codes: true, has_row_path: true };

/// Returns the time on a device that is quick with costs from codes, large workgroups and short pieces, ms.
fn made_up_ms(variant: &Variant) -> f64 {
    let costs = if variant.costs == CostSource::Codes { 0.6 } else { 1.0 };
    costs * (1.0 + 10.0 / f64::from(variant.workgroup)) * (1.0 + f64::from(variant.piece) / 1000.0)
}

#[test]
fn integrated_gpus_start_with_costs_from_codes() {
    let integrated = Limits { discrete: false, integrated: true, ..LIMITS };
    let start = |limits: &Limits, has_codes| {
        let requirements = Requirements { has_codes, ..REQUIREMENTS };
        let variant = Variant::baseline(limits, &requirements);
        assert_eq!(variant.unsupported_reason(limits, &requirements), None);
        variant.costs
    };
    assert_eq!(start(&integrated, true), CostSource::Codes);
    assert_eq!(start(&integrated, false), CostSource::Volume);
    assert_eq!(start(&LIMITS, true), CostSource::Volume);
}

#[test]
fn search_finds_the_quickest_variant_in_few_trials() {
    let mut autotuner = Autotuner::new(LIMITS, REQUIREMENTS);
    let mut pairs = 0;
    while let Some(trying) = autotuner.candidate() {
        assert_eq!(trying.unsupported_reason(&LIMITS, &REQUIREMENTS), None);
        assert_eq!(autotuner.result(), None, "not before all is known");
        // the first pair with a variant is slow: buffers are allocated
        autotuner.add_sample(trying, if pairs % 4 == 0 { 9.0 } else { 0.0 } + made_up_ms(&trying));
        autotuner.add_sample(Variant { words: trying.words % 4 + 1, ..trying }, 0.0); // a late one, of another variant
        pairs += 1;
    }
    let (best, ms) = autotuner.result().unwrap();
    assert_eq!((best.costs, best.workgroup), (CostSource::Codes, 256));
    assert!((ms - made_up_ms(&best)).abs() < 1e-9);
    assert!((30..120).contains(&pairs), "{pairs}");
}

#[test]
fn unsupported_variants_are_skipped() {
    let mut autotuner = Autotuner::new(LIMITS, REQUIREMENTS);
    let mut others = 0;
    while let Some(trying) = autotuner.candidate() {
        if trying.costs == CostSource::Codes {
            autotuner.skip();
            others += 1;
        } else {
            autotuner.add_sample(trying, made_up_ms(&trying));
        }
    }
    assert!(others > 0);
    assert_ne!(autotuner.best().costs, CostSource::Codes);
}
