// Sums of one pixel: as many times the matching cost as there are paths, and what each path adds to it. The path along
// the row may be walked here: it is never stored.

struct Walk {
    path: Quarters,
    brightness: i32,
}

fn sums_at(
    place: Place, turn: u32, here: vec2<u32>, index: u32, candidates: Words, gate: vec2<u32>, walk: ptr<function, Walk>,
) -> Sums {
    let bytes = load_costs(here, place.lane);
    let costs = pairs_of_bytes(bytes);
    let times = Words(max(params.paths, 1u));
    var pairs = with_paths(Pairs(costs.even * times, costs.odd * times), index);
    if FUSED {
        let path = (*walk).path;
        let brightness = i32(luma8(left, params.left_shift, i32(here.x), i32(here.y)));
        let beside = exchange(place, 1u, turn, u32_of(head(path.v0)), u32_of(tail(path.v3)), least_of(path), u32_of(NONE));
        let excess = excess_of(path, beside, p2_of(brightness, (*walk).brightness), turn == 0u);
        (*walk).path = path_of(quarters_of_bytes(bytes), excess, candidates, gate);
        (*walk).brightness = brightness;
        let added = pairs_of_quarters(excess);
        pairs = Pairs(pairs.even + added.even, pairs.odd + added.odd);
    }
    return sums_of_pairs(pairs);
}
