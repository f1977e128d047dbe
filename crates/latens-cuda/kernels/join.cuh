// Parts to the bytes of tensors: specs/wcodec-views.md, from the other side. What byte `i` of a tensor
// is follows from `i` alone.
#pragma once
#include "batch.cuh"

enum JoinKind {
    JOIN_COPY,         // one part's bytes, from JOIN_A on
    JOIN_VALUES,       // symbols of A bits as integers; B: 0 two's complement, 1 unsigned, 2 offset
    JOIN_FLIP,         // bytes with A changed where their highest bit is set, B where it is not
    JOIN_COLUMNS,      // symbols of A bits in words of B bytes, C: 0 lowest first, 1 highest, 2 AWQ's
    JOIN_ROWS,         // likewise below each other; D columns
    JOIN_FLOAT_BYTES,  // planes of bytes
    JOIN_BLOCK32,      // blocks of A bytes: scale of B, minimum where C & 1, fifth bits where C & 2
    JOIN_Q8_0,
    JOIN_K,            // blocks of A bytes: 144 (Q4_K), 176 (Q5_K)
    JOIN_Q6_K,
};

enum JoinField {
    JOIN_KIND, JOIN_A, JOIN_B, JOIN_C, JOIN_D,
    JOIN_OUT, JOIN_LEN,      // in `outputs`
    JOIN_PART_COUNT,
    JOIN_PARTS,              // eight times: place in `planes`, bytes
    JOIN_FIELDS = JOIN_PARTS + 16,
};

#define JOIN_BLOCK_BYTES 4096u

struct Parts {
    Bytes planes;
    const u64* join;

    HD u64 field(u32 f) const { return fixed(join + f); }
    HD Bytes part(u32 number) const {
        if (number >= field(JOIN_PART_COUNT) || number >= 8) return Bytes{planes.at, 0};
        return planes.sub(field(JOIN_PARTS + 2 * number), field(JOIN_PARTS + 2 * number + 1));
    }
    HD u32 get(u32 number, u64 i) const { return part(number).get(i); }
};

// A byte of symbols that straddle bytes, lowest first: those of a row are one stream, or where there are `cols`, those of
// a column are.
HD static inline u32 straddling_byte(const Bytes& symbols, u64 i, u32 bits, u64 word, u64 cols) {
    const u64 together = bits == 6 ? 3 : bits, unit = together * word;
    const u64 each = unit * 8 / bits, apart = cols == 0 ? 1 : cols;
    const u64 row = i % (apart * word) / word, words = i / (apart * word);
    // Its place among the bytes of `together` words.
    const u64 at = words % together * word + i % word;
    const u64 first = words / together * each * apart + row;
    u32 out = 0;
    for (u64 k = 8 * at / bits; k < each && k * bits < 8 * at + 8; ++k) {
        const u32 symbol = symbols.get(first + k * apart) & ((1u << bits) - 1);
        const u64 begins = k * bits;
        out |= begins < 8 * at ? symbol >> (8 * at - begins) : symbol << (begins - 8 * at);
    }
    return out & 255;
}

HD static inline u32 packed_byte(const Parts& p, u64 i, bool rows) {
    const u32 bits = u32(p.field(JOIN_A)), order = u32(p.field(JOIN_C));
    const u64 word = p.field(JOIN_B), cols = p.field(JOIN_D);
    if (bits == 0 || bits > 8 || word == 0 || word > 8 || (rows && cols == 0)) return 0;
    const Bytes symbols = p.part(0);
    if (8 % bits != 0) return straddling_byte(symbols, i, bits, word, rows ? cols : 0);
    const u64 a_byte = 8 / bits, each = a_byte * word;
    const u64 in_word = i % word, unit = rows ? cols * word : word;
    const u64 column = i % unit / word;
    u32 out = 0;
    for (u64 q = 0; q < a_byte; ++q) {
        const u64 place = in_word * a_byte + q;
        const u64 k = order == 0 ? place
                      : order == 1 ? each - 1 - place
                      : place < 4  ? 2 * place
                                   : 2 * (place - 4) + 1;
        const u64 at = rows ? (i / unit * each + k) * cols + column : i / unit * each + k;
        out |= (symbols.get(at) & ((1u << bits) - 1)) << (q * bits);
    }
    return out;
}

HD static inline u32 float_byte(const Parts& p, u64 i) {
    const u32 width = u32(p.field(JOIN_PART_COUNT));
    if (width == 0 || width > 8) return 0;
    const u64 e = i / width;
    const u32 byte = u32(i % width), above = (byte + 1) % width;
    // Planes are from the top, and turned left by a bit.
    const u32 own = p.get(width - 1 - byte, e), next = p.get(width - 1 - above, e);
    return own >> 1 | (next & 1) << 7;
}

