// Rank transform of one pixel; transform.wgsl loads the tile and stores the ranks.

#include common
#include cost/transform

alias Code = u32;

// Rank of the pixel of the tile whose window starts at `corner`.
fn code(corner: i32) -> Code {
    let centre = brightness[corner + RADIUS_Y * tile_pitch() + RADIUS_X];
    var darker = 0u;
    for (var y = 0; y <= 2 * RADIUS_Y; y++) {
        for (var x = 0; x <= 2 * RADIUS_X; x++) {
            darker += u32(brightness[corner + y * tile_pitch() + x] < centre);
        }
    }
    return darker;
}
