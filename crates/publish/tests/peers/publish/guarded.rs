//! Admission and refusal of clients of a running server: origins, host names, tokens, numbers of connections.

use super::client::{Client, RawConnection};
use super::number;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_live::Remote as _;
use stereopsis_publish::{Address, Foxglove, MAX_CLIENTS, MAX_CONNECTIONS, Publication, PublishOptions};

fn publisher(address: &str) -> (Arc<Publication<Foxglove>>, SocketAddr) {
    let publisher = Publication::<Foxglove>::start(address.parse::<Address>().unwrap()).unwrap();
    let here = SocketAddr::from(([127, 0, 0, 1], publisher.address().socket.port()));
    (publisher, here)
}

/// Computes `value` until `holds` accepts it, at most 20 s; returns the last value.
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
fn counts_refused_pages_and_reports_each_origin_once() {
    let (publisher, here) = publisher("foxglove=:0");
    for n in 1..=3 {
        let (status, body) = RawConnection::ask(here, "/", &[("Origin", "http://evil.example")]).answer();
        assert!(status == 403 && body.contains("pages of 'http://evil.example' may not watch here"), "{status} {body}");
        assert!(body.contains("start with publish-allow-origin http://evil.example if"), "{body}");
        assert_eq!(number(&publisher, "refused"), n);
    }
    let news = publisher.news();
    assert!(news.len() == 1 && news[0].is_error && news[0].text.contains("'http://evil.example'"), "{news:?}");
    assert_eq!(publisher.standing(), "foxglove 0 clients, 3 refused");
    assert_eq!(RawConnection::ask(here, "/", &[("Origin", "null")]).answer().0, 403);
    for origin in ["https://app.foxglove.dev", "file://", "http://localhost:8080"] {
        assert_eq!(RawConnection::ask(here, "/", &[("Origin", origin)]).answer().0, 101, "{origin}");
    }
    assert_eq!(number(&publisher, "refused"), 4);
}

#[test]
fn admits_an_allowed_origin() {
    let address: Address = "foxglove=:0".parse().unwrap();
    let origins = vec!["https://stereo.example.com".parse().unwrap()];
    let publisher = Publication::<Foxglove>::start(PublishOptions { origins, ..address.into() }).unwrap();
    let here = publisher.address().socket;
    let page = ("Origin", "https://stereo.example.com");
    assert_eq!(RawConnection::ask(here, "/", &[page]).answer().0, 101);
    assert_eq!(RawConnection::ask(here, "/", &[page, ("Host", "stereo.example.com")]).answer().0, 101);
    assert_eq!(RawConnection::ask(here, "/", &[("Origin", "https://other.example.com")]).answer().0, 403);
}

#[test]
fn refuses_rebound_host_names() {
    let (publisher, here) = publisher("foxglove=:0");
    let rebound = [("Host", "evil.example:8765"), ("Origin", "http://evil.example:8765")];
    let (status, body) = RawConnection::ask(here, "/", &rebound).answer();
    assert!(status == 403 && body.contains("'evil.example:8765' is no name of this machine"), "{status} {body}");
    assert_eq!(RawConnection::ask(here, "/", &[("Host", "evil.example")]).answer().0, 403, "without an origin as well");
    assert_eq!(RawConnection::ask(here, "/", &[("Host", "localhost:8765")]).answer().0, 101);
    assert_eq!(number(&publisher, "refused"), 2);
}

#[test]
fn requires_a_token_on_public_addresses() {
    let (publisher, here) = publisher("foxglove=0.0.0.0:0");
    let invitation = publisher.invitation();
    let (_, query) = invitation.split_whitespace().nth(1).unwrap().split_once("/?").unwrap();
    assert!(
        publisher.news()[0].text == invitation && invitation.contains("everyone who has this link"),
        "{invitation}"
    );
    let (status, body) = RawConnection::ask(here, "/", &[]).answer();
    assert!(status == 401 && body.contains("a token is needed: open the whole link"), "{body}");
    let wrong = format!("/?{}0", &query[..query.len() - 1]);
    let wrong = if wrong[2..] == *query { format!("/?{}1", &query[..query.len() - 1]) } else { wrong };
    let (status, body) = RawConnection::ask(here, &wrong, &[]).answer();
    assert!(status == 401 && body.contains("not the token of this run"), "{body}");
    assert_eq!(RawConnection::ask(here, &format!("/?{query}"), &[("Origin", "http://evil.example")]).answer().0, 403);
    assert_eq!(number(&publisher, "refused"), 3);
    let client = Client::connect_to(here, &format!("/?{query}"));
    assert_eq!(client.info["name"], "Stereopsis");
    assert!(publisher.news().iter().all(|news| !news.text.contains(&query["token=".len()..])), "no token in refusals");
}

