//! Tests of the engine and of the conventions with small models.

use crate::fit::Fit;
use crate::inspect::inspect;
use crate::testing::{BlockMatching, classifier, custom_operator, without_numbers};
use crate::{Brightness, Colors, Description, LoadedModel, ModelEngine, ModelError, Trial};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stereopsis_base::image::PictureRef;
use stereopsis_base::parameter::{Domain, Parameter, Value};
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::engine::{Engine as _, EngineError, Job, ModelDevice, ModelFile, Output, run};
use stereopsis_frame::{Frame, RawPair, SceneOptions};
use stereopsis_scene::render;
use stereopsis_stereo::map::reason;
use stereopsis_stereo::{CostKind, StereoParams, Subpixel};
use tempfile::TempDir;

const SIZE: (usize, usize) = (160, 96);

fn scene() -> RawPair {
    render(&SceneOptions { width: SIZE.0, height: SIZE.1, ..SceneOptions::default() }, 0, true)
}

/// Writes a model into a folder of its own.
fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn of_path(path: &Path) -> ModelFile {
    ModelFile { path: path.to_owned(), device: ModelDevice::BuiltIn }
}

/// Returns parameters of block matching as the models do it, without filters.
fn block_matching(disparities: u32) -> StereoParams {
    StereoParams {
        cost: CostKind::Sad,
        sad_window: 5,
        paths: 0,
        num_disparities: disparities,
        subpixel: Subpixel::Off,
        left_right: None,
        median: stereopsis_stereo::Median::Off,
        speckle_size: 0,
        weighted_median: false,
        ..StereoParams::default()
    }
}

fn job(raw: &RawPair, params: &StereoParams) -> Job {
    let frame = Arc::new(Frame::of_raw(Arc::new(raw.clone())));
    Job { frame, params: Arc::new(params.clone()), read_back: true, wants_right: false }
}

fn matched(bytes: &[u8], description: Option<&Description>, params: &StereoParams) -> Result<Output, EngineError> {
    let (_folder, file) = file(bytes);
    if let Some(description) = description {
        std::fs::write(crate::path_beside(&file), description.to_text()).unwrap();
    }
    let mut engine = ModelEngine::open(of_path(&file), Some(1))?;
    run(&mut engine, job(&scene(), params))
}

/// Returns the share of the inner pixels with equal values.
fn agreement(one: &Output, other: &Output) -> f64 {
    let (one, other) = (one.map.as_ref().unwrap(), other.map.as_ref().unwrap());
    let inner = (4..SIZE.1 - 4).flat_map(|y| (40..SIZE.0 - 4).map(move |x| (x, y)));
    let (equal, all) = inner.fold((0, 0), |(equal, all), (x, y)| {
        (equal + usize::from(one.values.at(x, y).abs_diff(other.values.at(x, y)) <= 8), all + 1)
    });
    equal as f64 / f64::from(all)
}

fn by_cpu(params: &StereoParams) -> Output {
    run(&mut CpuEngine::new(Some(1)), job(&scene(), params)).unwrap()
}

#[test]
fn a_model_that_matches_blocks_gives_the_disparities_of_sad() {
    let params = block_matching(32);
    let expected = by_cpu(&params);
    let found = matched(&BlockMatching::default().file(), None, &params).unwrap();
    assert!(agreement(&found, &expected) > 0.99, "{}", agreement(&found, &expected));
    assert_eq!(found.job.params, expected.job.params);
    let halved = BlockMatching { is_halved: true, scale: -1.0, is_flow: true, ..BlockMatching::default() };
    let (_folder, path) = file(&halved.file());
    let guess = Description::guess(LoadedModel::open(&of_path(&path), Some(1)).unwrap().signature()).unwrap();
    let described = Description { scale: -1.0, ..guess };
    let found = matched(&halved.file(), Some(&described), &params).unwrap();
    assert!(agreement(&found, &expected) > 0.9, "{}", agreement(&found, &expected));
}

#[test]
fn filters_and_the_left_right_check_follow_the_model() {
    let params = StereoParams { left_right: Some(1), speckle_size: 20, ..block_matching(32) };
    let (found, expected) = (matched(&BlockMatching::default().file(), None, &params).unwrap(), by_cpu(&params));
    assert!(agreement(&found, &expected) > 0.97, "{}", agreement(&found, &expected));
    let names: Vec<_> = found.stages.iter().map(|stage| stage.name).collect();
    assert_eq!(names, ["model", "mirrored model", "filters"]);
    let count = |output: &Output, bit: u8| {
        output.map.as_ref().unwrap().reasons.pixels().iter().filter(|reasons| **reasons & bit != 0).count()
    };
    for bit in [reason::LEFT_RIGHT, reason::SPECKLE] {
        assert!(count(&found, bit) > 0);
    }
}

