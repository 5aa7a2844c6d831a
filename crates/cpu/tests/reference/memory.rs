//! Compares the memory that the engine computes before a pair with the memory that it takes, and tests the refusal of large pairs.

use super::*;
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::process::memory::{Bound, FreeMemory};
use stereopsis_base::testing::cases;
use stereopsis_base::{console, process};
use stereopsis_frame::engine::demand::Demand;
use stereopsis_frame::engine::{EngineError, Job, run};
use stereopsis_frame::{Frame, RawPair, SceneOptions};
use stereopsis_scene::render;
use stereopsis_stereo::Preset;

/// Returns a machine's free memory.
fn free(bytes: u64) -> FreeMemory {
    FreeMemory { bytes, bound: Bound::Machine }
}

fn job((width, height): (usize, usize), params: &StereoParams, wants_right: bool) -> Job {
    let picture = || Luma::U8(Image::from_fn(width, height, |x, y| ((x * 73) ^ (y * 151) ^ (x * y * 7)) as u8)).into();
    let raw = RawPair::new(String::new(), 0, SystemTime::UNIX_EPOCH, picture(), picture());
    Job {
        frame: Arc::new(Frame::of_raw(Arc::new(raw))),
        params: Arc::new(params.clone()),
        read_back: true,
        wants_right,
    }
}

fn with_preset(preset: Preset, num_disparities: u32) -> StereoParams {
    let mut params = StereoParams { num_disparities, ..StereoParams::default() };
    preset.apply(&mut params);
    params
}

/// Compares the memory kept from pair to pair. A gated volume may be larger than computed.
#[test]
fn computed_memory_matches_the_arrays() {
    let mut rng = Rng::with_seed(77);
    let presets = Preset::ALL.iter().map(|&preset| with_preset(preset, 64));
    let mut all: Vec<_> = presets.collect();
    all.extend((0..cases(20)).map(|_| random_params(&mut rng)));
    let levels = SimdLevel::all();
    for (n, params) in all.into_iter().enumerate() {
        let (reach, _) = params.window_reach();
        let is_slow = params.paths > 32 || reach > 9;
        let size = if is_slow { (140, 60) } else { (rng.usize(200..330), rng.usize(150..260)) };
        let (left, right) = random_pair(&mut rng, size.0, size.1);
        let wants_right = rng.bool();
        let mut engine = CpuEngine::with_level(Some(1 + n % 3), levels[n % levels.len()]);
        engine.match_next(&left, &right, &params, wants_right).unwrap();
        let there = engine.memory_bytes().unwrap() as f64;
        let demand = Demand::of_pair(PictureRef::pair(&left, &right), Arc::new(params.clone()), wants_right);
        let computed = engine.kept_bytes(&demand) as f64;
        let what = format!("{computed} bytes computed and {there} there for {size:?} with {params:?}");
        assert!(computed < 1.05 * there + 2e5, "{what}");
        assert!(computed > 0.97 * there - 2e5 || params.gating.is_some(), "{what}");
    }
}

