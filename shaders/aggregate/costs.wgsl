// Matching costs of a lane's words of a pixel: from the volume, or from the codes of both images.

#if COSTS == codes
#include aggregate/costs_from_codes
#else
#for slab in 0..SLABS
@group(0) @binding(#) var<storage, read> costs_#{slab}: array<Costs>;
#end

fn load_costs(place: Place) -> Costs {
#if SLABS == 1
    return costs_0[place.at];
#else
    switch place.slab {
#for slab in 0..SLABS - 1
        case #{slab}u: { return costs_#{slab}[place.at]; }
#end
        default: { return costs_#{SLABS - 1}[place.at]; }
    }
#end
}
#end
