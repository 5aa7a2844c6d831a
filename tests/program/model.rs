//! Learned matchers: small models inspected, used by each command, and refused.

use super::start::{finished, printed, refused, run, stereopsis};
use std::path::Path;
use stereopsis_model::testing::{BlockMatching, custom_operator};
use tempfile::TempDir;

/// Settings of block matching as the small models do it, without filters.
const BLOCK_MATCHING: &str = "cost = \"sad\"\nsad-window = 5\npaths = 0\nsubpixel = \"off\"\nnum-disparities = 32\nleft-right = \"off\"\n\
     median = 0\nspeckle-size = 0\nweighted-median = false\n";

/// Returns a folder with a rendered pair, a model and settings.
fn folder(model: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("blocks.onnx"), model).unwrap();
    std::fs::write(folder.path().join("sad.toml"), BLOCK_MATCHING).unwrap();
    let pairs = ["bench", "--engine", "cpu", "--frames", "1", "--size", "160x96", "--num-disparities", "32"];
    run(folder.path(), &[&pairs[..], &["--write-pairs", "pairs"]].concat());
    folder
}

/// Returns the disparities of a file in whole pixels; holes have the largest number.
fn disparities(path: &Path) -> Vec<i32> {
    let bytes = std::fs::read(path).unwrap();
    let values = &bytes[bytes.len() - 160 * 96 * 4..];
    values.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()).round() as i32).collect()
}

#[test]
fn a_model_gives_the_disparities_of_block_matching() {
    let flow = BlockMatching { is_halved: true, is_flow: true, scale: -1.0, ..BlockMatching::default() };
    for (model, share) in [(BlockMatching::default(), 0.98), (flow, 0.9)] {
        let folder = folder(&model.file());
        let folder = folder.path();
        assert!(run(folder, &["model", "inspect", "blocks.onnx", "--size", "160x96"]).contains("wrote blocks.toml"));
        let [left, right] = ["left0", "right0"].map(|name| format!("pairs/160x96/{name}.png"));
        let compute = ["compute", &left, &right, "--settings", "sad.toml", "-o"];
        run(folder, &[&compute[..], &["sad.pfm", "--engine", "cpu"]].concat());
        let said = run(folder, &[&compute[..], &["model.pfm", "--model", "blocks.onnx"]].concat());
        assert!(said.contains("on model (blocks.onnx, licence MIT"), "{said}");
        let [by_cpu, by_model] = ["sad.pfm", "model.pfm"].map(|name| disparities(&folder.join(name)));
        let inside = |at: &usize| at % 160 >= 40;
        let equal = (0..160 * 96).filter(inside).filter(|&at| by_cpu[at].abs_diff(by_model[at]) == 0).count();
        let all = (0..160 * 96).filter(inside).count();
        assert!(equal as f64 > share * all as f64, "{equal} of {all}");
    }
}

#[test]
fn every_command_with_an_engine_takes_a_model() {
    let folder = folder(&BlockMatching::default().file());
    let folder = folder.path();
    let model = ["--model", "blocks.onnx", "--num-disparities", "32"];
    let scene = ["--source", "scene", "--size", "160x96"];
    let with = |words: &[&str], rest: &[&str]| finished(stereopsis(folder, &[words, &model, rest].concat()), 0);
    let json = |words: &[&str], rest: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&with(words, rest).1.stdout).unwrap()
    };
    let live = json(&["live", "--headless", "--json", "--frames", "3"], &scene);
    assert_eq!(live["engine"]["kind"], "model", "{live}");
    assert!(live["stages_ms"]["mirrored model"].as_f64() > Some(0.0), "{live}");
    with(&["record", "-o", "walk.mcap", "--frames", "3"], &scene);
    with(&["recompute", "walk.mcap", "-o", "again.mcap"], &[]);
    let measured = json(&["measure", "again.mcap", "--json"], &[]);
    assert!(measured.to_string().contains("blocks.onnx"), "{measured}");
    let bench = json(&["bench", "--size", "160x96", "--frames", "2", "--json"], &[]);
    assert!(bench.to_string().contains("blocks.onnx"), "{bench}");
    let eval = with(&["eval", "scene"], &["--size", "160x96"]).1;
    assert!(String::from_utf8_lossy(&eval.stdout).contains("blocks.onnx"), "{}", String::from_utf8_lossy(&eval.stdout));
}

