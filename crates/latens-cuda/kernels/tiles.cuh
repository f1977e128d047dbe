// The records of tiles: chapters 1 to 3 of specs/wcodec-tiles.md, as pure functions of numbers.
#pragma once
#include "batch.cuh"

#define SIDE 8u

struct Tiles {
    u32 rows, cols;          // of a tile that is not cropped
    u32 down, across;        // tiles
    u32 sub_blocks;
    bool any_transform;      // whether codes follow
    u64 predictors_at, codes_at, end;  // in the group's bytes
};

struct Tile {
    u32 row, col, rows, cols;
};

HD static inline Tile tile_at(const Group& g, const Tiles& t, u32 y, u32 x) {
    Tile tile;
    tile.row = y * t.rows;
    tile.col = x * t.cols;
    tile.rows = g.rows - tile.row < t.rows ? g.rows - tile.row : t.rows;
    tile.cols = g.cols - tile.col < t.cols ? g.cols - tile.col : t.cols;
    return tile;
}

// `count` bits, 2 or 3, of the stored bytes from bit `bit` of byte `at` on.
HD static inline u32 bits_at(const Bytes& b, u64 at, u64 bit, u32 count) {
    return b.get16(at + bit / 8) >> (bit % 8) & ((1u << count) - 1);
}

HD static inline u32 predictor_of(const Group& g, const Tiles& t, u64 tile) {
    if (!g.has(IS_BY_TILE)) return u32(g.field(PART_PREDICTOR)) & 7;
    return bits_at(g.stored, t.predictors_at, 3 * tile, 3);
}

HD static inline u32 code_of(const Group& g, const Tiles& t, u64 sub_block) {
    return t.any_transform ? bits_at(g.stored, t.codes_at, 2 * sub_block, 2) : 0;
}

HD static inline bool has_what_it_needs(const Group& g, u32 predictor) {
    return (predictor != 6 || g.has(HAS_MEANS)) && (predictor != 7 || g.has(HAS_REFERENCE));
}

// Whether bits behind the last of `bits` bits are 0, up to the byte.
HD static inline bool is_padded(const Bytes& b, u64 at, u64 bits) {
    return bits % 8 == 0 || b.get(at + bits / 8) >> (bits % 8) == 0;
}

// Reads where records are, and checks all of them. A fault, or 0.
HD static inline u32 read_tiles(const Group& g, Tiles& t) {
    t.predictors_at = t.codes_at = t.end = 0;
    t.any_transform = false;
    t.rows = t.cols = 1;
    t.down = t.across = t.sub_blocks = 0;
    if (!g.has(IS_PREDICTED)) return 0;
    t.rows = u32(g.field(PART_TILE_ROWS));
    t.cols = u32(g.field(PART_TILE_COLS));
    t.down = (g.rows + t.rows - 1) / t.rows;
    t.across = (g.cols + t.cols - 1) / t.cols;
    u32 fault = 0;
    if (g.has(IS_BY_TILE)) {
        const u64 tiles = u64(t.down) * t.across, bytes = (3 * tiles + 7) / 8;
        if (bytes > g.stored.len) return FAULT_TILES;
        PerLane<u32> wrong;
        EACH_LANE(lane) {
            wrong[lane] = 0;
            for (u64 tile = lane; tile < tiles; tile += LANES) {
                if (!has_what_it_needs(g, predictor_of(g, t, tile))) wrong[lane] = 1;
            }
        }
        if (ballot(wrong) != 0) fault |= FAULT_TILES;
        if (!is_padded(g.stored, 0, 3 * tiles)) fault |= FAULT_PADDING;
        t.end = bytes;
    } else if (!has_what_it_needs(g, predictor_of(g, t, 0))) {
        return FAULT_TILES;
    }
    if (!g.has(IS_TRANSFORMED)) return fault;
    const u32 down = g.rows / t.rows * (t.rows / SIDE) + g.rows % t.rows / SIDE;
    const u32 across = g.cols / t.cols * (t.cols / SIDE) + g.cols % t.cols / SIDE;
    t.sub_blocks = down * across;  // at most symbols / 64
    if (t.end >= g.stored.len) return fault | FAULT_TILES;
    const u32 any = g.stored.get(t.end);
    t.end += 1;
    if (any > 1) return fault | FAULT_TILES;
    if (any == 0) return fault;
    t.any_transform = true;
    t.codes_at = t.end;
    const u64 bytes = (2 * u64(t.sub_blocks) + 7) / 8;
    if (bytes > g.stored.len - t.end) return fault | FAULT_TILES;
    PerLane<u32> wrong;
    EACH_LANE(lane) {
        wrong[lane] = 0;
        for (u64 s = lane; s < t.sub_blocks; s += LANES) wrong[lane] |= u32(code_of(g, t, s) == 3);
    }
    if (ballot(wrong) != 0) fault |= FAULT_TILES;
    if (!is_padded(g.stored, t.codes_at, 2 * u64(t.sub_blocks))) fault |= FAULT_PADDING;
    t.end += bytes;
    return fault;
}

// Sub-blocks across the whole band.
HD static inline u32 sub_blocks_across(const Group& g, const Tiles& t) {
    return g.cols / t.cols * (t.cols / SIDE) + g.cols % t.cols / SIDE;
}

// How many sub-blocks come before those of a tile.
HD static inline u32 first_sub_block(const Group& g, const Tiles& t, const Tile& tile) {
    const u32 above = tile.row / t.rows * (t.rows / SIDE) * sub_blocks_across(g, t);
    return above + tile.rows / SIDE * (tile.col / t.cols * (t.cols / SIDE));
}

// The sub-block that (r, c) lies in, and its place there; false where it lies in none.
HD static inline bool sub_block_of(const Group& g, const Tiles& t, u32 r, u32 c, u32& sub_block,
                                   u32& place) {
    const Tile tile = tile_at(g, t, r / t.rows, c / t.cols);
    const u32 y = (r - tile.row) / SIDE, x = (c - tile.col) / SIDE;
    if (y >= tile.rows / SIDE || x >= tile.cols / SIDE) return false;
    sub_block = first_sub_block(g, t, tile) + y * (tile.cols / SIDE) + x;
    place = (r - tile.row) % SIDE * SIDE + (c - tile.col) % SIDE;
    return true;
}

// Place by rank of the zig-zag: diagonal by diagonal, odd ones downwards.
HD static inline u32 zigzag_place(u32 rank) {
    u32 before = 0;
    for (u32 diagonal = 0; diagonal < 15; ++diagonal) {
        const u32 len = diagonal < 8 ? diagonal + 1 : 15 - diagonal;
        if (rank < before + len) {
            const u32 step = rank - before, skip = diagonal < 8 ? 0 : diagonal - 7;
            const u32 small = skip + step, large = diagonal - small;
            return diagonal % 2 == 1 ? small * SIDE + large : large * SIDE + small;
        }
        before += len;
    }
    return 63;
}

HD static inline u32 position_class(u32 place) {
    const u32 sum = place / SIDE + place % SIDE;
    return sum == 0 ? 0 : sum < 4 ? 1 : sum < 8 ? 2 : 3;
}

// The kind of a coefficient; `code` is 1 or 2.
HD static inline u32 coefficient_kind(u32 code, u32 place) {
    return (code == 2 ? 12 : 8) + position_class(place);
}
