// Puts the gradients of the eight-bit brightness above the 48 bits of census 7x7, which lie in the codes already: gradient-census
// compares both. 128 is a gradient of 0.

#include common

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> codes: array<vec2<u32>>; // left image, then right

fn slope(from_level: u32, to_level: u32) -> u32 {
    return u32(((i32(to_level) - i32(from_level)) >> 1u) + 128);
}

fn gradients(picture: texture_2d<u32>, shift: u32, x: i32, y: i32) -> u32 {
    let along_x = slope(luma8(picture, shift, x - 1, y), luma8(picture, shift, x + 1, y));
    let along_y = slope(luma8(picture, shift, x, y - 1), luma8(picture, shift, x, y + 1));
    return along_x | (along_y << 8u);
}

@compute @workgroup_size(8, 8)
fn add_gradients(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let here = vec2<i32>(id.xy);
    var both = 0u;
    if id.z == 0u {
        both = gradients(left, params.left_shift, here.x, here.y);
    } else {
        both = gradients(right, params.right_shift, here.x, here.y);
    }
    codes[(id.z * params.height + id.y) * params.width + id.x].y |= both << 16u;
}
