// Colours a disparity map for the window: one fragment per pixel of the map. In: packed disparities (low 16 bits in 1/16 px, next 8 bits
// the reasons, upper 8 bits the confidence) and 256 colours. Out: opaque colour; hatched where the disparity was not measured in this
// pair. Disparity and inverse depth both grow towards the viewer, so near is the upper end of every colour map.

struct Display {
    focal_times_baseline: f32, // px m; 0 without geometry
    doffs_px: f32,
    low: f32,                  // shown in the first colour: px, 1/m, or %
    high: f32,                 // shown in the last colour
    quantity: u32,             // 0 disparity, 1 inverse depth, 2 confidence
    colour_reasons: u32,       // 0: all that is invalid is black
}

@group(0) @binding(0) var<uniform> display: Display;
@group(0) @binding(1) var disparities: texture_2d<u32>;
@group(0) @binding(2) var colours: texture_2d<f32>;     // those of the values, then one for each reason
@group(0) @binding(3) var references: texture_2d<u32>;  // disparities to compare with, in the low 16 bits

const INVALID: u32 = 0x8000u;
const STEPS_PER_PX: f32 = 16.0;
const NUM_COLOURS: i32 = 256;
const HELD: u32 = 64u;
const FILLED: u32 = 128u;
const PERCENT_PER_STEP: f32 = 100.0 / 255.0;

@vertex
fn whole_target(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4<f32>(corner, 0.0, 1.0);
}

// A software GPU executes both sides of a branch, so values are chosen instead, and one colour is read.
fn colour_of(word: u32, value: f32, has_value: bool, at: vec2<i32>) -> vec4<f32> {
    let reasons = (word >> 16u) & 0xffu;
    let t = clamp((value - display.low) / (display.high - display.low), 0.0, 1.0);
    let of_reason = NUM_COLOURS + i32(firstTrailingBit(reasons | FILLED)); // the first one that applies
    let column = select(of_reason, i32(t * f32(NUM_COLOURS - 1) + 0.5), has_value);
    let is_black = !has_value && (display.colour_reasons == 0u || reasons == 0u);
    let colour = marked(textureLoad(colours, vec2<i32>(column, 0), 0), select(0u, reasons, has_value), at);
    return select(colour, vec4<f32>(0.0, 0.0, 0.0, 1.0), is_black);
}

// Disparity, inverse depth or confidence.
@fragment
fn value(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<i32>(position.xy);
    let word = textureLoad(disparities, at, 0).r;
    let d = disparity_of(word);
    let beyond = d + display.doffs_px;
    let is_depth = display.quantity == 1u;
    let inverse_depth = 1.0 / (display.focal_times_baseline / beyond);
    let confidence = f32(word >> 24u) * PERCENT_PER_STEP;
    let value = select(select(d, inverse_depth, is_depth), confidence, display.quantity == 2u);
    let has_disparity = (word & 0xffffu) != INVALID;
    let has_value = has_disparity && (beyond > 0.0 || !is_depth);
    // a disparity beyond infinity has the first reason
    let shown = select(word, 0x10000u, has_disparity && !has_value);
    return colour_of(shown, value, has_value, at);
}

// Difference of the disparity from a reference; black without one.
@fragment
fn difference(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let at = vec2<i32>(position.xy);
    let word = textureLoad(disparities, at, 0).r;
    let reference = textureLoad(references, at, 0).r;
    let has_disparity = (word & 0xffffu) != INVALID;
    let has_reference = (reference & 0xffffu) != INVALID;
    let colour = colour_of(word, abs(disparity_of(word) - disparity_of(reference)), has_disparity, at);
    return select(vec4<f32>(0.0, 0.0, 0.0, 1.0), colour, has_reference || !has_disparity);
}

// Shifted up and arithmetically down again: the sign of the 16-bit number.
fn disparity_of(word: u32) -> f32 {
    return f32(bitcast<i32>(word << 16u) >> 16u) / STEPS_PER_PX;
}

// Disparities that were not measured are hatched: filled pixels from the lower left to the upper right, held ones across that.
fn marked(colour: vec4<f32>, reasons: u32, at: vec2<i32>) -> vec4<f32> {
    let line = select(at.x - at.y, at.x + at.y, (reasons & FILLED) != 0u);
    let is_dark = (reasons & (FILLED | HELD)) != 0u && (line & 3) < 2;
    return select(colour, vec4<f32>(0.4 * colour.rgb, 1.0), is_dark);
}
