// Exact sums of one pixel: of SAD windows, or of aggregated costs without paths; below 2^19.

@group(0) @binding(#) var<storage, read> exact: array<u32>;

alias Sums = Interleaved;
alias Loaded = Interleaved;
const KEY_SHIFT: u32 = 10u;

fn numbers(sums: Sums) -> Interleaved {
    return sums;
}

fn keys_of(sums: Sums, candidates: Interleaved, gate: vec2<u32>) -> Interleaved {
    let shift = Words(KEY_SHIFT);
    return Interleaved(
        existing((sums.v0 << shift) | candidates.v0, candidates.v0, gate),
        existing((sums.v1 << shift) | candidates.v1, candidates.v1, gate),
        existing((sums.v2 << shift) | candidates.v2, candidates.v2, gate),
        existing((sums.v3 << shift) | candidates.v3, candidates.v3, gate),
    );
}

// Sum of candidate `i` if the lane owns it.
fn sum_of(place: Place, i: u32) -> u32 {
    let own = i - 4u * WORDS * place.lane;
    if own >= 4u * WORDS {
        return NO_CANDIDATE;
    }
    return exact[4u * WORDS * place.at + own];
}

// Sums below and above a candidate, each if the lane owns it.
fn sums_around(sums: Sums, place: Place, i: u32) -> vec2<u32> {
    return vec2<u32>(sum_of(place, i - 1u), sum_of(place, i + 1u));
}

// Every fourth sum from `at` on.
fn exact_sums(at: u32) -> Words {
    return Words(
#for w in 0..WORDS
        exact[at + 4u * #{w}u],
#end
    );
}

fn load_sums(place: Place) -> Loaded {
    let at = 4u * WORDS * place.at;
    return Interleaved(exact_sums(at), exact_sums(at + 1u), exact_sums(at + 2u), exact_sums(at + 3u));
}

fn sums_at(
    position: LanePosition,
    turn: u32,
    place: Place,
    loaded: Loaded,
    gate: vec2<u32>,
    row_path: ptr<function, RowPath>,
) -> Sums {
    return loaded;
}
