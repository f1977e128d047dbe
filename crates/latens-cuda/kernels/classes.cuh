// The class of a symbol: chapter 8 of specs/wcodec.md.
#pragma once
#include "batch.cuh"

// What all symbols of a row have in common.
struct RowOfClasses {
    i32 sum;        // bias and level of the row
    u64 start[5];   // where its blocks' values begin; the last one is the zero point's
};

HD static inline const u64* source_of(const Group& g, u32 source) {
    return g.part + PART_SOURCES + source * SOURCE_FIELDS;
}

// Where the values of a row begin; all ones where it has none.
HD static inline u64 source_row(const Group& g, const u64* s, u32 row) {
    const u64 none = ~0ull;
    if (fixed(s + SOURCE_BLOCK_ROWS) == 0) return none;
    u64 block = row / fixed(s + SOURCE_BLOCK_ROWS);
    if (fixed(s + SOURCE_MAP) != 0) {
        if (row >= fixed(s + SOURCE_MAP)) return none;
        block = g.side.word32(fixed(s + SOURCE_MAP_AT), row);
    }
    // Below 2^32 and 2^31.
    return fixed(s + SOURCE_STRIDE) >> 31 != 0 ? none : block * fixed(s + SOURCE_STRIDE);
}

HD static inline i32 source_value(const Group& g, const u64* s, u64 start, u32 col) {
    const u64 cols = fixed(s + SOURCE_BLOCK_COLS), shift = fixed(s + SOURCE_SHIFT);
    if (cols == 0) return 0;
    // Columns are below 2^31.
    const u32 block = cols >> 31 != 0 ? 0 : shift != 0 ? col >> (shift - 1) % 32 : col / u32(cols);
    const u64 i = start + block;
    if (start == ~0ull || i >= fixed(s + SOURCE_VALUES)) return 0;
    return i32(i16(g.side.word16(fixed(s + SOURCE_VALUES_AT), i)));
}

HD static inline RowOfClasses row_of_classes(const Group& g, u32 row) {
    RowOfClasses out;
    out.sum = i32(i64(g.field(PART_BIAS)));
    if (row < g.field(PART_ROWS)) out.sum += i32(g.side.get(g.field(PART_ROWS_AT) + row));
    for (u32 k = 0; k < 5; ++k) {
        const bool there = k < 4 ? k < g.field(PART_LEVELS) : g.has(HAS_ZERO);
        out.start[k] = there ? source_row(g, source_of(g, k), row) : ~0ull;
    }
    return out;
}

// `col` is a coded column; of a pair it is the pair's number.
HD static inline u32 class_of(const Group& g, const RowOfClasses& row, u32 col) {
    const u32 first = g.has(IS_PAIRS) ? 2 * col : col;
    i32 sum = row.sum;
    if (col < g.field(PART_COLS_LEVELS)) sum += i32(g.side.get(g.field(PART_COLS_AT) + col));
    for (u32 k = 0; k < 4; ++k) {
        if (k < g.field(PART_LEVELS)) sum -= source_value(g, source_of(g, k), row.start[k], first);
    }
    sum = sum < 0 ? 0 : sum > 255 ? 255 : sum;
    u64 map = 0;
    if (g.has(HAS_ZERO)) {
        map = u64(source_value(g, source_of(g, 4), row.start[4], first));
        const u64 last = g.field(PART_MAPS) > 0 ? g.field(PART_MAPS) - 1 : 0;
        map = map < last ? map : last;
    }
    return g.side.get(g.field(PART_MAPS_AT) + map * 256 + u64(sum));
}
