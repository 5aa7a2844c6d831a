// Costs of any row, from all slabs of the volume.

#for slab in 0..SLABS
@group(0) @binding(#) var<storage, read> costs_#{slab}: array<u32>;
#end

fn load_cost(x: u32, y: u32, word: u32) -> u32 {
#if SLABS == 1
    return costs_0[(y * params.width + x) * params.words + word];
#else
    let slab = y / params.slab_rows;
    let at = ((y - slab * params.slab_rows) * params.width + x) * params.words + word;
    switch slab {
#for slab in 0..SLABS - 1
        case #{slab}u: { return costs_#{slab}[at]; }
#end
        default: { return costs_#{SLABS - 1}[at]; }
    }
#end
}
