//! Tests of writing files: replacement, modes, links and errors.

use super::*;

fn text<T>(result: Result<T, WriteError>) -> String {
    result.err().unwrap().to_string()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    write(&path, b"first").unwrap();
    write(&path, b"second").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
    assert_eq!(names(folder.path()), ["a.bin"]);
    let said = text(write_new(&path, b"third"));
    assert!(said.contains("it exists and is not replaced"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), b"second");
}

#[test]
fn errors_name_their_cause() {
    let folder = tempfile::tempdir().unwrap();
    let said = text(write(&folder.path().join("none/a.bin"), b"x"));
    assert!(said.contains("a.bin") && said.contains("does not exist"), "{said}");
    let said = text(write(folder.path(), b"x"));
    assert!(said.contains("it is a folder"), "{said}");
    fs::write(folder.path().join("file"), b"").unwrap();
    let said = text(write(&folder.path().join("file/a.bin"), b"x"));
    assert!(said.contains("is not a folder"), "{said}");
    let said = text(make_folder(&folder.path().join("file")));
    assert!(said.contains("it is a file"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_mode_and_a_protected_one_stays() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::write(folder.path().join("usual"), b"").unwrap();
    write(&path, b"new").unwrap();
    assert_eq!(mode(&path), mode(&folder.path().join("usual")), "a new file has the user's usual mode");
    for wanted in [0o600, 0o664, 0o755] {
        fs::set_permissions(&path, fs::Permissions::from_mode(wanted)).unwrap();
        write(&path, b"again").unwrap();
        assert_eq!(mode(&path), wanted);
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let said = text(write(&path, b"lost"));
    assert!(said.contains("write-protected"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), b"again");
}

#[cfg(unix)]
#[test]
fn links_keep_their_target_and_dangling_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link, dangling) =
        (folder.path().join("file"), folder.path().join("link"), folder.path().join("dangling"));
    fs::write(&file, b"old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    std::os::unix::fs::symlink(folder.path().join("gone"), &dangling).unwrap();
    write(&link, b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    for result in [write(&dangling, b"x"), write_new(&dangling, b"x")] {
        let said = text(result);
        assert!(said.contains("dangling"), "{said}");
    }
    assert!(fs::symlink_metadata(&dangling).unwrap().is_symlink());
    assert_eq!(names(folder.path()), ["dangling", "file", "link"]);
}

#[test]
fn rename_new_refuses_existing_names() {
    let folder = tempfile::tempdir().unwrap();
    let (part, done) = (folder.path().join("a.part"), folder.path().join("a"));
    fs::write(&part, b"new").unwrap();
    fs::write(&done, b"old").unwrap();
    assert_eq!(rename_new(&part, &done).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!((fs::read(&part).unwrap(), fs::read(&done).unwrap()), (b"new".to_vec(), b"old".to_vec()));
    fs::remove_file(&done).unwrap();
    rename_new(&part, &done).unwrap();
    assert_eq!(names(folder.path()), ["a"]);
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_named_and_a_device_is_not_replaced() {
    let said = text(write(Path::new("/dev/full"), b"x"));
    assert!(said.contains("the disk is full"), "{said}");
    assert!(!fs::metadata("/dev/full").unwrap().is_file());
}

#[cfg(unix)]
#[test]
fn files_of_the_program_are_never_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("state");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let new = NewFolder::new(&pipe, &folder.path().join("folder"));
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    // opening a pipe waits for its reader, so that a failure of this test must not wait for the thread
    let write = move || sender.send([text(write_synced(&pipe, b"x")), text(new.finish(b"x", &|_| false))]);
    let _thread = std::thread::Builder::new().name("writes a pipe".into()).spawn(write).unwrap();
    let said = receiver.recv_timeout(std::time::Duration::from_secs(20)).expect("nothing waits");
    assert!(said.iter().all(|said| said.contains("it is a pipe") && said.contains("remove it")), "{said:?}");
    assert_eq!(names(folder.path()), ["state"]);
}
