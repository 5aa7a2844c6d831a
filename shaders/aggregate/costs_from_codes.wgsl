// Matching costs from the codes of both images, instead of from a volume.

#if CODE_WORDS == 1
alias Code = u32;
#else
alias Code = vec2<u32>;
#end

@group(0) @binding(#) var<storage, read> codes: array<Code>;
#if HAS_TABLE
@group(0) @binding(#) var<storage, read> table: array<u32>;
#end

// Positions of the right image's codes: of the partner for candidate 0, and of the ends of its row.
struct Partners {
    of_first: i32,
    leftmost: i32,
    rightmost: i32,
}

#if COMPARISON == gradients
fn byte_difference(own: u32, other: u32, shift: u32) -> u32 {
    return u32(abs(i32((own >> shift) & 0xffu) - i32((other >> shift) & 0xffu)));
}

#end
fn distance(own: Code, partners: Partners, candidate: u32) -> u32 {
    let other = codes[clamp(partners.of_first - i32(candidate), partners.leftmost, partners.rightmost)];
#if COMPARISON == hamming
#if CODE_WORDS == 1
    return countOneBits(own ^ other);
#else
    return countOneBits(own.x ^ other.x) + countOneBits(own.y ^ other.y);
#end
#end
#if COMPARISON == difference
    return u32(abs(i32(own) - i32(other)));
#end
#if COMPARISON == learned
#if MIRRORED
    return (table[(other << 6u) + (own >> 2u)] >> ((own & 3u) << 3u)) & 0xffu; // the left image's level first
#else
    return (table[(own << 6u) + (other >> 2u)] >> ((other & 3u) << 3u)) & 0xffu;
#end
#end
#if COMPARISON == brightness
    return table[u32(abs(i32(own.y >> 16u) - i32(other.y >> 16u)))]
        + table[256u + countOneBits(own.x ^ other.x) + countOneBits((own.y ^ other.y) & 0xffffu)];
#end
#if COMPARISON == gradients
    return table[(byte_difference(own.y, other.y, 16u) + byte_difference(own.y, other.y, 24u) + 1u) >> 1u]
        + table[256u + countOneBits(own.x ^ other.x) + countOneBits((own.y ^ other.y) & 0xffffu)];
#end
}

// Distances of one candidate in each word.
fn compared(own: Code, partners: Partners, candidates: Words) -> Words {
#if WORDS == 1
    return distance(own, partners, candidates);
#else
    return Words(
#for w in 0..WORDS
        distance(own, partners, candidates[#{w}]),
#end
    );
#end
}

fn load_costs(place: Place) -> Words {
    let here = place.pixel;
    let own = codes[here.y * params.width + here.x];
    let leftmost = i32((params.height + here.y) * params.width);
    let partners =
        Partners(leftmost + i32(here.x) - params.min_disparity, leftmost, leftmost + i32(params.width) - 1);
    let candidates = candidates_of(place.lane);
    let v0 = compared(own, partners, candidates);
    let v1 = compared(own, partners, candidates + Words(1u));
    let v2 = compared(own, partners, candidates + Words(2u));
    let v3 = compared(own, partners, candidates + Words(3u));
    return v0 | (v1 << Words(8u)) | (v2 << Words(16u)) | (v3 << Words(24u));
}
