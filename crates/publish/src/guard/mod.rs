//! Access control: admits or refuses a client by the head of its HTTP request, before anything is sent. Does no input or output.
//!
//! A web page can connect to any address that the browser's machine can reach. The browser sends the page's origin, and unknown
//! origins are refused. A page's domain can also resolve to an address of this machine ("DNS rebinding"); the browser then sends that
//! domain as the host, which is refused. Other programs send no origin; if they can run on other machines they must send a token.

use super::Address;
use super::origin::{self, WebOrigin};
use super::protocol::SUBPROTOCOL;
use super::token::Token;
use std::net::IpAddr;
use stereopsis_base::console;
use stereopsis_base::remedy::option;
use tungstenite::Error;
use tungstenite::error::ProtocolError;
use tungstenite::handshake::machine::TryParse as _;
use tungstenite::handshake::server::{Request, create_response, write_response};
use tungstenite::http::{HeaderValue, StatusCode};

/// Maximum size of the head of a request, bytes. A browser's has less than 1 KiB.
pub const MAX_HEAD_BYTES: usize = 8 << 10;

/// Refusal of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// Cause and remedy, for the client.
    pub text: String,
    /// Message to the user, reported once; `None` for refusals that are only counted.
    pub message: Option<String>,
}

impl Refusal {
    pub(super) fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into(), message: None }
    }

    fn with_message(self, message: String) -> Self {
        Self { message: Some(message), ..self }
    }

    pub(super) fn answer(&self) -> Vec<u8> {
        let reason =
            StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default();
        let Self { status, text, .. } = self;
        let body = format!("stereopsis: {text}\n");
        let upgrade =
            if *status == 426 { "Upgrade: websocket\r\nConnection: Upgrade, close" } else { "Connection: close" };
        format!(
            "HTTP/1.1 {status} {reason}\r\n{upgrade}\r\nContent-Type: text/plain; charset=utf-8\r\n\
             X-Content-Type-Options: nosniff\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}

/// Access rules of one address.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Host names that clients may use, in addition to this machine's own.
    hosts: Vec<String>,
    machine: String,
    /// Origins that are admitted, in addition to loopback ones and Foxglove's.
    origins: Vec<WebOrigin>,
    token: Option<Token>,
    /// Option that admits further origins, in the words of the face that publishes; clients come when another one may speak.
    allowing: String,
}

/// Admission of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// HTTP answer, which ends the handshake.
    pub answer: Vec<u8>,
    /// Size of the request's head, bytes; frames follow it.
    pub head_bytes: usize,
}

impl Guard {
    /// Creates the rules of an address. Without a token no client is asked for one.
    pub fn new(address: &Address, origins: Vec<WebOrigin>, token: Option<Token>) -> Self {
        let named = address.name.iter().cloned();
        let hosts = named.chain(origins.iter().filter_map(|origin| origin.host().map(str::to_owned))).collect();
        let machine = gethostname::gethostname().to_string_lossy().into_owned();
        Self { hosts, machine, origins, token, allowing: option("publish-allow-origin").to_string() }
    }

    /// Judges the bytes that a client has sent so far; returns `None` until the head is complete.
    pub fn judge(&self, bytes: &[u8]) -> Option<Result<Admitted, Refusal>> {
        let too_long = || Refusal::new(431, format!("a request has at most {MAX_HEAD_BYTES} bytes"));
        let head = &bytes[..bytes.len().min(MAX_HEAD_BYTES)];
        match Request::try_parse(head) {
            Ok(Some((head_bytes, request))) => Some(self.admit(&request).map(|answer| Admitted { answer, head_bytes })),
            Ok(None) if head.len() == MAX_HEAD_BYTES => Some(Err(too_long())),
            Ok(None) => None,
            Err(err) => Some(Err(no_request(&err))),
        }
    }

