// Arms of every pixel's cross in both images (crates/stereo/src/local/offsets.rs): a byte each, left, right, up, down from the lowest one.
// An arm goes on while brightness stays like the pixel's own, and within the image.

#include common

override LONGEST: i32; // up to 30

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> arms: array<u32>; // left image, then right

fn arm(picture: texture_2d<u32>, shift: u32, start: vec2<i32>, step: vec2<i32>) -> u32 {
    let own = i32(luma8(picture, shift, start.x, start.y));
    let last = vec2<i32>(i32(params.width), i32(params.height)) - 1;
    var length = 0;
    var next = start + step;
    while length < LONGEST && all(next >= vec2<i32>(0)) && all(next <= last) {
        if u32(abs(i32(luma8(picture, shift, next.x, next.y)) - own)) > params.tau {
            break;
        }
        length++;
        next += step;
    }
    return u32(length);
}

fn cross_of(picture: texture_2d<u32>, shift: u32, start: vec2<i32>) -> u32 {
    let along_row = arm(picture, shift, start, vec2<i32>(-1, 0)) | (arm(picture, shift, start, vec2<i32>(1, 0)) << 8u);
    let up = arm(picture, shift, start, vec2<i32>(0, -1));
    return along_row | (up << 16u) | (arm(picture, shift, start, vec2<i32>(0, 1)) << 24u);
}

@compute @workgroup_size(32, 8)
fn reach(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = (id.z * params.height + id.y) * params.width + id.x;
    if id.z == 0u {
        arms[pixel] = cross_of(left, params.left_shift, vec2<i32>(id.xy));
    } else {
        arms[pixel] = cross_of(right, params.right_shift, vec2<i32>(id.xy));
    }
}
