// Segments of calm pixels (crates/stereo/src/filter/segments.rs): connected regions, numbered where they are large enough.
//
// Finally `parents` of a calm pixel lead to its segment's first pixel, where `sizes` has the segment's number plus one, or 0 for a segment
// that is too small. Other pixels have no parent.

#include common
#include filter/calm
#include filter/regions
#include filter/records

@group(0) @binding(4) var<storage, read_write> segments: array<atomic<u32>>;

const MIN_SEGMENT: u32 = 150u;

var<workgroup> tile_calm: array<u32, 256>;

@compute @workgroup_size(32, 8)
fn separate(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) place: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if id.x == 0u && id.y == 0u {
        atomicStore(&segments[0], 0u);
    }
    blur_tile(vec2<i32>(group.xy * TILE), lane);
    let calm = inside(id) && is_calm(place.xy);
    tile_calm[lane] = u32(calm);
    atomicStore(&tile_parents[lane], lane);
    atomicStore(&tile_sizes[lane], 0u);
    workgroupBarrier();
    if calm && place.x + 1u < TILE.x && tile_calm[lane + 1u] == 1u {
        join_in_tile(lane, lane + 1u);
    }
    if calm && place.y + 1u < TILE.y && tile_calm[lane + TILE.x] == 1u {
        join_in_tile(lane, lane + TILE.x);
    }
    workgroupBarrier();
    if calm {
        atomicAdd(&tile_sizes[root_in_tile(lane)], 1u);
    }
    workgroupBarrier();
    if !inside(id) {
        return;
    }
    let pixel = map_index(id.x, id.y);
    store_region(pixel, group.xy * TILE, lane);
    if !calm {
        atomicStore(&parents[pixel], NONE);
    }
}

fn join_calm(pixel: u32, other: u32) {
    if atomicLoad(&parents[pixel]) != NONE && atomicLoad(&parents[other]) != NONE {
        join(pixel, other);
    }
}

@compute @workgroup_size(32, 8)
fn merge(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) place: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = map_index(id.x, id.y);
    let is_last = (place.xy + 1u == TILE) & (id.xy + 1u < vec2<u32>(params.width, params.height));
    if is_last.x {
        join_calm(pixel, pixel + 1u);
    }
    if is_last.y {
        join_calm(pixel, pixel + params.pitch);
    }
}

@compute @workgroup_size(32, 8)
fn measure(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = map_index(id.x, id.y);
    if atomicLoad(&parents[pixel]) != NONE {
        count(pixel);
    }
}

@compute @workgroup_size(32, 8)
fn number(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = map_index(id.x, id.y);
    if atomicLoad(&parents[pixel]) != pixel {
        return;
    }
    let size = atomicLoad(&sizes[pixel]);
    if size < MIN_SEGMENT {
        atomicStore(&sizes[pixel], 0u);
        return;
    }
    let segment = atomicAdd(&segments[0], 1u);
    atomicStore(&sizes[pixel], segment + 1u);
    let record = record_of(segment);
    for (var word = 0u; word < RECORD_WORDS; word++) {
        atomicStore(&segments[record + word], 0u);
    }
    atomicStore(&segments[record + FIRST_X], id.x);
    atomicStore(&segments[record + FIRST_Y], id.y);
    atomicStore(&segments[record + PIXELS], size);
}
