// Eight-bit brightness of both images as the codes of absolute difference and of mutual information.

#include common

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> codes: array<u32>; // left image, then right

@compute @workgroup_size(8, 8)
fn transform(@builtin(global_invocation_id) id: vec3<u32>) {
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
    codes[(id.z * params.height + id.y) * params.width + id.x] = brightness;
}
