//! Access rules of a session: builds Zenoh's configuration from the addresses to listen on and the routers to connect to, and refuses
//! open access without a rule. By default Zenoh listens on all addresses and finds peers by multicast; here a session listens only on
//! the addresses of `--listen`, and is then a router, or is a client of a router.

use super::error::{NetworkError, PASSWORD_VARIABLE};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use stereopsis_base::remedy::option;

pub use super::error::DEFAULT_PORT;

const USER: &str = "stereopsis";
/// Maximum size of a message, bytes; Zenoh's default is 1 GiB.
pub(super) const MAX_MESSAGE_BYTES: usize = 256 << 20;
/// Time without a sign of life after which a peer counts as gone and its rigs move to another engine; Zenoh's default is 10 s.
pub(super) const LEASE: Duration = Duration::from_millis(1500);

/// Time limit of a connection's handshake, ms; Zenoh's default is 10 s.
const ACCEPT_TIMEOUT_MS: u64 = 2000;
/// Maximum number of connections in the handshake. Together with [`MAX_SESSIONS`] it stays below the 1024 files that a process may open.
/// An attacker easily exhausts Zenoh's default of 100.
const MAX_PENDING: usize = 500;
/// Maximum number of connected sessions; Zenoh's default is 1000.
const MAX_SESSIONS: usize = 250;

/// Address to listen on or to connect to, such as `tcp/192.168.1.5:7447`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    protocol: Protocol,
    /// Name or address; IPv6 in brackets.
    host: String,
    port: u16,
    /// Zenoh's options after `#`, such as `so_sndbuf=65536`.
    options: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Protocol {
    Tcp,
    /// Encrypted TCP.
    Tls,
}

impl Endpoint {
    /// Returns whether only programs on this machine can reach it.
    pub fn is_loopback(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl FromStr for Endpoint {
    type Err = NetworkError;

    fn from_str(words: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError::Endpoint(words.to_owned());
        let (address, options) =
            words.split_once('#').map_or((words, None), |(address, options)| (address, Some(options)));
        let (protocol, address) = match address.split_once('/') {
            Some(("tcp", rest)) => (Protocol::Tcp, rest),
            Some(("tls", rest)) => (Protocol::Tls, rest),
            Some(_) => return Err(wrong()),
            None => (Protocol::Tcp, address),
        };
        let (host, port) = match address.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && (!host.contains(':') || host.ends_with(']')) => {
                (host, port.parse().map_err(|_| wrong())?)
            }
            _ => (address, DEFAULT_PORT),
        };
        let is_name = |host: &str| host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
        let is_v6 = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let is_v6 = is_v6.is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
        let fits = |c: char| c.is_ascii_alphanumeric() || "=;_-./".contains(c);
        if host.is_empty() || !(is_name(host) || is_v6) || !options.is_none_or(|text| text.chars().all(fits)) {
            return Err(wrong());
        }
        Ok(Self { protocol, host: host.to_owned(), port, options: options.map(str::to_owned) })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = match self.protocol {
            Protocol::Tcp => "tcp",
            Protocol::Tls => "tls",
        };
        write!(f, "{protocol}/{}:{}", self.host, self.port)?;
        self.options.as_ref().map_or(Ok(()), |options| write!(f, "#{options}"))
    }
}

/// Time without room for a message after which the link to a peer is closed, µs; Zenoh's default is 5 s. It must be shorter than
/// [`LEASE`]: closing a link with a waiting message blocks all other links until it times out.
const SEND_TIMEOUT_US: u64 = 500_000;

/// Addresses and access rules of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Addresses to listen on; if there are any, the session is a router.
    pub listen: Vec<Endpoint>,
    /// Routers to connect to: a client uses the first that answers, a router all of them.
    pub connect: Vec<Endpoint>,
    /// Whether anyone who reaches an address may connect, without certificate or password.
    pub open: bool,
    /// Path of a Zenoh configuration with certificates and access rules; flags override it.
    pub config: Option<PathBuf>,
    /// Password of all sessions.
    pub password: Option<String>,
}

/// Zenoh's configuration of a session, and a description of who can connect.
pub(super) struct Admission {
    pub(super) config: zenoh::Config,
    pub(super) who: Option<String>,
    /// Password file, kept until the session is open.
    _dictionary: Option<tempfile::NamedTempFile>,
}

