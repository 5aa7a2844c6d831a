//! Memory of the machine that the GPU engine takes: too large a demand is refused before any memory is taken.

use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::image::{Image, Luma};
use stereopsis_base::process::memory::{Bound, FreeMemory};
use stereopsis_frame::engine::{Engine as _, EngineError, Job};
use stereopsis_frame::{Frame, RawPair};
use stereopsis_gpu::{Gpu, GpuEngine, GpuOptions};
use stereopsis_stereo::{Preset, StereoParams};

fn job((width, height): (usize, usize), preset: Preset, num_disparities: u32) -> Job {
    let picture = || Luma::U8(Image::from_fn(width, height, |x, y| ((x * 73) ^ (y * 151)) as u8)).into();
    let raw = RawPair::new(String::new(), 0, SystemTime::UNIX_EPOCH, picture(), picture());
    let mut params = StereoParams { num_disparities, ..StereoParams::default() };
    preset.apply(&mut params);
    Job { frame: Arc::new(Frame::of_raw(Arc::new(raw))), params: Arc::new(params), read_back: true, wants_right: false }
}

/// Opens an engine on a machine with this much free memory; `None` without an adapter.
fn engine(bytes: u64) -> Option<GpuEngine> {
    let free = Some(FreeMemory { bytes, bound: Bound::Machine });
    let options = GpuOptions { forgets: true, free, ..GpuOptions::default() };
    Some(GpuEngine::with_options(Gpu::for_test()?, options).expect("a fresh device"))
}

#[test]
fn gpu_refuses_12_megapixels_with_512_disparities_on_2_gb() {
    let Some(mut engine) = engine(2_000_000_000) else { return };
    if !engine.info().software {
        println!("skipped: the buffers of {} are not in the machine's memory", engine.info().adapter);
        return;
    }
    for &preset in Preset::ALL {
        let refused = engine.submit(job((4056, 3040), preset, 512));
        let Err(EngineError::TooLarge(text)) = refused else { panic!("{preset}: {refused:?}") };
        assert!(text.to_string().contains("4056x3040 with 512 disparities needs "), "{text}");
    }
    assert_eq!(engine.memory_bytes(), None, "nothing was allocated");
}

#[test]
fn gpu_keeps_the_setting_before_after_a_refusal() {
    let Some(mut engine) = engine(40_000_000) else { return };
    if !engine.info().software {
        return;
    }
    let small = job((96, 64), Preset::Fast, 16);
    let before = stereopsis_frame::engine::run(&mut engine, small.clone()).unwrap().map;
    let text = engine.submit(job((640, 480), Preset::Balanced, 128)).unwrap_err().to_string();
    assert!(text.contains("this machine has 40.0 MB of memory free"), "{text}");
    assert_eq!(stereopsis_frame::engine::run(&mut engine, small).unwrap().map, before);
}
