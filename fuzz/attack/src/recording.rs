//! Attacks on recordings as seekable files and as pipes.

use super::inputs::MOST_PIXELS;
use std::io::Read;
use stereopsis_frame::{Pixels, TopicChoice};
use stereopsis_recording::read::{PacketStream, PairStream};
use stereopsis_recording::unpack::{UnpackedResult, Unpacker};
use stereopsis_recording::{ReadError, Recording};

const MOST_PAIRS: usize = 32;

/// Magic number of a compressed file, and largest unpacked size, bytes.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const MOST_UNPACKED_BYTES: u64 = 64 << 20;

/// Attacks a file with all topics, pairs, images and results, which must be equal when read again.
pub(crate) fn file(input: &[u8]) {
    let path = super::inputs::file("a.mcap", input);
    let Ok(mut recording) = Recording::open(&path) else { return };
    let topics: Vec<String> = recording.channels().iter().map(|channel| channel.topic.clone()).collect();
    for topic in &topics {
        let count = recording.len(topic);
        let most = if input.starts_with(&ZSTD) { MOST_UNPACKED_BYTES } else { input.len() as u64 };
        assert!(count <= most, "{count} messages in {} bytes", input.len());
        assert!(recording.packet(topic, count).is_err());
    }
    for pixels in [Pixels::Luma, Pixels::Color] {
        let unpacker = Unpacker::of(recording.about(), pixels, MOST_PIXELS);
        let pairs: Vec<_> = recording.pairs().iter().take(MOST_PAIRS).cloned().collect();
        for k in 0..pairs.len() as u64 {
            let packets = recording.packets_of_pair(k);
            if let Ok(packets) = &packets {
                let _ = unpacker.pair(packets).inspect(|pair| assert_eq!(pair.left.size(), pair.right.size()));
            }
            if let Ok(result) = recording.packets_of_result(k) {
                let _ = UnpackedResult::of(&result);
            }
            assert_eq!(recording.packets_of_pair(k).ok(), packets.ok(), "pair {k}");
        }
    }
    assert!(std::fs::read(&path).expect("the file") == input, "it was written to");
}

/// Attacks two files of a recording that was split: the length of the first one in four bytes, and both.
pub(crate) fn parts(input: &[u8]) {
    let Some((length, files)) = input.split_first_chunk() else { return };
    let Some((first, second)) = files.split_at_checked(u32::from_le_bytes(*length) as usize) else { return };
    let (path, further) = (super::inputs::file("split.mcap", first), super::inputs::file("split_part002.mcap", second));
    let Ok(mut recording) = Recording::open(&path) else { return };
    let files = recording.files();
    assert!(files[0] == path && (files.len() == 1 || files[1..] == [further.clone()]), "{files:?}");
    for k in 0..recording.pairs().len().min(MOST_PAIRS) as u64 {
        let packets = recording.packets_of_pair(k);
        let _ = recording.packets_of_result(k);
        assert_eq!(recording.packets_of_pair(k).ok(), packets.ok(), "pair {k}");
    }
    for (path, bytes) in [(path, first), (further, second)] {
        assert!(std::fs::read(&path).expect("the file") == bytes, "it was written to");
    }
}

/// Attacks a pipe that delivers as many bytes at a time as its first byte.
pub(crate) fn pipe(input: &[u8]) {
    let Some((&size, bytes)) = input.split_first() else { return };
    let slow = || SlowReader { bytes, at_once: usize::from(size) + 1 };
    let mut packets = PacketStream::new(slow());
    reads_to_the_end(bytes, || packets.next_packet().map(|packet| packet.is_some()));
    let mut pairs = PairStream::new(slow(), TopicChoice::default());
    reads_to_the_end(bytes, || {
        let Some(packets) = pairs.next_pair()? else { return Ok(false) };
        let unpacker = Unpacker::of(pairs.about(), Pixels::Color, MOST_PIXELS);
        let _ = unpacker.pair(&packets).inspect(|pair| assert_eq!(pair.left.size(), pair.right.size()));
        Ok(true)
    });
}

/// Reads until the end, which must come soon because every packet and every damage consumes bytes.
fn reads_to_the_end(bytes: &[u8], mut next: impl FnMut() -> Result<bool, ReadError>) {
    // a chunk may expand by a factor of 256
    for _ in 0..=256 * bytes.len() + 2 {
        match next() {
            Ok(true) | Err(ReadError::Damaged(_)) => {}
            Ok(false) | Err(ReadError::File(_)) => return,
        }
    }
    panic!("{} bytes do not come to an end", bytes.len());
}

struct SlowReader<'a> {
    bytes: &'a [u8],
    at_once: usize,
}

impl Read for SlowReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let size = to.len().min(self.at_once);
        self.bytes.read(&mut to[..size])
    }
}
