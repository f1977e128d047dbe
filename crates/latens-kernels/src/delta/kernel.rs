//! Which kernels run.

use crate::dispatch::Simd;

/// The decoding kernels of one instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(pub(super) Simd);

impl Kernel {
    /// Those of `simd` where this processor has it, the scalar ones elsewhere.
    pub fn new(simd: Simd) -> Self {
        Self(if simd.is_available() { simd } else { Simd::Scalar })
    }

    /// Whether AVX2 may be used.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn has_avx2(self) -> bool {
        matches!(self.0, Simd::Avx2 | Simd::Avx512)
    }
}
