//! From one latent to the next: what cannot be begun before the one that came last is there.

use crate::latent::Latent;
use std::hint::select_unpredictable;

/// A latent out of its residual and its sum, which is `sum` and the product of what came last.
///
/// The residual goes in before the shift, beside the sum: what waits for the latent before is a
/// product, an addition, a choice, a shift and what the latent's width cuts off.
#[inline(always)]
pub(super) fn next<L: Latent>(shift: u32, sum: i64, product: i64, residual: L) -> L {
    let residual = residual.widen() << shift;
    let both = scalar(sum.wrapping_add(residual.cast_signed())).wrapping_add(product);
    let is_negative = sum.wrapping_add(product) < 0;
    // Signs may be as good as random.
    let scaled = select_unpredictable(is_negative, residual, both.cast_unsigned());
    L::from_low(scaled >> shift)
}

/// [`next`] where the sum is not negative, and the sum.
///
/// Of the sum with the residual only the bits from `shift` on count, as many as a latent has. So all
/// is made larger beforehand by what puts these at the top, and one shift cuts off both ends: what
/// waits is a product, an addition and that shift. The sum itself, for its sign, comes beside them.
#[inline(always)]
pub(super) fn hasty<L: Latent>(
    shift: u32,
    sum: i64,
    weight: i64,
    last: i64,
    residual: L,
) -> (L, i64) {
    // 1 at least.
    let above = u64::BITS - L::WIDTH - shift;
    let residual = residual.widen() << (u64::BITS - L::WIDTH);
    let product = scalar(weight << above).wrapping_mul(last);
    let begun = scalar((sum << above).wrapping_add(residual.cast_signed()));
    let both = begun.wrapping_add(product).cast_unsigned();
    let whole = sum.wrapping_add(scalar(weight.wrapping_mul(last)));
    (L::from_low(both >> (u64::BITS - L::WIDTH)), whole)
}

/// The same with less work; all that waits in [`next`] does so here, but for the choice.
#[inline(always)]
pub(super) fn unchecked<L: Latent>(shift: u32, sum: i64, product: i64, residual: L) -> (L, i64) {
    let residual = (residual.widen() << shift).cast_signed();
    let both = scalar(sum.wrapping_add(residual)).wrapping_add(product);
    (L::from_low(both.cast_unsigned() >> shift), both.wrapping_sub(residual))
}

/// Keeps the vectoriser of superwords away from a chain that nothing can be done for at once.
#[inline(always)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(unused_mut, reason = "nothing to do")
)]
pub(super) fn scalar(mut x: i64) -> i64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}