#[test]
fn requires_a_chosen_token_on_loopback() {
    let address: Address = "foxglove=:0".parse().unwrap();
    let token = Some("one-that-I-have-chosen".parse().unwrap());
    let publisher = Publication::<Foxglove>::start(PublishOptions { token, ..address.into() }).unwrap();
    let here = publisher.address().socket;
    let link = format!("foxglove: ws://{here}/?token=one-that-I-have-chosen (");
    assert!(publisher.invitation().starts_with(&link), "{}", publisher.invitation());
    assert_eq!(RawConnection::ask(here, "/", &[]).answer().0, 401);
    assert_eq!(RawConnection::ask(here, "/?token=one-that-I-have-chosen", &[]).answer().0, 101);
}

#[test]
fn limits_clients_and_reuses_freed_places() {
    let (publisher, here) = publisher("foxglove=:0");
    let mut clients: Vec<_> = (0..MAX_CLIENTS).map(|_| Client::connect(here)).collect();
    let (status, body) = RawConnection::ask(here, "/", &[]).answer();
    assert!(status == 503 && body.contains("32 clients are connected"), "{status} {body}");
    assert_eq!((number(&publisher, "client"), number(&publisher, "refused")), (MAX_CLIENTS, 1));
    clients.truncate(MAX_CLIENTS - 5);
    assert_eq!(until(|| number(&publisher, "client"), |&n| n == MAX_CLIENTS - 5), MAX_CLIENTS - 5);
    clients.extend((0..5).map(|_| Client::connect(here)));
    assert_eq!(number(&publisher, "client"), MAX_CLIENTS);
}

#[test]
fn limits_and_drops_idle_connections() {
    let (publisher, here) = publisher("foxglove=:0");
    let mut early = Client::connect(here);
    let mut slow: Vec<_> =
        (1..MAX_CONNECTIONS).map(|_| RawConnection::begin(here, b"GET / HTTP/1.1\r\nHost: local")).collect();
    // connections are accepted in order: once the last one is refused, all others have a place
    let (status, body) = RawConnection::begin(here, b"").answer();
    assert!(status == 503 && body.contains("64 connections are open"), "{status} {body}");
    let (status, body) = slow.pop().unwrap().answer();
    assert!(status == 408 && body.contains("did not come within 3 s"), "{status} {body}");
    for slow in slow {
        assert_eq!(slow.answer().0, 408);
    }
    Client::connect(here);
    assert_eq!(early.parameters().len(), stereopsis_stereo::StereoParams::table().len(), "it was never disturbed");
    assert_eq!(number(&publisher, "refused"), MAX_CONNECTIONS);
}

#[test]
fn explains_refusals_of_other_protocols() {
    let (_publisher, here) = publisher("foxglove=:0");
    let ask = |bytes: &[u8]| RawConnection::begin(here, bytes).answer();
    let (status, body) = ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(status == 426 && body.contains("a WebSocket for the Foxglove app"), "{status} {body}");
    assert_eq!(ask(b"\x16\x03\x01\x02\x00\x01\x00\x01").0, 400);
    let long = "x".repeat(100_000);
    assert_eq!(ask(long.as_bytes()).0, 431);
    assert_eq!(ask(format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}").as_bytes()).0, 431);
}

#[test]
fn stops_without_waiting_for_slow_clients() {
    let (publisher, here) = publisher("foxglove=:0");
    let slow: Vec<_> = (0..10).map(|_| RawConnection::begin(here, b"GET /")).collect();
    let mut client = Client::connect(here);
    let start = Instant::now();
    publisher.stop();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(client.close_code(), Some(1001));
    assert!(std::net::TcpStream::connect(here).is_err(), "nobody listens any more");
    drop(slow);
}
