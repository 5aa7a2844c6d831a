// Census transform of one pixel; transform.wgsl loads the tile and stores the codes, and code_1.wgsl or code_2.wgsl has their type.

#include common
#include cost/code_#{CODE_WORDS}
#include cost/transform

override SYMMETRIC: bool;

// Code of the pixel of the tile whose window starts at `corner`.
fn code(corner: i32) -> Code {
    let centre_at = corner + RADIUS_Y * tile_pitch() + RADIUS_X;
    let centre = brightness[centre_at];
    var bits = vec2<u32>(0u);
    var next = 0u;
    for (var dy = -RADIUS_Y; dy <= RADIUS_Y; dy++) {
        for (var dx = -RADIUS_X; dx <= RADIUS_X; dx++) {
            if dx == 0 && dy == 0 {
                if SYMMETRIC {
                    return code_of(bits); // the other half holds the mirrors
                }
                continue;
            }
            let aside = dy * tile_pitch() + dx;
            let value = brightness[centre_at + aside];
            var is_set = value < centre;
            if SYMMETRIC {
                is_set = value > brightness[centre_at - aside];
            }
            let bit = u32(is_set) << (next & 31u);
            if next < 32u {
                bits.x |= bit;
            } else {
                bits.y |= bit;
            }
            next++;
        }
    }
    return code_of(bits);
}
