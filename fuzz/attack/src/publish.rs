//! Attacks on `--publish`: the head of the HTTP request, and later requests.

use super::words::valid;
use std::sync::LazyLock;
use stereopsis_publish::guard::{Admitted, Guard, MAX_HEAD_BYTES};
use stereopsis_publish::panel::Panel;
use stereopsis_publish::protocol::Request;
use stereopsis_publish::{Token, WebOrigin};

const TOKEN: &str = "0123456789abcdefghijklmn";

/// Guards of this machine alone, and of a network with a token.
static GUARDS: LazyLock<[Guard; 2]> = LazyLock::new(|| {
    let token: Token = TOKEN.parse().expect("a token");
    let address = |words: &str| words.parse().expect("an address");
    [
        Guard::new(&address("foxglove"), Vec::new(), None),
        Guard::new(&address("foxglove=0.0.0.0:8765"), Vec::new(), Some(token)),
    ]
});

/// Attacks the request head: admitted clients have no foreign origin, and the required token.
pub(crate) fn request_head(input: &[u8]) {
    let [here, network] = &*GUARDS;
    if let Some(Ok(admitted)) = here.judge(input) {
        let_in(here, input, &admitted);
    }
    if let Some(Ok(admitted)) = network.judge(input) {
        let_in(network, input, &admitted);
        assert!(String::from_utf8_lossy(&input[..admitted.head_bytes]).contains(TOKEN), "without the token");
    }
}

fn let_in(guard: &Guard, input: &[u8], admitted: &Admitted) {
    let Admitted { answer, head_bytes } = admitted;
    assert!(*head_bytes <= input.len().min(MAX_HEAD_BYTES) && answer.starts_with(b"HTTP/1.1 101 "));
    let head = &input[..*head_bytes];
    for line in String::from_utf8_lossy(head).lines() {
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("origin")
        {
            let origin: WebOrigin = value.trim().parse().expect("an origin");
            assert!(origin.is_loopback() || origin.is_foxgloves(), "let in for {origin}");
        }
    }
    assert_eq!(guard.judge(head), Some(Ok(admitted.clone())), "what follows the head counts");
}

/// Attacks requests, one per line, after which the parameters must be consistent.
pub(crate) fn request(input: &[u8]) {
    let panel = Panel::default();
    for line in String::from_utf8_lossy(input).lines() {
        match Request::read(line) {
            Ok(Request::SetParameters { parameters, .. }) => {
                let refused = panel.request(&parameters);
                assert!(refused.len() <= 16 && refused.iter().all(|why| !why.contains('\u{1b}')), "{refused:?}");
                valid(&panel.shown());
            }
            Ok(Request::GetParameters { parameter_names, .. }) => {
                assert!(panel.get(&parameter_names).len() <= panel.shown().words().count());
            }
            Ok(_) => {}
            Err(why) => {
                let why = why.to_string();
                assert!(!why.contains('\u{1b}') && why.chars().count() < 200, "{why}");
            }
        }
    }
}
