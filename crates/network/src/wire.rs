//! Messages on the network: a 40-byte header as Zenoh's attachment, and the packets of a recording as payload. Any program that reaches a
//! router can send, so everything received must be validated before it is kept.

use super::error::NetworkError;
use std::collections::BTreeMap;
use std::io::{Read, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;
use stereopsis_recording::format::Kind;
use stereopsis_recording::{Channel, Format, Packet};
use zenoh::bytes::ZBytes;

/// Zstd level of results; reduces depth to a third at some hundred MB/s.
const COMPRESSION_LEVEL: i32 = 1;
/// Size of a header, bytes.
pub const HEAD_BYTES: usize = 40;
/// Maximum number of packets in one message.
const MAX_PACKETS: usize = 16;
/// Maximum length of a topic's name, bytes.
const MAX_TOPIC_BYTES: usize = 120;
/// Size of a packet's header, bytes: kind, topic length, two times, number, length.
const PACKET_HEAD_BYTES: usize = 26;

/// Content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Raw pair.
    Pair,
    /// Result of a pair.
    Result,
}

/// Header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Content of the message.
    pub content: Content,
    /// Number of the description of its images; receivers fetch the description when it changes.
    pub about: u32,
    /// Number of the sender's run.
    pub boot: u64,
    /// Number of the message, from 0 in each run; gaps are dropped messages.
    pub sequence: u64,
    /// Capture time of the left image in the head's clock, ns since 1970; identifies the pair of a result.
    pub taken_ns: u64,
    /// Send time in the sender's clock, ns since 1970.
    pub sent_ns: u64,
}

/// Reason for refusing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The header is missing or has another length.
    #[error("its attachment is none of this program's")]
    Attachment,
    /// The protocol version differs.
    #[error("it is of version {0} of the protocol, and this program speaks version {version}", version = super::key::VERSION)]
    Version(u8),
    /// The packets are damaged.
    #[error("its packets are damaged: {0}")]
    Packets(&'static str),
    /// The receiver keeps to another head.
    #[error("another head of this name sends too")]
    OtherHead,
    /// The head does not have the description.
    #[error("it belongs to a description that its head does not have")]
    UnknownDescription,
    /// The sender is none of the engines.
    #[error("no engine that is there has sent it")]
    NoEngine,
}

impl Head {
    /// Encodes the header.
    pub fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[0] = super::key::VERSION;
        bytes[1] = match self.content {
            Content::Pair => 1,
            Content::Result => 2,
        };
        bytes[4..8].copy_from_slice(&self.about.to_le_bytes());
        for (place, value) in
            bytes[8..].chunks_exact_mut(8).zip([self.boot, self.sequence, self.taken_ns, self.sent_ns])
        {
            place.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// Decodes a header.
    ///
    /// # Errors
    /// The bytes are no header.
    pub fn of(bytes: &[u8]) -> Result<Self, Refusal> {
        let version = *bytes.first().ok_or(Refusal::Attachment)?;
        if bytes.len() != HEAD_BYTES {
            return Err(Refusal::Attachment);
        }
        if version != super::key::VERSION {
            return Err(Refusal::Version(version));
        }
        let content = match bytes[1] {
            1 => Content::Pair,
            2 => Content::Result,
            _ => return Err(Refusal::Attachment),
        };
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let about = u32::from_le_bytes(std::array::from_fn(|i| bytes[4 + i]));
        Ok(Self { content, about, boot: word(8), sequence: word(16), taken_ns: word(24), sent_ns: word(32) })
    }
}

/// Message kinds by their number on the wire.
const KINDS: [(u8, Kind); 6] = [
    (1, Kind::Image),
    (2, Kind::Compressed),
    (3, Kind::Camera),
    (4, Kind::Disparity),
    (5, Kind::Transform),
    (6, Kind::Json),
];

/// Encodes packets of ROS 2 messages. Data of a pair are not copied; a result is compressed.
///
/// # Errors
/// The compression fails.
pub fn payload(packets: Vec<Packet>, content: Content) -> Result<ZBytes, NetworkError> {
    let payload = joined(packets);
    if content == Content::Pair {
        return Ok(payload);
    }
    packed(&payload).map(ZBytes::from).map_err(NetworkError::Compression)
}

/// Compresses a payload part by part; joining the parts first would double the time.
fn packed(payload: &ZBytes) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), COMPRESSION_LEVEL)?;
    for part in payload.slices() {
        encoder.write_all(part)?;
    }
    encoder.finish()
}

