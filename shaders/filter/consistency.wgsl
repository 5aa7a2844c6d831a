// Left-right check: a disparity holds if the other picture finds its way back. Each map is checked against the other one as
// it was, so the right one comes first, and goes to another place.

@group(0) @binding(1) var<storage, read_write> left_map: array<u32>;
@group(0) @binding(2) var<storage, read> right_map: array<u32>;
@group(0) @binding(3) var<storage, read_write> checked_right_map: array<u32>;

fn disagree(d16: i32, back: i32) -> bool {
    return back == INVALID || abs(d16 - back) > SUBPIXEL_STEPS * i32(params.left_right);
}

@compute @workgroup_size(8, 8)
fn check(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let index = map_index(id.x, id.y);
    let word = left_map[index];
    let d16 = map_value(word);
    if d16 == INVALID {
        return;
    }
    let right_x = i32(id.x) - rounded_px(d16);
    if !is_column(right_x) {
        left_map[index] = invalidated(word, RANGE);
    } else if disagree(d16, map_value(right_map[map_index(u32(right_x), id.y)])) {
        left_map[index] = invalidated(word, LEFT_RIGHT);
    }
}

@compute @workgroup_size(8, 8)
fn check_right(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let index = map_index(id.x, id.y);
    var word = right_map[index];
    let d16 = map_value(word);
    if d16 != INVALID {
        let left_x = i32(id.x) + rounded_px(d16);
        if !is_column(left_x) {
            word = invalidated(word, RANGE);
        } else if disagree(d16, map_value(left_map[map_index(u32(left_x), id.y)])) {
            word = invalidated(word, LEFT_RIGHT);
        }
    }
    checked_right_map[index] = word;
}
