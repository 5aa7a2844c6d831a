// Colours a disparity map for the window: one fragment per pixel of the map.
// In: packed disparities (low 16 bits in 1/16 px, next 8 bits the reasons, upper 8 bits the confidence) and
// 256 colours. Out: opaque colour; hatched where the disparity was not measured in this pair.
// Disparity and inverse depth both grow towards the viewer, so near is the upper end of every colour map.

struct Display {
    focal_times_baseline: f32, // px m; 0 without geometry
    doffs_px: f32,
    low: f32,                  // shown in the first colour: px, 1/m, or %
    high: f32,                 // shown in the last colour
    quantity: u32,             // 0 disparity, 1 inverse depth, 2 confidence, 3 difference
    colour_reasons: u32,       // 0: all that is invalid is black
}

@group(0) @binding(0) var<uniform> display: Display;
@group(0) @binding(1) var disparities: texture_2d<u32>;
@group(0) @binding(2) var colours: texture_2d<f32>;
@group(0) @binding(3) var reason_colours: texture_2d<f32>;
@group(0) @binding(4) var references: texture_2d<u32>; // disparities to compare with, in the low 16 bits

const INVALID: u32 = 0x8000u;
const STEPS_PER_PX: f32 = 16.0;
const NUM_COLOURS: f32 = 256.0;
const HELD: u32 = 64u;
const FILLED: u32 = 128u;
const PERCENT_PER_STEP: f32 = 100.0 / 255.0;

@vertex
fn whole_target(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4<f32>(corner, 0.0, 1.0);
}

@fragment
fn colour(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let word = textureLoad(disparities, vec2<i32>(position.xy), 0).r;
    let reasons = (word >> 16u) & 0xffu;
    if (word & 0xffffu) == INVALID {
        return without_disparity(reasons);
    }
    let d = disparity_of(word);
    var value = d;
    if display.quantity == 1u {
        let beyond = d + display.doffs_px;
        if beyond <= 0.0 {
            return without_disparity(1u);
        }
        let z = display.focal_times_baseline / beyond;
        value = 1.0 / z;
    } else if display.quantity == 2u {
        value = f32(word >> 24u) * PERCENT_PER_STEP;
    } else if display.quantity == 3u {
        let reference = textureLoad(references, vec2<i32>(position.xy), 0).r;
        if (reference & 0xffffu) == INVALID {
            return vec4<f32>(0.0, 0.0, 0.0, 1.0);
        }
        value = abs(d - disparity_of(reference));
    }
    let t = clamp((value - display.low) / (display.high - display.low), 0.0, 1.0);
    let column = i32(t * (NUM_COLOURS - 1.0) + 0.5);
    return marked(textureLoad(colours, vec2<i32>(column, 0), 0), reasons, vec2<i32>(position.xy));
}

// Shifted up and arithmetically down again: the sign of the 16-bit number.
fn disparity_of(word: u32) -> f32 {
    return f32(bitcast<i32>(word << 16u) >> 16u) / STEPS_PER_PX;
}

// What was not measured is hatched: filled pixels from the lower left to the upper right, held ones across that.
fn marked(colour: vec4<f32>, reasons: u32, at: vec2<i32>) -> vec4<f32> {
    let line = select(at.x - at.y, at.x + at.y, (reasons & FILLED) != 0u);
    let is_dark = (reasons & (FILLED | HELD)) != 0u && (line & 3) < 2;
    return select(colour, vec4<f32>(0.4 * colour.rgb, 1.0), is_dark);
}

// Black, or the colour of the first reason that applies.
fn without_disparity(reasons: u32) -> vec4<f32> {
    if display.colour_reasons == 0u || reasons == 0u {
        return vec4<f32>(0.0, 0.0, 0.0, 1.0);
    }
    return textureLoad(reason_colours, vec2<i32>(i32(firstTrailingBit(reasons)), 0), 0);
}
