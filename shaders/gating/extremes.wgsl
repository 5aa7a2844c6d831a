// From the map of a coarser level to the gates of the next finer one: around each coarser pixel the smallest and the largest disparity
// in 17 x 17 px, as candidates of the finer level. `params` are those of the finer level.
//
// A workgroup loads a tile with its surroundings, finds the extremes along rows, and of these along columns.

#include common
#include gating/bounds

@group(0) @binding(1) var<uniform> coarse: Params;
@group(0) @binding(2) var<storage, read> map: array<u32>; // of the coarser level, in whole pixels
@group(0) @binding(3) var<storage, read_write> gates: array<u32>; // row after row: first candidate, last one << 16

const RADIUS: u32 = 8u; // of the window
const MARGIN_PX: i32 = 6;
const TILE: u32 = 16u;
const SIDE: u32 = 32u; // of the tile with its surroundings
const LANES: u32 = 256u;
const MAX_VALUE: i32 = 32767;

var<workgroup> values: array<i32, 1024>;
var<workgroup> lows: array<i32, 512>; // of each row of the surroundings, around each column of the tile
var<workgroup> highs: array<i32, 512>;

fn value_at(x: i32, y: i32) -> i32 {
    if x < 0 || y < 0 || x >= i32(coarse.width) || y >= i32(coarse.height) {
        return INVALID;
    }
    return map_value(map[u32(y) * coarse.pitch + u32(x)]);
}

@compute @workgroup_size(16, 16)
fn extremes(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let corner = vec2<i32>(group.xy * TILE) - i32(RADIUS);
    for (var n = lane; n < SIDE * SIDE; n += LANES) {
        values[n] = value_at(corner.x + i32(n % SIDE), corner.y + i32(n / SIDE));
    }
    workgroupBarrier();
    for (var n = lane; n < SIDE * TILE; n += LANES) {
        let first = n / TILE * SIDE + n % TILE;
        var low = MAX_VALUE;
        var high = INVALID;
        for (var k = 0u; k <= 2u * RADIUS; k++) {
            let value = values[first + k];
            low = min(low, select(value, MAX_VALUE, value == INVALID));
            high = max(high, value);
        }
        lows[n] = low;
        highs[n] = high;
    }
    workgroupBarrier();
    var low = MAX_VALUE;
    var high = INVALID;
    for (var k = 0u; k <= 2u * RADIUS; k++) {
        let row = (local.y + k) * TILE + local.x;
        low = min(low, lows[row]);
        high = max(high, highs[row]);
    }
    let at = group.xy * TILE + local.xy;
    if at.x < coarse.width && at.y < coarse.height {
        let found = gate(low / SUBPIXEL_STEPS, high / SUBPIXEL_STEPS, MARGIN_PX);
        gates[at.y * coarse.width + at.x] = select(found, whole_gate(), high == INVALID);
    }
}
