//! Telling the processor of memory ahead of time.

use crate::dispatch::Present;
#[cfg(target_arch = "x86_64")]
use crate::dispatch::Simd;

/// Memory that will be written soon: it is fetched meanwhile, so that stores do not wait for it, nor
/// whatever comes after them.
#[inline]
pub fn to_write<T>(present: Present, place: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if matches!(present.simd(), Simd::Avx2 | Simd::Avx512) {
        const LINE: usize = 64;
        let start = place.as_mut_ptr().cast::<u8>();
        for at in (0..size_of_val(place)).step_by(LINE) {
            // SAFETY: a hint, within the slice, that changes neither memory nor flags. Every x86-64 processor
            // with AVX2 takes the instruction: those without PREFETCHW execute it as a no-op.
            unsafe {
                std::arch::asm!("prefetchw [{0}]", in(reg) start.add(at), options(nostack, preserves_flags));
            }
        }
    }
    let _ = (present, place);
}
