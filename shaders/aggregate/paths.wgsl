// Path costs along one direction, stored as increments L - C. Lines are those of src/stereo/aggregate/direction.rs: a line
// that leaves the picture on the minor axis wraps around to the opposite side, where another line starts. So all lines of a
// dispatch have the same number of steps.

// Offset on the minor axis after k steps, without wrapping; below 2^32 for sides of up to 32768 px.
fn minor_offset(k: u32) -> u32 {
    return (k * dispatch.slope + 32768u) >> 16u;
}

// From (x, y) to (major, minor) and back.
fn swap_axes(lengths: vec2<u32>) -> vec2<u32> {
    return select(lengths, lengths.yx, dispatch.y_is_major == 1u);
}

fn pixel(major: u32, minor: u32) -> vec2<u32> {
    let from_entry = swap_axes(vec2<u32>(major, minor));
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

    var minor = min(line, extent.y - 1u);
    var here = pixel(0u, minor);
    var costs = load_costs(here, position.lane);
    var brightness = i32(luma8(left, params.left_shift, i32(here.x), i32(here.y)));
    var brightness_before = brightness;
    var is_start = true;
    let none = Words(NO_PATH);
    var path = Interleaved(none, none, none, none);

    for (var k = 0u; k < extent.x; k++) {
        // The next pixel, loaded before this one is computed, to hide the latency of memory.
        minor += minor_offset(k + 1u) - minor_offset(k);
        let wraps = minor == extent.y;
        minor = select(minor, 0u, wraps);
        let next = pixel(min(k + 1u, extent.x - 1u), minor);
        let next_costs = load_costs(next, position.lane);
        let next_brightness = i32(luma8(left, params.left_shift, i32(next.x), i32(next.y)));

        let neighbours = exchange(position, 0u, k, head(path.v0), tail(path.v3), min_of(path), NO_PATH);
        let increment = increment_of(path, neighbours, p2_of(brightness, brightness_before), is_start);
        if is_line {
            store_increment(here, position.lane, increment);
        }
        path = path_of(unpack_bytes(costs), increment, candidates, gate_of(here));

        here = next;
        costs = next_costs;
        brightness_before = brightness;
        brightness = next_brightness;
        is_start = wraps;
    }
}
