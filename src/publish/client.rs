//! One connection: a request that is judged, then a thread that reads what the client says and one that writes what it gets.
//!
//! Only the writer waits for the network. What it cannot write stays in the [`Outbox`], which forgets the oldest messages.

use super::Shared;
use super::guard::{Admitted, Refusal};
use super::hub::MOST_CLIENTS;
use super::outbox::{Next, Outbox};
use super::protocol::{self, Farewell, Request};
use crate::stereo::StereoParams;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message as Wire, WebSocket};

/// How long a client may take for its request.
pub const HANDSHAKE: Duration = Duration::from_secs(3);
/// Bytes of one message of a client, in however many parts it comes. All parameters at once are a tenth of it.
pub const MOST_MESSAGE_BYTES: usize = 64 << 10;
/// After so long a client is asked whether it is still there.
const PING_EVERY: Duration = Duration::from_secs(20);
/// What is written at once; a slow network takes a large picture piece by piece.
const PART_BYTES: usize = 64 << 10;
/// A client that takes nothing for so long is gone, and so is one that says nothing and is sent no messages.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long the other side may take to hear why it is sent away.
const LINGER: Duration = Duration::from_secs(1);

/// Serves one client until it goes or is sent away.
pub(super) fn serve(stream: &Arc<TcpStream>, shared: &Arc<Shared>) {
    let outbox = Arc::<Outbox>::default();
    match greet(stream, shared, &outbox) {
        Ok(Some((client, rest))) => talk(stream, shared, &outbox, client, rest),
        Ok(None) => {}
        Err(refusal) => {
            shared.count_refused(refusal.news.clone());
            refuse(stream, &refusal);
            let _ = stream.shutdown(Shutdown::Write);
            linger(stream);
        }
    }
    // whoever has gone is not there to be told
    let _ = stream.shutdown(Shutdown::Both);
}

/// Says why somebody is not let in.
pub(super) fn refuse(mut stream: &TcpStream, refusal: &Refusal) {
    // who does not listen is not let in either
    let _ = stream.set_write_timeout(Some(LINGER)).and_then(|()| stream.write_all(&refusal.answer()));
}

/// Reads and answers the request: the number of the client, and what it has sent after its request. `None` if it has gone.
fn greet(stream: &Arc<TcpStream>, shared: &Shared, outbox: &Arc<Outbox>) -> Result<Option<(u64, Vec<u8>)>, Refusal> {
    let mut reader: &TcpStream = stream;
    let deadline = Instant::now() + HANDSHAKE;
    let mut bytes = Vec::new();
    let mut piece = [0; 1 << 10];
    let Admitted { answer, head_bytes } = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Refusal::new(408, format!("the request did not come within {} s", HANDSHAKE.as_secs())));
        }
        match stream.set_read_timeout(Some(left)).and_then(|()| reader.read(&mut piece)) {
            Ok(0) => return Ok(None),
            Ok(n) => bytes.extend_from_slice(&piece[..n]),
            Err(err) if is_pause(&err) => continue,
            Err(_) => return Ok(None),
        }
        if let Some(judged) = shared.guard.judge(&bytes) {
            break judged?;
        }
    };
    let Some(client) = shared.hub.join(Arc::clone(outbox)) else {
        return Err(Refusal {
            status: 503,
            text: format!("{MOST_CLIENTS} clients are connected, and there is no room for more: close one"),
            news: Some(format!("foxglove: refused a client, since {MOST_CLIENTS} are connected")),
        });
    };
    let is_answered = stream.set_write_timeout(Some(PATIENCE)).and_then(|()| (&**stream).write_all(&answer));
    if is_answered.is_err() {
        shared.hub.leave(client);
        return Ok(None);
    }
    Ok(Some((client, bytes.split_off(head_bytes))))
}

/// Reads what the client says; a thread beside writes.
fn talk(stream: &Arc<TcpStream>, shared: &Arc<Shared>, outbox: &Arc<Outbox>, client: u64, rest: Vec<u8>) {
    let (reading, is_read) = mpsc::sync_channel::<()>(0);
    let writer = {
        let (stream, outbox) = (Arc::clone(stream), Arc::clone(outbox));
        let writer = std::thread::Builder::new().name("publish to client".into());
        writer.spawn(move || write(&stream, &outbox, &is_read))
    };
    match writer {
        Ok(writer) => {
            // without a time limit a client that is gone stays for ever
            let _ = stream.set_read_timeout(Some(PATIENCE));
            let why = hear(stream, shared, outbox, client, rest);
            shared.hub.leave(client);
            shared.inbox.put_other(|mail| mail.subscriptions = true);
            outbox.end(why);
            linger(stream);
            let _ = stream.shutdown(Shutdown::Both);
            drop(reading);
            if writer.join().is_err() {
                log::error!("a thread that writes to a client panicked");
            }
        }
        Err(err) => {
            shared.hub.leave(client);
            shared.tell_once(format!("foxglove: a client was sent away, since the system gives no thread: {err}"));
        }
    }
    shared.wake();
}

