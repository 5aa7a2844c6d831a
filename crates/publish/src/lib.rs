//! Publishes the topics of a recording live: for Foxglove over a WebSocket, where clients can also set parameters, and for ROS 2 over
//! Zenoh ([`ros2`]). Capture and engine never wait here: the newest frame replaces one that is not packed yet.
//!
//! ```text
//!  capture, engine ─▶ newest frame, newest result ─▶ packets of subscribed topics ─▶ a queue for each client ─▶ network
//!  (taps)             (inbox)                        (worker, topics)                (hub, outbox)              (client)
//!  pipeline ◀─────────────────── requested parameters (panel) ◀───────────────────── requests (protocol) ◀──── admission (server, guard)
//! ```
//!
//! # Design: access is decided before anything is sent, and nothing grows without bound
//!
//! - The server is the program's own, on `tungstenite`. The server of the crate `foxglove` cannot refuse a request, limits neither clients
//!   nor their messages, and ends silently when file descriptors run out. A proxy in front of it would leave its port open.
//! - [`guard`], [`protocol`] and [`panel`] do no input or output, so that fuzz targets can call them.
//! - Everything that clients can make grow is bounded by a constant.
//! - Each client has a thread that reads and one that writes; only the latter waits for the network. The outbox drops the oldest
//!   messages and disconnects a client that leaves its answers unread. All clients share the bytes of a message.

mod address;
mod client;
pub mod guard;
mod hub;
mod inbox;
pub mod origin;
mod outbox;
pub mod panel;
pub mod protocol;
#[cfg(feature = "zenoh")]
pub mod ros2;
#[cfg(feature = "zenoh")]
pub mod serve;
mod server;
mod shared;
mod target;
mod token;
mod topics;
mod worker;

pub use address::Address;
pub use client::MAX_MESSAGE_BYTES;
pub use hub::MAX_CLIENTS;
pub use origin::WebOrigin;
pub use server::MAX_CONNECTIONS;
pub use target::PublishTarget;
pub use token::Token;

use guard::Guard;
use parking_lot::Mutex;
use server::ListenerThread;
use shared::Shared;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};
use stereopsis_base::console::counted;
use stereopsis_frame::engine::Output;
use stereopsis_frame::{Frame, FrameTap, ResultTap, SourceInfo, Wake};
use stereopsis_live::{News, Remote};
use stereopsis_recording::About;
use stereopsis_stereo::StereoParams;

/// Printed below a link with a token.
const LINK_NOTICE: &str = "everyone who has this link can watch and change parameters; the connection is not encrypted";

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

/// WebSocket server with its threads. [`Remote::stop`] ends them, and so does dropping it.
pub struct Publisher {
    shared: Arc<Shared>,
    address: Address,
    token: Option<Token>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Publisher {
    /// Starts to listen; topics are offered once the first pair has arrived.
    ///
    /// # Errors
    /// The address is in use or does not belong to this machine, or the system provides no thread or no random bytes.
    pub fn start(options: impl Into<PublishOptions>) -> anyhow::Result<Arc<Self>> {
        let PublishOptions { mut address, origins, token } = options.into();
        let socket = TcpListener::bind(address.socket).map_err(|err| bind_error(address.socket, &err))?;
        address.socket.set_port(socket.local_addr().map_err(refused)?.port());
        let token = match token {
            None if !address.is_private() => Some(Token::random().map_err(refused)?),
            token => token,
        };
        let guard = Guard::new(&address, origins, token.clone());
        let session = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis().to_string();
        let shared = Arc::new(Shared::new(guard, session));
        let server = ListenerThread::start(socket, Arc::clone(&shared))
            .map_err(|err| refused(stereopsis_base::files::cause(&err)))?;
        let worker = worker::Worker::new(Arc::clone(&shared), server);
        let thread = std::thread::Builder::new().name("publish".into()).spawn(move || worker.run());
        let thread = thread.map_err(|err| refused(stereopsis_base::files::cause(&err)))?;
        let publisher = Self { shared, address, token, thread: Mutex::new(Some(thread)) };
        if publisher.token.is_some() {
            publisher.shared.panel.notify(publisher.invitation());
        }
        Ok(Arc::new(publisher))
    }

    /// Returns the address with the port that is listened on, never 0.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the link that clients open.
    pub fn link(&self) -> String {
        let address = self.address.reached_at();
        match &self.token {
            Some(token) => format!("ws://{address}/?token={}", token.as_str()),
            None => format!("ws://{address}"),
        }
    }

    /// Returns the state.
    pub fn status(&self) -> PublishStatus {
        let dropped = self.shared.inbox.total_dropped();
        PublishStatus { clients: self.shared.hub.clients(), refused: self.shared.refused(), dropped }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.stop();
    }
}

impl FrameTap for Publisher {
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        self.shared.inbox.put_frame(frame, source);
    }
}

impl ResultTap for Publisher {
    fn result(&self, output: &Arc<Output>) {
        self.shared.inbox.put_output(output);
    }

    fn result_again(&self, output: &Arc<Output>) {
        self.result(output);
    }

    fn wants_results(&self) -> bool {
        self.shared.inbox.wanted().results
    }
}

impl Remote for Publisher {
    fn exchange(&self, in_force: &StereoParams) -> Option<StereoParams> {
        let (requested, changed) = self.shared.panel.exchange(in_force);
        if changed {
            self.shared.inbox.put_other(|input| input.parameters = true);
        }
        requested
    }

    fn news(&self) -> Vec<News> {
        self.shared.panel.news()
    }

    fn standing(&self) -> String {
        let PublishStatus { clients, refused, dropped } = self.status();
        let clients = counted(clients as u64, "client");
        let counts = [(dropped, "not sent"), (refused, "refused")];
        let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, cause)| format!(", {n} {cause}"));
        format!("foxglove {clients}{}", counts.collect::<String>())
    }

    fn invitation(&self) -> String {
        let mut words = format!("foxglove: {} (open it in Foxglove: Open connection)", self.link());
        if self.token.is_some() {
            words += "\nfoxglove: ";
            words += LINK_NOTICE;
        }
        words
    }

    fn set_about(&self, about: About) {
        self.shared.inbox.put_other(|input| input.about = Some(about));
    }

    /// Ends the connections; waits at most half a second.
    fn stop(&self) {
        self.shared.inbox.put_other(|input| input.stop = true);
        if let Some(thread) = self.thread.lock().take() {
            stereopsis_base::threads::join_or_detach(thread, "the publishing thread");
        }
    }

    fn set_wake(&self, wake: Wake) {
        self.shared.set_wake(wake);
    }
}

fn bind_error(address: SocketAddr, err: &std::io::Error) -> anyhow::Error {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    let cause = match err.kind() {
        AddrInUse => {
            "the port is taken, perhaps by another stereopsis or a ROS bridge: end that, or choose another port as in \
             --publish foxglove=:8766 (:0 takes any)"
                .to_owned()
        }
        AddrNotAvailable => "this machine has no such address; 0.0.0.0 stands for all that it has".to_owned(),
        PermissionDenied => "the system keeps this port for itself: choose one from 1024 up".to_owned(),
        _ => stereopsis_base::files::cause(err),
    };
    anyhow::anyhow!("cannot publish on {address}: {cause}")
}

fn refused(err: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("cannot publish: {err}")
}
