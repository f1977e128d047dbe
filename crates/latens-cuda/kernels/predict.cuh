// Prediction of tiles: chapter 2 of specs/wcodec-tiles.md.
#pragma once
#include "tiles.cuh"

enum Predictor { NONE, LEFT, TOP, AVG, PLANAR, DC, COLUMN, REFERENCE };

// Predictions that are a symbol for each symbol, whatever the tiles.
HD static inline bool is_plain(u32 predictor) {
    return predictor == NONE || predictor == COLUMN || predictor == REFERENCE;
}

// The symbol that a plain prediction says of symbol i, at (r, c) of the group.
HD static inline u32 plain_prediction(const Group& g, u32 predictor, u32 c, u32 i) {
    return predictor == COLUMN      ? g.mean(c)
           : predictor == REFERENCE ? g.reference_of(i)
                                    : u32(g.field(PART_CENTRE));
}

// Which plain prediction is added on the way, or none.
struct Fused {
    bool any;
    u32 predictor;
};

// The value of a symbol: its distance from the centre.
HD static inline i32 value_of(const Group& g, u32 symbol) {
    const i32 size = i32(1) << g.bits;
    const i32 low = i32((symbol - u32(g.field(PART_CENTRE))) & g.mask());
    return low >= size / 2 ? low - size : low;
}

// Rounded down; `by` is above 0.
HD static inline i32 floor_divide(i32 x, i32 by) {
    const i32 q = x / by;
    return x % by < 0 ? q - 1 : q;
}

HD static inline i32 symbol_at(const Group& g, u32 r, u32 c) {
    return value_of(g, g.out[u64(r) * g.cols + c]);
}

HD static inline void restore_tile(const Group& g, const Tile& tile, u32 predictor) {
    const bool left = tile.col > 0, top = tile.row > 0;
    i32 dc = 0;
    if (predictor == DC) {
        PerLane<u32> sums;
        EACH_LANE(lane) {
            i32 sum = 0;
            for (u32 r = lane; left && r < tile.rows; r += LANES) {
                sum += symbol_at(g, tile.row + r, tile.col - 1);
            }
            for (u32 c = lane; top && c < tile.cols; c += LANES) {
                sum += symbol_at(g, tile.row - 1, tile.col + c);
            }
            sums[lane] = u32(sum);
        }
        const i32 sum = i32(sum_of_lanes(sums));
        const i32 count = i32((left ? tile.rows : 0) + (top ? tile.cols : 0));
        dc = count == 0 ? 0 : floor_divide(2 * sum + count, 2 * count);
    }
    u32 from = predictor;
    if ((from == AVG || from == PLANAR) && !(left && top)) from = left ? u32(LEFT) : u32(TOP);
    if ((from == LEFT && !left) || (from == TOP && !top)) from = NONE;
    const i32 corner = from == PLANAR ? symbol_at(g, tile.row - 1, tile.col - 1) : 0;
    const i32 half = i32(1) << (g.bits - 1);
    const u32 centre = u32(g.field(PART_CENTRE)), area = tile.rows * tile.cols;
    EACH_LANE(lane) {
        for (u32 k = lane; k < area; k += LANES) {
            const u32 r = tile.row + k / tile.cols, c = tile.col + k % tile.cols;
            const u64 i = u64(r) * g.cols + c;
            u32 p = centre;
            if (is_plain(from)) {
                p = plain_prediction(g, from, c, u32(i));
            } else {
                const i32 l = from != TOP && from != DC ? symbol_at(g, r, tile.col - 1) : 0;
                const i32 t = from != LEFT && from != DC ? symbol_at(g, tile.row - 1, c) : 0;
                i32 v = from == DC ? dc : from == AVG ? (l + t) >> 1 : l + t - corner;
                v = v < -half ? -half : v > half - 1 ? half - 1 : v;
                p += u32(v);
            }
            g.out[i] = u8((g.out[i] + p) & g.mask());
        }
    }
    sync_lanes();
}

// Puts the symbols in place of the residuals in `out`.
SELDOM static inline void restore_tiles(const Group g, const Tiles t) {
    sync_lanes();
    if (!g.has(IS_BY_TILE) && is_plain(predictor_of(g, t, 0))) {
        const u32 predictor = predictor_of(g, t, 0);
        EACH_LANE(lane) {
            for (u32 i = lane; i < g.count; i += LANES) {
                const u32 p = plain_prediction(g, predictor, i % g.cols, i);
                g.out[i] = u8((g.out[i] + p) & g.mask());
            }
        }
        sync_lanes();
        return;
    }
    for (u32 y = 0; y < t.down; ++y) {
        for (u32 x = 0; x < t.across; ++x) {
            const u64 number = u64(y) * t.across + x;
            restore_tile(g, tile_at(g, t, y, x), predictor_of(g, t, number));
        }
    }
}
