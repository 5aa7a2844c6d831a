//! Pseudo-random, reproducible damage to files.

use fastrand::Rng;

const NUMBERS: [u64; 12] =
    [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX / 2, u64::MAX];
const WORDS: [&str; 16] = [
    "0",
    "-1",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "4294967296",
    "18446744073709551616",
    "0.1",
    "\"",
    "[",
    "]",
    "\n",
    ": ",
    "\u{1b}[2J",
    "\u{fffd}",
];

/// Returns a damaged seed, or one with a part of another seed.
pub(crate) fn mutated(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[rng.usize(..seeds.len())].clone();
    for _ in 0..rng.usize(1..=4) {
        let at = rng.usize(..=bytes.len());
        let end = (at + rng.usize(..=64)).min(bytes.len());
        match rng.u8(..9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(..8),
            1 if at < bytes.len() => bytes[at] = rng.u8(..),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            5 => {
                let number = NUMBERS[rng.usize(..NUMBERS.len())].to_le_bytes();
                let size = [1, 2, 4, 8][rng.usize(..4)].min(bytes.len() - at);
                bytes[at..at + size].copy_from_slice(&number[..size]);
            }
            6 => drop(bytes.splice(at..end, WORDS[rng.usize(..WORDS.len())].bytes())),
            7 => {
                let digits = bytes[at..].iter().position(u8::is_ascii_digit).map_or(at, |skip| at + skip);
                let count = bytes[digits..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                drop(bytes.splice(digits..digits + count, WORDS[rng.usize(..9)].bytes()));
            }
            _ => {
                let other = &seeds[rng.usize(..seeds.len())];
                let from = rng.usize(..=other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
    bytes
}
