//! The words of Foxglove's WebSocket protocol that are spoken here (github.com/foxglove/ws-protocol), and the bytes of what is sent.

use crate::console;
use crate::recording::Channel;
use serde::Deserialize;
use serde_json::{Value, json};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tungstenite::protocol::frame::{Frame, FrameHeader};

/// What a client must ask for.
pub const SUBPROTOCOL: &str = "foxglove.sdk.v1";

/// What a client says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Request {
    /// Messages of these topics are wanted.
    Subscribe {
        /// Each with the number that its messages shall carry.
        subscriptions: Vec<Subscription>,
    },
    /// And no more.
    Unsubscribe {
        /// The numbers that their messages carried.
        subscription_ids: Vec<u32>,
    },
    /// Values are asked for.
    GetParameters {
        /// All where there is none.
        parameter_names: Vec<String>,
        /// What the answer shall carry.
        id: Option<String>,
    },
    /// Values are wanted.
    SetParameters {
        /// Names and values.
        parameters: Vec<Wish>,
        /// What the answer shall carry; no answer without.
        id: Option<String>,
    },
    /// Changes are to be told from now on.
    SubscribeParameterUpdates {
        /// Of these.
        parameter_names: Vec<String>,
    },
    /// And no more.
    UnsubscribeParameterUpdates {
        /// Of these.
        parameter_names: Vec<String>,
    },
    /// Something that this server does not offer.
    #[serde(other)]
    Other,
}

/// One topic that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    /// The number that its messages shall carry.
    pub id: u32,
    /// The topic's.
    pub channel_id: u64,
}

/// A parameter and the value that it shall have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Wish {
    /// Its name.
    pub name: String,
    /// In the client's types.
    #[serde(default)]
    pub value: Value,
}

impl Request {
    /// Reads a client's text. Takes any.
    ///
    /// # Errors
    /// It is no request; why, in words.
    pub fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|err| format!("this is no request: {}", console::foreign(&err.to_string())))
    }
}

/// The first thing that a client hears.
pub(super) fn server_info(session: &str) -> Vec<u8> {
    text(&json!({
        "op": "serverInfo",
        "name": "Stereopsis",
        "capabilities": ["parameters", "parametersSubscribe"],
        "metadata": { "stereopsis": env!("CARGO_PKG_VERSION") },
        "sessionId": session,
    }))
}

/// Topics that are offered.
pub(super) fn advertise<'a>(channels: impl Iterator<Item = (u64, &'a Channel)>) -> Vec<u8> {
    let told = |(id, channel): (u64, &Channel)| {
        let mut told = json!({
            "id": id,
            "topic": channel.topic,
            "encoding": channel.message_encoding,
            "schemaName": "",
            "schema": "",
        });
        if let Some(schema) = &channel.schema {
            told["schemaName"] = schema.name.as_str().into();
            told["schemaEncoding"] = schema.encoding.as_str().into();
            told["schema"] = match schema.encoding.as_str() {
                "protobuf" => data_encoding::BASE64.encode(&schema.data).into(),
                _ => String::from_utf8_lossy(&schema.data).into(),
            };
        }
        if !channel.metadata.is_empty() {
            told["metadata"] = json!(channel.metadata);
        }
        told
    };
    text(&json!({ "op": "advertise", "channels": channels.map(told).collect::<Vec<_>>() }))
}

/// A topic that is offered no more.
pub(super) fn unadvertise(id: u64) -> Vec<u8> {
    text(&json!({ "op": "unadvertise", "channelIds": [id] }))
}

/// Values of parameters; `id` is that of the request, where there was one.
pub(super) fn parameter_values(values: &[(&str, Value)], id: Option<&str>) -> Vec<u8> {
    let parameters: Vec<_> = values.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let mut words = json!({ "op": "parameterValues", "parameters": parameters });
    if let Some(id) = id {
        words["id"] = id.into();
    }
    text(&words)
}

/// Something went wrong.
pub(super) fn error(message: &str) -> Vec<u8> {
    text(&json!({ "op": "status", "level": 2, "message": message }))
}

fn text(words: &Value) -> Vec<u8> {
    bytes(Frame::message(words.to_string(), OpCode::Data(Data::Text), true))
}

