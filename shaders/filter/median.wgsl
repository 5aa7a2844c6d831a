// Median of a window; an invalid centre stays invalid, invalid neighbours and those outside count as the centre.

override RADIUS: i32; // 1 or 2

@group(0) @binding(1) var<storage, read> before: array<u32>;
@group(0) @binding(2) var<storage, read_write> after: array<u32>;

@compute @workgroup_size(8, 8)
fn smooth_map(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let centre_word = before[map_index(id.x, id.y)];
    let centre = map_value(centre_word);
    if centre == INVALID {
        after[map_index(id.x, id.y)] = centre_word;
        return;
    }
    var values: array<i32, 25>;
    var count = 0;
    for (var dy = -RADIUS; dy <= RADIUS; dy++) {
        for (var dx = -RADIUS; dx <= RADIUS; dx++) {
            let x = i32(id.x) + dx;
            let y = i32(id.y) + dy;
            var value = centre;
            if x >= 0 && y >= 0 && x < i32(params.width) && y < i32(params.height) {
                value = map_value(before[map_index(u32(x), u32(y))]);
                if value == INVALID {
                    value = centre;
                }
            }
            values[count] = value;
            count++;
        }
    }
    // The median has at most half of the values below it and more than half below or equal.
    var median = centre;
    for (var i = 0; i < count; i++) {
        var below = 0;
        var below_or_equal = 0;
        for (var j = 0; j < count; j++) {
            below += i32(values[j] < values[i]);
            below_or_equal += i32(values[j] <= values[i]);
        }
        if below <= count / 2 && below_or_equal > count / 2 {
            median = values[i];
        }
    }
    after[map_index(id.x, id.y)] = map_word(median, map_reasons(centre_word));
}
