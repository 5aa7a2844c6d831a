// Census transform of one pixel; transform.wgsl loads the tile and stores the codes.

override SYMMETRIC: bool;

alias Code = vec2<u32>;

// Code of the pixel of the tile whose window starts at `corner`.
fn code(corner: i32) -> Code {
    let centre_at = corner + RADIUS_Y * tile_pitch() + RADIUS_X;
    let centre = brightness[centre_at];
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
            let aside = dy * tile_pitch() + dx;
            let value = brightness[centre_at + aside];
            var is_set = value < centre;
            if SYMMETRIC {
                is_set = value > brightness[centre_at - aside];
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
