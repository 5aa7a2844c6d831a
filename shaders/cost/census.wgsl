// Census transform of both pictures, then the Hamming distance of every pixel and candidate.
//
// The transform works on tiles of 32 x 8 pixels. A workgroup loads its tile with the halo of the window once, at most 2.2
// texels a pixel (9 x 7) instead of 63, and compares within workgroup memory.

override RADIUS_X: i32; // up to 4
override RADIUS_Y: i32; // up to 3
override SYMMETRIC: bool;

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> codes: array<vec2<u32>>; // left picture, then right

const TILE: vec2<i32> = vec2<i32>(32, 8);

// The tile and its halo, row after row; row and column (0, 0) is the corner of the first pixel's window.
var<workgroup> brightness: array<u32, 560>; // (32 + 2 * 4) * (8 + 2 * 3)

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

// Code of the pixel of the tile whose window starts at `corner`.
fn census(corner: i32) -> vec2<u32> {
    let centre_at = corner + RADIUS_Y * tile_pitch() + RADIUS_X;
    let centre = brightness[centre_at];
    var code = vec2<u32>(0u);
    var next = 0u;
    for (var dy = -RADIUS_Y; dy <= RADIUS_Y; dy++) {
        for (var dx = -RADIUS_X; dx <= RADIUS_X; dx++) {
            if dx == 0 && dy == 0 {
                if SYMMETRIC {
                    return code; // the other half holds the mirrors
                }
                continue;
            }
            let aside = dy * tile_pitch() + dx;
            let value = brightness[centre_at + aside];
            var is_set = value < centre;
            if SYMMETRIC {
                is_set = value > brightness[centre_at - aside];
            }
            let bit = u32(is_set) << (next & 31u);
            if next < 32u {
                code.x |= bit;
            } else {
                code.y |= bit;
            }
            next++;
        }
    }
    return code;
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
        codes[pixel] = census(i32(place.y) * tile_pitch() + i32(place.x));
    }
}
