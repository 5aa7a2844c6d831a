// One step of a path in 16 bits for each candidate, where a lane has four words: a device with packed arithmetic computes two candidates
// at once. Memory is read and written unchanged, two candidates in 16 bits; only exchanged values are converted. Functions are those of
// step_32.wgsl.

alias Quad = vec4<u16>;

struct Costs {
    low: Quad,
    high: Quad,
}

// Candidates 0, 2, 4, 6 and 1, 3, 5, 7 of the lane, then 8, 10, 12, 14 and 9, 11, 13, 15.
struct Path {
    low_even: Quad,
    low_odd: Quad,
    high_even: Quad,
    high_odd: Quad,
}

fn no_path() -> Path {
    let none = Quad(u16(NO_PATH));
    return Path(none, none, none, none);
}

fn neighbours_of(position: LanePosition, site: u32, turn: u32, path: Path) -> Neighbours {
    let four = min(min(path.low_even, path.low_odd), min(path.high_even, path.high_odd));
    let two = min(four.xy, four.zw);
    return exchange(position, site, turn, u32(path.low_even.x), u32(path.high_odd.w), u32(min(two.x, two.y)), NO_PATH);
}

fn increments(path: Quad, below: Quad, above: Quad, limit: Quad, previous_min: Quad) -> Quad {
    return min(min(path, limit), min(below, above) + Quad(u16(params.p1))) - previous_min;
}

fn increment_of(path: Path, neighbours: Neighbours, p2: u32) -> Path {
    let previous_min = Quad(u16(neighbours.min));
    let limit = Quad(u16(neighbours.min + p2));
    // below the even candidates of a half are the odd ones, moved up by one; above the odd ones the even ones
    let below_low = Quad(u16(neighbours.below), path.low_odd.xyz);
    let above_low = Quad(path.low_even.yzw, path.high_even.x);
    let below_high = Quad(path.low_odd.w, path.high_odd.xyz);
    let above_high = Quad(path.high_even.yzw, u16(neighbours.above));
    return Path(
        increments(path.low_even, below_low, path.low_odd, limit, previous_min),
        increments(path.low_odd, path.low_even, above_low, limit, previous_min),
        increments(path.high_even, below_high, path.high_odd, limit, previous_min),
        increments(path.high_odd, path.high_even, above_high, limit, previous_min),
    );
}

fn within(path: Quad, first: u32, gate: vec2<u32>) -> Quad {
    let candidates = Quad(u16(first)) + Quad(u16(0), u16(2), u16(4), u16(6));
    let is_outside = candidates - Quad(u16(gate.x)) > Quad(u16(gate.y - gate.x));
    return select(path, Quad(u16(NO_PATH)), is_outside);
}

fn path_of(costs: Costs, increment: Path, lane: u32, gate: vec2<u32>) -> Path {
    let low = Quad(u16(0xff));
    let eight = vec4<u32>(8u);
    var path = Path(
        (costs.low & low) + increment.low_even,
        (costs.low >> eight) + increment.low_odd,
        (costs.high & low) + increment.high_even,
        (costs.high >> eight) + increment.high_odd,
    );
    if MASKED {
        let first = 16u * lane;
        path.low_even = within(path.low_even, first, gate);
        path.low_odd = within(path.low_odd, first + 1u, gate);
        path.high_even = within(path.high_even, first + 8u, gate);
        path.high_odd = within(path.high_odd, first + 9u, gate);
    }
    return path;
}

fn bytes_of(increment: Path) -> Costs {
    let eight = vec4<u32>(8u);
    return Costs(
        increment.low_even | (increment.low_odd << eight),
        increment.high_even | (increment.high_odd << eight),
    );
}
