// Adds a batch of directions to the sums, where memory does not hold all directions at once.

#include common
#include aggregate/lane
#include aggregate/volumes

@group(0) @binding(#) var<storage, read_write> sums: array<Words>;

@compute @workgroup_size(64)
fn add(@builtin(global_invocation_id) id: vec3<u32>) {
    let in_row = params.width * LANES;
    if id.x >= in_row {
        return;
    }
    let index = (dispatch.first - dispatch.origin + id.y) * in_row + id.x;
    var pairs = Packed16(Words(0u), Words(0u));
    if dispatch.is_first == 0u {
        pairs = Packed16(sums[2u * index], sums[2u * index + 1u]);
    }
    pairs = with_volumes(pairs, load_sums(index));
    sums[2u * index] = pairs.even;
    sums[2u * index + 1u] = pairs.odd;
}
