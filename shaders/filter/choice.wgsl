// The learned choice between the disparities around a pixel (crates/stereo/src/filter/choice/).

#include common

override COLORED: u32; // 1 if the guides have colours, 0 for luma in full depth
override REMEMBERS: u32; // 1 if `last` is the finished map of the pair before, where there was one
override FIRST_SHIFT: u32; // of the sums of the first hidden layer
override SECOND_SHIFT: u32; // of the second one
override LAST_SHIFT: u32; // and of the scores that give chances

// of the left and the right image
@group(0) @binding(1) var left_guide: texture_2d<u32>;
@group(0) @binding(2) var right_guide: texture_2d<u32>;
@group(0) @binding(3) var left_luma: texture_2d<u32>;
@group(0) @binding(4) var right_luma: texture_2d<u32>;
@group(0) @binding(5) var<storage, read> before: array<u32>;
@group(0) @binding(6) var<storage, read_write> after: array<u32>;
// map as the right camera sees it
@group(0) @binding(7) var<storage, read_write> warped: array<atomic<i32>>;
@group(0) @binding(8) var<storage, read> net: array<i32>;
@group(0) @binding(9) var<storage, read> last: array<u32>;
// growth of disparities from column to column, and from row to row in the upper bits
@group(0) @binding(10) var<storage, read_write> slopes: array<u32>;

const SURE_RADIUS: i32 = 2;
const STEP: i32 = 16;
const REACH: i32 = 48;
const LIKE: u32 = 14u;
const SPAN: i32 = 4;
const CHANGES: i32 = 6; // of every third pixel within so many
const MIN_CHANGES: i32 = 4;
const MAX_CHANGE: i32 = 64;
const MAX_BEND: i32 = 12;
const SLOPE_BITS: u32 = 6u;
const EVIDENCE: u32 = 36u;
const FIRST: u32 = 32u;
const SECOND: u32 = 16u;
const MAX_HIDDEN: i32 = 4095;
const MAX_DIFFERENCE: i32 = 384;
const MAX_COLOR_DIFFERENCE: i32 = 40;
const MAX_STEP: i32 = 64;
const MAX_RANGE: i32 = 128;
const UNIT: u32 = 256u; // of scores, before LAST_SHIFT
const MAX_SCORE: i32 = 1536;
const CHANCE_BITS: u32 = 4u;

var<private> candidates: array<Candidate, 10>;
var<private> count: u32;
var<private> own_color: vec4<i32>;

struct Candidate {
    value: i32,
    slope: vec2<i32>,
    distance: i32, // at which it was found first
    votes: i32, // directions in which it was found
}

struct Support {
    like: i32,
    trusted: i32,
    most: i32,
    supporters: array<i32, 10>,
    clearness: array<i32, 10>, // of those, summed
}

fn size() -> vec2<i32> {
    return vec2<i32>(i32(params.width), i32(params.height));
}

fn is_in_picture(pixel: vec2<i32>) -> bool {
    return all(pixel >= vec2<i32>(0)) && all(pixel < size());
}

fn eight_bits(texel: vec4<u32>, shift: u32) -> i32 {
    return i32(min(texel.x >> shift, 255u));
}

fn channels(color: u32) -> vec4<i32> {
    return vec4<i32>((vec4<u32>(color) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u));
}

// Three channels of colour, or one of brightness.
fn left_guide_at(pixel: vec2<i32>) -> vec4<i32> {
    if COLORED == 1u {
        return channels(color_at(left_guide, pixel));
    }
    return vec4<i32>(eight_bits(textureLoad(left_guide, pixel, 0), params.left_shift), 0, 0, 0);
}

fn right_guide_at(pixel: vec2<i32>) -> vec4<i32> {
    if COLORED == 1u {
        return channels(color_at(right_guide, pixel));
    }
    return vec4<i32>(eight_bits(textureLoad(right_guide, pixel, 0), params.right_shift), 0, 0, 0);
}

fn left_luma_at(pixel: vec2<i32>) -> i32 {
    return eight_bits(textureLoad(left_luma, pixel, 0), params.left_shift);
}

fn right_luma_at(pixel: vec2<i32>) -> i32 {
    return eight_bits(textureLoad(right_luma, pixel, 0), params.right_shift);
}

