//! Tests of the compiler with shaders of a few lines, on any device.

use super::cache::Cache;
use super::queue::CAPACITY;
use super::*;
use std::path::Path;
use stereopsis_base::testing::until;

/// Returns a module with two entries and a constant; `body` distinguishes it from others.
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
fn thread_compiles_requested_entries_with_their_constants() {
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
fn wait_for_returns_pipelines_that_either_thread_compiles() {
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
fn compile_error_names_the_shader_and_is_not_tried_again() {
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
            let text = text.to_string();
            assert!(text.contains("test/numbers") && text.contains("engine cpu"), "{text}");
        }
        assert!(compiler.is_idle(), "it is not queued again");
    }
    assert_eq!(gpu.take_error(), None, "every error is caught");
    assert!(compiler.wait_for(&request(&source(""), "add", 1)).is_ok(), "others can be compiled");
}

#[test]
fn lost_device_is_reported_as_lost() {
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
fn thread_ends_with_the_compiler() {
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
fn pipelines_are_evicted_beyond_the_capacity() {
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
fn latest_request_comes_first_and_the_oldest_is_dropped() {
    let mut state = QueueState::default();
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

fn with_cache() -> Option<(Gpu, tempfile::TempDir)> {
    let gpu = Gpu::for_test()?;
    if Cache::file(&gpu).is_none() {
        eprintln!("skipped: {} keeps no pipelines", gpu.info.adapter);
        return None;
    }
    Some((gpu, tempfile::tempdir().unwrap()))
}

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
fn pipelines_are_stored_and_broken_or_foreign_files_ignored() {
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
    // from here on the checksum is right and its data is not: behind our head lies wgpu's, which names the device
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
fn thread_saves_new_pipelines_when_idle() {
    let Some((gpu, folder)) = with_cache() else { return };
    let file = folder.path().join("pipelines.bin");
    let compiler = Compiler::with(gpu, false, Some(file.clone()));
    compiler.get(&request(&source(""), "add", 1)).unwrap();
    until("the file is there", || file.exists());
    assert!(compiler.is_idle());
}
