// First and last candidate of a pixel.

#if GATED
@group(0) @binding(#) var<storage, read> gates: array<u32>;

#end
fn gate_of(here: vec2<u32>) -> vec2<u32> {
#if GATED
#if MIRRORED
    let x = params.width - 1u - here.x; // gates are those of the image before it was mirrored
#else
    let x = here.x;
#end
    let gate = gates[(here.y >> 1u) * ((params.width + 1u) >> 1u) + (x >> 1u)];
    return vec2<u32>(gate & 0xffffu, gate >> 16u);
#else
    return vec2<u32>(0u, params.candidates - 1u);
#end
}
