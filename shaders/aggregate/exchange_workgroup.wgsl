// Lanes that share a pixel exchange values through rotating slots of workgroup memory, so that one barrier per exchange is enough. All
// lanes of a workgroup take all steps together. A kernel with several exchanges per step has a site for each.

struct Ids {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
}

var<workgroup> ends: array<vec2<u32>, 2u * SITES * LINES * LANES>;
var<workgroup> smallest: array<atomic<u32>, 3u * SITES * LINES>;
var<workgroup> smallest_3: array<array<atomic<u32>, 3>, 3u * LINES>;

fn lane_position(ids: Ids) -> LanePosition {
    return LanePosition(ids.index / LANES, ids.index % LANES);
}

fn start_exchange(position: LanePosition) {
    if position.lane == 0u {
        for (var i = 0u; i < 3u * SITES; i++) {
            atomicStore(&smallest[i * LINES + position.line], NO_CANDIDATE);
        }
        for (var i = 0u; i < 3u; i++) {
            for (var k = 0u; k < 3u; k++) {
                atomicStore(&smallest_3[i * LINES + position.line][k], NO_CANDIDATE);
            }
        }
    }
    workgroupBarrier();
}

// Three slots rotate: one is in use, and the next turn's, last read two barriers ago, is cleared.
fn exchange(position: LanePosition, site: u32, turn: u32, first: u32, last: u32, minimum: u32, missing: u32) -> Neighbours {
    let slot = (3u * site + turn % 3u) * LINES + position.line;
    let next_slot = (3u * site + (turn + 1u) % 3u) * LINES + position.line;
    let side = ((2u * site + (turn & 1u)) * LINES + position.line) * LANES;
    atomicMin(&smallest[slot], minimum);
    ends[side + position.lane] = vec2<u32>(first, last);
    if position.lane == 0u {
        atomicStore(&smallest[next_slot], NO_CANDIDATE);
    }
    workgroupBarrier();
    let below = ends[side + max(position.lane, 1u) - 1u].y;
    let above = ends[side + min(position.lane + 1u, LANES - 1u)].x;
    return Neighbours(
        select(below, missing, position.lane == 0u),
        select(above, missing, position.lane + 1u == LANES),
        atomicLoad(&smallest[slot]),
    );
}

fn min_of_line_3(position: LanePosition, turn: u32, own: vec3<u32>) -> vec3<u32> {
    let slot = (turn % 3u) * LINES + position.line;
    let next_slot = ((turn + 1u) % 3u) * LINES + position.line;
    for (var k = 0u; k < 3u; k++) {
        atomicMin(&smallest_3[slot][k], own[k]);
        if position.lane == 0u {
            atomicStore(&smallest_3[next_slot][k], NO_CANDIDATE);
        }
    }
    workgroupBarrier();
    return vec3<u32>(
        atomicLoad(&smallest_3[slot][0]),
        atomicLoad(&smallest_3[slot][1]),
        atomicLoad(&smallest_3[slot][2]),
    );
}
