// Sums of one pixel: as many times the matching cost as there are paths, and what each path adds to it. The path along
// the row may be walked here: it is never stored.

struct RowPath {
    path: Quarters,
    brightness: i32,
}

fn sums_at(
    position: LanePosition, turn: u32, here: vec2<u32>, index: u32, candidates: Words, gate: vec2<u32>, row_path: ptr<function, RowPath>,
) -> Sums {
    let bytes = load_costs(here, position.lane);
    let costs = pairs_of_bytes(bytes);
    let times = Words(max(params.paths, 1u));
    var pairs = with_paths(Pairs(costs.even * times, costs.odd * times), index);
    if FUSED {
        let path = (*row_path).path;
        let brightness = i32(luma8(left, params.left_shift, i32(here.x), i32(here.y)));
        let beside = exchange(position, 1u, turn, u32_of(head(path.v0)), u32_of(tail(path.v3)), min_of(path), u32_of(NONE));
        let increment = increment_of(path, beside, p2_of(brightness, (*row_path).brightness), turn == 0u);
        (*row_path).path = path_of(quarters_of_bytes(bytes), increment, candidates, gate);
        (*row_path).brightness = brightness;
        let added = pairs_of_quarters(increment);
        pairs = Pairs(pairs.even + added.even, pairs.odd + added.odd);
    }
    return sums_of_pairs(pairs);
}
