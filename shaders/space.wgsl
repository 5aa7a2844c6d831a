// Draws the points of a disparity map in space, as squares or as a surface, and lines around them. In: packed disparities (low 16 bits in
// 1/16 px, next 8 bits the reasons, upper 8 bits the confidence), the left image, 256 colours. Disparities that were not measured in
// this pair are hatched, as in the maps. No vertex buffer for points: the number of a vertex is that of its pixel and corner. Metres in
// the left camera's axes: x right, y down, z forward.

struct Space {
    clip_from_world: mat4x4<f32>,
    focal_px: f32,
    focal_times_baseline: f32, // px m
    doffs_px: f32,             // disparity of infinity with its sign turned
    cx_px: f32,                // principal point of the left image
    cy_px: f32,
    low: f32,                  // shown in the first colour: 1/m, or %
    high: f32,                 // shown in the last colour
    least_px: f32,             // disparities from infinity that are drawn, above 0
    most_px: f32,
    target_width: f32,         // px
    target_height: f32,
    scale_px: f32,             // focal length on the target
    every: u32,                // distance of the drawn pixels
    columns: u32,              // cells in a row: pixels, or quads between them
    colouring: u32,            // 0 image, 1 inverse depth, 2 confidence
    unused: u32,
}

@group(0) @binding(0) var<uniform> space: Space;
@group(0) @binding(1) var disparities: texture_2d<u32>;
@group(0) @binding(2) var picture: texture_2d<f32>;
@group(0) @binding(3) var colours: texture_2d<f32>;

const INVALID: u32 = 0x8000u;
const HELD: u32 = 64u; // bits of a reason
const FILLED: u32 = 128u;
const STEPS_PER_PX: f32 = 16.0;
const NUM_COLOURS: f32 = 256.0;
const PERCENT_PER_STEP: f32 = 100.0 / 255.0;
const VERTICES_PER_CELL: u32 = 6u; // two triangles
const MAX_STEP_PX: f32 = 1.0;      // difference of disparities within a surface, for each pixel between them
const TOLERANCE_PX: f32 = 0.03125; // half a step
const OVERLAP: f32 = 1.05;         // rounding would leave cracks between squares that only touch

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) pixel: vec2<f32>,
    @location(1) value: f32, // what is coloured: 1/m, or %
}

// Position of a vertex in its cell, 0 or 1 in both directions.
fn corner_of(vertex: u32) -> vec2<u32> {
    let number = (0x321120u >> (4u * (vertex % VERTICES_PER_CELL))) & 3u;
    return vec2<u32>(number & 1u, number >> 1u);
}

// First pixel of the cell of a vertex.
fn pixel_of(vertex: u32) -> vec2<u32> {
    let cell = vertex / VERTICES_PER_CELL;
    return vec2<u32>(cell % space.columns, cell / space.columns) * space.every;
}

fn word_at(pixel: vec2<u32>) -> u32 {
    return textureLoad(disparities, vec2<i32>(pixel), 0).r;
}

// Disparity from infinity, px; 0 where there is no point.
fn from_infinity(word: u32) -> f32 {
    if (word & 0xffffu) == INVALID {
        return 0.0;
    }
    // shifted up and arithmetically down again: the sign of the 16-bit number
    let px = f32(bitcast<i32>(word << 16u) >> 16u) / STEPS_PER_PX + space.doffs_px;
    return select(0.0, px, px >= space.least_px && px <= space.most_px);
}

// Point that a pixel shows, m.
fn point_m(pixel: vec2<u32>, px: f32) -> vec3<f32> {
    let z = space.focal_times_baseline / px;
    let from_axis = vec2<f32>(pixel) - vec2<f32>(space.cx_px, space.cy_px);
    return vec3<f32>(from_axis * (z / space.focal_px), z);
}

fn value_of(word: u32, px: f32) -> f32 {
    return select(px / space.focal_times_baseline, f32(word >> 24u) * PERCENT_PER_STEP, space.colouring == 2u);
}

// Position outside of the target.
fn nothing() -> Corner {
    return Corner(vec4<f32>(0.0, 0.0, 2.0, 1.0), vec2<f32>(), 0.0);
}

// Each pixel is a square that faces the viewer, as large as the area that the pixel covers at its depth.
@vertex
fn square(@builtin(vertex_index) vertex: u32) -> Corner {
    let pixel = pixel_of(vertex);
    let word = word_at(pixel);
    let px = from_infinity(word);
    if px <= 0.0 {
        return nothing();
    }
    let point = point_m(pixel, px);
    var clip = space.clip_from_world * vec4<f32>(point, 1.0);
    if clip.w <= 0.0 {
        return nothing();
    }
    let side_m = f32(space.every) * OVERLAP * point.z / space.focal_px;
    let side_px = max(side_m * space.scale_px / clip.w, 1.0);
    let target_px = vec2<f32>(space.target_width, space.target_height);
    let offset = (vec2<f32>(corner_of(vertex)) - 0.5) * 2.0 * side_px / target_px;
    clip = vec4<f32>(clip.xy + offset * clip.w, clip.zw);
    return Corner(clip, vec2<f32>(pixel), value_of(word, px));
}

// Four neighbours are a piece of a surface where their disparities differ by little.
@vertex
fn surface(@builtin(vertex_index) vertex: u32) -> Corner {
    let first = pixel_of(vertex);
    var least = space.most_px;
    var most = 0.0;
    for (var i = 0u; i < 4u; i++) {
        let px = from_infinity(word_at(first + vec2<u32>(i & 1u, i >> 1u) * space.every));
        least = min(least, px);
        most = max(most, px);
    }
    if least <= 0.0 || most - least > MAX_STEP_PX * f32(space.every) + TOLERANCE_PX {
        return nothing();
    }
    let pixel = first + corner_of(vertex) * space.every;
    let word = word_at(pixel);
    let px = from_infinity(word);
    let clip = space.clip_from_world * vec4<f32>(point_m(pixel, px), 1.0);
    return Corner(clip, vec2<f32>(pixel), value_of(word, px));
}

@fragment
fn colour(corner: Corner) -> @location(0) vec4<f32> {
    let pixel = vec2<u32>(corner.pixel + 0.5);
    let shade = shade_of(pixel);
    if space.colouring == 0u {
        return vec4<f32>(shade * textureLoad(picture, vec2<i32>(pixel), 0).rgb, 1.0);
    }
    let t = clamp((corner.value - space.low) / (space.high - space.low), 0.0, 1.0);
    return vec4<f32>(shade * textureLoad(colours, vec2<i32>(i32(t * (NUM_COLOURS - 1.0) + 0.5), 0), 0).rgb, 1.0);
}

// Hatched in steps of the drawn pixels: filled ones from the lower left to the upper right, held ones across that.
fn shade_of(pixel: vec2<u32>) -> f32 {
    let reasons = word_at(pixel) >> 16u;
    let at = vec2<i32>(pixel / space.every);
    let line = select(at.x - at.y, at.x + at.y, (reasons & FILLED) != 0u);
    return select(1.0, 0.4, (reasons & (FILLED | HELD)) != 0u && (line & 3) < 2);
}

struct LineEnd {
    @builtin(position) position: vec4<f32>,
    @location(0) colour: vec4<f32>,
}

@vertex
fn line_end(@location(0) at: vec3<f32>, @location(1) colour: vec4<f32>) -> LineEnd {
    return LineEnd(space.clip_from_world * vec4<f32>(at, 1.0), colour);
}

@fragment
fn line_colour(end: LineEnd) -> @location(0) vec4<f32> {
    return end.colour;
}
