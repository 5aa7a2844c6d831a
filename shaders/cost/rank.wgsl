// Rank transform of both pictures, then the difference of ranks of every pixel and candidate.

override RADIUS: i32;

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> ranks: array<u32>; // left picture, then right

fn rank(picture: texture_2d<u32>, x: i32, y: i32) -> u32 {
    let centre = luma(picture, x, y);
    var darker = 0u;
    for (var dy = -RADIUS; dy <= RADIUS; dy++) {
        for (var dx = -RADIUS; dx <= RADIUS; dx++) {
            darker += u32(luma(picture, x + dx, y + dy) < centre);
        }
    }
    return darker;
}

@compute @workgroup_size(8, 8)
fn transform(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = id.y * params.width + id.x;
    if id.z == 0u {
        ranks[pixel] = rank(left, i32(id.x), i32(id.y));
    } else {
        ranks[params.width * params.height + pixel] = rank(right, i32(id.x), i32(id.y));
    }
}
