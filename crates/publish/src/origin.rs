//! Origin of a web page or app, parsed from the HTTP header `Origin` or from `--publish-allow-origin`, in one canonical form.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use stereopsis_base::console;

/// Origins of Foxglove's web app and of its desktop app, whose pages are files. The embedded viewer is missing on purpose: any web
/// page can embed it and make it connect and run code.
pub(crate) const FOXGLOVE_ORIGINS: [&str; 2] = ["https://app.foxglove.dev", "file://"];

/// Origin of a page as a browser sends it: `https://app.foxglove.dev`, `http://localhost:8080`, `file://`, `null`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebOrigin(String);

impl WebOrigin {
    /// Returns whether its page comes from this machine, on any port.
    pub fn is_loopback(&self) -> bool {
        let is_web = self.0.starts_with("http://") || self.0.starts_with("https://");
        is_web && self.host().is_some_and(is_loopback)
    }

    /// Returns whether it is one of Foxglove's.
    pub fn is_foxgloves(&self) -> bool {
        FOXGLOVE_ORIGINS.contains(&self.0.as_str())
    }

    /// Returns its host; `None` if its pages are files or have no origin.
    pub fn host(&self) -> Option<&str> {
        let (_, place) = self.0.split_once("://")?;
        host_of(place).filter(|host| !host.is_empty())
    }
}

/// Words that are no origin.
#[derive(Debug, thiserror::Error)]
#[error("'{}': expected an origin, such as https://stereo.example.com, http://10.0.0.5:8080 or null", console::foreign(.0))]
pub struct OriginError(String);

impl FromStr for WebOrigin {
    type Err = OriginError;

    fn from_str(words: &str) -> Result<Self, OriginError> {
        let wrong = || OriginError(words.to_owned());
        let mut text = words.trim().trim_end_matches('/').to_ascii_lowercase();
        if text == "null" {
            return Ok(Self(text));
        }
        if text.ends_with(':') {
            text.push_str("//"); // trimming took the slashes of `file://`
        }
        let (scheme, place) = text.split_once("://").ok_or_else(wrong)?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c));
        let is_place = place.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._~:[]".contains(&c));
        let is_web = matches!(scheme, "http" | "https");
        if !is_scheme || !is_place || host_of(place).is_none() || (is_web && place.is_empty()) {
            return Err(wrong());
        }
        // browsers leave out the default port
        let usual = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => "\0",
        };
        let place = place.strip_suffix(usual).unwrap_or(place);
        Ok(Self(format!("{scheme}://{place}")))
    }
}

impl fmt::Display for WebOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the name or address in `name:port`, `address:port`, `[address]:port`; `None` for anything else.
pub(super) fn host_of(place: &str) -> Option<&str> {
    let (host, rest) = match place.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => place.find(':').map_or((place, ""), |at| place.split_at(at)),
    };
    let is_port = |port: &str| port.parse::<u16>().is_ok() && port.bytes().all(|c| c.is_ascii_digit());
    (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(host)
}

pub(super) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_loopback_and_foxglove_origins() {
        for (words, loopback, foxgloves) in [
            ("http://localhost:8080", true, false),
            ("https://127.0.0.1", true, false),
            ("http://[::1]:3000", true, false),
            ("https://app.foxglove.dev", false, true),
            ("file://", false, true),
            ("null", false, false),
            ("http://evil.example", false, false),
            ("https://app.foxglove.dev.evil.example", false, false),
            ("http://app.foxglove.dev", false, false),
            ("https://embed.foxglove.dev", false, false),
            ("http://localhost.evil.example", false, false),
            ("http://127.0.0.1.evil.example", false, false),
            ("app://localhost", false, false),
        ] {
            let origin: WebOrigin = words.parse().unwrap();
            assert_eq!((origin.is_loopback(), origin.is_foxgloves()), (loopback, foxgloves), "{words}");
        }
    }

    #[test]
    fn origins_are_canonical() {
        let origin = |words: &str| words.parse::<WebOrigin>().unwrap();
        assert_eq!(origin("HTTPS://Stereo.Example.com:443/"), origin("https://stereo.example.com"));
        assert_ne!(origin("https://stereo.example.com:80"), origin("https://stereo.example.com"));
        assert_eq!(origin("file:///").to_string(), "file://");
        assert_eq!(origin("http://10.0.0.5:8080").host(), Some("10.0.0.5"));
    }

    #[test]
    fn rejects_invalid_origins() {
        for words in [
            "",
            "*",
            "evil.example",
            "http://",
            "http://a/b",
            "http://a:99999",
            "http://a b",
            "://a",
            "http://[::1",
            "\u{1b}[2J",
        ] {
            let why = words.parse::<WebOrigin>().unwrap_err().to_string();
            assert!(why.contains("expected an origin") && !why.contains('\u{1b}'), "{words}: {why}");
        }
    }
}
