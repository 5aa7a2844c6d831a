//! One connection: the handshake, then a thread that reads and answers requests, and one that writes the [`Outbox`] to the network.
//! The reader must never write to the network itself: only the writer may wait for it.

use super::foxglove::Foxglove;
use super::guard::{Admitted, Refusal};
use super::hub::MAX_CLIENTS;
use super::outbox::{Outbox, OutboxItem};
use super::protocol::{self, CloseReason, Request};
use super::publication::Shared;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use stereopsis_base::files;
use stereopsis_stereo::StereoParams;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message as Wire, WebSocket};

/// Time limit for a client to send its request.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum size of a client's message, over all its frames. A message with all parameters has a tenth of it.
pub const MAX_MESSAGE_BYTES: usize = 64 << 10;
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Size of one write. Smaller writes show progress of a large image on a slow network, see [`CLIENT_TIMEOUT`].
const CHUNK_BYTES: usize = 64 << 10;
/// Time after which a client is disconnected: one that reads nothing, or one that sends nothing while no messages are sent to it.
const CLIENT_TIMEOUT: Duration = Duration::from_mins(1);
const MAX_COMPLAINTS: usize = 8;
/// Time limit for a client to read why the connection ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves one client until it closes the connection or is disconnected.
pub(super) fn serve(stream: &Arc<TcpStream>, shared: &Arc<Shared<Foxglove>>) {
    let outbox = Arc::<Outbox>::default();
    match handshake(stream, shared, &outbox) {
        Ok(Some((client, rest))) => serve_client(stream, shared, &outbox, client, rest),
        Ok(None) => {}
        Err(refusal) => {
            shared.count_refused(refusal.message.clone());
            refuse(stream, &refusal);
            let _ = stream.shutdown(Shutdown::Write);
            linger(stream);
        }
    }
    let _ = stream.shutdown(Shutdown::Both); // fails if the client has closed it
}

pub(super) fn refuse(mut stream: &TcpStream, refusal: &Refusal) {
    // a client that does not read it is refused as well
    let _ = stream.set_write_timeout(Some(CLOSE_TIMEOUT)).and_then(|()| stream.write_all(&refusal.answer()));
}

/// Reads and answers the HTTP request. Returns the client's number and the bytes after its request; `None` if it has disconnected.
fn handshake(
    stream: &Arc<TcpStream>,
    shared: &Shared<Foxglove>,
    outbox: &Arc<Outbox>,
) -> Result<Option<(u64, Vec<u8>)>, Refusal> {
    let mut reader: &TcpStream = stream;
    let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
    let mut bytes = Vec::new();
    let mut piece = [0; 1 << 10];
    let Admitted { answer, head_bytes } = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Refusal::new(
                408,
                format!("the request did not come within {} s", HANDSHAKE_TIMEOUT.as_secs()),
            ));
        }
        match stream.set_read_timeout(Some(left)).and_then(|()| reader.read(&mut piece)) {
            Ok(0) => return Ok(None),
            Ok(n) => bytes.extend_from_slice(&piece[..n]),
            Err(err) if is_pause(&err) => continue,
            Err(_) => return Ok(None),
        }
        if let Some(judged) = shared.link.guard.judge(&bytes) {
            break judged?;
        }
    };
    let Some(client) = shared.link.hub.join(Arc::clone(outbox)) else {
        return Err(Refusal {
            status: 503,
            text: format!("{MAX_CLIENTS} clients are connected, and there is no room for more: close one"),
            message: Some(format!("foxglove: refused a client, since {MAX_CLIENTS} are connected")),
        });
    };
    let is_answered = stream.set_write_timeout(Some(CLIENT_TIMEOUT)).and_then(|()| (&**stream).write_all(&answer));
    if is_answered.is_err() {
        shared.link.hub.leave(client);
        return Ok(None);
    }
    Ok(Some((client, bytes.split_off(head_bytes))))
}

fn serve_client(
    stream: &Arc<TcpStream>,
    shared: &Arc<Shared<Foxglove>>,
    outbox: &Arc<Outbox>,
    client: u64,
    rest: Vec<u8>,
) {
    let (reading, is_read) = mpsc::sync_channel::<()>(0);
    let writer = {
        let (stream, outbox) = (Arc::clone(stream), Arc::clone(outbox));
        let writer = std::thread::Builder::new().name("publish to client".into());
        writer.spawn(move || write(&stream, &outbox, &is_read))
    };
    match writer {
        Ok(writer) => {
            // without a timeout a client that vanished would keep its place for ever
            let _ = stream.set_read_timeout(Some(CLIENT_TIMEOUT));
            let why = read_requests(stream, shared, outbox, client, rest);
            shared.link.hub.leave(client);
            shared.inbox.put_other(|input| input.subscriptions = true);
            outbox.end(why);
            linger(stream);
            let _ = stream.shutdown(Shutdown::Both);
            drop(reading);
            if writer.join().is_err() {
                log::error!("a thread that writes to a client panicked");
            }
        }
        Err(err) => {
            shared.link.hub.leave(client);
            shared.report_once(format!(
                "foxglove: a client was sent away, since the system gives no thread: {}",
                files::cause(&err)
            ));
        }
    }
    shared.wake();
}

