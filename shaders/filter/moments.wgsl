// Planes by least squares in integers (crates/stereo/src/filter/moments.rs). WGSL has 32 bits, so numbers of 64 and 128 are made of words,
// the lowest first, in two's complement.

struct Plane {
    exists: bool,
    a: i32,
    b: i32,
    c: i32,
}

struct Moments {
    n: vec2<u32>,
    x: vec2<u32>,
    y: vec2<u32>,
    xx: vec2<u32>,
    xy: vec2<u32>,
    yy: vec2<u32>,
    d: vec2<u32>,
    xd: vec2<u32>,
    yd: vec2<u32>,
}

const PLANE_SHIFT: u32 = 12u;
const MAX_SLOPE: u32 = 32768u; // 8 << PLANE_SHIFT
const MOMENT_BITS: u32 = 56u;

// Disparity of a plane at a place, 1/16 px with 12 digits after the binary point.
fn plane_at(plane: Plane, x: i32, y: i32) -> i32 {
    return plane.a + plane.b * x + plane.c * y;
}

fn rounded_plane_at(plane: Plane, x: i32, y: i32) -> i32 {
    return (plane_at(plane, x, y) + 2048) >> PLANE_SHIFT;
}

// Whether a disparity lies within `limit` of the plane, both 1/16 px.
fn is_near(plane: Plane, x: i32, y: i32, d: i32, limit: i32) -> bool {
    return abs((d << PLANE_SHIFT) - plane_at(plane, x, y)) <= (limit << PLANE_SHIFT);
}

fn wide(value: i32) -> vec2<u32> {
    return vec2<u32>(u32(value), u32(value >> 31u));
}

fn add_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

// Product of two unsigned words.
fn product(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let one = (a >> 16u) * (b & 0xffffu);
    let other = (a & 0xffffu) * (b >> 16u);
    let middle = (low >> 16u) + (one & 0xffffu) + (other & 0xffffu);
    let high = (a >> 16u) * (b >> 16u) + (one >> 16u) + (other >> 16u) + (middle >> 16u);
    return vec2<u32>((low & 0xffffu) | (middle << 16u), high);
}

// Product of two signed words.
fn signed_product(a: i32, b: i32) -> vec2<u32> {
    let unsigned = product(u32(a), u32(b));
    return vec2<u32>(unsigned.x, unsigned.y - select(0u, u32(b), a < 0) - select(0u, u32(a), b < 0));
}

fn extended(a: vec2<u32>) -> vec4<u32> {
    let sign = u32(i32(a.y) >> 31u);
    return vec4<u32>(a, sign, sign);
}

fn add_128(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let x = a.x + b.x;
    let y = a.y + b.y;
    let z = a.z + b.z;
    let carry_x = u32(x < a.x);
    let with_x = y + carry_x;
    let carry_y = u32(y < a.y) | u32(with_x < y);
    let with_y = z + carry_y;
    let carry_z = u32(z < a.z) | u32(with_y < z);
    return vec4<u32>(x, with_x, with_y, a.w + b.w + carry_z);
}

fn negated(a: vec4<u32>) -> vec4<u32> {
    return add_128(~a, vec4<u32>(1u, 0u, 0u, 0u));
}

fn sub_128(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return add_128(a, negated(b));
}

fn is_negative(a: vec4<u32>) -> bool {
    return i32(a.w) < 0;
}

fn magnitude(a: vec4<u32>) -> vec4<u32> {
    if is_negative(a) {
        return negated(a);
    }
    return a;
}

// Product of two signed numbers of 64 bits.
fn mul_64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    let p = magnitude(extended(a)).xy;
    let q = magnitude(extended(b)).xy;
    var result = vec4<u32>(product(p.x, q.x), product(p.y, q.y));
    let one = product(p.x, q.y);
    let other = product(p.y, q.x);
    result = add_128(result, vec4<u32>(0u, one, 0u));
    result = add_128(result, vec4<u32>(0u, other, 0u));
    if (i32(a.y) < 0) != (i32(b.y) < 0) {
        return negated(result);
    }
    return result;
}

// Number of bits of an unsigned number.
fn bits_of(a: vec4<u32>) -> u32 {
    if a.w != 0u {
        return 128u - countLeadingZeros(a.w);
    }
    if a.z != 0u {
        return 96u - countLeadingZeros(a.z);
    }
    if a.y != 0u {
        return 64u - countLeadingZeros(a.y);
    }
    return 32u - countLeadingZeros(a.x);
}

