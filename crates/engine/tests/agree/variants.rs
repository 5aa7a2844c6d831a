//! Every variant of the GPU's kernels gives the same bits: forced one after the other, with random parameters, volumes in one
//! buffer or several, all directions in memory at once or in turns.

use super::cases::{Case, seeds};
use super::steps;
use fastrand::Rng;
use stereopsis_frame::engine::{Autotune, Engine, EngineError, next_output};
use stereopsis_gpu::layout::Structure;
use stereopsis_gpu::limits::Limits;
use stereopsis_gpu::variant::{
    AHEADS, CostSource, Exchange, PIECES, PathBits, Variant, VariantOverrides, WORDS, WORKGROUPS,
};
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};
use stereopsis_stereo::{Past, StereoParams};

/// Draws a case that the variant supports, one of these if possible: their other pipelines are compiled already.
fn case_for(limits: &Limits, variant: Variant, first: &[u64], rng: &mut Rng) -> Option<Case> {
    (0..200).find_map(|tried| {
        let seed = if tried < 20 { *rng.choice(first).expect("one") } else { rng.u64(..) };
        let case = Case::random(seed, (44, 28));
        let requirements = Structure::levels(case.left.size(), &case.params)[0].0.requirements();
        variant.unsupported_reason(limits, &requirements).is_none().then_some(case)
    })
}

#[test]
fn all_variants_agree() {
    let Some(gpu) = Gpu::for_test() else { return };
    let limits = *GpuEngine::new(gpu.clone()).expect("a fresh device").limits();
    for seed in seeds(1) {
        let rng = &mut Rng::with_seed(seed);
        // few candidates, so that no variant is left out because it needs too many lanes
        let short = StereoParams { num_disparities: 16, ..StereoParams::default() };
        let requirements = Structure::levels((40, 30), &short)[0].0.requirements();
        let first = [(); 8].map(|()| rng.u64(..));
        let mut tried = std::collections::BTreeSet::new();
        let mut variants = Variant::all(&limits, &requirements, &WORKGROUPS[..1], &PIECES[..1]);
        variants.retain(|variant| variant.costs == CostSource::Volume && !variant.fused && variant.ahead == AHEADS[0]);
        for (number, variant) in variants.into_iter().enumerate() {
            let variant = Variant {
                workgroup: *rng.choice(&WORKGROUPS).expect("one"),
                piece: *rng.choice(&PIECES).expect("one"),
                costs: if variant.path_bits == PathBits::I16 {
                    CostSource::Volume
                } else {
                    *rng.choice(CostSource::ALL).expect("one")
                },
                ahead: AHEADS[number % AHEADS.len()],
                fused: rng.bool(),
                ..variant
            }
            .with_possible_paths();
            let Some(mut case) = case_for(&limits, variant, &first, rng) else { continue };
            let row_bytes =
                case.left.size().0 as u64 * u64::from(case.params.num_disparities.next_power_of_two().max(16));
            let options = GpuOptions {
                overrides: VariantOverrides::all(variant),
                path_bytes: rng.bool().then(|| row_bytes * rng.u64(1..200)),
                binding_bytes: rng.bool().then(|| (4 * row_bytes * rng.u64(4..40)).max(1 << 12)),
                max_work: Some(1 << rng.u32(10..30)),
                checks: rng.bool(),
                ..GpuOptions::default()
            };
            case.what = format!("SEED={seed} {variant} {options:?} {}", case.what);
            let mut engine = GpuEngine::with_options(gpu.clone(), options).expect("a live device");
            match engine.submit(case.job()) {
                // so few rows in a buffer that there would be too many buffers: the error has the numbers
                Err(EngineError::TooLarge(text)) => assert!(text.to_string().contains("MiB"), "{text}"),
                Err(err) => panic!("{err}: {}", case.what),
                Ok(()) => {
                    let output = next_output(&mut engine).unwrap_or_else(|err| panic!("{err}: {}", case.what));
                    case.compare_maps(&output, &case.expected_after(&mut Past::default()));
                    steps::check(&mut engine, &case);
                    assert_eq!(engine.variant(), Some(variant), "an overridden variant is the one that runs");
                    tried.insert(format!("{} {} {}", variant.exchange, variant.words, variant.path_bits));
                    tried.insert(format!("{} {} ahead", variant.exchange, variant.ahead));
                }
            }
        }
        for &exchange in Exchange::ALL {
            let has = exchange == Exchange::Workgroup || limits.subgroup > 0;
            let paths = [PathBits::I32, PathBits::F16].into_iter().flat_map(|bits| WORDS.map(|words| (words, bits)));
            for (words, path_bits) in paths.chain([(4, PathBits::I16)]) {
                let found = tried.contains(&format!("{exchange} {words} {path_bits}"));
                let has = has
                    && match path_bits {
                        PathBits::I32 => true,
                        PathBits::I16 => limits.has_i16,
                        PathBits::F16 => limits.has_f16,
                    };
                assert!(found || !has, "{exchange} {words} {path_bits} was not tried, SEED={seed}");
            }
            for ahead in AHEADS {
                let found = tried.contains(&format!("{exchange} {ahead} ahead"));
                assert!(found || !has, "{exchange} {ahead} ahead was not tried, SEED={seed}");
            }
        }
    }
}

