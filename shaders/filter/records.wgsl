// Record of each segment, behind one word with their number and seven that fill its line.

const RECORDS: u32 = 8u;
const RECORD_WORDS: u32 = 28u;
// Words of a record.
const FIRST_X: u32 = 0u; // its first pixel
const FIRST_Y: u32 = 1u;
const PIXELS: u32 = 2u;
const VOTES: u32 = 3u; // all of them
const STATE: u32 = 4u; // 0 before there is a plane, 1 with one, 2 where there is none
const PLANE: u32 = 5u; // a, b, c
const SUMS: u32 = 8u; // nine numbers of 64 bits, in the order of `Moments`

fn record_of(segment: u32) -> u32 {
    return RECORDS + RECORD_WORDS * segment;
}
