//! Attachment of every message: sequence number, send time and publisher id, in the layout of `rmw_zenoh_cpp`. A wrong length crashes
//! subscribers in C++.

pub(super) const BYTES: usize = 33;
/// Size of a publisher id, bytes; it is written before the id.
const GID_BYTES: u8 = 16;

/// Id of a publisher, by which receivers match messages to publishers: the hash of its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gid([u8; 16]);

impl Gid {
    pub(super) fn of(token: &str) -> Self {
        Self(xxhash_rust::xxh3::xxh3_128(token.as_bytes()).to_le_bytes())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attachment {
    /// Number of the message, from 1 for each publisher.
    pub(super) sequence: i64,
    pub(super) sent_ns: i64,
    pub(super) gid: Gid,
}

impl Attachment {
    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.sent_ns.to_le_bytes());
        bytes[16] = GID_BYTES;
        bytes[17..].copy_from_slice(&self.gid.0);
        bytes
    }

    /// Decodes an attachment; `None` if the bytes are invalid.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok().filter(|bytes: &&[u8; BYTES]| bytes[16] == GID_BYTES)?;
        let word = |at: usize| i64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]));
        Some(Self { sequence: word(0), sent_ns: word(8), gid: Gid(std::array::from_fn(|k| bytes[17 + k])) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_the_layout_of_rmw_zenoh() {
        let token = "@ros2_lv/0/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MP/%/%/talker/%chatter/\
                     std_msgs::msg::dds_::String_/\
                     RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,10:,:,:,,";
        let hash = xxhash_rust::xxh3::xxh3_128(token.as_bytes());
        let sent = Attachment { sequence: 1, sent_ns: 0x0102_0304_0506_0708, gid: Gid::of(token) };
        let bytes = sent.to_bytes();
        assert_eq!(bytes[..17], [1, 0, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1, 16]);
        assert_eq!(bytes[17..25], (hash as u64).to_le_bytes(), "the low half first");
        assert_eq!(bytes[25..], ((hash >> 64) as u64).to_le_bytes());
        assert_eq!(Attachment::of(&bytes), Some(sent));
        assert_eq!((Attachment::of(&bytes[1..]), Attachment::of(&[])), (None, None));
        let mut other = bytes;
        other[16] = 15;
        assert_eq!(Attachment::of(&other), None);
    }

    /// Expected values: Python's `xxhash`, `xxh3_128(token).intdigest().to_bytes(16, "little")`.
    #[test]
    fn publisher_ids_equal_those_of_other_programs() {
        assert_eq!(Gid::of("").0, *b"\x7f\x49\x8d\x46\x24\xc3\x01\x60\xd8\x98\x47\x01\xd3\x06\xaa\x99");
        let token = "@ros2_lv/0/1/0/1/MP/%/%stereo/stereopsis/%stereo%depth%image_raw/sensor_msgs::msg::dds_::Image_/\
                     RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47/2::,5:,:,:,,";
        let wanted = *b"\xba\x8c\x3f\xa7\xf5\x33\x84\x79\x55\x81\x1b\x86\x7a\xb8\x44\x4e";
        assert_eq!(Gid::of(token).0, wanted);
    }
}
