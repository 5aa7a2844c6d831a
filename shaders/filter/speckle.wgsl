// Speckle removal: connected regions by union-find, their sizes, and small ones made invalid.
//
// Each pixel points at a pixel of its region with a smaller or equal index; a root points at itself. Roots are
// joined with atomicMin, so links only ever go down and every walk ends.
//
// Tiles of 32 x 8 pixels find and count their own regions in workgroup memory first. So the whole map has atomics for the
// 40 pairs of neighbours at a tile's border instead of 512, and for each region of a tile instead of each pixel.

@group(0) @binding(1) var<storage, read_write> map: array<u32>;
@group(0) @binding(2) var<storage, read_write> parents: array<atomic<u32>>;
// At a tile's root the pixels of its region in the tile, in the end at a region's root all of them; else 0.
@group(0) @binding(3) var<storage, read_write> sizes: array<atomic<u32>>;

const TILE: vec2<u32> = vec2<u32>(32u, 8u);

// As the map, `parents` and `sizes`, for each pixel of the tile.
var<workgroup> tile_values: array<i32, 256>;
var<workgroup> tile_parents: array<atomic<u32>, 256>;
var<workgroup> tile_sizes: array<atomic<u32>, 256>;

fn root_of(pixel: u32) -> u32 {
    var here = pixel;
    loop {
        let parent = atomicLoad(&parents[here]);
        if parent == here {
            return here;
        }
        here = parent;
    }
    return here;
}

fn join(one: u32, other: u32) {
    var a = root_of(one);
    var b = root_of(other);
    while a != b {
        let low = min(a, b);
        let high = max(a, b);
        let parent = atomicMin(&parents[high], low);
        // Another invocation attached `high` before: its parent belongs to the region too.
        a = root_of(select(parent, low, parent == high));
        b = root_of(low);
    }
}

fn root_in_tile(lane: u32) -> u32 {
    var here = lane;
    loop {
        let parent = atomicLoad(&tile_parents[here]);
        if parent == here {
            return here;
        }
        here = parent;
    }
    return here;
}

// As `join`.
fn join_in_tile(one: u32, other: u32) {
    var a = root_in_tile(one);
    var b = root_in_tile(other);
    while a != b {
        let low = min(a, b);
        let high = max(a, b);
        let parent = atomicMin(&tile_parents[high], low);
        a = root_in_tile(select(parent, low, parent == high));
        b = root_in_tile(low);
    }
}

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
    let root = root_in_tile(lane);
    atomicAdd(&tile_sizes[root], 1u);
    workgroupBarrier();
    if inside(id) {
        let corner = group.xy * TILE;
        atomicStore(&parents[pixel], map_index(corner.x + root % TILE.x, corner.y + root / TILE.x));
        atomicStore(&sizes[pixel], atomicLoad(&tile_sizes[lane]));
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
    let pixel = map_index(id.x, id.y);
    let size = atomicLoad(&sizes[pixel]);
    let root = root_of(pixel);
    if size > 0u && root != pixel {
        atomicAdd(&sizes[root], size);
        atomicStore(&parents[pixel], root); // shortens later walks
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
