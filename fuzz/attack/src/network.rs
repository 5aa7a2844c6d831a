//! Attack on messages of other machines.

use super::inputs::MOST_PIXELS;
use stereopsis_frame::Pixels;
use stereopsis_network::key::Member;
use stereopsis_network::result;
use stereopsis_network::wire::{self, Content, HEAD_BYTES, Head, Packets};
use stereopsis_recording::unpack::{Sizes, Unpacker};

const SIZE: (usize, usize) = (4, 2);

/// Attacks a message: header, payload of a pair or a result, and the bytes as a member's token.
pub(super) fn network(bytes: &[u8]) {
    let (head, payload) = bytes.split_at(bytes.len().min(HEAD_BYTES));
    match Head::of(head).map(|head| head.content) {
        Ok(Content::Pair) => {
            let checked = wire::check(&payload.to_vec().into(), Content::Pair);
            assert_eq!(checked.is_ok(), Packets::default().of(payload).is_ok_and(|packets| !packets.is_empty()));
            if let Ok(packets) = Packets::default().of(payload) {
                let unpacker = Unpacker::of(None, Pixels::Color, MOST_PIXELS);
                let any = unpacker.pair(&packets).map(|pair| pair.left.size());
                let sized = unpacker.with_sizes(Sizes::Only(SIZE)).pair(&packets).map(|pair| pair.left.size());
                assert_eq!(sized.ok(), any.ok().filter(|size| *size == SIZE), "a rig takes its size alone");
            }
        }
        Ok(Content::Result) => {
            if let Ok(matched) = result::of_bytes(payload, 1 << 22) {
                assert_eq!(matched.map.values.size(), matched.map.reasons.size());
                assert!(matched.params.validate().is_ok());
            }
        }
        Err(_) => {}
    }
    if let Ok(member) = std::str::from_utf8(bytes).map_err(drop).and_then(|key| Member::of_token(key).map_err(drop)) {
        assert_eq!(Member::of_token(&member.token()), Ok(member));
    }
}
