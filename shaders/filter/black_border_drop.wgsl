// What lies in black borders, or has its partner there, is removed from a map (`black_border`), and once more behind the fill.

override IS_RIGHT: u32; // 1 for the map of the right picture

// For each row and then each column of the left picture, and then of the right one: the run at its first end, and at the other one.
@group(0) @binding(1) var<storage, read> runs: array<u32>;
@group(0) @binding(2) var<storage, read_write> map: array<u32>;

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
