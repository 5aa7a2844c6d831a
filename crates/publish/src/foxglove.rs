//! Publication to clients of a WebSocket, such as the Foxglove app.

use super::address::Address;
use super::error::PublishError;
use super::guard::Guard;
use super::hub::Hub;
use super::origin::WebOrigin;
use super::publication::{Link, Publication, Shared};
use super::server::ListenerThread;
use super::token::Token;
use super::worker::Worker;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use stereopsis_base::console::counted;

/// Printed below a link with a token.
const LINK_NOTICE: &str = "everyone who has this link can watch and change parameters; the connection is not encrypted";
const MAX_EVENTS: usize = 16;
/// Maximum number of different messages that are each reported once. They contain text of refused clients, so they must be bounded.
const MAX_MESSAGES: usize = 16;

/// Address and access rules of the server.
#[derive(Clone, Debug)]
pub struct PublishOptions {
    /// Address to listen on.
    pub address: Address,
    /// Origins of web pages that may connect, in addition to this machine's and Foxglove's.
    pub origins: Vec<WebOrigin>,
    /// Token that every client must send. With `None` a loopback address requires no token, and any other address a random one.
    pub token: Option<Token>,
}

impl From<Address> for PublishOptions {
    fn from(address: Address) -> Self {
        Self { address, origins: Vec::new(), token: None }
    }
}

/// State of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishStatus {
    /// Number of connected clients.
    pub clients: usize,
    /// Number of clients that were refused or disconnected.
    pub refused: u64,
    /// Number of messages that were replaced by newer ones before they were packed.
    pub dropped: u64,
}

/// Server of a WebSocket with its clients.
pub struct Foxglove {
    pub(super) hub: Hub,
    pub(super) guard: Guard,
    address: Address,
    token: Option<Token>,
    refused: AtomicU64,
    reported: Mutex<BTreeSet<String>>,
}

impl Foxglove {
    fn new(PublishOptions { address, origins, token }: PublishOptions) -> Self {
        let session = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis().to_string();
        Self {
            hub: Hub::new(session),
            guard: Guard::new(&address, origins, token.clone()),
            address,
            token,
            refused: AtomicU64::new(0),
            reported: Mutex::default(),
        }
    }

    fn status(&self, dropped: u64) -> PublishStatus {
        PublishStatus { clients: self.hub.clients(), refused: self.refused.load(Ordering::Relaxed), dropped }
    }

    fn link(&self) -> String {
        let address = self.address.reached_at();
        match &self.token {
            Some(token) => format!("ws://{address}/?token={}", token.as_str()),
            None => format!("ws://{address}"),
        }
    }

    fn invitation(&self) -> String {
        let notice = if self.token.is_some() { format!("\nfoxglove: {LINK_NOTICE}") } else { String::new() };
        format!("foxglove: {} (open it in Foxglove: Open connection){notice}", self.link())
    }
}

impl Link for Foxglove {
    const THREAD: &'static str = "publish";

    fn standing(&self, dropped: u64) -> String {
        let PublishStatus { clients, refused, dropped } = self.status(dropped);
        let clients = counted(clients as u64, "client");
        let counts = [(dropped, "not sent"), (refused, "refused")];
        let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, cause)| format!(", {n} {cause}"));
        format!("foxglove {clients}{}", counts.collect::<String>())
    }
}

impl Publication<Foxglove> {
    /// Starts to listen; topics are offered once the first pair has arrived.
    ///
    /// # Errors
    /// The address is in use or does not belong to this machine, or the system provides no thread or no random bytes.
    pub fn start(options: impl Into<PublishOptions>) -> Result<Arc<Self>, PublishError> {
        let mut options = options.into();
        let address = &mut options.address;
        let socket = TcpListener::bind(address.socket)
            .map_err(|error| PublishError::Address { address: address.socket, error })?;
        address.socket.set_port(socket.local_addr()?.port());
        if options.token.is_none() && !address.is_private() {
            options.token = Some(Token::random()?);
        }
        let shared = Arc::new(Shared::new(Foxglove::new(options)));
        let invitation = shared.link.invitation();
        if shared.link.token.is_some() {
            shared.panel.notify(invitation.clone());
        }
        let server = ListenerThread::start(socket, Arc::clone(&shared))?;
        let worker = Worker::new(Arc::clone(&shared), server);
        Ok(Self::with_thread(shared, invitation, move || worker.run())?)
    }

    /// Returns the address with the port that is listened on, never 0.
    pub fn address(&self) -> &Address {
        &self.shared.link.address
    }

    /// Returns the link that clients open.
    pub fn link(&self) -> String {
        self.shared.link.link()
    }

    /// Returns the state.
    pub fn status(&self) -> PublishStatus {
        self.shared.link.status(self.shared.inbox.total_dropped())
    }
}

impl Shared<Foxglove> {
    /// Reports an error to the user, once for each text.
    pub(super) fn report_once(&self, text: String) {
        let mut reported = self.link.reported.lock();
        if reported.contains(&text) || reported.len() > MAX_MESSAGES {
            return;
        }
        reported.insert(text.clone());
        let is_last = reported.len() > MAX_MESSAGES;
        drop(reported);
        self.report(if is_last {
            "foxglove: refused many more; from now on they are only counted".to_owned()
        } else {
            text
        });
    }

    /// Counts a client that was refused or disconnected; reports `message` to the user once.
    pub(super) fn count_refused(&self, message: Option<String>) {
        self.link.refused.fetch_add(1, Ordering::Relaxed);
        match message {
            Some(message) => self.report_once(message),
            None => self.wake(),
        }
    }

    /// Notes that a client has requested parameters. Afterwards the parameters in force are sent to all followers, also unchanged ones:
    /// a follower may show a refused value.
    pub(super) fn parameters_requested(&self, refused: Vec<String>) {
        self.inbox.put_other(|input| {
            input.parameters = true;
            input.refused.extend(refused);
            let excess = input.refused.len().saturating_sub(MAX_EVENTS);
            input.refused.drain(..excess);
        });
        self.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_each_message_once_up_to_a_limit() {
        let shared = Shared::new(Foxglove::new("foxglove".parse::<Address>().unwrap().into()));
        let refuse = |n: u64| shared.count_refused(Some(format!("page {n}")));
        (0..3).for_each(|_| refuse(1));
        assert_eq!((shared.panel.news().len(), shared.link.status(0).refused), (1, 3));
        (0..1_000).for_each(refuse);
        let news = shared.panel.news();
        assert!(news.last().unwrap().text.contains("only counted"), "{news:?}");
        assert_eq!((news.len(), shared.link.status(0).refused), (MAX_MESSAGES, 1_003));
        refuse(5_000);
        assert!(shared.panel.news().is_empty());
    }
}
