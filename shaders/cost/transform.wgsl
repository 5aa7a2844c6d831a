// Common part of census and rank: calls `code` for each pixel, with a window of 2 RADIUS_X + 1 by 2 RADIUS_Y + 1 pixels.
//
// A workgroup has a tile of 32 x 8 pixels. It loads the tile with the halo of the window once, at most 2.5 texels a pixel (9 x 9) instead
// of 82, and compares within workgroup memory.

override RADIUS_X: i32; // up to 4
override RADIUS_Y: i32; // up to 4

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> codes: array<Code>; // left image, then right

const TILE: vec2<i32> = vec2<i32>(32, 8);

// The tile and its halo, row after row; row and column (0, 0) is the corner of the first pixel's window.
var<workgroup> brightness: array<u32, 640>; // (32 + 2 * 4) * (8 + 2 * 4)

fn tile_pitch() -> i32 {
    return TILE.x + 2 * RADIUS_X;
}

fn load_tile(picture: texture_2d<u32>, group: vec2<u32>, lane: u32) {
    let corner = vec2<i32>(group) * TILE - vec2<i32>(RADIUS_X, RADIUS_Y);
    let texels = tile_pitch() * (TILE.y + 2 * RADIUS_Y);
    for (var i = i32(lane); i < texels; i += TILE.x * TILE.y) {
        brightness[i] = luma(picture, corner.x + i % tile_pitch(), corner.y + i / tile_pitch());
    }
}

@compute @workgroup_size(32, 8)
fn transform(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) place: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if group.z == 0u {
        load_tile(left, group.xy, lane);
    } else {
        load_tile(right, group.xy, lane);
    }
    workgroupBarrier();
    if inside(id) {
        let pixel = (group.z * params.height + id.y) * params.width + id.x;
        codes[pixel] = code(i32(place.y) * tile_pitch() + i32(place.x));
    }
}
