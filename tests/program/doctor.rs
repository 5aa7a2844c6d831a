//! Runs `stereopsis doctor` on this machine, with deliberate faults.

use super::start::stereopsis;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use stereopsis_capture::emulated::{dress, emulate};

/// Returns the command `doctor` in a home folder without a session.
fn doctor(home: &Path, flags: &[&str]) -> Command {
    let mut command = stereopsis(home, &[&["doctor"], flags].concat());
    command.env("XDG_CACHE_HOME", home.join("cache")).env_remove("XDG_RUNTIME_DIR");
    command.env("USER", "ada-of-the-tests").env("STEREOPSIS_PUBLISH_TOKEN", "a-secret-token");
    command
}

/// Returns the checks of a JSON report as `(area, state, text, todo)`, and whether the program ended with code 1.
fn report(mut command: Command) -> (Vec<(String, String, String, String)>, bool) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|err| panic!("{err}: {said}"));
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    let word = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let read = |check: &Value| (word(check, "area"), word(check, "state"), word(check, "text"), word(check, "todo"));
    let checks: Vec<_> = json["checks"].as_array().unwrap().iter().map(read).collect();
    let is_wrong = checks.iter().any(|(_, state, ..)| state == "wrong");
    assert_eq!(output.status.code(), Some(i32::from(is_wrong)), "{said}");
    assert_eq!(said.contains(" wrong, "), is_wrong, "{said}");
    for (area, state, text, todo) in &checks {
        assert_eq!(todo.is_empty(), state == "ok", "{area}: {text}: what to do is said where something is to do");
        assert!(!text.contains('\n') && !text.is_empty(), "{area}: {text}");
    }
    (checks, is_wrong)
}

#[test]
fn deliberate_faults_are_reported_without_personal_names() {
    let home = tempfile::tempdir().unwrap();
    let settings = home.path().join("stereopsis");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("window.toml"), "theme = \n").unwrap();
    fs::write(settings.join("last-rig.toml"), "[source]\nhight = 3\n").unwrap();
    let mut command = doctor(home.path(), &["--json", "--folder", "gone"]);
    command.env("STEREOPSIS_SIMD", "mmx").env("STEREOPSIS_GPU", "words=3");
    command.env("DISPLAY", ":7654");
    let emulated = emulate(&mut command, &["", "denied", ""]);
    if let Some(folder) = &emulated {
        (0..3).for_each(|i| dress(folder.path(), i));
    }
    let (checks, is_wrong) = report(command);
    assert!(is_wrong);
    let mut expected = vec![
        ("settings", "wrong", "window.toml: the window's settings: TOML parse error at line 1", "delete it"),
        ("settings", "wrong", "unknown field `hight`", "delete it"),
        ("disk", "wrong", "gone takes no files", "--folder"),
        ("environment", "wrong", "STEREOPSIS_SIMD=mmx", "leave it out for the best"),
        ("environment", "wrong", "STEREOPSIS_GPU=words=3", "unset STEREOPSIS_GPU"),
        ("environment", "ok", "STEREOPSIS_PUBLISH_TOKEN is set", ""),
        ("display", "wrong", "DISPLAY=:7654 cannot be reached", "--headless"),
    ];
    if emulated.is_some() {
        expected.push(("camera", "ok", "camera 0: Fake Camera 0, port pci-0000:00:14.0-usb-0:0:1.0", ""));
        expected.push(("camera", "wrong", "camera 1: permission denied for /dev/video1", "usermod"));
    }
    for (area, state, text, todo) in expected {
        let is_there = |check: &&(String, String, String, String)| {
            (check.0.as_str(), check.1.as_str()) == (area, state) && check.2.contains(text) && check.3.contains(todo)
        };
        assert!(checks.iter().any(|check| is_there(&check)), "{area} {state} {text} {todo}: {checks:#?}");
    }
    let all = format!("{checks:?}");
    for personal in [home.path().to_str().unwrap(), "ada-of-the-tests", "a-secret-token"] {
        assert!(!all.contains(personal), "{personal}: {all}");
    }
}

