// Matching costs from the codes of both pictures, instead of from a volume.

fn load_costs(here: vec2<u32>, lane: u32) -> Words {
    let own = codes[here.y * params.width + here.x];
    let right_row = (params.height + here.y) * params.width;
    let candidates = candidates_of(lane);
    let v0 = compared(own, right_row, here.x, candidates);
    let v1 = compared(own, right_row, here.x, candidates + Words(1u));
    let v2 = compared(own, right_row, here.x, candidates + Words(2u));
    let v3 = compared(own, right_row, here.x, candidates + Words(3u));
    return v0 | (v1 << Words(8u)) | (v2 << Words(16u)) | (v3 << Words(24u));
}
