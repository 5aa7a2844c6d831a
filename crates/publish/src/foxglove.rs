//! Publication to clients of a WebSocket, such as the Foxglove app.

use super::address::Address;
use super::guard::Guard;
use super::hub::Hub;
use super::origin::WebOrigin;
use super::publication::{Link, Shared};
use super::token::Token;
use parking_lot::Mutex;
use std::collections::BTreeSet;
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

/// Server of a WebSocket with its clients.
pub struct Foxglove {
    pub(super) hub: Hub,
    pub(super) guard: Guard,
    pub(super) address: Address,
    pub(super) token: Option<Token>,
    /// Number of clients that were refused or disconnected.
    refused: AtomicU64,
    reported: Mutex<BTreeSet<String>>,
}

impl Foxglove {
    pub(super) fn new(PublishOptions { address, origins, token }: PublishOptions) -> Self {
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

    /// Returns the link that clients open, with its notice.
    pub(super) fn invitation(&self) -> String {
        let address = self.address.reached_at();
        let (token, notice) = match &self.token {
            Some(token) => (format!("/?token={}", token.as_str()), format!("\nfoxglove: {LINK_NOTICE}")),
            None => (String::new(), String::new()),
        };
        format!("foxglove: ws://{address}{token} (open it in Foxglove: Open connection){notice}")
    }
}

impl Link for Foxglove {
    const THREAD: &'static str = "publish";

    fn standing(&self, dropped: u64) -> String {
        let clients = counted(self.hub.clients() as u64, "client");
        let counts = [(dropped, "not sent"), (self.refused.load(Ordering::Relaxed), "refused")];
        let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, cause)| format!(", {n} {cause}"));
        format!("foxglove {clients}{}", counts.collect::<String>())
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
        assert_eq!((shared.panel.news().len(), shared.link.refused.load(Ordering::Relaxed)), (1, 3));
        (0..1_000).for_each(refuse);
        let news = shared.panel.news();
        assert!(news.last().unwrap().text.contains("only counted"), "{news:?}");
        assert_eq!((news.len(), shared.link.refused.load(Ordering::Relaxed)), (MAX_MESSAGES, 1_003));
        refuse(5_000);
        assert!(shared.panel.news().is_empty());
    }
}
