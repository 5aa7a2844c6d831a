//! Where clients reach this program, in the words of `--publish`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// The port that the Foxglove app expects.
const PORT: u16 = 8765;

/// To whom is published, and where: `foxglove`, `foxglove=:9000`, `foxglove=0.0.0.0:8765`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub SocketAddr);

impl Address {
    /// Whether only programs on this machine can connect.
    pub fn is_private(&self) -> bool {
        self.0.ip().is_loopback()
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(words: &str) -> Result<Self, String> {
        let (to, place) = words.split_once('=').unwrap_or((words, ""));
        if to != "foxglove" {
            return Err(format!("'{to}': expected foxglove, or foxglove=ADDRESS:PORT"));
        }
        place_of(place).map(Self)
    }
}

/// The address that `place` names; what it leaves out is this machine alone and the usual port.
fn place_of(place: &str) -> Result<SocketAddr, String> {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let wrong = |why: &str| format!("'{place}': {why}; expected ADDRESS:PORT, ADDRESS or :PORT");
    let port_of = |text: &str| text.parse::<u16>().map_err(|_| wrong("a port is a number from 0 to 65535"));
    if place.is_empty() {
        return Ok(SocketAddr::new(here, PORT));
    }
    if let Some(port) = place.strip_prefix(':').filter(|port| !port.contains(':')) {
        return Ok(SocketAddr::new(here, port_of(port)?));
    }
    if let Ok(address) = place.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(ip) = place.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, PORT));
    }
    let (name, port) = match place.rsplit_once(':') {
        Some((name, port)) => (name, port_of(port)?),
        None => (place, PORT),
    };
    if name.bytes().all(|c| c.is_ascii_digit() || c == b'.') {
        return Err(wrong("that is no address")); // some systems would make one of it
    }
    let found = (name, port).to_socket_addrs().map_err(|err| wrong(&format!("no such machine ({err})")))?;
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied().ok_or_else(|| wrong("no such machine"))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "foxglove={}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_this_machine_and_the_usual_port() {
        for (words, means) in [
            ("foxglove", "127.0.0.1:8765"),
            ("foxglove=:9000", "127.0.0.1:9000"),
            ("foxglove=:0", "127.0.0.1:0"),
            ("foxglove=0.0.0.0:8765", "0.0.0.0:8765"),
            ("foxglove=0.0.0.0", "0.0.0.0:8765"),
            ("foxglove=[::1]:9000", "[::1]:9000"),
            ("foxglove=::1", "[::1]:8765"),
            ("foxglove=localhost:9000", "127.0.0.1:9000"),
        ] {
            let address: Address = words.parse().unwrap();
            assert_eq!(address.0.to_string(), means);
            assert_eq!(address.is_private(), !means.starts_with("0.0.0.0"), "{words}");
            assert_eq!(address.to_string().parse(), Ok(address));
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_there_is() {
        for (words, why) in [
            ("ros", "'ros': expected foxglove"),
            ("foxglove=9000", "no address; expected ADDRESS:PORT, ADDRESS or :PORT"),
            ("foxglove=:99999", "a port is a number from 0 to 65535"),
            ("foxglove=1.2.3:80", "no address"),
            ("foxglove=no such machine:80", "no such machine"),
        ] {
            let text = words.parse::<Address>().unwrap_err();
            assert!(text.contains(why), "{words}: {text}");
        }
    }
}
