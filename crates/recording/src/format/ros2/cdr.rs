//! CDR encoding of ROS 2's messages: a header of four bytes with the byte order, then the fields.

use byteorder::{BigEndian, LittleEndian};
use serde::{Deserialize, Serialize};

/// Header of classic CDR, little-endian, without options.
const LITTLE_ENDIAN: [u8; 4] = [0, 1, 0, 0];

/// Encodes a message; `hint` is the approximate number of bytes.
pub(super) fn to_bytes(message: &impl Serialize, hint: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LITTLE_ENDIAN.len() + hint);
    bytes.extend_from_slice(&LITTLE_ENDIAN);
    cdr_encoding::to_writer::<_, LittleEndian, _>(&mut bytes, message).expect("memory takes every message");
    bytes
}

/// Decodes a message. Bytes behind the last field are ignored, because ROS 2 pads messages.
pub(super) fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    let (head, fields) =
        bytes.split_at_checked(4).ok_or_else(|| format!("{} bytes are no CDR message", bytes.len()))?;
    // the other two bytes of the header are options without effect on reading
    let read = match head[..2] {
        [0, 0] => cdr_encoding::from_bytes::<T, BigEndian>(fields),
        [0, 1] => cdr_encoding::from_bytes::<T, LittleEndian>(fields),
        [a, b] => {
            return Err(format!("CDR of kind {a:02x} {b:02x} is not read here, only classic CDR (00 00 and 00 01)"));
        }
        _ => return Err("no CDR message".to_owned()),
    };
    read.map(|(message, _)| message).map_err(|error| format!("damaged, or not what its schema says: {error}"))
}
