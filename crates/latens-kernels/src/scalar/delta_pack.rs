//! The writing side of [`crate::delta`]: portable loops, which the compiler vectorises; where the
//! processor has AVX2 the same loops run compiled for it.

use crate::delta::kernel::Kernel;
use crate::lane::Lane;

/// Compiles the body once as it is and once for AVX2, and picks by the kernel.
macro_rules! also_for_avx2 {
    ($kernel:expr, $lane:ident, fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1,bmi2")]
            fn with_avx2<$lane: Lane>($($arg: $ty),*) -> $out {
                $name($($arg),*)
            }
            if $kernel.has_avx2() {
                // SAFETY: a `Kernel` is made for what the processor has alone.
                return unsafe { with_avx2($($arg),*) };
            }
        }
        let _ = $kernel;
        $name($($arg),*)
    }};
}

/// See [`crate::delta::deltas`].
pub(crate) fn deltas<L: Lane>(kernel: Kernel, previous: L, values: &[L], out: &mut [L]) -> L {
    assert_eq!(values.len(), out.len(), "one delta for each value");
    also_for_avx2!(kernel, L, fn deltas_loop(previous: L, values: &[L], out: &mut [L]) -> L)
}

#[inline(always)]
fn deltas_loop<L: Lane>(previous: L, values: &[L], out: &mut [L]) -> L {
    let (Some(&first), Some((first_out, rest_out))) = (values.first(), out.split_first_mut())
    else {
        return L::default();
    };
    *first_out = first.minus(previous);
    let mut least = *first_out;
    for ((a, b), out) in values.iter().zip(&values[1..]).zip(rest_out) {
        *out = b.minus(*a);
        least = least.signed_min(*out);
    }
    least
}

/// See [`crate::delta::subtract`].
pub(crate) fn subtract<L: Lane>(kernel: Kernel, min: L, deltas: &mut [L]) -> u8 {
    also_for_avx2!(kernel, L, fn subtract_loop(min: L, deltas: &mut [L]) -> u8)
}

#[inline(always)]
fn subtract_loop<L: Lane>(min: L, deltas: &mut [L]) -> u8 {
    let mut all = L::default();
    for delta in deltas {
        *delta = delta.minus(min);
        all = all.or(*delta);
    }
    let bits = u64::BITS - all.widen().leading_zeros();
    bits.to_le_bytes()[0]
}

/// See [`crate::delta::pack`].
pub(crate) fn pack<L: Lane>(values: &[L], width: u8, out: &mut Vec<u8>) {
    assert!(u32::from(width) <= L::BITS, "a width above {}", L::BITS);
    macro_rules! by_width {
        ($($w:literal)*) => {
            match width {
                $($w => pack_width::<L, $w>(values, out),)*
                _ => {}
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
              33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
              62 63 64)
}

/// 32 values fill `4 W` bytes.
#[inline]
fn pack_width<L: Lane, const W: usize>(values: &[L], out: &mut Vec<u8>) {
    if W > L::BITS as usize {
        return;
    }
    let start = out.len();
    out.resize(start + (values.len() * W).div_ceil(8), 0);
    let mut dst = &mut out[start..];
    let mut groups = values.chunks_exact(32);
    for group in &mut groups {
        let (now, rest) = dst.split_at_mut(4 * W);
        pack_group::<L, W>(group, now);
        dst = rest;
    }
    let rest = groups.remainder();
    if !rest.is_empty() {
        let mut padded = [L::default(); 32];
        padded[..rest.len()].copy_from_slice(rest);
        let mut bytes = [0u8; 256];
        pack_group::<L, W>(&padded, &mut bytes[..4 * W]);
        dst.copy_from_slice(&bytes[..dst.len()]);
    }
}

/// Unrolled by hand: word and shift of each value are constants then, which the compiler does not
/// see to by itself (`optimizations/delta-binary-packed.md`).
#[inline(always)]
fn pack_group<L: Lane, const W: usize>(group: &[L], dst: &mut [u8]) {
    let (group, dst) = (&group[..32], &mut dst[..4 * W]);
    let mut word = 0u64;
    macro_rules! put {
        ($($i:literal)*) => {$(
            let x = group[$i].widen();
            let (at, shift) = ($i * W / 64 * 8, $i * W % 64);
            word |= x << shift;
            if shift + W >= 64 {
                dst[at..at + 8].copy_from_slice(&word.to_le_bytes());
                word = if shift + W > 64 { x >> (64 - shift) } else { 0 };
            }
        )*};
    }
    put!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    if W % 2 == 1 {
        dst[4 * W - 4..].copy_from_slice(&word.to_le_bytes()[..4]);
    }
}
