// Lanes that share a pixel lie in one subgroup and exchange values by shuffles. All lanes of a workgroup take all steps together, and
// meet again behind a branch that only some of them take: WGSL and SPIR-V guarantee that if the whole workgroup comes to the branch,
// but not if only a subgroup does. So an exchange may stand only where a barrier may stand, as in exchange_workgroup.wgsl.

struct Ids {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) invocation: u32,
}

fn lane_position(ids: Ids) -> LanePosition {
    let index = ids.subgroup * ids.subgroup_size + ids.invocation;
    return LanePosition(index / LANES, index % LANES);
}

fn start_exchange(position: LanePosition) {}

// `site` and `turn` are for exchange_workgroup.wgsl. `missing` is the value below the first and above the last lane.
fn exchange(position: LanePosition, site: u32, turn: u32, first: u32, last: u32, minimum: u32, missing: u32) -> Neighbours {
    let below = subgroupShuffleUp(last, 1u);
    let above = subgroupShuffleDown(first, 1u);
    return Neighbours(
        select(below, missing, position.lane == 0u),
        select(above, missing, position.lane + 1u == LANES),
        min_of_line(minimum),
    );
}

fn min_of_line(own: u32) -> u32 {
    var minimum = own;
#for bit in 0..LANE_BITS
    minimum = min(minimum, subgroupShuffleXor(minimum, 1u << #{bit}u));
#end
    return minimum;
}

fn min_of_line_3(position: LanePosition, turn: u32, own: vec3<u32>) -> vec3<u32> {
    var minima = vec3<u32>(min_of_line(own.x), min_of_line(own.y), own.z);
    if RIVALS {
        minima.z = min_of_line(own.z);
    }
    return minima;
}
