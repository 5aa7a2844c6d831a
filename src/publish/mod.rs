//! Live topics for Foxglove over a WebSocket: what a recording would hold, while it happens; and parameters that clients set.
//!
//! ```text
//!  capture, engine ─▶ newest frame, newest result ─▶ packets of what somebody subscribed to ─▶ a queue for each client ─▶ network
//!  (taps)             (inbox)                        (worker, offer)                          (hub, outbox)              (client)
//!  pipeline ◀─────────────────── wanted parameters (panel) ◀───────────────────────────────── requests (protocol) ◀──── let in (server, guard)
//! ```
//!
//! Nothing here makes capture or engine wait: a frame replaces the one that was not packed yet, which is counted. What the network
//! does not take in time is dropped, oldest first, for each client by itself.
//!
//! The server is this program's own, since that of the crate `foxglove` lets every web page in and bounds nothing; before another
//! server stood in front of it, its port would be the way around. Nothing that a client does grows without an end: see the constants
//! of [`guard`], `client`, `hub`, `outbox`, `server` and [`panel`].

mod address;
mod client;
pub mod guard;
mod hub;
mod inbox;
mod offer;
pub mod origin;
mod outbox;
pub mod panel;
pub mod protocol;
mod server;
mod shared;
mod token;
mod worker;

pub use address::Address;
pub use client::{HANDSHAKE, MOST_MESSAGE_BYTES};
pub use hub::MOST_CLIENTS;
pub use inbox::DroppedByNetwork;
pub use origin::Origin;
pub use server::MOST_CONNECTIONS;
pub use token::Token;

use crate::capture::{Frame, FrameTap, SourceInfo};
use crate::engine::Output;
use crate::engine::worker::{ResultTap, Wake};
use crate::live::{News, Remote};
use crate::recording::About;
use crate::stereo::StereoParams;
use guard::Guard;
use server::Server;
use shared::Shared;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a user should know of a link with a token.
const WHOEVER: &str = "whoever has this link can watch and change parameters; what is sent is not encrypted";

/// Why nothing is published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The address cannot be listened on.
    #[error("cannot publish on {address}: {cause}")]
    Address {
        /// Where.
        address: SocketAddr,
        /// Why, and what to do.
        cause: String,
    },
    /// There is no token.
    #[error("cannot publish: {0}")]
    Token(String),
    /// The system gives no thread.
    #[error("cannot publish: {0}")]
    Thread(#[from] std::io::Error),
}

/// To whom is published.
#[derive(Clone, Debug)]
pub struct PublishOptions {
    /// Where.
    pub address: Address,
    /// Pages that may watch beside those of this machine and Foxglove's.
    pub origins: Vec<Origin>,
    /// What every client must know. `None` is nothing on this machine alone, and else a random one.
    pub token: Option<Token>,
}

impl From<Address> for PublishOptions {
    fn from(address: Address) -> Self {
        Self { address, origins: Vec::new(), token: None }
    }
}

/// How publishing goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishStatus {
    /// Clients that are connected.
    pub clients: usize,
    /// How many were not let in, or were sent away.
    pub refused: u64,
    /// What somebody wanted and was replaced by something newer before it was sent.
    pub dropped: DroppedByNetwork,
}

