//! Requests and answers of Foxglove's WebSocket protocol (github.com/foxglove/ws-protocol), as far as this server supports it.
//! Parses the JSON of clients and encodes answers as bytes of WebSocket frames; does no input or output.

use serde::Deserialize;
use serde_json::{Value, json};
use stereopsis_base::console;
use stereopsis_recording::Channel;
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tungstenite::protocol::frame::{Frame, FrameHeader};

pub(crate) const SUBPROTOCOL: &str = "foxglove.sdk.v1";

/// Request of a client.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Request {
    /// Subscribes to topics.
    Subscribe {
        /// Topics with the numbers of their subscriptions.
        subscriptions: Vec<Subscription>,
    },
    /// Ends subscriptions.
    Unsubscribe {
        /// Numbers of subscriptions.
        subscription_ids: Vec<u32>,
    },
    /// Reads parameters.
    GetParameters {
        /// Names; empty for all.
        parameter_names: Vec<String>,
        /// Number of the answer.
        id: Option<String>,
    },
    /// Sets parameters.
    SetParameters {
        /// Names and values.
        parameters: Vec<ParameterSetting>,
        /// Number of the answer; `None` for no answer.
        id: Option<String>,
    },
    /// Subscribes to changes of parameters.
    SubscribeParameterUpdates {
        /// Names.
        parameter_names: Vec<String>,
    },
    /// Ends subscriptions to changes of parameters.
    UnsubscribeParameterUpdates {
        /// Names.
        parameter_names: Vec<String>,
    },
    /// Request that this server does not support.
    #[serde(other)]
    Other,
}

/// Subscription to one topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    /// Number of the subscription, which its messages carry.
    pub id: u32,
    /// Number of the topic.
    pub channel_id: u64,
}

/// Parameter and its requested value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ParameterSetting {
    /// Name.
    pub name: String,
    /// Value in the types of the client.
    #[serde(default)]
    pub value: Value,
}

impl Request {
    /// Parses a client's text.
    ///
    /// # Errors
    /// The text is not a request.
    pub fn read(text: &str) -> Result<Self, RequestError> {
        serde_json::from_str(text).map_err(RequestError)
    }
}

/// Text of a client that is no request.
#[derive(Debug, thiserror::Error)]
#[error("this is no request: {}", console::foreign(&.0.to_string()))]
pub struct RequestError(serde_json::Error);

/// Returns the server information, the first message to a client.
pub(super) fn server_info(session: &str) -> Vec<u8> {
    text(&json!({
        "op": "serverInfo",
        "name": "Stereopsis",
        "capabilities": ["parameters", "parametersSubscribe"],
        "metadata": { "stereopsis": env!("CARGO_PKG_VERSION") },
        "sessionId": session,
    }))
}

pub(super) fn advertise<'a>(channels: impl Iterator<Item = (u64, &'a Channel)>) -> Vec<u8> {
    let advertised = |(id, channel): (u64, &Channel)| {
        let mut topic = json!({
            "id": id,
            "topic": channel.topic,
            "encoding": channel.message_encoding,
            "schemaName": "",
            "schema": "",
        });
        if let Some(schema) = &channel.schema {
            topic["schemaName"] = schema.name.as_str().into();
            topic["schemaEncoding"] = schema.encoding.as_str().into();
            topic["schema"] = match schema.encoding.as_str() {
                "protobuf" => data_encoding::BASE64.encode(&schema.data).into(),
                _ => String::from_utf8_lossy(&schema.data).into(),
            };
        }
        if !channel.metadata.is_empty() {
            topic["metadata"] = json!(channel.metadata);
        }
        topic
    };
    text(&json!({ "op": "advertise", "channels": channels.map(advertised).collect::<Vec<_>>() }))
}

pub(super) fn unadvertise(id: u64) -> Vec<u8> {
    text(&json!({ "op": "unadvertise", "channelIds": [id] }))
}

/// Returns values of parameters; `id` is the number of the request that they answer.
pub(super) fn parameter_values(values: &[(&str, Value)], id: Option<&str>) -> Vec<u8> {
    let parameters: Vec<_> = values.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let mut words = json!({ "op": "parameterValues", "parameters": parameters });
    if let Some(id) = id {
        words["id"] = id.into();
    }
    text(&words)
}

pub(super) fn error(message: &str) -> Vec<u8> {
    text(&json!({ "op": "status", "level": 2, "message": message }))
}

fn text(words: &Value) -> Vec<u8> {
    bytes(Frame::message(words.to_string(), OpCode::Data(Data::Text), true))
}

pub(super) fn ping() -> Vec<u8> {
    bytes(Frame::ping(Vec::new()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloseReason {
    Away,
    /// The client sent invalid WebSocket frames.
    ProtocolError,
    TooLong,
    NotReading,
}

pub(super) fn close(why: CloseReason) -> Vec<u8> {
    let (code, reason) = match why {
        CloseReason::Away => (CloseCode::Away, "stereopsis ends"),
        CloseReason::ProtocolError => (CloseCode::Protocol, "this is no WebSocket"),
        CloseReason::TooLong => (CloseCode::Size, "a message to stereopsis has at most 64 KiB"),
        CloseReason::NotReading => (CloseCode::Policy, "too many answers wait to be read"),
    };
    bytes(Frame::close(Some(CloseFrame { code, reason: reason.into() })))
}

/// Returns the bytes before the data of a message: the heads of the WebSocket frame and of the message.
pub(super) fn message_head(subscription: u32, log_time_ns: u64, data_bytes: usize) -> Vec<u8> {
    const OWN_BYTES: usize = 1 + 4 + 8;
    let header = FrameHeader { opcode: OpCode::Data(Data::Binary), ..FrameHeader::default() };
    let mut head = Vec::with_capacity(10 + OWN_BYTES);
    // writing to a vector cannot fail
    let _ = header.format((OWN_BYTES + data_bytes) as u64, &mut head);
    head.push(1);
    head.extend(subscription.to_le_bytes());
    head.extend(log_time_ns.to_le_bytes());
    head
}

fn bytes(frame: Frame) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = frame.format(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_requests_and_rejects_invalid_text() {
        let read = |text: &str| Request::read(text).map_err(|why| why.to_string());
        let one = Subscription { id: 7, channel_id: 1 << 40 };
        assert_eq!(
            read(r#"{"op":"subscribe","subscriptions":[{"id":7,"channelId":1099511627776}]}"#),
            Ok(Request::Subscribe { subscriptions: vec![one] })
        );
        assert_eq!(
            read(r#"{"subscriptionIds":[7],"op":"unsubscribe"}"#),
            Ok(Request::Unsubscribe { subscription_ids: vec![7] })
        );
        let wish = |value: Value| ParameterSetting { name: "p1".into(), value };
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
    fn a_message_of_any_length_is_one_frame() {
        for (data_bytes, head) in [(100, 2), (1_000, 4), (100_000, 10)] {
            assert_eq!(message_head(7, 9, data_bytes).len(), head + 13);
        }
        let head = message_head(0x0403_0201, 5, 100);
        assert_eq!(head[..], [0x82, 113, 1, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0]);
    }
}
