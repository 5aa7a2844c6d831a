// Matching with the images swapped (crates/stereo/src/pipeline.rs): mirrors and swaps the images, and mirrors their left map,
// which is the right image's map.

#include common

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var mirrored_right: texture_storage_2d<r32uint, write>; // in the left image's place
@group(0) @binding(4) var mirrored_left: texture_storage_2d<r32uint, write>;
@group(0) @binding(5) var<storage, read> found: array<u32>;
@group(0) @binding(6) var<storage, read_write> map: array<u32>;

@compute @workgroup_size(32, 8)
fn mirror_pictures(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let mirrored = vec2<u32>(params.width - 1u - id.x, id.y);
    if id.z == 0u {
        textureStore(mirrored_right, mirrored, textureLoad(right, id.xy, 0));
    } else {
        textureStore(mirrored_left, mirrored, textureLoad(left, id.xy, 0));
    }
}

@compute @workgroup_size(32, 8)
fn mirror_map(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        map[map_index(params.width - 1u - id.x, id.y)] = found[map_index(id.x, id.y)];
    }
}
