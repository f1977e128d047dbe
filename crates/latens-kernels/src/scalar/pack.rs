//! Scalar twin of the kernels of [`crate::pack`].

use crate::latent::Latent;
use crate::pack::{Place, Spans};

/// Writes offsets of which `N` have 64 bits at most.
#[inline(always)]
pub(crate) fn offsets<L: Latent, const N: usize>(
    words: &mut [u64],
    mut at: Place,
    spans: &Spans,
    latents: &[L],
    symbols: &[u16],
) -> Place {
    let (lowers, widths) = (&spans.lowers[..spans.count], &spans.widths[..spans.count]);
    let mut field = |at: Place, latents: &[L], symbols: &[u16]| {
        let (mut value, mut total) = (0u64, 0u64);
        for (&x, &symbol) in latents.iter().zip(symbols) {
            let symbol = usize::from(symbol);
            value |= x.widen().wrapping_sub(lowers[symbol]) << (total % 64);
            total += u64::from(widths[symbol]);
        }
        at.write(words, value, total)
    };
    let (latents, last_latents) = latents.as_chunks::<N>();
    let (symbols, last_symbols) = symbols.as_chunks::<N>();
    for (latents, symbols) in latents.iter().zip(symbols) {
        at = field(at, latents, symbols);
    }
    field(at, last_latents, last_symbols)
}
