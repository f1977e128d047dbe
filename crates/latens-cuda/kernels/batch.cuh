// What a launch gets: buffers, and records of numbers of 64 bits. `latens_cuda::batch` makes them
// (src/record.rs names the same fields in the same order); the host has checked them, and nothing
// here relies on that: every read and write is held against the length of its buffer.
#pragma once
#include "warp.cuh"

// Why a group is not what it should be: bits of its status, and of the sticky one behind the last
// group's. 0 is well.
enum Fault : u32 {
    FAULT_RECORD = 1,     // the records do not fit their buffers
    FAULT_CRC = 2,        // stored bytes do not have their checksum
    FAULT_PADDING = 4,    // bits or bytes of padding are set
    FAULT_TILES = 8,      // tile records end early, or name what is not there
    FAULT_STATES = 16,    // a lane's first state is below 2^16, or its last one is not 2^16; or they end early
    FAULT_WORDS = 32,     // words or escapes are lacking or left over, or escapes are no symbols
    FAULT_PLANES = 64,    // bitplanes are not as long as what they hold
    FAULT_PAIRS = 128,    // a half of a pair has more bits than symbols; or the halves of a row by itself differ
};

// Bytes that are read by position, 0 behind their end. Nobody writes them meanwhile.
struct Bytes {
    const u8* at;
    u64 len;
    HD u32 get(u64 i) const { return i < len ? fixed(at + i) : 0; }
    HD u32 get16(u64 i) const { return get(i) | get(i + 1) << 8; }
    HD u32 get32(u64 i) const { return get16(i) | get16(i + 2) << 16; }
    // A number of two or four bytes of an aligned array that begins at `start`.
    HD u32 word16(u64 start, u64 i) const {
        return inside(start, i, 2) ? fixed(reinterpret_cast<const u16*>(at + start + 2 * i)) : 0;
    }
    HD u32 word32(u64 start, u64 i) const {
        return inside(start, i, 4) ? fixed(reinterpret_cast<const u32*>(at + start + 4 * i)) : 0;
    }
    HD Bytes sub(u64 start, u64 count) const {
        if (start > len || count > len - start) return Bytes{at, 0};
        return Bytes{at + start, count};
    }

  private:
    HD bool inside(u64 start, u64 i, u64 width) const {
        return start % width == 0 && start <= len && i < (len - start) / width;
    }
};

struct Buffer {
    u8* at;
    u64 len;
    HD Bytes bytes() const { return Bytes{at, len}; }
    // Room for `count` bytes, or null.
    HD u8* room(u64 start, u64 count) const {
        return start <= len && count <= len - start ? at + start : nullptr;
    }
};

enum LaunchField {
    LAUNCH_INPUT, LAUNCH_INPUT_LEN,      // stored groups
    LAUNCH_SIDE, LAUNCH_SIDE_LEN,        // tables, levels, means, references
    LAUNCH_PLANES, LAUNCH_PLANES_LEN,    // decoded parts
    LAUNCH_OUTPUTS, LAUNCH_OUTPUTS_LEN,  // tensors
    LAUNCH_SCRATCH, LAUNCH_SCRATCH_LEN,
    LAUNCH_PARTS, LAUNCH_PART_COUNT,
    LAUNCH_GROUPS, LAUNCH_GROUP_COUNT,
    LAUNCH_JOINS, LAUNCH_JOIN_COUNT,
    LAUNCH_BLOCKS, LAUNCH_BLOCK_COUNT,            // of the decoding kernel
    LAUNCH_JOIN_BLOCKS, LAUNCH_JOIN_BLOCK_COUNT,  // of the joining kernel
    LAUNCH_STATUS,                                // a u32 for each group, and the sticky one
    LAUNCH_FIELDS,
};

