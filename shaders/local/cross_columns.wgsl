// Second half of a cross: the sum over the vertical arms of the sums of cross_rows.wgsl, a difference of two words, or of two pairs where
// the arms reach into the next strip. For each candidate two or three words and the result.

#include common
#include local/volume

@group(0) @binding(#) var<storage, read> arms: array<u32>;
#for slab in 0..SLABS
@group(0) @binding(#) var<storage, read> arm_sums_#{slab}: array<u32>;
#end
#include local/store

fn load_arm_sum(x: u32, y: u32, candidate: u32) -> u32 {
#if SLABS == 1
    return arm_sums_0[(y * params.width + x) * (4u * params.words) + candidate];
#else
    let slab = y / params.slab_rows;
    let at = ((y - slab * params.slab_rows) * params.width + x) * (4u * params.words) + candidate;
    switch slab {
#for slab in 0..SLABS - 1
        case #{slab}u: { return arm_sums_#{slab}[at]; }
#end
        default: { return arm_sums_#{SLABS - 1}[at]; }
    }
#end
}

// Sum and number of the pixels of rows `first` to `end`.
fn column_sum(x: u32, first: u32, end: u32, candidate: u32) -> u32 {
    var sum = 0u;
    var row = first;
    loop {
        let slab = (row / params.slab_rows) * params.slab_rows;
        let strip = slab + ((row - slab) / STRIP) * STRIP;
        let last = min(end, min(strip + STRIP, slab + params.slab_rows) - 1u);
        sum += load_arm_sum(x, last, candidate);
        if row > strip {
            sum -= load_arm_sum(x, row - 1u, candidate);
        }
        if last == end {
            return sum;
        }
        row = last + 1u;
    }
    return sum;
}

@compute @workgroup_size(64)
fn columns(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.width * params.words {
        return;
    }
    let x = id.x / params.words;
    let y = dispatch.first + id.y;
    let word = id.x % params.words;
    let own = arms[y * params.width + x];
    let partner_columns = partners(x, word);
    var results = vec4<u32>(0u);
    for (var i = 0u; i < 4u; i++) {
        let other = arms[(params.height + y) * params.width + partner_columns[i]];
        let up = min((own >> 16u) & 0xffu, (other >> 16u) & 0xffu);
        let down = min(own >> 24u, other >> 24u);
        let both = column_sum(x, y - up, y + down, 4u * word + i);
        let pixels = both >> 20u;
        results[i] = (16u * (both & 0xfffffu) + pixels / 2u) / pixels;
    }
    store(x, y, word, results);
}
