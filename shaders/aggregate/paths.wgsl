// Path costs along one direction, stored as increments L - C. Lines are those of crates/stereo/src/aggregate/direction.rs: a line that
// leaves the image on the minor axis wraps around to the opposite side, where another line starts, so that all lines of a dispatch have
// the same number of steps. Positions advance by additions alone. Pixels are loaded AHEAD steps before they are computed, to hide the
// latency of memory.

#if PATH_BITS == f16
enable f16;
#end
#if PATH_BITS == 16
enable wgpu_int16;
#end

#include common
#include aggregate/lane

@group(0) @binding(#) var left: texture_2d<u32>;
#include aggregate/gate
#include aggregate/place
#include aggregate/costs
#for slab in 0..SLABS
#if WIDE
@group(0) @binding(#) var<storage, read_write> increments_#{slab}: array<Words>;
#else
@group(0) @binding(#) var<storage, read_write> increments_#{slab}: array<Costs>;
#end
#end

#include aggregate/exchange_#{EXCHANGE}
#include aggregate/step_#{PATH_BITS}

// Converts (x, y) to (major, minor) and back.
fn swap_axes(lengths: vec2<u32>) -> vec2<u32> {
    return select(lengths, lengths.yx, dispatch.y_is_major == 1u);
}

// 1 forwards, -1 modulo 2^32 backwards.
fn sign(is_backwards: bool) -> u32 {
    return select(1u, 0xffffffffu, is_backwards);
}

// Line, and the lane on it.
struct Line {
    position: LanePosition,
    is_line: bool,
    extent: vec2<u32>,
    major_step: u32,
    minor_step: u32,
    back: u32, // to the opposite side
}

// State of a walk along a line.
struct Walk {
    major: u32, // of the pixel that was loaded last
    minor: u32, // in 1/65536 px
    path: Path, // L at the pixel that was computed last
    brightness: i32, // of that pixel
}

// Pixel with all values that are loaded for it.
struct Pixel {
    place: Place,
    costs: Costs,
    brightness: i32,
    is_start: bool, // of a line
}

fn line_of(ids: Ids) -> Line {
    let position = lane_position(ids);
    start_exchange(position);
    let line = dispatch.first + ids.group.x * LINES + position.line;
    let extent = swap_axes(vec2<u32>(params.width, params.height));
    let is_backwards = backwards();
    return Line(
        position,
        line < dispatch.end,
        extent,
        sign(is_backwards.x),
        sign(is_backwards.y) * dispatch.slope,
        (0u - sign(is_backwards.y)) * (extent.y << 16u),
    );
}

// Whether the line is followed backwards along its major and its minor axis.
fn backwards() -> vec2<bool> {
    return select(
        vec2<bool>(dispatch.dx < 0, dispatch.dy < 0),
        vec2<bool>(dispatch.dy < 0, dispatch.dx < 0),
        dispatch.y_is_major == 1u,
    );
}

// Starts at the first pixel of a line. After k steps the minor coordinate is the first one plus k times the slope, rounded; backwards it
// starts from the other end with the same rounding. Sides of up to 32768 px and a slope of at most 1 fit into 32 bits, and a coordinate
// below 0 lies beyond every side.
fn start_of(line: Line, ids: Ids) -> Walk {
    let entry = min(dispatch.first + ids.group.x * LINES + line.position.line, line.extent.y - 1u);
    let is_backwards = backwards();
    let major = select(0u, line.extent.x - 1u, is_backwards.x);
    let minor = select((entry << 16u) + 32768u, ((line.extent.y - 1u - entry) << 16u) + 32767u, is_backwards.y);
    return Walk(major, minor, no_path(), 0);
}

// Pixel at which the walk is.
fn load_pixel(line: Line, walk: ptr<function, Walk>, is_start: bool) -> Pixel {
    let place = place_of(swap_axes(vec2<u32>((*walk).major, (*walk).minor >> 16u)), line.position.lane);
    let brightness = i32(luma8_inside(left, params.left_shift, place.pixel));
    return Pixel(place, load_costs(place), brightness, is_start);
}

// Moves to the next pixel; behind the last one the position is undefined.
fn load_next(line: Line, walk: ptr<function, Walk>) -> Pixel {
    (*walk).major = min((*walk).major + line.major_step, line.extent.x - 1u);
    let minor = (*walk).minor + line.minor_step;
    let wraps = (minor >> 16u) >= line.extent.y;
    (*walk).minor = select(minor, minor + line.back, wraps);
    return load_pixel(line, walk, wraps);
}

// Computes the path at a pixel, step `k` of the line.
fn follow_to(pixel: Pixel, line: Line, walk: ptr<function, Walk>, k: u32, is_stored: bool) {
    let path = (*walk).path;
    let neighbours = neighbours_of(line.position, 0u, k, path);
    let p2 = select(p2_of(pixel.brightness, (*walk).brightness), 0u, pixel.is_start);
    let increment = increment_of(path, neighbours, p2);
    if is_stored {
        store_increment(pixel.place, increment);
    }
    (*walk).path = path_of(pixel.costs, increment, line.position.lane, gate_of(pixel.place.pixel));
    (*walk).brightness = pixel.brightness;
}

#for slab in 0..SLABS
fn store_in_#{slab}(at: u32, increment: Path) {
#if WIDE
    let pairs = pack_16(increment);
    increments_#{slab}[2u * at] = pairs.even;
    increments_#{slab}[2u * at + 1u] = pairs.odd;
#else
    increments_#{slab}[at] = bytes_of(increment);
#end
}

#end
fn store_increment(place: Place, increment: Path) {
#if SLABS == 1
    store_in_0(place.at, increment);
#else
    switch place.slab {
#for slab in 0..SLABS - 1
        case #{slab}u: { store_in_#{slab}(place.at, increment); }
#end
        default: { store_in_#{SLABS - 1}(place.at, increment); }
    }
#end
}

// Each step that is loaded ahead has its pixel in a variable of its own, so that none has to be moved or indexed.
@compute @workgroup_size(LINES * LANES)
fn follow(ids: Ids) {
    let line = line_of(ids);
    var walk = start_of(line, ids);
    var pixel_0 = load_pixel(line, &walk, true);
#for slot in 1..AHEAD
    var pixel_#{slot} = load_next(line, &walk);
#end
    let steps = swap_axes(vec2<u32>(params.width, params.height)).x;
    for (var k = 0u; k < steps; k += AHEAD) {
        let next_0 = load_next(line, &walk);
        follow_to(pixel_0, line, &walk, k, line.is_line);
        pixel_0 = next_0;
#for slot in 1..AHEAD
        let next_#{slot} = load_next(line, &walk);
        // steps beyond the last one store nothing
        follow_to(pixel_#{slot}, line, &walk, k + #{slot}u, line.is_line & (k + #{slot}u < steps));
        pixel_#{slot} = next_#{slot};
#end
    }
}