enum PartField {
    PART_CODER,       // 0 direct, 1 bitplane
    PART_FLAGS,
    PART_BITS,        // of a symbol
    PART_ALPHABET,    // bits of a coded symbol
    PART_COLS,        // symbols a row
    PART_TABLE_BITS,
    PART_TABLES,      // how many
    PART_TABLES_AT,   // in `side`
    PART_TILE_ROWS, PART_TILE_COLS,
    PART_PREDICTOR,   // of all tiles, where not BY_TILE
    PART_CENTRE,
    PART_MEANS_AT,
    PART_REFERENCE_AT,
    PART_ESCAPE,      // the coded symbol in whose place others are said apart
    PART_ORDER_AT,    // by place of a row as it is coded: its column less the first one of 32
    PART_LINES_AT,    // of stacked pairs: for each line of them its column and its span, a u32 each
    PART_TWO_ROWS_AT, // for each group, span and pair: first row + second row · 2^16, rows of the group
    PART_SUMS_AT,     // for each of these what it adds to the column's level, an i16
    PART_BIAS,
    PART_ROWS_AT, PART_ROWS,  // levels of rows, how many (0: none)
    PART_COLS_AT, PART_COLS_LEVELS,
    PART_MAPS_AT, PART_MAPS,
    PART_LEVELS,      // how many sources of levels
    PART_SOURCES,     // five records: four levels, the zero point
    PART_FIELDS = PART_SOURCES + 5 * 8,
};

enum SourceField {
    SOURCE_VALUES_AT, SOURCE_VALUES,
    SOURCE_BLOCK_ROWS, SOURCE_BLOCK_COLS,
    SOURCE_SHIFT,     // 1 + log2 of the block's columns where that is whole, else 0
    SOURCE_STRIDE,
    SOURCE_MAP_AT, SOURCE_MAP,  // rows of the row map (0: none)
    SOURCE_FIELDS,
};
static_assert(SOURCE_FIELDS == 8, "as PART_FIELDS has it");

enum PartFlag {
    IS_PAIRS = 1, IS_PREDICTED = 2, IS_BY_TILE = 4, IS_TRANSFORMED = 8, HAS_CLASSES = 16,
    HAS_MEANS = 32, HAS_REFERENCE = 64, TO_OUTPUT = 128, HAS_ZERO = 256, HAS_ORDER = 512,
    IS_STACKED = 1024, IS_COMPACT = 2048, HAS_ESCAPES = 4096,
};

enum GroupField {
    GROUP_PART,
    GROUP_AT, GROUP_LEN,  // stored bytes in `input`
    GROUP_CRC,
    GROUP_ROW,            // its first row
    GROUP_COUNT,          // symbols
    GROUP_OUT,            // in `planes` or `outputs`
    GROUP_SCRATCH,
    GROUP_REFERENCE,      // its first symbol in the part's reference
    GROUP_PAIRS,          // its first pair among the part's pairs of rows
    GROUP_FIELDS,
};

enum BlockField { BLOCK_GROUP, BLOCK_GROUPS, BLOCK_FIELDS };
enum JoinBlockField { JOIN_BLOCK_JOIN, JOIN_BLOCK_AT, JOIN_BLOCK_FIELDS };

struct Launch {
    Bytes input, side;
    Buffer planes, outputs, scratch;
    const u64 *parts, *groups, *joins, *blocks, *join_blocks;
    u64 part_count, group_count, join_count, block_count, join_block_count;
    u32* status;
};

HD static inline Launch launch_of(const u64* f) {
    Launch l;
    l.input = Bytes{reinterpret_cast<const u8*>(f[LAUNCH_INPUT]), f[LAUNCH_INPUT_LEN]};
    l.side = Bytes{reinterpret_cast<const u8*>(f[LAUNCH_SIDE]), f[LAUNCH_SIDE_LEN]};
    l.planes = Buffer{reinterpret_cast<u8*>(f[LAUNCH_PLANES]), f[LAUNCH_PLANES_LEN]};
    l.outputs = Buffer{reinterpret_cast<u8*>(f[LAUNCH_OUTPUTS]), f[LAUNCH_OUTPUTS_LEN]};
    l.scratch = Buffer{reinterpret_cast<u8*>(f[LAUNCH_SCRATCH]), f[LAUNCH_SCRATCH_LEN]};
    l.parts = reinterpret_cast<const u64*>(f[LAUNCH_PARTS]);
    l.part_count = f[LAUNCH_PART_COUNT];
    l.groups = reinterpret_cast<const u64*>(f[LAUNCH_GROUPS]);
    l.group_count = f[LAUNCH_GROUP_COUNT];
    l.joins = reinterpret_cast<const u64*>(f[LAUNCH_JOINS]);
    l.join_count = f[LAUNCH_JOIN_COUNT];
    l.blocks = reinterpret_cast<const u64*>(f[LAUNCH_BLOCKS]);
    l.block_count = f[LAUNCH_BLOCK_COUNT];
    l.join_blocks = reinterpret_cast<const u64*>(f[LAUNCH_JOIN_BLOCKS]);
    l.join_block_count = f[LAUNCH_JOIN_BLOCK_COUNT];
    l.status = reinterpret_cast<u32*>(f[LAUNCH_STATUS]);
    return l;
}

