// Storing of the sums of a word's four candidates, in the slab that is bound: exact, or as rounded means.

#if EXACT
@group(0) @binding(#) var<storage, read_write> aggregated: array<vec4<u32>>;
#else
@group(0) @binding(#) var<storage, read_write> aggregated: array<u32>;
const UNIT = #{UNIT}u; // of sums, for each cost
#end

fn store(x: u32, y: u32, word: u32, sums: vec4<u32>) {
    let at = ((y - dispatch.origin) * params.width + x) * params.words + word;
#if EXACT
    aggregated[at] = sums;
#else
    aggregated[at] = word_of((sums + UNIT / 2u) / UNIT);
#end
}