fn read_requests(
    stream: &Arc<TcpStream>,
    shared: &Shared<Foxglove>,
    outbox: &Arc<Outbox>,
    client: u64,
    rest: Vec<u8>,
) -> CloseReason {
    let config = WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .write_buffer_size(0)
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let stream = ReaderStream { stream: Arc::clone(stream), outbox: Arc::clone(outbox) };
    let mut sent_bytes = outbox.sent_bytes();
    let mut socket = WebSocket::from_partially_read(stream, rest, Role::Server, Some(config));
    while !outbox.has_ended() {
        match socket.read() {
            Ok(Wire::Text(text)) => match Request::read(&text) {
                Ok(request) => handle_request(request, shared, outbox, client),
                Err(why) => outbox.put_control(protocol::error(&why.to_string())),
            },
            Ok(Wire::Binary(_)) => outbox.put_control(protocol::error(NOT_OFFERED)),
            Ok(_) => {}
            Err(Error::Capacity(_)) => {
                let most = MAX_MESSAGE_BYTES >> 10;
                shared.count_refused(Some(format!("foxglove: sent a client away: a message has at most {most} KiB")));
                return CloseReason::TooLong;
            }
            // on a slow network a ping waits behind messages: while their bytes are sent, the client is alive
            Err(Error::Io(err)) if is_pause(&err) && outbox.sent_bytes() != sent_bytes => {
                sent_bytes = outbox.sent_bytes();
            }
            Err(Error::Io(_) | Error::ConnectionClosed | Error::AlreadyClosed) => return CloseReason::Away,
            Err(_) => return CloseReason::ProtocolError,
        }
    }
    CloseReason::Away
}

const NOT_OFFERED: &str = "stereopsis offers topics and parameters, and nothing else";

fn handle_request(request: Request, shared: &Shared<Foxglove>, outbox: &Outbox, client: u64) {
    let complain = |complaints: &[String]| {
        let (listed, more) = complaints.split_at(complaints.len().min(MAX_COMPLAINTS));
        let more = if more.is_empty() { String::new() } else { format!("; {} more", more.len()) };
        if !listed.is_empty() {
            outbox.put_control(protocol::error(&(listed.join("; ") + &more)));
        }
    };
    let known = |names: Vec<String>| names.into_iter().filter_map(|name| Some(StereoParams::parameter(&name)?.name));
    match request {
        Request::Subscribe { subscriptions } => {
            complain(&shared.link.hub.subscribe(client, &subscriptions));
            shared.inbox.put_other(|input| input.subscriptions = true);
        }
        Request::Unsubscribe { subscription_ids } => {
            shared.link.hub.unsubscribe(client, &subscription_ids);
            shared.inbox.put_other(|input| input.subscriptions = true);
        }
        Request::GetParameters { parameter_names, id } => {
            outbox.put_control(protocol::parameter_values(&shared.panel.get(&parameter_names), id.as_deref()));
        }
        Request::SetParameters { parameters, id } => {
            let refused = shared.panel.request(&parameters);
            let names: Vec<_> = parameters.into_iter().map(|setting| setting.name).collect();
            if let Some(id) = id {
                let values = if names.is_empty() { Vec::new() } else { shared.panel.get(&names) };
                outbox.put_control(protocol::parameter_values(&values, Some(&id)));
            }
            complain(&refused);
            shared.parameters_requested(refused);
        }
        Request::SubscribeParameterUpdates { parameter_names } => {
            shared.link.hub.follow(client, known(parameter_names));
        }
        Request::UnsubscribeParameterUpdates { parameter_names } => {
            shared.link.hub.unfollow(client, known(parameter_names));
        }
        Request::Other => outbox.put_control(protocol::error(NOT_OFFERED)),
    }
}

fn write(stream: &TcpStream, outbox: &Outbox, is_read: &mpsc::Receiver<()>) {
    let is_done = write_all(stream, outbox).is_ok();
    outbox.abandon();
    if is_done {
        let _ = stream.shutdown(Shutdown::Write);
        // returns when the reader ends
        let _ = is_read.recv_timeout(CLOSE_TIMEOUT);
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn write_all(mut stream: &TcpStream, outbox: &Outbox) -> io::Result<()> {
    let mut ping_due = Instant::now() + PING_INTERVAL;
    loop {
        match outbox.next(ping_due) {
            OutboxItem::Control(frames) => stream.write_all(&frames)?,
            OutboxItem::Message(message) => {
                stream.write_all(&message.head)?;
                for part in message.data.chunks(CHUNK_BYTES) {
                    stream.write_all(part)?;
                    outbox.count_sent(part.len());
                }
            }
            OutboxItem::Nothing => {}
            OutboxItem::End => return Ok(()),
        }
        if Instant::now() >= ping_due {
            ping_due = Instant::now() + PING_INTERVAL;
            stream.write_all(&protocol::ping())?;
        }
    }
}

/// Waits until the client has read the close frame and closes the connection. Unread bytes of the client would reset the connection
/// before the close frame arrives.
fn linger(mut stream: &TcpStream) {
    let deadline = Instant::now() + CLOSE_TIMEOUT;
    let mut piece = [0; 4 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        match stream.read(&mut piece) {
            Ok(0) => return,
            Ok(_) => {}
            Err(err) if is_pause(&err) => {}
            Err(_) => return,
        }
    }
}

fn is_pause(err: &io::Error) -> bool {
    matches!(err.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Stream of the reader. `tungstenite` answers pings and close frames itself; these answers go to the outbox.
struct ReaderStream {
    stream: Arc<TcpStream>,
    outbox: Arc<Outbox>,
}

impl Read for ReaderStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self.stream).read(bytes)
    }
}

impl Write for ReaderStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outbox.put_control(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
