// Sums of one pixel: the number of paths times the matching cost, and the increment L - C of each path. With FUSED the path along the row
// is computed here and never stored.

#include aggregate/costs
#include aggregate/volumes

alias Sums = Packed16;
const KEY_SHIFT: u32 = 16u;

fn numbers(sums: Sums) -> Interleaved {
    let low = Words(0xffffu);
    return Interleaved(sums.even & low, sums.odd & low, sums.even >> Words(16u), sums.odd >> Words(16u));
}

fn keys_of(sums: Sums, candidates: Interleaved, gate: vec2<u32>) -> Interleaved {
    let upper = Words(0xffff0000u);
    return Interleaved(
        existing((sums.even << Words(16u)) | candidates.v0, candidates.v0, gate),
        existing((sums.odd << Words(16u)) | candidates.v1, candidates.v1, gate),
        existing((sums.even & upper) | candidates.v2, candidates.v2, gate),
        existing((sums.odd & upper) | candidates.v3, candidates.v3, gate),
    );
}

// Sum of candidate `i` if the lane owns it, from the words with the sums of all odd or of all even candidates.
fn sum_in(words: Words, lane: u32, i: u32) -> u32 {
    let own = i - 4u * WORDS * lane;
    let sum = (word_at(words, own >> 2u) >> ((own & 2u) << 3u)) & 0xffffu;
    return select(NO_CANDIDATE, sum, own < 4u * WORDS);
}

// Sums below and above a candidate, each if the lane owns it.
fn sums_around(sums: Sums, place: Place, i: u32) -> vec2<u32> {
    let words = select(sums.odd, sums.even, (i & 1u) == 1u);
    return vec2<u32>(sum_in(words, place.lane, i - 1u), sum_in(words, place.lane, i + 1u));
}

fn with_paths(costs: Packed16, loaded: Loaded) -> Packed16 {
#if EARLIER
    return with_volumes(Packed16(costs.even + loaded.earlier_even, costs.odd + loaded.earlier_odd), loaded);
#else
    return with_volumes(costs, loaded);
#end
}

fn sums_at(
    position: LanePosition,
    turn: u32,
    place: Place,
    loaded: Loaded,
    gate: vec2<u32>,
    row_path: ptr<function, RowPath>,
) -> Sums {
    let costs = widen_bytes(loaded.costs);
    let times = Words(max(params.paths, 1u));
    var pairs = with_paths(Packed16(costs.even * times, costs.odd * times), loaded);
    if FUSED {
        let path = (*row_path).path;
        let brightness = i32(luma8_inside(left, params.left_shift, place.pixel));
        let neighbours = neighbours_of(position, 1u, turn, path);
        let p2 = select(p2_of(brightness, (*row_path).brightness), 0u, turn == 0u);
        let increment = increment_of(path, neighbours, p2);
        (*row_path).path = path_of(loaded.costs, increment, position.lane, gate);
        (*row_path).brightness = brightness;
        let added = pack_16(increment);
        pairs = Packed16(pairs.even + added.even, pairs.odd + added.odd);
    }
    return pairs;
}
