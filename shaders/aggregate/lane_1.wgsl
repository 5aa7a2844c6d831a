// What a lane owns where it has one word of four candidates; see lane.wgsl.

alias Words = u32;
alias Numbers = Number;
alias Flags = bool;
const OFFSETS: Words = 0u;

fn up(v: Numbers, below: Number) -> Numbers {
    return below;
}

fn down(v: Numbers, above: Number) -> Numbers {
    return above;
}

fn head(v: Numbers) -> Number {
    return v;
}

fn tail(v: Numbers) -> Number {
    return v;
}

fn min_in(v: Numbers) -> Number {
    return v;
}

fn up_words(v: Words, below: u32) -> Words {
    return below;
}

fn tail_word(v: Words) -> u32 {
    return v;
}

fn min_word(v: Words) -> u32 {
    return v;
}

fn word_at(v: Words, i: u32) -> u32 {
    return v;
}
