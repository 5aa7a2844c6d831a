//! Decisions of the guard: which requests are admitted, and how the others are refused.

use super::*;

/// Returns a request as a browser sends it, with these additional headers.
fn request(path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!(
        "GET {path} HTTP/1.1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: other, {SUBPROTOCOL}\r\n"
    );
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    (text + "\r\n").into_bytes()
}

fn guard(address: &str, origins: &[&str], token: Option<&str>) -> Guard {
    let origins = origins.iter().map(|origin| origin.parse().unwrap()).collect();
    Guard::new(&address.parse().unwrap(), origins, token.map(|word| word.parse().unwrap()))
}

/// Returns the HTTP status and the text of the answer.
fn answered(guard: &Guard, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    match guard.judge(&request(path, headers)).unwrap() {
        Ok(admitted) => (101, String::from_utf8(admitted.answer).unwrap()),
        Err(refusal) => (refusal.status, refusal.text),
    }
}

#[test]
fn admits_programs_and_known_origins() {
    let guard = guard("foxglove", &["https://stereo.example.com"], None);
    let host = ("Host", "127.0.0.1:8765");
    let (status, answer) = answered(&guard, "/", &[host]);
    assert!(status == 101 && answer.starts_with("HTTP/1.1 101"), "{answer}");
    assert!(answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "the RFC's example: {answer}");
    assert!(answer.contains(&format!("sec-websocket-protocol: {SUBPROTOCOL}\r\n")), "{answer}");
    for origin in [
        "https://app.foxglove.dev",
        "file://",
        "http://localhost:3000",
        "http://127.0.0.1",
        "https://stereo.example.com",
    ] {
        assert_eq!(answered(&guard, "/", &[host, ("Origin", origin)]).0, 101, "{origin}");
    }
}

#[test]
fn refuses_unknown_origins_with_a_message() {
    let guard = guard("foxglove", &[], None);
    for origin in [
        "http://evil.example",
        "null",
        "https://embed.foxglove.dev",
        "",
        "nonsense\u{1b}[2J",
        "http://xn--e1afmkfd.example",
    ] {
        let (status, text) = answered(&guard, "/", &[("Host", "localhost:8765"), ("Origin", origin)]);
        let known = status == 403 && text.contains("publish-allow-origin") || status == 400;
        assert!(known && !text.contains('\u{1b}'), "{origin}: {status} {text}");
    }
    let refused =
        guard.judge(&request("/", &[("Host", "localhost"), ("Origin", "http://evil.example")])).unwrap().unwrap_err();
    assert!(refused.message.unwrap().contains("'http://evil.example'"));
    let answer = String::from_utf8(Refusal::new(403, "no").answer()).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 403 Forbidden\r\n") && answer.ends_with("\r\n\r\nstereopsis: no\n"),
        "{answer}"
    );
    assert!(answer.contains("Content-Length: 15\r\n"), "{answer}");
}

#[test]
fn refuses_unknown_host_names() {
    let guard = guard("foxglove", &["https://stereo.example.com"], None);
    for host in
        ["evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::1", "127.0.0.1:x", "a b"]
    {
        assert_eq!(answered(&guard, "/", &[("Host", host)]).0, 403, "{host}");
    }
    for host in [
        "localhost",
        "LOCALHOST:8765",
        "localhost.",
        "127.0.0.1",
        "[::1]:8765",
        "192.168.1.20:8765",
        "stereo.example.com",
    ] {
        assert_eq!(answered(&guard, "/", &[("Host", host)]).0, 101, "{host}");
    }
    let named = Guard { machine: "robot.example.org".into(), ..guard };
    for host in ["robot", "robot.example.org:8765", "Robot.local", "robot.lan"] {
        assert_eq!(answered(&named, "/", &[("Host", host)]).0, 101, "{host}");
    }
    for host in ["robots", "example.org", "robot.evil.example", "robot.local.evil.example", ".local"] {
        assert_eq!(answered(&named, "/", &[("Host", host)]).0, 403, "{host}");
    }
    let nameless = Guard { machine: String::new(), ..named };
    assert_eq!(answered(&nameless, "/", &[("Host", ".evil.example")]).0, 403);
    assert_eq!(answered(&nameless, "/", &[]).0, 400);
    assert_eq!(answered(&nameless, "/", &[("Host", "localhost"), ("Host", "evil.example")]).0, 400);
    let two = [("Host", "localhost"), ("Origin", "file://"), ("Origin", "http://evil.example")];
    assert_eq!(answered(&nameless, "/", &two).0, 400);
}

#[test]
fn requires_the_exact_token() {
    let guard = guard("foxglove=0.0.0.0:8765", &[], Some("0123456789abcdef"));
    let host = ("Host", "192.168.1.20:8765");
    for path in ["/?token=0123456789abcdef", "/?x=1&token=0123456789abcdef", "/some/where?token=0123456789abcdef"] {
        assert_eq!(answered(&guard, path, &[host]).0, 101, "{path}");
    }
    for path in [
        "/",
        "/?",
        "/?token=",
        "/?token=0123456789abcdeF",
        "/?token=0123456789abcdef0",
        "/0123456789abcdef",
        "/?xtoken=0123456789abcdef",
    ] {
        let (status, text) = answered(&guard, path, &[host]);
        assert!(status == 401 && text.contains("ws://…/?token=…") && !text.contains("0123456789"), "{path}: {text}");
    }
    let evil = [host, ("Origin", "http://evil.example")];
    assert_eq!(answered(&guard, "/?token=0123456789abcdef", &evil).0, 403, "a token opens no door for pages");
}

#[test]
fn waits_for_a_whole_head_and_refuses_invalid_ones() {
    let guard = guard("foxglove", &[], None);
    let whole = request("/", &[("Host", "localhost")]);
    for n in 0..whole.len() {
        assert_eq!(guard.judge(&whole[..n]), None, "{n} bytes");
    }
    let more = [&whole[..], b"frames"].concat();
    assert_eq!(guard.judge(&more).unwrap().unwrap().head_bytes, whole.len());
    let status = |bytes: &[u8]| guard.judge(bytes).unwrap().unwrap_err().status;
    assert_eq!(status(b"\x16\x03\x01\x02\x00\x01\x00"), 400, "TLS");
    assert_eq!(status(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
    assert_eq!(status(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 426, "a browser's address line");
    assert_eq!(status(&request("/", &[("Host", "localhost"), ("X", &"x".repeat(MAX_HEAD_BYTES))])), 431);
    let many = "a: b\r\n".repeat(200);
    assert_eq!(status(format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").as_bytes()), 400);
    let text = String::from_utf8(whole).unwrap();
    assert_eq!(status(text.replace(SUBPROTOCOL, "foxglove.websocket.v1").as_bytes()), 400);
    assert_eq!(status(text.replace("dGhlIHNhbXBsZSBub25jZQ==", "short").as_bytes()), 400);
}