/// Runs in a process of its own: memory is that of the whole process.
#[test]
#[cfg(target_os = "linux")]
fn computed_memory_matches_the_process() {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let name = module_path!().split_once("::").unwrap().1;
    // freed memory has to return to the system, so that the next pair does not reuse it
    child.env("MALLOC_MMAP_THRESHOLD_", "65536");
    let output = child.args(["--exact", &format!("{name}::inside"), "--ignored", "--nocapture"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "is run by the test above in a process of its own"]
fn inside() {
    const MB: f64 = 1e6;
    let mut wrong = Vec::new();
    for &preset in Preset::ALL {
        // weights of many pixels take long
        let (size, num_disparities) = if preset == Preset::Fang2012Aw { ((320, 240), 64) } else { ((480, 360), 90) };
        let options = SceneOptions { width: size.0, height: size.1, ..SceneOptions::default() };
        let raw = Arc::new(render(&options, 0, false));
        for wants_right in [false, true] {
            let frame = Arc::new(Frame::of_raw(Arc::clone(&raw)));
            let params = Arc::new(with_preset(preset, num_disparities));
            let gated = params.gating.is_some();
            let job = Job { frame, params, read_back: true, wants_right };
            let mut engine = CpuEngine::new(Some(2));
            let computed = engine.needed_bytes(&Demand::of(&job)) as f64;
            let before = process::resident_bytes().unwrap() as f64;
            process::forget_peak();
            let output = run(&mut engine, job).unwrap();
            let taken = process::peak_bytes().unwrap() as f64 - before;
            drop(output);
            let line =
                format!("{preset}, right {wants_right}: {:.1} MB computed, {:.1} taken", computed / MB, taken / MB);
            // a constant part weighs less in larger images
            if (!gated && computed > 1.15 * taken + 12.0 * MB) || computed < 0.96 * taken {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Matches 12 megapixels with 512 disparities on a machine with 2 GB.
#[test]
fn too_large_pair_is_refused_before_memory_is_taken() {
    for &preset in Preset::ALL {
        let params = with_preset(preset, 512);
        let mut engine = CpuEngine::new(Some(2)).with_free(free(2_000_000_000));
        let refused = engine.submit(job((4056, 3040), &params, false));
        if preset == Preset::Leu2010 {
            assert!(refused.is_ok(), "it needs no volume: {refused:?}");
            continue;
        }
        let Err(EngineError::TooLarge(text)) = refused else { panic!("{preset}: {refused:?}") };
        let text = text.to_string();
        assert!(text.starts_with("4056x3040 with 512 disparities needs ") && text.contains(" GB of memory"), "{text}");
        assert!(text.contains("this machine has 2.0 GB of memory free: "), "{text}");
        assert_eq!(engine.memory_bytes(), Some(0), "nothing was allocated");
    }
}

#[test]
fn settings_that_the_refusal_names_fit_into_memory() {
    let size = (640, 480);
    let params = with_preset(Preset::Best, 128);
    let need = |params: &StereoParams, size| {
        let job = job(size, params, false);
        CpuEngine::new(Some(2)).needed_bytes(&Demand::of(&job))
    };
    let needed = need(&params, size);
    let engine = || CpuEngine::new(Some(2)).with_free(free(needed - 1));
    let text = engine().submit(job(size, &params, false)).unwrap_err().to_string();
    let half = (size.0 / 2, size.1 / 2);
    let fast = with_preset(Preset::Fast, 128);
    let fewer = StereoParams { num_disparities: 64, ..params.clone() };
    for (words, needed) in [
        ("scale 1/2", need(&params, half)),
        ("num-disparities 64", need(&fewer, size)),
        ("preset fast", need(&fast, size)),
    ] {
        assert!(text.contains(&format!("{words} ({})", console::bytes(needed))), "{text}");
    }
    for (size, params) in [(half, &params), (size, &fewer), (size, &fast)] {
        run(&mut engine(), job(size, params, false)).unwrap();
    }
    run(&mut CpuEngine::new(Some(2)).with_free(free(needed)), job(size, &params, false)).unwrap();
    let nothing =
        CpuEngine::new(Some(2)).with_free(free(1_000)).submit(job(size, &params, false)).unwrap_err().to_string();
    assert!(nothing.ends_with("this machine has 1.0 kB of memory free: lower num-disparities and scale"), "{nothing}");
}

/// A setting may use the memory of the one before, and a refused one leaves the engine as it was.
#[test]
fn memory_that_the_engine_holds_counts_as_free() {
    let (size, slow, fast) = ((400, 300), with_preset(Preset::Accurate, 128), with_preset(Preset::Fast, 128));
    let mut engine = CpuEngine::new(Some(2)).with_free(free(50_000_000));
    run(&mut engine, job(size, &fast, false)).unwrap();
    let kept = engine.memory_bytes().unwrap() as u64;
    let needed = engine.needed_bytes(&Demand::of(&job(size, &slow, false)));
    let mut engine = engine.with_free(free(needed - kept - 1));
    let text = engine.submit(job(size, &slow, false)).unwrap_err().to_string();
    assert!(text.contains(&format!("beside the {} of the setting before", console::bytes(kept))), "{text}");
    run(&mut engine, job(size, &fast, false)).unwrap();
    run(&mut engine.with_free(free(needed - kept)), job(size, &slow, false)).unwrap();
}

/// The size of a gated volume is known only with its gates, and is compared then.
#[test]
fn too_large_gated_volume_is_refused_once_its_gates_are_known() {
    let params = with_preset(Preset::Frommholz2020, 256);
    let size = (640, 480);
    let mut rng = Rng::with_seed(3);
    // noise: the gates are wide
    let noise = Luma::U8(Image::from_fn(size.0, size.1, |_, _| rng.u8(..)));
    let demand = Demand::of_pair(PictureRef::pair(&noise, &noise), Arc::new(params.clone()), false);
    let mut engine = CpuEngine::new(Some(2));
    let narrow = engine.needed_bytes(&demand);
    engine = engine.with_free(free(narrow));
    let other = Luma::U8(Image::from_fn(size.0, size.1, |_, _| rng.u8(..)));
    let text = engine.match_next(&noise, &other, &params, false).unwrap_err().to_string();
    assert!(text.contains("of memory for the candidates that its gates leave, and this machine has"), "{text}");
    let mut engine = engine.with_free(free(4 * narrow + (640 * 480 * 256 * 2)));
    engine.match_next(&noise, &other, &params, false).unwrap();
}
