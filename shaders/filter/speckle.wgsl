// Speckle removal: connected regions (regions.wgsl) of the checked map (consistency.wgsl), and small ones made invalid.
//
// A pixel at the border of a tile may be joined from the next tile before its own tile's lanes come to it, so `reset` makes every pixel a
// region of its own before tiles are labelled.

#include common
#include filter/consistency
#include filter/regions

override CHECKS: u32; // 1 where the map is checked
override LABELS: u32; // 1 where regions are labelled

@group(0) @binding(1) var<storage, read_write> map: array<u32>;

// The tile, and the next column and row behind it.
const COLUMNS: u32 = 33u;
const PIXELS: u32 = 297u; // 33 * 9

var<workgroup> values: array<i32, 297>;

fn belong_together(a: i32, b: i32) -> bool {
    return a != INVALID && b != INVALID && abs(a - b) <= SUBPIXEL_STEPS * i32(params.speckle_range);
}

fn word_at(at: vec2<u32>) -> u32 {
    let word = before[map_index(at.x, at.y)];
    if CHECKS == 1u {
        return checked(word, at.x, at.y);
    }
    return word;
}

@compute @workgroup_size(32, 8)
fn reset(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        let pixel = map_index(id.x, id.y);
        atomicStore(&parents[pixel], pixel);
    }
}

@compute @workgroup_size(32, 8)
fn label(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) place: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let corner = group.xy * TILE;
    for (var i = lane; i < PIXELS; i += TILE.x * TILE.y) {
        let at = corner + vec2<u32>(i % COLUMNS, i / COLUMNS);
        values[i] = INVALID;
        if at.x < params.width && at.y < params.height {
            let word = word_at(at);
            values[i] = map_value(word);
            if all(at < corner + TILE) {
                map[map_index(at.x, at.y)] = word;
            }
        }
    }
    if LABELS == 0u {
        return;
    }
    atomicStore(&tile_parents[lane], lane);
    atomicStore(&tile_sizes[lane], 0u);
    workgroupBarrier();
    let here = place.y * COLUMNS + place.x;
    let is_with_right = belong_together(values[here], values[here + 1u]);
    let is_with_below = belong_together(values[here], values[here + COLUMNS]);
    if is_with_right && place.x + 1u < TILE.x {
        join_in_tile(lane, lane + 1u);
    }
    if is_with_below && place.y + 1u < TILE.y {
        join_in_tile(lane, lane + TILE.x);
    }
    workgroupBarrier();
    let root = root_in_tile(lane);
    atomicAdd(&tile_sizes[root], 1u);
    workgroupBarrier();
    if !inside(id) {
        return;
    }
    let pixel = map_index(id.x, id.y);
    let root_pixel = map_index(corner.x + root % TILE.x, corner.y + root / TILE.x);
    atomicStore(&sizes[pixel], atomicLoad(&tile_sizes[lane]));
    if any(place.xy == vec2<u32>(0u)) || any(place.xy + 1u == TILE) {
        join(pixel, root_pixel);
    } else if root != lane {
        atomicStore(&parents[pixel], root_pixel); // nothing but its tile joins it
    }
    if is_with_right && place.x + 1u == TILE.x {
        join(pixel, pixel + 1u);
    }
    if is_with_below && place.y + 1u == TILE.y {
        join(pixel, pixel + params.pitch);
    }
}

@compute @workgroup_size(32, 8)
fn measure(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        count(map_index(id.x, id.y));
    }
}

@compute @workgroup_size(32, 8)
fn remove(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = map_index(id.x, id.y);
    let word = map[pixel];
    if map_value(word) != INVALID && atomicLoad(&sizes[root_of(pixel)]) <= params.speckle_size {
        map[pixel] = invalidated(word, SPECKLE);
    }
}
