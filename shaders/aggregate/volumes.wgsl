// Volumes of path costs of one slab: a lane's words of a pixel in all of them, with the winner's other words, and their sum.

#for volume in 0..VOLUMES
@group(0) @binding(#) var<storage, read> path_#{volume}: array<Words>;
#end
#if EARLIER
@group(0) @binding(#) var<storage, read> earlier: array<Words>;
#end

struct Loaded {
#for volume in 0..VOLUMES
#if WIDE
    even_#{volume}: Words,
    odd_#{volume}: Words,
#else
    bytes_#{volume}: Words,
#end
#end
#if HAS_COSTS
    costs: Words,
#end
#if EARLIER
    earlier_even: Words,
    earlier_odd: Words,
#end
}

#if HAS_COSTS
fn load_sums(place: Place) -> Loaded {
    let index = place.at;
#else
fn load_sums(index: u32) -> Loaded {
#end
    return Loaded(
#for volume in 0..VOLUMES
#if WIDE
        path_#{volume}[2u * index],
        path_#{volume}[2u * index + 1u],
#else
        path_#{volume}[index],
#end
#end
#if HAS_COSTS
        load_costs(place),
#end
#if EARLIER
        earlier[2u * index],
        earlier[2u * index + 1u],
#end
    );
}

// Of bytes b0 to b3 it adds up b0 and b2, and b1 + 256 b2 + 65536 b3; the odd ones remain once 256 b2 is subtracted: four operations for
// a word, and sums of up to 256 volumes fit.
fn with_volumes(start: Packed16, loaded: Loaded) -> Packed16 {
    var even = Words(0u);
    var odd = Words(0u);
#for volume in 0..VOLUMES
#if WIDE
    even += loaded.even_#{volume};
    odd += loaded.odd_#{volume};
#else
    even += loaded.bytes_#{volume} & Words(0x00ff00ffu);
    odd += loaded.bytes_#{volume} >> Words(8u);
#end
#end
#if WIDE == false
    odd -= (even >> Words(16u)) << Words(8u);
#end
    return Packed16(start.even + even, start.odd + odd);
}
