// Speckle removal: connected regions (regions.wgsl), and small ones made invalid.

@group(0) @binding(1) var<storage, read_write> map: array<u32>;

var<workgroup> tile_values: array<i32, 256>;

fn belong_together(a: i32, b: i32) -> bool {
    return a != INVALID && b != INVALID && abs(a - b) <= SUBPIXEL_STEPS * i32(params.speckle_range);
}

@compute @workgroup_size(32, 8)
fn separate(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) place: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let pixel = map_index(id.x, id.y);
    tile_values[lane] = INVALID;
    if inside(id) {
        tile_values[lane] = map_value(map[pixel]);
    }
    atomicStore(&tile_parents[lane], lane);
    atomicStore(&tile_sizes[lane], 0u);
    workgroupBarrier();
    if place.x + 1u < TILE.x && belong_together(tile_values[lane], tile_values[lane + 1u]) {
        join_in_tile(lane, lane + 1u);
    }
    if place.y + 1u < TILE.y && belong_together(tile_values[lane], tile_values[lane + TILE.x]) {
        join_in_tile(lane, lane + TILE.x);
    }
    workgroupBarrier();
    atomicAdd(&tile_sizes[root_in_tile(lane)], 1u);
    workgroupBarrier();
    if inside(id) {
        store_region(pixel, group.xy * TILE, lane);
    }
}

@compute @workgroup_size(32, 8)
fn merge(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) place: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = map_index(id.x, id.y);
    let right = pixel + 1u;
    let below = pixel + params.pitch;
    let is_last = (place.xy + 1u == TILE) & (id.xy + 1u < vec2<u32>(params.width, params.height));
    if is_last.x && belong_together(map_value(map[pixel]), map_value(map[right])) {
        join(pixel, right);
    }
    if is_last.y && belong_together(map_value(map[pixel]), map_value(map[below])) {
        join(pixel, below);
    }
}

@compute @workgroup_size(32, 8)
fn measure(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    count(map_index(id.x, id.y));
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
