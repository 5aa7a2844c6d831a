// Initial disparities of mutual information: `start` of a left pixel, px, or UNKNOWN.

override LAST_STEP: u32; // pixels of the last map from one of this level to the next, as a power of two

@group(0) @binding(1) var<uniform> guessed: Params; // of the level that the map is of
@group(0) @binding(2) var<storage, read> guess: array<u32>; // the coarser level's map, or the last pair's finished one

const UNKNOWN: i32 = -1000000; // further than any image is wide

// Disparity of a map at a pixel, both halved `shift` times; filled pixels are not measured.
fn measured(x: u32, y: u32, halvings: u32) -> i32 {
    let word = guess[y * guessed.pitch + x];
    let value = map_value(word);
    if value == INVALID || (map_reasons(word) & FILLED) != 0u {
        return UNKNOWN;
    }
    return rounded_px(value >> halvings);
}

// Draws a disparity of the range for each pixel by hashing its position.
fn random_disparity(x: u32, y: u32) -> i32 {
    var h = (x * 0x9e3779b1u) ^ (y * 0x85ebca77u);
    h = (h ^ (h >> 15u)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12u)) * 0x297a2d39u;
    h ^= h >> 15u;
    return disparity_of(h % params.candidates);
}

fn start_of_coarser(x: u32, y: u32) -> i32 {
    let d = measured(x >> 1u, y >> 1u, 0u);
    return select(2 * d, UNKNOWN, d == UNKNOWN);
}

fn start_of_last(x: u32, y: u32) -> i32 {
    if params.has_past == 0u {
        return random_disparity(x, y);
    }
    return measured(x << LAST_STEP, y << LAST_STEP, LAST_STEP);
}
