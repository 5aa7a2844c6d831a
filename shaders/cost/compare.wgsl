// The cost of every pixel and candidate, from the codes of both pictures.

@compute @workgroup_size(64)
fn compare(@builtin(global_invocation_id) id: vec3<u32>) {
    let in_row = params.width * LANES;
    if id.x >= in_row {
        return;
    }
    let here = vec2<u32>(id.x / LANES, dispatch.first + id.y);
    costs[(here.y - dispatch.origin) * in_row + id.x] = load_costs(here, id.x % LANES);
}
