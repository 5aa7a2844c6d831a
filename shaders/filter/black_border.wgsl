// Black borders (src/stereo/filter/black_border.rs): the runs of black pixels at the ends of rows and columns of both pictures, the
// pixels of a map that lie in them, or whose partner does, and those again after a fill.

override IS_RIGHT: u32; // 1 for the map of the right picture

@group(0) @binding(1) var left_picture: texture_2d<u32>;
@group(0) @binding(2) var right_picture: texture_2d<u32>;
// For each row and then each column of the left picture, and then of the right one: first and end of what lies between the runs.
@group(0) @binding(3) var<storage, read_write> within: array<u32>;
@group(0) @binding(4) var<storage, read_write> map: array<u32>;

const MIN_RUN: u32 = 4u;

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
    var end = length;
    while end > first && is_black(is_right, line, end - 1u) {
        end--;
    }
    first = select(first, 0u, first < MIN_RUN);
    end = select(end, length, length - end < MIN_RUN);
    within[id.y * lines + line] = first | (end << 16u);
}

fn is_within(line: u32, place: u32) -> bool {
    let ends = within[line];
    return place >= (ends & 0xffffu) && place < (ends >> 16u);
}

fn is_in_border(picture: u32, x: u32, y: u32) -> bool {
    let first_line = picture * (params.width + params.height);
    return !is_within(first_line + y, x) || !is_within(first_line + params.height + x, y);
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
    let partner = i32(id.x) + select(-1, 1, IS_RIGHT == 1u) * ((d16 + SUBPIXEL_STEPS / 2) >> 4u);
    if partner >= 0 && partner < i32(params.width) && is_in_border(1u - IS_RIGHT, u32(partner), id.y) {
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
