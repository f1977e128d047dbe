//! Running sums in portable code: all orders in one pass, the moments in registers.

use crate::latent::Latent;

pub(crate) fn undo<L: Latent>(moments: &mut [L], latents: &mut [L]) {
    match moments.len() {
        0 => {}
        1 => undo_order::<L, 1>(moments, latents),
        2 => undo_order::<L, 2>(moments, latents),
        3 => undo_order::<L, 3>(moments, latents),
        _ => {
            // The newest sums are those of the last three.
            let (first, last) = moments.split_at_mut(moments.len() - 3);
            undo_order::<L, 3>(last, latents);
            undo(first, latents);
        }
    }
}

/// The same of two sums or more to a place of their own.
#[cfg(target_arch = "x86_64")]
pub(crate) fn undo_to<L: Latent>(moments: &mut [L], latents: &mut [L], dst: &mut [L]) {
    match moments.len() {
        2 => undo_order_to::<L, 2>(moments, latents, dst),
        3 => undo_order_to::<L, 3>(moments, latents, dst),
        n => {
            let (first, last) = moments.split_at_mut(n - 2);
            undo(last, latents);
            undo_to(first, latents, dst);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn undo_order_to<L: Latent, const ORDER: usize>(moments: &mut [L], latents: &[L], dst: &mut [L]) {
    let Some(moments) = moments.first_chunk_mut::<ORDER>() else { return };
    let mut m = *moments;
    for (x, &residual) in dst.iter_mut().zip(latents) {
        *x = next(&mut m, residual);
    }
    *moments = m;
}

#[inline(always)]
fn undo_order<L: Latent, const ORDER: usize>(moments: &mut [L], latents: &mut [L]) {
    let Some(moments) = moments.first_chunk_mut::<ORDER>() else { return };
    let mut m = *moments;
    for x in latents {
        *x = next(&mut m, *x);
    }
    *moments = m;
}

/// The latent before a residual, which moves the moments on.
#[inline(always)]
fn next<L: Latent, const ORDER: usize>(m: &mut [L; ORDER], residual: L) -> L {
    let latent = m[0];
    for j in 1..ORDER {
        m[j - 1] = m[j - 1].plus_low(m[j].widen());
    }
    m[ORDER - 1] = m[ORDER - 1].plus_low(residual.widen());
    latent
}
