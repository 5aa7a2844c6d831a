//! Live topics for Foxglove over a WebSocket: what a recording would hold, while it happens; and parameters that clients set.
//!
//! ```text
//!  capture, engine ─▶ newest frame, newest result ─▶ packets of what somebody subscribed to ─▶ a queue for each client ─▶ network
//!  (taps)             (inbox)                        (worker, offer)                          (crate foxglove)
//!  pipeline ◀─────────────────── wanted parameters (panel) ◀──────────────────────────────────
//! ```
//!
//! Nothing here makes capture or engine wait: a frame replaces the one that was not packed yet, which is counted. What the network
//! does not take in time is dropped by the crate, oldest first, for each client by itself.

mod address;
mod inbox;
mod offer;
mod panel;
mod worker;

pub use address::Address;
pub use inbox::DroppedByNetwork;

use crate::capture::{FrameTap, SourceInfo};
use crate::engine::Output;
use crate::engine::worker::{ResultTap, Wake};
use crate::frame::Frame;
use crate::live::{News, Remote};
use crate::recording::About;
use crate::stereo::StereoParams;
use foxglove::websocket::{
    AnyClient, Capability, ChannelView, Client, GetParametersResponder, Parameter, ParameterHandler, ServerListener,
    SetParametersResponder,
};
use foxglove::{Context, FoxgloveError};
use inbox::Inbox;
use panel::Panel;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Messages that wait for one client; topics come in bursts, so it takes all of a pair.
const BACKLOG: usize = 32;
/// What a user should know of an address that others reach.
const EVERYONE: &str = "everyone on this network can watch and change parameters";
/// Refused wishes that wait to be published.
const MOST_EVENTS: usize = 16;

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
    /// The system gives no thread.
    #[error("cannot publish: {0}")]
    Thread(#[from] std::io::Error),
}

/// How publishing goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublishStatus {
    /// Clients that are connected.
    pub clients: usize,
    /// What somebody wanted and was replaced by something newer before it was sent.
    pub dropped: DroppedByNetwork,
}

/// The server and its thread. [`Remote::stop`] ends both, and so does dropping it.
pub struct Publisher {
    shared: Arc<Shared>,
    address: Address,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What taps, clients and the publishing thread share.
struct Shared {
    inbox: Inbox,
    panel: Panel,
    clients: AtomicUsize,
    wants_frames: AtomicBool,
    wants_results: AtomicBool,
    events: Mutex<Vec<String>>,
    wake: Mutex<Option<Wake>>,
}

impl Publisher {
    /// Listens from now on; topics are offered once the first pair has come.
    ///
    /// # Errors
    /// The address is taken or is none of this machine's, or the system gives no thread.
    pub fn start(address: Address) -> Result<Arc<Self>, PublishError> {
        let shared = Arc::new(Shared {
            inbox: Inbox::default(),
            panel: Panel::new(),
            clients: AtomicUsize::new(0),
            wants_frames: AtomicBool::new(true),
            wants_results: AtomicBool::new(true),
            events: Mutex::default(),
            wake: Mutex::default(),
        });
        let context = Context::new();
        let host = match address.0.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let server = context.websocket_server().name("Stereopsis").bind(host, address.0.port());
        let server = server.capabilities([Capability::Parameters]).message_backlog_size(BACKLOG);
        let clients = Arc::new(Clients(Arc::clone(&shared)));
        let server = server.listener(Arc::clone(&clients) as _).parameter_handler(clients);
        let server = server.start_blocking().map_err(|err| not_there(address.0, &err))?;
        let address = Address(SocketAddr::new(address.0.ip(), server.port()));
        if !address.is_private() {
            shared.panel.warn(format!("foxglove: {EVERYONE}"));
        }
        let worker = worker::Worker::new(Arc::clone(&shared), context, server);
        let thread = std::thread::Builder::new().name("publish".into()).spawn(move || worker.run())?;
        Ok(Arc::new(Self { shared, address, thread: Mutex::new(Some(thread)) }))
    }

