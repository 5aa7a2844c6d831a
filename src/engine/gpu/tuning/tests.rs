//! Exploring by times that are made up, and what is kept of it.

use super::*;
use crate::engine::gpu::variant::{Arithmetic, Capabilities, Requirements, Variant};

const CAPABILITIES: Capabilities = Capabilities { subgroup: 32, f16: true, i16: true, workgroup: 1024, discrete: true };
const REQUIREMENTS: Requirements =
    Requirements { candidates: 128, wide: false, has_codes: true, has_row_path: true, largest: 144 };

/// A device that likes 16-bit integers, large workgroups and short pieces.
fn made_up_ms(variant: &Variant) -> f64 {
    let arithmetic = if variant.arithmetic == Arithmetic::U16 { 0.6 } else { 1.0 };
    arithmetic * (1.0 + 10.0 / f64::from(variant.workgroup)) * (1.0 + f64::from(variant.piece) / 1000.0)
}

#[test]
fn exploring_ends_with_the_quickest_and_tries_little() {
    let mut autotuner = Autotuner::new(CAPABILITIES, REQUIREMENTS);
    let mut pairs = 0;
    while let Some(trying) = autotuner.trying() {
        assert_eq!(trying.unsupported_reason(&CAPABILITIES, &REQUIREMENTS), None);
        assert_eq!(autotuner.result(), None, "not before all is known");
        // the first pair with a variant is slow: buffers are made
        autotuner.note(trying, if pairs % 4 == 0 { 9.0 } else { 0.0 } + made_up_ms(&trying));
        autotuner.note(Variant { words: trying.words % 4 + 1, ..trying }, 0.0); // a late one, of another variant
        pairs += 1;
    }
    let (best, ms) = autotuner.result().unwrap();
    assert_eq!((best.arithmetic, best.workgroup), (Arithmetic::U16, 256));
    assert!((ms - made_up_ms(&best)).abs() < 1e-9);
    assert!((30..120).contains(&pairs), "{pairs}");
}

#[test]
fn what_cannot_run_is_left_out() {
    let mut autotuner = Autotuner::new(CAPABILITIES, REQUIREMENTS);
    let mut others = 0;
    while let Some(trying) = autotuner.trying() {
        if trying.arithmetic == Arithmetic::U16 {
            autotuner.skip();
            others += 1;
        } else {
            autotuner.note(trying, made_up_ms(&trying));
        }
    }
    assert!(others > 0);
    assert_ne!(autotuner.best().arithmetic, Arithmetic::U16);
}

#[test]
fn records_survive_and_broken_files_do_not_hurt() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deeper/variants.json");
    let records = Records::in_file(file.clone());
    assert_eq!(records.get("a"), None);
    let record = Record { variant: Variant::baseline(&CAPABILITIES, &REQUIREMENTS), ms: 0.5 };
    records.put("a", record);
    records.put("b", Record { ms: 0.25, ..record });
    assert_eq!(Records::in_file(file.clone()).get("a"), Some(record));
    std::fs::write(&file, "no json").unwrap();
    assert_eq!(records.get("a"), None);
    records.put("a", record);
    assert_eq!(records.get("a"), Some(record));
}
