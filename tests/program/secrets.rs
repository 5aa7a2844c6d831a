//! Secrets of network cameras in all that the program prints and writes, with a stand-in for `ffmpeg`, which repeats its arguments.

use super::start::stereopsis;
use std::path::Path;
use std::process::{Command, Stdio};

const SECRET: &str = "S3cretWord";
/// Sources with the secret in place of `~`, and whether they can be opened.
const SOURCES: [(&str, bool); 26] = [
    ("http://user:~@cam/x", true),
    ("http://:~@cam/x", true),
    ("http://~@cam/x", true),
    ("http://u:~@b@cam/x", true),
    ("http://u:a:~@cam/x", true),
    ("http://u:~/b@cam/x", true),
    ("http://u:~,b@cam/clip.mp4", true),
    ("http://u:~@cam:80/x?token=~", true),
    ("http://u:~?#b@cam/x", true),
    ("http://u:~ x@cam/x", true),
    ("rtsp://user:~@/x", true),
    ("http://cam/x?user=admin&password=~", true),
    ("http://cam/user=admin&password=~&channel=1&stream=0.sdp?", true),
    ("rtsp://cam:554/user=admin_password=~", true),
    ("http://cam/x?token=~", true),
    ("http://cam/x;accessToken=~", true),
    ("http://cam/auth/~", true),
    ("http://cam/x?pass%77ord=~", true),
    ("http://cam/x%3Fapi_key%3D~", true),
    ("srt://cam:9000?passphrase=~&pbkeylen=16", true),
    ("http://cam/x#~", true),
    ("http://proxy/?url=rtsp%3A%2F%2Fu%3A~%40cam", true),
    ("http://u:~@cam/x,http://cam/y?pwd=~", true),
    ("rtmps://user:~@cam/x", false),
    ("user:~@cam/x", false),
    ("ftp://~@cam/x", false),
];

/// Writes a program that prints its arguments and the secret in two encodings, and ends, or writes frames of 64x32 px. Another process writes it, since a file that is
/// open for writing cannot be executed.
fn stand_in(folder: &Path) {
    let script = r#"#!/bin/sh
echo "401: 'S3cretWord', S3cret%57ord, $*" >&2
[ -e fails ] && exit 1
printf 'YUV4MPEG2 W64 H32 F30:1 Ip C420jpeg\n'
while echo FRAME && head -c 3072 /dev/zero; do sleep 0.02; done
"#;
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat >ffmpeg && chmod 755 ffmpeg"]).current_dir(folder).stdin(Stdio::piped());
    let mut writer = shell.spawn().unwrap();
    std::io::Write::write_all(&mut writer.stdin.take().unwrap(), script.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
}

/// Runs the program on a source; returns all that it printed and recorded.
fn all_of(folder: &Path, args: &[&str], is_opened: bool) -> String {
    let path = std::env::join_paths(
        [folder.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut command = stereopsis(folder, args);
    let output = command.env("PATH", path.unwrap()).env("RUST_LOG", "debug").output().unwrap();
    let mut all = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert_eq!(output.status.success(), is_opened, "{args:?}: {all}");
    let recording = folder.join("a.mcap");
    if let Ok(bytes) = std::fs::read(&recording) {
        all += &String::from_utf8_lossy(&bytes);
        assert!(all.contains("\"source\":") && all.contains("***"), "{args:?}: the recording names its source");
        std::fs::remove_file(&recording).unwrap();
    }
    all
}

#[test]
fn secrets_of_network_cameras_are_never_printed_or_recorded() {
    let check = |sources: &[(&str, bool)]| {
        let folder = tempfile::tempdir().unwrap();
        stand_in(folder.path());
        for (source, is_opened) in sources {
            let source = source.replace('~', SECRET);
            let fast = ["--engine", "cpu", "--num-disparities", "16", "--frames", "2", "--json"];
            let record = [
                &["record", "--source", &source, "--streams", "raw", "--compression", "none", "-o", "a.mcap"],
                &fast[..],
            ];
            let live = [&["live", "--headless", "--source", &source], &fast[..]];
            let shown = |args: &[&str], is_opened: bool| {
                let all = all_of(folder.path(), args, is_opened);
                assert!(!all.contains("S3cret") && all.contains("***"), "{source}: {all}");
                all
            };
            shown(&record.concat(), *is_opened);
            shown(&live.concat(), *is_opened);
            let fails = folder.path().join("fails");
            std::fs::write(&fails, "").unwrap();
            let said = shown(&live.concat(), false);
            assert_eq!(said.contains("401: '***', ***"), *is_opened, "{source}: {said}");
            std::fs::remove_file(&fails).unwrap();
        }
    };
    // four at a time
    std::thread::scope(|scope| {
        for part in SOURCES.chunks(SOURCES.len().div_ceil(4)) {
            scope.spawn(move || check(part));
        }
    });
}

#[test]
fn wrong_command_lines_are_repeated_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let address = "http://user:S3cretWord@cam/x?token=S3cretWord";
    for args in [
        &["live", "--size", address][..],
        &["doctor", address],
        &["play", address],
        &["live", &format!("--rate={address}")],
        &["live", "--calibration", "user:S3cretWord@cam/rig.yml"],
        &["compute", address, "S3cretWord@cam:S3cretWord@x", "-o", "a.pfm", "--truth", address],
        &["live", "--rig", "rig.toml"],
    ] {
        std::fs::write(folder.path().join("rig.toml"), format!("[source]\nboth = \"{address}\" 3\n")).unwrap();
        let output = stereopsis(folder.path(), args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && !said.contains("S3cret") && said.contains("***"), "{args:?}: {said}");
    }
}
