// The bitplane coder: chapter 5 of specs/wcodec-tiles.md.
//
// Its bits depend on each other, so one lane decodes them; the others help with what is before and
// behind. A group's contexts and magnitudes are in its scratch memory:
//
//   u32 zero[CONTEXTS], u16 seen[CONTEXTS], u16 magnitudes[(rows + 1) · (cols + 1)], i16 data[count]
#pragma once
#include "classes.cuh"
#include "transform.cuh"

#define KINDS 16u
#define PLANES 16u
#define PREFIXES 32u
#define SIGNS (4 * KINDS * PLANES)
#define REFINEMENTS (SIGNS + KINDS)
#define CONTEXTS (REFINEMENTS + KINDS * PLANES * PREFIXES)

HD static inline u64 bitplane_scratch(u64 rows, u64 cols) {
    return 6ull * CONTEXTS + 2 * (rows + 1) * (cols + 1) + 2 * rows * cols;
}

struct Known {
    u32* zero;
    u16* seen;
    u16* magnitudes;
    i16* data;
    u32 stride;
};

HD static inline Known known_of(const Group& g) {
    Known k;
    k.zero = reinterpret_cast<u32*>(g.scratch);
    k.seen = reinterpret_cast<u16*>(g.scratch + 4ull * CONTEXTS);
    k.magnitudes = k.seen + CONTEXTS;
    k.stride = g.cols + 1;
    k.data = reinterpret_cast<i16*>(k.magnitudes + u64(g.rows + 1) * k.stride);
    EACH_LANE(lane) {
        for (u32 i = lane; i < CONTEXTS; i += LANES) {
            k.zero[i] = 1u << 31;
            k.seen[i] = 0;
        }
        for (u64 i = lane; i < u64(g.rows + 1) * k.stride; i += LANES) k.magnitudes[i] = 0;
        for (u64 i = lane; i < g.count; i += LANES) k.data[i] = 1;
    }
    sync_lanes();
    return k;
}

// The binary coder.
struct BitCoder {
    Bytes bytes;
    u64 read;
    u32 code, range;

    HD u32 next() { return bytes.get(read++); }

    HD void begin(const Bytes& from) {
        bytes = from;
        read = 0;
        range = 0xffffffffu;
        code = 0;
        for (u32 i = 0; i < 4; ++i) code = code << 8 | next();
    }

    HD bool is_at_end() const { return read == bytes.len && code == 0; }

    SELDOM u32 bit(const Known& k, u32 context) {
        const u32 zero = k.zero[context], seen = k.seen[context];
        u32 q = zero >> 17;
        q = q < 8 ? 8 : q > 32760 ? 32760 : q;
        const u32 bound = (range >> 15) * q;
        u32 rate = 1;
        while (rate < 9 && (seen + 2) >> (rate + 1) != 0) ++rate;
        const u32 one = code >= bound;
        if (one != 0) {
            code -= bound;
            range -= bound;
            k.zero[context] = zero - (zero >> rate);
        } else {
            range = bound;
            k.zero[context] = zero + ((0xffffffffu - zero) >> rate);
        }
        k.seen[context] = u16(seen < 510 ? seen + 1 : seen);
        // The range is at least 2^12 here.
        for (u32 i = 0; i < 2 && range < 1u << 24; ++i) {
            range <<= 8;
            code = code << 8 | next();
        }
        return one;
    }
};

// One plane of a group, value by value.
struct PlaneDecoder {
    const Group& g;
    const Tiles& t;
    const Known& k;
    BitCoder coder;
    u32 plane;
    RowOfClasses of_row;
    u32 row;  // of `of_row`, or all ones

    HD u32 kind_of(u32 r, u32 c) {
        if (!g.has(HAS_CLASSES)) return 0;
        if (r != row) {
            of_row = row_of_classes(g, g.row + r);
            row = r;
        }
        return class_of(g, of_row, c);
    }

