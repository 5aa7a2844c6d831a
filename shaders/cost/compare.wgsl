// The cost of every pixel and candidate, from the codes of both images.

#include common
#include aggregate/lane
#include aggregate/place
#include aggregate/costs_from_codes

@group(0) @binding(#) var<storage, read_write> costs: array<Words>;

@compute @workgroup_size(64)
fn compare(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.width * LANES {
        return;
    }
    let place = place_of(vec2<u32>(id.x / LANES, dispatch.first + id.y), id.x % LANES);
    costs[place.at] = load_costs(place);
}
