//! Tests of the window through its labels, as a user or a screen reader finds them, drawn without a display.
//! They need an adapter (lavapipe is enough); without one they print a message and return, unless `REQUIRE_GPU=1`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say why they are skipped, and fail by panicking")]

#[cfg(target_os = "linux")]
mod cameras;
mod comparison;
mod confidence;
mod conversion;
mod copies;
mod dialog;
mod doctor;
mod explain;
mod find;
mod guide;
mod harness;
mod history;
mod layout;
mod measure;
mod messages;
mod models;
mod paths;
mod picture;
mod presets;
mod reach;
mod remote;
mod record;
mod recovery;
mod renderer;
mod rig;
mod saved;
mod search;
mod sizes;
mod space;
mod stills;
mod timeline;
mod tuning;

use crate::WindowOptions;
use egui::accesskit::Role;
use egui::{Key, Pos2};
use egui_kittest::SnapshotOptions;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use harness::{Window, gpu, options, pair};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stereopsis_frame::SourceSpec;
use stereopsis_gpu::Gpu;
use stereopsis_stereo::{CostKind, StereoParams};

#[test]
fn keys_on_a_slider_change_what_is_computed() {
    let Some(mut window) = Window::on_scene() else { return };
    let before = window.params();
    window.focus_slider("P1");
    window.harness.key_press(Key::ArrowRight);
    window.until_computed(|params| params.p1 == before.p1 + 1);
    assert!(window.is_enabled("Back to balanced"), "the preset is marked as changed");
    assert!(!window.core().live().is_paused());

    // P2 follows P1 upwards
    window.focus_slider("P2");
    window.press_until(Key::ArrowLeft, |params| params.p2 == before.p2 / 2);
    window.focus_slider("P1");
    window.press_until(Key::ArrowRight, |params| params.p1 > before.p2 / 2);
    let params = window.params();
    assert_eq!(params.p2, params.p1 + 1, "{params:?}");

    window.click(window.harness.get_by_label("Back to balanced").rect());
    window.until_computed(|params| params.p1 == before.p1);
    assert_eq!(window.params(), before);
    assert!(!window.is_enabled("Back to balanced"));
}

#[test]
fn pause_holds_the_pair_and_step_takes_the_next() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press(Key::Space);
    window.until("the pause", |w| w.core().live().status().paused.then_some(()));
    let held = window.still_sequence();
    window.focus_slider("P2");
    let p2 = window.params().p2;
    window.harness.key_press(Key::ArrowLeft);
    window.until_computed(|params| params.p2 == p2 - 1);
    assert_eq!(window.sequence(), held, "matching goes on, the pair stays");

    window.harness.key_press(Key::Space);
    window.until("the end of the pause", |w| (!w.core().live().is_paused()).then_some(()));
    window.harness.key_press(Key::Space);
    window.until("the pause", |w| w.core().live().is_paused().then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    let held = window.sequence();

    window.harness.key_press(Key::Escape); // the slider releases the arrow keys
    window.harness.step();
    window.harness.key_press(Key::ArrowRight);
    let stepped = window.until("the next pair", |w| Some(w.sequence()).filter(|&n| n != held));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(window.sequence(), stepped, "held again");
}

#[test]
fn snapshot_writes_files() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let options = WindowOptions { folder: folder.path().to_owned(), ..options(SourceSpec::Scene) };
    let mut window = Window::open(&gpu, options);
    window.click(window.harness.get_by_label("Snapshot").rect());
    window.until("the message", |w| w.has("snapshot: 5 files").then_some(()));
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    for ending in ["_depth_mm.png", "_disp_x256.png", "_disp.pfm", "_left.png", ".json"] {
        assert!(files.iter().any(|name| name.to_string_lossy().ends_with(ending)), "{ending}: {files:?}");
    }
}

