//! Listens for clients: a bounded number of them, whatever they do, and for as long as the program runs.

use super::Shared;
use super::client;
use super::guard::Refusal;
use super::lock;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Connections at once, with those whose request is not read yet.
pub const MOST_CONNECTIONS: usize = 64;
/// How often is looked for new connections. Waiting for them could not be ended without opening one, which may be impossible.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// How long nothing is tried where the system has no room for a connection; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How long clients may take to hear the goodbye.
const FAREWELL: Duration = Duration::from_millis(200);

/// The listening thread. Dropping this says goodbye to the clients and ends their connections.
pub(super) struct Server {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Stop {
    is_wanted: Mutex<bool>,
    bell: Condvar,
}

impl Stop {
    /// Whether it is wanted, now or within this time.
    fn within(&self, time: Duration) -> bool {
        let is_wanted = lock(&self.is_wanted);
        *self
            .bell
            .wait_timeout_while(is_wanted, time, |is_wanted| !*is_wanted)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

impl Server {
    pub(super) fn start(socket: TcpListener, shared: Arc<Shared>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let stop = Arc::<Stop>::default();
        let listener = Listener { socket, shared, stop: Arc::clone(&stop), open: Vec::new() };
        let thread = std::thread::Builder::new().name("publish listen".into()).spawn(move || listener.run())?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        *lock(&self.stop.is_wanted) = true;
        self.stop.bell.notify_all();
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
    stop: Arc<Stop>,
    open: Vec<Open>,
}

impl Listener {
    fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut wait = Duration::ZERO;
        while !self.stop.within(wait) {
            self.open.retain(|open| !open.thread.is_finished());
            wait = match self.socket.accept() {
                Ok((stream, _)) => {
                    pause = FIRST_PAUSE;
                    self.take(stream);
                    Duration::ZERO
                }
                Err(err) if err.kind() == ErrorKind::WouldBlock => LOOK_EVERY,
                // it went before it was looked at
                Err(err)
                    if matches!(
                        err.kind(),
                        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted
                    ) =>
                {
                    Duration::ZERO
                }
                Err(err) => {
                    self.shared.tell_once(format!(
                        "foxglove: no client can connect now: {err}. Those that are connected stay; it is tried again and again"
                    ));
                    let now = pause;
                    pause = (2 * pause).min(LONGEST_PAUSE);
                    now
                }
            };
        }
        self.end();
    }

    /// Gives a connection a thread.
    fn take(&mut self, stream: TcpStream) {
        // what is inherited from the listener differs between systems
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        // small words shall not wait for large ones
        let _ = stream.set_nodelay(true);
        if self.open.len() >= MOST_CONNECTIONS {
            let refusal = Refusal {
                status: 503,
                text: format!("{MOST_CONNECTIONS} connections are open, and there is no room for more"),
                news: Some(format!("foxglove: refused a connection, since {MOST_CONNECTIONS} are open")),
            };
            self.shared.count_refused(refusal.news.clone());
            client::refuse(&stream, &refusal);
            return;
        }
        let stream = Arc::new(stream);
        let (own, shared) = (Arc::clone(&stream), Arc::clone(&self.shared));
        match std::thread::Builder::new().name("publish client".into()).spawn(move || client::serve(&own, &shared)) {
            Ok(thread) => self.open.push(Open { stream, thread }),
            Err(err) => self
                .shared
                .tell_once(format!("foxglove: a client was not let in, since the system gives no thread: {err}")),
        }
    }

    /// Says goodbye, waits for a moment, and hangs up.
    fn end(self) {
        self.shared.hub.close();
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline && self.open.iter().any(|open| !open.thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(2));
        }
        for open in &self.open {
            // who has hung up already needs it no more
            let _ = open.stream.shutdown(Shutdown::Both);
        }
        for open in self.open {
            if open.thread.join().is_err() {
                log::error!("a client's thread panicked");
            }
        }
    }
}
