// Types of a lane that owns two words of four candidates; see lane.wgsl.

alias Words = vec2<u32>;
alias Flags = vec2<bool>;
const OFFSETS: Words = vec2<u32>(0u, 4u);

fn up(v: Words, below: u32) -> Words {
    return Words(below, v.x);
}

fn down(v: Words, above: u32) -> Words {
    return Words(v.y, above);
}

fn head(v: Words) -> u32 {
    return v.x;
}

fn tail(v: Words) -> u32 {
    return v.y;
}

fn min_in(v: Words) -> u32 {
    return min(v.x, v.y);
}

fn word_at(v: Words, i: u32) -> u32 {
    return select(v.x, v.y, i == 1u);
}