fn largest_channel(difference: vec4<i32>) -> i32 {
    let apart = abs(difference);
    return max(max(apart.x, apart.y), apart.z);
}

fn is_like(pixel: vec2<i32>) -> bool {
    return largest_channel(left_guide_at(pixel) - own_color) <= i32(LIKE);
}

fn word_at(pixel: vec2<i32>) -> u32 {
    return before[map_index(u32(pixel.x), u32(pixel.y))];
}

fn trusted(word: u32) -> i32 {
    return select(map_value(word), INVALID, (map_reasons(word) & FILLED) != 0u);
}

// Clearness with which a measured disparity won.
fn clearness_of(word: u32) -> i32 {
    return select(0, i32(word >> 24u), map_reasons(word) == 0u);
}

// Column of the partner at a disparity, rounded.
fn partner_of(x: i32, value: i32) -> i32 {
    return x - rounded_px(value);
}

@compute @workgroup_size(32, 8)
fn clear(@builtin(global_invocation_id) id: vec3<u32>) {
    if inside(id) {
        atomicStore(&warped[map_index(id.x, id.y)], INVALID);
    }
}

@compute @workgroup_size(32, 8)
fn warp(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let value = map_value(before[map_index(id.x, id.y)]);
    let to = partner_of(i32(id.x), value);
    if value != INVALID && is_column(to) {
        atomicMax(&warped[map_index(u32(to), id.y)], value);
    }
}

// Disparity of which slopes are taken: none that was filled along its row.
fn slanted(pixel: vec2<i32>) -> i32 {
    if !is_in_picture(pixel) {
        return INVALID;
    }
    let word = word_at(pixel);
    return select(map_value(word), INVALID, (map_reasons(word) & ON_PLANE) == FILLED);
}

// Change across a pixel and a count of 1, or nothing where there is none or an edge.
fn change(pixel: vec2<i32>, here: i32, span: vec2<i32>) -> vec2<i32> {
    let first = slanted(pixel - span);
    let second = slanted(pixel + span);
    let is_there = first != INVALID && here != INVALID && second != INVALID;
    let is_even = abs(first + second - 2 * here) <= MAX_BEND && abs(second - first) <= MAX_CHANGE;
    return select(vec2<i32>(0), vec2<i32>(second - first, 1), is_there && is_even);
}

// Slope from the sum of changes and their number.
fn slope_of(changes: vec2<i32>) -> u32 {
    let slope = (changes.x << SLOPE_BITS) / (2 * SPAN * max(changes.y, 1));
    return u32(select(0, slope, changes.y >= MIN_CHANGES)) & 0xffffu;
}

@compute @workgroup_size(32, 8)
fn slant(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    var across = vec2<i32>(0);
    var down = vec2<i32>(0);
    for (var dy = -CHANGES; dy <= CHANGES; dy += 3) {
        for (var dx = -CHANGES; dx <= CHANGES; dx += 3) {
            let place = vec2<i32>(id.xy) + vec2<i32>(dx, dy);
            let here = slanted(place);
            across += change(place, here, vec2<i32>(SPAN, 0));
            down += change(place, here, vec2<i32>(0, SPAN));
        }
    }
    slopes[map_index(id.x, id.y)] = slope_of(across) | (slope_of(down) << 16u);
}

fn slope_at(pixel: vec2<i32>) -> vec2<i32> {
    let slope = i32(slopes[map_index(u32(pixel.x), u32(pixel.y))]);
    return vec2<i32>(slope << 16u, slope) >> vec2<u32>(16u);
}

// Growth of a disparity over this number of columns and rows.
fn ahead(slope: vec2<i32>, by: vec2<i32>) -> i32 {
    return (slope.x * by.x + slope.y * by.y + (1 << (SLOPE_BITS - 1u))) >> SLOPE_BITS;
}

fn is_sure(pixel: vec2<i32>, own: i32) -> bool {
    for (var dy = -SURE_RADIUS; dy <= SURE_RADIUS; dy++) {
        for (var dx = -SURE_RADIUS; dx <= SURE_RADIUS; dx++) {
            let other = pixel + vec2<i32>(dx, dy);
            if is_in_picture(other) {
                let value = trusted(word_at(other));
                if value == INVALID || abs(value - own) >= STEP {
                    return false;
                }
            }
        }
    }
    return true;
}

