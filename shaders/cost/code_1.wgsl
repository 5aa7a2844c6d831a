// A code of up to 32 comparisons, in one word.

alias Code = u32;

fn code_of(bits: vec2<u32>) -> Code {
    return bits.x;
}
