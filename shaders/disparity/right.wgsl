// Clears the keys of the right image's winners (crates/stereo/src/disparity/right.rs) for the left winners; `filter/winners` reads them.

#include common

@group(0) @binding(1) var<storage, read_write> right_keys: array<u32>;

@compute @workgroup_size(8, 8)
fn clear(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        right_keys[map_index(id.x, id.y)] = 0u;
    }
}
