// One step of a path (src/stereo/aggregate/paths.rs), as the aggregation increment L - C, from 0 to P2.

fn p2_of(brightness: i32, brightness_before: i32) -> u32 {
    let brightness_step = u32(abs(brightness - brightness_before));
    return params.p2_of_step[brightness_step >> 2u][brightness_step & 3u];
}

// `path` is L at the predecessor. At the start of a line there is none: L is C.
fn increment_of(path: Interleaved, neighbours: Neighbours, p2: u32, is_start: bool) -> Interleaved {
    let p1 = Words(params.p1);
    let previous_min = Words(neighbours.min);
    let limit = previous_min + Words(p2);
    let below = up(path.v3, neighbours.below);
    let above = down(path.v0, neighbours.above);
    let none = Words(0u);
    return Interleaved(
        select(min(min(path.v0, limit), min(below, path.v1) + p1) - previous_min, none, is_start),
        select(min(min(path.v1, limit), min(path.v0, path.v2) + p1) - previous_min, none, is_start),
        select(min(min(path.v2, limit), min(path.v1, path.v3) + p1) - previous_min, none, is_start),
        select(min(min(path.v3, limit), min(path.v2, above) + p1) - previous_min, none, is_start),
    );
}

// L of the candidates that exist.
fn path_of(costs: Interleaved, increment: Interleaved, candidates: Words, gate: vec2<u32>) -> Interleaved {
    var path = Interleaved(costs.v0 + increment.v0, costs.v1 + increment.v1, costs.v2 + increment.v2, costs.v3 + increment.v3);
    if MASKED {
        let none = Words(NO_PATH);
        path.v0 = select(path.v0, none, is_outside(candidates, gate));
        path.v1 = select(path.v1, none, is_outside(candidates + Words(1u), gate));
        path.v2 = select(path.v2, none, is_outside(candidates + Words(2u), gate));
        path.v3 = select(path.v3, none, is_outside(candidates + Words(3u), gate));
    }
    return path;
}

fn min_of(path: Interleaved) -> u32 {
    return min_in(min(min(path.v0, path.v1), min(path.v2, path.v3)));
}
