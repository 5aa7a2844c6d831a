// One step of a path in 16-bit floats, two candidates at a time; its functions for a lane's words are generated. Functions are those of
// step.wgsl.
//
// Floats of 16 bits are exact for whole numbers up to 2048. Path costs are at most 255 + P2 <= 510, limits at most 765. Every sum here,
// and every regrouping that a compiler may choose, stays within 2048: nothing is rounded.
//
// Words become floats by unpack2x16float, which is right in SPIR-V, MSL and HLSL. A bitcast is wrong in HLSL: naga 30 turns one from
// vec4<u16> into a conversion, and one from u32 into 32 bits.

alias Costs = Words; // of a lane, as memory has them
alias Pair = vec2<f16>;

// Path cost of a missing candidate: above every limit.
const NO_PATH_F16: f16 = 768.0h;
const NO_PATH_BITS: u32 = 0x62006200u; // two of them
// Offset at which the lowest bit of a float is 1, so that its lowest byte is the number above 1024.
const ONES: f16 = 1024.0h;

fn pair_of(bits: u32) -> Pair {
    return Pair(unpack2x16float(bits));
}

fn bits_of(pair: Pair) -> u32 {
    return pack2x16float(vec2<f32>(pair));
}

// Returns the smaller number of a pair, twice. Positive floats have the order of their bits; a compiler may give a zero a sign, which is
// removed.
fn to_minimum(pair: Pair) -> u32 {
    return bits_of(Pair(min(pair.x, pair.y))) & 0x7fff7fffu;
}

// Bytes 0 and 2 of a word.
fn numbers_of(bytes: u32) -> Pair {
    return pair_of((bytes & 0x00ff00ffu) | 0x64006400u) - Pair(ONES);
}

// Word with these bytes 0 and 2, and 1 and 3.
fn word_of(even: Pair, odd: Pair) -> u32 {
    let low = bits_of(even + Pair(ONES)) & 0x00ff00ffu;
    return low | ((bits_of(odd + Pair(ONES)) << 8u) & 0xff00ff00u);
}

// Values that the increments of all candidates of a pixel share.
struct Bounds {
    previous_min: Pair,
    limit: Pair, // P2 above it
    p1: Pair,
}

fn bounds_of(neighbours: Neighbours, p2: u32) -> Bounds {
    let previous_min = pair_of(neighbours.min);
    return Bounds(previous_min, previous_min + Pair(f16(p2)), Pair(f16(params.p1)));
}

fn increments(path: Pair, below: Pair, above: Pair, bounds: Bounds) -> Pair {
    return min(min(path, bounds.limit), min(below, above) + bounds.p1) - bounds.previous_min;
}

// L of two of the lane's candidates, `own` and two above it, if they exist.
fn path_costs(costs: Pair, increment: Pair, lane: u32, own: u32, gate: vec2<u32>) -> Pair {
    let path = costs + increment;
    if MASKED {
        let candidates = Pair(f16(4u * WORDS * lane + own)) + Pair(0.0h, 2.0h);
        let outside = max(Pair(f16(gate.x)) - candidates, candidates - Pair(f16(gate.y)));
        return select(path, Pair(NO_PATH_F16), outside > Pair(0.0h));
    }
    return path;
}
