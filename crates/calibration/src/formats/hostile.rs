//! Tests with calibration files made to exhaust memory or time, or to control a terminal.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use flate2::write::GzEncoder;
use std::io::Write as _;

fn refused(text: &str) -> String {
    read(&[("rig.yaml".into(), text.as_bytes().to_vec())], &LoadOptions::default()).unwrap_err().to_string()
}

#[test]
fn nested_names_are_limited_before_they_are_joined() {
    // the name of each value would contain the names of all groups above it
    let many = |count: usize| (0..count).map(|k| format!("k{k}: 1, ")).collect::<Vec<_>>().concat();
    let groups = (0..20).map(|k| format!("g{k}: {{{}}}\n", many(1500))).collect::<Vec<_>>().concat();
    assert!(refused(&groups).contains("more than 20000 values"), "{}", refused(&groups));
    let section = format!("[LEFT_CAM_HD]\n[{}]\n{}", "s".repeat(2_000_000), "a=1\n".repeat(400_000));
    assert!(refused(&section).contains("is too long"), "{}", refused(&section));
    let lines = (0..100_000).map(|k| format!("a{k}=1\n")).collect::<Vec<_>>().concat();
    assert!(refused(&format!("[LEFT_CAM_HD]\n{lines}")).contains("more than any such file has"));
}

#[test]
fn file_text_cannot_control_a_terminal() {
    let steers = "\"\\u001b[2J\\u001b]0;owned\\u0007\"";
    for text in [
        format!("{steers}: 1\n{steers}: 2\n"),
        format!("{steers}: [1, 2]\n"),
        format!("cam0: {{camera_model: {steers}, intrinsics: [1, 1, 1, 1]}}\ncam1: {{}}\n"),
        format!("K1: [[1, 2], [3, 4]]\nD1: [1]\nfile: {steers}\n"),
        "cam0=[\u{1b}[2J]\ncam1=1\n".to_owned(),
        "[LEFT_CAM_HD]\nfx=\u{1b}[2J\n".to_owned(),
        "<a\u{1b}>1</a\u{1b}>".to_owned(),
    ] {
        let said = refused(&text);
        assert!(!said.contains('\u{1b}') && said.len() > 40, "{said:?}");
    }
}

/// Returns a compressed tar file with one entry of this kind, filled with zeros.
fn packed(kind: u8, name: &str, size: u64) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_path(name).unwrap();
    header.set_size(size);
    header.set_entry_type(tar::EntryType::new(kind));
    header.set_cksum();
    let mut writer = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    (0..size >> 20).for_each(|_| writer.write_all(&zeros).unwrap());
    writer.finish().unwrap()
}

#[test]
fn archives_are_not_unpacked_into_memory() {
    let files = |bytes| [(PathBuf::from("a.tar.gz"), bytes)];
    let refused = |bytes| read(&files(bytes), &LoadOptions::default()).unwrap_err().to_string();
    // L: the next name, of any length
    let text = refused(packed(b'L', "././@LongLink", 40 << 20));
    assert!(text.contains("without left.yaml and right.yaml"), "{text}");
    let text = refused(packed(b'0', "left.yaml", 40 << 20));
    assert!(text.contains("left.yaml has 41943040 bytes, more than any calibration"), "{text}");
}

#[cfg(unix)]
#[test]
fn only_plain_files_of_some_bytes_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rig.yaml");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let options = LoadOptions::default();
    let refused = |path: &Path| load(&[path.to_owned()], &options).unwrap_err().to_string();
    assert!(refused(&path).contains("rig.yaml: it is a pipe"), "{}", refused(&path));
    assert!(refused(Path::new("/dev/zero")).contains("a device"));
    for start in [&b"cam0: 1\n"[..], &archive::MAGIC] {
        let path = folder.path().join("holes");
        std::fs::write(&path, start).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(200 << 30).unwrap();
        assert!(refused(&path).contains("it has 214748364800 bytes, more than"), "{}", refused(&path));
    }
}
