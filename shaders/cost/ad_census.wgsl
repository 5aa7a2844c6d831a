// Puts the eight-bit brightness above the 48 bits of census 7x7, which lie in the codes already: AD-census compares both.

#include common

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> codes: array<vec2<u32>>; // left image, then right

@compute @workgroup_size(8, 8)
fn add_brightness(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let here = vec2<i32>(id.xy);
    var brightness = 0u;
    if id.z == 0u {
        brightness = luma8(left, params.left_shift, here.x, here.y);
    } else {
        brightness = luma8(right, params.right_shift, here.x, here.y);
    }
    codes[(id.z * params.height + id.y) * params.width + id.x].y |= brightness << 16u;
}
