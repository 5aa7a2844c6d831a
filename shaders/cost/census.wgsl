// Census transform of both pictures, then the Hamming distance of every pixel and candidate.

override RADIUS_X: i32;
override RADIUS_Y: i32;
override SYMMETRIC: bool;

@group(0) @binding(1) var left: texture_2d<u32>;
@group(0) @binding(2) var right: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> codes: array<vec2<u32>>; // left picture, then right

fn census(picture: texture_2d<u32>, x: i32, y: i32) -> vec2<u32> {
    let centre = luma(picture, x, y);
    var code = vec2<u32>(0u);
    var next = 0u;
    for (var dy = -RADIUS_Y; dy <= RADIUS_Y; dy++) {
        for (var dx = -RADIUS_X; dx <= RADIUS_X; dx++) {
            if dx == 0 && dy == 0 {
                if SYMMETRIC {
                    return code; // the other half holds the mirrors
                }
                continue;
            }
            let value = luma(picture, x + dx, y + dy);
            var is_set = value < centre;
            if SYMMETRIC {
                is_set = value > luma(picture, x - dx, y - dy);
            }
            let bit = u32(is_set) << (next & 31u);
            if next < 32u {
                code.x |= bit;
            } else {
                code.y |= bit;
            }
            next++;
        }
    }
    return code;
}

@compute @workgroup_size(8, 8)
fn transform(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = id.y * params.width + id.x;
    if id.z == 0u {
        codes[pixel] = census(left, i32(id.x), i32(id.y));
    } else {
        codes[params.width * params.height + pixel] = census(right, i32(id.x), i32(id.y));
    }
}
