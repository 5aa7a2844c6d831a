//! Admission and refusal of clients.

use super::client::{Client, Raw};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_live::Remote as _;
use stereopsis_publish::{Address, MAX_CLIENTS, MAX_CONNECTIONS, PublishOptions, Publisher};

fn publisher(address: &str) -> (Arc<Publisher>, SocketAddr) {
    let publisher = Publisher::start(address.parse::<Address>().unwrap()).unwrap();
    let here = SocketAddr::from(([127, 0, 0, 1], publisher.address().socket.port()));
    (publisher, here)
}

/// Until this holds; the last value where it never does.
fn until<T>(mut value: impl FnMut() -> T, holds: impl Fn(&T) -> bool) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let now = value();
        if holds(&now) || Instant::now() > deadline {
            return now;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_page_of_somebody_else_is_refused_in_words_counted_and_told_of_once() {
    let (publisher, here) = publisher("foxglove=:0");
    for n in 1..=3 {
        let (status, body) = Raw::ask(here, "/", &[("Origin", "http://evil.example")]).answer();
        assert!(status == 403 && body.contains("pages of 'http://evil.example' may not watch here"), "{status} {body}");
        assert!(body.contains("start with --publish-allow-origin http://evil.example if"), "{body}");
        assert_eq!(publisher.status().refused, n);
    }
    let news = publisher.news();
    assert!(news.len() == 1 && news[0].is_error && news[0].text.contains("'http://evil.example'"), "{news:?}");
    assert_eq!(publisher.standing(), "foxglove 0 clients, 3 refused");
    assert_eq!(Raw::ask(here, "/", &[("Origin", "null")]).answer().0, 403);
    for origin in ["https://app.foxglove.dev", "file://", "http://localhost:8080"] {
        assert_eq!(Raw::ask(here, "/", &[("Origin", origin)]).answer().0, 101, "{origin}");
    }
    assert_eq!(publisher.status().refused, 4);
}

#[test]
fn an_origin_that_the_user_allows_is_let_in() {
    let address: Address = "foxglove=:0".parse().unwrap();
    let origins = vec!["https://stereo.example.com".parse().unwrap()];
    let publisher = Publisher::start(PublishOptions { origins, ..address.into() }).unwrap();
    let here = publisher.address().socket;
    let page = ("Origin", "https://stereo.example.com");
    assert_eq!(Raw::ask(here, "/", &[page]).answer().0, 101);
    assert_eq!(Raw::ask(here, "/", &[page, ("Host", "stereo.example.com")]).answer().0, 101);
    assert_eq!(Raw::ask(here, "/", &[("Origin", "https://other.example.com")]).answer().0, 403);
}

#[test]
fn a_name_that_a_page_has_given_this_address_is_refused() {
    let (publisher, here) = publisher("foxglove=:0");
    let rebound = [("Host", "evil.example:8765"), ("Origin", "http://evil.example:8765")];
    let (status, body) = Raw::ask(here, "/", &rebound).answer();
    assert!(status == 403 && body.contains("'evil.example:8765' is no name of this machine"), "{status} {body}");
    assert_eq!(Raw::ask(here, "/", &[("Host", "evil.example")]).answer().0, 403, "without an origin as well");
    assert_eq!(Raw::ask(here, "/", &[("Host", "localhost:8765")]).answer().0, 101);
    assert_eq!(publisher.status().refused, 2);
}

#[test]
fn beyond_this_machine_a_token_is_needed() {
    let (publisher, here) = publisher("foxglove=0.0.0.0:0");
    let link = publisher.link();
    let (_, query) = link.split_once("/?").unwrap();
    assert!(publisher.invitation().contains(&link) && publisher.news()[0].text.contains(&link), "{link}");
    let (status, body) = Raw::ask(here, "/", &[]).answer();
    assert!(status == 401 && body.contains("a token is needed: open the whole link"), "{body}");
    let wrong = format!("/?{}0", &query[..query.len() - 1]);
    let wrong = if wrong[2..] == *query { format!("/?{}1", &query[..query.len() - 1]) } else { wrong };
    let (status, body) = Raw::ask(here, &wrong, &[]).answer();
    assert!(status == 401 && body.contains("not the token of this run"), "{body}");
    assert_eq!(Raw::ask(here, &format!("/?{query}"), &[("Origin", "http://evil.example")]).answer().0, 403);
    assert_eq!(publisher.status().refused, 3);
    let client = Client::connect_to(here, &format!("/?{query}"));
    assert_eq!(client.info["name"], "Stereopsis");
    assert!(publisher.news().iter().all(|news| !news.text.contains(&query["token=".len()..])), "no token in refusals");
}

#[test]
fn a_token_can_be_chosen_for_this_machine_as_well() {
    let address: Address = "foxglove=:0".parse().unwrap();
    let token = Some("one-that-I-have-chosen".parse().unwrap());
    let publisher = Publisher::start(PublishOptions { token, ..address.into() }).unwrap();
    let here = publisher.address().socket;
    assert_eq!(publisher.link(), format!("ws://{here}/?token=one-that-I-have-chosen"));
    assert_eq!(Raw::ask(here, "/", &[]).answer().0, 401);
    assert_eq!(Raw::ask(here, "/?token=one-that-I-have-chosen", &[]).answer().0, 101);
}

#[test]
fn so_many_clients_have_room_and_others_when_they_have_gone() {
    let (publisher, here) = publisher("foxglove=:0");
    let mut clients: Vec<_> = (0..MAX_CLIENTS).map(|_| Client::connect(here)).collect();
    let (status, body) = Raw::ask(here, "/", &[]).answer();
    assert!(status == 503 && body.contains("32 clients are connected"), "{status} {body}");
    assert_eq!((publisher.status().clients, publisher.status().refused), (MAX_CLIENTS, 1));
    clients.truncate(MAX_CLIENTS - 5);
    assert_eq!(until(|| publisher.status().clients, |&n| n == MAX_CLIENTS - 5), MAX_CLIENTS - 5);
    clients.extend((0..5).map(|_| Client::connect(here)));
    assert_eq!(publisher.status().clients, MAX_CLIENTS);
}

#[test]
fn connections_that_ask_for_nothing_are_limited_and_dropped() {
    let (publisher, here) = publisher("foxglove=:0");
    let mut early = Client::connect(here);
    let mut slow: Vec<_> = (1..MAX_CONNECTIONS).map(|_| Raw::begin(here, b"GET / HTTP/1.1\r\nHost: local")).collect();
    // taken one after the other: when the last one is refused, all of them have a place
    let (status, body) = Raw::begin(here, b"").answer();
    assert!(status == 503 && body.contains("64 connections are open"), "{status} {body}");
    let (status, body) = slow.pop().unwrap().answer();
    assert!(status == 408 && body.contains("did not come within 3 s"), "{status} {body}");
    for slow in slow {
        assert_eq!(slow.answer().0, 408);
    }
    Client::connect(here);
    assert_eq!(early.parameters().len(), stereopsis_stereo::StereoParams::table().len(), "it was never disturbed");
    assert_eq!(publisher.status().refused, MAX_CONNECTIONS as u64);
}

#[test]
fn what_is_no_websocket_is_told_so() {
    let (_publisher, here) = publisher("foxglove=:0");
    let ask = |bytes: &[u8]| Raw::begin(here, bytes).answer();
    let (status, body) = ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(status == 426 && body.contains("a WebSocket for the Foxglove app"), "{status} {body}");
    assert_eq!(ask(b"\x16\x03\x01\x02\x00\x01\x00\x01").0, 400);
    let long = "x".repeat(100_000);
    assert_eq!(ask(long.as_bytes()).0, 431);
    assert_eq!(ask(format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}").as_bytes()).0, 431);
}

#[test]
fn the_end_waits_for_nobody_who_is_slow() {
    let (publisher, here) = publisher("foxglove=:0");
    let slow: Vec<_> = (0..10).map(|_| Raw::begin(here, b"GET /")).collect();
    let mut client = Client::connect(here);
    let start = Instant::now();
    publisher.stop();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(client.farewell(), Some(1001));
    assert!(std::net::TcpStream::connect(here).is_err(), "nobody listens any more");
    drop(slow);
}