#[test]
fn a_model_of_fixed_size_takes_larger_and_smaller_images() {
    let params = block_matching(32);
    let expected = by_cpu(&params);
    let of_size = |size: (i64, i64)| BlockMatching { size: Some(size), ..BlockMatching::default() }.file();
    let larger = matched(&of_size((736, 320)), None, &params).unwrap();
    assert!(agreement(&larger, &expected) > 0.99, "with a border: {}", agreement(&larger, &expected));
    let smaller = matched(&of_size((320, 90)), None, &params).unwrap();
    assert_eq!(smaller.engine.adapter, "net.onnx, licence MIT, 160x96 resized to 320x90");
    assert!(agreement(&smaller, &expected) > 0.6, "resized: {}", agreement(&smaller, &expected));
}

#[test]
fn inspect_finds_order_brightness_sign_and_scale() {
    let conventions = [
        (BlockMatching::default(), Brightness::Bytes, 1.0),
        (
            BlockMatching { inputs: ["r", "l"], channels: 3, brightness: Brightness::Unit, ..BlockMatching::default() },
            Brightness::Unit,
            1.0,
        ),
        (
            BlockMatching {
                inputs: ["images"; 2],
                channels: 3,
                brightness: Brightness::ImageNet,
                scale: -1.0,
                is_flow: true,
                ..BlockMatching::default()
            },
            Brightness::ImageNet,
            -1.0,
        ),
        (
            BlockMatching {
                inputs: ["images"; 2],
                is_swapped: true,
                brightness: Brightness::Signed,
                ..BlockMatching::default()
            },
            Brightness::Signed,
            1.0,
        ),
        (BlockMatching { size: Some((192, 96)), scale: 0.25, ..BlockMatching::default() }, Brightness::Bytes, 4.0),
        (BlockMatching { is_halved: true, scale: -0.5, ..BlockMatching::default() }, Brightness::Bytes, -2.0),
    ];
    let raw = scene();
    let truth = &raw.truth.as_ref().unwrap().left_px;
    for (model, brightness, scale) in conventions {
        let (_folder, path) = file(&model.file());
        let mut open = LoadedModel::open(&of_path(&path), Some(1)).unwrap();
        let guess = Description::guess(open.signature()).unwrap();
        let found = inspect(&mut open, &guess, PictureRef::pair(&raw.left, &raw.right), truth).unwrap();
        assert!(found.is_stereo(), "{model:?}: {:?}", found.tested);
        let Description { left, right, swapped, brightness: said, scale: scaled, max_disparity, .. } =
            &found.description;
        assert_eq!((*said, *scaled), (brightness, scale), "{model:?}: {:#?}", found.tested);
        let is_exchanged = model.is_swapped && model.inputs[0] == model.inputs[1];
        assert_eq!(([left.as_str(), right], *swapped), (model.inputs, is_exchanged), "{model:?}");
        assert_eq!(*max_disparity, None, "32 disparities do not reach 32 px: {model:?}");
        assert_eq!(found.description.license.as_deref(), Some("MIT"));
        assert_eq!(Description::of_text(&found.description.to_text()).unwrap(), found.description);
    }
}

#[test]
fn inspect_finds_the_largest_disparity() {
    let raw = scene();
    let (_folder, path) = file(&BlockMatching { disparities: 70, ..BlockMatching::default() }.file());
    let mut open = LoadedModel::open(&of_path(&path), Some(1)).unwrap();
    let guess = Description::guess(open.signature()).unwrap();
    let truth = &raw.truth.as_ref().unwrap().left_px;
    let found = inspect(&mut open, &guess, PictureRef::pair(&raw.left, &raw.right), truth).unwrap();
    assert_eq!(found.description.max_disparity, Some(64));
}

#[test]
fn refuses_what_is_no_matcher_in_words() {
    let params = block_matching(32);
    let refused = |bytes: &[u8]| matched(bytes, None, &params).unwrap_err().to_string();
    let custom = refused(&custom_operator());
    assert!(custom.contains("net.onnx") && custom.contains("CostVolume") && custom.contains("export it"), "{custom}");
    let classifier = refused(&classifier());
    assert!(
        classifier.contains("takes no stereo pair") && classifier.contains("image (1, 3, 224, 224)"),
        "{classifier}"
    );
    let nothing = refused(&without_numbers());
    assert!(nothing.contains("no number for any pixel") && nothing.contains("0..255"), "{nothing}");
    let whole = BlockMatching::default().file();
    for cut in [0, 1, 40, whole.len() / 2, whole.len() - 1] {
        let text = refused(&whole[..cut]);
        assert!(text.contains("net.onnx"), "{cut}: {text}");
    }
    let text = refused(&vec![0; 1 << 20]);
    assert!(text.contains("net.onnx"), "{text}");
    assert!(matched(b"", None, &params).is_err());
    let missing = ModelEngine::open(of_path(Path::new("no/such.onnx")), None).err().unwrap();
    assert!(missing.to_string().starts_with("model no/such.onnx: "), "{missing}");
}

