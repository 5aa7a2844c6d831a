//! Checks that outputs never overwrite a user's files, and that a closed or full standard output never decides about success.

use super::start::{in_folder, stereopsis};
use std::fs;
use std::path::Path;
use std::process::Command;

const MATCHING: [&str; 4] = ["--num-disparities", "16", "--engine", "cpu"];

/// Returns the exit code and the text of standard error.
fn end(mut command: Command) -> (i32, String) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{command:?}: {said}");
    (output.status.code().unwrap(), said)
}

fn pairs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    fs::create_dir(folder.path().join("many")).unwrap();
    for name in ["left.png", "right.png", "many/left0.png", "many/right0.png", "many/left1.png", "many/right1.png"] {
        let image = image::GrayImage::from_fn(40, 20, |_, _| image::Luma([random.u8(..)]));
        image.save(folder.path().join(name)).unwrap();
    }
    folder
}

fn all(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(all(&entry));
        } else {
            found.push((entry.display().to_string(), fs::read(&entry).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

#[test]
fn no_output_replaces_what_is_read() {
    let folder = pairs();
    let at = |name: &str| folder.path().join(name);
    fs::hard_link(at("left.png"), at("hard.png")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(at("right.png"), at("soft.png")).unwrap();
    let before = all(folder.path());
    let pair = ["compute", "left.png", "right.png", "--num-disparities", "16", "--engine", "cpu"];
    let many = ["compute", "many", "--num-disparities", "16", "--engine", "cpu", "--format", "png"];
    let cases: [(&[&str], &[&str]); 11] = [
        (&many, &["-o", "many"]),
        (&many, &["-o", "many", "--overwrite"]),
        (&pair, &["-o", "left.png"]),
        (&pair, &["-o", "many/../right.png"]),
        (&pair, &["-o", "hard.png"]),
        (&pair, &["-o", "soft.png"]),
        (&pair, &["-o", "new.pfm", "--color", "right.png"]),
        (&pair, &["-o", "new.pfm", "--right-map", "left.png"]),
        (&pair, &["-o", "new.pfm", "--confidence-map", "left.png"]),
        (&["left.png", "right.png", "--frames", "1", "--engine", "cpu"], &["--preview", "left.png"]),
        (&["bench", "many", "--frames", "1", "--engine", "cpu"], &["--write-pairs", "."]),
    ];
    for (command, outputs) in cases {
        if outputs.contains(&"--write-pairs") {
            // the name of the folder is the size
            fs::create_dir(at("40x20")).unwrap();
            fs::rename(at("many/left0.png"), at("40x20/left0.png")).unwrap();
            fs::rename(at("many/right0.png"), at("40x20/right0.png")).unwrap();
            let kept = all(folder.path());
            let (code, said) =
                end(stereopsis(folder.path(), &["bench", "40x20", "--frames", "1", "--write-pairs", "."]));
            assert!(code == 1 && said.contains("is read by this run"), "{said}");
            assert!(all(folder.path()) == kept);
            continue;
        }
        let (code, said) = end(stereopsis(folder.path(), &[command, outputs].concat()));
        assert!(code == 1 && said.contains("is read by this run and is not overwritten"), "{outputs:?}: {said}");
        assert!(all(folder.path()) == before, "{outputs:?} left something else");
    }
}

#[test]
fn errors_are_printed_once() {
    let folder = pairs();
    let (code, said) =
        end(stereopsis(folder.path(), &[&["compute", "many", "-o", "left.png"], &MATCHING[..]].concat()));
    assert_eq!(
        (code, said.as_str()),
        (1, "stereopsis: cannot write left.png: it is a file; give the name of a folder\n")
    );
}

#[test]
fn results_in_a_folder_are_replaced_only_on_request() {
    let folder = pairs();
    let results = folder.path().join("results");
    let args = [&["compute", "many", "-o", "results"], &MATCHING[..]].concat();
    assert_eq!(end(stereopsis(folder.path(), &args)).0, 0);
    fs::write(results.join("left1.pfm"), "mine").unwrap();
    let (code, said) = end(stereopsis(folder.path(), &args));
    assert!(code == 1 && said.contains("left0.pfm exists") && said.contains("--overwrite"), "{said}");
    assert_eq!(fs::read(results.join("left1.pfm")).unwrap(), b"mine");
    assert_eq!(end(stereopsis(folder.path(), &[&args[..], &["--overwrite"]].concat())).0, 0);
    assert!(fs::read(results.join("left1.pfm")).unwrap().starts_with(b"Pf"));
    // two results of one run never get the same name
    let twice = [&args[..], &["--overwrite", "--format", "png", "--color", "results"]].concat();
    let (code, said) = end(stereopsis(folder.path(), &twice));
    assert!(code == 1 && said.contains("two outputs of this run are"), "{said}");
}

#[test]
fn existing_files_are_replaced_only_on_request() {
    let folder = pairs();
    let rig = Path::new(env!("CARGO_MANIFEST_DIR")).join("calibration/example-rig.yml");
    fs::copy(rig, folder.path().join("rig.yml")).unwrap();
    let pair = &["left.png", "right.png", "--num-disparities", "16", "--engine", "cpu"][..];
    let lens = &["--fov-deg", "70", "--baseline-m", "0.1"][..];
    let scene = &["--size", "160x120", "--frames", "1", "--num-disparities", "16", "--engine", "cpu"][..];
    let compute = |more: &[&'static str]| [&["compute"], pair, lens, more].concat();
    let cases = [
        compute(&["-o", "out.pfm"]),
        compute(&["-o", "new1.pfm", "--color", "out.png"]),
        compute(&["-o", "new2.pfm", "--depth", "out.png"]),
        compute(&["-o", "new3.pfm", "--right-map", "out.pfm"]),
        compute(&["-o", "new4.pfm", "--confidence-map", "out.png"]),
        [&["live", "--headless", "--preview", "out.png"], scene].concat(),
        [&["measure", "--csv", "out.csv"], scene].concat(),
        [&["eval", "--csv", "out.csv"], scene].concat(),
        [&["optimize", "-o", "out.toml", "--trials", "1"], &scene[..2], &scene[4..]].concat(),
        [&["optimize", "-o", "new.toml", "--plot", "out.svg", "--trials", "1"], &scene[..2], &scene[4..]].concat(),
        [&["plan", "--size", "640x480", "--plot", "out.svg"], lens].concat(),
        vec!["calibration", "convert", "rig.yml", "-o", "out.toml"],
        vec!["calibrate", "--print-board", "out.pdf"],
    ];
    for args in cases {
        let path = folder.path().join(args.iter().find(|word| word.starts_with("out.")).unwrap());
        fs::write(&path, "mine").unwrap();
        let (code, said) = end(stereopsis(folder.path(), &args));
        assert!(code == 1 && said.contains("exists and is not overwritten; name another output"), "{args:?}: {said}");
        assert_eq!((fs::read(&path).unwrap(), said.matches("exists").count()), (b"mine".to_vec(), 1), "{said}");
        let (_, said) = end(stereopsis(folder.path(), &[&args[..], &["--overwrite"]].concat()));
        assert_ne!(fs::read(&path).unwrap(), b"mine", "{args:?}: {said}");
    }
}

#[test]
fn a_converted_calibration_is_not_written_over_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = fs::read_dir(root.join("calibration")).unwrap().map(|entry| entry.unwrap().path());
    let example = example.filter(|path| path.extension().is_some_and(|e| e != "md")).min().unwrap();
    let name = example.file_name().unwrap().to_str().unwrap().to_owned();
    fs::copy(&example, folder.path().join(&name)).unwrap();
    let before = all(folder.path());
    for force in ["--overwrite", "--force"] {
        let (code, said) = end(stereopsis(folder.path(), &["calibration", "convert", &name, "-o", &name, force]));
        assert!(code == 1 && said.contains("is read by this run"), "{said}");
    }
    assert!(all(folder.path()) == before);
}

/// Runs a line of shell in which `$0` is the program.
#[cfg(target_os = "linux")]
fn shell(folder: &Path, line: &str) -> (i32, String) {
    let mut command = Command::new("bash");
    command.args(["-c", line, env!("CARGO_BIN_EXE_stereopsis")]);
    end(in_folder(folder, command))
}

#[cfg(target_os = "linux")]
#[test]
fn closed_output_ends_no_command() {
    let folder = pairs();
    for nobody in ["2>/dev/full", "2>&-", "2> >(true)"] {
        fs::remove_file(folder.path().join("out.pfm")).unwrap_or_default();
        fs::remove_file(folder.path().join("out.mcap")).unwrap_or_default();
        let compute =
            format!("\"$0\" compute left.png right.png -o out.pfm --num-disparities 16 --engine cpu {nobody}");
        assert_eq!(shell(folder.path(), &compute).0, 0, "{nobody}");
        assert!(folder.path().join("out.pfm").exists());
        let record = format!(
            "\"$0\" record --source scene --size 64x48 --frames 3 --rate max --lossless --engine cpu --num-disparities 16 \
             -o out.mcap {nobody}"
        );
        assert_eq!(shell(folder.path(), &record).0, 0, "{nobody}");
        let recording = stereopsis::inside::Recording::open(&folder.path().join("out.mcap")).unwrap();
        assert_eq!((recording.damage(), recording.pairs().len()), (None, 3), "{nobody}");
        // a wrong word is an error in any case
        assert_eq!(
            shell(folder.path(), &format!("\"$0\" compute left.png gone.png -o x.pfm {nobody}")).0,
            2,
            "{nobody}"
        );
        assert_eq!(shell(folder.path(), &format!("\"$0\" compute --nonsense {nobody}")).0, 2, "{nobody}");
    }
    // all output goes through a pipe of which one line is read
    let (_, said) = shell(folder.path(), "\"$0\" live left.png right.png --frames 2 --engine cpu 2>&1 | head -1 >&2");
    assert!(!said.contains("panicked") && said.lines().count() == 1, "{said}");
}
