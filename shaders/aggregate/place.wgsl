// Place of a lane's words of a pixel in a volume: in its only buffer, which may begin at a later row, or in one of several.

fn place_of(pixel: vec2<u32>, lane: u32) -> Place {
#if SLABS == 1
    let slab = 0u;
    let at = ((pixel.y - dispatch.origin) * params.width + pixel.x) * LANES + lane;
#else
    let slab = pixel.y / params.slab_rows;
    let at = ((pixel.y - slab * params.slab_rows) * params.width + pixel.x) * LANES + lane;
#end
    return Place(pixel, lane, slab, at);
}
