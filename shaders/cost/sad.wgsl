// Sum of absolute differences over a window: rounded means before paths, exact sums without.

override RADIUS: i32;

@group(0) @binding(1) var<uniform> part: Part;
@group(0) @binding(2) var left: texture_2d<u32>;
@group(0) @binding(3) var right: texture_2d<u32>;
@group(0) @binding(4) var<storage, read_write> costs: array<u32>; // four means, or one sum, a word

fn window_sum(x: i32, y: i32, candidate: u32) -> u32 {
    var sum = 0u;
    for (var dy = -RADIUS; dy <= RADIUS; dy++) {
        for (var dx = -RADIUS; dx <= RADIUS; dx++) {
            let xl = clamp(x + dx, 0, i32(params.width) - 1);
            let here = i32(luma8(left, params.left_shift, xl, y + dy));
            let there = i32(luma8(right, params.right_shift, partner(xl, candidate), y + dy));
            sum += u32(abs(here - there));
        }
    }
    return sum;
}

@compute @workgroup_size(256)
fn mean(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.width * params.words {
        return;
    }
    let pixels = u32((2 * RADIUS + 1) * (2 * RADIUS + 1));
    let first = 4u * (id.x % params.words);
    var packed = 0u;
    for (var k = 0u; k < 4u; k++) {
        let sum = window_sum(i32(id.x / params.words), i32(part.first + id.y), first + k);
        packed |= ((sum + pixels / 2u) / pixels) << (8u * k);
    }
    costs[(part.first - part.origin + id.y) * params.width * params.words + id.x] = packed;
}

@compute @workgroup_size(256)
fn exact(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.width * params.words {
        return;
    }
    let first = 4u * (id.x % params.words);
    let target_word = 4u * ((part.first - part.origin + id.y) * params.width * params.words + id.x);
    for (var k = 0u; k < 4u; k++) {
        costs[target_word + k] = window_sum(i32(id.x / params.words), i32(part.first + id.y), first + k);
    }
}
