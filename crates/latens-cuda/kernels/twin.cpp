// The kernels as a program of the host, for tests: batches come in on stdin, results go out on stdout.
// A batch is its lengths as numbers of 64 bits (below), then its buffers; a result is the status words
// and the outputs. Every buffer is an allocation of its own, so that AddressSanitizer sees its ends.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "wcodec_decode.cuh"

namespace {

bool read_all(void* to, size_t bytes) { return fread(to, 1, bytes, stdin) == bytes; }

template <class T>
std::vector<T> read_buffer(u64 count) {
    std::vector<T> buffer(count);
    if (count > 0 && !read_all(buffer.data(), count * sizeof(T))) exit(3);
    return buffer;
}

u64 place(const void* at) { return reinterpret_cast<u64>(at); }

}  // namespace

int main() {
    // input, side, planes, outputs, scratch: bytes; parts, groups, joins, blocks, join blocks: records.
    u64 n[10];
    while (read_all(n, sizeof n)) {
        std::vector<u8> input = read_buffer<u8>(n[0]), side = read_buffer<u8>(n[1]);
        std::vector<u8> planes = read_buffer<u8>(n[2]), outputs(n[3]), scratch(n[4]);
        std::vector<u64> parts = read_buffer<u64>(n[5] * PART_FIELDS);
        std::vector<u64> groups = read_buffer<u64>(n[6] * GROUP_FIELDS);
        std::vector<u64> joins = read_buffer<u64>(n[7] * JOIN_FIELDS);
        std::vector<u64> blocks = read_buffer<u64>(n[8] * BLOCK_FIELDS);
        std::vector<u64> join_blocks = read_buffer<u64>(n[9] * JOIN_BLOCK_FIELDS);
        std::vector<u32> status(n[6] + 1);
        const u64 fields[LAUNCH_FIELDS] = {
            place(input.data()), n[0], place(side.data()), n[1], place(planes.data()), n[2],
            place(outputs.data()), n[3], place(scratch.data()), n[4], place(parts.data()), n[5],
            place(groups.data()), n[6], place(joins.data()), n[7], place(blocks.data()), n[8],
            place(join_blocks.data()), n[9], place(status.data()),
        };
        const Launch l = launch_of(fields);
        for (u64 g = 0; g < l.group_count; ++g) set_fault(l, g, check_group(l, g));
        // As blocks have it: every other one has the first half of its tables near.
        std::vector<u64> shared;
        for (u64 b = 0; b < l.block_count; ++b) {
            const u64 first = l.blocks[b * BLOCK_FIELDS + BLOCK_GROUP];
            const u64 count = l.blocks[b * BLOCK_FIELDS + BLOCK_GROUPS];
            for (u64 g = first; g < first + count && g < l.group_count; ++g) {
                Tables t;
                const u64 part = l.groups[g * GROUP_FIELDS + GROUP_PART];
                u32 near_count = 0;
                if (part < l.part_count && tables_of(l, l.parts + part * PART_FIELDS, t) &&
                    b % 2 == 0) {
                    near_count = (t.count + 1) / 2;
                    shared.resize((t.each * near_count + 7) / 8);
                    if (near_count > 0) memcpy(shared.data(), t.far, t.each * near_count);
                }
                set_fault(l, g, decode_group(l, g, reinterpret_cast<u8*>(shared.data()), near_count));
            }
        }
        for (u64 b = 0; b < l.join_block_count; ++b) {
            const u64 join = l.join_blocks[b * JOIN_BLOCK_FIELDS + JOIN_BLOCK_JOIN];
            const u64 at = l.join_blocks[b * JOIN_BLOCK_FIELDS + JOIN_BLOCK_AT];
            if (join >= l.join_count) continue;
            for (u32 i = 0; i < JOIN_BLOCK_BYTES; i += 4) {
                join_four(l, l.joins + join * JOIN_FIELDS, at + i);
            }
        }
        fwrite(status.data(), sizeof(u32), status.size(), stdout);
        if (!outputs.empty()) fwrite(outputs.data(), 1, outputs.size(), stdout);
        fflush(stdout);
    }
    return 0;
}