/// Decompresses the payload of a result.
///
/// # Errors
/// The payload is damaged, or larger than `limit` bytes.
pub fn unpacked(payload: &[u8], limit: usize) -> Result<Vec<u8>, Refusal> {
    zstd::bulk::decompress(payload, limit).map_err(|_| Refusal::Packets("they cannot be decompressed"))
}

fn joined(packets: Vec<Packet>) -> ZBytes {
    let mut writer = ZBytes::writer();
    for packet in packets {
        let Some(kind) = stereopsis_recording::format::kind(&packet.channel) else { continue };
        let number = KINDS.iter().find(|(_, known)| *known == kind).map_or(0, |(number, _)| *number);
        let topic = packet.channel.topic.as_bytes();
        let mut head = Vec::with_capacity(PACKET_HEAD_BYTES + topic.len());
        head.extend([number, topic.len() as u8]);
        head.extend(packet.log_time_ns.to_le_bytes());
        head.extend(packet.publish_time_ns.to_le_bytes());
        head.extend(packet.sequence.to_le_bytes());
        head.extend((packet.data.len() as u32).to_le_bytes());
        head.extend(topic);
        writer.append(head.into());
        writer.append(packet.data.into());
    }
    writer.finish()
}

/// Decoder of payloads with a cache of channels.
#[derive(Debug, Default)]
pub struct Packets(BTreeMap<(u8, String), Arc<Channel>>);

impl Packets {
    /// Decodes the packets of a payload.
    ///
    /// # Errors
    /// The packets are damaged.
    pub fn of(&mut self, payload: &[u8]) -> Result<Vec<Packet>, Refusal> {
        let mut packets = Vec::new();
        let mut rest = payload;
        while !rest.is_empty() {
            if packets.len() == MAX_PACKETS {
                return Err(Refusal::Packets("there are too many"));
            }
            let (packet, behind) = self.first(rest)?;
            packets.push(packet);
            rest = behind;
        }
        Ok(packets)
    }

    fn first<'a>(&mut self, mut bytes: &'a [u8]) -> Result<(Packet, &'a [u8]), Refusal> {
        let head = PacketHead::read(&mut bytes)?;
        let (data, rest) = bytes.split_at_checked(head.data_bytes).ok_or(TRUNCATED)?;
        let PacketHead { sequence, log_time_ns, publish_time_ns, .. } = head;
        let channel = self.channel(head)?;
        Ok((Packet { channel, sequence, log_time_ns, publish_time_ns, data: data.to_vec() }, rest))
    }

    fn channel(&mut self, PacketHead { number, kind, topic, .. }: PacketHead) -> Result<Arc<Channel>, Refusal> {
        let key = (number, topic);
        if let Some(known) = self.0.get(&key) {
            return Ok(Arc::clone(known));
        }
        let channel = Arc::new(Format::Ros2.channel_of(&key.1, kind));
        // bounded: a hostile sender could send any number of topics
        if self.0.len() < 4 * MAX_PACKETS {
            self.0.insert(key, Arc::clone(&channel));
        }
        Ok(channel)
    }
}

struct PacketHead {
    number: u8,
    kind: Kind,
    log_time_ns: u64,
    publish_time_ns: u64,
    sequence: u32,
    data_bytes: usize,
    topic: String,
}

const TRUNCATED: Refusal = Refusal::Packets("one is cut off");

impl PacketHead {
    fn read(reader: &mut impl Read) -> Result<Self, Refusal> {
        let mut head = [0; PACKET_HEAD_BYTES];
        reader.read_exact(&mut head).map_err(|_| TRUNCATED)?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let short = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let (number, mut topic) = (head[0], vec![0; usize::from(head[1])]);
        reader.read_exact(&mut topic).map_err(|_| TRUNCATED)?;
        let kind = KINDS.iter().find(|(known, _)| *known == number);
        let kind = kind.ok_or(Refusal::Packets("one is of an unknown kind"))?.1;
        let topic = String::from_utf8(topic).ok().filter(|topic| topic.len() <= MAX_TOPIC_BYTES);
        let topic = topic.filter(|topic| topic.starts_with('/') && topic.bytes().all(|c| c.is_ascii_graphic()));
        let topic = topic.ok_or(Refusal::Packets("one has an impossible topic"))?;
        let (log_time_ns, publish_time_ns) = (word(2), word(10));
        Ok(Self {
            number,
            kind,
            log_time_ns,
            publish_time_ns,
            sequence: short(18),
            data_bytes: short(22) as usize,
            topic,
        })
    }
}

