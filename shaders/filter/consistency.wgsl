// Left-right check: a disparity holds if the other map leads back to it. Each map is checked against the unchecked other one, so the
// result goes to another buffer.

override IS_RIGHT: u32; // 1 for the right map

@group(0) @binding(4) var<storage, read> before: array<u32>;
@group(0) @binding(5) var<storage, read> other_before: array<u32>;

fn checked(word: u32, x: u32, y: u32) -> u32 {
    let d16 = map_value(word);
    if d16 == INVALID {
        return word;
    }
    let partner = i32(x) + select(-rounded_px(d16), rounded_px(d16), IS_RIGHT == 1u);
    if !is_column(partner) {
        return invalidated(word, RANGE);
    }
    let back = map_value(other_before[map_index(u32(partner), y)]);
    if back == INVALID || abs(d16 - back) > SUBPIXEL_STEPS * i32(params.left_right) {
        return invalidated(word, LEFT_RIGHT);
    }
    return word;
}
