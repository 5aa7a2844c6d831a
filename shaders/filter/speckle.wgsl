// Speckle removal: connected regions by union-find, their sizes, and small ones made invalid.
//
// Each pixel points at a pixel of its region with a smaller or equal index; a root points at itself. Roots are
// joined with atomicMin, so links only ever go down and every walk ends.

@group(0) @binding(1) var<storage, read_write> map: array<u32>;
@group(0) @binding(2) var<storage, read_write> parents: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> sizes: array<atomic<u32>>;

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
        // Somebody else hung `high` up before: what it hung from belongs to the region too.
        a = root_of(select(parent, low, parent == high));
        b = root_of(low);
    }
}

fn belong_together(one: u32, other: u32) -> bool {
    let a = map_value(map[one]);
    let b = map_value(map[other]);
    return a != INVALID && b != INVALID && abs(a - b) <= SUBPIXEL_STEPS * i32(params.speckle_range);
}

@compute @workgroup_size(8, 8)
fn separate(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        let pixel = map_index(id.x, id.y);
        atomicStore(&parents[pixel], pixel);
        atomicStore(&sizes[pixel], 0u);
    }
}

@compute @workgroup_size(8, 8)
fn merge(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = map_index(id.x, id.y);
    if id.x + 1u < params.width && belong_together(pixel, pixel + 1u) {
        join(pixel, pixel + 1u);
    }
    if id.y + 1u < params.height && belong_together(pixel, pixel + params.pitch) {
        join(pixel, pixel + params.pitch);
    }
}

@compute @workgroup_size(8, 8)
fn measure(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        atomicAdd(&sizes[root_of(map_index(id.x, id.y))], 1u);
    }
}

@compute @workgroup_size(8, 8)
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
