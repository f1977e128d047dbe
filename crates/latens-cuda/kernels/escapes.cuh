// Symbols that are said apart: ESCAPES in chapter 7 of specs/wcodec.md.
#pragma once
#include "batch.cuh"

// More than any symbol is.
#define NO_SYMBOL 256u

// The symbol in whose place others are said apart; where in the group's bytes the next one of these is,
// and how many are left.
struct Escapes {
    u32 symbol, left;
    u64 next;
};

// The list at `at`, which becomes the place behind it; a fault or 0.
HD static inline u32 read_escapes(const Group& g, u64& at, Escapes& e) {
    e.symbol = u32(g.field(PART_ESCAPE)) & 0xff;
    e.next = at;
    // A varint in its shortest form. What does not end within nine bytes is more than there are bytes.
    u64 count = 0;
    u32 byte = 0x80, shift = 0;
    for (; byte >= 0x80; shift += 7) {
        if (shift > 56 || e.next >= g.stored.len) return FAULT_WORDS;
        byte = g.stored.get(e.next);
        count |= u64(byte & 0x7f) << shift;
        e.next += 1;
    }
    // More than there are symbols would be left over.
    if (byte == 0 && shift > 7) return FAULT_WORDS;
    if (count > g.count || count > g.stored.len - e.next) return FAULT_WORDS;
    e.left = u32(count);
    at = e.next + count;
    return 0;
}

// The next ones of the list for lanes whose symbol of `bits` is the escape, in their order; false where
// they run out. Those that have more bits are `wrong`.
HD static inline bool take_escapes(const Group& g, Escapes& e, u32 bits, PerLane<u32>& symbol,
                                   PerLane<u32>& wrong) {
    PerLane<u32> apart;
    EACH_LANE(lane) apart[lane] = symbol[lane] == e.symbol;
    const u32 takes = ballot(apart), taken = count_ones(takes);
    if (taken == 0) return true;
    if (taken > e.left) return false;
    EACH_LANE(lane) {
        if (apart[lane] != 0) {
            symbol[lane] = g.stored.get(e.next + count_ones(takes & ((1u << lane) - 1)));
            wrong[lane] |= symbol[lane] >> bits;
        }
    }
    e.next += taken;
    e.left -= taken;
    return true;
}
