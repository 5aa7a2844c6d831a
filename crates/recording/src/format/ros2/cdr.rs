//! CDR encoding of ROS 2's messages: a header of four bytes with the byte order, then the fields.

use crate::error::MessageError;
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
pub(super) fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, MessageError> {
    // the other two bytes of the header are options without effect on reading
    let (&[a, b, ..], fields) = bytes.split_first_chunk::<4>().ok_or(MessageError::NoCdr(bytes.len()))?;
    let read = match [a, b] {
        [0, 0] => cdr_encoding::from_bytes::<T, BigEndian>(fields),
        [0, 1] => cdr_encoding::from_bytes::<T, LittleEndian>(fields),
        [a, b] => return Err(MessageError::CdrKind(a, b)),
    };
    read.map(|(message, _)| message).map_err(|error| MessageError::Schema(error.into()))
}
