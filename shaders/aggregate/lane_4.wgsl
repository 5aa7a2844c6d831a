// What a lane owns where it has four words of four candidates; see lane.wgsl.

alias Words = vec4<u32>;
alias Numbers = vec4<Number>;
alias Flags = vec4<bool>;
const OFFSETS: Words = vec4<u32>(0u, 4u, 8u, 12u);

fn up(v: Numbers, below: Number) -> Numbers {
    return Numbers(below, v.x, v.y, v.z);
}

fn down(v: Numbers, above: Number) -> Numbers {
    return Numbers(v.y, v.z, v.w, above);
}

fn head(v: Numbers) -> Number {
    return v.x;
}

fn tail(v: Numbers) -> Number {
    return v.w;
}

fn min_in(v: Numbers) -> Number {
    return min(min(v.x, v.y), min(v.z, v.w));
}

fn up_words(v: Words, below: u32) -> Words {
    return Words(below, v.x, v.y, v.z);
}

fn tail_word(v: Words) -> u32 {
    return v.w;
}

fn min_word(v: Words) -> u32 {
    return min(min(v.x, v.y), min(v.z, v.w));
}

fn word_at(v: Words, i: u32) -> u32 {
    return select(select(v.x, v.y, i == 1u), select(v.z, v.w, i == 3u), i >= 2u);
}
