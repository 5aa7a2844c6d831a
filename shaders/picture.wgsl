// Draws a view's texture into its rectangle of the window, which is the viewport. In: a texture of gamma-encoded colours, and the part of
// it that is shown. Out: its colours, darkened by a factor. egui's own shader does this too, but a software GPU executes both sides of
// each of its branches, among them integer divisions for every pixel, which takes most of the time of a frame there.

struct Part {
    low: vec2<f32>,         // texture coordinates of the upper left corner
    high: vec2<f32>,        // of the lower right one
    brightness: vec4<f32>,  // factor of each channel
}

@group(0) @binding(0) var<uniform> part: Part;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var filtered: sampler;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) at: vec2<f32>,
}

// Covers the viewport with a triangle.
@vertex
fn whole_viewport(@builtin(vertex_index) index: u32) -> Corner {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 2.0;
    let position = vec4<f32>(2.0 * corner.x - 1.0, 1.0 - 2.0 * corner.y, 0.0, 1.0);
    return Corner(position, mix(part.low, part.high, corner));
}

fn colour_at(at: vec2<f32>) -> vec4<f32> {
    return part.brightness * textureSample(picture, filtered, at);
}

// Entry for a window whose colours are gamma-encoded.
@fragment
fn as_it_is(corner: Corner) -> @location(0) vec4<f32> {
    return colour_at(corner.at);
}

// Entry for a window that encodes linear colours itself.
@fragment
fn linear(corner: Corner) -> @location(0) vec4<f32> {
    let colour = colour_at(corner.at);
    let low = colour.rgb / 12.92;
    let high = pow((colour.rgb + 0.055) / 1.055, vec3<f32>(2.4));
    return vec4<f32>(select(high, low, colour.rgb < vec3<f32>(0.04045)), colour.a);
}