/// Is the other side there?
pub(super) fn ping() -> Vec<u8> {
    bytes(Frame::ping(Vec::new()))
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Farewell {
    /// The program ends.
    Away,
    /// The client said what is not understood.
    Nonsense,
    /// A message of the client was too long.
    TooLong,
    /// The client does not listen to answers that it has asked for.
    Deaf,
}

/// The last frame.
pub(super) fn close(why: Farewell) -> Vec<u8> {
    let (code, reason) = match why {
        Farewell::Away => (CloseCode::Away, "stereopsis ends"),
        Farewell::Nonsense => (CloseCode::Protocol, "this is no WebSocket"),
        Farewell::TooLong => (CloseCode::Size, "a message to stereopsis has at most 64 KiB"),
        Farewell::Deaf => (CloseCode::Policy, "too many answers wait to be read"),
    };
    bytes(Frame::close(Some(CloseFrame { code, reason: reason.into() })))
}

/// What comes before the data of a topic's message: the frame's head and the message's own.
pub(super) fn message_head(subscription: u32, log_time_ns: u64, data_bytes: usize) -> Vec<u8> {
    const OWN_BYTES: usize = 1 + 4 + 8;
    let header = FrameHeader { opcode: OpCode::Data(Data::Binary), ..FrameHeader::default() };
    let mut head = Vec::with_capacity(10 + OWN_BYTES);
    // a vector takes all that is written
    let _ = header.format((OWN_BYTES + data_bytes) as u64, &mut head);
    head.push(1);
    head.extend(subscription.to_le_bytes());
    head.extend(log_time_ns.to_le_bytes());
    head
}

fn bytes(frame: Frame) -> Vec<u8> {
    let mut bytes = Vec::new();
    // as above
    let _ = frame.format(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_nonsense_is_refused_in_words() {
        let read = |text: &str| Request::read(text);
        let one = Subscription { id: 7, channel_id: 1 << 40 };
        assert_eq!(
            read(r#"{"op":"subscribe","subscriptions":[{"id":7,"channelId":1099511627776}]}"#),
            Ok(Request::Subscribe { subscriptions: vec![one] })
        );
        assert_eq!(
            read(r#"{"subscriptionIds":[7],"op":"unsubscribe"}"#),
            Ok(Request::Unsubscribe { subscription_ids: vec![7] })
        );
        let wish = |value: Value| Wish { name: "p1".into(), value };
        for (value, means) in [("17", json!(17)), ("17.5", json!(17.5)), ("\"off\"", json!("off")), ("[1]", json!([1]))]
        {
            let text = format!(
                r#"{{"op":"setParameters","parameters":[{{"name":"p1","value":{value},"type":"float64"}}],"id":"a"}}"#
            );
            assert_eq!(read(&text), Ok(Request::SetParameters { parameters: vec![wish(means)], id: Some("a".into()) }));
        }
        let unset = r#"{"op":"setParameters","parameters":[{"name":"p1"}]}"#;
        assert_eq!(read(unset), Ok(Request::SetParameters { parameters: vec![wish(Value::Null)], id: None }));
        assert_eq!(read(r#"{"op":"fetchAsset","uri":"file:///etc/passwd","requestId":1}"#), Ok(Request::Other));
        let deep = format!(r#"{{"op":"setParameters","parameters":[{{"name":"p1","value":{}"#, "[".repeat(50_000));
        for text in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"op":7}"#,
            r#"{"op":"subscribe"}"#,
            r#"{"op":"subscribe","subscriptions":[{"id":-1,"channelId":1}]}"#,
            &deep,
        ] {
            let why = read(text).unwrap_err();
            assert!(why.starts_with("this is no request: ") && why.chars().count() < 150, "{text}: {why}");
        }
        let steering = read("{\"op\":\"getParameters\",\"parameterNames\":\"\\u001b[2J\"}").unwrap_err();
        assert!(!steering.contains('\u{1b}'), "{steering}");
    }

    #[test]
    fn a_message_is_one_frame_whatever_its_length() {
        for (data_bytes, head) in [(100, 2), (1_000, 4), (100_000, 10)] {
            assert_eq!(message_head(7, 9, data_bytes).len(), head + 13);
        }
        let head = message_head(0x0403_0201, 5, 100);
        assert_eq!(head[..], [0x82, 113, 1, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0]);
    }
}
