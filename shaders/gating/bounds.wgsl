// Gate of a pixel around which the coarser level found `low` to `high` px, as candidates: first, and last << 16. A coarser disparity d
// stands for the finer ones 2 d and 2 d + 1. `params` are those of the finer level.
fn gate(low: i32, high: i32, margin_px: i32) -> u32 {
    let last = i32(params.candidates) - 1;
    let from_min = vec2<i32>(2 * low - margin_px, 2 * high + 1 + margin_px) - params.min_disparity;
    let gate = vec2<u32>(clamp(from_min, vec2<i32>(0), vec2<i32>(last)));
    return gate.x | (gate.y << 16u);
}

// Gate of a pixel around which the coarser level found nothing.
fn whole_gate() -> u32 {
    return (params.candidates - 1u) << 16u;
}
