// Adaptive support weights: means over a square window in which near pixels of like brightness count more.
//
// A workgroup owns 32 columns of a row and up to 32 candidates. For each row of the window it loads that row's costs and brightness with
// their halo, and computes all weights of the row: a left pixel's are the same for all candidates, a right pixel's the same for all pairs
// of column and candidate that meet there. So there are 32 + 63 instead of 2 * 1024 weights for each offset in the window; the lanes, one
// for each column and word of four candidates, multiply and add.
//
// For each row of the window and word of four candidates: 1 + REACH / 16 words of the volume. For each place of the window: six words of
// workgroup memory, and three for the weights.

#include common
#include local/volume

@group(0) @binding(#) var left: texture_2d<u32>;
@group(0) @binding(#) var right: texture_2d<u32>;
#include local/costs
#include local/store
#include local/weights

const COLUMNS = #{COLUMNS}u;

const SIDE = 2u * REACH + 1u;
const RIGHTS = COLUMNS + 4u * WORDS - 1u;
const LANES = COLUMNS * WORDS;

// Brightness of the window's row, and above it that of the row of the pixels themselves.
var<workgroup> left_row: array<u32, COLUMNS + 2u * REACH>;
// Brightness from REACH to the left of the leftmost partner on, which is clamped into the image.
var<workgroup> right_row: array<u32, RIGHTS + 2u * REACH>;
var<workgroup> costs_of_row: array<u32, (COLUMNS + 2u * REACH) * WORDS>;
// Weights for each offset along the row: of each column; of each partner, from the first column's one at the last candidate on.
var<workgroup> left_weights: array<u32, SIDE * COLUMNS>;
var<workgroup> right_weights: array<u32, SIDE * RIGHTS>;

fn brightness(picture: texture_2d<u32>, shift: u32, x: i32, y: i32, dy: i32) -> u32 {
    return luma8(picture, shift, x, y + dy) | (luma8(picture, shift, x, y) << 8u);
}

fn load_row(group: vec3<u32>, y: i32, dy: i32, first_partner: i32, index: u32) {
    let from_x = i32(group.x * COLUMNS) - i32(REACH);
    for (var i = index; i < COLUMNS + 2u * REACH; i += LANES) {
        left_row[i] = brightness(left, params.left_shift, from_x + i32(i), y, dy);
    }
    let from_partner = i32(clamped(first_partner, params.width)) - i32(REACH);
    for (var i = index; i < RIGHTS + 2u * REACH; i += LANES) {
        right_row[i] = brightness(right, params.right_shift, from_partner + i32(i), y, dy);
    }
    let row = clamped(y + dy, params.height);
    for (var i = index; i < (COLUMNS + 2u * REACH) * WORDS; i += LANES) {
        let x = clamped(from_x + i32(i / WORDS), params.width);
        costs_of_row[i] = load_cost(x, row, group.z * WORDS + i % WORDS);
    }
}

fn weigh_row(dy: i32, first_partner: i32, index: u32) {
    for (var i = index; i < SIDE * COLUMNS; i += LANES) {
        let offset = i / COLUMNS;
        let column = i % COLUMNS;
        let of_place = weight_of_place(i32(offset) - i32(REACH), dy);
        left_weights[i] = weight(left_row[column + REACH] >> 8u, left_row[column + offset] & 0xffu, of_place);
    }
    let leftmost = clamped(first_partner, params.width);
    for (var i = index; i < SIDE * RIGHTS; i += LANES) {
        let offset = i / RIGHTS;
        // partners beyond a border are those at the border
        let place = clamped(first_partner + i32(i % RIGHTS), params.width) - leftmost;
        let of_place = weight_of_place(i32(offset) - i32(REACH), dy);
        right_weights[i] = weight(right_row[place + REACH] >> 8u, right_row[place + offset] & 0xffu, of_place);
    }
}

@compute @workgroup_size(LANES)
fn aggregate(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let column = index / WORDS;
    let word = index % WORDS;
    let y = dispatch.first + group.y;
    let last_candidate = 4u * WORDS * (group.z + 1u) - 1u;
    let first_partner = i32(group.x * COLUMNS) - disparity_of(last_candidate);
    let first_right = column + 4u * (WORDS - word) - 1u; // of the word's first candidate; the next ones lie before it
    load_weights(index, LANES);
    var sums = vec4<u32>(0u);
    var all_weights = vec4<u32>(0u);
    for (var dy = -i32(REACH); dy <= i32(REACH); dy++) {
        load_row(group, i32(y), dy, first_partner, index);
        workgroupBarrier();
        weigh_row(dy, first_partner, index);
        workgroupBarrier();
        for (var offset = 0u; offset < SIDE; offset++) {
            let at = offset * RIGHTS + first_right;
            let rights = vec4<u32>(
                right_weights[at],
                right_weights[at - 1u],
                right_weights[at - 2u],
                right_weights[at - 3u],
            );
            let both = (left_weights[offset * COLUMNS + column] * rights) >> vec4<u32>(8u);
            sums += both * costs_of(costs_of_row[(column + offset) * WORDS + word]);
            all_weights += both;
        }
        workgroupBarrier();
    }
    let x = group.x * COLUMNS + column;
    if x < params.width {
        store(x, y, group.z * WORDS + word, 16u * sums / all_weights);
    }
}
