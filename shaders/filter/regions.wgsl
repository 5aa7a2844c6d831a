// Connected regions by union-find, for the shaders that label them.
//
// Each pixel points at a pixel of its region with a smaller or equal index; a root points at itself. Roots are joined with atomicMin, so
// links only ever go down and every walk ends.
//
// Tiles of 32 x 8 pixels find and count their own regions in workgroup memory first. So the whole map has atomics for the 40 pairs of
// neighbours at a tile's border instead of 512, and for each region of a tile instead of each pixel.

@group(0) @binding(2) var<storage, read_write> parents: array<atomic<u32>>;
// Number of pixels of a region: of its part in the tile at the tile's root, finally of all at the region's root; else 0.
@group(0) @binding(3) var<storage, read_write> sizes: array<atomic<u32>>;

const NONE: u32 = 0xffffffffu; // no parent: the pixel belongs to no region
const TILE: vec2<u32> = vec2<u32>(32u, 8u);

// Parents and sizes like `parents` and `sizes`, for each pixel of the tile.
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
        // another invocation attached `high` before: its parent belongs to the region too
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

// Joins like `join`, within the tile.
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

// Makes the pixel's root its parent, and adds the pixels that were counted at the root of its tile.
fn count(pixel: u32) {
    let size = atomicLoad(&sizes[pixel]);
    let root = root_of(pixel);
    if size > 0u && root != pixel {
        atomicAdd(&sizes[root], size);
        atomicStore(&parents[pixel], root); // shortens later walks
    }
}

// Stores the tile's result for its pixel: the region of the tile's root, and at the root its number of pixels.
fn store_region(pixel: u32, corner: vec2<u32>, lane: u32) {
    let root = root_in_tile(lane);
    atomicStore(&parents[pixel], map_index(corner.x + root % TILE.x, corner.y + root / TILE.x));
    atomicStore(&sizes[pixel], atomicLoad(&tile_sizes[lane]));
}
