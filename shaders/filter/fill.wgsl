// Fill from the background: along the row first; a row without any value then takes the nearest row that has some.

@group(0) @binding(1) var<storage, read> before: array<u32>;
@group(0) @binding(2) var<storage, read_write> after: array<u32>;

// Value of the first valid pixel from `start` on in steps of `direction`; INVALID if there is none.
fn nearest(start: vec2<i32>, direction: vec2<i32>) -> i32 {
    let size = vec2<i32>(i32(params.width), i32(params.height));
    var position = start;
    while all(position >= vec2<i32>(0)) && all(position < size) {
        let value = map_value(before[map_index(u32(position.x), u32(position.y))]);
        if value != INVALID {
            return value;
        }
        position += direction;
    }
    return INVALID;
}

fn filled(word: u32, value: i32) -> u32 {
    if map_value(word) != INVALID || value == INVALID {
        return word;
    }
    return map_word(value, map_reasons(word) | FILLED);
}

@compute @workgroup_size(8, 8)
fn rows(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let position = vec2<i32>(id.xy);
    let to_left = nearest(position, vec2<i32>(-1, 0));
    let to_right = nearest(position, vec2<i32>(1, 0));
    var value = min(to_left, to_right);
    if value == INVALID { // the smallest number there is: one side has nothing
        value = max(to_left, to_right);
    }
    let index = map_index(id.x, id.y);
    after[index] = filled(before[index], value);
}

@compute @workgroup_size(8, 8)
fn empty_rows(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let position = vec2<i32>(id.xy);
    var value = nearest(position, vec2<i32>(0, -1));
    if value == INVALID {
        value = nearest(position, vec2<i32>(0, 1));
    }
    let index = map_index(id.x, id.y);
    after[index] = filled(before[index], value);
}