fn add_candidate(candidate: Candidate) {
    for (var n = 0u; n < count; n++) {
        if abs(candidates[n].value - candidate.value) < STEP {
            candidates[n].votes++;
            return;
        }
    }
    candidates[count] = candidate;
    count++;
}

fn find_candidates(pixel: vec2<i32>, own: Candidate) {
    var directions = array<vec2<i32>, 8>(
        vec2<i32>(-1, 0), vec2<i32>(1, 0), vec2<i32>(0, -1), vec2<i32>(0, 1),
        vec2<i32>(-1, -1), vec2<i32>(1, -1), vec2<i32>(-1, 1), vec2<i32>(1, 1),
    );
    let range = SUBPIXEL_STEPS * (params.min_disparity + vec2<i32>(0, i32(params.candidates) - 1));
    for (var direction = 0u; direction < 8u; direction++) {
        for (var k = 1; k <= REACH; k++) {
            let way = k * directions[direction];
            let other = pixel + way;
            if !is_in_picture(other) {
                break;
            }
            let value = trusted(word_at(other));
            let is_other = value != INVALID && abs(value - own.value - ahead(own.slope, way)) >= STEP;
            if is_other && is_like(other) {
                let slope = slope_at(other);
                add_candidate(Candidate(clamp(value + ahead(slope, -way), range.x, range.y), slope, k, 1));
                break;
            }
        }
    }
    let familiar = last_value(pixel);
    if familiar != INVALID {
        add_candidate(Candidate(familiar, own.slope, 0, 1));
    }
}

// Disparity in the map of the pair before.
fn last_value(pixel: vec2<i32>) -> i32 {
    if REMEMBERS == 0u || params.has_past == 0u {
        return INVALID;
    }
    return map_value(last[map_index(u32(pixel.x), u32(pixel.y))]);
}

fn support(pixel: vec2<i32>, radius: i32, stride: i32) -> Support {
    var found: Support;
    for (var dy = -radius; dy <= radius; dy += stride) {
        for (var dx = -radius; dx <= radius; dx += stride) {
            let other = pixel + vec2<i32>(dx, dy);
            if is_in_picture(other) && is_like(other) {
                let word = word_at(other);
                let value = trusted(word);
                found.like += 1;
                found.trusted += i32(value != INVALID);
                for (var n = 0u; n < count; n++) {
                    let here = candidates[n].value + ahead(candidates[n].slope, vec2<i32>(dx, dy));
                    let is_supporter = i32(abs(value - here) <= STEP);
                    found.supporters[n] += is_supporter;
                    found.clearness[n] += is_supporter * clearness_of(word);
                }
            }
        }
    }
    for (var n = 0u; n < count; n++) {
        found.most = max(found.most, found.supporters[n]);
    }
    return found;
}

// Mean difference of brightness between a window and its partner, each beside its mean, 1/16 level.
fn difference(pixel: vec2<i32>, candidate: i32, radius: i32, needs_like: bool) -> i32 {
    var differences: array<i32, 49>;
    var number = 0;
    var sum = 0;
    let last = i32(params.width) - 1;
    for (var dy = -radius; dy <= radius; dy++) {
        for (var dx = -radius; dx <= radius; dx++) {
            let place = pixel + vec2<i32>(dx, dy);
            let at = 16 * place.x - candidate;
            if is_in_picture(place) && at >= 0 && at <= 16 * last && (!needs_like || is_like(place)) {
                let part = at & 15;
                let first = right_luma_at(vec2<i32>(at >> 4u, place.y));
                let second = right_luma_at(vec2<i32>(min((at >> 4u) + 1, last), place.y));
                let here = 16 * left_luma_at(place) - (16 - part) * first - part * second;
                differences[number] = here;
                sum += here;
                number++;
            }
        }
    }
    if number == 0 {
        return MAX_DIFFERENCE;
    }
    let mean = (sum + 8192 * number) / number - 8192; // rounded down, also below 0
    var total = 0;
    for (var n = 0; n < number; n++) {
        total += min(abs(differences[n] - mean), MAX_DIFFERENCE);
    }
    return total / number;
}