impl Access {
    /// Returns the access of a client of the router on this machine.
    pub fn local() -> Self {
        let endpoint =
            Endpoint { protocol: Protocol::Tcp, host: "127.0.0.1".to_owned(), port: DEFAULT_PORT, options: None };
        Self { connect: vec![endpoint], password: password(), ..Self::default() }
    }

    /// Returns the access of a client of this router.
    pub fn to(router: Endpoint) -> Self {
        Self { connect: vec![router], ..Self::local() }
    }

    /// Builds Zenoh's configuration.
    ///
    /// # Errors
    /// The file cannot be used, or the session would be open to other machines without any access rule.
    pub(super) fn admission(&self) -> Result<Admission, NetworkError> {
        let mut config = match &self.config {
            Some(path) => zenoh::Config::from_file(path).map_err(|cause| NetworkError::Config(path.clone(), cause))?,
            None => zenoh::Config::default(),
        };
        let mut set = |key: &'static str, value: String| {
            config.insert_json5(key, &value).map_err(|cause| NetworkError::Refused(key, cause))
        };
        let words = |endpoints: &[Endpoint]| {
            let words: Vec<_> = endpoints.iter().map(Endpoint::to_string).collect();
            serde_json::json!(words).to_string()
        };
        set("mode", if self.listen.is_empty() { "\"client\"" } else { "\"router\"" }.to_owned())?;
        set("listen/endpoints", words(&self.listen))?;
        set("connect/endpoints", words(&self.connect))?;
        set("connect/timeout_ms", if self.listen.is_empty() { "0" } else { "-1" }.to_owned())?;
        set("connect/exit_on_failure", self.listen.is_empty().to_string())?;
        set("connect/retry", r#"{"period_init_ms":200,"period_max_ms":1000,"period_increase_factor":2}"#.to_owned())?;
        set("scouting/multicast/enabled", "false".to_owned())?;
        // gossip connects ROS 2 nodes with each other directly: the router does not forward messages between peers
        set("scouting/gossip/enabled", (!self.listen.is_empty()).to_string())?;
        set("transport/unicast/accept_timeout", ACCEPT_TIMEOUT_MS.to_string())?;
        set("transport/unicast/accept_pending", MAX_PENDING.to_string())?;
        set("transport/unicast/max_sessions", MAX_SESSIONS.to_string())?;
        set("transport/link/tx/lease", LEASE.as_millis().to_string())?;
        set("transport/link/tx/queue/congestion_control/block/wait_before_close", SEND_TIMEOUT_US.to_string())?;
        set("transport/link/rx/max_message_size", MAX_MESSAGE_BYTES.to_string())?;
        let dictionary = self.password.as_ref().map(|password| dictionary(password)).transpose()?;
        if let (Some(password), Some(file)) = (&self.password, &dictionary) {
            set("transport/auth/usrpwd/user", serde_json::json!(USER).to_string())?;
            set("transport/auth/usrpwd/password", serde_json::json!(password).to_string())?;
            set("transport/auth/usrpwd/dictionary_file", serde_json::json!(file.path()).to_string())?;
        }
        let who = self.who(&config)?;
        Ok(Admission { config, who, _dictionary: dictionary })
    }

    /// Returns a sentence about who can connect from other machines; `None` if only programs on this machine can connect.
    fn who(&self, config: &zenoh::Config) -> Result<Option<String>, NetworkError> {
        let Some(reached) = self.listen.iter().find(|endpoint| !endpoint.is_loopback()) else { return Ok(None) };
        let has = |key: &str| config.get_json(key).is_ok_and(|value| !["null", "false", ""].contains(&value.as_str()));
        let is_tls =
            self.listen.iter().filter(|endpoint| !endpoint.is_loopback()).all(|it| it.protocol == Protocol::Tls);
        let overrules = |endpoint: &Endpoint| endpoint.options.as_ref().is_some_and(|it| it.contains("enable_mtls"));
        let rule = if is_tls && has("transport/link/tls/enable_mtls") && !self.listen.iter().any(overrules) {
            format!("everyone with a certificate of the authority in {} can connect", option("zenoh-config"))
        } else if has("transport/auth/usrpwd/dictionary_file") {
            "everyone who knows the password can connect".to_owned()
        } else if self.open {
            "everyone who reaches this address can watch, control cameras, change parameters, and send images and depth in a rig's place"
                .to_owned()
        } else {
            return Err(NetworkError::Unguarded(reached.to_string(), is_tls));
        };
        let encrypted = if is_tls { "everything" } else { "nothing" };
        Ok(Some(format!("{reached}: {rule}; {encrypted} is encrypted")))
    }
}

