//! Runs `--publish` like a user.

use super::start::{in_folder, stereopsis};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket};

#[test]
fn publish_prints_its_address_or_the_reason_for_none() {
    let folder = tempfile::tempdir().unwrap();
    let run_with = |publish: &[&str], token: &str| {
        let args = ["live", "--headless", "--frames", "3", "--size", "64x48", "--engine", "cpu", "--publish"];
        let mut command = stereopsis(folder.path(), &[&args, publish].concat());
        let output = command.env("STEREOPSIS_PUBLISH_TOKEN", token).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let run = |publish: &str| run_with(&[publish], "");
    let (code, said) = run("foxglove=:0");
    assert!(code == Some(0) && said.contains("foxglove: ws://127.0.0.1:") && !said.contains("token"), "{said}");
    let (code, said) = run("foxglove=0.0.0.0:0");
    let link = said.lines().find(|line| line.contains("ws://")).unwrap();
    let token: String = link.split("/?token=").nth(1).unwrap().chars().take_while(|c| *c != ' ').collect();
    assert!(code == Some(0) && token.len() == 32 && !link.contains("0.0.0.0"), "{said}");
    assert!(said.contains("everyone who has this link can watch and change parameters"), "{said}");
    let (code, said) =
        run_with(&["foxglove=:0", "--publish-allow-origin", "http://a.example"], "one-that-I-have-chosen");
    assert!(code == Some(0) && said.contains("/?token=one-that-I-have-chosen "), "{said}");
    let (code, said) = run_with(&["foxglove=:0"], "short");
    assert!(code == Some(1) && said.contains("STEREOPSIS_PUBLISH_TOKEN") && said.contains("16 to 128"), "{said}");
    let (code, said) = run_with(&["foxglove=:0", "--publish-allow-origin", "*"], "");
    assert!(code == Some(2) && said.contains("'*': expected an origin"), "{said}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let (code, said) = run(&format!("foxglove={address}"));
    assert!(code == Some(1) && said.contains(&address.to_string()) && said.contains("the port is taken"), "{said}");
    let (code, said) = run("ros");
    assert!(code == Some(2) && said.contains("expected foxglove"), "{said}");
}

/// Opens a connection with an incomplete request.
fn begin(here: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(here).unwrap();
    // the server may hang up at once
    let _ = stream.write_all(b"GET /");
    stream
}

fn connect(here: SocketAddr) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(here).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut request = format!("ws://{here}/").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("foxglove.sdk.v1"));
    tungstenite::client::client(request, stream).unwrap().0
}

/// Whether the server answers the client's request for this parameter with its value.
fn answers(client: &mut WebSocket<TcpStream>) -> bool {
    let request = r#"{"op":"getParameters","parameterNames":["p1"],"id":"a"}"#;
    client.send(Message::text(request)).unwrap();
    loop {
        match client.read().unwrap() {
            Message::Text(text) if text.contains("\"id\":\"a\"") => return text.contains("\"p1\""),
            _ => {}
        }
    }
}

#[cfg(unix)]
#[test]
fn program_without_free_file_handles_serves_again_later() {
    let folder = tempfile::tempdir().unwrap();
    let line = "ulimit -n 48; exec \"$0\" live --headless --source scene --size 64x48 --engine cpu --threads 1 --frames 1000000 --publish foxglove=:0";
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_stereopsis")]).env("STEREOPSIS_PUBLISH_TOKEN", "");
    let child = in_folder(folder.path(), command).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut child = Killed(child);
    let mut said = BufReader::new(child.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut until =
        |words: &str| said.find(|line| line.contains(words)).unwrap_or_else(|| panic!("it never says {words}"));
    let link = until("ws://");
    let here: SocketAddr = link.split("ws://").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let mut early = connect(here);
    let idle: Vec<_> = (0..60).map(|_| begin(here)).collect();
    let told = until("no client can connect now");
    assert!(told.contains("tried again"), "{told}");
    assert!(answers(&mut early), "who is connected is served");
    drop(idle);
    assert!(answers(&mut connect(here)));
    assert_eq!(child.0.try_wait().unwrap(), None, "the program runs on");
}

/// Child process that is killed when dropped.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
