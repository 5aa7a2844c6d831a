// Matching costs from the codes of both images, instead of from a volume.

// Positions of the right image's codes: of the partner for candidate 0, and of the ends of its row.
struct Partners {
    of_first: i32,
    leftmost: i32,
    rightmost: i32,
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
