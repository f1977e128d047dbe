//! The SIMD kernels of latens, with the unsafe code that they need: the crate that parses bytes has none.
//!
//! Every kernel takes slices and checked parameters and has a scalar twin that is always
//! compiled; which of them runs is decided once, at run time, by [`dispatch`].
//! `LATENS_SIMD=scalar|neon|avx2|avx512` forces a choice (as far as the processor has it).

pub mod conv1;
pub mod delta;
pub mod dispatch;
pub mod escapes;
pub mod lane;
mod latent;
pub mod lookback;
pub mod lookup;
pub mod nibbles;
pub mod pack;
pub mod prefetch;
pub mod products;
pub mod ranges;
pub mod rans;
pub mod rearrange;
pub mod sizes;
pub mod stack;
pub mod strips;
pub mod sums;
pub mod tans;
pub mod taps;
pub mod testing;
pub mod transform;
pub mod trellis;

mod scalar {
    pub(crate) mod delta;
    pub(crate) mod delta_pack;
    pub(crate) mod pack;
    pub(crate) mod ranges;
    pub(crate) mod rans;
    pub(crate) mod rans_encode;
    pub(crate) mod sums;
    pub(crate) mod tans;
    pub(crate) mod tans_encode;
}

/// Kernels for aarch64, where NEON is always there.
#[cfg(target_arch = "aarch64")]
mod aarch64 {
    pub(crate) mod neon_conv1;
    pub(crate) mod neon_delta;
    mod neon_finish;
    pub(crate) mod neon_latents;
    pub(crate) mod neon_lookup;
    mod neon_offsets;
    mod neon_places;
    pub(crate) mod neon_rans;
    mod neon_rans_slots;
    pub(crate) mod neon_sums;
    pub(crate) mod neon_walk;
}

/// Kernels for x86-64. The AVX-512 ones are written over a handful of named operations
/// (`vector512`, `lanes512`), which have a portable model: their logic is compiled and tested everywhere.
mod x86_64 {
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_conv1;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_delta;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_escapes;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_lookup;
    #[cfg(target_arch = "x86_64")]
    mod avx2_offsets;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_products;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_rans;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_rans_encode;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_rans_wide;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_rearrange;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_sizes;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_stack;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_sums;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_taps;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_transform;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_trellis;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx2_walk;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_conv1;
    #[cfg(any(target_arch = "x86_64", test))]
    pub(crate) mod avx512_delta;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_escapes;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_few_ranges;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_lookup;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_nibbles;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_pack;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_pages;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_products;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_ranges;
    #[cfg(any(target_arch = "x86_64", test))]
    pub(crate) mod avx512_rans;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_rans_encode;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_rearrange;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_strips;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_sums;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_tans;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_taps;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_trellis;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod avx512_walk;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod bmi2_tans;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod bmi2_tans_encode;
    #[cfg(target_arch = "x86_64")]
    pub(crate) mod bmi2_walk;
    #[cfg(any(target_arch = "x86_64", test))]
    pub(crate) mod lanes512;
    #[cfg(target_arch = "x86_64")]
    mod registers512;
    #[cfg(any(target_arch = "x86_64", test))]
    pub(crate) mod vector512;
}