// Takes note of a fault of group `group`.
HD static inline void set_fault(const Launch& l, u64 group, u32 fault) {
    if (fault == 0 || group >= l.group_count) return;
    set_bits(l.status + group, fault);
    set_bits(l.status + l.group_count, fault);
}

// A group at work: its records, read and held against the buffers.
struct Group {
    const u64* part;
    u32 flags, bits, cols, rows, row, count;
    Bytes stored, side;
    u8* out;
    u8* scratch;
    u64 scratch_len, reference, first_pair;

    HD bool has(u32 flag) const { return (flags & flag) != 0; }
    HD u32 mask() const { return 0xffu >> (8 - bits); }
    HD u64 field(u32 f) const { return fixed(part + f); }
    HD u32 mean(u32 c) const { return side.get(field(PART_MEANS_AT) + c); }
    // The column that is coded at a place of a row.
    HD u32 column(u32 place) const {
        if (!has(HAS_ORDER)) return place;
        const u32 c = (place & ~31u) + side.get(field(PART_ORDER_AT) + place);
        return c < cols ? c : place;
    }
    HD u32 reference_of(u32 i) const { return side.get(field(PART_REFERENCE_AT) + reference + i); }
};

// False where the records do not fit.
HD static inline bool open_group(const Launch& l, u64 number, Group& g) {
    if (number >= l.group_count) return false;
    const u64* f = l.groups + number * GROUP_FIELDS;
    if (f[GROUP_PART] >= l.part_count) return false;
    const u64* p = l.parts + f[GROUP_PART] * PART_FIELDS;
    const u64 limit = 1ull << 31;
    if (p[PART_COLS] == 0 || p[PART_COLS] >= limit || f[GROUP_COUNT] >= limit) return false;
    if (f[GROUP_ROW] >= 1ull << 40 || p[PART_BITS] < 1 || p[PART_BITS] > 8) return false;
    if (p[PART_ALPHABET] < 1 || p[PART_ALPHABET] > 8) return false;
    if (p[PART_TABLE_BITS] > 14 || p[PART_TABLES] > 64 || p[PART_LEVELS] > 4) return false;
    if (p[PART_TILE_ROWS] > 4096 || p[PART_TILE_COLS] > 4096) return false;
    if (f[GROUP_AT] > l.input.len || f[GROUP_LEN] > l.input.len - f[GROUP_AT]) return false;
    g.part = p;
    g.flags = u32(p[PART_FLAGS]);
    g.bits = u32(p[PART_BITS]);
    g.cols = u32(p[PART_COLS]);
    g.count = u32(f[GROUP_COUNT]);
    g.rows = g.count / g.cols;
    g.row = u32(f[GROUP_ROW]);
    g.stored = l.input.sub(f[GROUP_AT], f[GROUP_LEN]);
    g.side = l.side;
    g.reference = f[GROUP_REFERENCE];
    g.first_pair = f[GROUP_PAIRS];
    if (f[GROUP_ROW] != g.row) return false;
    if (g.has(IS_PREDICTED) &&
        (p[PART_TILE_ROWS] == 0 || p[PART_TILE_COLS] == 0 || g.count % g.cols != 0)) return false;
    if ((g.has(HAS_ORDER) || g.has(IS_STACKED)) && g.count % g.cols != 0) return false;
    const Buffer& to = g.has(TO_OUTPUT) ? l.outputs : l.planes;
    g.out = to.room(f[GROUP_OUT], g.count);
    g.scratch = l.scratch.room(f[GROUP_SCRATCH], 0);
    g.scratch_len = g.scratch == nullptr ? 0 : l.scratch.len - f[GROUP_SCRATCH];
    return g.out != nullptr;
}
