// Sums of one pixel: the number of paths times the matching cost, and the increment L - C of each path. With FUSED the path
// along the row is computed here and never stored.

struct RowPath {
    path: Interleaved,
    brightness: i32,
}

fn sums_at(
    position: LanePosition, turn: u32, here: vec2<u32>, index: u32, candidates: Words, gate: vec2<u32>, row_path: ptr<function, RowPath>,
) -> Interleaved {
    let bytes = load_costs(here, position.lane);
    let costs = widen_bytes(bytes);
    let times = Words(max(params.paths, 1u));
    var pairs = with_paths(Packed16(costs.even * times, costs.odd * times), index);
    if FUSED {
        let path = (*row_path).path;
        let brightness = i32(luma8(left, params.left_shift, i32(here.x), i32(here.y)));
        let neighbours = exchange(position, 1u, turn, head(path.v0), tail(path.v3), min_of(path), NO_PATH);
        let increment = increment_of(path, neighbours, p2_of(brightness, (*row_path).brightness), turn == 0u);
        (*row_path).path = path_of(unpack_bytes(bytes), increment, candidates, gate);
        (*row_path).brightness = brightness;
        let added = pack_16(increment);
        pairs = Packed16(pairs.even + added.even, pairs.odd + added.odd);
    }
    return unpack_16(pairs);
}
