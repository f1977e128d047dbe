//! The SIMD kernels of latens: the only crate of the project that holds unsafe code.
//!
//! Every kernel takes slices and checked parameters and has a scalar twin that is always
//! compiled; which of them runs is decided once, at run time, by [`dispatch`].
//! `LATENS_SIMD=scalar|avx2|avx512` forces a choice (as far as the processor has it).

pub mod dispatch;
