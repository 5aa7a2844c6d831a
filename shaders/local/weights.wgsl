// Weight of a pixel of a region (crates/stereo/src/local/weights.rs): both factors are bytes in tables, made once by the host.

// Table of brightness: each lane of a kernel may need any entry.
var<workgroup> weight_of_step: array<u32, 256>;

fn load_weights(index: u32, lanes: u32) {
    for (var i = index; i < 256u; i += lanes) {
        let word = params.weight_of_step[i >> 4u][(i >> 2u) & 3u];
        weight_of_step[i] = (word >> (8u * (i & 3u))) & 0xffu;
    }
}

fn weight_of_place(dx: i32, dy: i32) -> u32 {
    let i = u32(abs(dy)) * (REACH + 1u) + u32(abs(dx));
    return (params.weight_of_place[i >> 4u][(i >> 2u) & 3u] >> (8u * (i & 3u))) & 0xffu;
}

// Weight in one image.
fn weight(own: u32, other: u32, of_place: u32) -> u32 {
    return (weight_of_step[u32(abs(i32(own) - i32(other)))] * of_place) >> 8u;
}
