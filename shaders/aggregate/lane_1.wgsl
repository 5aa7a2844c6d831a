// Types of a lane that owns one word of four candidates; see lane.wgsl.

alias Words = u32;
alias Flags = bool;
const OFFSETS: Words = 0u;

fn up(v: Words, below: u32) -> Words {
    return below;
}

fn down(v: Words, above: u32) -> Words {
    return above;
}

fn head(v: Words) -> u32 {
    return v;
}

fn tail(v: Words) -> u32 {
    return v;
}

fn min_in(v: Words) -> u32 {
    return v;
}

fn word_at(v: Words, i: u32) -> u32 {
    return v;
}
