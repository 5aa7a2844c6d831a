// Left map: the smallest sum wins, ties go to the smaller disparity; then uniqueness and sub-pixel.

override SUM_BITS: u32;

@group(0) @binding(1) var<storage, read> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> map: array<u32>;

fn sum_at(pixel: u32, candidate: u32) -> u32 {
    return sum_in(sums[sum_word(pixel, candidate, SUM_BITS)], candidate, SUM_BITS);
}

// False if some candidate more than 1 px from the winner is nearly as good.
fn is_unique(pixel: u32, winner: u32, best: u32) -> bool {
    for (var i = 0u; i < params.candidates; i++) {
        let apart = abs(i32(i) - i32(winner)) > 1;
        if apart && sum_at(pixel, i) * (100u - params.uniqueness) < 100u * best {
            return false;
        }
    }
    return true;
}

// Offset of the parabola's lowest point in sixteenths of a pixel.
fn refine(pixel: u32, winner: u32, best: u32) -> i32 {
    if winner == 0u || winner + 1u >= params.candidates {
        return 0;
    }
    let below = i32(sum_at(pixel, winner - 1u));
    let above = i32(sum_at(pixel, winner + 1u));
    let q = max(below + above - 2 * i32(best), 1);
    return ((below - above) * 16 + q) / (2 * q);
}

@compute @workgroup_size(8, 8)
fn choose(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let pixel = id.y * params.width + id.x;
    var winner = 0u;
    var best = sum_at(pixel, 0u);
    for (var i = 1u; i < params.candidates; i++) {
        let sum = sum_at(pixel, i);
        if sum < best {
            best = sum;
            winner = i;
        }
    }
    var result = map_word(INVALID, UNIQUENESS);
    if params.uniqueness == 0u || is_unique(pixel, winner, best) {
        var value = SUBPIXEL_STEPS * disparity_of(winner);
        if params.subpixel == 1u {
            value += refine(pixel, winner, best);
        }
        result = map_word(value, 0u);
    }
    map[map_index(id.x, id.y)] = result;
}
