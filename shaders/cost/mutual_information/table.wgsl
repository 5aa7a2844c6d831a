// From counts to costs, in whole numbers. `lines` sums rows and columns, `terms` turns the sums into the entropy terms of each level,
// `joint_logs` takes the logarithms of the smoothed counts, `negatives` smooths these and adds the terms, and `scale` maps the result to
// 0 ... 127. Smoothing in both directions at once, 25 numbers for each, gives the same whole numbers as one direction after the other.
// The table has 65536 numbers for images of any size.

#include common

@group(0) @binding(1) var<storage, read> log_table: array<u32>; // 65536 log2(1 + i / 2^11)
@group(0) @binding(2) var<storage, read_write> counts: array<u32, 65536>; // [left * 256 + right]; later the negatives
@group(0) @binding(3) var<storage, read_write> logs: array<u32, 65536>;
@group(0) @binding(4) var<storage, read_write> lines_and_terms: array<u32, 512>; // of 256 left levels, then of right ones
@group(0) @binding(5) var<storage, read_write> extremes: array<atomic<i32>, 4>; // the smallest and the largest negative
@group(0) @binding(6) var<storage, read_write> table: array<u32, 16384>; // four costs in each word

const LEVELS: i32 = 256;
const LOG_TABLE_BITS: u32 = 11u;

var<workgroup> shared_numbers: array<u32, 256>;
var<workgroup> group_smallest: atomic<i32>;
var<workgroup> group_largest: atomic<i32>;

// 65536 log2(v); 0 for 0.
fn log2_q16(v: u32) -> u32 {
    if v == 0u {
        return 0u;
    }
    let leading = countLeadingZeros(v);
    let mantissa = ((v << leading) << 1u) >> (32u - LOG_TABLE_BITS);
    return ((31u - leading) << 16u) + log_table[mantissa];
}

fn weight(k: i32) -> u32 {
    return select(select(1u, 4u, abs(k) == 1), 6u, k == 0);
}

fn level(i: i32) -> u32 {
    return u32(clamp(i, 0, LEVELS - 1));
}

// Sums a row, or a column after the rows, in each workgroup.
@compute @workgroup_size(256)
fn lines(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let line = group.x & 255u;
    shared_numbers[lane] = counts[select(line * 256u + lane, lane * 256u + line, group.x >= 256u)];
    for (var half = 128u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if lane < half {
            shared_numbers[lane] += shared_numbers[lane + half];
        }
    }
    if lane == 0u {
        lines_and_terms[group.x] = shared_numbers[0];
        if group.x == 0u {
            atomicStore(&extremes[0], 0x7fffffff);
            atomicStore(&extremes[1], -0x7fffffff);
        }
    }
}

fn smoothed_line(lane: i32) -> u32 {
    var sum = 0u;
    for (var k = -2; k <= 2; k++) {
        sum += weight(k) * shared_numbers[level(lane + k)];
    }
    return sum;
}

// One workgroup computes the left levels and one the right ones.
@compute @workgroup_size(256)
fn terms(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = group.x * 256u + lane;
    shared_numbers[lane] = lines_and_terms[at];
    workgroupBarrier();
    let log = log2_q16(smoothed_line(i32(lane)));
    workgroupBarrier();
    shared_numbers[lane] = log;
    workgroupBarrier();
    lines_and_terms[at] = smoothed_line(i32(lane));
}

@compute @workgroup_size(16, 16)
fn joint_logs(@builtin(global_invocation_id) id: vec3<u32>) {
    let here = vec2<i32>(id.xy);
    var sum = 0u;
    for (var j = -2; j <= 2; j++) {
        for (var k = -2; k <= 2; k++) {
            sum += weight(j) * weight(k) * counts[level(here.y + j) * 256u + level(here.x + k)];
        }
    }
    logs[id.y * 256u + id.x] = log2_q16(sum);
}

@compute @workgroup_size(16, 16)
fn negatives(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        atomicStore(&group_smallest, 0x7fffffff);
        atomicStore(&group_largest, -0x7fffffff);
    }
    let here = vec2<i32>(id.xy);
    var joint = 0u;
    for (var j = -2; j <= 2; j++) {
        for (var k = -2; k <= 2; k++) {
            joint += weight(j) * weight(k) * logs[level(here.y + j) * 256u + level(here.x + k)];
        }
    }
    // each term is below 2^29
    let negative = i32(16u * lines_and_terms[id.y] + 16u * lines_and_terms[256u + id.x]) - i32(joint);
    counts[id.y * 256u + id.x] = u32(negative);
    workgroupBarrier();
    atomicMin(&group_smallest, negative);
    atomicMax(&group_largest, negative);
    workgroupBarrier();
    if lane == 0u {
        atomicMin(&extremes[0], atomicLoad(&group_smallest));
        atomicMax(&extremes[1], atomicLoad(&group_largest));
    }
}

@compute @workgroup_size(64)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    let smallest = atomicLoad(&extremes[0]);
    // drops the lowest bits, so that 127 times the rest stays within 32
    let range = max(u32(atomicLoad(&extremes[1]) - smallest) >> 8u, 1u);
    var word = 0u;
    for (var k = 0u; k < 4u; k++) {
        let above = u32(i32(counts[4u * id.x + k]) - smallest) >> 8u;
        word |= (above * 127u / range) << (8u * k);
    }
    table[id.x] = word;
}
