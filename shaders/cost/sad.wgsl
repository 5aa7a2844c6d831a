// Sum of absolute differences over a window: rounded means before paths, exact sums without.
//
// A workgroup owns 64 columns and 16 candidates, and walks down a strip of 32 rows. Each lane keeps, for four candidates, the sum of its
// column over the rows of the window: each step adds the entering row and subtracts the leaving one. A window's sum is the sum of its
// columns, exchanged through workgroup memory. 64 - 2 * RADIUS columns have their window inside the workgroup; the others only lend
// their sums.
//
// For each step, lane and four candidates: 1.1 texels, 5 words and 2 * RADIUS + 1 pairs of words from workgroup memory. For each cost,
// with the rows above the strip and the lent columns: 0.3 texels in windows of 5 x 5 and 0.7 in those of 21 x 21, instead of two for each
// pixel of the window.

#include common

override RADIUS: i32; // up to 10

@group(0) @binding(1) var<uniform> dispatch: DispatchParams;
@group(0) @binding(2) var left: texture_2d<u32>;
@group(0) @binding(3) var right: texture_2d<u32>;
@group(0) @binding(4) var<storage, read_write> costs: array<u32>; // four means, or one sum, a word

const COLUMNS: i32 = 64;
const WORDS: u32 = 4u;
const CANDIDATES: u32 = 16u; // of a workgroup
const STRIP: i32 = 32;

// Row that enters the windows, and in the upper half of a word the one that leaves them. The partners of the first column at the last
// candidate are at 0.
var<workgroup> left_rows: array<u32, 64>;
var<workgroup> right_rows: array<u32, 79>; // one for each column and each further candidate
// Four sums of 16 bits: at most 21 * 255 each.
var<workgroup> column_sums: array<vec2<u32>, 256>;

// Position of a lane.
struct Lane {
    index: u32,
    column: i32, // from the left of the workgroup
    xl: i32, // the same in the image, clamped
    first_xl: i32, // that of column 0
    word: u32, // of the pixel's costs
}

fn lane_of(group: vec3<u32>, index: u32) -> Lane {
    let first = i32(group.x) * (COLUMNS - 2 * RADIUS) - RADIUS;
    let column = i32(index / WORDS);
    let last = i32(params.width) - 1;
    return Lane(index, column, clamp(first + column, 0, last), clamp(first, 0, last), group.z * WORDS + index % WORDS);
}

// Brightness of one column in the entering row and, if one leaves, in the leaving row.
fn rows_at(picture: texture_2d<u32>, shift: u32, x: i32, entering: i32, has_leaving: bool) -> u32 {
    var rows = luma8(picture, shift, x, entering);
    if has_leaving {
        rows |= luma8(picture, shift, x, entering - 2 * RADIUS - 1) << 16u;
    }
    return rows;
}

fn load_rows(lane: Lane, last_candidate: u32, entering: i32, has_leaving: bool) {
    let i = i32(lane.index);
    if i < COLUMNS {
        let x = lane.first_xl + i; // columns beyond the right border are not used
        left_rows[i] = rows_at(left, params.left_shift, x, entering, has_leaving);
    } else if i < 2 * COLUMNS + i32(CANDIDATES) - 1 {
        let x = lane.first_xl - disparity_of(last_candidate) + i - COLUMNS;
        right_rows[i - COLUMNS] = rows_at(right, params.right_shift, x, entering, has_leaving);
    }
}

// Change of the four sums of a column in a step, in two pairs of 16 bits. Leaving values were added before, so no half of a word ends
// below zero.
fn step_of(lane: Lane) -> vec2<u32> {
    let offset = lane.xl - lane.first_xl;
    let here = left_rows[offset];
    let at = u32(offset) + CANDIDATES - 1u - 4u * (lane.index % WORDS);
    let there = vec4<u32>(right_rows[at], right_rows[at - 1u], right_rows[at - 2u], right_rows[at - 3u]);
    let entering = abs(vec4<i32>(vec4<u32>(here & 0xffffu) - (there & vec4<u32>(0xffffu))));
    let leaving = abs(vec4<i32>(vec4<u32>(here >> 16u) - (there >> vec4<u32>(16u))));
    let change = vec4<u32>(entering - leaving);
    return change.xz + (change.yw << vec2<u32>(16u));
}

// Sums of the window whose first column is the lane's.
fn window_sums(index: u32) -> vec4<u32> {
    var pairs = vec2<u32>(0u); // modulo 2^32: the lower sums with the upper ones above
    var upper = vec2<u32>(0u);
    for (var i = 0u; i <= 2u * u32(RADIUS); i++) {
        let sums = column_sums[index + i * WORDS];
        pairs += sums;
        upper += sums >> vec2<u32>(16u);
    }
    let lower = pairs - (upper << vec2<u32>(16u));
    return vec4<u32>(lower.x, upper.x, lower.y, upper.y);
}

// Walks down the strip of a workgroup; the entries store the sums of windows.
fn walk(group: vec3<u32>, index: u32, is_exact: bool) {
    let lane = lane_of(group, index);
    let top = i32(dispatch.first + group.y * u32(STRIP));
    let rows = min(STRIP, i32(dispatch.end) - top);
    let x = u32(i32(group.x) * (COLUMNS - 2 * RADIUS) + lane.column);
    let is_target = lane.column < COLUMNS - 2 * RADIUS && x < params.width && lane.word < params.words;
    let last_candidate = (group.z + 1u) * CANDIDATES - 1u;
    var sums = vec2<u32>(0u);
    for (var i = 0; i < rows + 2 * RADIUS; i++) {
        load_rows(lane, last_candidate, top - RADIUS + i, i > 2 * RADIUS);
        workgroupBarrier();
        sums += step_of(lane);
        column_sums[index] = sums;
        workgroupBarrier();
        if is_target && i >= 2 * RADIUS {
            let y = u32(top + i - 2 * RADIUS) - dispatch.origin;
            write((y * params.width + x) * params.words + lane.word, window_sums(index), is_exact);
        }
    }
}

fn write(word: u32, sums: vec4<u32>, is_exact: bool) {
    if is_exact {
        costs[4u * word] = sums.x;
        costs[4u * word + 1u] = sums.y;
        costs[4u * word + 2u] = sums.z;
        costs[4u * word + 3u] = sums.w;
    } else {
        let pixels = u32((2 * RADIUS + 1) * (2 * RADIUS + 1));
        let means = (sums + pixels / 2u) / pixels;
        costs[word] = means.x | (means.y << 8u) | (means.z << 16u) | (means.w << 24u);
    }
}

@compute @workgroup_size(256)
fn mean(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    walk(group, index, false);
}

@compute @workgroup_size(256)
fn exact(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    walk(group, index, true);
}
