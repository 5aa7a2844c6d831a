// Several lanes share a pixel; each owns WORDS words of four candidates in a row. Byte b of word w is candidate 4 w + b
// of the lane, so vector b of a `Quarters` has every fourth candidate: the neighbours of v1 are v0 and v2, whole vectors,
// and only below v0 and above v3 something has to be moved.

// Candidates that do not exist: beyond the range, or outside the pixel's gate.
const NO_CANDIDATE: u32 = 0xffffffffu;

struct Quarters {
    v0: Numbers,
    v1: Numbers,
    v2: Numbers,
    v3: Numbers,
}

// Sixteen bits for each candidate: v0 and v2 in the halves of `even`, v1 and v3 in those of `odd`.
struct Pairs {
    even: Words,
    odd: Words,
}

fn quarters_of_bytes(bytes: Words) -> Quarters {
    let low = Words(0xffu);
    return Quarters(
        numbers_of(bytes & low),
        numbers_of((bytes >> Words(8u)) & low),
        numbers_of((bytes >> Words(16u)) & low),
        numbers_of(bytes >> Words(24u)),
    );
}

fn bytes_of_quarters(q: Quarters) -> Words {
    let low = words_of(q.v0) | (words_of(q.v1) << Words(8u));
    return low | (words_of(q.v2) << Words(16u)) | (words_of(q.v3) << Words(24u));
}

fn pairs_of_bytes(bytes: Words) -> Pairs {
    let low = Words(0x00ff00ffu);
    return Pairs(bytes & low, (bytes >> Words(8u)) & low);
}

fn pairs_of_quarters(q: Quarters) -> Pairs {
    let even = words_of(q.v0) | (words_of(q.v2) << Words(16u));
    return Pairs(even, words_of(q.v1) | (words_of(q.v3) << Words(16u)));
}

// Which of these candidates lie outside a gate, given by its first and its last one.
fn is_outside(candidates: Words, gate: vec2<u32>) -> Flags {
    return candidates - Words(gate.x) > Words(gate.y - gate.x);
}

// First candidates of the lane's words.
fn candidates_of(lane: u32) -> Words {
    return Words(4u * WORDS * lane) + OFFSETS;
}

// Which lane of which line of the workgroup.
struct LanePosition {
    line: u32,
    lane: u32,
}

struct Neighbours {
    below: u32, // of the lane below, the last
    above: u32, // of the lane above, the first
    least: u32, // of all lanes of the line
}
