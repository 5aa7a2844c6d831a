//! Attacks on every entry point by the stored inputs of `fuzz/seeds`, also with random damage; see `fuzz/README.md`.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may fail")]

mod mutate;
mod seeds;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use stereopsis_attack::{ALL, Target};

/// Number of damaged inputs per target, unless the environment variable of this name overrides it.
const ATTACK_INPUTS: usize = 400;

fn folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(target.name)
}

/// Returns the stored inputs of a target, valid ones and earlier failures.
fn kept(target: &Target) -> Vec<Vec<u8>> {
    let folder = folder(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|err| panic!("{}: {err}", folder.display()));
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Runs a target, and stores a failing input beside the build.
fn attack(target: &Target, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(input))) {
        let path = std::env::current_exe().unwrap().with_file_name(format!("broke-{}", target.name));
        std::fs::write(&path, input).unwrap();
        eprintln!("this input broke {}: {}; once mended, keep it in fuzz/seeds", target.name, path.display());
        resume_unwind(panic);
    }
}

fn attack_all(names: &[&str]) {
    let wanted = std::env::var("ATTACK_INPUTS").map_or(ATTACK_INPUTS, |text| text.parse().expect("a number"));
    for target in ALL.iter().filter(|target| names.contains(&target.name)) {
        let seeds = kept(target);
        for seed in &seeds {
            attack(target, seed);
        }
        let mut rng = fastrand::Rng::with_seed(wanted as u64);
        for _ in 0..wanted {
            attack(target, &mutate::mutated(&mut rng, &seeds));
        }
        eprintln!("{}: {} kept inputs and {wanted} damaged ones", target.name, seeds.len());
    }
}

const CALIBRATIONS: [&str; 8] = ["archive", "kalibr", "middlebury", "opencv_xml", "opencv_yaml", "ros", "toml", "zed"];
const RECORDINGS: [&str; 4] = ["message", "parts", "pipe", "recording"];
const PICTURES: [&str; 6] = ["both", "camera", "pfm", "picture", "views", "y4m"];
const WORDS: [&str; 7] = ["board", "journal", "model", "parameters", "rig", "settings", "source"];
const CLIENTS: &[&str] = &["network", "request", "request_head"];

#[test]
fn calibration_files_are_answered() {
    attack_all(&CALIBRATIONS);
}

#[test]
fn recordings_are_answered() {
    attack_all(&RECORDINGS);
}

#[test]
fn pictures_are_answered() {
    attack_all(&PICTURES);
}

#[test]
fn words_are_answered() {
    attack_all(&WORDS);
}

#[test]
fn clients_are_answered() {
    attack_all(CLIENTS);
}

#[test]
fn every_target_is_attacked_and_has_small_seeds() {
    let attacked = [&CALIBRATIONS[..], &RECORDINGS, &PICTURES, &WORDS, CLIENTS].concat();
    for target in ALL {
        assert!(attacked.contains(&target.name), "{}", target.name);
        let seeds = kept(target);
        assert!(!seeds.is_empty() && seeds.iter().all(|seed| seed.len() <= 16 << 10), "{}", target.name);
    }
    assert_eq!(attacked.len(), ALL.len());
}

/// Writes the generated seeds and leaves those written by hand.
#[test]
#[ignore = "writes to fuzz/seeds; after a change of what the program writes"]
fn make_seeds() {
    for target in ALL {
        std::fs::create_dir_all(folder(target)).unwrap();
        for (name, bytes) in seeds::of(target.name) {
            std::fs::write(folder(target).join(name), bytes).unwrap();
        }
    }
}
