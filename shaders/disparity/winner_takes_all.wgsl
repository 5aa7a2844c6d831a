// Sums over all directions, and the winners of both images. Left: the smallest sum, ties to the smaller disparity; then border, match
// threshold, uniqueness and sub-pixel (crates/stereo/src/disparity). A group of lanes walks a piece of a row.
//
// Right: candidate i of column x lies on right pixel x - d(i), as candidate i + 1 of column x + 1 does. So the best match of each right
// pixel moves up by one candidate with each column. It is written when it leaves the range of candidates, or at the end of the piece.
// Several pieces can hold the same right pixel: the minimum stays.
//
// A key is a sum, shifted up by KEY_SHIFT bits, above its candidate, which decides ties.

#include common
#include aggregate/lane

const DROPS = #{DROPS};
const CHECKED = #{CHECKED};
const FUSED = #{FUSED};

@group(0) @binding(#) var left: texture_2d<u32>;
@group(0) @binding(#) var<storage, read_write> map: array<u32>;
@group(0) @binding(#) var<storage, read_write> right_keys: array<atomic<u32>>;
#include aggregate/gate
#if KEEPS_SUMS
@group(0) @binding(#) var<storage, read_write> kept: array<Words>;
#end

#include aggregate/exchange_#{EXCHANGE}
#include aggregate/step_32
#include aggregate/place
#if EXACT
#include disparity/exact_sums
#else
#include disparity/sums_of_paths
#end

const CANDIDATE_MASK: u32 = 0x3ffu; // candidates are below 1024

// L along the row at the last pixel, and its brightness, where that path is computed here.
struct RowPath {
    path: Path,
    brightness: i32,
}

fn existing(keys: Words, candidates: Words, gate: vec2<u32>) -> Words {
    if MASKED {
        return select(keys, Words(NO_CANDIDATE), is_outside(candidates, gate));
    }
    return keys;
}

// Keys of the candidates more than 1 px from the winner; NO_CANDIDATE for the others.
fn rivals_in(keys: Words, candidates: Words, before_winner: Words) -> Words {
    return select(keys, Words(NO_CANDIDATE), candidates - before_winner <= Words(2u));
}

fn min_rival(keys: Interleaved, candidates: Interleaved, winner: u32) -> u32 {
    let before_winner = Words(winner - 1u);
    let v0 = rivals_in(keys.v0, candidates.v0, before_winner);
    let v1 = rivals_in(keys.v1, candidates.v1, before_winner);
    let v2 = rivals_in(keys.v2, candidates.v2, before_winner);
    let v3 = rivals_in(keys.v3, candidates.v3, before_winner);
    return min_in(min(min(v0, v1), min(v2, v3)));
}

// Offset of the lowest point of a parabola (1) or of two lines (2), in sixteenths of a pixel.
fn refined(below: u32, best: u32, above: u32) -> i32 {
    let difference = i32(below) - i32(above);
    let parabola = i32(below) + i32(above) - 2 * i32(best);
    let q = max(select(i32(max(below, above)) - i32(best), parabola, params.subpixel == 1u), 1);
    return (difference * 16 + q) / (2 * q);
}

// Margin between the winner and its best rival, in 255ths; 0 where confidence is off.
fn confidence(best: u32, rival: u32) -> u32 {
    if params.confidence == 0u || rival == 0u {
        return 0u;
    }
    return select((rival - best) * 255u / rival, 255u, rival == NO_CANDIDATE);
}

fn is_whole(here: vec2<u32>) -> bool {
    return here.x >= params.whole_from_x && here.x < params.whole_end_x && here.y >= params.whole_from_y
        && here.y < params.whole_end_y;
}

// Results of a left pixel: the key of the winner, the sums below and above it, and the key of its best rival.
struct Found {
    best: u32,
    around: vec3<u32>,
}

fn left_word(here: vec2<u32>, found: Found) -> u32 {
    let gate = gate_of(here);
    let winner = found.best & CANDIDATE_MASK;
    let best = found.best >> KEY_SHIFT;
    let rival = select(found.around.z >> KEY_SHIFT, NO_CANDIDATE, found.around.z == NO_CANDIDATE);
    if DROPS {
        if !is_whole(here) {
            return map_word(INVALID, BORDER);
        }
        if best > params.largest_sum {
            return map_word(INVALID, MATCH);
        }
    }
    if params.uniqueness > 0u && rival != NO_CANDIDATE && rival * (100u - params.uniqueness) < 100u * best {
        return map_word(INVALID, UNIQUENESS);
    }
    var value = SUBPIXEL_STEPS * disparity_of(winner);
    if params.subpixel > 0u && winner > gate.x && winner < gate.y {
        value += refined(found.around.x, best, found.around.y);
    }
    return map_word(value, 0u) | (confidence(best, rival) << 24u);
}

// Minimum over the keys of the right pixel that `candidate` of column x matches.
fn offer(x: u32, y: u32, candidate: u32, key: u32) {
    let right_x = i32(x) - disparity_of(candidate);
    if key != NO_CANDIDATE && is_column(right_x) {
        // Inverted, because the buffer is cleared to zero.
        atomicMax(&right_keys[map_index(u32(right_x), y)], ~key);
    }
}

// Keeps the sums for traces.
fn keep_sums(is_pixel: bool, here: vec2<u32>, lane: u32, sums: Sums) {
#if KEEPS_SUMS
    if is_pixel {
        let at = 4u * ((here.y * params.width + here.x) * LANES + lane);
        let all = numbers(sums);
        kept[at] = all.v0;
        kept[at + 1u] = all.v1;
        kept[at + 2u] = all.v2;
        kept[at + 3u] = all.v3;
    }
#end
}

@compute @workgroup_size(LINES * LANES)
fn choose(ids: Ids) {
    let position = lane_position(ids);
    start_exchange(position);
    let lane = position.lane;
    let piece = dispatch.first + ids.group.x * LINES + position.line;
    let is_piece = piece < dispatch.end;
    let y = min(piece, dispatch.end - 1u) / dispatch.pieces;
    let from_x = (piece % dispatch.pieces) * dispatch.length;
    let first_candidates = candidates_of(lane);
    let candidates = Interleaved(
        first_candidates,
        first_candidates + Words(1u),
        first_candidates + Words(2u),
        first_candidates + Words(3u),
    );
    var row_path = RowPath(no_path(), 0);
    let empty = Words(NO_CANDIDATE);
    var moving_keys = Interleaved(empty, empty, empty, empty);
    let end_x = min(from_x + dispatch.length, params.width);
    // with AHEAD the next pixel is loaded before this one is decided
    var next: Loaded;
    if AHEAD > 1u {
        next = load_sums(place_of(vec2<u32>(min(from_x, params.width - 1u), y), lane));
    }

    for (var first = 0u; first < dispatch.length; first += LANES) {
        // Lane i keeps the results of pixel i, so that all lanes together convert them to the map.
        var found = Found(NO_CANDIDATE, vec3<u32>(NO_CANDIDATE));
        let turns = min(LANES, dispatch.length - first);
        for (var i = 0u; i < turns; i++) {
            let x = from_x + first + i;
            let is_pixel = is_piece && x < end_x;
            let here = vec2<u32>(min(x, params.width - 1u), y);
            let place = place_of(here, lane);
            let gate = gate_of(here);
            var loaded = next;
            if AHEAD > 1u {
                next = load_sums(place_of(vec2<u32>(min(x + 1u, params.width - 1u), y), lane));
            } else {
                loaded = load_sums(place);
            }
            let sums = sums_at(position, first + i, place, loaded, gate, &row_path);
            keep_sums(is_pixel, here, lane, sums);

            let keys = keys_of(sums, candidates, gate);
            let own_min = min_in(min(min(keys.v0, keys.v1), min(keys.v2, keys.v3)));
            let exchanged = exchange(position, 0u, first + i, 0u, tail(moving_keys.v3), own_min, NO_CANDIDATE);
            let winner = exchanged.min & CANDIDATE_MASK;
            var own = vec3<u32>(sums_around(sums, place, winner), NO_CANDIDATE);
            if RIVALS {
                own.z = min_rival(keys, candidates, winner);
            }
            let around = min_of_line_3(position, first + i, own);
            if lane == i {
                found = Found(exchanged.min, around);
            }

            if CHECKED && is_pixel {
                let below = up(moving_keys.v3, exchanged.below);
                moving_keys = Interleaved(
                    min(below, keys.v0),
                    min(moving_keys.v0, keys.v1),
                    min(moving_keys.v1, keys.v2),
                    min(moving_keys.v2, keys.v3),
                );
                if lane + 1u == LANES {
                    offer(x, y, 4u * WORDS * LANES - 1u, tail(moving_keys.v3));
                }
            }
        }
        let x = from_x + first + lane;
        if is_piece && x < end_x {
            map[map_index(x, y)] = left_word(vec2<u32>(x, y), found);
        }
    }

    if CHECKED && is_piece {
        let x = end_x - 1u;
        for (var w = 0u; w < WORDS; w++) {
            let candidate = 4u * (WORDS * lane + w);
            offer(x, y, candidate, word_at(moving_keys.v0, w));
            offer(x, y, candidate + 1u, word_at(moving_keys.v1, w));
            offer(x, y, candidate + 2u, word_at(moving_keys.v2, w));
            offer(x, y, candidate + 3u, word_at(moving_keys.v3, w));
        }
    }
}
