// Weighted median at edges of depth (crates/stereo/src/filter/weighted_median.rs). The median of a pixel is found by halving the range of
// its window's disparities: each time the weights of those below are summed.

#include common

override IS_RIGHT: u32; // 1 for the right image
override COLORED: u32; // 1 if the guide has colours, 0 for luma in full depth

@group(0) @binding(1) var guide: texture_2d<u32>;
@group(0) @binding(2) var<storage, read> before: array<u32>;
@group(0) @binding(3) var<storage, read_write> after: array<u32>;

const RADIUS: i32 = 4;
const EDGE_RADIUS: i32 = 2;
const EDGE: i32 = 16;
const STRIDE: i32 = 2;
const SIDE: i32 = 5; // pixels of a row of the window that count
const TILE_COLUMNS: i32 = 40; // 32 and the radius on either side
const TILE_PIXELS: u32 = 640u; // 40 * 16

var<workgroup> tile_values: array<i32, 640>;
var<workgroup> tile_guide: array<u32, 640>; // up to three channels of eight bits

fn guide_word(pixel: vec2<i32>) -> u32 {
    if COLORED == 1u {
        return color_at(guide, pixel);
    }
    return min(textureLoad(guide, pixel, 0).x >> select(params.left_shift, params.right_shift, IS_RIGHT == 1u), 255u);
}

fn channel_difference(a: u32, b: u32, shift: u32) -> u32 {
    return u32(abs(i32((a >> shift) & 0xffu) - i32((b >> shift) & 0xffu)));
}

fn weight(a: u32, b: u32) -> u32 {
    var difference = channel_difference(a, b, 0u);
    if COLORED == 1u {
        difference = max(difference, max(channel_difference(a, b, 8u), channel_difference(a, b, 16u)));
    }
    return 256u >> (difference / 8u);
}

fn weighted_median(centre: i32) -> i32 {
    var weights: array<u32, 25>;
    var total = 0u;
    var low = 32767;
    var high = -32767;
    let corner = centre - RADIUS * TILE_COLUMNS - RADIUS;
    for (var i = 0; i < SIDE * SIDE; i++) {
        let at = corner + STRIDE * (i / SIDE * TILE_COLUMNS + i % SIDE);
        let value = tile_values[at];
        weights[i] = 0u;
        if value != INVALID {
            weights[i] = weight(tile_guide[centre], tile_guide[at]);
        }
        if weights[i] > 0u {
            total += weights[i];
            low = min(low, value);
            high = max(high, value);
        }
    }
    while low < high {
        let middle = (low + high) >> 1u;
        var below = 0u;
        for (var i = 0; i < SIDE * SIDE; i++) {
            if tile_values[corner + STRIDE * (i / SIDE * TILE_COLUMNS + i % SIDE)] <= middle {
                below += weights[i];
            }
        }
        if 2u * below >= total {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

@compute @workgroup_size(32, 8)
fn weigh(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) place: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let size = vec2<i32>(i32(params.width), i32(params.height));
    let corner = vec2<i32>(group.xy) * vec2<i32>(32, 8) - RADIUS;
    for (var i = lane; i < TILE_PIXELS; i += 256u) {
        let pixel = corner + vec2<i32>(i32(i) % TILE_COLUMNS, i32(i) / TILE_COLUMNS);
        tile_values[i] = INVALID;
        tile_guide[i] = 0u;
        if all(pixel >= vec2<i32>(0)) && all(pixel < size) {
            tile_values[i] = map_value(before[map_index(u32(pixel.x), u32(pixel.y))]);
            tile_guide[i] = guide_word(pixel);
        }
    }
    workgroupBarrier();
    if !inside(id) {
        return;
    }
    let index = map_index(id.x, id.y);
    let centre = (i32(place.y) + RADIUS) * TILE_COLUMNS + i32(place.x) + RADIUS;
    let value = tile_values[centre];
    var smallest = 32767;
    var largest = INVALID;
    for (var dy = -EDGE_RADIUS; dy <= EDGE_RADIUS; dy++) {
        for (var dx = -EDGE_RADIUS; dx <= EDGE_RADIUS; dx++) {
            let other = tile_values[centre + dy * TILE_COLUMNS + dx];
            smallest = min(smallest, select(other, 32767, other == INVALID));
            largest = max(largest, other);
        }
    }
    var result = value;
    if value != INVALID && largest - smallest >= EDGE {
        result = weighted_median(centre);
    }
    after[index] = with_value(before[index], result);
}