#[test]
fn unsupported_variant_is_refused_with_the_reason() {
    let Some(gpu) = Gpu::for_test() else { return };
    let overrides = |text: &str| GpuOptions { overrides: text.parse().expect("a variant"), ..GpuOptions::default() };
    for (text, candidates, p2, why) in [
        ("exchange=subgroup,words=1", 1024, 60, "subgroups may have"),
        ("words=4", 64, 300, "two words of 16-bit path costs"),
        ("path_bits=f16", 64, 300, "16-bit floats"),
    ] {
        let mut engine = GpuEngine::with_options(gpu.clone(), overrides(text)).expect("a live device");
        let params = StereoParams { num_disparities: candidates, p2, ..StereoParams::default() };
        let case = Case::new(&mut Rng::with_seed(1), (20, 10), super::cases::Content::Noise, 8, params);
        let Err(EngineError::Unsupported(told)) = engine.submit(case.job()) else { panic!("{text} is not refused") };
        let told = told.to_string();
        assert!(told.contains(why) && told.contains("variant"), "{told}");
    }
    for word in ["colour=red", "arithmetic=f16"] {
        let unknown = word.parse::<VariantOverrides>().expect_err("no such part").to_string();
        assert!(unknown.contains("exchange") && unknown.contains("piece"), "{unknown}");
    }
    for (text, allowed) in [("words=3", "1, 2, 4"), ("path_bits=8", "32, 16, f16")] {
        let unfit = text.parse::<VariantOverrides>().expect_err("no such number").to_string();
        assert!(unfit.contains(allowed), "{unfit}");
    }
}

/// Variants are tried on arriving pairs until all are measured; every result is right with any variant.
#[test]
fn exploring_goes_on_while_pairs_are_matched() {
    let Some(gpu) = Gpu::for_test() else { return };
    let options = GpuOptions { autotune: Autotune::Everywhere, forgets: true, ..GpuOptions::default() };
    let mut engine = GpuEngine::with_options(gpu, options).expect("a live device");
    let rng = &mut Rng::with_seed(11);
    // a new size each time, so that no times are cached for it
    let size = (16 + rng.usize(..9) + Rng::new().usize(..40), 12 + Rng::new().usize(..20));
    let params = StereoParams { num_disparities: 16, ..StereoParams::default() };
    let case = Case::new(rng, size, super::cases::Content::Shifted, 8, params);
    let expected = case.expected();
    let mut seen = std::collections::BTreeSet::new();
    for pairs in 0..3000 {
        let output = stereopsis_frame::engine::run(&mut engine, case.job()).expect("a result");
        case.compare("GPU", &output.map.expect("asked for"), &expected);
        seen.insert(engine.variant().expect("one ran").to_string());
        if engine.is_tuned() {
            assert!(pairs > 20 && seen.len() > 5, "{pairs} pairs: {seen:?}");
            return;
        }
    }
    panic!("after 3000 pairs it is not known which of these is quickest: {seen:?}");
}
