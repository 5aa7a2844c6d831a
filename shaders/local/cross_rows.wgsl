// First half of a cross: for every pixel and candidate the sum of the costs, and the number, of the pixels of its horizontal arms, both
// in one word; and these added up down the columns of a strip.
//
// A workgroup owns 128 columns and up to 32 candidates, and walks down a strip of rows. In each row a lane adds up a run of 8 columns and
// shares its total; with the preceding totals the runs become prefix sums, and the sum over any arms is the difference of two of these.
// The arms of the left columns and of all their partners lie in workgroup memory. 128 - 2 * REACH - 1 columns have their arms inside the
// workgroup.
//
// The sum down the columns goes through the same words: 64 rows of at most 61 costs of 255 stay below 2^20, and as many counts below
// 2^12. So the vertical arms are a difference of two words as well (cross_columns.wgsl). For each word of four candidates: a word of the
// volume, and four words written.

#include common
#include local/volume

const RUN = #{RUN}u;
const RUNS = #{RUNS}u;

@group(0) @binding(#) var<storage, read> arms: array<u32>;
@group(0) @binding(#) var<storage, read> costs: array<u32>; // of the slab with the row
@group(0) @binding(#) var<storage, read_write> arm_sums: array<vec4<u32>>;

fn load_cost(x: u32, y: u32, word: u32) -> u32 {
    return costs[((y - dispatch.origin) * params.width + x) * params.words + word];
}

var<workgroup> totals: array<vec2<u32>, RUNS * WORDS>;
var<workgroup> sums_from_left: array<vec2<u32>, RUNS * RUN * WORDS>; // at most 128 * 255 in each half
var<workgroup> left_arms: array<u32, RUNS * RUN>;
// of the partners: the one of the first column at the group's last candidate is at 0
var<workgroup> right_arms: array<u32, RUNS * RUN + 4u * WORDS - 1u>;

const COLUMNS = RUNS * RUN;

fn load_arms(first: i32, last_candidate: u32, y: u32, index: u32) {
    for (var i = index; i < COLUMNS; i += RUNS * WORDS) {
        left_arms[i] = arms[y * params.width + clamped(first + i32(i), params.width)];
    }
    let right_row = (params.height + y) * params.width;
    let first_partner = first - disparity_of(last_candidate);
    for (var i = index; i < COLUMNS + 4u * WORDS - 1u; i += RUNS * WORDS) {
        right_arms[i] = arms[right_row + clamped(first_partner + i32(i), params.width)];
    }
}

// Sum over a column's horizontal arms, and their number of pixels, for one candidate: `half` shifts its half of a pair down.
fn arm_sum(column: u32, word: u32, candidate: u32) -> u32 {
    let own = left_arms[column];
    let other = right_arms[column + 4u * (WORDS - word) - 1u - candidate];
    let to_left = min(own & 0xffu, other & 0xffu);
    let to_right = min((own >> 8u) & 0xffu, (other >> 8u) & 0xffu);
    let sums = sums_from_left[(column + to_right) * WORDS + word] - sums_from_left[(column - to_left - 1u) * WORDS + word];
    let pair = select(sums.x, sums.y, (candidate & 1u) == 1u);
    return (select(pair & 0xffffu, pair >> 16u, candidate >= 2u)) | ((to_left + to_right + 1u) << 20u);
}

@compute @workgroup_size(RUNS * WORDS)
fn rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let word = index % WORDS;
    let run = index / WORDS;
    let first = i32(group.x * (COLUMNS - 2u * REACH - 1u)) - i32(REACH) - 1;
    let pixel_word = group.z * WORDS + word;
    let top = dispatch.first + group.y * STRIP;
    let end = min(top + STRIP, dispatch.end);
    var down: array<vec4<u32>, RUN>;
    for (var i = 0u; i < RUN; i++) {
        down[i] = vec4<u32>(0u);
    }
    for (var y = top; y < end; y++) {
        var sums: array<vec2<u32>, RUN>;
        var sum = vec2<u32>(0u);
        for (var i = 0u; i < RUN; i++) {
            let x = first + i32(run * RUN + i);
            if is_column(x) {
                sum += pairs_of(load_cost(u32(x), y, pixel_word));
            }
            sums[i] = sum;
        }
        totals[index] = sum;
        workgroupBarrier();
        var before = vec2<u32>(0u);
        for (var i = 0u; i < run; i++) {
            before += totals[i * WORDS + word];
        }
        for (var i = 0u; i < RUN; i++) {
            sums_from_left[(run * RUN + i) * WORDS + word] = before + sums[i];
        }
        load_arms(first, 4u * WORDS * (group.z + 1u) - 1u, y, index);
        workgroupBarrier();
        for (var i = 0u; i < RUN; i++) {
            let column = run * RUN + i;
            let x = first + i32(column);
            if column > REACH && column < COLUMNS - REACH && x < i32(params.width) {
                down[i] += vec4<u32>(
                    arm_sum(column, word, 0u),
                    arm_sum(column, word, 1u),
                    arm_sum(column, word, 2u),
                    arm_sum(column, word, 3u),
                );
                arm_sums[((y - dispatch.origin) * params.width + u32(x)) * params.words + pixel_word] = down[i];
            }
        }
    }
}
