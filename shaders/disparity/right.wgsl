// Right map in whole pixels, from the keys that the left winners wrote; `clear` runs before them.

@group(0) @binding(1) var<storage, read_write> right_keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> map: array<u32>;

@compute @workgroup_size(8, 8)
fn clear(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        right_keys[map_index(id.x, id.y)] = 0u;
    }
}

@compute @workgroup_size(8, 8)
fn choose(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let index = map_index(id.x, id.y);
    let inverted = right_keys[index];
    if inverted == 0u {
        map[index] = map_word(INVALID, RANGE);
    } else {
        map[index] = map_word(SUBPIXEL_STEPS * disparity_of(~inverted & 0x3ffu), 0u);
    }
}
