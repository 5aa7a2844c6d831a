// Both images at half their size: the rounded mean of each 2 x 2 pixels, at full depth. `params` are those of the larger images; a
// smaller pixel takes four texels.

#include common

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var left_half: texture_storage_2d<r32uint, write>;
@group(0) @binding(4) var right_half: texture_storage_2d<r32uint, write>;

fn mean(picture: texture_2d<u32>, corner: vec2<i32>) -> vec4<u32> {
    let upper = luma(picture, corner.x, corner.y) + luma(picture, corner.x + 1, corner.y);
    let lower = luma(picture, corner.x, corner.y + 1) + luma(picture, corner.x + 1, corner.y + 1);
    return vec4<u32>((upper + lower + 2u) >> 2u);
}

@compute @workgroup_size(32, 8)
fn halve(@builtin(global_invocation_id) id: vec3<u32>) {
    let corner = 2u * id.xy;
    if corner.x >= params.width || corner.y >= params.height {
        return;
    }
    if id.z == 0u {
        textureStore(left_half, id.xy, mean(left, vec2<i32>(corner)));
    } else {
        textureStore(right_half, id.xy, mean(right, vec2<i32>(corner)));
    }
}
