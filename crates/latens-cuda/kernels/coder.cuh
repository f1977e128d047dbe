// What all symbols of the direct coder are read with, tables and states: chapter 10 of specs/wcodec.md.
//
// A table in `side` is, for each symbol of the alphabet, frequency · 2^16 + sum of those before it
// (u32), then for each slot its symbol (u8), then zeros up to four bytes: an eighth to a third of
// what one entry a slot takes, so that the tables of many classes fit the shared memory of a block.
#pragma once
#include "batch.cuh"

#define START 65536u

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

// States of the lanes, which of them want a word, where the next word is, and how many of the group's
// coded symbols come of words and tables; those behind are in the states.
struct States {
    PerLane<u32> x, wants;
    u64 next;
    u32 of_words;
};

#define LENGTHS (LANES / 2)

// Compact states at `at`, each of as many bits as its length says.
HD static inline u32 compact_states(const Bytes stored, u64 at, States& s) {
    if (at > stored.len || stored.len - at < LENGTHS) return FAULT_STATES;
    PerLane<u32> bits, from;
    EACH_LANE(lane) {
        bits[lane] = 16 + (stored.get(at + lane / 2) >> 4 * (lane % 2) & 15);
        from[lane] = bits[lane];
    }
    const u32 all = sum_of_lanes(bits), bytes = (all + 7) / 8;
    if (stored.len - at - LENGTHS < bytes) return FAULT_STATES;
    sums_before(from);
    EACH_LANE(lane) {
        const u64 first = at + LENGTHS + from[lane] / 8;
        const u64 five = stored.get32(first) | u64(stored.get(first + 4)) << 32;
        s.x[lane] = 1u << bits[lane] | (u32(five >> from[lane] % 8) & ((1u << bits[lane]) - 1));
    }
    s.next = at + LENGTHS + bytes;
    if (all % 8 != 0 && stored.get(s.next - 1) >> all % 8 != 0) return FAULT_PADDING;
    return 0;
}

// Those at `at`, of a group of `count` coded symbols of `alphabet` bits; a fault or 0.
HD static inline u32 first_states(const Group& g, u64 at, u32 count, u32 alphabet, States& s) {
    s.next = at;
    s.of_words = count;
    if (g.has(IS_COMPACT)) {
        const u32 fault = compact_states(g.stored, at, s), in_states = LANES * (16 / alphabet);
        if (fault != 0) return fault;
        s.of_words = count < in_states ? 0 : count - in_states;
    } else {
        if (at > g.stored.len || g.stored.len - at < 4 * LANES) return FAULT_STATES;
        PerLane<u32> wrong;
        EACH_LANE(lane) {
            s.x[lane] = g.stored.get32(at + 4 * lane);
            wrong[lane] = s.x[lane] < START;
        }
        if (ballot(wrong) != 0) return FAULT_STATES;
        s.next = at + 4 * LANES;
    }
    if ((g.stored.len - s.next) % 2 != 0) return FAULT_WORDS;
    return 0;
}

// A symbol that is in the state of its lane.
HD static inline u32 symbol_in_state(u32 alphabet, u32& x) {
    const u32 low = x % START;
    x = x - low + (low >> alphabet);
    return low & ((1u << alphabet) - 1);
}

// A word for each lane that wants one, in their order; false where there are too few.
HD static inline bool take_words(const Group& g, States& s) {
    const u32 takes = ballot(s.wants), taken = count_ones(takes);
    EACH_LANE(lane) {
        if (s.wants[lane] != 0) {
            const u32 before = count_ones(takes & ((1u << lane) - 1));
            s.x[lane] = s.x[lane] << 16 | g.stored.get16(s.next + 2 * before);
        }
    }
    // Behind the end zeros were read.
    if (2 * taken > g.stored.len - s.next) return false;
    s.next += 2 * taken;
    return true;
}

// Whether all lanes are back where an encoder starts.
HD static inline bool are_last(States& s) {
    PerLane<u32> wrong;
    EACH_LANE(lane) wrong[lane] = s.x[lane] != START;
    return ballot(wrong) == 0;
}
