// The cost of every pixel and candidate, from the codes of both images.

@compute @workgroup_size(64)
fn compare(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.width * LANES {
        return;
    }
    let place = place_of(vec2<u32>(id.x / LANES, dispatch.first + id.y), id.x % LANES);
    costs[place.at] = load_costs(place);
}
