// Path costs along one direction, as what they add to the matching cost. Lines are drawn as in
// src/stereo/aggregate/direction.rs: a line that leaves the picture aside goes on as the one that enters on the other
// side, so every line of a dispatch has the same number of steps, and none waits for a longer one.

// How far a line has gone aside after k steps; below 2^32 for sides of up to 32768 px.
fn minor(k: u32) -> u32 {
    return (k * part.slope + 32768u) >> 16u;
}

// From along x and y to along the major and the minor axis, and the other way round.
fn turned(lengths: vec2<u32>) -> vec2<u32> {
    return select(lengths, lengths.yx, part.y_is_major == 1u);
}

fn pixel(k: u32, aside: u32) -> vec2<u32> {
    let from_entry = turned(vec2<u32>(k, aside));
    let size = vec2<u32>(params.width, params.height);
    return select(from_entry, size - 1u - from_entry, vec2<bool>(part.dx < 0, part.dy < 0));
}

@compute @workgroup_size(LINES * LANES)
fn follow(ids: Ids) {
    let place = place_of(ids);
    start_exchange(place);
    let extent = turned(vec2<u32>(params.width, params.height));
    let line = part.first + ids.group.x * LINES + place.line;
    let is_line = line < part.end;
    let candidates = candidates_of(place.lane);

    var aside = min(line, extent.y - 1u);
    var here = pixel(0u, aside);
    var costs = load_costs(here, place.lane);
    var brightness = i32(luma8(left, params.left_shift, i32(here.x), i32(here.y)));
    var brightness_before = brightness;
    var starts = true;
    let none = Numbers(NONE);
    var path = Quarters(none, none, none, none);

    for (var k = 0u; k < extent.x; k++) {
        // Where the line goes next, so that what lies there is on its way meanwhile.
        aside += minor(k + 1u) - minor(k);
        let enters = aside == extent.y;
        aside = select(aside, 0u, enters);
        let next = pixel(min(k + 1u, extent.x - 1u), aside);
        let next_costs = load_costs(next, place.lane);
        let next_brightness = i32(luma8(left, params.left_shift, i32(next.x), i32(next.y)));

        let beside = exchange(place, 0u, k, u32_of(head(path.v0)), u32_of(tail(path.v3)), least_of(path), u32_of(NONE));
        let excess = excess_of(path, beside, p2_of(brightness, brightness_before), starts);
        if is_line {
            store_excess(here, place.lane, excess);
        }
        path = path_of(quarters_of_bytes(costs), excess, candidates, gate_of(here));

        here = next;
        costs = next_costs;
        brightness_before = brightness;
        brightness = next_brightness;
        starts = enters;
    }
}
