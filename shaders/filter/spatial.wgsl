// Spatial filter: running means along each row, there and back, and along each column, there and back
// (crates/stereo/src/filter/spatial.rs).
//
// A workgroup takes 32 lines from end to end and back again, 32 pixels of each at a time: all its lanes load a tile, so that they read
// whole rows of it side by side, 32 of them continue the means of their lines, and all store it. The next tile is loaded meanwhile. The
// map is read and written twice along rows and twice along columns.

#include common

override ALONG_ROWS: u32; // 1, or 0 for columns

@group(0) @binding(1) var<storage, read_write> map: array<u32>;

const SIDE: u32 = 32u; // of a tile
const LANES: u32 = 256u;
const EACH: u32 = 4u; // words of a tile for each lane

// Row after row, one word longer than the tile so that the words of a column lie in banks of their own.
var<workgroup> tile: array<u32, 1056>; // 32 * 33

fn place_in_tile(x: u32, y: u32) -> u32 {
    return y * (SIDE + 1u) + x;
}

// Number `k` of the pixels that a lane loads and stores, from the tile's corner.
fn own(lane: u32, k: u32) -> vec2<u32> {
    let i = k * LANES + lane;
    return vec2<u32>(i % SIDE, i / SIDE);
}

fn corner_of(number: u32, group: u32) -> vec2<u32> {
    return SIDE * select(vec2<u32>(group, number), vec2<u32>(number, group), ALONG_ROWS == 1u);
}

fn load(pixel: vec2<u32>) -> u32 {
    if pixel.x < params.width && pixel.y < params.height {
        return map[map_index(pixel.x, pixel.y)];
    }
    return map_word(INVALID, 0u);
}

// Mean of the line with the pixel at `at`, which gets it as its disparity.
fn follow(at: u32, mean: i32) -> i32 {
    let word = tile[at];
    let value = map_value(word);
    if value == INVALID || mean == INVALID || abs(value - mean) > i32(params.spatial_delta) {
        return value;
    }
    let next = blend(mean, value, params.spatial_alpha);
    tile[at] = with_value(word, next);
    return next;
}

@compute @workgroup_size(256)
fn run(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let length = select(params.height, params.width, ALONG_ROWS == 1u);
    let tiles = (length + SIDE - 1u) / SIDE;
    var next: array<u32, 4>;
    for (var k = 0u; k < EACH; k++) {
        next[k] = load(corner_of(0u, group.x) + own(lane, k));
    }
    var mean = INVALID; // at the turning point that of the last pixel, which stays unchanged
    for (var step = 0u; step < 2u * tiles; step++) {
        let is_back = step >= tiles;
        let number = select(step, 2u * tiles - 1u - step, is_back);
        let turns = step + 1u == tiles;
        for (var k = 0u; k < EACH; k++) {
            let pixel = own(lane, k);
            tile[place_in_tile(pixel.x, pixel.y)] = next[k];
        }
        if step + 1u < 2u * tiles && !turns {
            let corner = corner_of(select(step + 1u, 2u * tiles - 2u - step, step + 1u >= tiles), group.x);
            for (var k = 0u; k < EACH; k++) {
                next[k] = load(corner + own(lane, k));
            }
        }
        workgroupBarrier();
        if lane < SIDE {
            for (var n = 0u; n < SIDE; n++) {
                let along = select(n, SIDE - 1u - n, is_back);
                let at = select(place_in_tile(lane, along), place_in_tile(along, lane), ALONG_ROWS == 1u);
                mean = follow(at, mean);
            }
        }
        workgroupBarrier();
        let corner = corner_of(number, group.x);
        for (var k = 0u; k < EACH; k++) {
            let pixel = own(lane, k);
            let word = tile[place_in_tile(pixel.x, pixel.y)];
            if corner.x + pixel.x < params.width && corner.y + pixel.y < params.height {
                map[map_index(corner.x + pixel.x, corner.y + pixel.y)] = word;
            }
            if turns {
                next[k] = word; // the same tile again, the other way
            }
        }
    }
}
