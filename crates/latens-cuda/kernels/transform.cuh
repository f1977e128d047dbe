// Transforms of sub-blocks: chapter 3 of specs/wcodec-tiles.md.
#pragma once
#include "predict.cuh"

// A rotation in 64 bits: two lanes (4 bits each), then 1024 · tan(θ/2) and 1024 · sin θ.
struct Rotation {
    i16 a, b, p, u;
};

HD static inline Rotation dct_rotation(u32 i) {
    const Rotation all[13] = {
        {0, 7, 424, 724}, {1, 6, 424, 724}, {2, 5, 424, 724}, {3, 4, 424, 724}, {0, 3, 424, 724},
        {1, 2, 424, 724}, {0, 1, 424, 724}, {3, 2, 204, 392}, {7, 4, 101, 200}, {6, 5, 311, 569},
        {7, 6, 424, 724}, {4, 5, 424, 724}, {6, 4, 424, 724},
    };
    return all[i];
}

HD static inline Rotation adst_rotation(u32 i) {
    const Rotation all[15] = {
        {7, 0, 50, 100},  {6, 1, 152, 297}, {5, 2, 256, 483}, {4, 3, 366, 650}, {7, 4, 424, 724},
        {6, 5, 424, 724}, {7, 6, 424, 724}, {4, 5, 204, 392}, {0, 3, 424, 724}, {1, 2, 424, 724},
        {3, 2, 424, 724}, {0, 1, -204, -392}, {4, 1, 424, 724}, {6, 3, 424, 724}, {5, 0, 424, 724},
    };
    return all[i];
}

// The lane that coefficient k is in, and whether with its sign changed.
HD static inline u32 lane_of(u32 code, u32 k, bool& minus) {
    const u8 dct[8] = {0, 7 | 8, 3 | 8, 6, 1 | 8, 4 | 8, 2, 5 | 8};
    const u8 adst[8] = {7, 4, 1, 3 | 8, 6 | 8, 0, 5, 2};
    const u32 entry = code == 2 ? adst[k] : dct[k];
    minus = (entry & 8) != 0;
    return entry & 7;
}

// (k · x + 512) >> 10, mod 2^32.
HD static inline u32 scaled(i32 k, u32 x) {
    return u32(i32(u32(k) * x + 512) >> 10);
}

// Eight coefficients `step` apart to eight numbers.
SELDOM static inline void inverse_line(u32 code, u32* line, u32 step) {
    u32 x[8];
    for (u32 k = 0; k < 8; ++k) {
        bool minus;
        const u32 lane = lane_of(code, k, minus);
        x[lane] = minus ? 0u - line[k * step] : line[k * step];
    }
    for (u32 i = code == 2 ? 15 : 13; i-- > 0;) {
        const Rotation r = code == 2 ? adst_rotation(i) : dct_rotation(i);
        x[r.a] -= scaled(r.p, x[r.b]);
        x[r.b] += scaled(r.u, x[r.a]);
        x[r.a] -= scaled(r.p, x[r.b]);
    }
    for (u32 k = 0; k < 8; ++k) line[k * step] = x[k];
}

// Undoes the transform of the sub-block whose first coefficient is `data[first]`: rows, then columns.
HD static inline void inverse_sub_block(u32 code, i16* data, u64 first, u32 cols) {
    u32 block[64];
    for (u32 k = 0; k < 64; ++k) block[k] = u32(i32(data[first + u64(k / 8) * cols + k % 8]));
    for (u32 row = 0; row < 8; ++row) inverse_line(code, block + 8 * row, 1);
    for (u32 col = 0; col < 8; ++col) inverse_line(code, block + col, 8);
    for (u32 k = 0; k < 64; ++k) data[first + u64(k / 8) * cols + k % 8] = i16(u16(block[k]));
}

// Whole residuals in `data` to symbols in `out`: transforms undone, predictions added.
SELDOM static inline void restore_whole(const Group g, const Tiles t, i16* data) {
    sync_lanes();
    for (u32 y = 0; t.any_transform && y < t.down; ++y) {
        for (u32 x = 0; x < t.across; ++x) {
            const Tile tile = tile_at(g, t, y, x);
            const u32 across = tile.cols / SIDE, count = tile.rows / SIDE * across;
            const u32 first = first_sub_block(g, t, tile);
            EACH_LANE(lane) {
                for (u32 s = lane; s < count; s += LANES) {
                    const u32 code = code_of(g, t, first + s);
                    const u64 r = tile.row + s / across * SIDE, c = tile.col + s % across * SIDE;
                    if (code != 0) inverse_sub_block(code, data, r * g.cols + c, g.cols);
                }
            }
        }
    }
    sync_lanes();
    EACH_LANE(lane) {
        for (u32 i = lane; i < g.count; i += LANES) g.out[i] = u8(data[i]);
    }
    restore_tiles(g, t);
}
