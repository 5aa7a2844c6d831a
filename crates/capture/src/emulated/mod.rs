//! Emulated V4L2 cameras for tests: compiles `preload.c` with `cc`, and runs programs with this library in front of libc (`LD_PRELOAD`).

#![allow(
    clippy::missing_errors_doc,
    clippy::print_stderr,
    reason = "for tests, which fail by panicking and say why they are skipped"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Image sizes of each camera.
pub const SIZES: [(usize, usize); 2] = [(640, 480), (320, 240)];
/// Shift of the right camera's image, px.
pub const SHIFT: usize = 12;

/// Returns the compiled library; `None` without a compiler.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compile = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/emulated/preload.c");
        let library = std::env::current_exe().expect("has a path").with_file_name("v4l2.so");
        let fresh = library.with_extension(std::process::id().to_string());
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&fresh, &source])
            .args(["-ldl", "-lpthread"])
            .output()
            .map_err(|e| eprintln!("skipped: no C compiler `cc`: {e}"))
            .ok()?;
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        fs::rename(fresh, &library).expect("renamed");
        Some(library)
    };
    LIBRARY.get_or_init(compile).as_deref()
}

/// Lets a command see emulated cameras with these behaviours of `preload.c`; `None` without a compiler. The cameras need the returned
/// folder.
pub fn emulate(command: &mut Command, behaviours: &[&str]) -> Option<TempDir> {
    let library = library()?;
    let folder = tempfile::tempdir().expect("temporary folder");
    command.env("LD_PRELOAD", library).env("FAKE_V4L2", folder.path());
    for (i, behaviour) in behaviours.iter().enumerate() {
        command.env(format!("FAKE_V4L2_{i}"), behaviour);
        fs::write(folder.path().join(format!("video{i}")), "").expect("written");
        let system = folder.path().join(format!("sys/class/video4linux/video{i}"));
        fs::create_dir_all(&system).expect("made");
        fs::write(system.join("name"), format!("Fake Camera {i}\n")).expect("written");
        fs::write(system.join("index"), "0\n").expect("written");
        symlink(format!("../../../1-{i}:1.0"), system.join("device")).expect("linked");
    }
    Some(folder)
}

/// Returns the grey pixels of camera 0 (left) or 1 (right, shifted by [`SHIFT`]).
pub fn scene(camera: usize, (width, height): (usize, usize)) -> Vec<u8> {
    let pixel = |x: usize, y: usize| {
        let (x, y) = ((x + SHIFT * camera) as f32, y as f32);
        let fine = ((x as u32 * 31 + y as u32 * 17) % 13) as f32;
        (110.0 + 50.0 * (x / 9.0).sin() + 40.0 * (y / 7.0 + x / 50.0).cos() + fine) as u8
    };
    (0..height).flat_map(|y| (0..width).map(move |x| pixel(x, y))).collect()
}

/// Writes images of camera `i` in every format, its entry on USB bus 2 and its persistent name.
pub fn dress(folder: &Path, i: usize) {
    let at = |name: String| folder.join(name);
    for size in SIZES {
        let (width, height) = size;
        let pixels = scene(i, size);
        let write = |kind: &str, bytes: Vec<u8>| {
            fs::write(at(format!("{i}.{width}x{height}.{kind}")), bytes).expect("written");
        };
        write("yuyv", pixels.iter().flat_map(|&y| [y, 128]).collect());
        write("nv12", [&pixels[..], &vec![128; pixels.len() / 2]].concat());
        write("grey", pixels.clone());
        // ten significant bits of sixteen
        write("y16", pixels.iter().flat_map(|&y| (u16::from(y) * 4).to_le_bytes()).collect());
        let grey = image::GrayImage::from_raw(width as u32, height as u32, pixels).expect("fits");
        let colour = image::DynamicImage::ImageLuma8(grey).to_rgb8();
        let file = fs::File::create(at(format!("{i}.{width}x{height}.jpg"))).expect("created");
        colour.write_with_encoder(image::codecs::jpeg::JpegEncoder::new_with_quality(file, 95)).expect("written");
    }
    let bus = at("sys/devices/usb2".into());
    fs::create_dir_all(bus.join(format!("2-{i}/2-{i}:1.0"))).expect("made");
    fs::write(bus.join(format!("2-{i}/busnum")), "2\n").expect("written");
    fs::write(bus.join(format!("2-{i}/speed")), "480\n").expect("written");
    plug_in(folder, i, i);
}

/// Connects camera `i` as node `node`.
pub fn plug_in(folder: &Path, i: usize, node: usize) {
    let system = folder.join(format!("sys/class/video4linux/video{node}"));
    fs::create_dir_all(&system).expect("made");
    fs::write(system.join("name"), format!("Fake Camera {i}\n")).expect("written");
    // a metadata node is the second node of its camera
    fs::write(system.join("index"), if i == 2 { "1\n" } else { "0\n" }).expect("written");
    let link = |target: String, name: PathBuf| {
        let _ = fs::remove_file(&name);
        symlink(target, name).expect("linked");
    };
    link(format!("../../../devices/usb2/2-{i}/2-{i}:1.0"), system.join("device"));
    let names = folder.join("dev/v4l/by-path");
    fs::create_dir_all(&names).expect("made");
    link(format!("../../video{node}"), names.join(format!("pci-0000:00:14.0-usb-0:{i}:1.0-video-index0")));
    fs::write(folder.join(format!("video{node}")), i.to_string()).expect("written");
}

/// Runs an ignored test of the calling test program in a separate process with emulated cameras; `inside` is the path of the test from
/// the crate's root.
pub fn with_cameras(behaviours: &[&str], inside: &str) {
    with_dressed_cameras(behaviours, |_| (), inside);
}

/// Like [`with_cameras`], after `dress` has added files to the folder.
pub fn with_dressed_cameras(behaviours: &[&str], dress: impl FnOnce(&Path), inside: &str) {
    let mut child = Command::new(std::env::current_exe().expect("has a path"));
    child.args(["--exact", inside, "--ignored", "--nocapture"]);
    let Some(folder) = emulate(&mut child, behaviours) else { return };
    dress(folder.path());
    let output = child.output().expect("starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{inside}: {}\n{text}", output.status);
}
