//! Which instruction set the kernels use: found once, at run time.

use std::sync::OnceLock;

/// An instruction set that this library tells apart, slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Simd {
    /// Portable Rust, always there.
    Scalar,
    /// aarch64, where NEON is always there. What decoders spend their time in is written for it by hand; of the
    /// other loops the compiler makes NEON where it can, as it does of all with [`Simd::Scalar`].
    Neon,
    /// x86-64 with AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// x86-64 with AVX-512 F, BW, CD, DQ, VL, VBMI, VBMI2, VNNI, BITALG, beside all of [`Simd::Avx2`].
    Avx512,
}

impl Simd {
    /// The name that `LATENS_SIMD` takes.
    pub fn name(self) -> &'static str {
        match self {
            Simd::Scalar => "scalar",
            Simd::Neon => "neon",
            Simd::Avx2 => "avx2",
            Simd::Avx512 => "avx512",
        }
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            Simd::Scalar => true,
            Simd::Neon => cfg!(all(target_arch = "aarch64", target_endian = "little")),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => {
                Simd::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vnni")
                    && is_x86_feature_detected!("avx512vbmi2")
                    && is_x86_feature_detected!("avx512bitalg")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Simd::Avx2 | Simd::Avx512 => false,
        }
    }

    /// All that this processor has, [`Simd::Scalar`] first.
    pub fn available() -> Vec<Simd> {
        let all = [Simd::Scalar, Simd::Neon, Simd::Avx2, Simd::Avx512];
        all.into_iter().filter(|s| s.is_available()).collect()
    }
}

/// The set in use: the best this processor has, or what `LATENS_SIMD` asks for where it has that.
#[inline]
pub fn simd() -> Simd {
    static CHOICE: OnceLock<Simd> = OnceLock::new();
    match CHOICE.get() {
        Some(&simd) => simd,
        None => choose(&CHOICE),
    }
}

#[cold]
fn choose(choice: &OnceLock<Simd>) -> Simd {
    *choice.get_or_init(|| {
        let have = Simd::available();
        let best = have.last().copied().unwrap_or(Simd::Scalar);
        match std::env::var("LATENS_SIMD") {
            Ok(name) => have.iter().copied().find(|s| s.name() == name).unwrap_or(best),
            Err(_) => best,
        }
    })
}

/// Whether this processor takes longer for a gather than for as many single loads and what joins them: AMD's do,
/// of which sixteen lanes take a Zen 4 21 and 14 cycles.
#[cfg(target_arch = "x86_64")]
pub(crate) fn gathers_are_slow() -> bool {
    static SLOW: OnceLock<bool> = OnceLock::new();
    *SLOW.get_or_init(|| {
        #[allow(unused_unsafe, reason = "safe in newer versions of Rust than the oldest supported")]
        // SAFETY: every processor with x86-64 has the instruction.
        let vendor = unsafe { std::arch::x86_64::__cpuid(0) };
        [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"AuthenticAMD"
    })
}

/// KiB of the cache for data that is nearest to a core, as AMD's processors say; 0 where others are silent.
#[cfg(target_arch = "x86_64")]
pub(crate) fn nearest_cache() -> u32 {
    static KIB: OnceLock<u32> = OnceLock::new();
    *KIB.get_or_init(|| {
        #[allow(unused_unsafe, reason = "safe in newer versions of Rust than the oldest supported")]
        // SAFETY: every processor with x86-64 has the instruction, and says here how far the leaves go.
        let leaf = |leaf: u32| unsafe { std::arch::x86_64::__cpuid(leaf) };
        let known = gathers_are_slow() && leaf(0x8000_0000).eax >= 0x8000_0005;
        if known { leaf(0x8000_0005).ecx >> 24 } else { 0 }
    })
}

/// An instruction set that this processor has: the proof that its kernels may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Present(Simd);

impl Present {
    /// `simd` where this processor has it, [`Simd::Scalar`] elsewhere.
    pub fn new(simd: Simd) -> Self {
        Self(if simd.is_available() { simd } else { Simd::Scalar })
    }

    /// The set in use.
    #[inline]
    pub fn in_use() -> Self {
        Self(simd())
    }

    /// Which one it is.
    #[inline(always)]
    pub fn simd(self) -> Simd {
        self.0
    }

    /// Runs work that is compiled for each instruction set, so that plain loops become the
    /// vectors that the set has.
    #[inline]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn with_avx2<W: Work>(work: W) -> W::Output {
                work.run()
            }
            #[target_feature(
                enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
            )]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn with_avx512<W: Work>(work: W) -> W::Output {
                work.run()
            }
            match self.0 {
                // SAFETY: `self` is made for what the processor has alone.
                Simd::Avx512 => return unsafe { with_avx512(work) },
                // SAFETY: likewise.
                Simd::Avx2 => return unsafe { with_avx2(work) },
                _ => {}
            }
        }
        work.run()
    }

    /// [`Present::run`] for a closure, which is to be marked `#[inline(always)]` like all that it
    /// calls in its loops.
    #[inline]
    pub fn call<R>(self, loops: impl FnOnce() -> R) -> R {
        struct Call<F>(F);
        impl<R, F: FnOnce() -> R> Work for Call<F> {
            type Output = R;
            #[inline(always)]
            fn run(self) -> R {
                (self.0)()
            }
        }
        self.run(Call(loops))
    }
}

/// A loop without intrinsics for [`Present::run`].
pub trait Work {
    /// What comes out.
    type Output;
    /// Does it. To be marked `#[inline(always)]`, with all that it calls: else it is compiled
    /// for the least of instruction sets alone.
    fn run(self) -> Self::Output;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalar_is_always_there_and_the_choice_is_available() {
        assert_eq!(Simd::available()[0], Simd::Scalar);
        assert!(simd().is_available());
    }
}
