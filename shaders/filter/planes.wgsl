// Planes in holes (crates/stereo/src/filter/planes.rs): the votes of each segment's disparities are summed and a plane is put through them,
// in rounds; then the plane fills.

#include common
#include filter/moments
#include filter/regions
#include filter/records

override LIMIT: u32; // 1/16 px from the plane before; 0 before there is one
override ROUND: u32; // 0 the first one, 1 those after it, 2 when the planes are there
override MARK: u32; // of what is filled: FILLED, or ON_PLANE in front of the learned choice

@group(0) @binding(1) var<storage, read_write> map: array<u32>;
@group(0) @binding(4) var<storage, read_write> segments: array<atomic<u32>>;

const MIN_VOTES: u32 = 40u;
const VOTES_SHARE: u32 = 10u;
const MIN_NEAR: u32 = 20u;
// Pixels of a row that an invocation sums before it adds them to their segment.
const RUN: u32 = 16u;

const WITH_PLANE: u32 = 1u;
const WITHOUT: u32 = 2u;

// Record of a pixel's segment, or NONE.
fn record_at(pixel: u32) -> u32 {
    if atomicLoad(&parents[pixel]) == NONE {
        return NONE;
    }
    let segment = atomicLoad(&sizes[root_of(pixel)]);
    if segment == 0u {
        return NONE;
    }
    return record_of(segment - 1u);
}

fn plane_of(record: u32) -> Plane {
    let at = record + PLANE;
    return Plane(
        atomicLoad(&segments[record + STATE]) == WITH_PLANE,
        i32(atomicLoad(&segments[at])),
        i32(atomicLoad(&segments[at + 1u])),
        i32(atomicLoad(&segments[at + 2u])),
    );
}

fn place_in(record: u32, x: u32, y: u32) -> vec2<i32> {
    return vec2<i32>(vec2<u32>(x, y) - vec2<u32>(atomicLoad(&segments[record + FIRST_X]), atomicLoad(&segments[record + FIRST_Y])));
}

// Adds to a sum of 64 bits; each of its words is added at once, so the order does not matter.
fn add_sum(record: u32, sum: u32, value: vec2<u32>) {
    let at = record + SUMS + 2u * sum;
    let before = atomicAdd(&segments[at], value.x);
    let high = value.y + u32(before > ~value.x);
    if high != 0u {
        atomicAdd(&segments[at + 1u], high);
    }
}

// Sums over the votes of a run, from its first pixel on.
struct RunSums {
    n: i32,
    x: i32,
    xx: i32,
    d: i32,
    xd: i32,
}

fn add_run(record: u32, place: vec2<i32>, sums: RunSums) {
    if sums.n == 0 {
        return;
    }
    let x = sums.x + place.x * sums.n;
    add_sum(record, 0u, wide(sums.n));
    add_sum(record, 1u, wide(x));
    add_sum(record, 2u, wide(place.y * sums.n));
    add_sum(record, 3u, add_64(signed_product(place.x, sums.x + x), wide(sums.xx)));
    add_sum(record, 4u, signed_product(place.y, x));
    add_sum(record, 5u, signed_product(place.y, place.y * sums.n));
    add_sum(record, 6u, wide(sums.d));
    add_sum(record, 7u, add_64(signed_product(place.x, sums.d), wide(sums.xd)));
    add_sum(record, 8u, signed_product(place.y, sums.d));
}

@compute @workgroup_size(2, 32)
fn vote(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = RUN * id.x;
    if first >= params.width || id.y >= params.height {
        return;
    }
    var record = NONE;
    var plane = Plane(false, 0, 0, 0);
    var place = vec2<i32>(0);
    var start = first;
    var sums = RunSums(0, 0, 0, 0, 0);
    for (var x = first; x < min(first + RUN, params.width); x++) {
        let pixel = map_index(x, id.y);
        let here = record_at(pixel);
        if here != record {
            add_run(record, place, sums);
            sums = RunSums(0, 0, 0, 0, 0);
            record = here;
            start = x;
            if record != NONE {
                plane = plane_of(record);
                place = place_in(record, x, id.y);
            }
        }
        let d = map_value(map[pixel]);
        if record == NONE || d == INVALID {
            continue;
        }
        let i = i32(x - start);
        if LIMIT == 0u || (plane.exists && is_near(plane, place.x + i, place.y, d, i32(LIMIT))) {
            sums = RunSums(sums.n + 1, sums.x + i, sums.xx + i * i, sums.d + d, sums.xd + i * d);
        }
    }
    add_run(record, place, sums);
}

// Reads a sum, and sets it to 0 for the next round.
fn take_sum(record: u32, sum: u32) -> vec2<u32> {
    let at = record + SUMS + 2u * sum;
    return vec2<u32>(atomicExchange(&segments[at], 0u), atomicExchange(&segments[at + 1u], 0u));
}

@compute @workgroup_size(64)
fn fit(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= atomicLoad(&segments[0]) {
        return;
    }
    let record = record_of(id.x);
    let moments = Moments(
        take_sum(record, 0u),
        take_sum(record, 1u),
        take_sum(record, 2u),
        take_sum(record, 3u),
        take_sum(record, 4u),
        take_sum(record, 5u),
        take_sum(record, 6u),
        take_sum(record, 7u),
        take_sum(record, 8u),
    );
    let votes = moments.n.x; // pixels are below 2^28
    if ROUND == 0u {
        atomicStore(&segments[record + VOTES], votes);
        if votes < MIN_VOTES || VOTES_SHARE * votes < atomicLoad(&segments[record + PIXELS]) {
            atomicStore(&segments[record + STATE], WITHOUT);
        }
    }
    if atomicLoad(&segments[record + STATE]) == WITHOUT {
        return;
    }
    if ROUND == 2u {
        if 2u * votes < atomicLoad(&segments[record + VOTES]) {
            atomicStore(&segments[record + STATE], WITHOUT);
        }
        return;
    }
    let plane = plane_through(moments);
    if votes < MIN_NEAR || !plane.exists {
        atomicStore(&segments[record + STATE], WITHOUT);
        return;
    }
    atomicStore(&segments[record + STATE], WITH_PLANE);
    atomicStore(&segments[record + PLANE], u32(plane.a));
    atomicStore(&segments[record + PLANE + 1u], u32(plane.b));
    atomicStore(&segments[record + PLANE + 2u], u32(plane.c));
}

@compute @workgroup_size(8, 8)
fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = map_index(id.x, id.y);
    let word = map[pixel];
    if map_value(word) != INVALID {
        return;
    }
    let record = record_at(pixel);
    if record == NONE {
        return;
    }
    let plane = plane_of(record);
    let place = place_in(record, id.x, id.y);
    let value = rounded_plane_at(plane, place.x, place.y);
    if plane.exists && is_fillable(value) {
        map[pixel] = map_word(value, map_reasons(word) | MARK);
    }
}
