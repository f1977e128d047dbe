// The direct coder: chapter 10 of specs/wcodec.md.
//
// A table in `side` is, for each symbol of the alphabet, frequency · 2^16 + sum of those before it
// (u32), then for each slot its symbol (u8), then zeros up to four bytes: an eighth to a third of
// what one entry a slot takes, so that the tables of many classes fit the shared memory of a block.
#pragma once
#include "classes.cuh"
#include "transform.cuh"

#define START 65536u
#define ESCAPE 255u

HD static inline u64 table_bytes(u32 alphabet, u32 table_bits) {
    return ((4ull << alphabet) + (1ull << table_bits) + 3) / 4 * 4;
}

// Tables of a part: the first ones near (in shared memory), all of them far.
struct Tables {
    const u8* near;
    u32 near_count;
    const u8* far;
    u32 count;
    u64 each;
    u32 alphabet, bits;
};

// False where they do not fit `side`. A class that no table has takes the last one.
HD static inline bool tables_of(const Launch& l, const u64* part, Tables& t) {
    if (part[PART_ALPHABET] > 8 || part[PART_TABLE_BITS] > 14 || part[PART_TABLES] > 64) return false;
    t.alphabet = u32(part[PART_ALPHABET]);
    t.bits = u32(part[PART_TABLE_BITS]);
    t.count = u32(part[PART_TABLES]);
    t.each = table_bytes(t.alphabet, t.bits);
    t.near = nullptr;
    t.near_count = 0;
    const u64 at = part[PART_TABLES_AT], size = t.each * t.count;
    if (at % 4 != 0 || at > l.side.len || size > l.side.len - at) return false;
    t.far = l.side.at + at;
    return t.count > 0;
}

HD static inline u32 decode_symbol(const Tables& t, u32 cls, u32& x) {
    if (cls >= t.count) cls = t.count - 1;
    const u8* table = cls < t.near_count ? t.near + cls * t.each : t.far + cls * t.each;
    const u32* of_symbols = reinterpret_cast<const u32*>(table);
    const u32 slot = x & ((1u << t.bits) - 1);
    const u32 symbol = (table + (4u << t.alphabet))[slot] & ((1u << t.alphabet) - 1);
    const u32 entry = of_symbols[symbol];
    x = (entry >> 16) * (x >> t.bits) + slot - (entry & 0xffff);
    return symbol;
}

// Where the classes of a group's symbols come from.
enum ClassesBy { BY_NOTHING, BY_RULE, BY_KIND };

// Which plain prediction is added on the way, or none.
struct Fused {
    bool any;
    u32 predictor;
};

// Symbols from the states at `at` on; `end` becomes the place behind the words that were read. Lanes
// hold `x` and the row and column of their next symbol.
template <ClassesBy by>
HD static inline u32 decode_symbols(const Group& g, const Tiles& t, const Tables& tables,
                                    const Fused& fused, u64 at, u64& end) {
    const bool pairs = g.has(IS_PAIRS);
    const u32 count = pairs ? g.count / 2 : g.count, cols = pairs ? g.cols / 2 : g.cols;
    end = at;
    if (at > g.stored.len || g.stored.len - at < 4 * LANES) return FAULT_STATES;
    if ((g.stored.len - at) % 2 != 0) return FAULT_WORDS;
    if (cols == 0) return FAULT_RECORD;
    PerLane<u32> x, row, col, wrong, wants;
    PerLane<RowOfClasses> of_row;
    EACH_LANE(lane) {
        x[lane] = g.stored.get32(at + 4 * lane);
        wrong[lane] = x[lane] < START;
        row[lane] = lane / cols;
        col[lane] = lane % cols;
        if (by == BY_RULE) of_row[lane] = row_of_classes(g, g.row + row[lane]);
    }
    if (ballot(wrong) != 0) return FAULT_STATES;
    u64 next = at + 4 * LANES;
    u32 fault = 0;
    for (u32 first = 0; first < count; first += LANES) {
        EACH_LANE(lane) {
            const u32 i = first + lane;
            wants[lane] = 0;
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
                const u32 symbol = decode_symbol(tables, cls, x[lane]);
                wants[lane] = x[lane] < START;
                if (pairs) {
                    u32 first = symbol & 15, second = symbol >> 4;
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
                    g.out[i] = u8((symbol + p) & g.mask());
                } else {
                    g.out[i] = u8(symbol);
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
        const u32 takes = ballot(wants), taken = count_ones(takes);
        EACH_LANE(lane) {
            if (wants[lane] != 0) {
                const u32 before = count_ones(takes & ((1u << lane) - 1));
                x[lane] = x[lane] << 16 | g.stored.get16(next + 2 * before);
            }
        }
        // Behind the end zeros were read.
        if (2 * taken > g.stored.len - next) {
            fault = FAULT_WORDS;
            break;
        }
        next += 2 * taken;
    }
    EACH_LANE(lane) wrong[lane] = x[lane] != START;
    if (fault == 0 && ballot(wrong) != 0) fault = FAULT_STATES;
    end = next;
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
    u32 fault = decode_symbols<BY_KIND>(g, t, tables, Fused{false, 0}, t.end, end);
    if (fault == 0) fault = unfold(g, end, data);
    if (fault == 0) restore_whole(g, t, data);
    return fault;
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
    u64 end = 0;
    fault = g.has(HAS_CLASSES) ? decode_symbols<BY_RULE>(g, t, tables, fused, t.end, end)
                               : decode_symbols<BY_NOTHING>(g, t, tables, fused, t.end, end);
    if (fault != 0) return fault;
    if (end != g.stored.len) return FAULT_WORDS;
    if (g.has(IS_PREDICTED) && !fused.any) restore_tiles(g, t);
    return 0;
}