#[test]
fn pointer_reads_the_depth_of_the_scene() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press(Key::Space);
    let view = window.harness.get_by_label("left view").rect();
    let mut close = 0;
    let mut read = 0;
    for (x, y) in [(0.4, 0.9), (0.5, 0.6), (0.6, 0.8), (0.7, 0.3), (0.5, 0.2)] {
        window.harness.hover_at(Pos2::new(view.left() + x * view.width(), view.top() + y * view.height()));
        window.harness.step();
        window.harness.step();
        if let (Some(depth), Some(truth)) = (window.read("depth"), window.read("truth")) {
            read += 1;
            let geometry = window.result().and_then(|output| output.job.frame.geometry).expect("the scene's rig");
            let disparity = |z: f32| geometry.disparity_px(f64::from(z));
            close += usize::from((disparity(depth) - disparity(truth)).abs() < 1.0);
        }
    }
    assert!(read >= 3 && close + 1 >= read, "{close} of {read} are close to the truth");
    window.harness.remove_cursor();
    window.harness.run_steps(3);
    assert!(window.read("depth").is_none(), "no pointer, no number");
}

#[test]
fn another_cost_brings_its_penalties() {
    let Some(mut window) = Window::on_scene() else { return };
    window.choose("Cost", (Role::Button, "sad"));
    let output = window.until_computed(|params| params.cost == CostKind::Sad);
    assert_eq!(output.job.params.p1, CostKind::Sad.penalties().p1);
    window.until("its own parameter", |w| w.has("SAD window").then_some(()));
}

#[test]
fn without_calibration_the_depth_view_says_why() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let window = Window::open(&gpu, options(pair(folder.path())));
    assert!(window.has("No depth: no calibration"));
    assert!(window.has("0 … 23 px"), "the range is said in px");
}

#[test]
fn both_engines_give_the_same_picture() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = pair(folder.path());
    let picture = |engine: &str| {
        let mut options = options(source.clone());
        options.words[0].text = engine.into();
        let mut window = Window::open(&gpu, options);
        window.harness.key_press(Key::I);
        window.harness.run_steps(3);
        let output = window.result().expect("a result");
        assert_eq!(output.engine.kind.word(), engine);
        assert_eq!(output.texture.is_some(), engine == "gpu", "the GPU's result is shown where it is");
        let view = window.harness.get_by_label("disparity view").rect();
        let all = window.harness.render().expect("an image");
        let inside = view.shrink(2.0);
        let pixels: Vec<_> = (inside.top() as u32..inside.bottom() as u32)
            .flat_map(|y| (inside.left() as u32..inside.right() as u32).map(move |x| (x, y)))
            .map(|(x, y)| all.get_pixel(x, y).0)
            .collect();
        pixels
    };
    let (cpu, gpu) = (picture("cpu"), picture("gpu"));
    assert!(cpu.iter().collect::<std::collections::HashSet<_>>().len() > 20, "a map in many colours");
    assert!(cpu == gpu, "the same pixels");
}

#[test]
fn missing_source_is_reported_and_the_scene_shown() {
    let Some(gpu) = gpu() else { return };
    let missing = SourceSpec::Folder(PathBuf::from("no/such/folder"));
    let mut window = Window::open(&gpu, options(missing));
    assert!(window.has("no/such/folder"));
    assert!(window.has("the built-in scene is shown instead"));
    window.click(window.harness.get_by_label("Dismiss").rect());
    window.harness.run_steps(3);
    assert!(!window.has("no/such/folder"));
}

#[test]
fn every_control_has_a_name() {
    let Some(mut window) = Window::on_scene() else { return };
    window.click(window.harness.get_by_label_contains("more").rect());
    window.harness.run_steps(3);
    let controls = [Role::Slider, Role::SpinButton, Role::ComboBox, Role::CheckBox, Role::Button];
    for role in controls {
        let nodes: Vec<_> = window.harness.query_all_by_role(role).collect();
        assert!(!nodes.is_empty(), "{role:?}");
        for node in nodes {
            let name = node.accesskit_node().label().unwrap_or_default();
            assert!(!name.is_empty(), "a {role:?} at {:?} has no name", node.rect());
        }
    }
    for parameter in StereoParams::table() {
        let of =
            ["-window", "window", "mi-", "gamma-", "tau", "arms", "spatial-", "temporal-", "persistence", "min-chance"];
        let name = parameter.name;
        let belongs_to_other_choice = of.iter().any(|part| name.starts_with(part) || name.ends_with(part));
        assert!(belongs_to_other_choice || window.has(parameter.label), "{}", parameter.label);
    }
}

