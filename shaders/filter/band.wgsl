// Bands at the left and right border (crates/stereo/src/filter/band.rs). One workgroup a row: it puts a plane through the window beside
// each band, and copies the row with both of them filled.

#include common
#include filter/moments

override MARK: u32; // of what is filled: FILLED, or ON_PLANE in front of the learned choice

@group(0) @binding(1) var<storage, read> before: array<u32>;
@group(0) @binding(2) var<storage, read_write> after: array<u32>;

const LANES: u32 = 64u;
const MIN_COLUMNS: u32 = 3u;
const COLUMNS: u32 = 24u;
const ROWS: i32 = 8;
const WINDOW: u32 = 408u; // 24 * 17
const BESIDE: u32 = 5u;
const LIMITS: vec4<i32> = vec4<i32>(26, 21, 16, 13);
const MIN_VOTES: i32 = 80;
const MEAN_SQUARE: i32 = 23;
const STEEPEST: i32 = 29491;
const MAX_STEP: i32 = 23;

var<workgroup> first_column: atomic<u32>; // with a disparity, counted from the border
var<workgroup> beside: i32;
var<workgroup> votes: array<i32, 408>;
var<workgroup> sums: array<atomic<i32>, 9>; // in the order of `Moments`; over a window they fit into 32 bits
var<workgroup> plane: Plane;

// Column `n` of a row, counted from the border.
fn column(n: u32, is_right: bool) -> u32 {
    return select(n, params.width - 1u - n, is_right);
}

fn value(n: u32, y: u32, is_right: bool) -> i32 {
    return map_value(before[map_index(column(n, is_right), y)]);
}

// Median of the disparities beside the band.
fn median_beside(first: u32, y: u32, is_right: bool) -> i32 {
    var sorted = array<i32, 5>(32767, 32767, 32767, 32767, 32767);
    var found = 0u;
    for (var n = first; n < params.width && found < BESIDE; n++) {
        let d = value(n, y, is_right);
        if d == INVALID {
            continue;
        }
        var at = found;
        while at > 0u && sorted[at - 1u] > d {
            sorted[at] = sorted[at - 1u];
            at--;
        }
        sorted[at] = d;
        found++;
    }
    return sorted[found / 2u];
}

// Position of a vote in the window.
fn place_of(i: u32) -> vec2<i32> {
    return vec2<i32>(i32(i % COLUMNS), i32(i / COLUMNS) - ROWS);
}

fn add_vote(i: u32) {
    let place = place_of(i);
    let d = votes[i];
    atomicAdd(&sums[0], 1);
    atomicAdd(&sums[1], place.x);
    atomicAdd(&sums[2], place.y);
    atomicAdd(&sums[3], place.x * place.x);
    atomicAdd(&sums[4], place.x * place.y);
    atomicAdd(&sums[5], place.y * place.y);
    atomicAdd(&sums[6], d);
    atomicAdd(&sums[7], place.x * d);
    atomicAdd(&sums[8], place.y * d);
}

fn plane_of_sums() -> Plane {
    if atomicLoad(&sums[0]) < MIN_VOTES {
        return Plane(false, 0, 0, 0);
    }
    return plane_through(Moments(
        wide(atomicLoad(&sums[0])),
        wide(atomicLoad(&sums[1])),
        wide(atomicLoad(&sums[2])),
        wide(atomicLoad(&sums[3])),
        wide(atomicLoad(&sums[4])),
        wide(atomicLoad(&sums[5])),
        wide(atomicLoad(&sums[6])),
        wide(atomicLoad(&sums[7])),
        wide(atomicLoad(&sums[8])),
    ));
}

// Band: its columns, and the plane that fills it. All lanes together.
struct Band {
    columns: u32,
    plane: Plane,
}

fn band_of(y: u32, lane: u32, is_right: bool) -> Band {
    if lane == 0u {
        atomicStore(&first_column, params.width);
    }
    workgroupBarrier();
    for (var n = lane; n < params.width; n += LANES) {
        if value(n, y, is_right) != INVALID {
            atomicMin(&first_column, n);
            break;
        }
    }
    workgroupBarrier();
    let first = atomicLoad(&first_column);
    let is_band = first >= MIN_COLUMNS && first < params.width;
    if lane == 0u && is_band {
        beside = median_beside(first, y, is_right);
    }
    workgroupBarrier();
    for (var i = lane; i < WINDOW; i += LANES) {
        let place = place_of(i);
        let n = first + u32(place.x);
        let row = i32(y) + place.y;
        votes[i] = INVALID;
        if is_band && n < params.width && row >= 0 && row < i32(params.height) {
            let d = value(n, u32(row), is_right);
            if d != INVALID && abs(d - beside) <= 40 + 4 * place.x {
                votes[i] = d;
            }
        }
    }
    // the first plane goes through all votes, the others through those near the one before; the last sums are for the test
    for (var round = 0u; round < 6u; round++) {
        if lane < 9u {
            atomicStore(&sums[lane], 0);
        }
        workgroupBarrier();
        let limit = LIMITS[min(max(round, 1u), 4u) - 1u];
        for (var i = lane; i < WINDOW; i += LANES) {
            let place = place_of(i);
            let d = votes[i];
            if d == INVALID {
                continue;
            }
            if round == 0u || (plane.exists && is_near(plane, place.x, place.y, d, limit)) {
                if round < 5u {
                    add_vote(i);
                } else {
                    let residual = d - rounded_plane_at(plane, place.x, place.y);
                    atomicAdd(&sums[0], 1);
                    atomicAdd(&sums[1], residual * residual);
                }
            }
        }
        workgroupBarrier();
        if lane == 0u && round < 5u {
            plane = plane_of_sums();
        }
        workgroupBarrier();
    }
    let near = atomicLoad(&sums[0]);
    let is_flat = near >= MIN_VOTES && atomicLoad(&sums[1]) < MEAN_SQUARE * near;
    let is_gentle = abs(plane.b) <= STEEPEST && abs(rounded_plane_at(plane, 0, 0) - beside) <= MAX_STEP;
    var band = Band(first, plane);
    band.plane.exists = is_band && plane.exists && is_flat && is_gentle;
    workgroupBarrier();
    return band;
}

// Word of a pixel without a disparity, filled if it lies in the band.
fn filled(word: u32, n: u32, band: Band) -> u32 {
    if map_value(word) != INVALID || n >= band.columns || !band.plane.exists {
        return word;
    }
    let value = rounded_plane_at(band.plane, i32(n) - i32(band.columns), 0);
    if !is_fillable(value) {
        return word;
    }
    return map_word(value, map_reasons(word) | MARK);
}

@compute @workgroup_size(64)
fn fill_bands(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let y = group.x;
    let left = band_of(y, lane, false);
    let right = band_of(y, lane, true);
    for (var x = lane; x < params.width; x += LANES) {
        let index = map_index(x, y);
        after[index] = filled(filled(before[index], x, left), params.width - 1u - x, right);
    }
}