// Lower 64 bits of `a >> shift`, which contain all of it.
fn shifted_right(a: vec4<u32>, shift: u32) -> vec2<u32> {
    let sign = u32(i32(a.w) >> 31u);
    var words = a;
    for (var moved = 32u; moved <= shift; moved += 32u) {
        words = vec4<u32>(words.yzw, sign);
    }
    let rest = shift & 31u;
    if rest == 0u {
        return words.xy;
    }
    return (words.xy >> vec2<u32>(rest)) | (words.yz << vec2<u32>(32u - rest));
}

fn times_4096(a: vec4<u32>) -> vec4<u32> {
    return (a << vec4<u32>(PLANE_SHIFT)) | vec4<u32>(0u, a.xyz >> vec3<u32>(32u - PLANE_SHIFT));
}

fn is_less(a: vec4<u32>, b: vec4<u32>) -> bool {
    if a.w != b.w {
        return a.w < b.w;
    }
    if a.z != b.z {
        return a.z < b.z;
    }
    if a.y != b.y {
        return a.y < b.y;
    }
    return a.x < b.x;
}

// Lower 32 bits of the quotient of two unsigned numbers, and 1 in the second word if it has more.
fn quotient(numerator: vec4<u32>, divisor: vec4<u32>) -> vec2<u32> {
    var rest = vec4<u32>(0u);
    var result = vec2<u32>(0u);
    var left = numerator;
    for (var bit = 0u; bit < 128u; bit++) {
        rest = (rest << vec4<u32>(1u)) | vec4<u32>(left.w >> 31u, rest.xyz >> vec3<u32>(31u));
        left = (left << vec4<u32>(1u)) | vec4<u32>(0u, left.xyz >> vec3<u32>(31u));
        result = vec2<u32>(result.x << 1u, result.y | (result.x >> 31u));
        if !is_less(rest, divisor) {
            rest = sub_128(rest, divisor);
            result.x |= 1u;
        }
    }
    return result;
}

// `(n both - one other)`.
fn central(n: vec2<u32>, both: vec2<u32>, one: vec2<u32>, other: vec2<u32>) -> vec4<u32> {
    return sub_128(mul_64(n, both), mul_64(one, other));
}

// Plane of least squares.
fn plane_through(m: Moments) -> Plane {
    let none = Plane(false, 0, 0, 0);
    let central_xx = central(m.n, m.xx, m.x, m.x);
    let central_xy = central(m.n, m.xy, m.x, m.y);
    let central_yy = central(m.n, m.yy, m.y, m.y);
    let central_xd = central(m.n, m.xd, m.x, m.d);
    let central_yd = central(m.n, m.yd, m.y, m.d);
    var bits = max(bits_of(magnitude(central_xx)), bits_of(magnitude(central_xy)));
    bits = max(bits, bits_of(magnitude(central_yy)));
    bits = max(bits, max(bits_of(magnitude(central_xd)), bits_of(magnitude(central_yd))));
    let shift = max(bits, MOMENT_BITS) - MOMENT_BITS;
    let xx = shifted_right(central_xx, shift);
    let xy = shifted_right(central_xy, shift);
    let yy = shifted_right(central_yy, shift);
    let xd = shifted_right(central_xd, shift);
    let yd = shifted_right(central_yd, shift);
    let determinant = sub_128(mul_64(xx, yy), mul_64(xy, xy));
    if is_negative(determinant) || all(determinant == vec4<u32>(0u)) {
        return none;
    }
    let of_b = sub_128(mul_64(xd, yy), mul_64(yd, xy));
    let of_c = sub_128(mul_64(yd, xx), mul_64(xd, xy));
    let b = quotient(times_4096(magnitude(of_b)), determinant);
    let c = quotient(times_4096(magnitude(of_c)), determinant);
    if b.y != 0u || c.y != 0u || max(b.x, c.x) > MAX_SLOPE {
        return none;
    }
    let slope_b = select(i32(b.x), -i32(b.x), is_negative(of_b));
    let slope_c = select(i32(c.x), -i32(c.x), is_negative(of_c));
    let over = sub_128(sub_128(times_4096(extended(m.d)), mul_64(wide(slope_b), m.x)), mul_64(wide(slope_c), m.y));
    let offset = quotient(magnitude(over), extended(m.n)).x;
    return Plane(true, select(i32(offset), -i32(offset), is_negative(over)), slope_b, slope_c);
}
