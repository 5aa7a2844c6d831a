//! Hostile and faulty clients: memory stays bounded, and the server keeps running.

use super::client::{Client, RawConnection};
use super::number;
use serde_json::json;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_live::Remote as _;
use stereopsis_publish::{Address, Foxglove, MAX_MESSAGE_BYTES, Publication};
use stereopsis_stereo::StereoParams;

fn publisher() -> (Arc<Publication<Foxglove>>, SocketAddr) {
    let publisher = Publication::<Foxglove>::start("foxglove=:0".parse::<Address>().unwrap()).unwrap();
    let here = publisher.address().socket;
    (publisher, here)
}

/// Returns a client's WebSocket frame, the last one of its message if `fin`. The mask of zeros leaves the data as they are.
fn frame(opcode: u8, fin: bool, declared_bytes: u64, data: &[u8]) -> Vec<u8> {
    let mut frame = vec![opcode | if fin { 0x80 } else { 0 }, 0x80 | 127];
    frame.extend(declared_bytes.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(data);
    frame
}

#[test]
fn refuses_a_long_message_by_its_header() {
    let (publisher, here) = publisher();
    for declared_bytes in [MAX_MESSAGE_BYTES as u64 + 1, 45 << 20, u64::MAX >> 1, u64::MAX] {
        let mut raw = RawConnection::ask(here, "/", &[]).open();
        raw.stream.write_all(&frame(1, true, declared_bytes, b"{")).unwrap();
        assert_eq!(raw.close_code(), Some(1009), "{declared_bytes}");
    }
    assert_eq!(number(&publisher, "refused"), 4);
    assert!(publisher.news()[0].text.contains("a message has at most 64 KiB"));
}

#[test]
fn refuses_an_unfinished_message_at_the_limit() {
    let (publisher, here) = publisher();
    let part = [b' '; 1000];
    let mut raws: Vec<_> = (0..8).map(|_| RawConnection::ask(here, "/", &[]).open()).collect();
    for raw in &mut raws {
        raw.stream.write_all(&frame(1, false, 1000, &part)).unwrap();
        for _ in 1..MAX_MESSAGE_BYTES / 1000 {
            raw.stream.write_all(&frame(0, false, 1000, &part)).unwrap();
        }
    }
    assert_eq!(number(&publisher, "refused"), 0, "so far each could still end");
    for mut raw in raws {
        raw.stream.write_all(&frame(0, false, 1000, &part)).unwrap();
        assert_eq!(raw.close_code(), Some(1009));
    }
    assert_eq!(number(&publisher, "refused"), 8);
}

#[test]
fn accepts_a_message_in_several_frames() {
    let (_publisher, here) = publisher();
    let mut raw = RawConnection::ask(here, "/", &[]).open();
    let words = format!("{}{}", r#"{"op":"getParameters","parameterNames":["p1"],"id":"a"}"#, " ".repeat(60_000));
    let (first, second) = words.as_bytes().split_at(30_000);
    raw.stream.write_all(&frame(1, false, first.len() as u64, first)).unwrap();
    raw.stream.write_all(&frame(0, true, second.len() as u64, second)).unwrap();
    assert!(raw.until_text("\"id\":\"a\"").contains("\"p1\""));
}

#[test]
fn invalid_frames_end_the_connection() {
    let (publisher, here) = publisher();
    for nonsense in
        [&b"\xff\x80\x00\x00\x00\x00"[..], b"\x01\x05hello", &frame(3, true, 0, b""), &frame(1, true, 2, b"\xff\xff")]
    {
        let mut raw = RawConnection::ask(here, "/", &[]).open();
        raw.stream.write_all(nonsense).unwrap();
        assert_eq!(raw.close_code(), Some(1002), "{nonsense:?}");
    }
    Client::connect(here);
    assert!(publisher.news().is_empty());
}

#[test]
fn answers_unsupported_requests_with_an_error() {
    let (_publisher, here) = publisher();
    let mut client = Client::connect(here);
    for words in [
        json!({ "op": "advertise", "channels": [{ "id": 1, "topic": "/x", "encoding": "json", "schemaName": "" }] }),
        json!({ "op": "unadvertise", "channelIds": vec![7; 5_000] }),
        json!({ "op": "fetchAsset", "uri": "file:///etc/passwd", "requestId": 1 }),
        json!({ "op": "subscribeConnectionGraph" }),
        json!({ "op": "no such thing" }),
        json!({ "op": "subscribe", "subscriptions": vec![json!({ "id": 1, "channelId": 12_345 }); 1_000] }),
        json!({ "op": "subscribe" }),
        json!([]),
    ] {
        client.send(&words);
        let why = client.json("status", |_| true);
        let text = why["message"].as_str().unwrap();
        assert!(why["level"] == 2 && !text.is_empty() && text.len() < 1_000, "{text}");
    }
    client.send_bytes(&[2, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert!(client.json("status", |_| true)["message"].as_str().unwrap().contains("nothing else"));
    assert_eq!(client.parameters().len(), StereoParams::table().len());
}

#[test]
fn bounds_answers_and_news_for_thousands_of_names() {
    let (publisher, here) = publisher();
    let mut client = Client::connect(here);
    for n in 0..20 {
        let names: Vec<_> = (0..5_000).map(|k| format!("x{n}_{k}")).collect();
        client.send(&json!({ "op": "subscribeParameterUpdates", "parameterNames": &names[..4_000] }));
        let id = n.to_string();
        client.send(&json!({ "op": "getParameters", "parameterNames": &names[..4_000], "id": id }));
        let answer = client.json("parameterValues", |message| message["id"] == id);
        assert_eq!(answer["parameters"], json!([]));
    }
    let wishes: Vec<_> = (0..1_500).map(|n| json!({ "name": format!("x{n}"), "value": n })).collect();
    client.send(&json!({ "op": "setParameters", "parameters": wishes, "id": "many" }));
    client.json("parameterValues", |message| message["id"] == "many");
    let why = client.json("status", |_| true);
    let text = why["message"].as_str().unwrap();
    assert!(text.contains("at most 256") && text.len() < 1_000, "{text}");
    client.set(Some("name"), &"\u{1b}[2J".repeat(5_000), &json!("\u{1b}[2J".repeat(10)));
    let why = client.json("status", |_| true);
    assert!(!why["message"].as_str().unwrap().contains('\u{1b}'), "{why}");
    let news = publisher.news();
    assert!(news.len() <= 16 && news.iter().all(|news| news.text.len() < 1_000), "{news:?}");
    assert!(news.iter().all(|news| !news.text.contains('\u{1b}')), "{news:?}");
}

#[test]
fn disconnects_a_client_that_never_reads_answers() {
    let (publisher, here) = publisher();
    let mut other = Client::connect(here);
    let mut raw = RawConnection::ask(here, "/", &[]).open();
    let words = br#"{"op":"getParameters","parameterNames":[],"id":"a"}"#;
    let all = frame(1, true, words.len() as u64, words).repeat(100);
    let deadline = Instant::now() + Duration::from_secs(30);
    // until the system buffers no more bytes, or the server disconnects
    raw.stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    while raw.stream.write_all(&all).is_ok() {
        assert!(Instant::now() < deadline, "it may go on for ever");
    }
    while number(&publisher, "client") > 1 {
        assert!(Instant::now() < deadline, "it is never sent away");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(other.parameters().len(), StereoParams::table().len());
}

#[test]
fn answers_pings_and_survives_a_flood_of_them() {
    let (_publisher, here) = publisher();
    let mut raw = RawConnection::ask(here, "/", &[]).open();
    raw.stream.write_all(&frame(9, true, 2, b"hi")[..]).unwrap();
    assert_eq!(raw.until(|opcode, _| opcode == 10).1, b"hi");
    let mut other = Client::connect(here);
    let pings = frame(9, true, 2, b"hi").repeat(10_000);
    let _ = raw.stream.write_all(&pings);
    assert_eq!(other.parameters().len(), StereoParams::table().len());
}
