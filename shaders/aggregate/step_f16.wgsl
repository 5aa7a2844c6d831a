// One step of a path in 16-bit floats, two candidates at a time. Functions are those of step_32.wgsl.
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

// Word w has candidates 4 w to 4 w + 3, the first and the third of them in `even_w`, the others in `odd_w`, as bytes lie in memory:
// nothing moves but the neighbours of the outermost ones.
struct Path {
#for w in 0..WORDS
    even_#{w}: Pair,
    odd_#{w}: Pair,
#end
}

fn no_path() -> Path {
    let none = Pair(NO_PATH_F16);
    return Path(
#for w in 0..WORDS
        none, none,
#end
    );
}

fn neighbours_of(position: LanePosition, site: u32, turn: u32, path: Path) -> Neighbours {
    let first = bits_of(path.even_0);
    let last = bits_of(path.odd_#{WORDS - 1});
    let least_0 = min(path.even_0, path.odd_0);
#for w in 1..WORDS
    let least_#{w} = min(least_#{w - 1}, min(path.even_#{w}, path.odd_#{w}));
#end
    return exchange(position, site, turn, first, last, to_minimum(least_#{WORDS - 1}), NO_PATH_BITS);
}

fn increment_of(path: Path, neighbours: Neighbours, p2: u32) -> Path {
    let bounds = bounds_of(neighbours, p2);
    let below_0 = pair_of(neighbours.below).y;
#for w in 1..WORDS
    let below_#{w} = path.odd_#{w - 1}.y;
    let above_#{w - 1} = path.even_#{w}.x;
#end
    let above_#{WORDS - 1} = pair_of(neighbours.above).x;
    return Path(
#for w in 0..WORDS
        increments(path.even_#{w}, Pair(below_#{w}, path.odd_#{w}.x), path.odd_#{w}, bounds),
        increments(path.odd_#{w}, path.even_#{w}, Pair(path.even_#{w}.y, above_#{w}), bounds),
#end
    );
}

fn path_of(costs: Costs, increment: Path, lane: u32, gate: vec2<u32>) -> Path {
#if WORDS == 1
    let costs_0 = costs;
#else
#for w in 0..WORDS
    let costs_#{w} = costs[#{w}];
#end
#end
    return Path(
#for w in 0..WORDS
        path_costs(numbers_of(costs_#{w}), increment.even_#{w}, lane, 4u * #{w}u, gate),
        path_costs(numbers_of(costs_#{w} >> 8u), increment.odd_#{w}, lane, 4u * #{w}u + 1u, gate),
#end
    );
}

fn bytes_of(increment: Path) -> Costs {
    return Words(
#for w in 0..WORDS
        word_of(increment.even_#{w}, increment.odd_#{w}),
#end
    );
}
