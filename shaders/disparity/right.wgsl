// Right map in whole pixels, from the same sums: right (x, y) is seen by left (x + d, y).

override SUM_BITS: u32;

@group(0) @binding(1) var<storage, read> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> map: array<u32>;

@compute @workgroup_size(8, 8)
fn choose(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    var result = map_word(INVALID, RANGE);
    var best = 0xffffffffu;
    for (var i = 0u; i < params.candidates; i++) {
        let d = disparity_of(i);
        let left_x = i32(id.x) + d;
        if left_x < 0 || left_x >= i32(params.width) {
            continue;
        }
        let pixel = id.y * params.width + u32(left_x);
        let sum = sum_in(sums[sum_word(pixel, i, SUM_BITS)], i, SUM_BITS);
        if sum < best {
            best = sum;
            result = map_word(SUBPIXEL_STEPS * d, 0u);
        }
    }
    map[map_index(id.x, id.y)] = result;
}
