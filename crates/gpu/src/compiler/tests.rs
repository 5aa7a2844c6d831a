//! With shaders of a few lines, on whatever device there is.

use super::cache::Cache;
use super::queue::CAPACITY;
use super::*;
use std::path::Path;
use stereopsis_base::testing::until;

/// A module with two entries and a constant; `body` makes it different from others.
fn source(body: &str) -> Arc<Source> {
    let text = format!(
        "override STEP: u32;
         @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
         @compute @workgroup_size(1) fn add() {{ numbers[0] += STEP; }}
         @compute @workgroup_size(1) fn change() {{ {body} }}"
    );
    Arc::new(Source { stem: "test/numbers", text })
}

fn request(source: &Arc<Source>, entry: &'static str, step: u32) -> Request {
    Request { source: Arc::clone(source), entry, constants: vec![("STEP", step)] }
}

/// Runs a pipeline on the number 5.
fn run(gpu: &Gpu, pipeline: &Pipeline) -> u32 {
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 4,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    gpu.queue.write_buffer(&buffer, 0, &5u32.to_le_bytes());
    let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    });
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&pipeline.pipeline);
    pass.set_bind_group(0, &bindings, &[]);
    pass.dispatch_workgroups(1, 1, 1);
    drop(pass);
    gpu.queue.submit([encoder.finish()]);
    let (sender, receiver) = crossbeam_channel::bounded(1);
    wgpu::util::DownloadBuffer::read_buffer(&gpu.device, &gpu.queue, &buffer.slice(..), move |read| {
        let bytes = read.unwrap();
        sender.send(u32::from_le_bytes(bytes[..].try_into().unwrap())).unwrap();
    });
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    receiver.recv().unwrap()
}

#[test]
fn the_thread_compiles_what_is_asked_for_and_constants_and_entries_are_their_own() {
    let Some(gpu) = Gpu::for_test() else { return };
    for compiler in [Compiler::new(gpu.clone()), Compiler::with_checks(gpu.clone())] {
        let source = source("numbers[0] *= STEP;");
        let cases = [("add", 3, 8), ("add", 4, 9), ("change", 3, 15)];
        for (entry, step, _) in cases {
            let now = compiler.get(&request(&source, entry, step)).unwrap();
            assert!(now.is_none(), "nobody waits for a driver");
        }
        until("all are compiled", || compiler.is_idle());
        for (entry, step, expected) in cases {
            let pipeline = compiler.get(&request(&source, entry, step)).unwrap().unwrap();
            assert_eq!(run(&gpu, &pipeline), expected, "{entry} {step}");
        }
        assert_eq!(compiler.inner.state.lock().sizes(), [3, 0, 1], "one module for both entries");
    }
}

#[test]
fn who_wants_a_pipeline_now_gets_it_whoever_compiles_it() {
    let Some(gpu) = Gpu::for_test() else { return };
    let compiler = Compiler::new(gpu.clone());
    let source = source("numbers[0] -= STEP;");
    for step in 1..6 {
        let request = request(&source, "change", step);
        if step % 2 == 0 {
            assert!(compiler.get(&request).unwrap().is_none());
        }
        assert_eq!(run(&gpu, &compiler.wait_for(&request).unwrap()), 5 - step);
    }
    assert_eq!(compiler.inner.state.lock().sizes(), [5, 0, 1], "each once");
}

#[test]
fn what_cannot_be_compiled_is_told_by_name_and_not_tried_again() {
    let Some(gpu) = Gpu::for_test() else { return };
    let compiler = Compiler::new(gpu.clone());
    let bad_text = request(&source("this is no WGSL"), "add", 1);
    let bad_entry = request(&source(""), "no_such_entry", 1);
    let bad_constant = Request { constants: vec![("NOT_THERE", 1)], ..request(&source(""), "add", 1) };
    for request in [&bad_text, &bad_entry, &bad_constant] {
        assert!(compiler.get(request).unwrap().is_none());
        until("it has failed", || compiler.is_idle());
        for result in [compiler.get(request), compiler.wait_for(request).map(Some)] {
            let Err(EngineError::Device(text)) = result else { panic!("{result:?}") };
            assert!(text.contains("test/numbers") && text.contains("--engine cpu"), "{text}");
        }
        assert!(compiler.is_idle(), "it is not queued again");
    }
    assert_eq!(gpu.take_error(), None, "every error is caught");
    assert!(compiler.wait_for(&request(&source(""), "add", 1)).is_ok(), "others can be compiled");
}

#[test]
fn a_lost_device_is_told_as_such() {
    let Some(gpu) = Gpu::for_test() else { return };
    let compiler = Compiler::new(gpu.clone());
    let request = request(&source(""), "add", 1);
    gpu.device.destroy();
    until("the loss is noted", || {
        let _ = gpu.device.poll(wgpu::PollType::Poll);
        gpu.lost().is_some()
    });
    assert!(matches!(compiler.get(&request), Err(EngineError::DeviceLost(_))));
    assert!(matches!(compiler.wait_for(&request), Err(EngineError::DeviceLost(_))));
}

