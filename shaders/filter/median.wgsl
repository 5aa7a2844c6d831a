// Median of a window; an invalid centre stays invalid, invalid neighbours and those outside count as the centre.
//
// Where columns and then rows of a square are sorted, most places are known to be too low or too high for the median, and a few minima
// and maxima find it among the others. For each pixel of 5 x 5: 1.7 words from the map, 25 from workgroup memory and about 180 minima
// and maxima; of 3 x 3: 1.3 words, 9 words and 30.

#include common
#include filter/#{MAPS}

override RADIUS: i32; // 1 or 2; 0 smooths nothing

const TILE: vec2<i32> = vec2<i32>(32, 8);

// The tile and its halo, row after row; INVALID outside the image.
var<workgroup> values: array<i32, 432>; // (32 + 2 * 2) * (8 + 2 * 2)

struct Five {
    a: i32,
    b: i32,
    c: i32,
    d: i32,
    e: i32,
}

fn tile_pitch() -> i32 {
    return TILE.x + 2 * RADIUS;
}

fn load_tile(group: vec3<u32>, lane: u32) {
    let corner = vec2<i32>(group.xy) * TILE - RADIUS;
    for (var i = i32(lane); i < tile_pitch() * (TILE.y + 2 * RADIUS); i += TILE.x * TILE.y) {
        let position = corner + vec2<i32>(i % tile_pitch(), i / tile_pitch());
        let size = vec2<i32>(i32(params.width), i32(params.height));
        values[i] = INVALID;
        if all(position >= vec2<i32>(0)) && all(position < size) {
            values[i] = map_value(word_before(group.z, u32(position.x), u32(position.y)));
        }
    }
}

fn value_or(index: i32, centre: i32) -> i32 {
    let value = values[index];
    return select(value, centre, value == INVALID);
}

fn order(low: ptr<function, i32>, high: ptr<function, i32>) {
    let least = min(*low, *high);
    *high = max(*low, *high);
    *low = least;
}

fn sorted3(values: vec3<i32>) -> vec3<i32> {
    var a = values.x;
    var b = values.y;
    var c = values.z;
    order(&a, &b);
    order(&b, &c);
    order(&a, &b);
    return vec3<i32>(a, b, c);
}

fn sorted5(values: Five) -> Five {
    var a = values.a;
    var b = values.b;
    var c = values.c;
    var d = values.d;
    var e = values.e;
    order(&a, &b); // a pair
    order(&d, &e);
    order(&c, &e);
    order(&c, &d); // three in order
    order(&b, &e); // the largest of all is last
    order(&a, &d);
    order(&a, &c); // the smallest is first
    order(&b, &d);
    order(&b, &c);
    return Five(a, b, c, d, e);
}

fn column3(top: i32, centre: i32) -> vec3<i32> {
    let pitch = tile_pitch();
    return sorted3(vec3<i32>(value_or(top, centre), value_or(top + pitch, centre), value_or(top + 2 * pitch, centre)));
}

fn column5(top: i32, centre: i32) -> Five {
    let pitch = tile_pitch();
    return sorted5(Five(
        value_or(top, centre),
        value_or(top + pitch, centre),
        value_or(top + 2 * pitch, centre),
        value_or(top + 3 * pitch, centre),
        value_or(top + 4 * pitch, centre),
    ));
}

// The two smaller of the lowest in each column, and the smallest of the middle ones, have five others that are not smaller: too many for
// the median of nine. As many are too large; the median of the remaining three is the result.
fn median3(corner: i32, centre: i32) -> i32 {
    let p = column3(corner, centre);
    let q = column3(corner + 1, centre);
    let r = column3(corner + 2, centre);
    let low = max(max(p.x, q.x), r.x);
    let middle = sorted3(vec3<i32>(p.y, q.y, r.y)).y;
    let high = min(min(p.z, q.z), r.z);
    return sorted3(vec3<i32>(low, middle, high)).y;
}

// Once rows are sorted too, the place in row i and column j (from 1) has i * j - 1 others that are not larger, and (6 - i) * (6 - j) - 1
// that are not smaller. More than twelve of either leaves the three longest diagonals across. Any k places of one have at least k of the
// next one not below them, so in their own order the smallest three of the first diagonal and the smallest of the second are too low, as
// many of the others too high. The median is that of the largest of the first, the middle three of the second, and the smallest of the
// third diagonal.
fn median5(corner: i32, centre: i32) -> i32 {
    let p = column5(corner, centre);
    let q = column5(corner + 1, centre);
    let r = column5(corner + 2, centre);
    let s = column5(corner + 3, centre);
    let t = column5(corner + 4, centre);
    let row1 = sorted5(Five(p.a, q.a, r.a, s.a, t.a));
    let row2 = sorted5(Five(p.b, q.b, r.b, s.b, t.b));
    let row3 = sorted5(Five(p.c, q.c, r.c, s.c, t.c));
    let row4 = sorted5(Five(p.d, q.d, r.d, s.d, t.d));
    let row5 = sorted5(Five(p.e, q.e, r.e, s.e, t.e));
    let low = max(max(row1.d, row2.c), max(row3.b, row4.a));
    let middle = sorted5(Five(row1.e, row2.d, row3.c, row4.b, row5.a));
    let high = min(min(row2.e, row3.d), min(row4.c, row5.b));
    // Third of five, three of which are in order: the least that three of them do not exceed.
    return min(middle.d, min(max(middle.c, min(low, high)), max(middle.b, max(low, high))));
}

@compute @workgroup_size(32, 8)
fn smooth_map(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) place: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    load_tile(group, lane);
    workgroupBarrier();
    if !inside(id) {
        return;
    }
    let corner = i32(place.y) * tile_pitch() + i32(place.x);
    let centre = values[corner + RADIUS * tile_pitch() + RADIUS];
    var median = centre;
    if centre != INVALID {
        if RADIUS == 1 {
            median = median3(corner, centre);
        } else if RADIUS == 2 {
            median = median5(corner, centre);
        }
    }
    store_after(group.z, map_index(id.x, id.y), with_value(word_before(group.z, id.x, id.y), median));
}