HD static inline u32 block32_byte(const Parts& p, u64 i) {
    const u64 size = p.field(JOIN_A), scale = p.field(JOIN_B), fields = p.field(JOIN_C);
    if (size == 0) return 0;
    const u64 block = i / size;
    u64 at = i % size;
    if (at < scale) return p.get(0, block * scale + at);
    at -= scale;
    u32 weights = 1;
    if ((fields & 1) != 0) {
        if (at < 2) return p.get(1, block * 2 + at);
        at -= 2;
        weights = 2;
    }
    const Bytes w = p.part(weights);
    const u64 first = block * 32;
    if ((fields & 2) != 0) {
        if (at < 4) {
            u32 out = 0;
            for (u32 bit = 0; bit < 8; ++bit) out |= (w.get(first + 8 * at + bit) >> 4 & 1) << bit;
            return out;
        }
        at -= 4;
    }
    return (w.get(first + at) & 15) | (w.get(first + at + 16) << 4 & 0xf0);
}

// Q4_K and Q5_K.
HD static inline u32 k_byte(const Parts& p, u64 i) {
    const u64 size = p.field(JOIN_A);
    if (size == 0) return 0;
    const u64 block = i / size, at = i % size;
    if (at < 2) return p.get(0, block * 2 + at);
    if (at < 4) return p.get(1, block * 2 + at - 2);
    const u64 eight = block * 8;
    if (at < 16) {
        const u64 j = (at - 4) % 4;
        const u32 field = u32(at - 4) / 4;
        const u32 scale = p.get(2, eight + j + 4), min = p.get(3, eight + j + 4);
        if (field == 0) return (p.get(2, eight + j) & 63) | (scale >> 4 << 6 & 0xc0);
        if (field == 1) return (p.get(3, eight + j) & 63) | (min >> 4 << 6 & 0xc0);
        return (scale & 15) | (min << 4 & 0xf0);
    }
    const Bytes w = p.part(4);
    const u64 first = block * 256, nibbles = size - 128;
    if (at < nibbles) {
        u32 out = 0;
        for (u32 j = 0; j < 8; ++j) out |= (w.get(first + 32 * j + at - 16) >> 4 & 1) << j;
        return out;
    }
    const u64 j = (at - nibbles) / 32, k = (at - nibbles) % 32;
    return (w.get(first + 64 * j + k) & 15) | (w.get(first + 64 * j + 32 + k) << 4 & 0xf0);
}

HD static inline u32 q6_k_byte(const Parts& p, u64 i) {
    const u64 block = i / 210, at = i % 210, first = block * 256;
    if (at >= 208) return p.get(0, block * 2 + at - 208);
    if (at >= 192) return p.get(1, block * 16 + at - 192);
    const Bytes w = p.part(2);
    if (at < 128) {
        // Lower four bits: of run r and run r + 2.
        const u64 weight = first + at / 64 * 128 + at % 64;
        return (w.get(weight) & 15) | (w.get(weight + 64) << 4 & 0xf0);
    }
    const u64 weight = first + (at - 128) / 32 * 128 + (at - 128) % 32;
    u32 out = 0;
    for (u32 r = 0; r < 4; ++r) out |= (w.get(weight + 32 * r) >> 4 & 3) << (2 * r);
    return out;
}

HD static inline u32 q8_0_byte(const Parts& p, u64 i) {
    const u64 block = i / 34, at = i % 34;
    return at < 2 ? p.get(0, block * 2 + at) : p.get(1, block * 32 + at - 2);
}

HD static inline u32 value_byte(const Parts& p, u64 i) {
    const u32 bits = u32(p.field(JOIN_A)) & 15, symbol = p.get(0, i);
    if (bits == 0 || bits > 8) return 0;
    const u32 half = 1u << (bits - 1);
    switch (p.field(JOIN_B)) {
        case 0: return ((symbol ^ half) - half) & 255;
        case 2: return (symbol - half) & 255;
        default: return symbol;
    }
}

HD static inline u32 join_byte(const Parts& p, u64 i) {
    switch (p.field(JOIN_KIND)) {
        case JOIN_VALUES: return value_byte(p, i);
        case JOIN_FLIP: {
            const u32 byte = p.get(0, i);
            return (byte ^ u32(byte >> 7 != 0 ? p.field(JOIN_A) : p.field(JOIN_B))) & 255;
        }
        case JOIN_COLUMNS: return packed_byte(p, i, false);
        case JOIN_ROWS: return packed_byte(p, i, true);
        case JOIN_FLOAT_BYTES: return float_byte(p, i);
        case JOIN_BLOCK32: return block32_byte(p, i);
        case JOIN_Q8_0: return q8_0_byte(p, i);
        case JOIN_K: return k_byte(p, i);
        case JOIN_Q6_K: return q6_k_byte(p, i);
        default: return p.get(0, i);
    }
}

// Four bytes of a tensor from `i` on, as far as it has them. Outputs begin on four bytes.
HD static inline void join_four(const Launch& l, const u64* join, u64 i) {
    u8* out = l.outputs.room(join[JOIN_OUT], join[JOIN_LEN]);
    if (out == nullptr || i >= join[JOIN_LEN]) return;
    const Parts p{l.planes.bytes(), join};
    if (i % 4 == 0 && join[JOIN_OUT] % 4 == 0 && join[JOIN_LEN] - i >= 4) {
        u32 four = 0;
        for (u32 k = 0; k < 4; ++k) four |= join_byte(p, i + k) << (8 * k);
        *reinterpret_cast<u32*>(out + i) = four;
    } else {
        for (u64 k = i; k < i + 4 && k < join[JOIN_LEN]; ++k) out[k] = u8(join_byte(p, k));
    }
}
