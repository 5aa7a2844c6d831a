// Where not all stored directions fit into memory at once: the sums of those that are there, added to the sums so far.

@compute @workgroup_size(64)
fn add(@builtin(global_invocation_id) id: vec3<u32>) {
    let in_row = params.width * LANES;
    if id.x >= in_row {
        return;
    }
    let index = (dispatch.first - dispatch.origin + id.y) * in_row + id.x;
    var pairs = Pairs(Words(0u), Words(0u));
    if dispatch.is_first == 0u {
        pairs = Pairs(sums[2u * index], sums[2u * index + 1u]);
    }
    pairs = with_volumes(pairs, index);
    sums[2u * index] = pairs.even;
    sums[2u * index + 1u] = pairs.odd;
}
