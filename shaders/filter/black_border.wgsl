// Black borders (src/stereo/filter/black_border.rs): the runs of black pixels at the ends of rows and columns of both pictures, those
// of a side forgotten that lie on no line or curve, the pixels of a map that lie in them, or whose partner does, and those again
// after a fill.

override IS_RIGHT: u32; // 1 for the map of the right picture

@group(0) @binding(1) var left_picture: texture_2d<u32>;
@group(0) @binding(2) var right_picture: texture_2d<u32>;
// For each row and then each column of the left picture, and then of the right one: the run at its first end, and at the other one.
@group(0) @binding(3) var<storage, read_write> runs: array<u32>;
@group(0) @binding(4) var<storage, read_write> map: array<u32>;

const LANES: u32 = 64u;
const MIN_RUN: i32 = 4;
const MAX_BEND: i32 = 2;
const RUNS_A_BREAK: u32 = 8u;

var<workgroup> long_runs: array<atomic<u32>, 2>; // of either end
var<workgroup> breaks: array<atomic<u32>, 2>;

// Whether a place of a line is black; lines are rows, and then columns.
fn is_black(is_right: bool, line: u32, place: u32) -> bool {
    let at = select(vec2<u32>(line - params.height, place), vec2<u32>(place, line), line < params.height);
    if is_right {
        return textureLoad(right_picture, at, 0).x == 0u;
    }
    return textureLoad(left_picture, at, 0).x == 0u;
}

@compute @workgroup_size(64)
fn find(@builtin(global_invocation_id) id: vec3<u32>) {
    let lines = params.width + params.height;
    let line = id.x;
    if line >= lines {
        return;
    }
    let is_right = id.y == 1u;
    let length = select(params.height, params.width, line < params.height);
    var first = 0u;
    while first < length && is_black(is_right, line, first) {
        first++;
    }
    var last = 0u;
    while last < length && is_black(is_right, line, length - 1u - last) {
        last++;
    }
    runs[id.y * lines + line] = first | (last << 16u);
}

fn run(line: u32, end: u32) -> i32 {
    return i32((runs[line] >> (16u * end)) & 0xffffu);
}

// A workgroup for the rows, and one for the columns, of each picture.
@compute @workgroup_size(64)
fn judge(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if lane < 2u {
        atomicStore(&long_runs[lane], 0u);
        atomicStore(&breaks[lane], 0u);
    }
    workgroupBarrier();
    let are_rows = group.x == 0u;
    let lines = select(params.width, params.height, are_rows);
    let length = i32(select(params.height, params.width, are_rows));
    let first_line = group.y * (params.width + params.height) + select(params.height, 0u, are_rows);
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

fn is_in_runs(line: u32, place: u32, length: u32) -> bool {
    let both = runs[line];
    return place < (both & 0xffffu) || place + (both >> 16u) >= length;
}

fn is_in_border(picture: u32, x: u32, y: u32) -> bool {
    let first_line = picture * (params.width + params.height);
    return is_in_runs(first_line + y, x, params.width) || is_in_runs(first_line + params.height + x, y, params.height);
}

@compute @workgroup_size(8, 8)
fn drop(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let index = map_index(id.x, id.y);
    let word = map[index];
    if is_in_border(IS_RIGHT, id.x, id.y) {
        map[index] = map_word(INVALID, NO_PICTURE);
        return;
    }
    let d16 = map_value(word);
    if d16 == INVALID {
        return;
    }
    let partner = i32(id.x) + select(-1, 1, IS_RIGHT == 1u) * rounded_px(d16);
    if is_column(partner) && is_in_border(1u - IS_RIGHT, u32(partner), id.y) {
        map[index] = invalidated(word, RANGE);
    }
}

// Behind the fill.
@compute @workgroup_size(8, 8)
fn empty(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let index = map_index(id.x, id.y);
    if (map_reasons(map[index]) & NO_PICTURE) == NO_PICTURE {
        map[index] = map_word(INVALID, NO_PICTURE);
    }
}
