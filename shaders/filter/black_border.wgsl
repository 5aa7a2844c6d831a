// Black borders (crates/stereo/src/filter/black_border.rs): runs of black pixels at the ends of rows and columns of both images. Runs of a
// side that lie on no line or curve are dropped. `winners` drops the pixels in the others.

#include common

@group(0) @binding(1) var left_picture: texture_2d<u32>;
@group(0) @binding(2) var right_picture: texture_2d<u32>;
// For each row and then each column of the left image, and then of the right one: the run at its first end, and at the other one.
@group(0) @binding(3) var<storage, read_write> runs: array<u32>;

const LANES: u32 = 256u;
const MIN_RUN: i32 = 4;
const MAX_BEND: i32 = 2;
const RUNS_A_BREAK: u32 = 8u;

var<workgroup> long_runs: array<atomic<u32>, 2>; // of either end
var<workgroup> breaks: array<atomic<u32>, 2>;

// Whether a pixel of a line is black; lines are rows, and then columns.
fn is_black(is_right: bool, line: u32, place: u32) -> bool {
    let at = select(vec2<u32>(line - params.height, place), vec2<u32>(place, line), line < params.height);
    if is_right {
        return textureLoad(right_picture, at, 0).x == 0u;
    }
    return textureLoad(left_picture, at, 0).x == 0u;
}

// Runs at both ends of a line.
fn runs_of(is_right: bool, line: u32) -> u32 {
    let length = select(params.height, params.width, line < params.height);
    var first = 0u;
    while first < length && is_black(is_right, line, first) {
        first++;
    }
    var last = select(0u, length, first == length);
    while last < length && is_black(is_right, line, length - 1u - last) {
        last++;
    }
    return first | (last << 16u);
}

fn run(line: u32, end: u32) -> i32 {
    return i32((runs[line] >> (16u * end)) & 0xffffu);
}

// One workgroup for the rows and one for the columns of each image.
@compute @workgroup_size(256)
fn find(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if lane < 2u {
        atomicStore(&long_runs[lane], 0u);
        atomicStore(&breaks[lane], 0u);
    }
    let are_rows = group.x == 0u;
    let lines = select(params.width, params.height, are_rows);
    let length = i32(select(params.height, params.width, are_rows));
    let before_picture = group.y * (params.width + params.height);
    let first_line = before_picture + select(params.height, 0u, are_rows);
    for (var n = lane; n < lines; n += LANES) {
        runs[first_line + n] = runs_of(group.y == 1u, first_line - before_picture + n);
    }
    storageBarrier();
    workgroupBarrier();
    for (var n = lane; n < lines; n += LANES) {
        for (var end = 0u; end < 2u; end++) {
            let here = run(first_line + n, end);
            if here < MIN_RUN || here == length {
                continue;
            }
            atomicAdd(&long_runs[end], 1u);
            if n == 0u || n + 1u == lines {
                continue;
            }
            let before = run(first_line + n - 1u, end);
            let behind = run(first_line + n + 1u, end);
            let is_cut = max(before, behind) == length;
            if !is_cut && abs(2 * here - before - behind) > MAX_BEND {
                atomicAdd(&breaks[end], 1u);
            }
        }
    }
    workgroupBarrier();
    var kept = 0u;
    for (var end = 0u; end < 2u; end++) {
        let long = atomicLoad(&long_runs[end]);
        if long >= u32(MIN_RUN) && RUNS_A_BREAK * atomicLoad(&breaks[end]) <= long {
            kept |= 0xffffu << (16u * end);
        }
    }
    for (var n = lane; n < lines; n += LANES) {
        runs[first_line + n] &= kept;
    }
}
