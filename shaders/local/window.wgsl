// Constant window: sums over a square, its coordinates clamped into the image.
//
// A workgroup owns 64 columns and up to 16 candidates, and walks down a strip of 32 rows, like that of cost/sad.wgsl. Each lane keeps the
// sums of its column over the rows of the window: each step adds the entering row and subtracts the leaving one. A window's sum is the
// sum of its columns, exchanged through two alternating halves of workgroup memory. 64 - 2 * REACH columns have their window inside the
// workgroup; the others only lend their sums. For each step and word of four candidates: two words of the volume, and 2 * REACH + 1
// pairs of words from workgroup memory.

#include common
#include local/volume
#include local/costs
#include local/store

const COLUMNS = #{COLUMNS}u;

// Four sums of 16 bits: at most 33 * 255 each.
var<workgroup> column_sums: array<vec2<u32>, 2u * COLUMNS * WORDS>;

// Sums of the window whose first column is the lane's.
fn window_sums(start: u32) -> vec4<u32> {
    var pairs = vec2<u32>(0u); // modulo 2^32: the lower sums with the upper ones above
    var upper = vec2<u32>(0u);
    for (var i = 0u; i <= 2u * REACH; i++) {
        let sums = column_sums[start + i * WORDS];
        pairs += sums;
        upper += sums >> vec2<u32>(16u);
    }
    let lower = pairs - (upper << vec2<u32>(16u));
    return vec4<u32>(lower, upper);
}

@compute @workgroup_size(COLUMNS * WORDS)
fn aggregate(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let own_columns = COLUMNS - 2u * REACH;
    let column = index / WORDS;
    let word = group.z * WORDS + index % WORDS;
    let x = group.x * own_columns + column;
    let source = clamped(i32(x) - i32(REACH), params.width);
    let is_target = column < own_columns && x < params.width;
    let top = dispatch.first + group.y * STRIP;
    let rows = min(STRIP, dispatch.end - top);
    var sums = vec2<u32>(0u);
    for (var i = 0u; i < rows + 2u * REACH; i++) {
        let entering = i32(top + i) - i32(REACH);
        sums += pairs_of(load_cost(source, clamped(entering, params.height), word));
        if i > 2u * REACH {
            // leaving values were added before, so no half of a word ends below zero
            sums -= pairs_of(load_cost(source, clamped(entering - i32(2u * REACH + 1u), params.height), word));
        }
        let turn = (i & 1u) * COLUMNS * WORDS;
        column_sums[turn + index] = sums;
        workgroupBarrier();
        if is_target && i >= 2u * REACH {
            store(x, top + i - 2u * REACH, word, window_sums(turn + index));
        }
    }
}