#[test]
fn the_page_of_keys_has_every_key_and_gesture() {
    let Some(mut window) = Window::on_scene() else { return };
    window.harness.key_press(Key::F1);
    window.until("the page", |w| w.has("any pair of a recording").then_some(()));
    window.harness.run_steps(3);
    for words in ["Pause", "Quit", "files dropped here"] {
        let places: Vec<_> = window.harness.query_all_by_label(words).map(|node| node.rect()).collect();
        assert!(!places.is_empty(), "{words}");
        // hidden parts can be reached by scrolling
        assert!(places.iter().all(|rect| rect.left() >= 0.0 && rect.right() <= 1200.0), "{words}: {places:?}");
    }
}

#[test]
fn window_goes_on_beside_a_long_dispatch() {
    let Some(gpu) = gpu() else { return };
    let mut window = Window::open(&gpu, options(SourceSpec::Scene));
    let running = Arc::new(AtomicBool::new(true));
    let dispatch = long_dispatch(gpu, Arc::clone(&running));
    let mut frames = Vec::new();
    while running.load(Ordering::Acquire) {
        let begin = Instant::now();
        window.harness.step();
        frames.push(begin.elapsed());
    }
    let took = dispatch.join().expect("the dispatch");
    let worst = frames.iter().max().copied().unwrap_or_default();
    println!("{} frames beside dispatches of {took:?}, the worst {worst:?}", frames.len());
    // wide bound, since the machine has other work: the window must not wait for the dispatch
    assert!(frames.len() >= 3 && worst < took * 3 / 4, "{} frames, worst {worst:?} of {took:?}", frames.len());
}

/// Occupies the device from another thread that never waits in a poll.
/// A software adapter works inside the submitting call and would hold the queue for all, so there the work comes in pieces of some ms.
fn long_dispatch(gpu: Gpu, running: Arc<AtomicBool>) -> std::thread::JoinHandle<Duration> {
    const SHADER: &str = "
        override rounds: u32;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var v = id.x;
            for (var i = 0u; i < rounds; i++) { v = v * 1664525u + 1013904223u + (v >> 7u); }
            out[id.x] = v;
        }";
    let (pieces, rounds) = if gpu.info.software { (40, 6_000.0) } else { (1, 20_000_000.0) };
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        }),
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &[("rounds", rounds)],
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: None,
    });
    let groups = 64;
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: groups * 64 * 4,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    });
    let work = move || {
        let begin = Instant::now();
        for _ in 0..pieces {
            let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(groups as u32, 1, 1);
            drop(pass);
            let done = Arc::new(AtomicBool::new(false));
            let noted = Arc::clone(&done);
            gpu.queue.submit([encoder.finish()]);
            gpu.queue.on_submitted_work_done(move || noted.store(true, Ordering::Release));
            while !done.load(Ordering::Acquire) {
                gpu.device.poll(wgpu::PollType::Poll).expect("poll");
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        running.store(false, Ordering::Release);
        begin.elapsed()
    };
    std::thread::Builder::new().name("dispatch".into()).spawn(work).unwrap()
}

/// Compares the whole window on a still pair with a stored image, rates and times masked; adapters blend letters differently, so 1 % of
/// the pixels may differ visibly. `UPDATE_SNAPSHOTS=1` stores a new image.
#[test]
fn the_window_looks_as_it_did() {
    let Some(gpu) = gpu() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut window = Window::open(&gpu, options(pair(folder.path())));
    window.harness.key_press(Key::Space);
    window.harness.run_steps(5);
    window.harness.mask(egui::Rect::from_min_max(Pos2::new(0.0, 714.0), Pos2::new(1200.0, 760.0)));
    let options = SnapshotOptions::new().threshold(1.0).max_failed_pixels(1200 * 760 / 100);
    window.harness.snapshot_options("window", &options);
}