/// The server and its threads. [`Remote::stop`] ends all, and so does dropping it.
pub struct Publisher {
    shared: Arc<Shared>,
    address: Address,
    token: Option<Token>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Publisher {
    /// Listens from now on; topics are offered once the first pair has come.
    ///
    /// # Errors
    /// The address is taken or is none of this machine's, or the system gives no thread or no random bytes.
    pub fn start(options: impl Into<PublishOptions>) -> Result<Arc<Self>, PublishError> {
        let PublishOptions { mut address, origins, token } = options.into();
        let socket = TcpListener::bind(address.socket).map_err(|err| not_there(address.socket, &err))?;
        address.socket.set_port(socket.local_addr()?.port());
        let token = match token {
            None if !address.is_private() => Some(Token::random().map_err(PublishError::Token)?),
            token => token,
        };
        let guard = Guard::new(&address, origins, token.clone());
        let session = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis().to_string();
        let shared = Arc::new(Shared::new(guard, session));
        let server = Server::start(socket, Arc::clone(&shared))?;
        let worker = worker::Worker::new(Arc::clone(&shared), server);
        let thread = std::thread::Builder::new().name("publish".into()).spawn(move || worker.run())?;
        let publisher = Self { shared, address, token, thread: Mutex::new(Some(thread)) };
        if publisher.token.is_some() {
            publisher.shared.panel.warn(publisher.invitation());
        }
        Ok(Arc::new(publisher))
    }

    /// Where it listens; never port 0.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What clients open.
    pub fn link(&self) -> String {
        let address = self.address.reached_at();
        match &self.token {
            Some(token) => format!("ws://{address}/?token={}", token.as_str()),
            None => format!("ws://{address}"),
        }
    }

    /// How it goes.
    pub fn status(&self) -> PublishStatus {
        let Shared { hub, inbox, .. } = &*self.shared;
        PublishStatus { clients: hub.clients(), refused: self.shared.refused(), dropped: inbox.dropped() }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.stop();
    }
}

impl FrameTap for Publisher {
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        self.shared.inbox.put_frame(frame, source, self.shared.wants_frames());
    }
}

impl ResultTap for Publisher {
    fn result(&self, output: &Arc<Output>) {
        self.shared.inbox.put_output(output, self.wants_results());
    }

    fn result_again(&self, output: &Arc<Output>) {
        self.result(output);
    }

    fn wants_results(&self) -> bool {
        self.shared.wants_results()
    }
}

impl Remote for Publisher {
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        let (wanted, tell) = self.shared.panel.exchange(in_force);
        if tell {
            self.shared.inbox.put_other(|mail| mail.parameters = true);
        }
        wanted
    }

    fn news(&self) -> Vec<News> {
        self.shared.panel.news()
    }

    fn standing(&self) -> String {
        let PublishStatus { clients, refused, dropped } = self.status();
        let clients = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
        let lost = [(dropped.pairs + dropped.results, "not sent"), (refused, "refused")];
        let lost = lost.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {n} {what}"));
        format!("foxglove {clients}{}", lost.collect::<Vec<_>>().concat())
    }

    fn invitation(&self) -> String {
        let mut words = format!("foxglove: {} (open it in Foxglove: Open connection)", self.link());
        if self.token.is_some() {
            words += "\nfoxglove: ";
            words += WHOEVER;
        }
        words
    }

    fn set_about(&self, about: About) {
        self.shared.inbox.put_other(|mail| mail.about = Some(about));
    }

    /// Says goodbye to the clients. A client that does not listen holds nobody up: half a second is all that is waited.
    fn stop(&self) {
        self.shared.inbox.put_other(|mail| mail.stop = true);
        if let Some(thread) = lock(&self.thread).take() {
            crate::capture::worker::join_or_leave(thread, "the publishing thread");
        }
    }

    fn set_wake(&self, wake: Wake) {
        self.shared.set_wake(wake);
    }
}

/// Why an address cannot be listened on, and what to do.
fn not_there(address: SocketAddr, err: &std::io::Error) -> PublishError {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    let cause = match err.kind() {
        AddrInUse => {
            "the port is taken, perhaps by another stereopsis or a ROS bridge: end that, or choose another port as in \
             --publish foxglove=:8766 (:0 takes any)"
                .to_owned()
        }
        AddrNotAvailable => "this machine has no such address; 0.0.0.0 stands for all that it has".to_owned(),
        PermissionDenied => "the system keeps this port for itself: choose one from 1024 up".to_owned(),
        _ => err.to_string(),
    };
    PublishError::Address { address, cause }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