#[test]
fn refuses_a_range_beyond_the_model() {
    let (_folder, path) = file(&BlockMatching::default().file());
    let guess = Description::guess(LoadedModel::open(&of_path(&path), Some(1)).unwrap().signature()).unwrap();
    let described = Description { max_disparity: Some(31), ..guess };
    let bytes = BlockMatching::default().file();
    assert!(matched(&bytes, Some(&described), &block_matching(32)).is_ok());
    let text = matched(&bytes, Some(&described), &block_matching(64)).unwrap_err().to_string();
    assert!(text.contains("up to 31 px") && text.contains("num-disparities to 32"), "{text}");
}

#[test]
fn descriptions_are_checked() {
    let (_folder, path) = file(&BlockMatching::default().file());
    let guess = Description::guess(LoadedModel::open(&of_path(&path), Some(1)).unwrap().signature()).unwrap();
    assert_eq!((guess.left.as_str(), guess.right.as_str(), guess.colors), ("left", "right", Colors::Grey));
    let with = |line: &str| Description::of_text(&format!("{}{line}\n", guess.to_text().replace("scale = 1.0\n", "")));
    assert_eq!(with("").unwrap(), guess);
    for (line, why) in [
        ("scale = 0.0", "other than 0"),
        ("width = 64", "both"),
        ("colour = \"rgb\"", "colour"),
        ("width = 0\nheight = 4", "from 1"),
    ] {
        let text = with(line).unwrap_err().to_string();
        assert!(text.contains(why), "{line}: {text}");
    }
    let other = Description { left: "image".into(), ..guess };
    let text = matched(&BlockMatching::default().file(), Some(&other), &block_matching(32)).unwrap_err().to_string();
    assert!(text.contains("names 'image'") && text.contains("has left (1, 1, any, any)"), "{text}");
}

#[test]
fn without_a_program_no_process_tries_a_model() {
    let (_folder, path) = file(&BlockMatching::default().file());
    assert!(Trial::run(&of_path(&path), SIZE).unwrap().is_none());
}

/// Opens a model with its weights in another file; returns their bytes as the model reads them, or the error.
fn weights(at: &Path, device: ModelDevice) -> Result<u64, ModelError> {
    crate::weights::bytes_beside(&ModelFile { path: at.to_owned(), device })
}

#[test]
fn weights_in_a_file_beside_the_model_are_read_and_counted() {
    let params = block_matching(32);
    let (model, expected) =
        (BlockMatching::default(), matched(&BlockMatching::default().file(), None, &params).unwrap());
    let [bytes, kernel] = model.file_and_weights("net.onnx.data", None);
    let (folder, path) = file(&bytes);
    let beside = folder.path().join("net.onnx.data");
    std::fs::write(&beside, &kernel).unwrap();
    assert_eq!(weights(&path, ModelDevice::BuiltIn).unwrap(), kernel.len() as u64);
    let found = run(&mut ModelEngine::open(of_path(&path), Some(1)).unwrap(), job(&scene(), &params)).unwrap();
    assert_eq!(found.map, expected.map);
    // what no machine has, in a sparse file
    let claimed = 1 << 43;
    std::fs::File::create(&beside).unwrap().set_len(claimed).unwrap();
    std::fs::write(&path, &model.file_and_weights("net.onnx.data", Some(claimed))[0]).unwrap();
    let text = LoadedModel::open(&of_path(&path), Some(1)).err().unwrap().to_string();
    assert!(!cfg!(target_os = "linux") || text.contains("17592.2 GB of memory to open it"), "{text}");
}

