// A code of up to 64 comparisons, in two words.

alias Code = vec2<u32>;

fn code_of(bits: vec2<u32>) -> Code {
    return bits;
}
