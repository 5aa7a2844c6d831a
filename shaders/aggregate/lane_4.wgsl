// Types of a lane that owns four words of four candidates; see lane.wgsl.

alias Words = vec4<u32>;
alias Flags = vec4<bool>;
const OFFSETS: Words = vec4<u32>(0u, 4u, 8u, 12u);

fn up(v: Words, below: u32) -> Words {
    return Words(below, v.x, v.y, v.z);
}

fn down(v: Words, above: u32) -> Words {
    return Words(v.y, v.z, v.w, above);
}

fn head(v: Words) -> u32 {
    return v.x;
}

fn tail(v: Words) -> u32 {
    return v.w;
}

fn min_in(v: Words) -> u32 {
    return min(min(v.x, v.y), min(v.z, v.w));
}

fn word_at(v: Words, i: u32) -> u32 {
    return select(select(v.x, v.y, i == 1u), select(v.z, v.w, i == 3u), i >= 2u);
}