/// Does what the client asks for, until it goes or must go.
fn hear(stream: &Arc<TcpStream>, shared: &Shared, outbox: &Arc<Outbox>, client: u64, rest: Vec<u8>) -> Farewell {
    let config = WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .write_buffer_size(0)
        .max_message_size(Some(MOST_MESSAGE_BYTES))
        .max_frame_size(Some(MOST_MESSAGE_BYTES));
    let line = Line { stream: Arc::clone(stream), outbox: Arc::clone(outbox) };
    let mut sent_bytes = outbox.sent_bytes();
    let mut socket = WebSocket::from_partially_read(line, rest, Role::Server, Some(config));
    while !outbox.has_ended() {
        match socket.read() {
            Ok(Wire::Text(text)) => match Request::read(&text) {
                Ok(request) => answer(request, shared, outbox, client),
                Err(why) => outbox.put_words(protocol::error(&why)),
            },
            Ok(Wire::Binary(_)) => outbox.put_words(protocol::error(NOT_OFFERED)),
            Ok(_) => {}
            Err(Error::Capacity(_)) => {
                let most = MOST_MESSAGE_BYTES >> 10;
                shared.count_refused(Some(format!("foxglove: sent a client away: a message has at most {most} KiB")));
                return Farewell::TooLong;
            }
            // a ping may lie behind messages on a slow network: as long as it takes those, the client is there
            Err(Error::Io(err)) if is_pause(&err) && outbox.sent_bytes() != sent_bytes => {
                sent_bytes = outbox.sent_bytes();
            }
            Err(Error::Io(_) | Error::ConnectionClosed | Error::AlreadyClosed) => return Farewell::Away,
            Err(_) => return Farewell::Nonsense,
        }
    }
    Farewell::Away
}

const NOT_OFFERED: &str = "stereopsis offers topics and parameters, and nothing else";

/// Does one thing that the client asks for.
fn answer(request: Request, shared: &Shared, outbox: &Outbox, client: u64) {
    let complain = |complaints: &[String]| {
        const MOST: usize = 8;
        if !complaints.is_empty() {
            let more = complaints.len().saturating_sub(MOST);
            let more = if more > 0 { format!("; {more} more") } else { String::new() };
            outbox.put_words(protocol::error(&(complaints[..complaints.len().min(MOST)].join("; ") + &more)));
        }
    };
    let known = |names: Vec<String>| names.into_iter().filter_map(|name| Some(StereoParams::parameter(&name)?.name));
    match request {
        Request::Subscribe { subscriptions } => {
            complain(&shared.hub.subscribe(client, &subscriptions));
            shared.inbox.put_other(|mail| mail.subscriptions = true);
        }
        Request::Unsubscribe { subscription_ids } => {
            shared.hub.unsubscribe(client, &subscription_ids);
            shared.inbox.put_other(|mail| mail.subscriptions = true);
        }
        Request::GetParameters { parameter_names, id } => {
            outbox.put_words(protocol::parameter_values(&shared.panel.get(&parameter_names), id.as_deref()));
        }
        Request::SetParameters { parameters, id } => {
            let refused = shared.panel.set(&parameters);
            let names: Vec<_> = parameters.into_iter().map(|wish| wish.name).collect();
            if let Some(id) = id {
                let values = if names.is_empty() { Vec::new() } else { shared.panel.get(&names) };
                outbox.put_words(protocol::parameter_values(&values, Some(&id)));
            }
            complain(&refused);
            shared.put_events(refused);
            // who follows it learns what is in force, also where that is what it was
            shared.inbox.put_other(|mail| mail.parameters = true);
            shared.wake();
        }
        Request::SubscribeParameterUpdates { parameter_names } => {
            shared.hub.follow(client, known(parameter_names), true);
        }

        Request::UnsubscribeParameterUpdates { parameter_names } => {
            shared.hub.follow(client, known(parameter_names), false);
        }
        Request::Other => outbox.put_words(protocol::error(NOT_OFFERED)),
    }
}

/// Writes what is put into the outbox, until nothing more comes.
fn write(stream: &TcpStream, outbox: &Outbox, is_read: &mpsc::Receiver<()>) {
    let is_done = write_all(stream, outbox).is_ok();
    outbox.abandon();
    if is_done {
        // the last words must arrive before the end does
        let _ = stream.shutdown(Shutdown::Write);
        // nothing is sent to here: it ends with the reader, or else the time does
        let _ = is_read.recv_timeout(LINGER);
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn write_all(mut stream: &TcpStream, outbox: &Outbox) -> io::Result<()> {
    let mut ping_due = Instant::now() + PING_EVERY;
    loop {
        match outbox.next(ping_due) {
            Next::Words(frames) => stream.write_all(&frames)?,
            Next::Message(message) => {
                stream.write_all(&message.head)?;
                for part in message.data.chunks(PART_BYTES) {
                    stream.write_all(part)?;
                    outbox.count_sent(part.len());
                }
            }
            Next::Nothing => {}
            Next::End => return Ok(()),
        }
        if Instant::now() >= ping_due {
            ping_due = Instant::now() + PING_EVERY;
            stream.write_all(&protocol::ping())?;
        }
    }
}

/// Waits until the other side has heard the last words and hangs up, so that they are not lost with what it still sends.
fn linger(mut stream: &TcpStream) {
    let deadline = Instant::now() + LINGER;
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

/// The reader's end of a connection: what it answers by itself, to pings and farewells, takes the way of all words.
struct Line {
    stream: Arc<TcpStream>,
    outbox: Arc<Outbox>,
}

impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self.stream).read(bytes)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outbox.put_words(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
