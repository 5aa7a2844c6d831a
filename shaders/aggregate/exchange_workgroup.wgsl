// Lanes that share a pixel talk through workgroup memory that is used in turns, so that one barrier each time is enough.
// All lanes of a workgroup take all steps together. A kernel that talks more than once a step has a site for each.

struct Ids {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
}

var<workgroup> ends: array<vec2<u32>, 2u * SITES * LINES * LANES>;
var<workgroup> smallest: array<atomic<u32>, 3u * SITES * LINES>;
var<workgroup> smallest_3: array<array<atomic<u32>, 3>, 3u * LINES>;

fn place_of(ids: Ids) -> Place {
    return Place(ids.index / LANES, ids.index % LANES);
}

fn start_exchange(place: Place) {
    if place.lane == 0u {
        for (var i = 0u; i < 3u * SITES; i++) {
            atomicStore(&smallest[i * LINES + place.line], NOTHING);
        }
        for (var i = 0u; i < 3u; i++) {
            for (var k = 0u; k < 3u; k++) {
                atomicStore(&smallest_3[i * LINES + place.line][k], NOTHING);
            }
        }
    }
    workgroupBarrier();
}

// Slots of three turns: the one in use now, and the one of the next turn, last read two barriers ago, which is emptied.
fn exchange(place: Place, site: u32, turn: u32, first: u32, last: u32, least: u32, nothing: u32) -> Neighbours {
    let slot = (3u * site + turn % 3u) * LINES + place.line;
    let next_slot = (3u * site + (turn + 1u) % 3u) * LINES + place.line;
    let side = ((2u * site + (turn & 1u)) * LINES + place.line) * LANES;
    atomicMin(&smallest[slot], least);
    ends[side + place.lane] = vec2<u32>(first, last);
    if place.lane == 0u {
        atomicStore(&smallest[next_slot], NOTHING);
    }
    workgroupBarrier();
    let below = ends[side + max(place.lane, 1u) - 1u].y;
    let above = ends[side + min(place.lane + 1u, LANES - 1u)].x;
    return Neighbours(
        select(below, nothing, place.lane == 0u),
        select(above, nothing, place.lane + 1u == LANES),
        atomicLoad(&smallest[slot]),
    );
}

fn least_of_line_3(place: Place, turn: u32, own: vec3<u32>) -> vec3<u32> {
    let slot = (turn % 3u) * LINES + place.line;
    let next_slot = ((turn + 1u) % 3u) * LINES + place.line;
    for (var k = 0u; k < 3u; k++) {
        atomicMin(&smallest_3[slot][k], own[k]);
        if place.lane == 0u {
            atomicStore(&smallest_3[next_slot][k], NOTHING);
        }
    }
    workgroupBarrier();
    return vec3<u32>(
        atomicLoad(&smallest_3[slot][0]),
        atomicLoad(&smallest_3[slot][1]),
        atomicLoad(&smallest_3[slot][2]),
    );
}
