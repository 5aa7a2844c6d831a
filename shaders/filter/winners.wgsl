// Both maps of the winners, without the pixels that lie in a black border or have their partner in one
// (crates/stereo/src/filter/black_border.rs). Side 0 is the left map, side 1 the right one.

override KEYED: u32; // 1 where the right map is still the keys of its winners

// For each row and then each column of the left image, and then of the right one: the run at its first end, and at the other one.
@group(0) @binding(1) var<storage, read> runs: array<u32>;
@group(0) @binding(2) var<storage, read> left_before: array<u32>;
@group(0) @binding(3) var<storage, read> right_before: array<u32>;
@group(0) @binding(4) var<storage, read_write> left_after: array<u32>;
@group(0) @binding(5) var<storage, read_write> right_after: array<u32>;
@group(0) @binding(6) var left_picture: texture_2d<u32>;
@group(0) @binding(7) var right_picture: texture_2d<u32>;

fn is_in_runs(line: u32, place: u32, length: u32) -> bool {
    let both = runs[line];
    return place < (both & 0xffffu) || place + (both >> 16u) >= length;
}

fn brightness(side: u32, at: vec2<u32>) -> u32 {
    if side == 1u {
        return textureLoad(right_picture, at, 0).x;
    }
    return textureLoad(left_picture, at, 0).x;
}

fn is_in_border(side: u32, x: u32, y: u32) -> bool {
    if params.is_masked == 1u {
        return brightness(side, vec2<u32>(x, y)) == 0u;
    }
    let first_line = side * (params.width + params.height);
    return is_in_runs(first_line + y, x, params.width) || is_in_runs(first_line + params.height + x, y, params.height);
}

fn right_winner(index: u32) -> u32 {
    let word = right_before[index];
    if KEYED == 0u {
        return word;
    }
    if word == 0u {
        return map_word(INVALID, RANGE);
    }
    return map_word(SUBPIXEL_STEPS * disparity_of(~word & 0x3ffu), 0u);
}

fn word_before(side: u32, x: u32, y: u32) -> u32 {
    if is_in_border(side, x, y) {
        return map_word(INVALID, NO_PICTURE);
    }
    let index = map_index(x, y);
    var word = 0u;
    if side == 0u {
        word = left_before[index];
    } else {
        word = right_winner(index);
    }
    let d16 = map_value(word);
    let partner = i32(x) + select(rounded_px(d16), -rounded_px(d16), side == 0u);
    if d16 != INVALID && is_column(partner) && is_in_border(1u - side, u32(partner), y) {
        return invalidated(word, RANGE);
    }
    return word;
}

fn store_after(side: u32, index: u32, word: u32) {
    if side == 0u {
        left_after[index] = word;
    } else {
        right_after[index] = word;
    }
}
