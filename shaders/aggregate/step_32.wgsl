// One step of a path (crates/stereo/src/aggregate/paths.rs) in 32 bits for each candidate; step_16.wgsl and step_f16.wgsl have the same functions.

alias Costs = Words; // of a lane, as memory has them
alias Path = Interleaved; // L of a lane's candidates, or the increments L - C, from 0 to P2

fn no_path() -> Path {
    let none = Words(NO_PATH);
    return Path(none, none, none, none);
}

fn neighbours_of(position: LanePosition, site: u32, turn: u32, path: Path) -> Neighbours {
    let minimum = min_in(min(min(path.v0, path.v1), min(path.v2, path.v3)));
    return exchange(position, site, turn, head(path.v0), tail(path.v3), minimum, NO_PATH);
}

// `path` is L at the predecessor. A line starts with a P2 of 0: then all increments are 0, and L is C.
fn increment_of(path: Path, neighbours: Neighbours, p2: u32) -> Path {
    let p1 = Words(params.p1);
    let previous_min = Words(neighbours.min);
    let limit = Words(neighbours.min + p2);
    let below = up(path.v3, neighbours.below);
    let above = down(path.v0, neighbours.above);
    return Path(
        min(min(path.v0, limit), min(below, path.v1) + p1) - previous_min,
        min(min(path.v1, limit), min(path.v0, path.v2) + p1) - previous_min,
        min(min(path.v2, limit), min(path.v1, path.v3) + p1) - previous_min,
        min(min(path.v3, limit), min(path.v2, above) + p1) - previous_min,
    );
}

// L of the existing candidates.
fn path_of(costs: Costs, increment: Path, lane: u32, gate: vec2<u32>) -> Path {
    let c = unpack_bytes(costs);
    var path = Path(c.v0 + increment.v0, c.v1 + increment.v1, c.v2 + increment.v2, c.v3 + increment.v3);
    if MASKED {
        let none = Words(NO_PATH);
        let candidates = candidates_of(lane);
        path.v0 = select(path.v0, none, is_outside(candidates, gate));
        path.v1 = select(path.v1, none, is_outside(candidates + Words(1u), gate));
        path.v2 = select(path.v2, none, is_outside(candidates + Words(2u), gate));
        path.v3 = select(path.v3, none, is_outside(candidates + Words(3u), gate));
    }
    return path;
}

fn bytes_of(increment: Path) -> Costs {
    return pack_bytes(increment);
}