    fn admit(&self, request: &Request) -> Result<Vec<u8>, Refusal> {
        self.check_host(one(request, "host")?)?;
        self.check_origin(one(request, "origin")?)?;
        self.check_token(request.uri().query().unwrap_or_default())?;
        let mut response = create_response(request).map_err(|err| no_request(&err))?;
        let offered = request.headers().get_all("sec-websocket-protocol").into_iter();
        let mut offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
        if !offered.any(|word| word.trim() == SUBPROTOCOL) {
            let text =
                format!("this server speaks Foxglove's subprotocol {SUBPROTOCOL}, which the request does not name");
            return Err(Refusal::new(400, text));
        }
        response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(SUBPROTOCOL));
        let mut answer = Vec::new();
        write_response(&mut answer, &response).map_err(|err| no_request(&err))?;
        Ok(answer)
    }

    /// Checks the host. IP addresses are admitted: after DNS rebinding the browser still sends the domain.
    fn check_host(&self, host: Option<&str>) -> Result<(), Refusal> {
        let host = host.ok_or_else(|| Refusal::new(400, "the request names no host"))?;
        let name = origin::host_of(host).unwrap_or_default().trim_end_matches('.');
        let is_same = |known: &str| !known.is_empty() && known.eq_ignore_ascii_case(name);
        // only these domains: an attacker's domain can contain a host of this machine's name
        let label = self.machine.split('.').next().unwrap_or_default();
        let without_domain = name.strip_suffix(".local").or(name.strip_suffix(".lan")).unwrap_or(name);
        let is_machine = is_same(&self.machine) || (!label.is_empty() && label.eq_ignore_ascii_case(without_domain));
        let is_here = origin::is_loopback(name) || name.parse::<IpAddr>().is_ok();
        if is_here || is_machine || self.hosts.iter().any(|known| is_same(known)) {
            return Ok(());
        }
        let host = console::foreign(host);
        let text = format!(
            "'{host}' is no name of this machine that is known here. Use its address, or start with {} http://NAME if you trust that \
             name",
            self.allowing
        );
        let message = format!(
            "foxglove: refused a client that calls this machine '{host}'; a page may do so that gave its own name this address"
        );
        Err(Refusal::new(403, text).with_message(message))
    }

    fn check_origin(&self, origin_text: Option<&str>) -> Result<(), Refusal> {
        let Some(origin_text) = origin_text else { return Ok(()) };
        let origin = origin_text.parse::<WebOrigin>();
        if origin.as_ref().is_ok_and(|one| one.is_loopback() || one.is_foxgloves() || self.origins.contains(one)) {
            return Ok(());
        }
        let origin_text = console::foreign(origin_text);
        let named = origin.map(|origin| origin.to_string()).ok().filter(|origin| *origin == origin_text);
        let remedy = format!("start with {} {} if you trust it", self.allowing, named.as_deref().unwrap_or("ORIGIN"));
        let text = format!("pages of '{origin_text}' may not watch here; {remedy}");
        let message = format!("foxglove: refused a page of '{origin_text}'; {remedy}");
        Err(Refusal::new(403, text).with_message(message))
    }

    fn check_token(&self, query: &str) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let remedy = "open the whole link that stereopsis printed, ws://…/?token=…";
        match query.split('&').find_map(|pair| pair.strip_prefix("token=")) {
            Some(sent) if token.matches(sent) => Ok(()),
            Some(_) => {
                let message =
                    "foxglove: refused a client with a wrong token; the link at the start has the right one".to_owned();
                Err(Refusal::new(401, format!("this is not the token of this run: {remedy}")).with_message(message))
            }
            None => {
                let message = "foxglove: refused a client without a token; the link at the start has it".to_owned();
                Err(Refusal::new(401, format!("a token is needed: {remedy}")).with_message(message))
            }
        }
    }
}

/// Returns a header that may occur at most once.
fn one<'a>(request: &'a Request, name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut values = request.headers().get_all(name).into_iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match std::str::from_utf8(value.as_bytes()) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Refusal::new(400, format!("the header {name} is no text"))),
        },
        _ => Err(Refusal::new(400, format!("the header {name} stands there twice"))),
    }
}

/// Returns the refusal of bytes that do not request a WebSocket.
fn no_request(err: &Error) -> Refusal {
    let is_page = matches!(
        err,
        Error::Protocol(ProtocolError::MissingConnectionUpgradeHeader | ProtocolError::MissingUpgradeWebSocketHeader)
    );
    if is_page {
        let text = "this is no page but a WebSocket for the Foxglove app: Open connection, Foxglove WebSocket, and this address with \
                    ws:// before it";
        return Refusal::new(426, text);
    }
    Refusal::new(
        400,
        format!(
            "this is no request for a WebSocket ({}); it is asked for with ws://",
            console::foreign(&err.to_string())
        ),
    )
}

#[cfg(test)]
mod tests;
