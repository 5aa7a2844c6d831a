// Fill: along the row first, with the smaller value of both sides, each the median of the nearest ASKED values; a row without any value
// then copies the nearest row that has some.
//
// One workgroup a row, in place: only pixels without a value are written, only pixels with one are read. The nearest values are found in
// two levels of bit masks: a bit for each pixel with a value, and a bit for each word of such bits that is not 0. So a pixel reads two
// words on either side, and one more for each 1024 columns without a value.

#include common

@group(0) @binding(1) var<storage, read_write> map: array<u32>;
@group(0) @binding(2) var<storage, read_write> row_has_value: array<u32>; // 1 or 0, before anything was filled

override ASKED: u32; // 1 or 3

const LANES: u32 = 256u;
const NONE: u32 = 0xffffffffu;

var<workgroup> has_value: array<atomic<u32>, 1024>; // 32 columns each
var<workgroup> is_occupied: array<atomic<u32>, 32>; // 32 words of `has_value` each

var<workgroup> above: atomic<u32>; // 1 + nearest row at or above with a value, 0 without
var<workgroup> below: atomic<u32>; // nearest row below, or NONE

fn note_values(row: u32, lane: u32) {
    let words = (params.width + 31u) / 32u;
    for (var i = lane; i < words; i += LANES) {
        atomicStore(&has_value[i], 0u);
    }
    if lane < 32u {
        atomicStore(&is_occupied[lane], 0u);
    }
    workgroupBarrier();
    for (var x = lane; x < params.width; x += LANES) {
        if map_value(map[map_index(x, row)]) != INVALID {
            atomicOr(&has_value[x / 32u], 1u << (x % 32u));
        }
    }
    workgroupBarrier();
    for (var i = lane; i < words; i += LANES) {
        if atomicLoad(&has_value[i]) != 0u {
            atomicOr(&is_occupied[i / 32u], 1u << (i % 32u));
        }
    }
    workgroupBarrier();
}

// Nearest column at or before x that has a value.
fn nearest_before(x: u32) -> u32 {
    let word = x / 32u;
    let here = atomicLoad(&has_value[word]) & (NONE >> (31u - x % 32u));
    if here != 0u {
        return 32u * word + firstLeadingBit(here);
    }
    var part = word / 32u;
    var occupied = atomicLoad(&is_occupied[part]) & ((1u << (word % 32u)) - 1u);
    while occupied == 0u && part > 0u {
        part--;
        occupied = atomicLoad(&is_occupied[part]);
    }
    if occupied == 0u {
        return NONE;
    }
    let found = 32u * part + firstLeadingBit(occupied);
    return 32u * found + firstLeadingBit(atomicLoad(&has_value[found]));
}

// Nearest column at or after x that has a value.
fn nearest_after(x: u32) -> u32 {
    let word = x / 32u;
    let here = atomicLoad(&has_value[word]) & (NONE << (x % 32u));
    if here != 0u {
        return 32u * word + firstTrailingBit(here);
    }
    var part = word / 32u;
    var occupied = atomicLoad(&is_occupied[part]) & ~((2u << (word % 32u)) - 1u);
    while occupied == 0u && part < 31u {
        part++;
        occupied = atomicLoad(&is_occupied[part]);
    }
    if occupied == 0u {
        return NONE;
    }
    let found = 32u * part + firstTrailingBit(occupied);
    return 32u * found + firstTrailingBit(atomicLoad(&has_value[found]));
}

// Median of at most ASKED nearest values from column `first` on, of two the larger one; `first` has a value.
fn median_of_side(row: u32, first: u32, is_left: bool) -> i32 {
    let nearest = map_value(map[map_index(first, row)]);
    if ASKED == 1u {
        return nearest;
    }
    let second = next_on_side(first, is_left);
    if second == NONE {
        return nearest;
    }
    let next = map_value(map[map_index(second, row)]);
    let third = next_on_side(second, is_left);
    if third == NONE {
        return max(nearest, next);
    }
    let last = map_value(map[map_index(third, row)]);
    return max(min(nearest, next), min(last, max(nearest, next)));
}

// Next column with a value beyond x, away from the hole.
fn next_on_side(x: u32, is_left: bool) -> u32 {
    if is_left {
        if x == 0u {
            return NONE;
        }
        return nearest_before(x - 1u);
    }
    if x + 1u >= params.width {
        return NONE;
    }
    return nearest_after(x + 1u);
}

@compute @workgroup_size(256)
fn rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row = group.x;
    note_values(row, lane);
    if lane == 0u {
        row_has_value[row] = u32(nearest_after(0u) != NONE);
    }
    for (var x = lane; x < params.width; x += LANES) {
        let index = map_index(x, row);
        let word = map[index];
        let before = nearest_before(x);
        let after = nearest_after(x);
        if map_value(word) != INVALID || min(before, after) == NONE {
            continue;
        }
        var value = 32767;
        if before != NONE {
            value = median_of_side(row, before, true);
        }
        if after != NONE {
            value = min(value, median_of_side(row, after, false));
        }
        map[index] = filled_with(word, value);
    }
}

@compute @workgroup_size(256)
fn empty_rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row = group.x;
    if lane == 0u {
        atomicStore(&above, 0u);
        atomicStore(&below, NONE);
    }
    workgroupBarrier();
    for (var y = lane; y < params.height; y += LANES) {
        if row_has_value[y] == 1u {
            if y <= row {
                atomicMax(&above, y + 1u);
            } else {
                atomicMin(&below, y);
            }
        }
    }
    workgroupBarrier();
    let nearest_above = atomicLoad(&above);
    let source = select(atomicLoad(&below), nearest_above - 1u, nearest_above > 0u);
    if source == NONE || source == row {
        return;
    }
    for (var x = lane; x < params.width; x += LANES) {
        let index = map_index(x, row);
        map[index] = filled_with(map[index], map_value(map[map_index(x, source)]));
    }
}

// Last entry: removes filled values where there is no image.
@compute @workgroup_size(256)
fn empty_borders(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    for (var x = lane; x < params.width; x += LANES) {
        let index = map_index(x, group.x);
        if (map_reasons(map[index]) & NO_PICTURE) == NO_PICTURE {
            map[index] = map_word(INVALID, NO_PICTURE);
        }
    }
}
