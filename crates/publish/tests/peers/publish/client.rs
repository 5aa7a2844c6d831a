//! Client of Foxglove's WebSocket protocol for tests, and a raw connection for invalid bytes.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_recording::format::decode;
use stereopsis_recording::{Channel, Message, Schema};
use tungstenite::client::IntoClientRequest;
use tungstenite::http::HeaderValue;
use tungstenite::{Error, Message as Wire, WebSocket};

/// Time limit of each wait.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Client {
    socket: WebSocket<TcpStream>,
    /// First message of the server.
    pub(super) info: Value,
    /// Number and channel of each offered topic, by name.
    pub(super) topics: BTreeMap<String, (u64, Arc<Channel>)>,
    subscribed: BTreeMap<u32, Arc<Channel>>,
}

/// Message of a server.
#[derive(Debug)]
pub(super) enum ServerMessage {
    /// Message of a topic, with its log time, ns.
    Message(Arc<Channel>, u64, Vec<u8>),
    /// Any other message except offers of topics.
    Json(Value),
}

impl Client {
    /// Connects and waits for the server information.
    pub(super) fn connect(address: SocketAddr) -> Self {
        Self::connect_to(address, "/")
    }

    /// Like [`Self::connect`], with a path and query.
    pub(super) fn connect_to(address: SocketAddr, path: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("foxglove.sdk.v1"));
        let mut handshake = tungstenite::client::client(request, stream);
        let socket = loop {
            handshake = match handshake {
                Ok((socket, _)) => break socket,
                Err(tungstenite::HandshakeError::Interrupted(middle)) => middle.handshake(),
                Err(err) => panic!("{err}"),
            };
        };
        let mut client = Self { socket, info: Value::Null, topics: BTreeMap::new(), subscribed: BTreeMap::new() };
        client.info = client.json("serverInfo", |_| true);
        client
    }

    /// Returns the next message; `None` if there is none until `until`.
    fn next(&mut self, until: Instant) -> Option<ServerMessage> {
        while Instant::now() < until {
            let wire = match self.socket.read() {
                Ok(wire) => wire,
                Err(Error::Io(err)) if is_pause(&err) => continue,
                Err(err) => panic!("the server hung up: {err}"),
            };
            match wire {
                Wire::Text(text) => {
                    let message: Value = serde_json::from_str(&text).unwrap();
                    if !self.note(&message) {
                        return Some(ServerMessage::Json(message));
                    }
                }
                Wire::Binary(bytes) if bytes[0] == 1 => {
                    let id = u32::from_le_bytes(bytes[1..5].try_into().unwrap());
                    let time = u64::from_le_bytes(bytes[5..13].try_into().unwrap());
                    let channel = self.subscribed.get(&id).map(Arc::clone);
                    if let Some(channel) = channel {
                        return Some(ServerMessage::Message(channel, time, bytes[13..].to_vec()));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Handles offers and withdrawals of topics; returns false for other messages.
    fn note(&mut self, message: &Value) -> bool {
        match message["op"].as_str() {
            Some("advertise") => {
                for offered in message["channels"].as_array().unwrap() {
                    let word = |name: &str| offered[name].as_str().unwrap_or_default().to_owned();
                    let channel = Channel {
                        topic: word("topic"),
                        message_encoding: word("encoding"),
                        schema: Some(
                            Schema { name: word("schemaName"), encoding: word("schemaEncoding"), data: Vec::new() }
                                .into(),
                        ),
                        metadata: BTreeMap::new(),
                    };
                    self.topics.insert(word("topic"), (offered["id"].as_u64().unwrap(), Arc::new(channel)));
                }
            }
            Some("unadvertise") => {
                let gone: Vec<_> = message["channelIds"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
                self.topics.retain(|_, (id, _)| !gone.contains(id));
            }
            _ => return false,
        }
        true
    }

    pub(super) fn send(&mut self, words: &Value) {
        self.socket.send(Wire::text(words.to_string())).unwrap();
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        self.socket.send(Wire::binary(bytes.to_vec())).unwrap();
    }

    /// Waits for the close frame; returns its code.
    pub(super) fn close_code(&mut self) -> Option<u16> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            match self.socket.read() {
                Ok(Wire::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Err(Error::Io(err)) if !is_pause(&err) => panic!("{err}"),
                Err(Error::Io(_)) | Ok(_) => {}
                Err(err) => panic!("{err}"),
            }
        }
        panic!("waited in vain for a goodbye")
    }

    /// Waits until all these topics are offered.
    pub(super) fn until_offered(&mut self, topics: &[&str]) {
        let until = Instant::now() + PATIENCE;
        while topics.iter().any(|topic| !self.topics.contains_key(*topic)) {
            assert!(Instant::now() < until, "{topics:?} are not all offered: {:?}", self.topics.keys());
            self.next(Instant::now() + Duration::from_millis(50));
        }
    }

    /// Subscribes to topics once they are offered.
    pub(super) fn subscribe(&mut self, topics: &[&str]) {
        self.until_offered(topics);
        for topic in topics {
            let (id, channel) = self.topics[*topic].clone();
            self.subscribed.insert(id as u32, channel);
            self.send(&json!({ "op": "subscribe", "subscriptions": [{ "id": id as u32, "channelId": id }] }));
        }
    }

    /// Requests a change of a parameter; the server answers if there is an `id`.
    pub(super) fn set(&mut self, id: Option<&str>, name: &str, value: &Value) {
        let mut words = json!({ "op": "setParameters", "parameters": [{ "name": name, "value": value }] });
        if let Some(id) = id {
            words["id"] = id.into();
        }
        self.send(&words);
    }

    /// Returns all parameters.
    pub(super) fn parameters(&mut self) -> BTreeMap<String, Value> {
        self.send(&json!({ "op": "getParameters", "parameterNames": [], "id": "all" }));
        named(&self.json("parameterValues", |message| message["id"] == "all"))
    }

    /// Subscribes to changes of these parameters.
    pub(super) fn follow(&mut self, names: &[&str]) {
        self.send(&json!({ "op": "subscribeParameterUpdates", "parameterNames": names }));
    }

    /// Waits for a JSON message of this kind.
    pub(super) fn json(&mut self, op: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.next(until) {
                Some(ServerMessage::Json(message)) if message["op"] == op && is_it(&message) => return message,
                Some(_) => {}
                None => panic!("waited in vain for {op}"),
            }
        }
    }

    /// Waits for a message of this topic; returns it with its log time, ns.
    pub(super) fn message(&mut self, topic: &str) -> (u64, Message) {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.next(until) {
                Some(ServerMessage::Message(channel, time, data)) if channel.topic == topic => {
                    return (time, decode(&channel, &data).unwrap());
                }
                Some(_) => {}
                None => panic!("waited in vain for {topic}"),
            }
        }
    }

    /// Waits for one message of each topic.
    pub(super) fn one_of_each(&mut self, topics: &[&str]) -> BTreeMap<String, Message> {
        let until = Instant::now() + PATIENCE;
        let mut found = BTreeMap::new();
        while found.len() < topics.len() {
            match self.next(until) {
                Some(ServerMessage::Message(channel, _, data)) if topics.contains(&channel.topic.as_str()) => {
                    found.insert(channel.topic.clone(), decode(&channel, &data).unwrap());
                }
                Some(_) => {}
                None => panic!("waited in vain for all of {topics:?}; heard {:?}", found.keys()),
            }
        }
        found
    }

    /// Counts the messages that arrive within this time, by topic.
    pub(super) fn count_messages(&mut self, within: Duration) -> BTreeMap<String, usize> {
        let until = Instant::now() + within;
        let mut heard = BTreeMap::new();
        while let Some(message) = self.next(until) {
            if let ServerMessage::Message(channel, ..) = message {
                *heard.entry(channel.topic.clone()).or_default() += 1;
            }
        }
        heard
    }
}

fn is_pause(err: &std::io::Error) -> bool {
    matches!(err.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

/// Connection on which a test can send any bytes.
pub(super) struct RawConnection {
    pub(super) stream: TcpStream,
}

impl RawConnection {
    /// Connects and sends these bytes.
    pub(super) fn begin(address: SocketAddr, bytes: &[u8]) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // fails if the server refuses the connection at once
        let _ = stream.write_all(bytes);
        Self { stream }
    }

    /// Requests a WebSocket with these headers; the default host is the address.
    pub(super) fn ask(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Self {
        let host = if headers.iter().any(|(name, _)| *name == "Host") {
            String::new()
        } else {
            format!("Host: {address}\r\n")
        };
        let mut head = format!("GET {path} HTTP/1.1\r\n{host}");
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head += "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n";
        Self::begin(address, head.as_bytes())
    }

    /// Returns the HTTP status and the body of the answer.
    pub(super) fn answer(mut self) -> (u16, String) {
        let head = self.head();
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = String::new();
        if status != 101 {
            self.stream.read_to_string(&mut body).unwrap();
        }
        (status, body)
    }

    /// Checks that the request was admitted.
    pub(super) fn open(mut self) -> Self {
        let head = self.head();
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        self
    }

    fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        String::from_utf8(head).unwrap()
    }

    /// Reads frames until one matches; returns its opcode and data.
    pub(super) fn until(&mut self, is_it: impl Fn(u8, &[u8]) -> bool) -> (u8, Vec<u8>) {
        loop {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head).unwrap();
            let mut more = vec![
                0;
                match head[1] {
                    126 => 2,
                    127 => 8,
                    _ => 0,
                }
            ];
            self.stream.read_exact(&mut more).unwrap();
            let told = more.iter().fold(0, |sum: usize, byte| sum << 8 | usize::from(*byte));
            let mut data = vec![0; if more.is_empty() { usize::from(head[1]) } else { told }];
            self.stream.read_exact(&mut data).unwrap();
            if is_it(head[0] & 15, &data) {
                return (head[0] & 15, data);
            }
        }
    }

    /// Waits for a text frame that contains these words; returns it.
    pub(super) fn until_text(&mut self, words: &str) -> String {
        let (_, data) = self.until(|opcode, data| opcode == 1 && String::from_utf8_lossy(data).contains(words));
        String::from_utf8(data).unwrap()
    }

    /// Waits for the close frame and the end of the connection; returns the code.
    pub(super) fn close_code(mut self) -> Option<u16> {
        let (_, data) = self.until(|opcode, _| opcode == 8);
        let code = data.get(..2).map(|code| u16::from_be_bytes([code[0], code[1]]));
        assert_eq!(self.stream.read(&mut [0]).unwrap_or_default(), 0, "nothing comes after the goodbye");
        code
    }
}

/// Returns the names and values of a message `parameterValues`.
pub(super) fn named(message: &Value) -> BTreeMap<String, Value> {
    let parameters = message["parameters"].as_array().unwrap().iter();
    parameters.map(|one| (one["name"].as_str().unwrap().to_owned(), one["value"].clone())).collect()
}
