//! Address that the WebSocket server listens on, parsed from the value of `--publish foxglove[=ADDRESS]` and printed in its syntax.

use super::error::{AddressError, PlaceFault};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::str::FromStr;

/// Default port of the Foxglove app.
const PORT: u16 = 8765;

/// Address to listen on: `foxglove`, `foxglove=:9000`, `foxglove=0.0.0.0:8765`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Socket address to listen on.
    pub socket: SocketAddr,
    /// Host name that the user gave for it, such as `robot.lan`.
    pub name: Option<String>,
}

impl Address {
    pub(crate) fn is_private(&self) -> bool {
        self.socket.ip().is_loopback()
    }

    /// Returns the address that clients connect to; for `0.0.0.0` this machine's address in its network.
    pub(crate) fn reached_at(&self) -> SocketAddr {
        let ip = self.socket.ip();
        let outward = ip.is_unspecified().then(|| outward(ip).unwrap_or(loopback(ip)));
        SocketAddr::new(outward.unwrap_or(ip), self.socket.port())
    }
}

/// Returns the address from which this machine would send to others. Connecting a UDP socket finds it and sends nothing.
fn outward(any: IpAddr) -> Option<IpAddr> {
    let reserved = match any {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((reserved, 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}

fn loopback(any: IpAddr) -> IpAddr {
    if any.is_ipv4() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { IpAddr::V6(Ipv6Addr::LOCALHOST) }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(words: &str) -> Result<Self, AddressError> {
        let (to, place) = words.split_once('=').unwrap_or((words, ""));
        if to != "foxglove" {
            return Err(AddressError::Target(to.to_owned()));
        }
        place_of(place).map_err(|fault| AddressError::Place(place.to_owned(), fault))
    }
}

/// Parses the address in `place`; the defaults are loopback and [`PORT`].
fn place_of(place: &str) -> Result<Address, PlaceFault> {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let port_of = |text: &str| text.parse::<u16>().map_err(|_| PlaceFault::Port);
    let plain = |ip, port| Address { socket: SocketAddr::new(ip, port), name: None };
    if place.is_empty() {
        return Ok(plain(here, PORT));
    }
    if let Some(port) = place.strip_prefix(':').filter(|port| !port.contains(':')) {
        return Ok(plain(here, port_of(port)?));
    }
    if let Ok(address) = place.parse::<SocketAddr>() {
        return Ok(plain(address.ip(), address.port()));
    }
    if let Ok(ip) = place.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Ok(plain(ip, PORT));
    }
    let (name, port) = match place.rsplit_once(':') {
        Some((name, port)) => (name, port_of(port)?),
        None => (place, PORT),
    };
    if name.bytes().all(|c| c.is_ascii_digit() || c == b'.') {
        return Err(PlaceFault::NoAddress); // some systems resolve a number to an address
    }
    let mut found: Vec<_> = (name, port).to_socket_addrs().map_err(PlaceFault::Unresolved)?.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    let socket = found.first().copied().ok_or(PlaceFault::NoMachine)?;
    Ok(Address { socket, name: Some(name.to_owned()) })
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { socket, name } = self;
        match name {
            Some(name) => write!(f, "foxglove={name}:{}", socket.port()),
            None => write!(f, "foxglove={socket}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_loopback_and_the_foxglove_port() {
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
            assert_eq!(address.socket.to_string(), means);
            assert_eq!(address.name.is_some(), words.contains("localhost"));
            assert_eq!(address.is_private(), !means.starts_with("0.0.0.0"), "{words}");
            assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
        }
    }

    #[test]
    fn a_link_contains_a_reachable_address() {
        let reached_at = |words: &str| words.parse::<Address>().unwrap().reached_at();
        assert_eq!(reached_at("foxglove=192.168.1.20:9000").to_string(), "192.168.1.20:9000");
        for words in ["foxglove=0.0.0.0:9000", "foxglove=[::]:9000"] {
            let address = reached_at(words);
            assert!(!address.ip().is_unspecified() && address.port() == 9000, "{words}: {address}");
        }
    }

    #[test]
    fn rejects_invalid_addresses_with_the_expected_syntax() {
        for (words, why) in [
            ("ros", "'ros': expected foxglove"),
            ("foxglove=9000", "no address; expected ADDRESS:PORT, ADDRESS or :PORT"),
            ("foxglove=:99999", "a port is a number from 0 to 65535"),
            ("foxglove=1.2.3:80", "no address"),
            ("foxglove=no such machine:80", "no such machine"),
        ] {
            let text = words.parse::<Address>().unwrap_err().to_string();
            assert!(text.contains(why), "{words}: {text}");
        }
    }
}
