// Path costs along one direction, as what they add to the matching cost. Lines are drawn as in
// src/stereo/aggregate/direction.rs: a line that leaves the picture aside goes on as the one that wraps on the other
// side, so every line of a dispatch has the same number of steps, and none waits for a longer one.

// How far a line has gone aside after k steps; below 2^32 for sides of up to 32768 px.
fn minor(k: u32) -> u32 {
    return (k * dispatch.slope + 32768u) >> 16u;
}

// From along x and y to along the major and the minor axis, and the other way round.
fn swap_axes(lengths: vec2<u32>) -> vec2<u32> {
    return select(lengths, lengths.yx, dispatch.y_is_major == 1u);
}

fn pixel(k: u32, aside: u32) -> vec2<u32> {
    let from_entry = swap_axes(vec2<u32>(k, aside));
    let size = vec2<u32>(params.width, params.height);
    return select(from_entry, size - 1u - from_entry, vec2<bool>(dispatch.dx < 0, dispatch.dy < 0));
}

@compute @workgroup_size(LINES * LANES)
fn follow(ids: Ids) {
    let position = lane_position(ids);
    start_exchange(position);
    let extent = swap_axes(vec2<u32>(params.width, params.height));
    let line = dispatch.first + ids.group.x * LINES + position.line;
    let is_line = line < dispatch.end;
    let candidates = candidates_of(position.lane);

    var aside = min(line, extent.y - 1u);
    var here = pixel(0u, aside);
    var costs = load_costs(here, position.lane);
    var brightness = i32(luma8(left, params.left_shift, i32(here.x), i32(here.y)));
    var brightness_before = brightness;
    var is_start = true;
    let none = Numbers(NONE);
    var path = Quarters(none, none, none, none);

    for (var k = 0u; k < extent.x; k++) {
        // Where the line goes next, so that what lies there is on its way meanwhile.
        aside += minor(k + 1u) - minor(k);
        let wraps = aside == extent.y;
        aside = select(aside, 0u, wraps);
        let next = pixel(min(k + 1u, extent.x - 1u), aside);
        let next_costs = load_costs(next, position.lane);
        let next_brightness = i32(luma8(left, params.left_shift, i32(next.x), i32(next.y)));

        let beside = exchange(position, 0u, k, u32_of(head(path.v0)), u32_of(tail(path.v3)), min_of(path), u32_of(NONE));
        let increment = increment_of(path, beside, p2_of(brightness, brightness_before), is_start);
        if is_line {
            store_increment(here, position.lane, increment);
        }
        path = path_of(quarters_of_bytes(costs), increment, candidates, gate_of(here));

        here = next;
        costs = next_costs;
        brightness_before = brightness;
        brightness = next_brightness;
        is_start = wraps;
    }
}
