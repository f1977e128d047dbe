//! Which of some bins each latent lies in, and what the bins then have.

use crate::number::Latent;
use crate::pco::binning::buckets::Bucket;
use crate::pco::logarithm::log2;
use crate::spare;
use latens_kernels::dispatch::Present;
use latens_kernels::ranges::Ranges;

/// Latents whose bins are found before they are counted.
const BLOCK: usize = 1 << 10;
/// Bins that a part of the latents has shaped may take that much more than it told.
const MOST_WIDER: f64 = 0.001;

/// By latent, which of the bins it lies in: the last one that does not begin behind it, or the first.
pub(crate) fn symbols<L: Latent>(latents: &[L], bins: &[Bucket<L>]) -> Vec<u16> {
    let mut symbols = spare::stale(latents.len());
    ranges_of(bins, latents.len()).find(latents, &mut symbols);
    symbols
}

/// The same, and the bins: as they were planned by a part of the latents where all lie within them, and as they
/// are where some lie farther out. Nothing where that takes notably more bits.
pub(crate) fn within<L: Latent>(
    latents: &[L],
    planned: &[Bucket<L>],
) -> Option<(Vec<u16>, Vec<Bucket<L>>)> {
    let ranges = ranges_of(planned, latents.len());
    let limits: Vec<L> = planned.iter().map(Bucket::limit).collect();
    let mut symbols = spare::stale(latents.len());
    let mut are_within = true;
    for (latents, symbols) in latents.chunks(BLOCK).zip(symbols.chunks_mut(BLOCK)) {
        ranges.find(latents, symbols);
        are_within = are_within && !ranges.exceed(&limits, latents, symbols);
    }
    if are_within {
        return Some((symbols, planned.to_vec()));
    }
    let bins = counted(latents, &symbols, planned);
    if are_wider(&bins, planned) {
        spare::give(symbols);
        return None;
    }
    Some(without_empty(symbols, bins))
}

/// Bins with as many latents and as great ones as there are in each.
fn counted<L: Latent>(latents: &[L], symbols: &[u16], bins: &[Bucket<L>]) -> Vec<Bucket<L>> {
    const LANES: usize = 4;
    // Several of each bin, since neighbours often share one.
    let mut seen = vec![[(L::ZERO, 0u32); LANES]; bins.len()];
    let mut see = |x: L, symbol: u16, lane: usize| {
        let (upper, count) = &mut seen[usize::from(symbol)][lane];
        *upper = x.max(*upper);
        *count += 1;
    };
    let (groups, rest) = latents.as_chunks::<LANES>();
    let (group_symbols, rest_symbols) = symbols.as_chunks::<LANES>();
    for (group, symbols) in groups.iter().zip(group_symbols) {
        for lane in 0..LANES {
            see(group[lane], symbols[lane], lane);
        }
    }
    for (&x, &symbol) in rest.iter().zip(rest_symbols) {
        see(x, symbol, 0);
    }
    let to_bin = |(bin, lanes): (&Bucket<L>, &[(L, u32); LANES])| Bucket {
        lower: bin.lower,
        upper: lanes.iter().fold(bin.lower, |upper, lane| upper.max(lane.0)),
        count: lanes.iter().map(|lane| lane.1).sum(),
    };
    bins.iter().zip(&seen).map(to_bin).collect()
}

/// The same without bins that have no latents.
fn without_empty<L: Latent>(
    mut symbols: Vec<u16>,
    mut bins: Vec<Bucket<L>>,
) -> (Vec<u16>, Vec<Bucket<L>>) {
    let bin_of = (0u16..).zip(&bins).filter(|(_, bin)| bin.count == 0);
    let empty: Vec<u16> = bin_of.map(|(symbol, _)| symbol).collect();
    if !empty.is_empty() {
        Present::in_use().call(
            #[inline(always)]
            || {
                for symbols in symbols.chunks_mut(BLOCK) {
                    for &empty in empty.iter().rev() {
                        symbols.iter_mut().for_each(|s| *s -= u16::from(*s > empty));
                    }
                }
            },
        );
        bins.retain(|bin| bin.count > 0);
    }
    (symbols, bins)
}

/// Whether bins take notably more bits than it was planned, as latents reach farther.
fn are_wider<L: Latent>(bins: &[Bucket<L>], planned: &[Bucket<L>]) -> bool {
    let n: f64 = bins.iter().map(|bin| f64::from(bin.count)).sum();
    let (mut all, mut more) = (0.0, 0.0);
    for (bin, planned) in bins.iter().zip(planned) {
        let (count, bits) = (f64::from(bin.count), bin.offset_bits());
        all += count * (log2(n) - log2(count.max(1.0)) + f64::from(bits));
        more += count * f64::from(bits.saturating_sub(planned.offset_bits()));
    }
    more > all * MOST_WIDER
}

fn ranges_of<L: Latent>(bins: &[Bucket<L>], latents: usize) -> Ranges<L> {
    Ranges::new(Present::in_use(), bins.iter().map(|bin| bin.lower).collect(), latents)
}
