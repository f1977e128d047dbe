// Symbols of the direct coder, row by row: chapters 7 and 10 of specs/wcodec.md.
#pragma once
#include "classes.cuh"
#include "escapes.cuh"
#include "stacked.cuh"
#include "transform.cuh"

#define ESCAPE 255u

// Where the classes of a group's symbols come from.
enum ClassesBy { BY_NOTHING, BY_RULE, BY_KIND };

// Symbols from `at` on, where escapes are or else states; `end` becomes the place behind the words that
// were read. Lanes hold the row and column of their next symbol.
template <ClassesBy by, bool escapes>
HD static inline u32 decode_symbols(const Group& g, const Tiles& t, const Tables& tables,
                                    const Fused& fused, u64 at, u64& end) {
    const bool pairs = g.has(IS_PAIRS);
    const u32 count = pairs ? g.count / 2 : g.count, cols = pairs ? g.cols / 2 : g.cols;
    Escapes e;
    States s;
    u32 fault = escapes ? read_escapes(g, at, e) : 0;
    if (fault != 0) return fault;
    fault = first_states(g, at, count, tables.alphabet, s);
    end = s.next;
    if (fault != 0) return fault;
    if (cols == 0) return FAULT_RECORD;
    PerLane<u32> row, col, symbol, wrong;
    PerLane<RowOfClasses> of_row;
    EACH_LANE(lane) {
        wrong[lane] = 0;
        row[lane] = lane / cols;
        col[lane] = lane % cols;
        if (by == BY_RULE) of_row[lane] = row_of_classes(g, g.row + row[lane]);
    }
    for (u32 first = 0; first < count; first += LANES) {
        EACH_LANE(lane) {
            const u32 i = first + lane;
            s.wants[lane] = 0;
            symbol[lane] = NO_SYMBOL;
            if (i < count) {
                u32 cls = 0;
                if (by == BY_RULE) {
                    cls = class_of(g, of_row[lane], col[lane]);
                } else if (by == BY_KIND && t.any_transform) {
                    u32 sub_block, place;
                    if (sub_block_of(g, t, row[lane], col[lane], sub_block, place)) {
                        const u32 code = code_of(g, t, sub_block);
                        cls = code == 0 ? 0 : coefficient_kind(code, place);
                    }
                }
                symbol[lane] = i < s.of_words ? decode_symbol(tables, cls, s.x[lane])
                                              : symbol_in_state(tables.alphabet, s.x[lane]);
                s.wants[lane] = s.x[lane] < START;
            }
        }
        if (escapes && !take_escapes(g, e, tables.alphabet, symbol, wrong)) {
            fault = FAULT_WORDS;
            break;
        }
        EACH_LANE(lane) {
            const u32 i = first + lane;
            if (i < count) {
                if (pairs) {
                    u32 first = symbol[lane] & 15, second = symbol[lane] >> 4;
                    wrong[lane] |= (first | second) >> g.bits;
                    const u32 a = g.column(2 * col[lane]), b = g.column(2 * col[lane] + 1);
                    const u32 start = 2 * (i - col[lane]);
                    if (fused.any) {
                        first = (first + plain_prediction(g, fused.predictor, a, start + a)) & g.mask();
                        second = (second + plain_prediction(g, fused.predictor, b, start + b)) & g.mask();
                    }
                    g.out[start + a] = u8(first);
                    g.out[start + b] = u8(second);
                } else if (fused.any) {
                    const u32 p = plain_prediction(g, fused.predictor, col[lane], i);
                    g.out[i] = u8((symbol[lane] + p) & g.mask());
                } else {
                    g.out[i] = u8(symbol[lane]);
                }
                u32 r = row[lane], c = col[lane] + LANES;
                if (c >= cols) {
                    r += c / cols;
                    c %= cols;
                    if (by == BY_RULE) of_row[lane] = row_of_classes(g, g.row + r);
                }
                row[lane] = r;
                col[lane] = c;
            }
        }
        if (!take_words(g, s)) {
            fault = FAULT_WORDS;
            break;
        }
    }
    if (fault == 0 && !are_last(s)) fault = FAULT_STATES;
    if (escapes && fault == 0 && e.left != 0) fault = FAULT_WORDS;
    if ((pairs || escapes) && ballot(wrong) != 0) fault |= pairs ? FAULT_PAIRS : FAULT_WORDS;
    end = s.next;
    return fault;
}

// Signed numbers from the symbols in `out` and the escapes from `at` on.
HD static inline u32 unfold(const Group& g, u64 at, i16* data) {
    PerLane<u32> wants, wrong;
    u64 next = at;
    sync_lanes();
    EACH_LANE(lane) wrong[lane] = 0;
    for (u32 first = 0; first < g.count; first += LANES) {
        EACH_LANE(lane) {
            const u32 i = first + lane;
            wants[lane] = i < g.count && g.out[i] == ESCAPE;
        }
        const u32 takes = ballot(wants), taken = count_ones(takes);
        EACH_LANE(lane) {
            const u32 i = first + lane;
            if (i < g.count) {
                u32 u = g.out[i];
                if (wants[lane] != 0) {
                    u += g.stored.get16(next + 2 * count_ones(takes & ((1u << lane) - 1)));
                    if (u > 0xffff) wrong[lane] = 1;
                }
                data[i] = i16(u16(u >> 1) ^ u16(0u - (u & 1)));
            }
        }
        if (2 * taken > g.stored.len - next) return FAULT_WORDS;
        next += 2 * taken;
    }
    if (ballot(wrong) != 0 || next != g.stored.len) return FAULT_WORDS;
    return 0;
}

// The coefficients of a group, and the symbols they come to.
SELDOM static inline u32 decode_coefficients(const Group g, const Tiles t, const Tables tables) {
    if (2 * u64(g.count) > g.scratch_len) return FAULT_RECORD;
    i16* data = reinterpret_cast<i16*>(g.scratch);
    u64 end = 0;
    u32 fault = decode_symbols<BY_KIND, false>(g, t, tables, Fused{false, 0}, t.end, end);
    if (fault == 0) fault = unfold(g, end, data);
    if (fault == 0) restore_whole(g, t, data);
    return fault;
}

// Symbols that are no coefficients.
template <bool escapes>
HD static inline u32 decode_coded(const Group& g, const Tiles& t, const Tables& tables,
                                  const Fused& fused, u64& end) {
    if (g.has(IS_STACKED)) return decode_stacked<escapes>(g, tables, fused, t.end);
    if (g.has(HAS_CLASSES)) return decode_symbols<BY_RULE, escapes>(g, t, tables, fused, t.end, end);
    return decode_symbols<BY_NOTHING, escapes>(g, t, tables, fused, t.end, end);
}

HD static inline u32 decode_direct(const Group& g, const Tables& tables) {
    Tiles t;
    u32 fault = read_tiles(g, t);
    if (fault != 0) return fault;
    if (g.has(IS_TRANSFORMED)) return decode_coefficients(g, t, tables);
    Fused fused{false, 0};
    if (g.has(IS_PREDICTED) && !g.has(IS_BY_TILE)) {
        fused.predictor = predictor_of(g, t, 0);
        fused.any = is_plain(fused.predictor);
    }
    u64 end = g.stored.len;
    fault = g.has(HAS_ESCAPES) ? decode_coded<true>(g, t, tables, fused, end)
                               : decode_coded<false>(g, t, tables, fused, end);
    if (fault != 0) return fault;
    if (end != g.stored.len) return FAULT_WORDS;
    if (g.has(IS_PREDICTED) && !fused.any) restore_tiles(g, t);
    return 0;
}
