// Keys of the right image's winners (src/stereo/disparity/right.rs): 0 before the left winners write them; `filter/winners` reads them.

@group(0) @binding(1) var<storage, read_write> right_keys: array<u32>;

@compute @workgroup_size(8, 8)
fn clear(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        right_keys[map_index(id.x, id.y)] = 0u;
    }
}
