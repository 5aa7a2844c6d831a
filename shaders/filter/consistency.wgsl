// Left-right check: a disparity holds if the right picture finds its way back.

@group(0) @binding(1) var<storage, read_write> left_map: array<u32>;
@group(0) @binding(2) var<storage, read> right_map: array<u32>;

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
    let right_x = i32(id.x) - ((d16 + SUBPIXEL_STEPS / 2) >> 4u);
    if right_x < 0 || right_x >= i32(params.width) {
        left_map[index] = invalidated(word, RANGE);
        return;
    }
    let back = map_value(right_map[map_index(u32(right_x), id.y)]);
    if back == INVALID || abs(d16 - back) > SUBPIXEL_STEPS * i32(params.left_right) {
        left_map[index] = invalidated(word, LEFT_RIGHT);
    }
}
