//! The latents of a page as bits.
//!
//! tANS runs backwards: each variable's codes are made from its last latent to its first, then
//! all variables are written forwards, batch by batch.

use crate::ans::tans;
use crate::bits::writer::BitWriter;
use crate::number::Latent;
use crate::pco::binning::Trained;
use crate::pco::encode::body::Body;
use crate::pco::encode::split::Stored;
use crate::pco::layout::page_meta::PageVariable;
use crate::pco::layout::variable::Variable;
use crate::pco::layout::{BATCH_N, LANES};
use crate::spare;
use latens_kernels::dispatch::Present;
use latens_kernels::pack::Spans;
use latens_kernels::tans::Encoder;
use std::mem::take;
use std::ops::Range;

/// A variable's bins with what is needed to code by them.
#[derive(Clone, Debug)]
pub(crate) struct VariableCoder<L> {
    pub(crate) variable: Variable<L>,
    encoder: Encoder,
    spans: Spans,
    /// Bits of a table's worth of offsets.
    offset_bits: u64,
    /// By latent of all pages, end to end: its bin; empty where there is one at most.
    symbols: Vec<u16>,
    /// Where each page's latents lie in those of all pages.
    pages: Vec<Range<usize>>,
}

/// A variable of a page, coded: ready to be written.
#[derive(Debug)]
pub(crate) struct Coded<'a, L> {
    meta: PageVariable<L>,
    log: u32,
    /// By four latents: their codes, the first one lowest, and in the highest byte how many bits.
    codes: Vec<u64>,
    spans: &'a Spans,
    offset_bits: u64,
    symbols: &'a [u16],
    latents: &'a [L],
}

impl<L> Drop for VariableCoder<L> {
    fn drop(&mut self) {
        spare::give(take(&mut self.symbols));
    }
}

impl<L> Drop for Coded<'_, L> {
    fn drop(&mut self) {
        spare::give(take(&mut self.codes));
    }
}

impl<L: Latent> VariableCoder<L> {
    /// For the bins of all pages, which store so many latents each.
    #[inline(never)]
    pub(crate) fn new(trained: Trained<L>, stored: &[usize]) -> Self {
        let Trained { variable, symbols } = trained;
        let weights: Vec<u32> = variable.bins.iter().map(|bin| bin.weight).collect();
        let encoder = if weights.is_empty() {
            tans::encoder(0, &[1])
        } else {
            tans::encoder(variable.log, &weights)
        };
        let spans = Spans::new(variable.bins.iter().map(|bin| (bin.lower, bin.offset_bits)));
        let offset_bits = variable
            .bins
            .iter()
            .map(|bin| u64::from(bin.weight) * u64::from(bin.offset_bits))
            .sum();
        let mut end = 0;
        let to_range = |&n: &usize| {
            end += n;
            end - n..end
        };
        let pages = stored.iter().map(to_range).collect();
        Self { variable, encoder, spans, offset_bits, symbols, pages }
    }

    /// Codes what a page stores of the variable.
    pub(crate) fn encode<'a>(&'a self, page: usize, stored: &'a Stored<L>) -> Coded<'a, L> {
        let symbols = self.symbols.get(self.pages[page].clone()).unwrap_or_default();
        let mut codes = spare::stale(symbols.len().div_ceil(LANES));
        let states = self.encoder.codes(Present::in_use(), symbols, &mut codes);
        let slots = states.map(|state| self.encoder.slot(state));
        Coded {
            meta: PageVariable { state: stored.state.clone(), slots },
            log: self.variable.log,
            codes,
            spans: &self.spans,
            offset_bits: self.offset_bits,
            symbols,
            latents: &stored.latents,
        }
    }
}

impl<L: Latent> Coded<'_, L> {
    /// Bits of all latents, those of the offsets by the weights of their bins.
    #[expect(clippy::cast_possible_truncation, reason = "of what is in memory")]
    fn about_bits(&self) -> usize {
        let codes: u64 = self.codes.iter().map(|group| group >> 56).sum();
        let offsets = (self.offset_bits * self.latents.len() as u64) >> self.log;
        (codes + offsets) as usize
    }

    /// Writes the latents of the batch that starts at number `start`.
    fn write_batch(&self, body: &mut Body<'_>, start: usize) {
        let n = self.latents.len();
        let range = start.min(n)..(start + BATCH_N).min(n);
        // Behind the last latent, whose codes may fill part of a group.
        if range.is_empty() {
            return;
        }
        let latents = &self.latents[range.clone()];
        if self.symbols.is_empty() {
            return body.write_offsets(self.spans, latents, &[0; BATCH_N][..latents.len()]);
        }
        body.write_codes(&self.codes[range.start / LANES..range.end.div_ceil(LANES)]);
        body.write_offsets(self.spans, latents, &self.symbols[range]);
    }
}

/// Writes a page of `n` numbers.
pub(crate) fn write<P: Latent, S: Latent>(
    w: &mut BitWriter,
    n: usize,
    delta: Option<&Coded<'_, u32>>,
    primary: &Coded<'_, P>,
    secondary: Option<&Coded<'_, S>>,
) {
    if let Some(coded) = delta {
        coded.meta.write(w, coded.log);
    }
    primary.meta.write(w, primary.log);
    if let Some(coded) = secondary {
        coded.meta.write(w, coded.log);
    }
    w.align();
    let bits = primary.about_bits()
        + delta.map_or(0, Coded::about_bits)
        + secondary.map_or(0, Coded::about_bits);
    w.reserve(bits / 8 + bits / 256);
    let mut body = Body::new(w, n);
    for start in (0..n).step_by(BATCH_N) {
        if let Some(coded) = delta {
            coded.write_batch(&mut body, start);
        }
        primary.write_batch(&mut body, start);
        if let Some(coded) = secondary {
            coded.write_batch(&mut body, start);
        }
    }
    body.finish();
    w.align();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::binning::{Effort, train};

    /// States leave latents over that are no whole group before the last batch begins.
    #[test]
    fn batches_behind_the_last_latent_are_empty() {
        let latents: Vec<u32> = (0..249u32).map(|i| i * i % 61 * 1000).collect();
        let coder = VariableCoder::new(train(&latents, None, Effort::of_level(8)), &[249]);
        let stored = Stored { state: vec![0; 32], latents };
        let coded = coder.encode(0, &stored);
        assert!(!coded.symbols.is_empty());
        let length = |n| {
            let mut w = BitWriter::default();
            write::<u32, u32>(&mut w, n, None, &coded, None);
            w.finish().len()
        };
        assert_eq!(length(281), length(249));
    }
}