#[test]
fn inspect_reports_and_keeps_what_is_described() {
    let folder =
        folder(&BlockMatching { brightness: stereopsis_model::Brightness::Unit, ..BlockMatching::default() }.file());
    let folder = folder.path();
    let text = printed(folder, &["model", "inspect", "blocks.onnx", "--size", "160x96"]);
    assert!(text.contains("brightness = \"0..1\"") && text.contains("licence  MIT"), "{text}");
    let described = folder.join("blocks.toml");
    let wrong = std::fs::read_to_string(&described).unwrap().replace("0..1", "0..255");
    std::fs::write(&described, &wrong).unwrap();
    let said = run(folder, &["model", "inspect", "blocks.onnx", "--size", "160x96"]);
    assert!(said.contains("blocks.toml says something else") && said.contains("--overwrite"), "{said}");
    assert_eq!(std::fs::read_to_string(&described).unwrap(), wrong);
    let about = printed(folder, &["model", "inspect", "blocks.onnx", "--size", "160x96", "--overwrite", "--json"]);
    let about: serde_json::Value = serde_json::from_str(&about).unwrap();
    assert_eq!((&about["description"]["brightness"], &about["is_stereo"]), (&"0..1".into(), &true.into()));
    assert!(std::fs::read_to_string(&described).unwrap().contains("\"0..1\""));
}

#[test]
fn onnx_runtime_gives_the_disparities_of_the_built_in_runtime() {
    let folder = folder(&BlockMatching::default().file());
    let folder = folder.path();
    let words = [
        "compute",
        "pairs/160x96/left0.png",
        "pairs/160x96/right0.png",
        "--settings",
        "sad.toml",
        "--model",
        "blocks.onnx",
    ];
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        let asked = [&words[..], &["-o", "cpu.pfm", "--model-device", "cpu"]].concat();
        refused(folder, &asked, 1, &["ONNX Runtime cannot be loaded", "ORT_DYLIB_PATH", "--model-device built-in"]);
        return eprintln!("only its absence is tested: ORT_DYLIB_PATH is not set");
    }
    for device in ["built-in", "cpu"] {
        run(folder, &[&words[..], &["-o", &format!("{device}.pfm"), "--model-device", device]].concat());
    }
    let [built_in, cpu] = ["built-in.pfm", "cpu.pfm"].map(|name| disparities(&folder.join(name)));
    // sums of floats in another order: some of two equal minima differ
    let equal = built_in.iter().zip(&cpu).filter(|(one, other)| one == other).count();
    assert!(equal * 100 > 98 * cpu.len(), "{equal} of {}", cpu.len());
    let inspected = printed(folder, &["model", "inspect", "blocks.onnx", "--size", "160x96", "--model-device", "cpu"]);
    assert!(inspected.contains("brightness = \"0..255\""), "{inspected}");
    let told = "this ONNX Runtime does not run on cuda";
    refused(folder, &[&words[..], &["-o", "cuda.pfm", "--model-device", "cuda"]].concat(), 1, &[told]);
}

#[test]
fn refuses_what_is_no_model_in_words() {
    let folder = folder(&custom_operator());
    let folder = folder.path();
    let whole = BlockMatching::default().file();
    std::fs::write(folder.join("cut.onnx"), &whole[..whole.len() / 2]).unwrap();
    std::fs::File::create(folder.join("zeros.onnx")).unwrap().set_len(50 << 20).unwrap();
    for (file, words) in [
        ("blocks.onnx", "CostVolume"),
        ("cut.onnx", "is it whole"),
        ("zeros.onnx", "is it whole"),
        ("no.onnx", "no such file"),
    ] {
        refused(folder, &["model", "inspect", file], 1, &[file, words]);
        refused(folder, &["live", "--headless", "--frames", "2", "--model", file], 1, &[file, words]);
    }
    refused(folder, &["live", "--headless", "--engine", "model"], 1, &["--model FILE.onnx"]);
    assert!(!folder.join("blocks.toml").exists());
}
