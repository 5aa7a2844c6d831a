// Sums over all directions, and the winners of both pictures. Left: the smallest sum, ties to the smaller disparity; then
// border, match threshold, uniqueness and sub-pixel (src/stereo/disparity). A group of lanes walks a piece of a row.
//
// Right: candidate i of column x lies on right pixel x - d(i), as candidate i + 1 of column x + 1 does. So the best match of
// each right pixel moves up by one candidate with each column. It is written when it leaves the range of candidates, or at
// the end of the piece. Several pieces can hold the same right pixel: the minimum stays. The low bits of a key are its
// candidate, for ties.

const INDEX_BITS: u32 = 10u; // candidates are below 1024; sums below 2^19, those of the largest window
const INDEX_MASK: u32 = 0x3ffu;

fn unpack_16(pairs: Packed16) -> Interleaved {
    let low = Words(0xffffu);
    return Interleaved(pairs.even & low, pairs.odd & low, pairs.even >> Words(16u), pairs.odd >> Words(16u));
}

fn keys_of(sums: Words, candidates: Words, gate: vec2<u32>) -> Words {
    let keys = (sums << Words(INDEX_BITS)) | candidates;
    if MASKED {
        return select(keys, Words(NO_CANDIDATE), is_outside(candidates, gate));
    }
    return keys;
}

// The sum of candidate `i` if the lane owns it.
fn sum_at(sums: Interleaved, lane: u32, i: u32) -> u32 {
    let own = i - 4u * WORDS * lane;
    let word = own >> 2u;
    let low = select(word_at(sums.v0, word), word_at(sums.v1, word), (own & 1u) == 1u);
    let high = select(word_at(sums.v2, word), word_at(sums.v3, word), (own & 1u) == 1u);
    return select(NO_CANDIDATE, select(low, high, (own & 2u) == 2u), own < 4u * WORDS);
}

// Sums of the candidates more than 1 px from the winner; NO_CANDIDATE for the others.
fn rivals_in(sums: Words, candidates: Words, gate: vec2<u32>, winner: u32) -> Words {
    let is_near = candidates + Words(1u) - Words(winner) <= Words(2u);
    if MASKED {
        return select(sums, Words(NO_CANDIDATE), is_near | is_outside(candidates, gate));
    }
    return select(sums, Words(NO_CANDIDATE), is_near);
}

fn min_rival(sums: Interleaved, candidates: Words, gate: vec2<u32>, winner: u32) -> u32 {
    let v0 = rivals_in(sums.v0, candidates, gate, winner);
    let v1 = rivals_in(sums.v1, candidates + Words(1u), gate, winner);
    let v2 = rivals_in(sums.v2, candidates + Words(2u), gate, winner);
    let v3 = rivals_in(sums.v3, candidates + Words(3u), gate, winner);
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

fn left_word(here: vec2<u32>, best_key: u32, neighbours: vec3<u32>, gate: vec2<u32>) -> u32 {
    let winner = best_key & INDEX_MASK;
    let best = best_key >> INDEX_BITS;
    let rival = neighbours.z;
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
        value += refined(neighbours.x, best, neighbours.y);
    }
    return map_word(value, 0u) | (confidence(best, rival) << 24u);
}

// Minimum over the keys of the right pixel that `candidate` of column x matches.
fn offer(x: u32, y: u32, candidate: u32, key: u32) {
    let right_x = i32(x) - disparity_of(candidate);
    if key != NO_CANDIDATE && right_x >= 0 && right_x < i32(params.width) {
        // Inverted, because the buffer is cleared to zero.
        atomicMax(&right_keys[map_index(u32(right_x), y)], ~key);
    }
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
    let candidates = candidates_of(lane);
    let none = Words(NO_PATH);
    var row_path = RowPath(Interleaved(none, none, none, none), 0);
    let empty = Words(NO_CANDIDATE);
    var moving_keys = Interleaved(empty, empty, empty, empty);

    for (var n = 0u; n < dispatch.length; n++) {
        let is_pixel = is_piece && from_x + n < params.width;
        let here = vec2<u32>(min(from_x + n, params.width - 1u), y);
        let index = ((y * params.width + here.x) - dispatch.origin * params.width) * LANES + lane;
        let gate = gate_of(here);
        let sums = sums_at(position, n, here, index, candidates, gate, &row_path);
        keep_sums(is_pixel, here, lane, sums);

        let k0 = keys_of(sums.v0, candidates, gate);
        let k1 = keys_of(sums.v1, candidates + Words(1u), gate);
        let k2 = keys_of(sums.v2, candidates + Words(2u), gate);
        let k3 = keys_of(sums.v3, candidates + Words(3u), gate);
        let own_min = min_in(min(min(k0, k1), min(k2, k3)));
        let exchanged = exchange(position, 0u, n, 0u, tail(moving_keys.v3), own_min, NO_CANDIDATE);
        let winner = exchanged.min & INDEX_MASK;
        var own = vec3<u32>(sum_at(sums, lane, winner - 1u), sum_at(sums, lane, winner + 1u), NO_CANDIDATE);
        if RIVALS {
            own.z = min_rival(sums, candidates, gate, winner);
        }
        let around = min_of_line_3(position, n, own);
        if is_pixel && lane == 0u {
            map[map_index(here.x, y)] = left_word(here, exchanged.min, around, gate);
        }

        if CHECKED {
            // A column beyond the picture adds no key, but still moves the others up.
            let masked = Words(select(NO_CANDIDATE, 0u, is_pixel));
            let below = up(moving_keys.v3, exchanged.below);
            moving_keys = Interleaved(
                min(below, k0 | masked),
                min(moving_keys.v0, k1 | masked),
                min(moving_keys.v1, k2 | masked),
                min(moving_keys.v2, k3 | masked),
            );
            if is_piece && lane + 1u == LANES {
                offer(from_x + n, y, 4u * WORDS * LANES - 1u, tail(moving_keys.v3));
            }
        }
    }

    if CHECKED && is_piece {
        let x = from_x + dispatch.length - 1u;
        for (var w = 0u; w < WORDS; w++) {
            let candidate = 4u * (WORDS * lane + w);
            offer(x, y, candidate, word_at(moving_keys.v0, w));
            offer(x, y, candidate + 1u, word_at(moving_keys.v1, w));
            offer(x, y, candidate + 2u, word_at(moving_keys.v2, w));
            offer(x, y, candidate + 3u, word_at(moving_keys.v3, w));
        }
    }
}
