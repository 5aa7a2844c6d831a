// Temporal filter: a running mean over the pairs, and holes that keep earlier disparities (crates/stereo/src/filter/temporal.rs).
//
// The state of a pixel is a word: low 16 bits the mean, next 8 bits the pairs of the last eight in which it was measured.

#include common

@group(0) @binding(1) var<storage, read_write> map: array<u32>;
@group(0) @binding(2) var<storage, read_write> smoothed: array<u32>;

@compute @workgroup_size(8, 8)
fn smooth_over_time(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let index = map_index(id.x, id.y);
    let word = map[index];
    let value = map_value(word);
    var mean = INVALID;
    var seen = 0u;
    if params.has_past == 1u {
        mean = map_value(smoothed[index]);
        seen = map_reasons(smoothed[index]);
    }
    let seen_before = (seen << 1u) & 0xffu;
    if value == INVALID {
        let recent = seen & ((1u << params.persistence_pairs) - 1u);
        if mean != INVALID && countOneBits(recent) >= params.persistence_times {
            map[index] = with_value(word, mean) | (HELD << 16u);
        }
        smoothed[index] = map_word(mean, seen_before);
        return;
    }
    let goes_on = mean != INVALID && abs(value - mean) <= i32(params.temporal_delta);
    if goes_on {
        mean = blend(mean, value, params.temporal_alpha);
    } else {
        mean = value;
    }
    map[index] = with_value(word, mean);
    smoothed[index] = map_word(mean, select(1u, seen_before | 1u, goes_on));
}
