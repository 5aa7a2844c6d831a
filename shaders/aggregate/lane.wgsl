// Several lanes share a pixel; each owns WORDS words of four candidates in a row. Byte b of word w is candidate 4 w + b of the lane, so
// vector b of an `Interleaved` has every fourth candidate. The neighbours of v1 are v0 and v2, whole vectors; only below v0 and above v3
// values move between words and lanes.

@group(0) @binding(1) var<uniform> dispatch: DispatchParams;

const WORDS = #{WORDS}u;
const LANES = #{LANES}u; // of a pixel
const LINES = #{LINES}u; // of a workgroup
const SITES = #{SITES}u;
const MASKED = #{MASKED};
const RIVALS = #{RIVALS};
const AHEAD = #{AHEAD}u;

#include aggregate/lane_#{WORDS}

// Key or sum of a candidate beyond the range or outside the pixel's gate.
const NO_CANDIDATE: u32 = 0xffffffffu;
// Path cost of such a candidate: above every other, with room for penalties in 16 bits.
const NO_PATH: u32 = 0x7fffu;

struct Interleaved {
    v0: Words,
    v1: Words,
    v2: Words,
    v3: Words,
}

// Sixteen bits for each candidate: v0 and v2 in the halves of `even`, v1 and v3 in those of `odd`.
struct Packed16 {
    even: Words,
    odd: Words,
}

fn unpack_bytes(bytes: Words) -> Interleaved {
    let low = Words(0xffu);
    return Interleaved(
        bytes & low,
        (bytes >> Words(8u)) & low,
        (bytes >> Words(16u)) & low,
        bytes >> Words(24u),
    );
}

fn pack_bytes(q: Interleaved) -> Words {
    let low = q.v0 | (q.v1 << Words(8u));
    return low | (q.v2 << Words(16u)) | (q.v3 << Words(24u));
}

fn widen_bytes(bytes: Words) -> Packed16 {
    let low = Words(0x00ff00ffu);
    return Packed16(bytes & low, (bytes >> Words(8u)) & low);
}

fn pack_16(q: Interleaved) -> Packed16 {
    let even = q.v0 | (q.v2 << Words(16u));
    return Packed16(even, q.v1 | (q.v3 << Words(16u)));
}

// Masks the candidates outside a gate, given by its first and its last candidate.
fn is_outside(candidates: Words, gate: vec2<u32>) -> Flags {
    return candidates - Words(gate.x) > Words(gate.y - gate.x);
}

// First candidates of the lane's words.
fn candidates_of(lane: u32) -> Words {
    return Words(4u * WORDS * lane) + OFFSETS;
}

// Line within the workgroup, lane within the line.
struct LanePosition {
    line: u32,
    lane: u32,
}

// Position of a lane's words of a pixel.
struct Place {
    pixel: vec2<u32>,
    lane: u32,
    slab: u32, // where a volume is spread over several buffers
    at: u32, // in that buffer
}

struct Neighbours {
    below: u32, // last value of the lane below
    above: u32, // first value of the lane above
    min: u32, // minimum over the lanes of the line
}

fn p2_of(brightness: i32, brightness_before: i32) -> u32 {
    let brightness_step = u32(abs(brightness - brightness_before));
    return params.p2_of_step[brightness_step >> 2u][brightness_step & 3u];
}
