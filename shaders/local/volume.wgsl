// Functions that the kernels of local aggregation share: four costs of a byte as numbers, and the partners of four candidates.

@group(0) @binding(1) var<uniform> dispatch: DispatchParams;

const REACH = #{REACH}u;
const WORDS = #{WORDS}u; // of a pixel in a workgroup
const STRIP = #{STRIP}u;

fn costs_of(word: u32) -> vec4<u32> {
    return vec4<u32>(word & 0xffu, (word >> 8u) & 0xffu, (word >> 16u) & 0xffu, word >> 24u);
}

fn word_of(costs: vec4<u32>) -> u32 {
    return costs.x | (costs.y << 8u) | (costs.z << 16u) | (costs.w << 24u);
}

// Costs 0 and 2 in the halves of x, 1 and 3 in those of y.
fn pairs_of(word: u32) -> vec2<u32> {
    return vec2<u32>(word & 0x00ff00ffu, (word >> 8u) & 0x00ff00ffu);
}

fn clamped(x: i32, length: u32) -> u32 {
    return u32(clamp(x, 0, i32(length) - 1));
}

// Columns of the partners of the four candidates of a word.
fn partners(x: u32, word: u32) -> vec4<u32> {
    let first = i32(x) - disparity_of(4u * word);
    return vec4<u32>(clamp(vec4<i32>(first) - vec4<i32>(0, 1, 2, 3), vec4<i32>(0), vec4<i32>(i32(params.width) - 1)));
}
