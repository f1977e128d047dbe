// WCodec on a GPU: groups of symbols to tensors.
//
// | kernel | a block | a thread |
// |---|---|---|
// | wcodec_check | groups, one a warp | a lane |
// | wcodec_decode | groups of one part, one a warp; the part's tables in shared memory | a lane |
// | wcodec_join | 4096 bytes of a tensor | four bytes |
//
// They run one after the other on one stream and take the same argument, the numbers of
// `LaunchField`. Everything but these thin wrappers is a function for host and device; tests compile
// it as C++ (twin.cpp) and hold it against the decoder in Rust.
#pragma once
#include "bitplane.cuh"
#include "crc.cuh"
#include "join.cuh"
#include "rans.cuh"

HD static inline u32 decode_opened(const Launch& l, const Group& g, const u8* near, u32 near_count) {
    if (g.field(PART_CODER) == 1) return decode_bitplane(g);
    Tables tables;
    if (!tables_of(l, g.part, tables)) return FAULT_RECORD;
    tables.near = near;
    tables.near_count = near_count < tables.count ? near_count : tables.count;
    return decode_direct(g, tables);
}

// One group by one warp; `near` are the first tables of its part. Symbols of a group with a fault are
// zeros.
HD static inline u32 decode_group(const Launch& l, u64 number, const u8* near, u32 near_count) {
    Group g;
    if (!open_group(l, number, g)) return FAULT_RECORD;
    const u32 fault = decode_opened(l, g, near, near_count);
    if (fault != 0) {
        sync_lanes();
        EACH_LANE(lane) {
            for (u32 i = lane; i < g.count; i += LANES) g.out[i] = 0;
        }
    }
    return fault;
}

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

extern "C" __global__ void __launch_bounds__(256) wcodec_check(const u64* fields) {
    const Launch l = launch_of(fields);
    const u64 number = u64(blockIdx.x) * (blockDim.x / LANES) + threadIdx.x / LANES;
    if (number >= l.group_count) return;
    const u32 fault = check_group(l, number);
    if (threadIdx.x % LANES == 0) set_fault(l, number, fault);
}

extern "C" __global__ void __launch_bounds__(512) wcodec_decode(const u64* fields, u32 shared_bytes) {
    extern __shared__ u32 shared[];
    const Launch l = launch_of(fields);
    if (blockIdx.x >= l.block_count) return;
    const u64* block = l.blocks + u64(blockIdx.x) * BLOCK_FIELDS;
    const u64 first = block[BLOCK_GROUP];
    if (first >= l.group_count) return;
    const u64 part = l.groups[first * GROUP_FIELDS + GROUP_PART];
    // As many of the part's tables as there is room for.
    u32 near_count = 0;
    Tables tables;
    if (part < l.part_count && l.parts[part * PART_FIELDS + PART_CODER] == 0 &&
        tables_of(l, l.parts + part * PART_FIELDS, tables)) {
        const u64 fit = shared_bytes / tables.each;
        near_count = fit < tables.count ? u32(fit) : tables.count;
        const u32* far = reinterpret_cast<const u32*>(tables.far);
        const u32 words = u32(tables.each / 4) * near_count;
        for (u32 i = threadIdx.x; i < words; i += blockDim.x) shared[i] = far[i];
    }
    __syncthreads();
    const u32 warp = threadIdx.x / LANES;
    if (warp >= block[BLOCK_GROUPS]) return;
    const u64 number = first + warp;
    if (number >= l.group_count || l.groups[number * GROUP_FIELDS + GROUP_PART] != part) return;
    const u32 fault = decode_group(l, number, reinterpret_cast<const u8*>(shared), near_count);
    if (threadIdx.x % LANES == 0) set_fault(l, number, fault);
}

extern "C" __global__ void __launch_bounds__(256) wcodec_join(const u64* fields) {
    const Launch l = launch_of(fields);
    if (blockIdx.x >= l.join_block_count) return;
    const u64* block = l.join_blocks + u64(blockIdx.x) * JOIN_BLOCK_FIELDS;
    if (block[JOIN_BLOCK_JOIN] >= l.join_count) return;
    const u64* join = l.joins + block[JOIN_BLOCK_JOIN] * JOIN_FIELDS;
    for (u32 i = 4 * threadIdx.x; i < JOIN_BLOCK_BYTES; i += 4 * blockDim.x) {
        join_four(l, join, block[JOIN_BLOCK_AT] + i);
    }
}

#endif
