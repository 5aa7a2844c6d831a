//! Checks that files of earlier versions still open with the same content.

use crate::recording::run;
use std::path::{Path, PathBuf};

/// Returns the path of a file that was written at commit ecdb518.
fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ecdb518").join(name);
    path.into_os_string().into_string().unwrap()
}

/// Computes FNV-1a of 64 bits.
fn checksum(path: &Path) -> u64 {
    let bytes = std::fs::read(path).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Checksums of the disparities of the three pairs, as that version exported them.
const DISPARITIES: [u64; 3] = [0x439e_6beb_697b_2720, 0x1429_5287_de68_8300, 0x8160_2815_dbb6_32d5];

fn disparities(folder: &Path) -> [u64; 3] {
    [0, 1, 2].map(|k| checksum(&folder.join(format!("{k:06}_disp.pfm"))))
}

#[test]
fn recordings_give_the_same_numbers_and_times() {
    let ros2 = ["1795354180815815262", "1795354180850475745", "1795354180882641972"];
    let foxglove = ["1795354180947135057", "1795354180980641715", "1795354181013954913"];
    for (name, times) in [("ros2.mcap", ros2), ("foxglove.mcap", foxglove)] {
        let folder = tempfile::tempdir().unwrap();
        let out: PathBuf = folder.path().join("out");
        run(folder.path(), &["export", &fixture(name), "--to", "out"]);
        assert_eq!(disparities(&out), DISPARITIES, "{name}");
        let table = std::fs::read_to_string(out.join("frames.csv")).unwrap();
        for time in times {
            assert!(table.contains(time), "{name}: {time} is not in {table}");
        }
        // matched again with the same parameters, all that existed, in that version's words
        let matching = ["--num-disparities", "32", "--weighted-median", "off", "--subpixel", "on", "--engine", "cpu"];
        let again = [&["-o", "again.mcap", "--streams", "raw,disparity"], &matching[..]].concat();
        run(folder.path(), &[&["recompute", &fixture(name)], &again[..]].concat());
        run(folder.path(), &["export", "again.mcap", "--to", "again"]);
        assert_eq!(disparities(&folder.path().join("again")), DISPARITIES, "{name}");
        let said = run(folder.path(), &["live", "--headless", "--speed", "max", "--engine", "cpu", &fixture(name)]);
        assert!(said.contains("3 pairs came, 3 matched"), "{name}: {said}");
    }
}

#[test]
fn calibrations_are_the_same_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["calibration", "convert", &fixture("calibration.toml"), "-o", "again.toml"]);
    let table = |path: &Path| std::fs::read_to_string(path).unwrap().parse::<toml::Table>().unwrap();
    let again = table(&folder.path().join("again.toml"));
    for (key, value) in &table(Path::new(&fixture("calibration.toml"))) {
        assert_eq!(again.get(key), Some(value), "{key}");
    }
}
