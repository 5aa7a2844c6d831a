// Path costs along one direction, added to the sums. One workgroup walks one line of pixels, which is drawn as in
// src/stereo/aggregate/direction.rs; each lane owns four candidates. A step needs the smallest cost of the pixel before
// and the two candidates beside the lane's own; they go through workgroup memory that is used in turns, so that one
// barrier a step is enough.

override LANES: u32;

struct Direction {
    y_is_major: u32, // 1 where y advances by one each step, 0 where x does
    dx: i32, // 1 or -1: which way paths go along x
    dy: i32,
    slope: u32, // how far the minor axis advances with each step, 1/65536 px
    first: u32, // 1 where the sums are set instead of added to
}

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var<uniform> direction: Direction;
@group(0) @binding(3) var<storage, read> costs: array<u32>;
@group(0) @binding(4) var<storage, read_write> sums: array<vec2<u32>>; // four sums of 16 bits

// Above every path cost, and room for P1 and P2 on top.
const NONE: u32 = 0xffffffu;

var<workgroup> smallest: array<atomic<u32>, 3>;
var<workgroup> edges: array<vec2<u32>, 2 * LANES>;

// How far a line has gone aside after k steps. This and the next stay below 2^32 for sides of up to 32768 px.
fn minor(k: u32) -> u32 {
    return (k * direction.slope + 32768u) >> 16u;
}

// The first step after which a line has gone aside by so many pixels: the length of the runs before it.
fn steps_to(pixels: u32) -> u32 {
    if pixels == 0u {
        return 0u;
    }
    if direction.slope == 0u {
        return 0xffffffffu; // never
    }
    return ((pixels << 16u) - 32768u + direction.slope - 1u) / direction.slope;
}

// From along x and y to along the major and the minor axis, and the other way round.
fn turned(lengths: vec2<i32>) -> vec2<i32> {
    return select(lengths, lengths.yx, direction.y_is_major == 1u);
}

// The pixel after k steps of the line that starts `offset` px aside.
fn pixel(k: u32, offset: i32, size: vec2<i32>) -> vec2<i32> {
    let from_entry = turned(vec2<i32>(i32(k), offset + i32(minor(k))));
    return select(from_entry, size - 1 - from_entry, vec2<bool>(direction.dx < 0, direction.dy < 0));
}

fn load_costs(word: u32) -> vec4<u32> {
    return (vec4<u32>(costs[word]) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
}

fn add_to_sums(word: u32, path: vec4<u32>) {
    let packed = path.xz | (path.yw << vec2<u32>(16u));
    if direction.first == 1u {
        sums[word] = packed;
    } else {
        sums[word] += packed; // sums stay below 65536, so nothing carries into the upper half
    }
}

@compute @workgroup_size(LANES)
fn follow(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let size = vec2<i32>(i32(params.width), i32(params.height));
    let extent = vec2<u32>(turned(size));
    // Lines 0, 1, 2 … start at the major side; those after them have entered at the minor side, 1, 2, 3 … px aside.
    let is_primary = group.x < extent.y;
    let entered = select(group.x - extent.y + 1u, 0u, is_primary);
    let offset = select(-i32(entered), i32(group.x), is_primary);
    let start = steps_to(entered);
    let end = min(extent.x, steps_to(u32(i32(extent.y) - offset)));

    var position = pixel(start, offset, size);
    let exists = vec4<u32>(4u * lane) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(params.candidates);
    let owns_word = lane < params.words;

    var word = u32(position.y * size.x + position.x) * params.words + lane;
    var path = vec4<u32>(NONE);
    if owns_word {
        let cost = load_costs(word);
        add_to_sums(word, select(vec4<u32>(0u), cost, exists));
        path = select(path, cost, exists);
    }
    var brightness = i32(luma8(left, params.left_shift, position.x, position.y));
    if lane == 0u {
        atomicStore(&smallest[1], NONE);
    }
    workgroupBarrier();

    for (var n = 1u; start + n < end; n++) {
        let turn = n % 3u;
        let side = (n & 1u) * LANES;
        atomicMin(&smallest[turn], min(min(path.x, path.y), min(path.z, path.w)));
        edges[side + lane] = path.xw;
        if lane == 0u {
            // Last read before the previous barrier, next used after this one.
            atomicStore(&smallest[(n + 1u) % 3u], NONE);
        }
        workgroupBarrier();

        let least = atomicLoad(&smallest[turn]);
        var below = vec4<u32>(NONE, path.xyz);
        if lane > 0u {
            below.x = edges[side + lane - 1u].y;
        }
        var above = vec4<u32>(path.yzw, NONE);
        if lane + 1u < LANES {
            above.w = edges[side + lane + 1u].x;
        }
        position = pixel(start + n, offset, size);
        let brightness_before = brightness;
        brightness = i32(luma8(left, params.left_shift, position.x, position.y));
        let brightness_step = u32(abs(brightness - brightness_before));
        let p2 = params.p2_of_step[brightness_step >> 2u][brightness_step & 3u];
        let best = min(min(path, vec4<u32>(least + p2)), min(below, above) + vec4<u32>(params.p1));
        if owns_word {
            word = u32(position.y * size.x + position.x) * params.words + lane;
            let next = load_costs(word) + best - vec4<u32>(least);
            add_to_sums(word, select(vec4<u32>(0u), next, exists));
            path = select(vec4<u32>(NONE), next, exists);
        }
    }
}
