// CRC-32 (IEEE 802.3) of a group's stored bytes, and its padding.
//
// Lane i takes words i, i + 32, … of the whole rows of 128 bytes: between two of its words the sum
// moves on by 128 bytes, which four tables do. Then the lanes' sums are one word after another of a
// last row; what is left goes byte by byte.
#pragma once
#include "batch.cuh"

#define CRC_TABLES 5u  // by a byte; by 128 bytes, for each byte of the sum

// The tables are the first of `side`.
HD static inline u32 crc_table(const Bytes& side, u32 table, u32 byte) {
    return side.word32(0, table * 256 + byte);
}

HD static inline u32 crc_byte(const Bytes& side, u32 crc, u32 byte) {
    return crc_table(side, 0, (crc ^ byte) & 255) ^ crc >> 8;
}

HD static inline u32 crc_row(const Bytes& side, u32 crc) {
    return crc_table(side, 1, crc & 255) ^ crc_table(side, 2, crc >> 8 & 255) ^
           crc_table(side, 3, crc >> 16 & 255) ^ crc_table(side, 4, crc >> 24);
}

HD static inline u32 crc_of(const Bytes& side, const Bytes& data) {
    const u64 rows = data.len / 128;
    u32 crc = 0xffffffffu;
    if (rows > 0) {
        PerLane<u32> sum;
        EACH_LANE(lane) {
            u32 own = lane == 0 ? crc : 0;
            for (u64 row = 0; row < rows; ++row) {
                if (row > 0) own = crc_row(side, own);
                own ^= data.word32(0, row * LANES + lane);
            }
            sum[lane] = own;
        }
        crc = 0;
        for (u32 from = 0; from < LANES; ++from) {
            crc ^= from_lane(sum, from);
            for (u32 byte = 0; byte < 4; ++byte) crc = crc_byte(side, crc, 0);
        }
    }
    for (u64 i = rows * 128; i < data.len; ++i) crc = crc_byte(side, crc, data.get(i));
    return ~crc;
}

// Groups begin on four bytes in `input`; bytes up to the next such place are zero.
HD static inline u32 check_group(const Launch& l, u64 number) {
    if (number >= l.group_count) return 0;
    const u64* f = l.groups + number * GROUP_FIELDS;
    const u64 at = f[GROUP_AT], len = f[GROUP_LEN];
    const u64 padding = (4 - len % 4) % 4;
    if (at % 4 != 0 || at > l.input.len || len > l.input.len - at ||
        padding > l.input.len - at - len) {
        return FAULT_RECORD;
    }
    u32 fault = 0;
    for (u64 i = 0; i < padding; ++i) {
        if (l.input.get(at + len + i) != 0) fault |= FAULT_PADDING;
    }
    if (crc_of(l.side, l.input.sub(at, len)) != u32(f[GROUP_CRC])) fault |= FAULT_CRC;
    return fault;
}
