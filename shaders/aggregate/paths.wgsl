// Path costs along one direction, stored as increments L - C. Lines are those of src/stereo/aggregate/direction.rs: a line
// that leaves the picture on the minor axis wraps around to the opposite side, where another line starts. So all lines of a
// dispatch have the same number of steps. Positions advance by additions alone.

// From (x, y) to (major, minor) and back.
fn swap_axes(lengths: vec2<u32>) -> vec2<u32> {
    return select(lengths, lengths.yx, dispatch.y_is_major == 1u);
}

// 1 forwards, -1 modulo 2^32 backwards.
fn sign(is_backwards: bool) -> u32 {
    return select(1u, 0xffffffffu, is_backwards);
}

@compute @workgroup_size(LINES * LANES)
fn follow(ids: Ids) {
    let position = lane_position(ids);
    start_exchange(position);
    let extent = swap_axes(vec2<u32>(params.width, params.height));
    let line = dispatch.first + ids.group.x * LINES + position.line;
    let is_line = line < dispatch.end;
    let is_backwards = select(
        vec2<bool>(dispatch.dx < 0, dispatch.dy < 0),
        vec2<bool>(dispatch.dy < 0, dispatch.dx < 0),
        dispatch.y_is_major == 1u,
    );

    // The minor coordinate in 1/65536 px. After k steps it is `entry` and k times the slope, rounded; backwards from the
    // other end with the same rounding. Sides of up to 32768 px and a slope of at most 1 fit into 32 bits, and a coordinate
    // below 0 lies beyond every side.
    let entry = min(line, extent.y - 1u);
    let minor_step = sign(is_backwards.y) * dispatch.slope;
    let back = (0u - sign(is_backwards.y)) * (extent.y << 16u); // to the opposite side
    var minor = select((entry << 16u) + 32768u, ((extent.y - 1u - entry) << 16u) + 32767u, is_backwards.y);
    let major_step = sign(is_backwards.x);
    var major = select(0u, extent.x - 1u, is_backwards.x);

    var here = place_of(swap_axes(vec2<u32>(major, minor >> 16u)), position.lane);
    var costs = load_costs(here);
    var brightness = i32(luma8_inside(left, params.left_shift, here.pixel));
    var brightness_before = brightness;
    var is_start = true;
    var path = no_path();

    for (var k = 0u; k < extent.x; k++) {
        // The next pixel, loaded before this one is computed, to hide the latency of memory. Behind the last one it is any.
        major = min(major + major_step, extent.x - 1u);
        minor += minor_step;
        let wraps = (minor >> 16u) >= extent.y;
        minor = select(minor, minor + back, wraps);
        let next = place_of(swap_axes(vec2<u32>(major, minor >> 16u)), position.lane);
        let next_costs = load_costs(next);
        let next_brightness = i32(luma8_inside(left, params.left_shift, next.pixel));

        let neighbours = neighbours_of(position, 0u, k, path);
        let p2 = select(p2_of(brightness, brightness_before), 0u, is_start);
        let increment = increment_of(path, neighbours, p2);
        if is_line {
            store_increment(here, increment);
        }
        path = path_of(costs, increment, position.lane, gate_of(here.pixel));

        here = next;
        costs = next_costs;
        brightness_before = brightness;
        brightness = next_brightness;
        is_start = wraps;
    }
}
