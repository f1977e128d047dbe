// Pairs of two rows: STACKED in chapter 7 of specs/wcodec.md. The host has sorted columns and rows.
//
// A line holds all pairs of a column. Pairs of rows are the same for all lines of a span, and so is what
// they add to the level of a column; the sum says the class.
#pragma once
#include "coder.cuh"
#include "escapes.cuh"
#include "predict.cuh"

struct Line {
    u32 column;
    i32 level;
    u64 pairs;  // where the pairs of rows of its span begin
};

// Line `number` of a group whose lines are of `each` pairs.
HD static inline Line line_of(const Group& g, u32 number, u32 each) {
    const u64 at = g.field(PART_LINES_AT);
    Line line;
    line.column = g.side.word32(at, 2ull * number);
    line.pairs = g.first_pair + u64(g.side.word32(at, 2ull * number + 1)) * each;
    line.level = 0;
    if (line.column < g.field(PART_COLS_LEVELS)) {
        line.level = i32(g.side.get(g.field(PART_COLS_AT) + line.column));
    }
    return line;
}

// Symbols of a stacked group from `at` on, where escapes are or else states; they are all that is left
// of its bytes. Lanes hold the line of their next pair, and which one of it that is. Called once a group,
// it leaves the registers of other symbols alone.
template <bool escapes>
SELDOM static inline u32 decode_stacked(const Group g, const Tables tables, const Fused fused,
                                        u64 at) {
    // At most half of the symbols and of the columns.
    const u32 each = (g.rows + 1) / 2, count = each * g.cols;
    Escapes e;
    States s;
    u32 fault = escapes ? read_escapes(g, at, e) : 0;
    if (fault != 0) return fault;
    fault = first_states(g, at, count, tables.alphabet, s);
    if (fault != 0) return fault;
    PerLane<u32> number, pair, two_rows, symbol, wrong;
    PerLane<Line> line;
    EACH_LANE(lane) {
        wrong[lane] = 0;
        number[lane] = each == 0 ? 0 : lane / each;
        pair[lane] = each == 0 ? 0 : lane % each;
        line[lane] = line_of(g, number[lane], each);
    }
    for (u32 first = 0; first < count; first += LANES) {
        EACH_LANE(lane) {
            s.wants[lane] = 0;
            symbol[lane] = NO_SYMBOL;
            if (first + lane < count) {
                const u64 two = line[lane].pairs + pair[lane];
                two_rows[lane] = g.side.word32(g.field(PART_TWO_ROWS_AT), two);
                i32 sum = i32(i16(g.side.word16(g.field(PART_SUMS_AT), two))) + line[lane].level;
                sum = sum < 0 ? 0 : sum > 255 ? 255 : sum;
                const u32 cls = g.side.get(g.field(PART_MAPS_AT) + u64(sum));
                symbol[lane] = first + lane < s.of_words
                                   ? decode_symbol(tables, cls, s.x[lane])
                                   : symbol_in_state(tables.alphabet, s.x[lane]);
                s.wants[lane] = s.x[lane] < START;
            }
        }
        if (escapes && !take_escapes(g, e, tables.alphabet, symbol, wrong)) {
            fault = FAULT_WORDS;
            break;
        }
        EACH_LANE(lane) {
            if (first + lane < count) {
                u32 low = symbol[lane] & 15, high = symbol[lane] >> 4;
                const u32 c = line[lane].column;
                const u32 p = two_rows[lane] & 0xffff, q = two_rows[lane] >> 16;
                if (c >= g.cols || p >= g.rows || q >= g.rows || (p == q && low != high) ||
                    (low | high) >> g.bits != 0) {
                    wrong[lane] = 1;
                } else {
                    const u32 a = p * g.cols + c, b = q * g.cols + c;
                    if (fused.any) {
                        low = (low + plain_prediction(g, fused.predictor, c, a)) & g.mask();
                        high = (high + plain_prediction(g, fused.predictor, c, b)) & g.mask();
                    }
                    g.out[a] = u8(low);
                    g.out[b] = u8(high);
                }
                pair[lane] += LANES;
                if (pair[lane] >= each) {
                    number[lane] += pair[lane] / each;
                    pair[lane] %= each;
                    line[lane] = line_of(g, number[lane], each);
                }
            }
        }
        if (!take_words(g, s)) {
            fault = FAULT_WORDS;
            break;
        }
    }
    if (fault == 0 && !are_last(s)) fault = FAULT_STATES;
    if (fault == 0 && s.next != g.stored.len) fault = FAULT_WORDS;
    if (escapes && fault == 0 && e.left != 0) fault = FAULT_WORDS;
    if (ballot(wrong) != 0) fault |= FAULT_PAIRS;
    return fault;
}
