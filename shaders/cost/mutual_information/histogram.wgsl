// Joint histogram of the brightness of left and right pixels, matched by the initial disparities of start.wgsl. The counts of all pairs
// of levels, [left * 256 + right], exceed workgroup memory, so each pixel increments one in device memory. Flat images, which increment
// the same few, take longest.

#include common
#include cost/mutual_information/start

@group(0) @binding(3) var left: texture_2d<u32>;
@group(0) @binding(4) var right: texture_2d<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<atomic<u32>, 65536>;

@compute @workgroup_size(64)
fn clear(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicStore(&counts[id.x], 0u);
}

fn count(id: vec3<u32>, d: i32) {
    let x = i32(id.x) - d;
    if d == UNKNOWN || !is_column(x) {
        return;
    }
    let here = vec2<i32>(id.xy);
    let own = luma8(left, params.left_shift, here.x, here.y);
    let other = luma8(right, params.right_shift, x, here.y);
    atomicAdd(&counts[own * 256u + other], 1u);
}

@compute @workgroup_size(8, 8)
fn from_coarser(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        count(id, start_of_coarser(id.x, id.y));
    }
}

@compute @workgroup_size(8, 8)
fn from_last(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        count(id, start_of_last(id.x, id.y));
    }
}

@compute @workgroup_size(8, 8)
fn by_chance(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        count(id, random_disparity(id.x, id.y));
    }
}
