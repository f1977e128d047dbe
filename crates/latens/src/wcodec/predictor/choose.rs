//! Which predictor each tile gets: the one whose residuals cost least.

use super::{Band, Predictor};
use crate::error::Result;

/// An estimate of what each residual mod 2^bits costs, in 1/16 bits: two bits for each doubling of
/// its magnitude, as numbers of unknown scale cost about.
pub fn magnitude_costs(bits: u32) -> Vec<u32> {
    let size = 1u32 << bits.clamp(1, 8);
    (0..size)
        .map(|r| {
            let magnitude = f64::from(r.min(size - r));
            #[expect(clippy::cast_possible_truncation, reason = "at most 16 · 15")]
            #[expect(clippy::cast_sign_loss, reason = "not below 0")]
            let cost = (16.0 * (1.0 + 2.0 * (magnitude + 1.0).log2())).round() as u32;
            cost
        })
        .collect()
}

/// For each tile of the band the predictor of `among` whose residuals cost least by `costs` (one
/// number for each residual mod 2^bits); the first of them where several do. What `band` says of
/// predictors is not used.
///
/// # Errors
/// Invalid argument, where lengths do not fit.
pub fn choose(
    band: &Band<'_>,
    among: &[Predictor],
    costs: &[u32],
    symbols: &[u8],
) -> Result<Vec<Predictor>> {
    let of_one = Band { predictors: &[Predictor::None], ..*band };
    of_one.check(symbols.len(), symbols.len())?;
    let count = band.tile.count(band.rows, band.cols);
    let mut best = vec![(u64::MAX, Predictor::None); count];
    let mut residuals = vec![0; symbols.len()];
    for predictor in among {
        let all = [*predictor];
        Band { predictors: &all, ..*band }.residual_symbols(symbols, &mut residuals)?;
        for (tile, best) in band.tile.tiles(band.rows, band.cols).zip(&mut best) {
            let cost = |&r: &u8| u64::from(costs.get(usize::from(r)).copied().unwrap_or(u32::MAX));
            let line = |i| residuals[tile.line(i, band.cols)].iter().map(cost).sum::<u64>();
            let cost: u64 = (0..tile.rows).map(line).sum();
            if cost < best.0 {
                *best = (cost, *predictor);
            }
        }
    }
    Ok(best.into_iter().map(|(_, predictor)| predictor).collect())
}
