// Lanes that share a pixel lie in one subgroup and talk by shuffles. All lanes of a workgroup take all steps together.

struct Ids {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) invocation: u32,
}

fn place_of(ids: Ids) -> Place {
    let index = ids.subgroup * ids.subgroup_size + ids.invocation;
    return Place(index / LANES, index % LANES);
}

fn start_exchange(place: Place) {}

fn least_of_line(own: u32) -> u32 {
    var least = own;
    for (var distance = 1u; distance < LANES; distance *= 2u) {
        least = min(least, subgroupShuffleXor(least, distance));
    }
    return least;
}

// `turn` and `site` serve the other way to talk. `nothing` lies below the first and above the last lane.
fn exchange(place: Place, site: u32, turn: u32, first: u32, last: u32, least: u32, nothing: u32) -> Neighbours {
    let below = subgroupShuffleUp(last, 1u);
    let above = subgroupShuffleDown(first, 1u);
    return Neighbours(
        select(below, nothing, place.lane == 0u),
        select(above, nothing, place.lane + 1u == LANES),
        least_of_line(least),
    );
}

fn least_of_line_3(place: Place, turn: u32, own: vec3<u32>) -> vec3<u32> {
    return vec3<u32>(least_of_line(own.x), least_of_line(own.y), least_of_line(own.z));
}