    /// Where it listens; never port 0.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Where clients find it, and who can be one.
    pub fn invitation(&self) -> String {
        let Address(address) = self.address;
        let how = "open it in Foxglove: Open connection";
        let everyone = format!("\nfoxglove: {EVERYONE}");
        match address.ip() {
            ip if ip.is_loopback() => format!("foxglove: ws://{address} ({how})"),
            ip if ip.is_unspecified() => {
                let port = address.port();
                format!(
                    "foxglove: ws://127.0.0.1:{port}, and port {port} at this machine's other addresses ({how}){everyone}"
                )
            }
            _ => format!("foxglove: ws://{address} ({how}){everyone}"),
        }
    }

    /// How it goes.
    pub fn status(&self) -> PublishStatus {
        PublishStatus { clients: self.shared.clients.load(Ordering::Relaxed), dropped: self.shared.inbox.dropped() }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.stop();
    }
}

impl FrameTap for Publisher {
    fn frame(&self, frame: &Arc<Frame>, source: &SourceInfo) {
        self.shared.inbox.put_frame(frame, source, self.shared.wants_frames.load(Ordering::Acquire));
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
        self.shared.wants_results.load(Ordering::Acquire)
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
        let PublishStatus { clients, dropped } = self.status();
        let clients = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
        match dropped.pairs + dropped.results {
            0 => format!("foxglove {clients}"),
            n => format!("foxglove {clients}, {n} not sent"),
        }
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
        *lock(&self.shared.wake) = Some(wake);
    }
}

impl Shared {
    /// There is something for whoever owns the pipeline.
    fn wake(&self) {
        if let Some(wake) = lock(&self.wake).clone() {
            wake();
        }
    }

    /// Something went wrong.
    fn tell(&self, text: String) {
        self.panel.tell(text);
        self.wake();
    }

    fn set_wanted(&self, frames: bool, results: bool) {
        self.wants_frames.store(frames, Ordering::Release);
        self.wants_results.store(results, Ordering::Release);
    }

    /// Refused wishes that are not published yet.
    fn events(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.events))
    }
}

/// What clients ask for; called on the server's threads.
struct Clients(Arc<Shared>);

impl ServerListener for Clients {
    fn on_subscribe(&self, _: Client, _: ChannelView) {
        self.0.inbox.put_other(|mail| mail.subscriptions = true);
    }

    fn on_unsubscribe(&self, _: Client, _: ChannelView) {
        self.0.inbox.put_other(|mail| mail.subscriptions = true);
    }

    fn on_client_connect(&self) {
        self.0.clients.fetch_add(1, Ordering::Relaxed);
        self.0.wake();
    }

    fn on_client_disconnect(&self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
        self.0.wake();
    }
}

impl ParameterHandler for Clients {
    fn get(&self, _: AnyClient, names: Vec<String>, _: Option<String>, responder: GetParametersResponder) {
        responder.respond(self.0.panel.get(&names));
    }

    fn set(&self, client: AnyClient, wanted: Vec<Parameter>, _: Option<String>, responder: SetParametersResponder) {
        let refused = self.0.panel.set(&wanted);
        let names: Vec<_> = wanted.into_iter().map(|parameter| parameter.name).collect();
        responder.respond(if names.is_empty() { Vec::new() } else { self.0.panel.get(&names) });
        {
            let mut events = lock(&self.0.events);
            for why in refused {
                client.send_error(why.clone());
                events.push(why);
            }
            let excess = events.len().saturating_sub(MOST_EVENTS);
            events.drain(..excess);
        }
        // who subscribed to it learns what is in force, also where that is what it was
        self.0.inbox.put_other(|mail| mail.parameters = true);
        self.0.wake();
    }
}

/// Why an address cannot be listened on, and what to do.
fn not_there(address: SocketAddr, err: &FoxgloveError) -> PublishError {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    let cause = match err {
        FoxgloveError::Bind(err) if err.kind() == AddrInUse => {
            "the port is taken, perhaps by another stereopsis or a ROS bridge: end that, or choose another port as in \
             --publish foxglove=:8766 (:0 takes any)"
                .to_owned()
        }
        FoxgloveError::Bind(err) if err.kind() == AddrNotAvailable => {
            "this machine has no such address; 0.0.0.0 stands for all that it has".to_owned()
        }
        FoxgloveError::Bind(err) if err.kind() == PermissionDenied => {
            "the system keeps this port for itself: choose one from 1024 up".to_owned()
        }
        FoxgloveError::Bind(err) => err.to_string(),
        err => err.to_string(),
    };
    PublishError::Address { address, cause }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
