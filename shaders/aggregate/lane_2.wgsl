// What a lane owns where it has two words of four candidates; see lane.wgsl.

alias Words = vec2<u32>;
alias Numbers = vec2<Number>;
alias Flags = vec2<bool>;
const OFFSETS: Words = vec2<u32>(0u, 4u);

fn up(v: Numbers, below: Number) -> Numbers {
    return Numbers(below, v.x);
}

fn down(v: Numbers, above: Number) -> Numbers {
    return Numbers(v.y, above);
}

fn head(v: Numbers) -> Number {
    return v.x;
}

fn tail(v: Numbers) -> Number {
    return v.y;
}

fn min_in(v: Numbers) -> Number {
    return min(v.x, v.y);
}

fn up_words(v: Words, below: u32) -> Words {
    return Words(below, v.x);
}

fn tail_word(v: Words) -> u32 {
    return v.y;
}

fn min_word(v: Words) -> u32 {
    return min(v.x, v.y);
}

fn word_at(v: Words, i: u32) -> u32 {
    return select(v.x, v.y, i == 1u);
}