fn color_difference(pixel: vec2<i32>, candidate: i32) -> i32 {
    let to = partner_of(pixel.x, candidate);
    if !is_column(to) {
        return MAX_COLOR_DIFFERENCE;
    }
    let apart = largest_channel(own_color - right_guide_at(vec2<i32>(to, pixel.y)));
    return min(apart, MAX_COLOR_DIFFERENCE);
}

fn texture_at(pixel: vec2<i32>) -> vec2<i32> {
    let last = size() - 1;
    let left = left_luma_at(vec2<i32>(max(pixel.x - 1, 0), pixel.y));
    let right = left_luma_at(vec2<i32>(min(pixel.x + 1, last.x), pixel.y));
    var sum = 0;
    var number = 0;
    for (var y = max(pixel.y - 3, 0); y <= min(pixel.y + 3, last.y); y++) {
        for (var x = max(pixel.x - 3, 0); x < min(pixel.x + 3, last.x); x++) {
            sum += abs(left_luma_at(vec2<i32>(x + 1, y)) - left_luma_at(vec2<i32>(x, y)));
            number++;
        }
    }
    return min(vec2<i32>(8 * abs(right - left), 16 * sum / max(number, 1)), vec2<i32>(255));
}

fn share(part: i32, whole: i32) -> i32 {
    return 255 * part / max(whole, 1);
}

fn score(evidence: ptr<function, array<i32, 36>>) -> i32 {
    let second_layer = FIRST * (1u + EVIDENCE);
    let last_layer = second_layer + SECOND * (1u + FIRST);
    var second: array<i32, 16>;
    for (var k = 0u; k < SECOND; k++) {
        second[k] = net[second_layer + k];
    }
    // one unit of the first layer at a time, so that none of them has to be kept
    for (var unit = 0u; unit < FIRST; unit++) {
        var first = net[unit];
        for (var i = 0u; i < EVIDENCE; i++) {
            first += (*evidence)[i] * net[FIRST * (1u + i) + unit];
        }
        let value = clamp(first >> FIRST_SHIFT, 0, MAX_HIDDEN);
        for (var k = 0u; k < SECOND; k++) {
            second[k] += value * net[second_layer + SECOND * (1u + unit) + k];
        }
    }
    var sum = net[last_layer];
    for (var k = 0u; k < SECOND; k++) {
        sum += clamp(second[k] >> SECOND_SHIFT, 0, MAX_HIDDEN) * net[last_layer + 1u + k];
    }
    return sum;
}

// Chance of a score, which lies behind the network's numbers.
fn chance(score: i32) -> u32 {
    let place = (clamp(score >> LAST_SHIFT, -MAX_SCORE, MAX_SCORE) + MAX_SCORE) >> CHANCE_BITS;
    let weights = FIRST * (1u + EVIDENCE) + SECOND * (1u + FIRST) + 1u + SECOND;
    return u32(net[weights + u32(place)]);
}

// Reasons of a pixel that loses its disparity; a filled one gets its own reason back.
fn dropped(reasons: u32) -> u32 {
    return select(reasons & ~(FILLED | HELD), UNIQUENESS, (reasons & (FILLED | HELD)) == 0u);
}