#[test]
#[cfg(unix)]
fn report_leaves_out_a_linked_home_folder_and_a_misspelt_secret() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("data-of-ada"), folder.path().join("home-of-ada"));
    fs::create_dir_all(real.join("stereopsis")).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    fs::write(real.join("stereopsis/window.toml"), "theme = \n").unwrap();
    let mut command = doctor(&link, &["--json", "--folder", "."]);
    command.env("STEREOPSIS_NETWORK_PASSWRD", "a-misspelt-secret");
    command.envs((0..2000).map(|i| (format!("STEREOPSIS_X{i}"), "a-misspelt-secret")));
    let (checks, _) = report(command);
    let of_area = |area: &str| checks.iter().filter(|check| check.0 == area).collect::<Vec<_>>();
    assert!(of_area("settings").iter().any(|check| check.2.starts_with("~/stereopsis/window.toml: ")), "{checks:#?}");
    assert!(of_area("disk").iter().any(|check| check.2.starts_with('~')), "{checks:#?}");
    let told = of_area("environment");
    let named = |check: &&&(String, String, String, String)| check.2.contains("STEREOPSIS_NETWORK_PASSWRD");
    assert!(told.len() == 21 && told.iter().any(|check| named(&check)), "{told:#?}");
    assert!(told[20].2.starts_with("and 19") && told[20].2.ends_with(" more variables"), "{:?}", told[20]);
    let all = format!("{checks:?}");
    for personal in ["of-ada", "a-misspelt-secret"] {
        assert!(!all.contains(personal), "{personal}: {all}");
    }
}

#[test]
fn text_report_has_a_line_for_each_check_and_a_summary() {
    let home = tempfile::tempdir().unwrap();
    let output = doctor(home.path(), &[]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let areas =
        ["program", "system", "processor", "environment", "settings", "disk", "clock", "camera", "gpu", "self-test"];
    for area in areas {
        let is_of_area = |line: &str| line.split_whitespace().nth(1) == Some(area);
        assert!(text.lines().any(is_of_area), "{area} is missing in\n{text}");
    }
    for line in text.lines() {
        let starts = ["ok     ", "note   ", "wrong  ", "                   to do: ", "nothing is wrong, "];
        assert!(starts.iter().any(|start| line.starts_with(start)), "{line:?}");
    }
    assert!(text.contains("the same bits as the plain loops") && text.contains("written and read back"), "{text}");
    assert_eq!(text.contains("\nnothing is wrong, "), output.status.code() == Some(0), "{text}");
    assert!(fs::read_dir(home.path()).unwrap().flatten().all(|entry| entry.file_name() == "cache"), "nothing is left");
}

/// Builds a driver of Vulkan that ends every process which loads it.
#[cfg(target_os = "linux")]
fn crashing_driver(folder: &Path) -> std::path::PathBuf {
    let (source, library) = (folder.join("crash.c"), folder.join("libcrash.so"));
    let manifest = folder.join("crash.json");
    // Rust's handler returns from a signal that came without a fault
    fs::write(&source, "__attribute__((constructor)) static void crash(void) { *(volatile int *)0 = 0; }\n").unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
    assert!(built.success());
    let driver = serde_json::json!({ "library_path": library, "api_version": "1.3.0" });
    fs::write(&manifest, serde_json::json!({ "file_format_version": "1.0.0", "ICD": driver }).to_string()).unwrap();
    manifest
}

#[test]
#[cfg(target_os = "linux")]
fn crashing_driver_is_named_and_the_report_is_complete() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let driver = crashing_driver(folder.path());
    let with_driver = |flags: &[&str]| {
        let mut command = doctor(home.path(), flags);
        command.env("VK_DRIVER_FILES", &driver).env("VK_ICD_FILENAMES", &driver);
        command
    };
    let (checks, is_wrong) = report(with_driver(&["--json"]));
    let gpu: Vec<_> = checks.iter().filter(|(area, ..)| area == "gpu").collect();
    let [(_, state, text, todo)] = gpu[..] else { panic!("{checks:#?}") };
    assert!(is_wrong && state == "wrong" && text.starts_with("a driver ended the process that asked it"), "{text}");
    assert!(todo.contains("update the GPU's driver"), "{todo}");
    let output = with_driver(&[]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("written and read back") && text.contains("wrong  gpu "), "{text}");
}
