// Calm pixels of a tile: where blurred brightness hardly changes (crates/stereo/src/filter/calm.rs).

override IS_RIGHT: u32; // 1 for the right image, whose depth of bits may be another one

@group(0) @binding(1) var picture: texture_2d<u32>;

const CALM_STEP: i32 = 2;
// Tile, with a column at its left and a row above, and two more pixels on each side for the blur.
const BLURRED_COLUMNS: u32 = 33u;
const BLURRED_PIXELS: u32 = 297u; // 33 * 9
const LUMA_COLUMNS: i32 = 37;
const LUMA_PIXELS: u32 = 481u; // 37 * 13

var<workgroup> tile_luma: array<u32, 481>;
var<workgroup> tile_blurred: array<u32, 297>;

// Row of five pixels around one.
fn blurred_row(at: i32) -> u32 {
    return tile_luma[at - 2] + tile_luma[at + 2] + 4u * (tile_luma[at - 1] + tile_luma[at + 1]) + 6u * tile_luma[at];
}

// Blurs the tile at `corner`, with all its lanes together.
fn blur_tile(corner: vec2<i32>, lane: u32) {
    let shift = select(params.left_shift, params.right_shift, IS_RIGHT == 1u);
    for (var i = lane; i < LUMA_PIXELS; i += 256u) {
        let place = vec2<i32>(i32(i) % LUMA_COLUMNS, i32(i) / LUMA_COLUMNS);
        let pixel = corner + place - 3;
        tile_luma[i] = luma8(picture, shift, pixel.x, pixel.y);
    }
    workgroupBarrier();
    for (var i = lane; i < BLURRED_PIXELS; i += 256u) {
        let place = vec2<i32>(i32(i % BLURRED_COLUMNS), i32(i / BLURRED_COLUMNS));
        let pixel = max(corner + place - 1, vec2<i32>(0)); // outside is as inside
        let tile_place = pixel - corner + 3;
        let at = tile_place.y * LUMA_COLUMNS + tile_place.x;
        let rows = blurred_row(at - 2 * LUMA_COLUMNS) + blurred_row(at + 2 * LUMA_COLUMNS)
            + 4u * (blurred_row(at - LUMA_COLUMNS) + blurred_row(at + LUMA_COLUMNS)) + 6u * blurred_row(at);
        tile_blurred[i] = (rows + 128u) >> 8u;
    }
    workgroupBarrier();
}

// Whether the pixel of the tile is calm, after `blur_tile`.
fn is_calm(place: vec2<u32>) -> bool {
    let at = (place.y + 1u) * BLURRED_COLUMNS + place.x + 1u;
    let here = i32(tile_blurred[at]);
    let to_left = abs(here - i32(tile_blurred[at - 1u]));
    let to_above = abs(here - i32(tile_blurred[at - BLURRED_COLUMNS]));
    return max(to_left, to_above) <= CALM_STEP;
}