#[test]
#[cfg(unix)]
fn weights_are_taken_only_from_plain_files_beside_the_model() {
    let outside = tempfile::tempdir().unwrap();
    let (folder, path) = file(b"");
    let of_name = |name: &str| {
        let [bytes, kernel] = BlockMatching::default().file_and_weights(name, None);
        std::fs::write(&path, bytes).unwrap();
        (folder.path().join(name), kernel)
    };
    let both = [ModelDevice::BuiltIn, ModelDevice::Cpu];
    let refused = |words: &[&str], devices: &[ModelDevice]| {
        for &device in devices {
            let text = weights(&path, device).unwrap_err().to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
    };
    let (beside, kernel) = of_name("net.data");
    refused(&["net.data", "no such file"], &both);
    std::fs::write(&beside, &kernel[1..]).unwrap();
    refused(&["net.data", "it has 4095 bytes", "reads to 4096", "whole"], &both);
    std::fs::remove_file(&beside).unwrap();
    std::fs::create_dir(&beside).unwrap();
    refused(&["net.data", "it is a folder"], &both);
    std::fs::remove_dir(&beside).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&beside).status().unwrap().success());
    refused(&["net.data", "it is a pipe"], &both);
    std::fs::remove_file(&beside).unwrap();
    std::fs::write(outside.path().join("net.data"), &kernel).unwrap();
    std::os::unix::fs::symlink(outside.path().join("net.data"), &beside).unwrap();
    refused(&["net.data", "outside the folder of the model"], &both);
    // a model and its weights may both be links to another folder
    let store = outside.path().join("net.onnx");
    std::fs::rename(&path, &store).unwrap();
    std::os::unix::fs::symlink(&store, &path).unwrap();
    assert_eq!(both.map(|device| weights(&path, device).unwrap()), [4096, 4096]);
    for name in ["../net.data", "/dev/zero"] {
        of_name(name);
        refused(&[name, "outside the folder of the model"], &both);
    }
    let (beside, kernel) = of_name("weights.bin");
    std::fs::write(outside.path().join("weights.bin"), &kernel).unwrap();
    std::fs::write(beside, kernel).unwrap();
    refused(&["weights.bin", "ends in .data", "model-device cpu"], &[ModelDevice::BuiltIn]);
    assert_eq!(weights(&path, ModelDevice::Cpu).unwrap(), 4096);
}

#[test]
fn an_input_far_larger_than_the_images_is_refused() {
    let (_folder, path) = file(&BlockMatching::default().file());
    let guess = Description::guess(LoadedModel::open(&of_path(&path), Some(1)).unwrap().signature()).unwrap();
    let of_size = |(width, height)| Description { width: Some(width), height: Some(height), ..guess.clone() };
    let fits = |image, description: &Description| Fit::new(image, description).unwrap().input;
    for input in [(1280, 960), (3840, 2160)] {
        assert_eq!(fits((64, 48), &of_size(input)), input);
    }
    assert_eq!(fits((4096, 4096), &of_size((16_384, 16_384))), (16_384, 16_384));
    let bytes = BlockMatching::default().file();
    let multiple = Description { multiple: 16_384, ..guess.clone() };
    for described in [of_size((16_384, 16_384)), multiple] {
        let text = matched(&bytes, Some(&described), &block_matching(32)).unwrap_err().to_string();
        let words = ["net.onnx", "16384x16384", "160x96 px", "16 times", "in the description", "larger images"];
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
}

#[test]
fn only_range_check_and_filters_act_on_a_model() {
    let bytes = BlockMatching { disparities: 16, ..BlockMatching::default() }.file();
    let (_folder, path) = file(&bytes);
    let raw = render(&SceneOptions { width: 96, height: 64, ..SceneOptions::default() }, 0, true);
    let mut engine = ModelEngine::open(of_path(&path), Some(1)).unwrap();
    let mut map_of = |params: &StereoParams| {
        engine.forget();
        run(&mut engine, job(&raw, params)).unwrap().map.unwrap()
    };
    let base = StereoParams {
        num_disparities: 16,
        spatial: Some(2),
        temporal: stereopsis_stereo::Temporal::On,
        ..StereoParams::default()
    };
    let expected = map_of(&base);
    let mut acting = 0;
    for parameter in StereoParams::table() {
        for change in changes(parameter, &base) {
            let mut params = base.clone();
            params.set(parameter, change);
            let acts = map_of(&params) != expected;
            assert!(!acts || StereoParams::acts_on_any_matcher(parameter.name), "{} acts", parameter.name);
            acting += usize::from(acts);
        }
    }
    assert!(acting >= 8, "{acting}");
}

/// Returns another value of a parameter, or several.
fn changes(parameter: &Parameter<StereoParams>, params: &StereoParams) -> Vec<Value> {
    let now = (parameter.get)(params);
    let all = match &parameter.domain {
        Domain::Integer(range) => {
            vec![Value::Integer(*range.start()), Value::Integer((*range.start() + 6).min(*range.end()))]
        }
        Domain::OptionalInteger(range) => vec![Value::Off, Value::Integer(*range.start())],
        Domain::Switch => vec![Value::Switch(true), Value::Switch(false)],
        Domain::Choice(words) => words.iter().map(|(word, _)| Value::Choice(word)).collect(),
    };
    all.into_iter().filter(|value| *value != now).collect()
}