/// Validates a payload without copying it, so that a flood of invalid messages costs little.
///
/// # Errors
/// The payload is damaged. Passing is no guarantee that it decodes.
pub fn check(payload: &ZBytes, content: Content) -> Result<(), Refusal> {
    let mut reader = payload.reader();
    if content == Content::Result {
        let mut magic = [0; 4];
        let is_zstd =
            reader.read_exact(&mut magic).is_ok() && u32::from_le_bytes(magic) == zstd::zstd_safe::MAGICNUMBER;
        return if is_zstd { Ok(()) } else { Err(Refusal::Packets("they are not compressed")) };
    }
    let mut left = payload.len();
    for _ in 0..MAX_PACKETS {
        let head = PacketHead::read(&mut reader)?;
        let bytes = PACKET_HEAD_BYTES + head.topic.len() + head.data_bytes;
        left = left.checked_sub(bytes).ok_or(TRUNCATED)?;
        if left == 0 {
            return Ok(());
        }
        reader.seek(SeekFrom::Current(head.data_bytes as i64)).map_err(|_| TRUNCATED)?;
    }
    Err(Refusal::Packets("there are too many"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_recording::topic;

    fn packets() -> Vec<Packet> {
        let packet = |topic: &str, kind, data: &[u8]| Packet {
            channel: Arc::new(Format::Ros2.channel_of(topic, kind)),
            sequence: 7,
            log_time_ns: 1 << 60,
            publish_time_ns: 12,
            data: data.to_vec(),
        };
        vec![packet(topic::PAIRS, Kind::Json, b"{}"), packet(topic::LEFT_RAW, Kind::Image, &[1; 1000])]
    }

    fn head() -> Head {
        Head { content: Content::Pair, about: 3, boot: u64::MAX, sequence: 1, taken_ns: 2, sent_ns: 1 << 60 }
    }

    #[test]
    fn messages_round_trip() {
        let sent = payload(packets(), Content::Pair).unwrap().to_bytes().into_owned();
        assert_eq!(Packets::default().of(&sent), Ok(packets()));
        let of_parts = payload(packets(), Content::Pair).unwrap();
        assert!(of_parts.slices().count() > 1 && check(&of_parts, Content::Pair).is_ok());
        let packed = payload(packets(), Content::Result).unwrap();
        assert!(check(&packed, Content::Result).is_ok() && check(&packed, Content::Pair).is_err());
        assert!(check(&of_parts, Content::Result).is_err() && check(&ZBytes::new(), Content::Pair).is_err());
        let packed = packed.to_bytes().into_owned();
        assert!(packed.len() < sent.len() / 4, "{}", packed.len());
        assert_eq!(unpacked(&packed, sent.len()), Ok(sent.clone()));
        assert!(unpacked(&packed, sent.len() - 1).is_err() && unpacked(&sent, 1 << 20).is_err());
        assert_eq!(Head::of(&head().to_bytes()), Ok(head()));
    }

    #[test]
    fn refuses_damaged_messages_without_panic() {
        let sent = payload(packets(), Content::Pair).unwrap().to_bytes().into_owned();
        let mut reader = Packets::default();
        let first = PACKET_HEAD_BYTES + topic::PAIRS.len() + 2;
        for length in (1..sent.len()).filter(|&length| length != first) {
            assert!(reader.of(&sent[..length]).is_err(), "{length}");
        }
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..10_000 {
            let mut bytes = sent.clone();
            for _ in 0..random.usize(1..8) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            let judged = check(&ZBytes::from(bytes.clone()), Content::Pair);
            let read = reader.of(&bytes);
            assert_eq!(judged, read.as_ref().map(|_| ()).map_err(Clone::clone));
            assert!(read.is_ok_and(|packets| packets.len() <= MAX_PACKETS) || judged.is_err());
            let mut bytes = head().to_bytes().to_vec();
            let at = random.usize(..bytes.len());
            bytes[at] ^= random.u8(1..);
            bytes.truncate(random.usize(..=bytes.len()));
            let _ = Head::of(&bytes);
        }
        assert!(reader.0.len() <= 4 * MAX_PACKETS);
        let mut other = head().to_bytes();
        other[0] = 9;
        assert!(Head::of(&other).unwrap_err().to_string().contains("version 9"));
        assert_eq!(Head::of(&[]), Err(Refusal::Attachment));
        let many = payload((0..17).flat_map(|_| packets()).collect(), Content::Pair).unwrap().to_bytes().into_owned();
        assert_eq!(reader.of(&many), Err(Refusal::Packets("there are too many")));
    }
}
