// Region of a cross with adaptive weights, pixel after pixel: a lane visits the union of the crosses of its four candidates; a pixel
// outside a candidate's cross has weight 0 there.

#include common
#include local/volume

@group(0) @binding(#) var left: texture_2d<u32>;
@group(0) @binding(#) var right: texture_2d<u32>;
@group(0) @binding(#) var<storage, read> arms: array<u32>;
#include local/costs
#include local/store
#include local/weights

// Arms to the left and to the right that are as long as both images allow; -1 for both where the candidate does not have the row.
struct Span {
    left: vec4<i32>,
    right: vec4<i32>,
}

fn arms_of(picture: u32, x: u32, y: u32) -> u32 {
    return arms[(picture * params.height + y) * params.width + x];
}

fn arms_of_partners(columns: vec4<u32>, y: u32) -> vec4<u32> {
    return vec4<u32>(arms_of(1u, columns.x, y), arms_of(1u, columns.y, y), arms_of(1u, columns.z, y), arms_of(1u, columns.w, y));
}

fn shorter(own: u32, others: vec4<u32>, shift: u32) -> vec4<i32> {
    return vec4<i32>(min(vec4<u32>((own >> shift) & 0xffu), (others >> vec4<u32>(shift)) & vec4<u32>(0xffu)));
}

fn longest(lengths: vec4<i32>) -> i32 {
    return max(max(lengths.x, lengths.y), max(lengths.z, lengths.w));
}

fn span_of(x: u32, columns: vec4<u32>, y: u32, is_row: vec4<bool>) -> Span {
    let own = arms_of(0u, x, y);
    let others = arms_of_partners(columns, y);
    let none = vec4<i32>(-1);
    return Span(select(none, shorter(own, others, 0u), is_row), select(none, shorter(own, others, 8u), is_row));
}

fn brightness_of_partners(columns: vec4<u32>, dx: i32, y: i32) -> vec4<u32> {
    let at = vec4<i32>(columns) + dx;
    return vec4<u32>(
        luma8(right, params.right_shift, at.x, y),
        luma8(right, params.right_shift, at.y, y),
        luma8(right, params.right_shift, at.z, y),
        luma8(right, params.right_shift, at.w, y),
    );
}

@compute @workgroup_size(64)
fn aggregate(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    load_weights(index, 64u);
    workgroupBarrier();
    if id.x >= params.width * params.words {
        return;
    }
    let x = id.x / params.words;
    let y = dispatch.first + id.y;
    let word = id.x % params.words;
    let columns = partners(x, word);
    let own = luma8(left, params.left_shift, i32(x), i32(y));
    let others = brightness_of_partners(columns, 0, i32(y));
    let up = shorter(arms_of(0u, x, y), arms_of_partners(columns, y), 16u);
    let down = shorter(arms_of(0u, x, y), arms_of_partners(columns, y), 24u);
    var sums = vec4<u32>(0u);
    var all_weights = vec4<u32>(0u);
    for (var dy = -longest(up); dy <= longest(down); dy++) {
        let row = i32(y) + dy;
        let span = span_of(x, columns, u32(row), (vec4<i32>(dy) >= -up) & (vec4<i32>(dy) <= down));
        for (var dx = -longest(span.left); dx <= longest(span.right); dx++) {
            let of_place = weight_of_place(dx, dy);
            let ours = weight(own, luma8(left, params.left_shift, i32(x) + dx, row), of_place);
            let there = brightness_of_partners(columns, dx, row);
            let theirs = vec4<u32>(
                weight(others.x, there.x, of_place),
                weight(others.y, there.y, of_place),
                weight(others.z, there.z, of_place),
                weight(others.w, there.w, of_place),
            );
            let is_in = (vec4<i32>(dx) >= -span.left) & (vec4<i32>(dx) <= span.right);
            let both = select(vec4<u32>(0u), (ours * theirs) >> vec4<u32>(8u), is_in);
            sums += both * costs_of(load_cost(u32(i32(x) + dx), u32(row), word));
            all_weights += both;
        }
    }
    store(x, y, word, 16u * sums / all_weights);
}