#[test]
fn the_thread_ends_with_the_compiler() {
    let Some(gpu) = Gpu::for_test() else { return };
    let compiler = Compiler::with_checks(gpu);
    let source = source("");
    for step in 0..20 {
        compiler.get(&request(&source, "add", step)).unwrap();
    }
    let inner = Arc::downgrade(&compiler.inner);
    drop(compiler);
    assert!(inner.upgrade().is_none(), "the thread has let go");
}

#[test]
fn no_more_is_kept_than_several_jobs_need() {
    let Some(gpu) = Gpu::for_test() else { return };
    let compiler = Compiler::with_checks(gpu);
    let often = request(&source("numbers[0] = 1;"), "change", 1);
    let text = source("numbers[0] = 2;");
    compiler.wait_for(&often).unwrap();
    for step in 0..CAPACITY as u32 + 5 {
        compiler.wait_for(&request(&text, "change", step)).unwrap();
        assert!(compiler.get(&often).unwrap().is_some(), "what is in use stays");
    }
    let other_text = source("numbers[0] = 3;");
    for step in 0..CAPACITY as u32 {
        compiler.wait_for(&request(&other_text, "change", step)).unwrap();
    }
    assert_eq!(compiler.inner.state.lock().sizes(), [CAPACITY, 0, 1], "modules go with their last pipeline");
}

#[test]
fn what_was_asked_for_last_comes_next_and_the_oldest_wish_is_forgotten() {
    let mut state = State::default();
    let source = source("");
    let request = |step| request(&source, "add", step);
    for step in 0..=CAPACITY as u32 {
        assert!(state.enqueue(&request(step)));
    }
    assert!(state.enqueue(&request(7)), "asked for again");
    assert_eq!(state.sizes(), [0, CAPACITY, 0]);
    let order: Vec<_> = std::iter::from_fn(|| state.begin_next()).map(|next| next.constants[0].1).collect();
    let newest_first = (1..=CAPACITY as u32).rev().filter(|step| *step != 7);
    assert_eq!(order, [7].into_iter().chain(newest_first).collect::<Vec<_>>());
    assert!(!state.enqueue(&request(7)) && !state.begin(&request(7)), "it is in work");
}

/// A device with a cache, and a folder for it.
fn with_cache() -> Option<(Gpu, tempfile::TempDir)> {
    let gpu = Gpu::for_test()?;
    if Cache::file(&gpu).is_none() {
        eprintln!("skipped: {} keeps no pipelines", gpu.info.adapter);
        return None;
    }
    Some((gpu, tempfile::tempdir().unwrap()))
}

/// Compiles a shader with this cache file, and returns the file's contents.
fn compile_with(gpu: &Gpu, file: &Path, factor: u32) -> Vec<u8> {
    let compiler = Compiler::with(gpu.clone(), false, Some(file.to_owned()));
    let pipeline =
        compiler.wait_for(&request(&source(&format!("numbers[0] += STEP * {factor}u;")), "change", 3)).unwrap();
    assert_eq!(run(gpu, &pipeline), 5 + 3 * factor);
    drop(compiler);
    assert_eq!(gpu.take_error(), None);
    std::fs::read(file).unwrap()
}

#[test]
fn pipelines_are_kept_and_a_broken_or_foreign_file_is_as_good_as_none() {
    let Some((gpu, folder)) = with_cache() else { return };
    let file = folder.path().join("deeper/pipelines.bin");
    let kept = compile_with(&gpu, &file, 2);
    assert!(kept.starts_with(b"stereopsis "));
    let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    std::fs::File::options().append(true).open(&file).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(compile_with(&gpu, &file, 2), kept, "what is kept is found");
    assert_eq!(file.metadata().unwrap().modified().unwrap(), long_ago, "and not written once more");
    std::fs::write(&file, "no pipelines").unwrap();
    assert_eq!(compile_with(&gpu, &file, 2).len(), kept.len());
    // From here on the checksum is right and what it covers is not: behind ours lies wgpu's head, which names the device.
    let data = &kept[kept.iter().position(|&byte| byte == b'\n').unwrap() + 9..];
    for (what, place) in [("magic word", 0), ("backend", 16), ("device", 20), ("driver", 33)] {
        let mut foreign = data.to_vec();
        foreign[place] ^= 0x55;
        std::fs::write(&file, cache::pack(&foreign, cache::checksum(&foreign))).unwrap();
        let written = compile_with(&gpu, &file, 2);
        assert_eq!(written.len(), kept.len(), "{what}");
        assert_eq!(written[kept.len() - data.len() + place], data[place], "{what}: a new file is written");
    }
}

#[test]
fn the_thread_keeps_what_is_new_when_it_has_become_quiet() {
    let Some((gpu, folder)) = with_cache() else { return };
    let file = folder.path().join("pipelines.bin");
    let compiler = Compiler::with(gpu, false, Some(file.clone()));
    compiler.get(&request(&source(""), "add", 1)).unwrap();
    until("the file is there", || file.exists());
    assert!(compiler.is_idle());
}
