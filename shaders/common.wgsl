// Part of every shader: the job's parameters, and the packing of volumes and maps. uniforms.rs of crates/gpu has the same fields.
//
// Cost volumes: pixel (x, y) is y * width + x and owns `words` words, four candidates each, lowest byte first.
// Maps: pixel (x, y) is word y * pitch + x; low 16 bits disparity in 1/16 px, next 8 bits the reasons, upper 8 bits the confidence.

struct Params {
    width: u32,
    height: u32,
    pitch: u32, // words from one row of a map to the next
    candidates: u32,
    words: u32, // cost words of a pixel: candidates / 4, rounded up to the words of its lanes
    slab_rows: u32, // rows of a volume in each of its buffers
    min_disparity: i32,
    left_shift: u32, // bits - 8 of each image: from full depth to eight bits
    right_shift: u32,
    p1: u32,
    subpixel: u32,
    uniqueness: u32, // %
    left_right: u32, // px
    speckle_size: u32, // px
    speckle_range: u32, // px
    paths: u32,
    confidence: u32, // 1 where winners have one, 2 where the learned choice gives a better one
    has_past: u32, // 1 where a pair of the same sequence came before
    largest_sum: u32, // with which a winner passes the match threshold
    whole_from_x: u32, // columns without border: the first, and one beyond the last; rows likewise
    whole_end_x: u32,
    whole_from_y: u32,
    whole_end_y: u32,
    spatial_alpha: u32, // %
    spatial_delta: u32, // px/16
    temporal_alpha: u32, // %
    temporal_delta: u32, // px/16
    persistence_times: u32, // how often a hole was measured before, to keep its disparity
    persistence_pairs: u32, // in how many pairs
    tau: u32, // grey levels
    min_chance: u32, // %, 0 where the learned choice drops nothing
    is_masked: u32, // 1 where every pixel of brightness 0 is left out, not only those of a black border
    p2_of_step: array<vec4<u32>, 64>, // P2 for each brightness step of 0 to 255
    weight_of_step: array<vec4<u32>, 16>, // of local aggregation: a byte for each brightness step
    weight_of_place: array<vec4<u32>, 61>, // a byte for each offset, |dy| * (reach + 1) + |dx|
}

// Part of a stage that one dispatch does.
struct DispatchParams {
    first: u32, // the first line, row, or piece of a row
    end: u32, // one beyond the last
    origin: u32, // first row of the slab of the volumes that is bound, 0 where all are
    pieces: u32, // of a row
    length: u32, // of a piece, px
    is_first: u32, // 1 where sums are set instead of added to
    y_is_major: u32, // 1 where y advances by one each step, 0 where x does
    dx: i32, // 1 or -1: which way paths go along x
    dy: i32,
    slope: u32, // how far the minor axis advances with each step, 1/65536 px
}

@group(0) @binding(0) var<uniform> params: Params;

const INVALID: i32 = -32768;
const SUBPIXEL_STEPS: i32 = 16;
const RANGE: u32 = 1u;
const UNIQUENESS: u32 = 2u;
const LEFT_RIGHT: u32 = 4u;
const SPECKLE: u32 = 8u;
const MATCH: u32 = 16u;
const BORDER: u32 = 32u;
const HELD: u32 = 64u;
const FILLED: u32 = 128u;
const ON_PLANE: u32 = 192u; // both: filled from a plane, until the learned choice
const NO_PICTURE: u32 = 33u; // border and range: the pixel lies in a black border

fn inside(id: vec3<u32>) -> bool {
    return id.x < params.width && id.y < params.height;
}

fn disparity_of(candidate: u32) -> i32 {
    return params.min_disparity + i32(candidate);
}

// Brightness in full depth, the coordinates clamped into the image.
fn luma(picture: texture_2d<u32>, x: i32, y: i32) -> u32 {
    let last = vec2<i32>(i32(params.width), i32(params.height)) - 1;
    return textureLoad(picture, clamp(vec2<i32>(x, y), vec2<i32>(0), last), 0).x;
}

// Upper eight bits of that brightness.
fn luma8(picture: texture_2d<u32>, shift: u32, x: i32, y: i32) -> u32 {
    return min(luma(picture, x, y) >> shift, 255u);
}

// Upper eight bits of the brightness of a pixel of the image.
fn luma8_inside(picture: texture_2d<u32>, shift: u32, at: vec2<u32>) -> u32 {
    return min(textureLoad(picture, at, 0).x >> shift, 255u);
}

// Red, green and blue of a pixel of the image, from the lowest byte on. Rows are bytes, three to a pixel and four to a texel.
fn color_at(colors: texture_2d<u32>, at: vec2<i32>) -> u32 {
    let bit = 24u * u32(at.x);
    let word = i32(bit >> 5u);
    let low = textureLoad(colors, vec2<i32>(word, at.y), 0).x;
    let high = textureLoad(colors, vec2<i32>(word + 1, at.y), 0).x;
    let shift = bit & 31u; // where it is 8 or less the pixel lies in one word
    return select((low >> shift) | (high << (32u - shift)), low >> shift, shift <= 8u) & 0xffffffu;
}

// Column of the partner of left column x, clamped into the right image.
fn partner(x: i32, candidate: u32) -> i32 {
    return clamp(x - disparity_of(candidate), 0, i32(params.width) - 1);
}

fn map_index(x: u32, y: u32) -> u32 {
    return y * params.pitch + x;
}

fn map_value(word: u32) -> i32 {
    return i32(word << 16u) >> 16u;
}

// Rounds a disparity in sixteenths to whole pixels; halves go up.
fn rounded_px(disparity_16th: i32) -> i32 {
    return (disparity_16th + SUBPIXEL_STEPS / 2) >> 4u;
}

// Whether a column lies in the images.
fn is_column(x: i32) -> bool {
    return x >= 0 && x < i32(params.width);
}

fn map_reasons(word: u32) -> u32 {
    return (word >> 16u) & 0xffu;
}

fn map_word(value: i32, reasons: u32) -> u32 {
    return (u32(value) & 0xffffu) | (reasons << 16u);
}

// `old + share (new - old)`, rounded half up; the share in per cent.
fn blend(old: i32, new_value: i32, share: u32) -> i32 {
    let sum = i32(share) * new_value + (100 - i32(share)) * old + 50;
    return (sum + 100 * 32768) / 100 - 32768; // never negative before the division, which rounds to 0
}

// Replaces the disparity of a word, with the same reasons and confidence.
fn with_value(word: u32, value: i32) -> u32 {
    return (u32(value) & 0xffffu) | (word & 0xffff0000u);
}

// Fills a word without a disparity, and marks it.
fn filled_with(word: u32, value: i32) -> u32 {
    return map_word(value, map_reasons(word) | FILLED);
}

// Whether a disparity may be filled in: it lies in the search range.
fn is_fillable(value: i32) -> bool {
    let last = params.min_disparity + i32(params.candidates) - 1;
    return value >= SUBPIXEL_STEPS * params.min_disparity && value <= SUBPIXEL_STEPS * last;
}

fn invalidated(word: u32, why: u32) -> u32 {
    return map_word(INVALID, map_reasons(word) | why);
}
