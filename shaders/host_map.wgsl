// Map in the host's form: disparities in 16 bits, then reasons and then confidences in 8 bits. Rows are whole groups of four pixels.

#include common

@group(0) @binding(1) var<storage, read> map: array<u32>;
@group(0) @binding(2) var<storage, read_write> host_map: array<u32>;

@compute @workgroup_size(8, 8)
fn pack(@builtin(global_invocation_id) id: vec3<u32>) {
    let columns = (params.width + 3u) / 4u;
    if id.x >= columns || id.y >= params.height {
        return;
    }
    let at = map_index(4u * id.x, id.y); // rows of a map have room for whole groups
    let a = map[at];
    let b = map[at + 1u];
    let c = map[at + 2u];
    let d = map[at + 3u];
    let group = id.y * columns + id.x;
    let groups = columns * params.height;
    host_map[2u * group] = (a & 0xffffu) | (b << 16u);
    host_map[2u * group + 1u] = (c & 0xffffu) | (d << 16u);
    let upper = vec4<u32>(a, b, c, d) >> vec4<u32>(16u);
    host_map[2u * groups + group] = bytes(upper & vec4<u32>(0xffu));
    host_map[3u * groups + group] = bytes(upper >> vec4<u32>(8u));
}

// Packs four numbers below 256 into the bytes of a word, the first one lowest.
fn bytes(numbers: vec4<u32>) -> u32 {
    return numbers.x | (numbers.y << 8u) | (numbers.z << 16u) | (numbers.w << 24u);
}
