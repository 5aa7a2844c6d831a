//! Runs heads with emulated cameras as processes; other processes read them and set their controls.

use super::start::{finished, refused, run, stereopsis};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use stereopsis_capture::emulated::{dress, emulate};
use tempfile::TempDir;

/// Running head or router with its cameras; stopped when dropped.
struct Running {
    child: Child,
    _cameras: Option<TempDir>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a head with two emulated cameras, and waits until it is announced; `None` without a compiler for them.
fn head(home: &Path, words: &str) -> Option<Running> {
    let args: Vec<_> = words.split(' ').collect();
    let mut command = stereopsis(home, &args);
    let cameras = emulate(&mut command, &["controls=1", "controls=1"])?;
    (0..2).for_each(|i| dress(cameras.path(), i));
    Some(announced(command, Some(cameras)))
}

/// Starts a head or a router, and waits until it is announced.
fn announced(mut command: Command, cameras: Option<TempDir>) -> Running {
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut said = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    while ![" is at tcp/", "router at tcp/"].iter().any(|words| said.contains(words)) {
        let read = lines.read_line(&mut said).unwrap();
        assert!(read > 0, "it ended: {said}");
    }
    // later output is read too: a full pipe would stop the process
    let drain = move || drop(std::io::copy(&mut lines, &mut std::io::sink()));
    std::thread::Builder::new().name("drain".into()).spawn(drain).unwrap();
    Running { child, _cameras: cameras }
}

fn free() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn a_head_gives_the_pictures_of_its_cameras_and_sets_their_controls() {
    let (home, at) = (tempfile::tempdir().unwrap(), free());
    let home = home.path();
    let words = format!("head --name pi --source webcam:0,1 --size 320x240 --format mjpeg --p1 7 --listen tcp/{at}");
    let Some(_head) = head(home, &words) else { return };
    let (source, router) = (format!("zenoh:pi@{at}"), format!("tcp/{at}"));
    run(home, &["record", "--source", &source, "--streams", "raw", "--frames", "5", "-o", "raw.mcap"]);
    run(home, &["export", "raw.mcap", "--what", "left,right", "--to", "pictures"]);
    let set = |words: &[&str], code| {
        finished(stereopsis(home, &[&["net", "pi", "--connect", &router], words].concat()), code)
    };
    let (said, output) = set(&["exposure_ms=8", "gain=9", "p1=5"], 0);
    assert!(String::from_utf8_lossy(&output.stdout).contains("p1 = 5"), "{said}");
    let (said, _) = set(&["exposure_ms=500"], 1);
    assert!(said.contains("camera 0: exposure is 204.7 ms instead of 500 ms"), "{said}");
    refused(home, &["net", "pi", "--connect", &router, "p1=many"], 1, &["many"]);
}

#[test]
fn two_heads_of_one_camera_each_are_one_source() {
    let (home, at) = (tempfile::tempdir().unwrap(), free());
    let home = home.path();
    let left = format!("head --name here --eye left --source webcam:0 --size 320x240 --listen tcp/{at}");
    let Some(_left) = head(home, &left) else { return };
    let right = format!("head --name there --eye right --source webcam:1 --size 320x240 --connect tcp/{at}");
    let _right = head(home, &right).unwrap();
    let source = format!("zenoh:here,there@{at}");
    run(home, &["record", "--source", &source, "--streams", "raw", "--frames", "3", "-o", "raw.mcap"]);
    run(home, &["export", "raw.mcap", "--what", "left,right", "--to", "pictures"]);
    for side in ["left", "right"] {
        let ending = format!("_{side}.png");
        let files = fs::read_dir(home.join("pictures")).unwrap().map(|file| file.unwrap().path());
        let file = files.filter(|path| path.to_string_lossy().ends_with(&ending)).min().expect(side);
        assert_eq!(image::image_dimensions(&file).unwrap(), (320, 240), "one view, not the half of one");
    }
    refused(
        home,
        &["live", "--headless", "--source", "zenoh:here@nowhere:port"],
        2,
        &["'nowhere:port': expected tcp/HOST:PORT"],
    );
    let alone = format!("zenoh:there@{at}");
    refused(home, &["live", "--headless", "--frames", "1", "--source", &alone], 1, &["has the right camera alone"]);
    let exchanged = format!("zenoh:there,here@{at}");
    refused(
        home,
        &["live", "--headless", "--frames", "1", "--source", &exchanged],
        1,
        &["name the head of the left camera first"],
    );
    let calibrated = ["head", "--name", "x", "--eye", "left", "--source", "scene", "--rectify", "off"];
    refused(home, &calibrated, 2, &["not with --eye"]);
}

#[test]
fn silent_connections_do_not_lock_others_out() {
    let (home, at) = (tempfile::tempdir().unwrap(), free());
    let home = home.path();
    let router = format!("tcp/{at}");
    let with_password = |args: &[&str]| {
        let mut command = stereopsis(home, args);
        command.env("STEREOPSIS_NETWORK_PASSWORD", "correct-horse");
        command
    };
    let _router = announced(with_password(&["router", "--listen", &router]), None);
    for count in [120, 300] {
        let mut silent: Vec<_> = (0..count).map(|_| TcpStream::connect(&at).unwrap()).collect();
        finished(with_password(&["net", "--connect", &router]), 0);
        let first = &mut silent[0];
        first.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        assert!(matches!(first.read(&mut [0]), Ok(0)), "it was not dropped");
    }
}

#[test]
fn a_lost_router_is_not_taken_for_an_empty_network() {
    let (home, at) = (tempfile::tempdir().unwrap(), format!("tcp/{}", free()));
    let router = announced(stereopsis(home.path(), &["router", "--listen", &at]), None);
    let mut watch = stereopsis(home.path(), &["net", "--watch", "--connect", &at]);
    let mut child = watch.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let _watch = Running { child, _cameras: None };
    assert!(lines.any(|line| line.starts_with("router ")));
    drop(router);
    let said = lines.find(|line| line.contains("no router") || line.contains("is lost")).unwrap();
    assert_eq!(said, format!("the connection to the router at {at} is lost"));
}

#[test]
fn invalid_names_are_refused_before_a_router_is_searched() {
    let home = tempfile::tempdir().unwrap();
    for (flag, name) in [("--name", "a/b"), ("--only", ".."), ("--name", "")] {
        let args = ["engine", flag, name, "--engine", "cpu", "--connect", "tcp/127.0.0.1:1"];
        refused(home.path(), &args, 2, &[flag, "1 to 64 letters"]);
    }
}
