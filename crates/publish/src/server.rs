//! Accepts a bounded number of clients, for as long as the program runs.

use super::Shared;
use super::client;
use super::guard::Refusal;
use crate::files;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Connections at once, with those whose request is not read yet.
pub const MAX_CONNECTIONS: usize = 64;
/// How often new connections are polled for. A blocking accept could be ended only by a connection, which may be impossible.
const ACCEPT_POLL_INTERVAL: Duration = Duration::from_millis(25);
/// First and longest pause where the system has no room for a connection; doubled each time.
const MIN_BACKOFF: Duration = Duration::from_millis(50);
const MAX_BACKOFF: Duration = Duration::from_secs(1);
/// How long clients may take to read the close frame.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(200);

/// The listening thread. Dropping this ends the connections.
pub(super) struct Server {
    stop: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start(socket: TcpListener, shared: Arc<Shared>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let (stop, stopped) = bounded(0);
        let listener = Listener { socket, shared, stopped, open: Vec::new() };
        let thread = std::thread::Builder::new().name("publish listen".into()).spawn(move || listener.run())?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread that listens for clients panicked");
        }
    }
}

/// A connection and its thread.
struct Open {
    stream: Arc<TcpStream>,
    thread: JoinHandle<()>,
}

/// The thread's own state.
struct Listener {
    socket: TcpListener,
    shared: Arc<Shared>,
    stopped: Receiver<Infallible>,
    open: Vec<Open>,
}

impl Listener {
    fn run(mut self) {
        let mut backoff = MIN_BACKOFF;
        let mut wait = Duration::ZERO;
        while self.stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            self.open.retain(|open| !open.thread.is_finished());
            wait = match self.socket.accept() {
                Ok((stream, _)) => {
                    backoff = MIN_BACKOFF;
                    self.accept(stream);
                    Duration::ZERO
                }
                Err(err) => match err.kind() {
                    ErrorKind::WouldBlock => ACCEPT_POLL_INTERVAL,
                    // the client has gone
                    ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted => {
                        Duration::ZERO
                    }
                    _ => {
                        self.shared.report_once(format!(
                            "foxglove: no client can connect now: {}. Those that are connected stay; it is tried again and again",
                            files::cause(&err)
                        ));
                        let longer = (2 * backoff).min(MAX_BACKOFF);
                        std::mem::replace(&mut backoff, longer)
                    }
                },
            };
        }
        self.end();
    }

    /// Gives a connection a thread.
    fn accept(&mut self, stream: TcpStream) {
        // systems differ in what a connection inherits from the listener
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        // small frames do not wait for large ones
        let _ = stream.set_nodelay(true);
        if self.open.len() >= MAX_CONNECTIONS {
            let refusal = Refusal {
                status: 503,
                text: format!("{MAX_CONNECTIONS} connections are open, and there is no room for more"),
                message: Some(format!("foxglove: refused a connection, since {MAX_CONNECTIONS} are open")),
            };
            self.shared.count_refused(refusal.message.clone());
            client::refuse(&stream, &refusal);
            return;
        }
        let stream = Arc::new(stream);
        let (own, shared) = (Arc::clone(&stream), Arc::clone(&self.shared));
        match std::thread::Builder::new().name("publish client".into()).spawn(move || client::serve(&own, &shared)) {
            Ok(thread) => self.open.push(Open { stream, thread }),
            Err(err) => self.shared.report_once(format!(
                "foxglove: a client was not let in, since the system gives no thread: {}",
                files::cause(&err)
            )),
        }
    }

    /// Ends all connections, with a close frame.
    fn end(self) {
        self.shared.hub.close();
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        while Instant::now() < deadline && self.open.iter().any(|open| !open.thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(2));
        }
        for open in &self.open {
            // fails where the client has closed it
            let _ = open.stream.shutdown(Shutdown::Both);
        }
        for open in self.open {
            if open.thread.join().is_err() {
                log::error!("a client's thread panicked");
            }
        }
    }
}
