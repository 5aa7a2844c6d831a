//! Attacks on uncompressed videos.

use super::inputs::MOST_PIXELS;
use std::io::{Cursor, Read as _};
use stereopsis_capture::video::y4m::Header;

/// Attacks a stream of uncompressed frames, each of which is whole or none.
pub(crate) fn y4m(input: &[u8]) {
    let mut stream = Cursor::new(input);
    let Ok(mut header) = Header::read(&mut stream, MOST_PIXELS) else { return };
    while let Ok(Some(next)) = header.before_frame(&mut stream, MOST_PIXELS) {
        header = next;
        let (wanted, mut bytes) = (header.layout.frame_bytes(), Vec::new());
        stream.by_ref().take(wanted as u64).read_to_end(&mut bytes).expect("bytes in memory");
        let [grey, colour] = [false, true].map(|keeps_rgb| header.layout.picture(&bytes, keeps_rgb));
        assert_eq!((grey.is_some(), colour.is_some()), (bytes.len() == wanted, bytes.len() == wanted));
        if let (Some(grey), Some(colour)) = (grey, colour) {
            assert_eq!(grey.luma, colour.luma, "brightness does not depend on colours");
        }
    }
}
