//! Listens for connections and gives each a thread, up to a maximum number. Errors of the system delay the next attempt; they never
//! end the listener.

use super::client;
use super::foxglove::Foxglove;
use super::guard::Refusal;
use super::publication::Shared;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stereopsis_base::files;

/// Maximum number of connections, including those whose request has not been read yet.
pub const MAX_CONNECTIONS: usize = 64;
/// Interval of polls for new connections. Only a new connection could end a blocking accept, and opening one may be impossible.
const ACCEPT_POLL_INTERVAL: Duration = Duration::from_millis(25);
/// First and longest pause when the system has no room for a connection; the pause doubles each time.
const MIN_BACKOFF: Duration = Duration::from_millis(50);
const MAX_BACKOFF: Duration = Duration::from_secs(1);
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(200);

/// Handle of the listening thread. Dropping it ends all connections.
pub(super) struct ListenerThread {
    stop: Option<Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl ListenerThread {
    pub(super) fn start(socket: TcpListener, shared: Arc<Shared<Foxglove>>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let (stop, stopped) = bounded(0);
        let listener = Listener { socket, shared, stopped, open: Vec::new() };
        let thread = std::thread::Builder::new().name("publish listen".into()).spawn(move || listener.run())?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for ListenerThread {
    fn drop(&mut self) {
        self.stop = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread that listens for clients panicked");
        }
    }
}

struct Connection {
    stream: Arc<TcpStream>,
    thread: JoinHandle<()>,
}

struct Listener {
    socket: TcpListener,
    shared: Arc<Shared<Foxglove>>,
    stopped: Receiver<Infallible>,
    open: Vec<Connection>,
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
                    // the client has disconnected
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

    fn accept(&mut self, stream: TcpStream) {
        // on some systems a connection inherits the listener's non-blocking mode
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        // without Nagle's algorithm small frames are sent at once
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
            Ok(thread) => self.open.push(Connection { stream, thread }),
            Err(err) => self.shared.report_once(format!(
                "foxglove: a client was not let in, since the system gives no thread: {}",
                files::cause(&err)
            )),
        }
    }

    fn end(self) {
        self.shared.link.hub.close();
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        while Instant::now() < deadline && self.open.iter().any(|open| !open.thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(2));
        }
        for open in &self.open {
            let _ = open.stream.shutdown(Shutdown::Both); // fails if the client has closed it
        }
        for open in self.open {
            if open.thread.join().is_err() {
                log::error!("a client's thread panicked");
            }
        }
    }
}