@compute @workgroup_size(32, 8)
fn choose(@builtin(global_invocation_id) id: vec3<u32>) {
    if !inside(id) {
        return;
    }
    let index = map_index(id.x, id.y);
    let pixel = vec2<i32>(id.xy);
    let word = before[index];
    let own = map_value(word);
    let reasons = map_reasons(word);
    let on_plane = (reasons & ON_PLANE) == ON_PLANE;
    let kept = select(word, word & ~(HELD << 16u), on_plane);
    let wants_chance = params.confidence == 2u;
    after[index] = select(kept, kept & 0xffffffu, wants_chance);
    if own == INVALID {
        return;
    }
    own_color = left_guide_at(pixel);
    candidates[0] = Candidate(own, slope_at(pixel), 0, 0);
    count = 1u;
    let sure = (reasons & FILLED) == 0u && is_sure(pixel, own);
    if !sure && !on_plane {
        find_candidates(pixel, candidates[0]);
    }
    let judged = wants_chance || (params.min_chance > 0u && !sure);
    if count == 1u && !judged {
        return;
    }

    var differences: array<vec3<i32>, 10>;
    var smallest = vec3<i32>(MAX_DIFFERENCE);
    var farthest = own;
    var nearest = own;
    // a small window with all pixels and a larger one with like pixels, through one call, because compilers inline the function
    for (var i = 0u; i < 2u * count; i++) {
        let window = i32(i & 1u);
        differences[i >> 1u][window] = difference(pixel, candidates[i >> 1u].value, 2 + window, window == 1);
    }
    for (var n = 0u; n < count; n++) {
        let candidate = candidates[n].value;
        differences[n].z = color_difference(pixel, candidate);
        smallest = min(smallest, differences[n]);
        farthest = min(farthest, candidate);
        nearest = max(nearest, candidate);
    }
    var near = support(pixel, 5, 1);
    var far = support(pixel, 24, 4);
    let texture = texture_at(pixel);

    var best = own;
    var best_score = 0;
    var most = 0;
    let familiar = last_value(pixel);
    for (var n = 0u; n < count; n++) {
        let candidate = candidates[n].value;
        let to = partner_of(pixel.x, candidate);
        let is_inside = is_column(to);
        var seen = INVALID;
        if is_inside {
            seen = atomicLoad(&warped[map_index(u32(to), id.y)]);
        }
        let behind = select(clamp(candidate - seen, -MAX_STEP, MAX_STEP), 0, seen == INVALID);
        var evidence: array<i32, 36>;
        evidence[0] = share(near.supporters[n], near.like);
        evidence[1] = share(near.supporters[n], near.trusted);
        evidence[2] = share(near.trusted, near.like);
        evidence[3] = share(near.like, 121);
        evidence[4] = share(near.most - near.supporters[n], near.like);
        evidence[5] = share(far.supporters[n], far.like);
        evidence[6] = share(far.supporters[n], far.trusted);
        evidence[7] = share(far.trusted, far.like);
        evidence[8] = share(far.like, 169);
        evidence[9] = share(far.most - far.supporters[n], far.like);
        evidence[10] = differences[n].x;
        evidence[11] = differences[n].y;
        evidence[12] = 4 * differences[n].z;
        evidence[13] = differences[n].x - smallest.x;
        evidence[14] = differences[n].y - smallest.y;
        evidence[15] = 4 * (differences[n].z - smallest.z);
        evidence[16] = min(abs(candidate - own), MAX_STEP);
        evidence[17] = select(0, 255, (reasons & FILLED) != 0u);
        evidence[18] = select(255, 0, is_inside);
        evidence[19] = select(abs(behind), MAX_STEP, seen == INVALID);
        evidence[20] = behind;
        evidence[21] = select(0, 255, (reasons & LEFT_RIGHT) != 0u);
        evidence[22] = select(0, 255, (reasons & SPECKLE) != 0u);
        evidence[23] = texture.x;
        evidence[24] = texture.y;
        evidence[25] = min(candidate - farthest, MAX_RANGE);
        evidence[26] = min(nearest - candidate, MAX_RANGE);
        evidence[27] = 16 * i32(count);
        evidence[28] = clearness_of(word);
        evidence[29] = near.clearness[n] / max(near.supporters[n], 1);
        evidence[30] = far.clearness[n] / max(far.supporters[n], 1);
        evidence[31] = 24 * candidates[n].votes;
        evidence[32] = 4 * candidates[n].distance;
        evidence[33] = min(abs(candidates[n].slope.x), 255);
        evidence[34] = min(abs(candidates[n].slope.y), 255);
        evidence[35] = select(0, 255, on_plane);
        let candidate_score = score(&evidence);
        let is_familiar = familiar != INVALID && abs(familiar - candidate) < STEP;
        let weighed = candidate_score + select(0, i32(UNIT << LAST_SHIFT), is_familiar);
        if n == 0u || weighed > most {
            best = candidate;
            best_score = candidate_score;
            most = weighed;
        }
    }
    let likely = chance(best_score);
    if !sure && 100u * likely < 255u * params.min_chance {
        after[index] = map_word(INVALID, dropped(reasons));
        return;
    }
    let chosen = with_value(kept, best);
    after[index] = select(chosen, (chosen & 0xffffffu) | (likely << 24u), wants_chance);
}
