// One warp: 32 lanes that run the same function.
//
// On a GPU each lane is a thread, and what a lane has of its own is a register. On the host the lanes
// are loops, and what a lane has of its own is an array. The same functions run on both: work of
// lanes stands in EACH_LANE, and everything outside of it is the same for all lanes. Values pass
// from lane to lane by the functions below alone, which all lanes call together.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define HD __host__ __device__
// What is seldom called keeps its registers to itself; it takes copies, so that what the caller has
// can stay in registers too.
#define SELDOM __host__ __device__ __noinline__
#else
#define HD
#define SELDOM
#endif

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;

static_assert(sizeof(u32) == 4 && sizeof(u64) == 8 && sizeof(u16) == 2, "sizes of integers");

#define LANES 32u

#if defined(__CUDA_ARCH__)

#define EACH_LANE(lane) \
    for (u32 lane = threadIdx.x % LANES, once_ = 1; once_ != 0; once_ = 0)

template <class T>
struct PerLane {
    T own;
    HD T& operator[](u32) { return own; }
};

#else

#define EACH_LANE(lane) for (u32 lane = 0; lane < LANES; ++lane)

template <class T>
struct PerLane {
    T all[LANES];
    HD T& operator[](u32 lane) { return all[lane]; }
};

#endif

// Bit i is set where lane i has a number other than 0.
HD static inline u32 ballot(PerLane<u32>& yes) {
#if defined(__CUDA_ARCH__)
    return __ballot_sync(0xffffffffu, yes[0] != 0);
#else
    u32 bits = 0;
    EACH_LANE(lane) bits |= u32(yes[lane] != 0) << lane;
    return bits;
#endif
}

// What lane `from` has.
HD static inline u32 from_lane(PerLane<u32>& value, u32 from) {
#if defined(__CUDA_ARCH__)
    return __shfl_sync(0xffffffffu, value[0], int(from % LANES));
#else
    return value[from % LANES];
#endif
}

// The sum over all lanes, mod 2^32.
HD static inline u32 sum_of_lanes(PerLane<u32>& value) {
#if defined(__CUDA_ARCH__)
    u32 sum = value[0];
    for (u32 step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, int(step));
    return sum;
#else
    u32 sum = 0;
    EACH_LANE(lane) sum += value[lane];
    return sum;
#endif
}

// In the place of what each lane has the sum over the lanes before it, mod 2^32.
HD static inline void sums_before(PerLane<u32>& value) {
#if defined(__CUDA_ARCH__)
    const u32 lane = threadIdx.x % LANES, own = value[0];
    u32 sum = own;
    for (u32 step = 1; step < LANES; step *= 2) {
        const u32 other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    value[0] = sum - own;
#else
    u32 sum = 0;
    EACH_LANE(lane) {
        const u32 own = value[lane];
        value[lane] = sum;
        sum += own;
    }
#endif
}

// What lanes wrote to memory before, all lanes see behind.
HD static inline void sync_lanes() {
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
}

// What nobody writes while a kernel runs: loads of it can be moved out of loops that write elsewhere.
template <class T>
HD static inline T fixed(const T* at) {
#if defined(__CUDA_ARCH__)
    return __ldg(at);
#else
    return *at;
#endif
}

// How many bits are set.
HD static inline u32 count_ones(u32 x) {
#if defined(__CUDA_ARCH__)
    return u32(__popc(int(x)));
#else
    return u32(__builtin_popcount(x));
#endif
}

// Sets bits of a number that other warps may set too.
HD static inline void set_bits(u32* at, u32 bits) {
#if defined(__CUDA_ARCH__)
    atomicOr(at, bits);
#else
    *at |= bits;
#endif
}
