// From the map of a coarser level to the gates of the next finer one: around each coarser pixel the 16th percentile of the disparities in
// 51 x 51 px from either end, as candidates of the finer level. `params` are those of the finer level.
//
// A workgroup walks down 64 rows of one column with the histogram of its window. With each step a row of 51 px enters and one leaves, and
// the histogram changes only where these differ. Each lane owns a share of the bins; a scan of their sums finds the shares with the
// percentiles, and only the lanes of these read single bins. For each coarser pixel: 143 words of the map, a fourth of them for the first
// window, at most 143 atomic additions, and 64 lanes with up to 9 bins and 6 steps of the scan each; nothing is sorted.

#include common
#include gating/bounds

@group(0) @binding(1) var<uniform> coarse: Params;
@group(0) @binding(2) var<uniform> dispatch: DispatchParams; // of the columns
@group(0) @binding(3) var<storage, read> map: array<u32>; // of the coarser level, in whole pixels
@group(0) @binding(4) var<storage, read_write> gates: array<u32>; // row after row: first candidate, last one << 16

const RADIUS: i32 = 25; // of the window
const MARGIN_PX: i32 = 20;
const STRIP: i32 = 64;
const LANES: u32 = 64u;
const NONE: u32 = 0xffffffffu;

var<workgroup> histogram: array<atomic<u32>, 576>; // of up to 513 disparities, in whole shares
var<workgroup> sums: array<u32, 128>; // before and after a step of the scan, in turns
var<workgroup> found: array<i32, 2>; // low and high, px

// Bin of the disparity of a coarser pixel; NONE outside and where there is none.
fn bin_at(x: i32, y: i32) -> u32 {
    if x < 0 || y < 0 || x >= i32(coarse.width) || y >= i32(coarse.height) {
        return NONE;
    }
    let value = map_value(map[u32(y) * coarse.pitch + u32(x)]);
    return select(u32(value / SUBPIXEL_STEPS - coarse.min_disparity), NONE, value == INVALID);
}

fn replace(leaving: u32, entering: u32) {
    if leaving == entering {
        return;
    }
    if leaving != NONE {
        atomicSub(&histogram[leaving], 1u);
    }
    if entering != NONE {
        atomicAdd(&histogram[entering], 1u);
    }
}

// Sum of `own` over this lane and those before it; after a barrier the last word of the first half is that of all.
fn scan(lane: u32, own: u32) -> u32 {
    var sum = own;
    var half = 0u;
    sums[lane] = sum;
    for (var distance = 1u; distance < LANES; distance *= 2u) {
        workgroupBarrier();
        if lane >= distance {
            sum += sums[half + lane - distance];
        }
        half = LANES - half;
        sums[half + lane] = sum;
    }
    return sum;
}

// Disparity at a position of the sorted ones, counted from the first bin of a share.
fn disparity_at(place: u32, first_bin: u32) -> i32 {
    var bin = first_bin;
    var left_over = place;
    loop {
        let count = atomicLoad(&histogram[bin]);
        if left_over < count {
            return coarse.min_disparity + i32(bin);
        }
        left_over -= count;
        bin++;
    }
    return 0;
}

@compute @workgroup_size(64)
fn percentiles(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let share = (coarse.candidates + LANES - 1u) / LANES;
    let first_bin = lane * share;
    for (var i = 0u; i < share; i++) {
        atomicStore(&histogram[first_bin + i], 0u);
    }
    workgroupBarrier();
    // A lane follows one column of the window; those beyond the window find nothing.
    let x = dispatch.first + group.x;
    let column = select(-1, i32(x) - RADIUS + i32(lane), i32(lane) <= 2 * RADIUS);
    let top = i32(group.y) * STRIP;
    for (var y = top - RADIUS; y <= top + RADIUS; y++) {
        replace(NONE, bin_at(column, y));
    }
    for (var y = top; y < min(top + STRIP, i32(coarse.height)); y++) {
        let entering = bin_at(column, y + RADIUS + 1); // early: they are on their way during the scan
        let leaving = bin_at(column, y - RADIUS);
        workgroupBarrier();
        var own = 0u;
        for (var i = 0u; i < share; i++) {
            own += atomicLoad(&histogram[first_bin + i]);
        }
        let end = scan(lane, own);
        workgroupBarrier();
        let count = sums[LANES - 1u];
        let skip = count * 16u / 100u;
        let begin = end - own;
        if begin <= skip && skip < end {
            found[0] = disparity_at(skip - begin, first_bin);
        }
        let from_end = count - 1u - skip; // without any disparity no share has it
        if begin <= from_end && from_end < end {
            found[1] = disparity_at(from_end - begin, first_bin);
        }
        workgroupBarrier();
        if lane == 0u {
            let found_gate = gate(found[0], found[1], MARGIN_PX);
            gates[u32(y) * coarse.width + x] = select(found_gate, whole_gate(), count == 0u);
        }
        replace(leaving, entering);
    }
}