    SELDOM void value(u32 r, u32 c, u32 kind) {
        const u64 place = u64(r + 1) * k.stride + c + 1;
        const u32 known = k.magnitudes[place], prefix = known >> plane >> 1;
        u32 bit;
        if (prefix == 0) {
            const u32 near = u32(k.magnitudes[place - 1] != 0) +
                             u32(k.magnitudes[place - k.stride] != 0) +
                             u32(k.magnitudes[place - k.stride - 1] != 0);
            bit = coder.bit(k, (4 * kind + near) * PLANES + plane);
            if (bit != 0) {
                k.data[u64(r) * g.cols + c] = coder.bit(k, SIGNS + kind) != 0 ? -1 : 1;
            }
        } else {
            const u32 above = prefix < PREFIXES ? prefix : PREFIXES - 1;
            bit = coder.bit(k, REFINEMENTS + (kind * PLANES + plane) * PREFIXES + above);
        }
        k.magnitudes[place] = u16(known | bit << plane);
    }

    HD void tile(const Tile& tile) {
        u32 sub_block = first_sub_block(g, t, tile);
        const u32 down = tile.rows / SIDE * SIDE, across = tile.cols / SIDE * SIDE;
        for (u32 y = 0; y < down; y += SIDE) {
            for (u32 x = 0; x < across; x += SIDE) {
                const u32 code = code_of(g, t, sub_block++);
                for (u32 rank = 0; rank < 64; ++rank) {
                    const u32 place = code == 0 ? rank : zigzag_place(rank);
                    const u32 r = tile.row + y + place / SIDE, c = tile.col + x + place % SIDE;
                    value(r, c, code == 0 ? kind_of(r, c) & 7 : coefficient_kind(code, place));
                }
            }
        }
        for (u32 y = 0; y < tile.rows; ++y) {
            for (u32 x = y < down ? across : 0; x < tile.cols; ++x) {
                const u32 r = tile.row + y, c = tile.col + x;
                value(r, c, kind_of(r, c) & 7);
            }
        }
    }

    HD void all() {
        if (g.has(IS_TRANSFORMED)) {
            for (u32 y = 0; y < t.down; ++y) {
                for (u32 x = 0; x < t.across; ++x) tile(tile_at(g, t, y, x));
            }
        } else {
            for (u32 r = 0; r < g.rows; ++r) {
                for (u32 c = 0; c < g.cols; ++c) value(r, c, kind_of(r, c) & 15);
            }
        }
    }
};

// All planes, by one lane. A fault, or 0.
HD static inline u32 decode_planes(const Group& g, const Tiles& t, const Known& k) {
    const u64 at = t.end;
    if (at >= g.stored.len) return FAULT_PLANES;
    const u32 planes = g.stored.get(at);
    if (planes > PLANES || 4 * planes > g.stored.len - at - 1) return FAULT_PLANES;
    const u64 first = at + 1 + 4 * planes;
    u64 end = first;
    for (u32 p = 0; p < planes; ++p) end += g.stored.get32(at + 1 + 4 * p);
    if (end != g.stored.len) return FAULT_PLANES;
    u64 start = first;
    for (u32 index = 0; index < planes; ++index) {
        const u64 len = g.stored.get32(at + 1 + 4 * index);
        PlaneDecoder decoder{g, t, k, BitCoder(), planes - 1 - index, RowOfClasses(), ~0u};
        decoder.coder.begin(g.stored.sub(start, len));
        decoder.all();
        if (!decoder.coder.is_at_end()) return FAULT_PLANES;
        start += len;
    }
    return 0;
}

SELDOM static inline u32 decode_bitplane(const Group g) {
    Tiles t;
    const u32 wrong = read_tiles(g, t);
    if (wrong != 0) return wrong;
    if (!g.has(IS_PREDICTED) || bitplane_scratch(g.rows, g.cols) > g.scratch_len) {
        return FAULT_RECORD;
    }
    const Known k = known_of(g);
    PerLane<u32> fault;
    EACH_LANE(lane) fault[lane] = lane == 0 ? decode_planes(g, t, k) : 0;
    sync_lanes();
    const u32 found = from_lane(fault, 0);
    if (found != 0) return found;
    EACH_LANE(lane) {
        for (u32 i = lane; i < g.count; i += LANES) {
            const u64 place = u64(i / g.cols + 1) * k.stride + i % g.cols + 1;
            const i32 v = i32(k.data[i]) * i32(k.magnitudes[place]);
            k.data[i] = i16(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
        }
    }
    restore_whole(g, t, k.data);
    return 0;
}
