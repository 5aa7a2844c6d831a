//! A folder with the files that the documentation names, made by the program itself.

use super::pages::root;
use crate::start;
use std::fs;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use stereopsis_model::testing::BlockMatching;
use tempfile::TempDir;

/// Size of the images: small, and with the aspect ratio of the example calibration.
pub(crate) const SIZE: &str = "96x72";
/// Time after which a command counts as hanging.
const TIMEOUT: Duration = Duration::from_mins(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

pub(crate) struct Sandbox {
    folder: TempDir,
}

pub(crate) struct Ended {
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }
}

impl Sandbox {
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Creates a folder with a pair, a folder of pairs, images of both views, scenes with truth, a recording, calibrations and settings.
    pub(crate) fn with_files() -> Self {
        let sandbox = Self::empty();
        let path = sandbox.folder.path();
        sandbox.make(&["bench", "--write-pairs", "written", "--size", SIZE, "--frames", "1", "--num-disparities", "8"]);
        sandbox.make(&[
            "record",
            "--lossless",
            "--size",
            SIZE,
            "--frames",
            "12",
            "--num-disparities",
            "16",
            "-o",
            "walk.mcap",
        ]);
        fs::create_dir(path.join("pairs")).unwrap();
        for (side, number) in [("left", 0), ("right", 0), ("left", 1), ("right", 1)] {
            let written = path.join("written").join(SIZE).join(format!("{side}{number}.png"));
            fs::copy(&written, path.join("pairs").join(format!("{side}{number}.png"))).unwrap();
            if number == 0 {
                fs::copy(&written, path.join(format!("{side}.png"))).unwrap();
                image::open(&written).unwrap().save(path.join(format!("{side}.tif"))).unwrap();
            }
        }
        let views = ["left.png", "right.png"].map(|name| image::open(path.join(name)).unwrap().to_luma8());
        let (across, down) = views[0].dimensions();
        let both =
            image::GrayImage::from_fn(2 * across, down, |x, y| *views[(x / across) as usize].get_pixel(x % across, y));
        for (name, picture) in [("left", &views[0]), ("right", &views[1]), ("both", &both)] {
            let header = format!("YUV4MPEG2 W{} H{} F30:1 Cmono\nFRAME\n", picture.width(), picture.height());
            fs::write(path.join(format!("{name}.y4m")), [header.as_bytes(), picture.as_raw().as_slice()].concat())
                .unwrap();
        }
        fs::create_dir(path.join("views")).unwrap();
        [path.join("both.png"), path.join("views/0001.png")].iter().try_for_each(|file| both.save(file)).unwrap();
        let (width, height) = SIZE.split_once('x').unwrap();
        let [width, height] = [width, height].map(|length| length.parse().unwrap());
        image::GrayImage::from_pixel(width, height, image::Luma([80])).save(path.join("truth.png")).unwrap();
        image::GrayImage::from_pixel(width, height, image::Luma([255])).save(path.join("mask.png")).unwrap();
        let scene = path.join("scenes/desk");
        fs::create_dir_all(&scene).unwrap();
        for (from, to) in [("left.png", "left.png"), ("pairs/right0.png", "right.png"), ("truth.png", "truth.png")] {
            fs::copy(path.join(from), scene.join(to)).unwrap();
        }
        image::GrayImage::from_pixel(width, height, image::Luma([255])).save(scene.join("nonocc.png")).unwrap();
        let meta = r#"{ "left": "left.png", "right": "right.png", "disp": { "file": "truth.png", "scale": 16 },
            "masks": { "nonocc": { "file": "nonocc.png" } } }"#;
        fs::write(scene.join("meta.json"), meta).unwrap();
        fs::create_dir(path.join("calibration")).unwrap();
        for file in ["example-rig.toml", "example-rig.yml", "two-webcams.toml"] {
            fs::copy(root().join("calibration").join(file), path.join("calibration").join(file)).unwrap();
        }
        fs::copy(path.join("calibration/example-rig.yml"), path.join("stereo.yml")).unwrap();
        sandbox.make(&["calibration", "convert", "stereo.yml", "--to", "ros", "-o", "ros"]);
        for file in ["left.yaml", "right.yaml"] {
            fs::copy(path.join("ros").join(file), path.join(file)).unwrap();
        }
        fs::write(path.join("my.toml"), "p1 = 10\np2 = 90\n").unwrap();
        let model = BlockMatching { channels: 3, disparities: 16, ..BlockMatching::default() };
        for name in ["las2.onnx", "timing.onnx"] {
            fs::write(path.join(name), model.file()).unwrap();
        }
        fs::write(path.join("with-las2.toml"), "model = \"las2.onnx\"\n").unwrap();
        sandbox
    }

    pub(crate) fn copied(&self) -> Self {
        let sandbox = Self::empty();
        copy(self.folder.path(), sandbox.folder.path());
        sandbox
    }

    fn make(&self, args: &[&str]) {
        let args: Vec<_> = args.iter().map(|&word| word.to_owned()).collect();
        let on_cpu = if args[0] == "calibration" { Vec::new() } else { vec!["--engine".to_owned(), "cpu".to_owned()] };
        let ended = self.run(&[], &[args, on_cpu].concat());
        assert!(ended.succeeded(), "{}", ended.stderr);
    }

    pub(crate) fn run(&self, variables: &[(String, String)], args: &[String]) -> Ended {
        let files = tempfile::tempdir().unwrap();
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| files.path().join(name));
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let mut command = start::stereopsis(self.folder.path(), &args);
        command.envs(variables.iter().cloned());
        command.stdout(Stdio::from(fs::File::create(&stdout).unwrap()));
        command.stderr(Stdio::from(fs::File::create(&stderr).unwrap()));
        let mut child = command.spawn().unwrap();
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break Some(status),
                None if Instant::now() < deadline => std::thread::sleep(POLL_INTERVAL),
                None => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    break None;
                }
            }
        };
        let [stdout, stderr] =
            [stdout, stderr].map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
        Ended { status, stdout, stderr }
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