/// Returns the password of the environment.
fn password() -> Option<String> {
    std::env::var(PASSWORD_VARIABLE).ok().filter(|word| !word.is_empty())
}

/// Writes Zenoh's user and password file, readable by its owner only.
fn dictionary(password: &str) -> Result<tempfile::NamedTempFile, NetworkError> {
    use std::io::Write as _;
    let fits = |c: char| c.is_ascii_graphic() && c != ':';
    if !password.chars().all(fits) || !(8..=256).contains(&password.len()) {
        return Err(NetworkError::Password);
    }
    let written = tempfile::NamedTempFile::new().and_then(|mut file| {
        writeln!(file, "{USER}:{password}")?;
        file.flush()?;
        Ok(file)
    });
    written.map_err(NetworkError::PasswordFile)
}

/// Lists addresses.
pub fn names(endpoints: &[Endpoint]) -> String {
    endpoints.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening(words: &str) -> Access {
        Access { listen: vec![words.parse().unwrap()], ..Access::default() }
    }

    #[test]
    fn parses_and_prints_endpoints() {
        for (words, full) in [
            ("tcp/192.168.1.5:7447", "tcp/192.168.1.5:7447"),
            ("tls/pi.local:7450", "tls/pi.local:7450"),
            ("pi", "tcp/pi:7447"),
            ("pi:1", "tcp/pi:1"),
            ("[::1]:9", "tcp/[::1]:9"),
            ("tcp/[::1]", "tcp/[::1]:7447"),
            ("tcp/0.0.0.0:7447#so_sndbuf=65536", "tcp/0.0.0.0:7447#so_sndbuf=65536"),
        ] {
            assert_eq!(words.parse::<Endpoint>().unwrap().to_string(), full);
        }
        for words in ["", "udp/pi:1", "tcp/", "pi:port", "pi:70000", "a b", "::1", "tcp/a#b c", "[::g]:1", "a:b:1"] {
            assert!(words.parse::<Endpoint>().unwrap_err().to_string().contains("expected tcp/HOST:PORT"), "{words}");
        }
    }

    #[test]
    fn public_addresses_require_an_access_rule() {
        for words in ["tcp/127.0.0.1:0", "tcp/localhost:1", "tcp/[::1]:1"] {
            assert!(listening(words).admission().unwrap().who.is_none(), "{words}");
        }
        let refusal = |access: &Access| access.admission().err().map(|err| err.to_string()).unwrap_or_default();
        assert!(refusal(&listening("tcp/0.0.0.0:1")).contains("say open"));
        let open = Access { open: true, ..listening("tcp/0.0.0.0:1") };
        assert!(open.admission().unwrap().who.unwrap().contains("everyone who reaches this address"));
        let password = Access { password: Some("correct-horse".into()), ..listening("tcp/0.0.0.0:1") };
        assert!(password.admission().unwrap().who.unwrap().contains("knows the password"));
        let short = Access { password: Some("a:b".into()), ..listening("tcp/127.0.0.1:1") };
        assert!(refusal(&short).contains("8 to 256"));
        // TLS without client certificates does not limit who may connect
        let tls = listening("tls/0.0.0.0:1");
        assert!(refusal(&tls).contains("set enable_mtls") && refusal(&tls).contains("say open"), "{}", refusal(&tls));
        let said = |access: Access| access.admission().unwrap().who.unwrap();
        let open = said(Access { open: true, ..tls.clone() });
        assert!(
            open.contains("everyone who reaches this address") && open.ends_with("everything is encrypted"),
            "{open}"
        );
        let password = said(Access { password: Some("correct-horse".into()), ..tls.clone() });
        assert!(password.contains("knows the password") && password.ends_with("everything is encrypted"), "{password}");
        let mut file = tempfile::NamedTempFile::with_suffix(".json5").unwrap();
        std::io::Write::write_all(&mut file, b"{transport: {link: {tls: {enable_mtls: true}}}}").unwrap();
        let mutual = said(Access { config: Some(file.path().to_owned()), ..tls });
        assert!(mutual.contains("a certificate of the authority"), "{mutual}");
        assert!(refusal(&Access { config: Some("none.json5".into()), ..Access::local() }).contains("none.json5"));
    }
}
