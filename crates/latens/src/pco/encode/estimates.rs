//! About how many bits a chunk takes, by what a sample of it stores.

use crate::number::Latent;
use crate::pco::binning;
use crate::pco::binning::ranked::Ranked;
use crate::pco::encode::candidate::Search;
use crate::pco::encode::plan::ModeLatents;
use crate::pco::encode::sample::Sample;
use crate::pco::encode::split::{self, PageLatents, Stored};
use crate::pco::layout::delta::DeltaPayload;

impl Search<'_> {
    /// What a sample's stripes store.
    #[inline(never)]
    pub(crate) fn pages<L: Latent>(
        latents: &ModeLatents<L>,
        sample: &Sample<L>,
        delta: &DeltaPayload,
    ) -> Vec<PageLatents<L>> {
        sample.stripes.iter().map(|range| split::page(latents, delta, range.clone())).collect()
    }

    /// Bits of the chunk's delta and primary variables, and of the delta encoding.
    #[inline(never)]
    pub(crate) fn bits_but_secondary<L: Latent>(
        &self,
        pages: &[PageLatents<L>],
        delta: &DeltaPayload,
    ) -> f64 {
        let state_n = delta.state_n();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let meta = delta.written_bits() as f64;
        let primary = slices(pages, |p| p.primary.latents());
        let indices = slices(pages, |p| p.primary.indices());
        let primary = if indices.is_empty() {
            self.variable_bits(&primary, state_n)
        } else {
            self.variable_bits(&indices, state_n)
        };
        meta + primary + self.variable_bits(&slices(pages, |p| p.delta.as_ref()), 0)
    }

    /// Bits of the chunk's secondary variable.
    #[inline(never)]
    pub(crate) fn secondary_bits<L: Latent>(
        &self,
        pages: &[PageLatents<L>],
        delta: &DeltaPayload,
    ) -> f64 {
        let state_n = if delta.covers_secondary() { delta.state_n() } else { 0 };
        self.variable_bits(&slices(pages, |p| p.secondary.as_ref()), state_n)
    }

    /// Bits of one variable of the chunk, by what a sample stores of it.
    #[inline(never)]
    pub(crate) fn variable_bits<V: Latent>(&self, parts: &[&[V]], state_n: usize) -> f64 {
        self.ranked_bits(&Ranked::of(parts.concat()), state_n)
    }

    /// The same where that is ranked.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    #[inline(never)]
    pub(crate) fn ranked_bits<V: Latent>(&self, ranked: &Ranked<V>, state_n: usize) -> f64 {
        let stored = self.n.saturating_sub(state_n);
        let state_bits = (state_n * V::BITS as usize) as f64;
        state_bits + binning::estimate_bits(ranked, stored, self.effort)
    }
}

/// One variable of some pages.
fn slices<'a, L: Latent, V: Latent>(
    pages: &'a [PageLatents<L>],
    pick: impl Fn(&'a PageLatents<L>) -> Option<&'a Stored<V>> + 'a,
) -> Vec<&'a [V]> {
    pages.iter().filter_map(pick).map(|stored| stored.latents.as_slice()).collect()
}
